"""Answers made tidy after the release: what adds up, what is covered, what is never changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noisewright as nw
from noisewright.mechanisms.half_widths import groups_of
from noisewright.numerics.balls import precision
from noisewright.problem.privacy import PureDP
from noisewright.release.plan.noise import drawn
from noisewright.release.run.answers import columns
from noisewright.release.run.noise_sums import Sizes, Term, half_width_of, sizes_of
from noisewright.release.run.post_processing import half_widths_of, nearest_with_sum, post_processing_of, whole_with_sum
from noisewright.release.run.totals import Level, Tree, parents_of
from noisewright.release.stage.groupings import Grouping

WARDS = nw.keys("ward", ["A", "B", "C", "D", "E"])
BOTH = nw.keys({"ward": ["A", "B", "C", "D", "E"], "sex": ["f", "m"]})
ALL = ("non-negative", "integers", "totals")


def frame() -> pd.DataFrame:
    """Two hundred rows in ward A, few in B and C, none in D and E; one row per person."""
    wards = ["A"] * 200 + ["B"] * 2 + ["C"]
    sexes = [("f", "m")[i % 3 == 0] for i in range(len(wards))]
    return pd.DataFrame({"id": range(len(wards)), "ward": wards, "sex": sexes, "cost": [i % 50 for i in range(203)]})


def dataset(folder: Path | None = None, **more: Any) -> nw.Dataset:
    kept = {} if folder is None else {"budget": PureDP(9), "ledger": folder / "x.ledger"}
    return nw.Dataset(frame(), "id", name="visits", **{**kept, "one_row_per_person": True, **more})


def plan_of(data: nw.Dataset, epsilon: str = "1/2") -> nw.Plan:
    return data.plan(
        nw.count(by=WARDS),
        nw.count(name="total"),
        nw.ask.sum("cost", bounds=(0, 50), step=1, by=WARDS),
        nw.ask.sum("cost", bounds=(0, 50), step=1, name="sum in all"),
        nw.mean("cost", bounds=(0, 50)),
        privacy=PureDP(epsilon),
    )


@pytest.mark.statistical
def test_answers_cover_the_truth_before_and_after():
    """Of 500 releases; a false alarm is a chance of about 1e-5 (five standard errors, 26 shares)."""
    check_coverage(500)


@pytest.mark.soak
@pytest.mark.statistical
def test_answers_cover_the_truth_ten_thousand_times():
    """The same of 10,000 releases."""
    check_coverage(10_000)


def check_coverage(times: int) -> None:
    data = dataset()
    plan = plan_of(data)
    true, half_widths, tidy = (
        data._checked.true_aggregates(plan.layout, 7),
        half_widths_of(plan),
        post_processing_of(plan, ALL),
    )
    exact = np.array(columns(plan, true, 0, half_widths)["value"])
    # Groups of a table are drawn independently, so that all releases are drawn as many more groups.
    parts = []
    for block, table, part in zip(plan.blocks, plan.layout.tables, plan.layout.split(true), strict=True):
        numbers = table.strategy.drawn(block.certified, table, list(part) * times, None)
        parts.append(np.array(numbers, dtype=object).reshape(times, -1))
    before, ends, around = np.zeros(13), np.zeros(13), np.zeros(13)
    for numbers in np.concatenate(parts, axis=1).tolist():
        found = columns(plan, numbers, 0, half_widths, tidy)
        silent = np.array([value is None for value in found["value"]])
        names = ("low", "high", "post_value", "post_half_width", "post_low", "post_high")
        low, high, value, width, post_low, post_high = (np.array(found[name], dtype=float) for name in names)
        before += silent | (low <= exact) & (exact <= high)
        ends += silent | (post_low <= exact) & (exact <= post_high)
        around += silent | (np.abs(value - exact) <= width)
        assert value[:5].sum() == value[5]
        assert value[6:11].sum() == value[11]
        assert (value[:12] >= 0).all()
        assert (value[:12] % 1 == 0).all()
    error = 5 * (0.05 * 0.95 / times) ** 0.5
    counts = (("count", 0, slice(0, 5)), ("total", 1, slice(5, 6)))
    for name, of_table, place in counts:
        chance = chance_of(plan, of_table, half_widths[name])
        assert np.all(np.abs(before[place] / times - chance) <= error), (name, before, chance)
    for shares in (before / times, ends / times, around / times):
        assert (shares >= 0.95 - error).all(), shares


def chance_of(plan: nw.Plan, place: int, widths: Sequence[Fraction]) -> float:
    """How often the first number of a group of a table is within its width, as its law says."""
    places, group = next(one for one in groups_of(plan.blocks[place].certified.mechanism).items() if 0 in one[0])
    with precision():
        return 1 - float(group.spreads[places.index(0)].beyond(widths[0]).mid())


@pytest.mark.statistical
def test_totals_of_answers_that_were_all_rounded_down_are_covered():
    """Sums beside counts are put on a coarse lattice; here each truth lies just below the middle of its cell.

    Of 40 releases; a false alarm is a chance below 1e-6.
    """
    many, cost = nw.keys("ward", map(str, range(60))), {"column": "cost", "bounds": (0, 50), "step": 1}
    asked = [nw.count(by=many), nw.ask.sum(**cost, by=many), nw.count(name="total"), nw.ask.sum(**cost, name="all")]
    # With two rows each, totals are the sums of their parts, which were all moved to the same side.
    plan = dataset(one_row_per_person=False, rows_per_group=2).plan(*asked, privacy=PureDP(6))
    step = int(plan.blocks[0].certified.mechanism.blocks[0].steps[1])
    below = (step - 1) // 2
    assert step > 10
    true = [number for _ in range(60) for number in (1, below)] + [60, 60 * below]
    tidy, inside = post_processing_of(plan, ["totals"]), 0
    assert tidy is not None
    for _ in range(40):
        found = tidy.estimates(drawn(plan.blocks, plan.layout, true))["all"][0]
        assert found.half_width is not None
        assert found.value is not None
        inside += abs(found.value - 60 * below) <= found.half_width
    assert inside >= 29, inside


def test_values_moved_without_their_intervals_would_not_be_covered():
    """Raw half-widths around values that are non-negative with a fixed total are too short: nobody shall state them."""
    generator = np.random.default_rng(1)
    truth = np.array([40.0, *np.zeros(30)])
    inside = 0
    for _ in range(300):
        noisy = truth + generator.laplace(0, 10, 31)
        moved = nearest_with_sum([Fraction(value) for value in noisy], Fraction(40), non_negative=True)
        inside += abs(float(moved[0]) - 40) <= 10 * math.log(20)
    assert inside < 0.85 * 300


def test_post_processing_is_free_and_never_stored(tmp_path: Path):
    data = dataset(tmp_path)
    plan = plan_of(data)
    raw = plan.release()
    assert data.ledger is not None
    rows = list(data.ledger.rows())
    after = plan.release(post=ALL)
    assert list(data.ledger.rows()) == rows, "nothing is charged and nothing is written"
    names = list(after.columns)
    assert names[names.index("high") + 1 :] == [
        *("post_value", "post_half_width", "post_low", "post_high", "counted", "mechanism", "charge")
    ]
    pd.testing.assert_frame_equal(after[raw.columns], raw)
    pd.testing.assert_frame_equal(plan.release(post=["totals", "integers", "non-negative"]), after)
    alone = plan.release(post=["non-negative"])
    assert (alone["post_value"][:12] == raw["value"][:12].clip(lower=0)).all()
    assert (alone["post_high"][:12] == raw["high"][:12].clip(lower=0)).all()
    mean = alone.iloc[12]
    assert np.isnan(mean["value"]) or mean["post_value"] == mean["value"], "a mean stays as it is"
    again = plan_of(dataset(tmp_path)).release()
    pd.testing.assert_frame_equal(again, raw)


def test_a_new_release_is_tidy_at_once(tmp_path: Path):
    data = dataset(tmp_path)
    found = plan_of(data).release(post=["totals"])
    assert data.ledger is not None
    assert data.ledger.spent == Fraction(1, 2)
    assert abs(found["post_value"][:5].sum() - found["post_value"][5]) < 1e-9
    assert found["post_half_width"][5] < found["half_width"][5]
    assert found["post_half_width"][0] < found["half_width"][0]


REFUSED = {
    "a word": ("totals", "post is 'totals'; give a list of 'non-negative', 'integers', 'totals'"),
    "another": (["total"], "give a list of"),
    "a number": (3, "post is 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unknown_steps_are_refused_before_anything_is_spent(tmp_path: Path, case: str):
    given, told = REFUSED[case]
    data = dataset(tmp_path)
    with pytest.raises(nw.errors.InvalidInputError, match=told):
        plan_of(data).release(post=given)  # type: ignore[arg-type]
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_totals_that_cannot_add_up_are_refused_before_anything_is_spent(tmp_path: Path):
    data = dataset(tmp_path)
    with pytest.raises(nw.errors.InvalidQueryError, match="no totals are asked for"):
        data.plan(nw.count(by=WARDS), privacy=PureDP(1)).release(post=["totals"])
    sexes = nw.keys("sex", ["f", "m"])
    crossed = data.plan(
        *(nw.count(by=keys, name=name) for keys, name in ((WARDS, "w"), (sexes, "s"), (BOTH, "b"))), privacy=PureDP(1)
    )
    with pytest.raises(nw.errors.InvalidQueryError, match="'b' are parts of those of 'w' and of 's'"):
        crossed.release(post=["totals"])
    many = nw.Dataset(frame(), "id", name="x", rows_per_group=2, budget=PureDP(3), ledger=tmp_path / "y.ledger")
    two = many.plan(nw.count(by=WARDS, name="w"), nw.count(by=sexes, name="s"), nw.count(), privacy=PureDP(1))
    with pytest.raises(nw.errors.InvalidQueryError, match="declare one_row_per_person=True"):
        two.release(post=["totals"])
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_totals_over_different_groupings_of_one_row_each_add_up(tmp_path: Path):
    sexes = nw.keys("sex", ["f", "m"])
    asked = [nw.count(by=WARDS, name="w"), nw.count(by=sexes, name="s"), nw.count()]
    found = dataset(tmp_path).plan(*asked, privacy=PureDP(1)).release(post=ALL)
    by_question = found.groupby("question")["post_value"].sum()
    assert by_question["w"] == by_question["s"] == by_question["count"]


def test_totals_are_sums_where_the_limits_of_a_person_make_them_differ():
    """A person with three rows in each of two wards counts three times in all, and six times in the wards."""
    rows = pd.DataFrame({"id": [i // 6 for i in range(60)], "ward": ["A", "B"] * 30})
    data = nw.Dataset(rows, "id", name="x", rows_per_group=3, groups_per_person=2)
    plan = data.plan(nw.count(by=WARDS), nw.count(name="total"), privacy=PureDP(1))
    true = data._checked.true_aggregates(plan.layout, 1)
    assert true == [30, 30, 0, 0, 0, 30]
    found = columns(plan, true, 0, tidy=post_processing_of(plan, ["totals"]))
    assert found["post_value"] == [30, 30, 0, 0, 0, 60]
    assert found["post_half_width"][:5] == found["half_width"][:5]
    once = nw.Dataset(rows, "id", name="x", rows_per_group=1, groups_per_person=1)
    plan = once.plan(nw.count(by=WARDS), nw.count(name="total"), privacy=PureDP(1))
    found = columns(plan, [4, 5, 0, 0, 0, 10], 0, tidy=post_processing_of(plan, ["totals"]))
    assert 9 < found["post_value"][5] < 10, "everybody counts once in either: both are about the same truth"


def test_totals_of_several_groups_are_sums_where_a_person_may_count_in_another_one():
    """Of a person with rows in two wards one group counts in each table, and not the same: wards say nothing new."""
    rows = pd.DataFrame({"id": [i // 2 for i in range(60)], "ward": ["A", "B"] * 30, "sex": ["f", "m"] * 30})
    once = nw.Dataset(rows, "id", name="x", rows_per_group=1, groups_per_person=1)
    plan = once.plan(nw.count(by=BOTH, name="b"), nw.count(by=WARDS, name="w"), privacy=PureDP(1))
    parts, totals = [4, 5, 7, 0, 1, 2, 0, 0, 3, 8], [90, -40, 33, 12, 60]
    found = columns(plan, [*parts, *totals], 0, tidy=post_processing_of(plan, ["totals"]))
    assert found["post_value"][:10] == parts
    assert found["post_value"][10:] == [9, 7, 3, 0, 11]


def tree(variances: tuple[float, ...], counts: tuple[bool, ...] = (True, True, True)) -> Tree:
    """In all, three wards, and seven pairs of ward and sex, unevenly."""
    pairs = nw.keys(
        ["ward", "sex"], [("A", "f"), ("A", "m"), ("A", "x"), ("B", "f"), ("B", "m"), ("C", "f"), ("C", "m")]
    )
    groupings = [Grouping(None), Grouping(nw.keys("ward", ["A", "B", "C"])), Grouping(pairs)]
    assert parents_of(groupings, ["a", "b", "c"]) == [None, 0, 1]
    return Tree([Level(*each) for each in zip(groupings, variances, counts, strict=True)], [None, 0, 1])


@pytest.mark.parametrize("variances", [(1.0, 1.0, 1.0), (9.0, 2.0, 0.5), (0.3, 40.0, 7.0)])
def test_the_map_is_weighted_least_squares(variances: tuple[float, ...]):
    found = tree(variances)
    rows = np.zeros((4, 11))
    rows[0, [0, 1, 2, 3]] = 1, -1, -1, -1
    rows[1, [1, 4, 5, 6]] = 1, -1, -1, -1
    rows[2, [2, 7, 8]] = 1, -1, -1
    rows[3, [3, 9, 10]] = 1, -1, -1
    spread = np.diag(np.repeat(variances, [1, 3, 7]))
    exact = np.eye(11) - spread @ rows.T @ np.linalg.solve(rows @ spread @ rows.T, rows)
    values = [Random(2).randrange(-50, 50) for _ in range(11)]
    adjusted = found.adjusted(values)
    assert np.allclose([float(value) for value in adjusted], exact @ values, atol=1e-6)
    assert adjusted[0] == sum(adjusted[1:4]) == sum(adjusted[4:])
    assert adjusted[1] == sum(adjusted[4:7])
    kinds = found.kinds()
    assert sorted(sorted(alike) for alike in kinds.values()) == [[0], [1], [2, 3], [4, 5, 6], [7, 8, 9, 10]]
    for first, alike in kinds.items():
        assert np.allclose(found.coefficients(first), exact[first], atol=1e-9)
        for node in alike:
            assert np.allclose(np.sort(exact[node]), np.sort(exact[first]), atol=1e-9), "they stand alike"


def test_a_table_whose_answers_do_not_count_is_the_sum_of_its_parts():
    values = [1000, 500, 500, 500, 1, 2, 3, 4, 5, 6, 7]
    assert tree((1.0, 1.0, 1.0), (False, False, True)).adjusted(values) == [28, 6, 9, 13, 1, 2, 3, 4, 5, 6, 7]


def law(decay: float, most: int) -> tuple[Sizes, dict[int, float]]:
    """Two-sided geometric noise up to `most`, as sizes and as chances."""
    raw = {value: decay ** abs(value) for value in range(-most, most + 1)}
    total = sum(raw.values())
    chances = {value: mass / total for value, mass in raw.items()}
    std = math.sqrt(sum(mass * value**2 for value, mass in chances.items()))
    tail = [sum(mass for value, mass in chances.items() if abs(value) > t) for t in range(most + 1)]
    return sizes_of(lambda t: tail[min(int(t), most)], std), chances


@pytest.mark.parametrize("coefficients", [(1.0, 0.5, 0.5), (0.75, -0.25, 0.25), (1.0, 1.0, 1.0), (0.9, 0.1, 0.05)])
def test_the_width_of_a_sum_is_that_of_its_exact_law(coefficients: tuple[float, ...]):
    sizes, chances = law(0.7, 12)
    terms = [Term(sizes, c, 1) for c in coefficients]
    width = float(half_width_of(terms, Fraction(19, 20)))

    def inside(reach: float) -> float:
        every = product(chances.items(), repeat=3)
        return sum(
            math.prod(mass for _, mass in one)
            for one in every
            if abs(sum(c * value for c, (value, _) in zip(coefficients, one, strict=True))) <= reach
        )

    assert inside(width) >= 0.95
    assert inside(0.96 * width) < 0.95
    merged = [
        Term(sizes, abs(c), sum(abs(d) == abs(c) for d in coefficients)) for c in dict.fromkeys(map(abs, coefficients))
    ]
    assert float(half_width_of(merged, Fraction(19, 20))) == pytest.approx(width, rel=0.01)


@pytest.mark.parametrize(("std", "count"), [(3e6, 1), (3e6, 400), (40.0, 10_000)])
def test_the_width_of_many_terms_is_that_of_the_normal_law(std: float, count: int):
    """Gaussian tails; sums of them are Gaussian, so that the width is known."""
    sizes = sizes_of(lambda t: math.erfc((int(t) + 0.5) / std / math.sqrt(2)), std)
    width = float(half_width_of([Term(sizes, 0.5, count)], Fraction(19, 20)))
    exact = 1.959964 * 0.5 * std * math.sqrt(count)
    assert exact < width < 1.02 * exact


@pytest.mark.parametrize("seed", range(20))
def test_shared_totals_are_whole_not_negative_and_nearest(seed: int):
    random = Random(seed)
    values = [Fraction(random.randrange(-90, 200), 7) for _ in range(random.randrange(1, 9))]
    total = Fraction(random.randrange(0, 120))
    free = nearest_with_sum(values, total, non_negative=False)
    assert sum(free) == total
    assert len({a - b for a, b in zip(free, values, strict=True)}) == 1
    found = nearest_with_sum(values, total, non_negative=True)
    assert sum(found) == total
    assert min(found) >= 0
    # Optimality: what stays positive moved by the same amount, and what is 0 would have gone below.
    moves = {b - a for a, b in zip(values, found, strict=True) if b > 0}
    assert len(moves) <= 1
    assert all(a + move <= 0 for move in moves for a, b in zip(values, found, strict=True) if b == 0)
    whole = whole_with_sum(found, total)
    assert sum(whole) == total
    assert all(
        value.denominator == 1 and abs(value - a) < 1 and value >= 0 for value, a in zip(whole, found, strict=True)
    )


def test_only_what_cannot_be_negative_is_cut():
    cost = {"column": "cost", "step": 1, "by": WARDS}
    asked = [
        nw.ask.sum(**cost, bounds=(-10, 50), name="both"),
        nw.ask.sum(**cost, bounds=(0, 50), centred=True, name="centred"),
        nw.ask.sum(**cost, bounds=(-10, 50), person_bounds=(-5, 50), name="person"),
        nw.ask.sum(**cost, bounds=(0, 50), name="positive"),
    ]
    for question in asked:
        plan = dataset().plan(question, privacy=PureDP(1))
        found = columns(plan, [-5, 3, 0, 0, 0], 0, tidy=post_processing_of(plan, ["non-negative"]))
        assert (found["post_value"][0] == 0) == (question.label == "positive"), question
        assert found["post_high"][0] == max(found["high"][0], 0), "the interval is cut, not moved"
