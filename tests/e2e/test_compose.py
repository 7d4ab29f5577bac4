"""Plans at the command line: added up, drawn, saved, verified, and refused in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.command import Cli, assert_failed, assert_succeeded

PLAN = ("compose", "randomized_response(epsilon=0.5) x 12", "laplace(epsilon=0.1) x 3")


def test_a_plan_is_added_up_with_its_bracket_a_table_and_a_picture(cli: Cli):
    outcome = cli(*PLAN, "--delta", "1e-6", "--plot", "curve.svg", "--save", "plan.json")
    assert_succeeded(outcome)
    assert "epsilon = 6.2" in outcome.plain
    assert "the truth is at least 6.2" in outcome.plain
    assert re.search(r"12 +randomised response, epsilon 0.5", outcome.plain)
    assert "1e-15" in outcome.plain
    assert Path("curve.svg").stat().st_size > 5000
    checked = cli("verify", "plan.json")
    assert_succeeded(checked)
    assert "composed/connect-the-dots" in checked.plain
    assert "delta 1e-06" in checked.plain


def test_a_plan_as_json_at_an_epsilon(cli: Cli, mechanism: Path):
    outcome = cli("compose", f"{mechanism} x 2", "pair(epsilon=0.1, delta=1e-3)", "--epsilon", "3", "--json")
    assert_succeeded(outcome)
    data = json.loads(outcome.out)
    assert data["epsilon"] == "3"
    assert data["delta_from_below"] is None
    assert [release["times"] for release in data["releases"]] == [2, 1]


def test_groups_cost_one_of_them(cli: Cli):
    outcome = cli("compose", "laplace(epsilon=0.5)", "laplace(epsilon=0.3)", "--groups", "1", "--delta", "0", "--json")
    assert_succeeded(outcome)
    assert json.loads(outcome.out)["epsilon"] == "1/2"
    assert json.loads(outcome.out)["neighbours"] == "add-remove"


def test_an_edited_plan_is_refused(cli: Cli):
    assert_succeeded(cli(*PLAN, "--save", "plan.json"))
    text = Path("plan.json").read_text(encoding="utf-8")
    Path("plan.json").write_text(text.replace('"times": 12', '"times": 2'), encoding="utf-8")
    assert_failed(cli("verify", "plan.json"), 1, "digest")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gauss(sigma=1)",), "no release that is known by name"),
        (("gaussian(sigma=0)",), "must be positive"),
        (("gaussian(sigma=1) x many",), "is no release"),
        (("none.json",), "cannot read"),
        (("gaussian(sigma=1)", "--delta", "2"), "below 1"),
        (("gaussian(sigma=1)", "--delta", "x"), "finite number"),
        (("gaussian(sigma=1)", "--delta", "1e-6", "--epsilon", "1"), "the other one"),
        (("gaussian(sigma=1)", "--groups", "0"), "at least 1"),
        (("gaussian(sigma=1)", "--groups", "two"), "whole number|how many groups"),
        (("gaussian(sigma=1)", "--neighbours", "friends"), "neighbours is"),
        (("gaussian(sigma=1)", "--groups", "1", "--neighbours", "replace"), "come or go"),
        (("gaussian(sigma=1)", "--groups", "1", "--neighbours", "metric"), "come or go"),
        (("pair(epsilon=1, delta=0.1)", "--delta", "1e-6"), "gives everything away"),
        (("gaussian(sigma=1)", "--plot", "curve.txt"), "ends in"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(cli: Cli, words: tuple[str, ...], said: str):
    import re

    outcome = cli("compose", *words)
    assert outcome.code in (1, 2)
    assert re.search(said, outcome.err), outcome.err
    assert "Traceback" not in outcome.err
