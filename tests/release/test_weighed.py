"""Weighted counts under metric privacy: what a person who changes can do, what is charged, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noisewright as nw
from noisewright.app.cli.saved import verify
from noisewright.problem.records import digest
from noisewright.release.plan.noise import drawn
from noisewright.release.plan.strategies.by_weights import BY_WEIGHTS

TOWNS = ["Aston", "Bury", "Corby", "Derby"]
KEYS = nw.keys("town", TOWNS)
NEAR = nw.metrics.Euclidean([(0, 0), (1, 0), (9, 8), (10, 8)], scale="0.5")
PRIVACY = nw.MetricPrivacy(nw.metrics.WithAbsent(NEAR, 1))
EAST = nw.ask.weighted([0, 0, 1, 1], by=KEYS, name="east")
HEIGHT = nw.ask.weighted(dict(zip(TOWNS, (12, 18, 240, 260), strict=True)), by=KEYS, name="height")


def frame(towns: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"id": np.arange(len(towns)), "town": pd.Series(towns, dtype="string")})


def dataset(folder: Path, towns: list[str] | None = None, **more: Any) -> nw.Dataset:
    listed = ["Aston"] * 30 + ["Corby"] * 40 + ["Derby"] * 20 + ["elsewhere"] * 7 if towns is None else towns
    given = {"budget": PRIVACY, "ledger": folder / "x.ledger", **more}
    return nw.Dataset(given.pop("source", frame(listed)), "id", name="people", **given)


def test_a_person_who_changes_moves_the_histogram_from_one_element_to_another(tmp_path: Path):
    random = Random(3)
    towns = [random.choice([*TOWNS, "elsewhere"]) for _ in range(40)]
    data = dataset(tmp_path, towns)
    plan = data.plan(EAST, HEIGHT, privacy=PRIVACY)
    assert plan.layout.tables[0].strategy == BY_WEIGHTS
    universe = [*TOWNS, "elsewhere"]
    before = data._checked.true_aggregates(plan.layout, 5)
    for person in range(5):
        other = random.choice(universe)
        changed = [other if i == person else town for i, town in enumerate(towns)]
        after = dataset(tmp_path, changed)._checked.true_aggregates(plan.layout, 5)
        moved = [a - b for a, b in zip(after, before, strict=True)]
        assert moved[::2] == moved[1::2], "both questions are about the same persons"
        wanted = [int(town == other) - int(town == towns[person]) for town in TOWNS]
        assert moved[::2] == wanted


def test_a_person_with_several_rows_counts_once(tmp_path: Path):
    source = pd.DataFrame({"id": [1, 1, 1, 2], "town": ["Aston", "Corby", "Aston", "Derby"]})
    data = dataset(tmp_path, source=source)
    plan = data.plan(EAST, privacy=PRIVACY)
    for salt in range(8):
        counts = data._checked.true_aggregates(plan.layout, salt)
        assert sum(counts) == 2
        assert counts[3] == 1


def test_the_noise_is_certified_for_the_metric_with_absent_and_right_on_average(tmp_path: Path):
    # False alarms: each of two means beyond 6 standard errors, 2 in 10^9.
    plan = dataset(tmp_path).plan(EAST, HEIGHT, privacy=PRIVACY)
    certified = plan.blocks[0].certified
    assert certified.certificate.requirement == PRIVACY
    assert certified.mechanism.query == nw.Linear([[0, 0, 1, 1], [12, 18, 240, 260]]).with_absent()
    truth = [30, 30, 0, 0, 40, 40, 20, 20]
    found = np.array([drawn(plan.blocks, plan.layout, truth) for _ in range(800)]) / 10**6
    for place, wanted in enumerate((60, 30 * 12 + 40 * 240 + 20 * 260)):
        error = found[:, place].std() / math.sqrt(len(found))
        assert abs(found[:, place].mean() - wanted) < 6 * error < 0.3 * wanted


def test_answers_are_charged_as_shares_of_the_budget_and_stored(tmp_path: Path):
    data = dataset(tmp_path)
    plan = data.plan(EAST, HEIGHT, privacy=PRIVACY.share("1/2"))
    first = plan.release()
    assert list(first["question"]) == ["east", "height"]
    assert (first["half_width"] > 0).all()
    assert first["value"].between(first["low"], first["high"]).all()
    pd.testing.assert_frame_equal(plan.release(), first)
    assert data.ledger is not None
    assert data.ledger.spent == Fraction(1, 2)
    plan.release(fresh=True)
    with pytest.raises(nw.errors.BudgetExceeded):
        plan.release(fresh=True)
    assert plan.selfcheck(5).startswith("held")
    for page in ("plan", "ledger"):
        (plan if page == "plan" else data.ledger).report(tmp_path / f"{page}.html")
        assert "e^d(i, j)" in (tmp_path / f"{page}.html").read_text(encoding="utf-8")


def test_an_empty_table_gets_noise_around_zero(tmp_path: Path):
    assert len(dataset(tmp_path, []).plan(EAST, HEIGHT, privacy=PRIVACY).release()) == 2


def test_presence_is_given_up_only_where_it_is_said(tmp_path: Path):
    rows: list[list[Any]] = [[0 if i == j else 1 for j in range(4)] + ["infinite"] for i in range(4)]
    told = nw.MetricPrivacy(nw.metrics.Matrix([*rows, ["infinite"] * 4 + [0]]))
    present = nw.ask.weighted([1, 1, 1, 1], by=KEYS, name="present")
    answers = dataset(tmp_path, budget=told).plan(EAST, present, privacy=told).release()
    assert answers["value"][1] == 90, "how many there are needs no noise where that is no secret"
    assert answers["half_width"][0] > 1


def test_a_plan_is_saved_and_proven_again(tmp_path: Path, capsys):
    plan = dataset(tmp_path).plan(EAST, HEIGHT, privacy=PRIVACY, weights={"east": 4})
    plan.save(tmp_path / "p.json")
    assert nw.Plan.load(tmp_path / "p.json").to_dict() == plan.to_dict()
    verify(tmp_path / "p.json")
    assert "metric privacy" in capsys.readouterr().out
    content = json.loads(json.dumps(plan.to_dict()))
    content["questions"][1]["weights"][0] = "13"
    with pytest.raises(nw.errors.MechanismFileError, match="another question"):
        nw.Plan.from_dict(_sealed(content))
    content = json.loads(json.dumps(plan.to_dict()))
    content["privacy"] = PRIVACY.share("1/2").to_dict()
    with pytest.raises(nw.errors.MechanismFileError, match="not proven to keep the requirement"):
        nw.Plan.from_dict(_sealed(content))
    content = json.loads(json.dumps(plan.to_dict()))
    content["dataset"]["limits"]["groups_per_person"] = 2
    with pytest.raises(nw.errors.MechanismFileError, match="groups_per_person=1"):
        nw.Plan.from_dict(_sealed(content))


def _sealed(content: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in content.items() if name != "digest"}
    return {**bare, "digest": digest(bare)}


@pytest.mark.parametrize(
    ("questions", "privacy", "words"),
    [
        ([EAST], nw.PureDP(1), "answered under metric privacy"),
        ([EAST], nw.MetricPrivacy(NEAR), r"give nw\.metrics\.WithAbsent"),
        ([EAST, nw.count()], PRIVACY, "in a plan of their own"),
        ([nw.count(by=KEYS)], PRIVACY, "in a plan of their own"),
        ([EAST, nw.ask.weighted([1], by=nw.keys("town", ["Aston"]), name="x")], PRIVACY, "one set of keys"),
    ],
)
def test_what_the_metric_does_not_cover_is_refused(tmp_path: Path, questions: list[Any], privacy: Any, words: str):
    data = dataset(tmp_path)
    with pytest.raises(nw.errors.InvalidInputError, match=f"(?i){words}"):
        data.plan(*questions, privacy=privacy)
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_limits_and_ledgers_that_do_not_fit_are_refused_before_the_charge(tmp_path: Path):
    with pytest.raises(nw.errors.InvalidQueryError, match="groups_per_person=1"):
        dataset(tmp_path, groups_per_person=2).plan(EAST, privacy=PRIVACY)
    other = dataset(tmp_path, budget=nw.PureDP(3), ledger=tmp_path / "pure.ledger")
    with pytest.raises(nw.errors.InvalidPrivacyError, match="cannot add releases under metric privacy"):
        other.plan(EAST, privacy=PRIVACY)
    assert other.ledger is not None
    assert other.ledger.spent == 0


def test_wrong_weights_are_refused():
    for weights in ([1, 2], [0, 0, 0, 0], {"Aston": 1}, [1, 2, 3, "x"]):
        with pytest.raises(nw.errors.InvalidInputError):
            nw.ask.weighted(weights, by=KEYS, name="x")
    with pytest.raises(nw.errors.InvalidQueryError, match="by is needed"):
        nw.ask.weighted([1], by=None, name="x")
