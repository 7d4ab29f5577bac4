"""Plan files that somebody edited, every seal made anew: refused in words, or proven and charged for what they draw."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.release.plan.plan import bound
from tests.forgery import put
from tests.release import honest
from tests.release.forging import (
    QUESTIONS,
    Edit,
    attacked,
    dataset,
    edits_of_leaves,
    edits_of_lists,
    forged,
    groups_of,
    saved,
    swaps,
)

KINDS = list(QUESTIONS)
FILE = nw.errors.MechanismFileError


def tried(kind: str, edits: Iterable[Edit]) -> int:
    """How many edits were taken for a plan, each of which keeps what a plan keeps; all others are refused in words."""
    data, taken = dataset(kind), dict[str, nw.Plan]()
    for path, edit in edits:
        made = edit()
        for proven in (True, False):
            try:
                found = attacked(forged(made, proven=proven), data)
            except Exception as error:
                raise AssertionError(f"{kind}, {path}: {type(error).__name__}") from error
            if found is not None:
                taken[found.to_dict()["digest"]] = found
    kept: set[str] = set()
    for plan in taken.values():
        assert str(plan)
        honest.require_right_set(plan, groups_of(kind))
        drawn = json.dumps([block.certified.to_dict()["digest"] for block in plan.blocks])
        if drawn not in kept:
            kept.add(drawn)
            honest.require_true_widths(plan)
            assert (lost := honest.cost_by_hand(plan)) is None or lost <= honest.charged(plan)
    return len(taken)


def edits_of(kind: str) -> list[Edit]:
    """All edits of a plan in an order that is the same every time."""
    plan = saved(kind)
    found = [*edits_of_leaves(plan), *edits_of_lists(plan)]
    random.Random(kind).shuffle(found)
    return found


def swaps_of(kind: str) -> list[Edit]:
    """All parts of other plans in the places of this one's."""
    found = [edit for other in KINDS if other != kind for edit in swaps(saved(kind), saved(other))]
    random.Random(kind).shuffle(found)
    return found


@pytest.mark.parametrize(
    ("kind", "edits", "parts"),
    [(kind, 60, 30) for kind in KINDS]
    + [pytest.param(kind, 1200, 400, marks=pytest.mark.soak, id=f"{kind}-long") for kind in KINDS],
)
def test_an_edited_plan_is_refused_or_keeps_what_a_plan_keeps(kind: str, edits: int, parts: int):
    assert tried(kind, [((), lambda: saved(kind))]) == 1
    tried(kind, edits_of(kind)[:edits])
    tried(kind, swaps_of(kind)[:parts])


def written(kind: str, path: tuple[Any, ...], value: Any) -> Any:
    """A plan with another value somewhere, every seal made anew."""
    return forged(put(saved(kind), path, value))


UNLIKE: dict[str, tuple[str, tuple[Any, ...], Any, str]] = {
    "a table by a float": ("pure", ("blocks", 0, "table"), 0.0, "does not say which table"),
    "a table by a truth value": ("pure", ("blocks", 1, "table"), True, "does not say which table"),
    "a block with more": ("pure", ("blocks", 0, "more"), 1, "does not say which table"),
    "a name of another kind": ("pure", ("blocks", 0, "name"), ["staircase"], "no plain text"),
    "a reason that steers a terminal": ("pure", ("blocks", 1, "why"), "\x1b[2J", "no plain text"),
    "a reason without end": ("pure", ("blocks", 1, "why"), "x" * 10_001, "no plain text"),
    "a question with more": ("pure", ("questions", 1, "range", "more"), 1, "fields"),
    "an epsilon spelled otherwise": ("pure", ("privacy", "epsilon"), "1/1", "spells"),
    "keys twice": ("pure", ("questions", 0, "by", "rows"), [["A"], ["B"], ["C"], ["A"]], "fields"),
    "weights of nothing": ("pure", ("weights",), [["counts", "1/2"]], "weights names 'counts'"),
    "weights out of order": ("pure", ("weights",), [["people", "3"], ["count", "1/2"]], "in order"),
    "weights twice": ("pure", ("weights",), [["count", "1/2"], ["count", "3"]], "in order"),
    "a weight below nothing": ("pure", ("weights",), [["count", "-1/2"]], "give a positive number"),
    "another utility": ("pure", ("utility",), {"kind": "usefulness", "within": "1"}, "give nw.SquaredError"),
    "a utility of its own weights": (
        "pure",
        ("utility",),
        {"kind": "squared-error", "weights": ["1", "2", "3", "4", "5"]},
        "give nw.SquaredError",
    ),
    "a utility that cells have not": (
        "cells",
        ("utility",),
        {"kind": "absolute-error"},
        "designed for nw.SquaredError",
    ),
    "a dataset without a version": ("pure", ("dataset",), None, "what the plan says of its dataset"),
    "a dataset with more": ("pure", ("dataset", "more"), 1, "what the plan says of its dataset"),
    "a version that is no text": ("pure", ("dataset", "version"), 0, "what the plan says of its dataset"),
    "a unit that is no text": ("pure", ("dataset", "unit"), ["id"], "what the plan says of its dataset"),
    "limits by floats": ("pure", ("dataset", "limits", "rows_per_group"), 2.0, "got 2.0"),
    "targets with a delta": ("targets", ("aims", "delta"), "1/1000", "not those that its requirement is for"),
    "targets with more costs": ("targets", ("aims", "alone"), ["1", "2", "3"], "not those that its requirement is for"),
    "budgets of more than all": ("budgets", ("aims", "amounts", 0, "epsilon"), "2", "not the sum of its budgets"),
    "more than all budgets": ("budgets", ("privacy", "epsilon"), "2", "not the sum of its budgets"),
}
"""What is drawn and charged for such a file is right, or it cannot be shown at all; no plan is saved like this."""


@pytest.mark.parametrize("what", UNLIKE)
def test_what_no_plan_is_saved_with_is_refused(what: str):
    kind, path, value, told = UNLIKE[what]
    plan = saved(kind)
    if what == "a dataset without a version":
        value = {name: own for name, own in plan["dataset"].items() if name != "version"}
    with pytest.raises(FILE, match=told):
        nw.Plan.from_dict(written(kind, path, value))


def test_targets_for_groups_that_are_chosen_privately_are_refused():
    plan = put(saved("private"), ("aims",), saved("budgets")["aims"])
    with pytest.raises(FILE, match="are for listed keys"):
        nw.Plan.from_dict(forged(plan))


@pytest.mark.parametrize("name", ["name", "version", "unit", "query"])
def test_a_plan_says_in_what_its_dataset_is_another(name: str):
    plan = written("pure", ("dataset", name), "other")
    assert str(nw.Plan.from_dict(plan))
    with pytest.raises(FILE, match=f"it differs in {name}. Plan again"):
        bound(nw.Plan.from_dict(plan), dataset("pure"))


def test_a_plan_with_the_noise_of_a_cheaper_one_is_charged_for_what_it_draws(tmp_path: Path):
    questions, asked = QUESTIONS["bins"]
    ledger = nw.Ledger.create(tmp_path / "x.ledger", budget=nw.PureDP(5), neighbours="add-remove")
    data = dataset("bins", ledger=ledger)
    cheap = data.plan(*questions, **{**asked, "privacy": nw.PureDP("3/4")})
    mixed = {**saved("bins"), "blocks": cheap.to_dict()["blocks"]}
    (tmp_path / "plan.json").write_text(json.dumps(forged(mixed)))
    plan = data.load_plan(tmp_path / "plan.json")
    found = plan.release(frame="pyarrow").to_pydict()
    assert ledger.spent == nw.PureDP("3/4").epsilon
    assert found["half_width"] == cheap.release(frame="pyarrow")["half_width"].to_pylist()
    assert found["half_width"][0] > 2 * data.plan(*questions, **asked).release(frame="pyarrow")["half_width"][0].as_py()
    dear = {**cheap.to_dict(), "blocks": saved("bins")["blocks"]}
    (tmp_path / "plan.json").write_text(json.dumps(forged(dear)))
    with pytest.raises(FILE, match="not proven to keep the requirement"):
        data.load_plan(tmp_path / "plan.json")
    assert ledger.spent == nw.PureDP("7/2").epsilon
