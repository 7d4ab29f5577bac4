"""Quantiles, the largest categories and linear questions: released is what they ask for, with honest intervals."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.release.ask.linear import FINE
from noisewright.release.ask.quantiles import quantile
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.plan.noise import drawn, widths
from noisewright.release.plan.plan import Plan, require_sound
from noisewright.release.run.answers import columns
from noisewright.release.run.post_processing import half_widths_of

PLENTY = nw.ZeroConcentratedDP(200)
WARDS = nw.keys("ward", ["A", "B"])


@pytest.fixture(scope="module")
def visits() -> Any:
    generator = np.random.default_rng(5)
    rows = 600
    return pa.table(
        {
            "id": np.arange(rows),
            "ward": generator.choice(["A", "B"], rows),
            "age": generator.normal(60, 30, rows),
            "dx": generator.choice(list("pqrs"), rows, p=[0.1, 0.4, 0.3, 0.2]),
        }
    )


def dataset(table: Any, **limits: int) -> nw.Dataset:
    return nw.Dataset(table, "id", name="visits", **limits)


def released(data: nw.Dataset, *questions: Any, privacy: Any = PLENTY) -> tuple[Plan, list[dict[str, Any]]]:
    """The rows of an answer, around the true numbers of the table; nothing is charged."""
    plan = data.plan(*questions, privacy=privacy)
    found = columns(plan, drawn(plan.blocks, plan.layout, data._checked.true_aggregates(plan.layout, 1)), 0)
    return plan, [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def test_whatever_the_noise_within_its_reach_the_quantile_is_in_the_interval():
    random = Random(3)
    wide = 0
    for _ in range(600):
        counts = [random.choice([0, 0, 1, 2, 9]) for _ in range(random.randrange(1, 9))]
        q, total = Fraction(random.randrange(1, 10), 10), sum(counts)
        if not total:
            continue
        first = list(accumulate(counts))
        true = bisect_left(first, q * total)
        reach = [Fraction(random.randrange(0, 8), 2) for _ in counts]
        # Ends of the reach count as within it, and are drawn often.
        noisy = [
            n - q * total + w * Fraction(random.choice([-3, -3, 1, 3, 3]), 3) for n, w in zip(first, reach, strict=True)
        ]
        found = quantile(noisy, reach)
        if found is not None:
            best, low, high = found
            assert low <= true <= high
            assert low <= best <= high
            wide += high - low == len(counts) - 1 > 2
        if not any(reach):
            assert found == (true, true, true)
    assert wide < 200, "the interval is not simply everything"


def test_no_interval_where_there_may_be_no_rows():
    assert quantile([Fraction(-1), Fraction(2)], [Fraction(2)] * 2) is None
    assert quantile([Fraction(-1), Fraction(3)], [Fraction(2)] * 2) == (1, 0, 1)


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        ([12, 4, 4], ["10/3", "20/3", "14"]),
        ([4, 12, 4], ["26/3", "12", "46/3"]),
        ([19, 0, 1], ["40/19", "80/19", "120/19"]),
    ],
)
def test_within_a_bin_a_quantile_is_where_its_share_of_the_rows_is(counts: list[int], values: list[str]):
    """By hand, without noise: of twenty rows five, ten and fifteen lie below, evenly spread in each bin."""
    asked = nw.ask.quantiles("x", ["1/4", "1/2", "3/4"], edges=[0, 8, 16, 24])
    reached = list(accumulate(counts))
    for q, value in zip(asked.probabilities, values, strict=True):
        found: Any = asked._estimate(q, [count - q * 20 for count in reached], [Fraction(0)] * 3)
        assert found.value == Fraction(value)
        assert found.low <= found.value <= found.high


def test_quantiles_with_hardly_any_noise_are_those_of_the_table(visits):
    _, rows = released(
        dataset(visits, one_row_per_person=True),
        nw.ask.quantiles("age", ["0.1", "0.5", "0.9"], bounds=(0, 120), step=10, by=WARDS),
        nw.ask.quantiles("age", ["0.5"], edges=[-200, 0, 45, 62, 100, 300], name="in bins"),
    )
    ages, wards = visits["age"].to_numpy(), visits["ward"].to_numpy(zero_copy_only=False)
    on_steps = np.floor(np.clip(ages, 0, 120) / 10 + 0.5) * 10
    for row in rows[:-1]:
        own = np.quantile(on_steps[wards == row["ward"]], row["quantile"], method="inverted_cdf")
        assert row["low"] <= own <= row["high"]
        assert row["value"] == own
        assert row["half_width"] <= 10
    median = float(np.median(ages))
    assert (rows[-1]["low"], rows[-1]["high"]) == (45, 62)
    assert abs(rows[-1]["value"] - median) < 2


def test_the_largest_categories_are_named_in_order(visits):
    listed = nw.keys({"ward": ["A", "B"], "dx": list("abpqrs")})
    plan, rows = released(
        dataset(visits, one_row_per_person=True),
        nw.ask.top("dx", 3, by=listed),
        nw.ask.top(listed, 2, name="of all"),
        nw.count(by=listed),
    )
    assert len(plan.layout.tables) == 1, "they share one table of counts"
    assert [row["dx"] for row in rows[:6]] == ["q", "r", "s", "q", "r", "s"]
    assert [row["rank"] for row in rows[:8]] == [1, 2, 3, 1, 2, 3, 1, 2]
    assert {row["dx"] for row in rows[6:8]} == {"q"}
    counts = {(row["ward"], row["dx"]): row["value"] for row in rows[8:]}
    assert all(row["value"] == counts[row["ward"], row["dx"]] for row in rows[:8])


def test_half_widths_of_a_ranking_hold_for_all_categories_at_once(visits):
    listed = nw.keys("dx", list("abcdefpqrs"))
    plan, rows = released(
        dataset(visits), nw.ask.top("dx", 10, by=listed), nw.count(by=listed), privacy=nw.PureDP("0.1")
    )
    half_widths = half_widths_of(plan)
    assert half_widths["top of dx"] == widths(plan.blocks, plan.layout, 1 - Fraction(1, 200))[0]
    assert half_widths["top of dx"][0] > half_widths["count"][0]
    question = plan.questions[0]
    ties = list(question.answers(plan.layout.tables[0], [5] * 10, (0,), [Fraction(1)]))
    assert [named["dx"] for named, _ in ties] == list("abcdefpqrs"), "equal counts stand in the order of the keys"
    assert [row["value"] for row in rows[:10]] == sorted((row["value"] for row in rows[:10]), reverse=True)


def test_linear_questions_are_those_of_the_cells(visits):
    data = dataset(visits, one_row_per_person=True)
    cells = nw.keys({"ward": ["A", "B"], "dx": list("pq")})
    _, rows = released(
        data,
        nw.ask.workload("ranges", column="age", edges=[0, 40, 80, 120]),
        nw.ask.workload([["ward"], ["ward", "dx"], []], keys=cells, name="marginals"),
        nw.ask.workload([[1, "-1/2"], [0, 3]], keys=nw.keys("dx", ["q", "r"]), by=WARDS, name="own"),
        nw.ask.workload("prefixes", keys=nw.keys("dx", ["q", "r"]), name="first"),
    )
    true = {(w, d): 0 for w in "AB" for d in "pqrs"}
    for w, d in zip(visits["ward"].to_pylist(), visits["dx"].to_pylist(), strict=True):
        true[w, d] += 1
    ages = visits["age"].to_numpy()
    ranges = [
        ((low <= ages) & (ages < high)).sum()
        for low, high in [(0, 40), (0, 80), (0, 120), (40, 80), (40, 120), (80, 120)]
    ]
    wanted = [
        *ranges,
        *(true[w, "p"] + true[w, "q"] for w in "AB"),
        *(true[w, d] for w in "AB" for d in "pq"),
        sum(true[w, d] for w in "AB" for d in "pq"),
        *(value for w in "AB" for value in (true[w, "q"] - true[w, "r"] / 2, 3 * true[w, "r"])),
        *(true["A", "q"] + true["B", "q"], sum(true[w, d] for w in "AB" for d in "qr")),
    ]
    assert max(abs(row["value"] - one) for row, one in zip(rows, wanted, strict=True)) < 3
    assert [row["cells"] for row in rows] == [
        *("[0, 40)", "[0, 80)", "[0, 120]", "[40, 80)", "[40, 120]", "[80, 120]"),
        *("ward=A", "ward=B", "ward=A × dx=p", "ward=A × dx=q", "ward=B × dx=p", "ward=B × dx=q", "total"),
        *("row 0", "row 1", "row 0", "row 1", "q", "q..r"),
    ]


def test_one_person_moves_the_cells_of_a_group_by_their_rows_in_all():
    questions = [
        nw.ask.quantiles("age", ["0.5"], bounds=(0, 3), step=1, by=WARDS),
        nw.ask.quantiles("age", ["0.9"], bounds=(0, 3), step=1, by=WARDS, name="more"),
    ]
    layout = layout_of(questions, ContributionBounds(3, 1, False))
    (table,) = layout.tables
    assert (table.together, table.groups, layout.dimension, layout.released) == (4, 1, 8, 8)
    assert str(layout.sensitivity) == (
        "at most 1 of 2 groups change, inside a group: absolute changes add up to at most 3"
    )
    assert layout.holds([1, 0, 2, 0, 0, 0, 0, 0])
    assert not layout.holds([2, 0, 2, 0, 0, 0, 0, 0]), "four rows"
    assert not layout.holds([1, 0, 0, 0, 0, 1, 0, 0]), "two groups"
    query = table.strategy.query(table)
    assert (query.rows_per_person, query.cells_per_person, query.size) == (3, 1, 4)
    assert [places for _, places in table.questions] == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_what_is_designed_for_has_the_squares_of_what_is_read():
    questions = [nw.ask.quantiles("age", ["0.1", "0.25", "0.9"], bounds=(0, 4), step=1)]
    (table,) = layout_of(questions, ContributionBounds(1, 1, False)).tables

    def gram(asked: nw.Workload) -> Any:
        weights = [part.weight for part in asked.parts for _ in range(part.questions)]
        rows = np.array(asked.matrix(), dtype=object)
        return (rows.T * np.array(weights, dtype=object)) @ rows

    way: Any = table.strategy
    assert (gram(way.asked(table)) == gram(way.reading(table))).all()


def test_noise_for_fewer_rows_does_not_pass_for_that_of_more(visits):
    asked = nw.ask.quantiles("age", ["0.5"], bounds=(0, 8), step=1)
    one, three = (
        dataset(visits, rows_per_group=rows).plan(asked, privacy=nw.ZeroConcentratedDP("0.1")) for rows in (1, 3)
    )
    require_sound(three)
    with pytest.raises(nw.errors.MechanismFileError, match="answers another question"):
        require_sound(replace(three, blocks=one.blocks))
    assert Plan.from_dict(three.to_dict()).to_dict() == three.to_dict()
    wide, narrow = (widths(plan.blocks, plan.layout, Fraction(19, 20))[0] for plan in (three, one))
    assert all(abs(a / b - 3) < 0.01 for a, b in zip(wide, narrow, strict=True))


@pytest.mark.parametrize("privacy", [nw.ApproxDP(1, "1e-6"), nw.ZeroConcentratedDP("0.1"), nw.RenyiDP(8, "0.5")])
def test_every_requirement_is_kept_by_a_strategy_alone(visits, privacy):
    data = dataset(visits, rows_per_group=2, groups_per_person=2)
    alone = data.plan(nw.ask.quantiles("age", ["0.5"], bounds=(0, 40), step=20), privacy=privacy)
    require_sound(alone)
    assert alone.price.certificate.requirement == privacy


def test_a_plan_says_what_to_expect_and_keeps_the_requirement_of_all(visits):
    data = dataset(visits, rows_per_group=2, groups_per_person=2)
    asked = nw.ask.quantiles("age", ["0.5"], bounds=(0, 60), step=20, by=WARDS)
    plan = data.plan(asked, nw.count(), privacy=nw.ZeroConcentratedDP("0.1"))
    require_sound(plan)
    assert plan.price.costs().concentrated()[0] <= Fraction(1, 10)
    told = str(plan)
    assert "rows below, at 0.5" in told
    assert "ward (2 groups) by 4 bins of age" in told


def test_groups_of_a_person_add_up(visits):
    asked = nw.ask.quantiles("age", ["0.5"], bounds=(0, 20), step=20, by=WARDS)
    plan = dataset(visits, rows_per_group=3, groups_per_person=2).plan(asked, privacy=nw.PureDP(1))
    assert plan.blocks[0].certified.certificate.requirement == nw.PureDP("1/2")
    assert Fraction(99, 100) < plan.price.costs().pure() <= 1


def test_a_ranking_has_a_target_and_cells_have_none(visits):
    data, listed = dataset(visits), nw.keys("dx", list("pqrs"))
    plan = data.plan(nw.ask.top("dx", 1, by=listed), targets={"top of dx": 20})
    assert half_widths_of(plan)["top of dx"][0] <= 20
    quantiles = nw.ask.quantiles("age", [0.5], bounds=(0, 3), step=1)
    with pytest.raises(nw.errors.InvalidInputError, match="answered together by a strategy; plan it with privacy="):
        data.plan(quantiles, targets={"quantiles of age": 1})


REFUSED = {
    "bins": (lambda: nw.ask.quantiles("x", [0.5], bounds=(0, 1000), step=1), "need 1001 bins; at most 512"),
    "nothing": (lambda: nw.ask.quantiles("x", [0.5]), "give one of them"),
    "both": (lambda: nw.ask.quantiles("x", [0.5], bounds=(0, 1), edges=[0, 1]), "give one of them"),
    "a step alone": (lambda: nw.ask.quantiles("x", [0.5], step=1, edges=[0, 1]), "step goes with bounds"),
    "a share": (lambda: nw.ask.quantiles("x", [1], bounds=(0, 1)), "probability"),
    "no share": (lambda: nw.ask.quantiles("x", [], bounds=(0, 1)), "probabilities"),
    "the column": (
        lambda: nw.ask.quantiles("x", [0.5], bounds=(0, 1), by=nw.keys("quantile", ["a"])),
        "a column 'quantile' of its own",
    ),
    "too many": (lambda: nw.ask.top("k", 3, by=nw.keys("k", ["a", "b"])), "there are 2 categories"),
    "no keys": (lambda: nw.ask.top("k", 3), "list those that may occur"),
    "other keys": (lambda: nw.ask.top("k", 1, by=WARDS), "by has no keys of 'k'"),
    "keys twice": (lambda: nw.ask.top(WARDS, 1, by=WARDS), "give the keys once"),
    "private categories": (lambda: nw.ask.top(nw.keys("k", private=True), 1), "needs listed keys"),
    "private cells": (lambda: nw.ask.workload([["k"]], keys=nw.keys("k", private=True)), "needs listed keys"),
    "private groups": (
        lambda: nw.ask.quantiles("x", [0.5], bounds=(0, 1), by=nw.keys("k", private=True)),
        "needs listed keys",
    ),
    "cells": (lambda: nw.ask.workload("ranges"), "bins (column= and edges=) or about keys="),
    "a form": (lambda: nw.ask.workload("runs", keys=WARDS), "questions is 'runs'"),
    "weights": (lambda: nw.ask.workload([[1, 2, 3]], keys=WARDS), "about 3 cells, and there are 2"),
    "axes": (lambda: nw.ask.workload([["age"]], column="age", edges=[0, 1]), "bins have one axis"),
    "holes": (
        lambda: nw.ask.workload([["a"]], keys=nw.keys(["a", "b"], [("x", 1), ("y", 2)])),
        "all combinations",
    ),
    "people": (lambda: nw.ask.workload(nw.Workload.ranges(2, cells_per_person=2), keys=WARDS), "limits of the dataset"),
    "a wide matrix": (lambda: nw.ask.workload("identity", keys=nw.keys("k", range(3000))), "at most 65536 about 2048"),
    "a shared column": (lambda: nw.ask.workload("ranges", keys=WARDS, by=WARDS), "share a column"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_is_refused_in_words(case: str):
    ask, told = REFUSED[case]
    with pytest.raises(nw.errors.InvalidQueryError) as refusal:
        ask()
    assert told in str(refusal.value)


def test_absolute_errors_are_refused_for_cells(visits):
    with pytest.raises(nw.errors.InvalidUtilityError, match=r"quantiles of age: .*nw.SquaredError\(\) alone"):
        dataset(visits).plan(
            nw.ask.quantiles("age", [0.5], bounds=(0, 3), step=1), privacy=nw.PureDP(1), utility=nw.AbsoluteError()
        )


@pytest.mark.parametrize(("bounds", "step"), [((0, 120), 1), ((0, 1), "0.01"), ((0, 999), 5), ((-7, 400_000), 2000)])
def test_without_a_step_there_are_a_hundred_bins_or_a_few_more(bounds, step):
    found = nw.ask.quantiles("x", [0.5], bounds=bounds)
    assert found.range is not None
    assert found.range.step == Fraction(step)
    assert 100 <= found.count <= 251


def test_released_numbers_are_whole(visits):
    data = dataset(visits, one_row_per_person=True)
    plan = data.plan(nw.ask.workload("ranges", column="age", edges=[0, 60, 120]), privacy=PLENTY)
    vector = data._checked.true_aggregates(plan.layout, 1)
    numbers = drawn(plan.blocks, plan.layout, vector)
    assert all(isinstance(number, int) for number in numbers)
    assert len(numbers) == plan.layout.released == 3 != len(vector)
    assert abs(numbers[1] - sum(vector) * FINE) < FINE
