"""Plans: what is proven, printed, spent, stored and saved."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.app.cli.saved import verify
from noisewright.problem.records import digest
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import designed
from noisewright.release.plan.expected_errors import gaussian_errors, laplace_errors
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.plan.noise import Block, drawn, joint_query, price_of, widths
from noisewright.release.run.answers import columns
from noisewright.release.run.idempotence import same_of
from noisewright.release.run.post_processing import half_widths_of
from noisewright.sample.certified import make_certified

WARDS = nw.keys("ward", ["A", "B", "C"])
QUESTIONS = (
    nw.count(by=WARDS),
    nw.ask.sum("cost", bounds=(0, 500), by=WARDS),
    nw.mean("age", bounds=(0, 120)),
    nw.ask.persons(),
)


def frame(count: int = 400) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "id": generator.integers(0, 150, count),
            "ward": generator.choice(list("ABC"), count),
            "age": generator.uniform(0, 100, count).round(1),
            "cost": generator.exponential(100, count).round(2),
        }
    )


def dataset(folder: Path, budget: Any = None, **more: Any) -> nw.Dataset:
    chosen = {"rows_per_group": 2, "groups_per_person": 2, **more}
    return nw.Dataset(
        chosen.pop("source", frame()),
        "id",
        name="visits",
        budget=budget or nw.PureDP(3),
        ledger=folder / "x.ledger",
        **chosen,
    )


PRIVACIES = [nw.PureDP(1), nw.ApproxDP(1, "1e-6"), nw.ZeroConcentratedDP("0.5"), nw.RenyiDP(4, 1)]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=lambda privacy: type(privacy).__name__)
def test_parts_are_proven_together(privacy: Any):
    layout = layout_of(QUESTIONS, ContributionBounds(2, 2, False))
    noise = designed(layout, privacy, nw.SquaredError(), {"count": 4})
    costs = price_of(noise.blocks, layout).costs()
    if isinstance(privacy, nw.PureDP):
        assert costs.pure() == 1
    if isinstance(privacy, nw.ZeroConcentratedDP):
        assert Fraction(499, 1000) < costs.concentrated()[0] <= Fraction(1, 2)
    if isinstance(privacy, nw.RenyiDP):
        assert costs.divergence(4) <= 1
    if isinstance(privacy, nw.ApproxDP):
        assert noise.value <= designed(layout, nw.PureDP(1), nw.SquaredError(), {"count": 4}).value
    assert len(drawn(noise.blocks, layout, [0] * layout.dimension)) == layout.dimension


def test_a_delta_is_used_where_a_person_is_in_many_groups():
    layout = layout_of([nw.count(by=nw.keys("k", range(60)))], ContributionBounds(1, 40, False))
    privacy = nw.ApproxDP(1, "1e-6")
    noise = designed(layout, privacy, nw.SquaredError(), {})
    assert noise.blocks[0].table is None, "all numbers are one question"
    assert noise.value < 0.5 * designed(layout, nw.PureDP(1), nw.SquaredError(), {}).value
    assert price_of(noise.blocks, layout).certificate.requirement == privacy


def test_one_ledger_keeps_the_release_and_gives_it_back(tmp_path: Path):
    data = dataset(tmp_path)
    plan = data.plan(*QUESTIONS, privacy=nw.PureDP(1))
    assert data.ledger is not None
    assert data.ledger.spent == 0, "a plan spends nothing"
    first = plan.release()
    assert data.ledger.spent == 1
    assert list(first.columns) == [
        "question",
        "ward",
        "value",
        "half_width",
        "low",
        "high",
        "counted",
        "mechanism",
        "charge",
    ]
    assert list(first["ward"][:3]) == ["A", "B", "C"]
    again = dataset(tmp_path).plan(*QUESTIONS, privacy=nw.PureDP(1)).release()
    pd.testing.assert_frame_equal(first, again)
    assert data.ledger.spent == 1
    fresh = plan.release(fresh=True, reason="once more")
    assert data.ledger.spent == 2
    assert not fresh["value"].equals(first["value"])
    pd.testing.assert_frame_equal(plan.release(), fresh)
    dataset(tmp_path, version=2).plan(*QUESTIONS, privacy=nw.PureDP(1)).release()
    assert data.ledger.spent == 3, "another version is another dataset"
    with pytest.raises(nw.errors.BudgetExceeded):
        plan.release(fresh=True)
    assert data.ledger.verify().charges == 3


@pytest.mark.parametrize(
    ("source", "kind"),
    [(frame(), pd.DataFrame), (pl.from_pandas(frame()), pl.DataFrame), (pa.Table.from_pandas(frame()), pa.Table)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_answers_come_in_the_frame_of_the_caller(tmp_path: Path, source: Any, kind: type):
    found = dataset(tmp_path, source=source).plan(*QUESTIONS, privacy=nw.PureDP(1)).release()
    assert type(found) is kind
    assert len(found) == 3 + 3 + 1 + 1


def test_a_plan_is_saved_proven_again_and_bound_to_its_dataset(tmp_path: Path, capsys):
    data = dataset(tmp_path)
    plan = data.plan(*QUESTIONS, privacy=nw.PureDP(1), weights={"count": "1/2"})
    plan.save(tmp_path / "plan.json")
    found = nw.Plan.load(tmp_path / "plan.json")
    assert found.to_dict() == plan.to_dict()
    verify(tmp_path / "plan.json")
    printed = capsys.readouterr().out
    assert "pure differential privacy, epsilon = 1 for all answers together" in printed
    assert "2 rows in a group, 2 groups of a table" in printed
    with pytest.raises(nw.errors.InvalidInputError, match="released by its dataset"):
        found.release()
    assert data.load_plan(tmp_path / "plan.json").key == plan.key
    with pytest.raises(nw.errors.MechanismFileError, match="it differs in limits"):
        dataset(tmp_path, rows_per_group=3).load_plan(tmp_path / "plan.json")


def _sealed(content: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in content.items() if name != "digest"}
    return {**bare, "digest": digest(bare)}


def test_an_edited_plan_is_refused_even_with_a_new_seal(tmp_path: Path):
    content = dataset(tmp_path).plan(*QUESTIONS, privacy=nw.PureDP(1)).to_dict()
    wider = json.loads(json.dumps(content))
    wider["dataset"]["limits"]["rows_per_group"] = 5
    with pytest.raises(nw.errors.MechanismFileError, match="edited or damaged"):
        nw.Plan.from_dict(wider)
    with pytest.raises(nw.errors.MechanismFileError, match="answers another question than the plan asks"):
        nw.Plan.from_dict(_sealed(wider))
    more = json.loads(json.dumps(content))
    more["dataset"]["limits"]["groups_per_person"] = 3
    with pytest.raises(nw.errors.MechanismFileError, match="not proven to keep the requirement"):
        nw.Plan.from_dict(_sealed(more))
    less = {**content, "privacy": {"kind": "pure", "epsilon": "9/10"}}
    with pytest.raises(nw.errors.MechanismFileError, match="not proven to keep the requirement"):
        nw.Plan.from_dict(_sealed(less))
    fewer = {**content, "blocks": content["blocks"][:1]}
    with pytest.raises(nw.errors.MechanismFileError, match="do not answer each table"):
        nw.Plan.from_dict(_sealed(fewer))


def test_a_plan_put_together_by_hand_is_not_released(tmp_path: Path):
    data = dataset(tmp_path)
    plan = data.plan(*QUESTIONS, privacy=nw.PureDP(1))
    tight = dataset(tmp_path, rows_per_group=1, groups_per_person=1).plan(*QUESTIONS, privacy=nw.PureDP(1))
    for wrong in (
        replace(plan, blocks=tight.blocks),
        replace(plan, privacy=nw.PureDP("1/2")),
        replace(tight, dataset=data),
        replace(plan, layout=tight.layout, blocks=tight.blocks),
    ):
        with pytest.raises((nw.errors.MechanismFileError, nw.errors.UncertifiedError)):
            wrong.release()
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_a_plan_says_what_it_will_do(tmp_path: Path):
    shown = str(dataset(tmp_path).plan(*QUESTIONS, privacy=nw.PureDP(1)))
    for words in ("nothing is spent yet", "95 % within", "plain Laplace", "there remains: 3", "clamping bias"):
        assert words in shown
    gaussian = str(nw.Dataset(frame(), "id", name="x").plan(nw.count(), privacy=nw.ApproxDP(1, "1e-6")))
    assert "plain Gaussian" in gaussian
    assert "<table>" in dataset(tmp_path).plan(nw.count(), privacy=nw.PureDP(1))._repr_html_()


def test_tables_that_are_drawn_together_have_widths_of_their_own():
    """Three counts with little noise and a sum with much: 95 times in 100 discrete Laplace noise is within these."""
    layout = layout_of([nw.count(by=WARDS), nw.ask.sum("age", bounds=(0, 120), step=1)], ContributionBounds(1, 1, True))
    scales = [Fraction(2)] * WARDS.count + [Fraction(500)]
    parts = [
        nw.mechanisms.Additive(nw.Scalar(1, integer=True), nw.laws.DiscreteLaplace(scale), nw.laws.Lattice.integers())
        for scale in scales
    ]
    joint = make_certified(nw.mechanisms.PerCoordinate(joint_query(layout), parts), nw.PureDP(10))
    found = widths([Block(joint, None, "together", "by hand")], layout, Fraction(19, 20))
    least = [
        next(m for m in range(9999) if 2 * math.exp(-(m + 1) / scale) / (1 + math.exp(-1 / scale)) <= 0.05)
        for scale in (2, 500)
    ]
    assert found == [[least[0]], [least[1]]]


@pytest.mark.parametrize("groups", [1, 2, 9])
@pytest.mark.parametrize(
    ("privacy", "laplace"),
    [(nw.PureDP(1), 1), (nw.ApproxDP(1, "1e-6"), 1), (nw.ZeroConcentratedDP("0.1"), 0.5), (nw.RenyiDP(4, "0.1"), None)],
    ids=["pure", "approximate", "concentrated", "order 4"],
)
def test_plain_noise_grows_with_the_numbers_of_a_person_or_with_their_root(privacy: Any, laplace: Any, groups: int):
    """Laplace noise shares an epsilon among them, Gaussian noise the square of a length, a concentration either."""

    def errors(most: int) -> list[Any]:
        layout = layout_of([nw.count(by=nw.keys("g", range(9)))], ContributionBounds(1, most, False))
        found = [of(layout, privacy, nw.SquaredError()) for of in (laplace_errors, gaussian_errors)]
        return [one if one is None else one[0][0] for one in found]

    (laplace_alone, gaussian_alone), (laplace_error, gaussian_error) = errors(1), errors(groups)
    assert laplace_error == (None if laplace is None else pytest.approx(laplace_alone * groups**laplace))
    assert (gaussian_error is None) is isinstance(privacy, nw.PureDP)
    assert gaussian_error is None or gaussian_error == pytest.approx(gaussian_alone * groups**0.5)


def test_joint_noise_beats_plain_laplace_for_three_outputs():
    # Asked: count and centred sums of age and charges; sensitivities 1, 60 and 50,000, weights 1/sensitivity^2.
    questions = [
        nw.count(),
        nw.ask.sum("age", bounds=(0, 120), centred=True),
        nw.ask.sum("charges", bounds=(0, 100_000), centred=True),
    ]
    layout = layout_of(questions, ContributionBounds(1, 1, True))
    noise = designed(layout, nw.PureDP(1), nw.SquaredError(), {})
    assert noise.value <= 0.45 * 3 * 2 * 3**2


@pytest.mark.parametrize(
    "privacy",
    [nw.ApproxDP(1, "1e-6"), nw.ZeroConcentratedDP("0.1"), nw.RenyiDP(4, 1)],
    ids=lambda one: type(one).__name__,
)
def test_what_a_budget_can_never_add_is_refused_by_the_plan(tmp_path: Path, privacy: Any):
    with pytest.raises(nw.errors.InvalidPrivacyError, match=r"pure.* cannot add releases under"):
        dataset(tmp_path).plan(nw.count(), privacy=privacy)
    with pytest.raises(nw.errors.InvalidPrivacyError, match=r"pure.* cannot add releases under"):
        dataset(tmp_path).plan(nw.count(), nw.ask.persons(), budgets={"count": privacy, "persons": privacy})


def test_what_a_ledger_can_never_add_is_refused_when_a_plan_is_read(tmp_path: Path):
    (tmp_path / "large").mkdir()
    plan = dataset(tmp_path / "large", nw.ApproxDP(10, "1e-3")).plan(nw.count(), privacy=nw.ApproxDP(1, "1e-6"))
    plan.save(tmp_path / "plan.json")
    with pytest.raises(nw.errors.InvalidPrivacyError, match=r"pure.* cannot add releases under"):
        dataset(tmp_path).load_plan(tmp_path / "plan.json")


def test_a_charge_that_waits_to_be_finished_is_not_said_to_be_refused(tmp_path: Path):
    data = dataset(tmp_path, nw.PureDP(1))
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert plan.refusal is None
    assert data.ledger is not None
    same_of(plan, data.ledger).charged("power cut")
    assert plan.refusal is None
    other = data.plan(nw.ask.persons(), privacy=nw.PureDP(1))
    assert isinstance(other.refusal, nw.errors.BudgetExceeded)
    assert "A release would be refused" in str(other)
    plan.release()
    assert data.ledger.spent == 1
    assert plan.refusal is None


def test_a_plan_tells_how_the_texts_of_its_tables_are_read():
    one = pa.table({"id": [1], "x": ["1"], "day": ["2026-01-01"], "z": ["a"]})
    two = pa.table({"id": [1], "w": ["1,5"]})
    first = nw.Dataset(one, "id", name="x", types={"x": "number", "day": "date", "z": "text"})
    second = nw.Dataset(two, "id", name="y", types={"w": "decimal comma"})
    told = "x as a number (1.5), day as a date (2026-01-31); a text that is none counts as missing"
    assert f"Reads:    {told}" in str(first.plan(nw.count(), privacy=nw.PureDP(1)))
    assert first.join(second).read_as == {"w": "a number (1,5)", "x": "a number (1.5)", "day": "a date (2026-01-31)"}
    assert "x" not in first.through(lambda t: t.drop("x")).read_as


@pytest.mark.parametrize(
    ("questions", "privacy", "words"),
    [
        ([nw.mean("agee", bounds=(0, 1))], nw.PureDP(1), "there is no column 'agee'; there are 'age'"),
        ([nw.mean("ward", bounds=(0, 1))], nw.PureDP(1), "'ward' holds text, and the question needs numbers"),
        ([nw.mean("when", bounds=(0, 1))], nw.PureDP(1), "'when' holds timestamp"),
        ([nw.count(by=nw.keys("ward", [1]))], nw.PureDP(1), "the keys of 'ward' are integer, but"),
        ([nw.count(by=nw.keys("wards", ["A"]))], nw.PureDP(1), "there is no column 'wards'"),
        ([nw.count(), nw.count()], nw.PureDP(1), "two questions are called 'count'"),
        ([], nw.PureDP(1), "nothing is asked"),
        (["count"], nw.PureDP(1), "a question is 'count'; give questions such as"),
        ([nw.count()], nw.MetricPrivacy(nw.metrics.Hamming(3, 1)), "in a plan of their own"),
        ([nw.count()], 1, "a plan over a table takes PureDP"),
    ],
)
def test_what_the_schema_shows_wrong_is_refused_before_anything_is_spent(
    tmp_path: Path, questions: Any, privacy: Any, words: str
):
    data = dataset(tmp_path, source=frame().assign(when=pd.Timestamp("2020-01-01")))
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        data.plan(*questions, privacy=privacy)
    assert data.ledger is not None
    assert [row["event"] for row in data.ledger.rows()] == ["create"]


def test_other_wrong_words_are_refused(tmp_path: Path):
    data = dataset(tmp_path)
    for wrong, words in (
        ({"weights": {"counts": 1}}, "weights names 'counts'"),
        ({"weights": {"count": -1}}, "the weight of 'count' is -1"),
        ({"utility": nw.LargestError()}, "give nw.SquaredError"),
    ):
        with pytest.raises(nw.errors.InvalidInputError, match=words):
            data.plan(nw.count(), privacy=nw.PureDP(1), **wrong)
    with pytest.raises(nw.errors.InvalidInputError, match="frame is 'excel'"):
        data.plan(nw.count(), privacy=nw.PureDP(1)).release(frame="excel")
    with pytest.raises(nw.errors.InvalidInputError, match="and budget= says"):
        dataset(tmp_path, budget=nw.PureDP(4))
    with pytest.raises(nw.errors.InvalidQueryError, match="each person has one row, hence one group"):
        dataset(tmp_path, one_row_per_person=True)
    with pytest.raises(nw.errors.InvalidInputError, match="has no budget"):
        nw.Dataset(frame(), "id").plan(nw.count(), privacy=nw.PureDP(1)).release()
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_an_engine_that_fails_before_the_charge_spends_nothing(tmp_path: Path):
    path = tmp_path / "visits.parquet"
    frame().to_parquet(path)
    data = dataset(tmp_path, source=str(path))
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    path.unlink()
    with pytest.raises(nw.errors.EngineError, match=r"the engine failed \(IOException\)"):
        plan.release()
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_what_fails_after_the_charge_says_that_it_is_spent(tmp_path: Path, monkeypatch):
    data = dataset(tmp_path)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))

    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("noisewright.release.run.transaction.drawn", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        plan.release()
    assert "is spent: pure differential privacy, epsilon = 1. Nothing was released." in stopped.value.__notes__[0]
    assert data.ledger is not None
    assert data.ledger.spent == 1
    monkeypatch.undo()
    with pytest.raises(nw.errors.InvalidInputError, match="may have been drawn, and no answer is stored"):
        plan.release()
    assert data.ledger.spent == 1
    plan.release(fresh=True)
    assert data.ledger.spent == 2, "what was never answered is not stored"


def test_a_budget_without_a_ledger_warns():
    with pytest.warns(nw.errors.EphemeralBudgetWarning, match="the next process begins anew"):
        data = nw.Dataset(frame(), "id", name="x", budget=nw.PureDP(1))
    assert data.plan(nw.count(), privacy=nw.PureDP(1)).release()["charge"].tolist() == [1]


@pytest.mark.statistical
def test_half_widths_cover_as_often_as_they_say():
    """Of 1,000 releases; a false alarm is a chance of 1e-6 on each side (five standard errors)."""
    check_coverage(1000)


@pytest.mark.soak
@pytest.mark.statistical
def test_half_widths_cover_ten_thousand_times():
    """The same of 10,000 releases."""
    check_coverage(10_000)


def check_coverage(times: int) -> None:
    questions = [nw.count(by=WARDS), nw.mean("age", bounds=(0, 120)), nw.ask.variance("age", bounds=(0, 120))]
    data = nw.Dataset(frame(2000), "id", name="x", rows_per_group=30, groups_per_person=3)
    plan = data.plan(*questions, privacy=nw.ZeroConcentratedDP(2))
    true = data._checked.true_aggregates(plan.layout, 7)
    half_widths = half_widths_of(plan)
    exact = columns(plan, true, 0, half_widths)
    inside = np.zeros(5)
    for _ in range(times):
        found = columns(plan, drawn(plan.blocks, plan.layout, true), 0, half_widths)
        ends = zip(found["low"], exact["value"], found["high"], strict=True)
        inside += [low <= value <= high for low, value, high in ends]
    shares, error = inside / times, 5 * (0.05 * 0.95 / times) ** 0.5
    assert (shares >= 0.95 - error).all(), shares
    assert (shares[:3] <= 0.97 + error).all(), shares
    assert shares[3] <= 0.995 + (0.005 * 0.995 / times) ** 0.5 * 5, shares


def test_widths_are_those_of_the_mechanism():
    layout = layout_of([nw.count()], ContributionBounds(1, 1, False))
    blocks = designed(layout, nw.PureDP(1), nw.SquaredError(), {}).blocks
    assert widths(blocks, layout, Fraction(19, 20)) == [[Fraction(3)]]


@pytest.mark.parametrize("privacy", [nw.PureDP(1), nw.ZeroConcentratedDP("0.1"), nw.ApproxDP(1, "1e-6")], ids=str)
def test_totals_are_off_by_no_more_than_the_groups_below_them(privacy: Any):
    columns = {"g10": 10, "g100": 100, "g1000": 1000}
    table = pa.table({"id": range(1000), **{name: [i % size for i in range(1000)] for name, size in columns.items()}})
    data = nw.Dataset(table, "id", name="areas", one_row_per_person=True)
    levels = [nw.count(by=nw.keys(name, range(size)), name=name) for name, size in columns.items()]
    plan = data.plan(nw.count(), *levels, privacy=privacy)
    errors = [line.error for line in plan.lines()]
    assert len(errors) == 4
    assert max(errors) <= 1.05 * min(errors)
