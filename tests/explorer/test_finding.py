"""From an accuracy to an amount that is enough for it; the same to copy; words and numbers of the panels."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.app.explorer import pictures, recipes
from noisewright.app.explorer.finding import Known, completed, known_from, missing_amounts, report_for
from noisewright.app.explorer.form import KINDS, EntryError, read, served
from noisewright.app.explorer.looking import looked, more
from noisewright.app.explorer.pictures import Scale, written
from noisewright.app.spec import read_spec
from noisewright.search.budget import reaches
from noisewright.search.report.progress import heard, progress_bar
from tests.e2e.command import Cli, assert_succeeded

QUICK = [
    {"utility": "error-quantile"},
    {"utility": "usefulness"},
    {"utility": "squared-error", "sensitivity": "5/2"},
    {"utility": "error-quantile", "integer": "on"},
    {"privacy": "zero-concentrated"},
    {"question": "histogram", "utility": "absolute-error"},
]


def _quiet(*_: Any) -> None:
    pass


@pytest.mark.parametrize("state", QUICK, ids=str)
def test_the_amount_is_enough_and_hardly_more(state: dict[str, str]):
    asked = read({**state, "target": "0.6" if state.get("utility") == "usefulness" else "7"})
    report, amount, target = report_for(asked, Known(asked))
    assert report.best.certificate.requirement == asked.requirement(amount)
    assert reaches(report.best.mechanism.expected(asked.utility), target, asked.utility)
    budget = nw.budget_for(asked.query, utility=asked.utility, target=target, notion=asked.notion, **asked.fixed)
    assert Fraction(999, 1000) * budget.amount <= amount <= Fraction(104, 100) * budget.amount


def test_what_was_looked_at_is_used_again():
    asked = read({"utility": "absolute-error"})
    known = Known(asked)
    assert len(list(completed(asked, known, slow=False))) == 25
    assert missing_amounts(asked, known, slow=False) == []
    held = known_from(asked, json.loads(json.dumps(known.plain())))
    assert held.points == known.points
    asked = read({"utility": "absolute-error", "target": "1.7"})
    before = len(held.points)
    report_for(asked, held)
    assert len(held.points) - before <= 2


def test_an_accuracy_that_nothing_reaches_is_refused_beside_its_field():
    asked = read({"utility": "absolute-error", "target": "1e-30"})
    with pytest.raises(EntryError, match="no mechanism reaches") as refused:
        report_for(asked, Known(asked))
    assert refused.value.entry == "target"


def test_a_look_has_every_panel_and_then_the_rest():
    (look,) = looked({"utility": "absolute-error"}, [], (400, 800), _quiet)
    assert set(look["panels"]) == {
        *("summary", "density", "answers", "ranking", "curve", "odds", "hundred", "recipes"),
    }
    certified = nw.Certified.from_dict(look["mechanism"])
    assert certified.certificate.requirement == nw.PureDP(look["amount"])
    assert look["panels"]["answers"].count("<circle") == 20
    state = {"utility": "absolute-error", "amount": look["amount"], "target": look["target"]}
    told: list[tuple[str, int, int]] = []
    events = list(more(state, look["points"], (400, 800), look["amount"], False, lambda *step: told.append(step)))
    assert [event["event"] for event in events] == ["curve"] * 25 + ["budget"]
    assert 'class="impossible"' in events[-2]["panels"]["curve"]
    assert "no mechanism reaches it" in events[-1]["panels"]["budget"]
    assert ("error against privacy", 25, 25) in told
    assert any("staircase" in step for step, _, _ in told)


def test_every_question_promise_and_utility_is_offered_as_the_table_of_designers_says():
    offered = served()
    assert {name: set(rows) for name, rows in offered.items() if name in ("bounded", "workload")} == {
        "bounded": {"pure"},
        "workload": {"pure", "approximate", "zero-concentrated", "renyi"},
    }
    for question in KINDS:
        for notion, utilities in offered[question].items():
            for utility in utilities:
                asked = read({"question": question, "privacy": notion, "utility": utility})
                assert (asked.notion, asked.utility_name) == (notion, utility)


@pytest.mark.parametrize(
    "state",
    [
        {"sensitivity": "1/3", "utility": "usefulness", "within": "0.25"},
        {"integer": "on", "sensitivity": "3", "utility": "power-error", "power": "3/2"},
        {"question": "histogram", "bins": "5", "bins_per_person": "2", "utility": "largest-error"},
        {"question": "several", "set": "sparse", "changes": "2", "utility": "absolute-error"},
        {"question": "workload", "form": "prefixes", "cells": "6", "privacy": "approximate", "delta": "1e-7"},
    ],
    ids=str,
)
def test_python_and_the_command_line_design_the_same(
    state: dict[str, str], cli: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    asked = read({**state, "move": "privacy"})
    found = []
    exec(compile(recipes.python(asked, Fraction(3, 4), Fraction(5)), "recipe", "exec"), {})
    found.append(nw.Certified.load(tmp_path / "mechanism.json"))
    assert_succeeded(cli(*recipes.command(asked, Fraction(3, 4), Fraction(5)).split()[1:]))
    found.append(nw.Certified.load(tmp_path / "mechanism.json"))
    assert {one.mechanism.digest for one in found} == {found[0].mechanism.digest}
    assert {one.certificate.requirement for one in found} == {asked.requirement(Fraction(3, 4))}
    assert found[0].mechanism.query == asked.query


@pytest.mark.parametrize(
    "state",
    [
        {"integer": "on", "privacy": "approximate"},
        {"sensitivity": "1/3", "privacy": "renyi", "utility": "squared-error"},
        {"question": "histogram", "bins_per_person": "3", "privacy": "zero-concentrated"},
        {"question": "several", "sensitivities": "1, 2.5"},
    ],
    ids=str,
)
def test_the_toml_is_a_spec(state: dict[str, str], tmp_path: Path):
    asked = read(state)
    path = tmp_path / "table.toml"
    path.write_text(recipes.spec(asked, Fraction(3, 4)), encoding="utf-8")
    found = read_spec(path)
    assert found.plan["privacy"] == asked.requirement(Fraction(3, 4))
    assert len(found.questions) == getattr(asked.query, "dimension", 1) or asked.question == "histogram"


def test_where_tables_have_no_such_question_the_toml_says_so():
    for state in ({"question": "bounded"}, {"question": "workload"}, {"privacy": "probabilistic"}):
        text = recipes.spec(read(state), Fraction(1))
        assert tomllib.loads(text) == {}
        assert "use Python" in text


def test_steps_are_told_to_who_listens_and_no_bar_is_shown(capsys: pytest.CaptureFixture[str]):
    told: list[tuple[str, int, int]] = []
    with heard(lambda *step: told.append(step)), progress_bar("work", 2, shown=True) as step:
        step("first")
        step("second")
    assert told == [("work: first", 0, 2), ("work: second", 1, 2)]
    assert capsys.readouterr().err == ""


def test_axes_have_round_numbers():
    assert Scale(0, 10, 0, 100)(5) == 50
    assert Scale(0.1, 10, 0, 100, ratio=True)(1) == 50
    assert Scale(0, 10, 0, 100).ticks(5) == [0, 2, 4, 6, 8, 10]
    assert Scale(0.05, 8, 0, 1, ratio=True).ticks(6) == pytest.approx([0.1, 0.3, 1, 3])
    assert [written(x) for x in (0, 1234567.0, 0.25, -3.0, 12345.6)] == ["0", "1.23e+06", "0.25", "−3", "12,346"]


def test_names_in_pictures_are_escaped():
    drawn = pictures.answers("told <b>", 400, [("<script>", 0.0, [1.0])], (-2, 2)) + pictures.legend(["<i>"])
    assert "<script>" not in drawn
    assert "<i>" not in drawn
    assert "<b>" not in drawn
