"""No value makes a release fail after the charge: true numbers of any size are drawn around, stored and shown.

Every kind of question and every way of answering gets sums that only 2^63 rows could have. Where noise is added to the
true number itself, what is released is that number and the very noise that a table of zeros gets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from ibis import _

import noisewright as nw
from noisewright.ledger.charge import plain_answer
from noisewright.release.ask.linear import FINE
from noisewright.release.ask.registry import QUESTIONS
from noisewright.release.plan.layout import STRATEGIES, AnswerTable
from noisewright.release.plan.noise import drawn, price_of
from noisewright.release.plan.plan import Plan
from noisewright.release.plan.shares import jointly, weights_of
from noisewright.release.plan.strategies.by_group import BY_GROUP
from noisewright.release.plan.strategies.by_weights import BY_WEIGHTS
from noisewright.release.plan.strategies.in_bounds import InBounds
from noisewright.release.plan.strategies.over_cells import OverCells
from noisewright.release.plan.strategies.selection import FOLLOWING, SELECTING, bounded_noise, end_of, intervals
from noisewright.release.run.answers import columns
from noisewright.release.run.bounds import question as bounds_question
from noisewright.release.run.checked_table import CheckedTable
from noisewright.release.run.idempotence import stored_form
from noisewright.release.run.post_processing import post_processing_of
from noisewright.release.stage.vector import Unlisted
from noisewright.release.table.frames import FRAMES, frame_of
from tests.replay import Replay

POWERS = (51, 52, 53, 62, 63, 80, 103)
FAR = [0, 1, -1, *(sign * (2**power + less) for power in POWERS for less in (-1, 0, 1) for sign in (1, -1))]
MOST_ROWS = 2**63
WIDE = (0, 10**12)
TOWNS = nw.keys("k", ["A", "B", "C"])
CHOSEN = nw.keys("k", private=True)
NEAR = nw.MetricPrivacy(nw.metrics.WithAbsent(nw.metrics.Euclidean([(0, 0), (1, 0), (9, 8)], scale="0.5"), 1))
NAMES = [("A",), ("\u00c4\0,",), ("",), ("\U0010ffff" * 3,)]
PURE, APPROX, RHO = nw.PureDP("0.5"), nw.ApproxDP("0.5", "1e-6"), nw.ZeroConcentratedDP("0.1")
RENYI, PLENTY = nw.RenyiDP(3, "0.1"), nw.ApproxDP(2, "1e-4")


@dataclass(frozen=True)
class Asked:
    """Questions about a table, with what they are answered under and what is done to the answers."""

    questions: Sequence[Any]
    privacy: Any = PURE
    post: tuple[str, ...] = ()
    limits: dict[str, Any] = field(default_factory=dict)
    plan: Callable[[nw.Dataset], Plan] | None = None

    def planned(self, folder: Path) -> Plan:
        table = pa.table({"id": [1, 2], "x": [1.0, 2.0], "y": [1.0, 2.0], "k": ["A", "B"], "b": [True, False]})
        budget = nw.ApproxDP(9, "1e-3") if isinstance(self.privacy, nw.ApproxDP) else self.privacy
        data = nw.Dataset(table, "id", name="x", budget=budget, ledger=folder / "x.ledger", **self.limits)
        return self.plan(data) if self.plan else data.plan(*self.questions, privacy=self.privacy)


def together(*questions: Any) -> Asked:
    """All numbers as one question, by the joint design, which is otherwise taken only where it is best."""

    def plan(data: nw.Dataset) -> Plan:
        found = data.plan(*questions, privacy=APPROX)
        own = [weights_of(table, found.utility, {}) for table in found.layout.tables]
        blocks = jointly(found.layout, APPROX, found.utility, own).blocks
        return replace(found, blocks=blocks, price=price_of(blocks, found.layout))

    return Asked(questions, APPROX, plan=plan)


ASKED = {
    "count": Asked([nw.count()], post=("non-negative", "integers")),
    "persons": Asked([nw.ask.persons(by=TOWNS)], RHO, limits={"groups_per_person": 2}),
    "a large sum": Asked([nw.ask.sum("x", bounds=WIDE, step=1)], post=("non-negative",)),
    "a large sum by key": Asked([nw.ask.sum("x", bounds=WIDE, step=1, by=TOWNS)], RENYI),
    "a sum of coarse steps": Asked([nw.ask.sum("x", bounds=WIDE, step=10**11 + 1, by=TOWNS)], APPROX),
    "a sum of fine steps": Asked([nw.ask.sum("x", bounds=(0, 1), step="1e-9")], RHO),
    "a partial sum": Asked([nw.ask.sum("x", bounds=WIDE, step=1, person_bounds=(-(10**12), 10**12))]),
    "a mean": Asked([nw.mean("x", bounds=WIDE, step=1)]),
    "means by key": Asked([nw.mean("x", bounds=WIDE, step=1, by=TOWNS)], APPROX, limits={"groups_per_person": 2}),
    "a variance": Asked([nw.ask.variance("x", bounds=(0, 10**6), step=1, by=TOWNS)], APPROX),
    "a variance under rho": Asked([nw.ask.variance("x", bounds=(0, 10**6), step=1)], RHO),
    "a histogram": Asked([nw.ask.histogram("x", edges=[0, 1, 5], by=TOWNS)]),
    "a proportion": Asked([nw.ask.proportion("k", ["A", "C"], by=TOWNS)]),
    "the largest": Asked([nw.ask.top("k", 2, by=TOWNS)], RHO),
    "quantiles": Asked([nw.ask.quantiles("x", ["0.1", "0.5"], bounds=(0, 10), step=1)]),
    "quantiles of bins": Asked([nw.ask.quantiles("x", ["0.5"], edges=[0, 1, 5, 7], by=TOWNS)], RHO),
    "ranges": Asked([nw.ask.workload("ranges", column="x", edges=range(7))]),
    "prefixes": Asked([nw.ask.workload("prefixes", column="x", edges=range(7), by=TOWNS)], APPROX),
    "marginals": Asked([nw.ask.workload([["k"], ["b"], []], keys=nw.keys({"k": ["A", "B"], "b": [True, False]}))], RHO),
    "weighted": Asked([nw.ask.weighted([12, 1, 240], by=TOWNS, name="height")], NEAR),
    "two weighted": Asked([nw.ask.weighted(one, by=TOWNS, name=str(one)) for one in ([12, 1, 240], [1, 0, 1])], NEAR),
    "in bounds": Asked([nw.ask.sum("x", bounds=(0, 9), step=1, inputs=(0, 500), outputs=(-400, 900), by=TOWNS)]),
    "counts in bounds": Asked([nw.count(inputs=(0, 30), outputs=(-60, 90), by=TOWNS)]),
    "several tables": Asked([nw.ask.sum("x", bounds=WIDE, step=1), nw.count(by=TOWNS)], post=("integers",)),
    "totals": Asked([nw.count(), nw.count(by=TOWNS, name="by town")], post=("non-negative", "integers", "totals")),
    "jointly": together(nw.ask.sum("x", bounds=WIDE, step=1), nw.count(by=TOWNS), nw.mean("y", bounds=(0, 9), step=1)),
    "chosen": Asked([nw.count(by=CHOSEN), nw.ask.persons(by=CHOSEN)], PLENTY),
    "chosen with sums": Asked(
        [nw.ask.sum("x", bounds=WIDE, step=1, by=CHOSEN), nw.mean("y", bounds=(0, 9), by=CHOSEN)],
        PLENTY,
        ("non-negative",),
    ),
    "chosen with a histogram": Asked([nw.ask.histogram("x", edges=[0, 1, 5], by=CHOSEN)], PLENTY),
    "bounds": Asked([], PURE, plan=lambda data: data.plan(bounds_question("x"), privacy=PURE)),
}


def vector(plan: Plan, values: Sequence[int], first: int = 0) -> list[Any]:
    """True numbers of a plan that are these, in a circle; those of cells and weighted persons count, from 0 on."""
    found = list[Any]()
    for start, table in enumerate(plan.layout.tables, first):
        counts = isinstance(table.strategy, OverCells) or table.strategy == BY_WEIGHTS or table.grouping.private
        own = islice(cycle([min(abs(v), MOST_ROWS) for v in values] if counts else values), start, None)
        if table.grouping.private:
            width = table.grouping.count * len(table.aggregates)
            found.append(Unlisted({key: tuple(islice(own, width)) for key in NAMES}))
        else:
            found += islice(own, table.count)
    return found


def vectors(plan: Plan) -> list[list[Any]]:
    """One extreme number at every place, and mixtures of them that begin at each."""
    return [vector(plan, [value]) for value in FAR] + [vector(plan, FAR, first) for first in range(len(FAR))]


def near(plan: Plan, table: AnswerTable, certified: Any, true: Sequence[Any], noisy: Sequence[Any], still: Any) -> None:
    """What is released of a table is its truth and noise; `still` is what is released where the truth is zeros."""
    way = table.strategy
    if way in (SELECTING, FOLLOWING):
        shown = dict(noisy[0])
        if way == SELECTING:
            most, persons = end_of(certified), {key: numbers[0] for key, numbers in true[0].items()}
            assert set(shown) >= {key for key, count in persons.items() if count > 2 * most}
            assert all(abs(value - persons[key]) <= most for key, (value, *_) in shown.items())
            assert all(low <= persons[key] <= high or value - low < 40 for key, (value, low, high) in shown.items())
        return
    if isinstance(way, InBounds):
        assert all(way.outputs[0] <= value <= way.outputs[1] for value in noisy)
    elif way == BY_GROUP:
        steps = [step for block in getattr(certified.mechanism, "blocks", ()) for step in block.steps]
        moved = [a - b - c for a, b, c in zip(noisy, still, true, strict=True)]
        assert all(abs(2 * move) <= max(steps, default=0) for move in moved)
    elif isinstance(way, OverCells):
        assert all(abs(value) <= FINE * (3 * sum(true) + 10**6) for value in noisy)
    else:
        assert way == BY_WEIGHTS
        assert all(abs(value) <= 10**6 * (300 * sum(true) + 10**6) for value in noisy)


@pytest.mark.parametrize("name", ASKED)
def test_numbers_of_any_size_are_drawn_around_stored_and_shown(name: str, tmp_path: Path):
    asked = ASKED[name]
    plan = asked.planned(tmp_path)
    layout, tidy = plan.layout, post_processing_of(plan, list(asked.post))
    still = layout.split_released(drawn(plan.blocks, layout, vector(plan, [0]), Replay(seed=7)))
    for place, true in enumerate(vectors(plan)):
        numbers = drawn(plan.blocks, layout, true, Replay(seed=7))
        parts = layout.split_released(numbers)
        for i, (table, own) in enumerate(zip(layout.tables, layout.split(true), strict=True)):
            near(plan, table, plan.blocks[i if len(plan.blocks) > 1 else 0].certified, own, parts[i], still[i])
        kept = layout.split_released(plain_answer(stored_form(layout, numbers)))
        read = [
            v for table, part in zip(layout.tables, kept, strict=True) for v in table.strategy.restored(table, part)
        ]
        assert read == numbers
        frame_of(columns(plan, numbers, 1, tidy=tidy), FRAMES[place % len(FRAMES)])


@pytest.mark.parametrize("name", ASKED)
def test_a_release_of_extreme_sums_is_charged_once_and_read_back(name: str, tmp_path: Path, monkeypatch: Any):
    asked = ASKED[name]
    plan = asked.planned(tmp_path)
    monkeypatch.setattr(CheckedTable, "true_aggregates", lambda checked, layout, salt: vector(plan, FAR[::-1]))
    answer = plan.release(post=list(asked.post))
    assert answer.equals(plan.release(post=list(asked.post)))
    assert plan.dataset is not None
    assert plan.dataset.ledger is not None
    assert [row["event"] for row in plan.dataset.ledger.rows()][1:] == ["charge", "drawing", "answer"]


def test_every_question_and_every_way_is_tried(tmp_path: Path):
    asked = [question for one in ASKED.values() for question in one.questions]
    assert {type(question) for question in asked} == set(QUESTIONS.kinds.values())
    for name in ASKED:
        (tmp_path / name).mkdir()
    plans = [one.planned(tmp_path / name) for name, one in ASKED.items()]
    assert {type(table.strategy) for plan in plans for table in plan.layout.tables} == set(STRATEGIES.kinds.values())


@pytest.mark.parametrize("bit", [0, 1])
def test_one_persons_bit_does_not_decide_between_an_answer_and_an_error(bit: int, tmp_path: Path):
    """Everyone else is made a constant: together 9007 persons are just below 2^53, and the last one decides."""
    table = pa.table({"id": np.arange(9008), "x": np.r_[np.zeros(9007), bit]})
    data = nw.Dataset(
        table, "id", name="x", budget=nw.PureDP(1), ledger=tmp_path / "x.ledger", one_row_per_person=True
    ).mutate(x=(_.id < 9007).ifelse(1e12, _.x * 1e12))
    answer = data.plan(nw.ask.sum("x", bounds=WIDE, step=1), privacy=PURE).release(frame="pandas")
    assert abs(answer.value[0] - (9007 + bit) * 1e12) < 1e14


@pytest.mark.parametrize("limits", [{"one_row_per_person": True}, {"rows_per_group": 2}, {"rows_per_group": 1}])
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_beyond_2_to_the_53_are_released_from_real_tables(limits: dict[str, Any], sign: int, tmp_path: Path):
    rows = 60_000
    table = pa.table({"id": np.arange(rows), "k": np.where(np.arange(rows) % 3, "A", "B"), "x": np.ones(rows)})
    most = 10**12 // limits.get("rows_per_group", 1)
    data = nw.Dataset(
        table, "id", name="x", budget=nw.ApproxDP(9, "1e-3"), ledger=tmp_path / "x.ledger", **limits
    ).mutate(x=_.x * (sign * most))
    ends = (min(0, sign * most), max(0, sign * most))
    asked = [
        nw.ask.sum("x", bounds=ends, step=1, by=nw.keys("k", ["A", "B", "none"])),
        nw.ask.sum("x", bounds=ends, step=1, person_bounds=ends, name="by person"),
        nw.mean("x", bounds=ends, step=1),
    ]
    answer = data.plan(*asked, privacy=nw.ApproxDP(1, "1e-6")).release(frame="pandas")
    true = [sign * most * count for count in (2 * rows // 3, rows // 3, 0, rows)]
    assert all(abs(answer.value - [*true, sign * most]) <= 4 * answer.half_width)


@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.AbsoluteError()], ids=str)
@pytest.mark.parametrize("epsilon", ["0.01", "0.0001"])
def test_sums_of_very_many_steps_are_planned_at_small_epsilons(epsilon: str, utility: Any, tmp_path: Path):
    """Floats cannot tell the neighbours of the best top step apart there; it lies next to the middle of the range."""
    data = nw.Dataset(pa.table({"id": [1], "x": [1.0]}), "id", name="x")
    plan = data.plan(nw.ask.sum("x", bounds=WIDE, step=1), privacy=nw.PureDP(epsilon), utility=utility)
    law = plan.blocks[0].certified.mechanism.law
    assert getattr(law, "breaks", None) is None or abs(law.breaks[-2] / 10**12 - 0.5) < 0.01
    scale = 10**12 / float(epsilon)
    (error,) = plan.layout.tables[0].strategy.errors(plan.blocks[0].certified, plan.layout.tables[0], utility)
    assert error == pytest.approx(2 * scale**2 if utility == nw.SquaredError() else scale, rel=1e-4)


def test_intervals_of_large_groups_are_those_of_smaller_ones():
    """From 2 m + 1 persons on every group is published, so that only the noise decides, wherever the number is."""
    law = bounded_noise(nw.ApproxDP(1, "1e-3"), nw.SquaredError()).mechanism.law
    most = len(law.weights) - 1
    near = intervals(law, range(1, 5 * most))
    low, high = (end - 5 * most + 1 for end in near[5 * most - 1])
    assert -most < low < 0 < high < most
    assert all(near[value] == (value + low, value + high) for value in range(3 * most + 1, 5 * most))
    assert near[most + 1] != (most + 1 + low, most + 1 + high), "a group that was published by chance is smaller"
    for value in (2**53 + 1, 2**63, 2**80):
        assert intervals(law, [value]) == {value: (value + low, value + high)}
