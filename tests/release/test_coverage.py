"""Stated half-widths hold as often as they say: of counts exactly so, of means and quantiles at least and not far more.

Answers are drawn again and again around the true numbers of one table, with entropy that is known beforehand, so that a
red run is red again. With other entropy a comparison at so many standard errors (`SWAY`) would be red by chance in at
most 3 of 1,000 (10,000 releases) or 7 of 1,000,000 (in the suite) cases.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS
from noisewright.release.plan.noise import drawn
from noisewright.release.plan.plan import Plan
from noisewright.release.run.answers import columns
from noisewright.release.run.post_processing import half_widths_of, post_processing_of
from tests.replay import Replay

WARDS = nw.keys("ward", ["A", "B"])
QUANTILES = nw.ask.quantiles("age", ["0.25", "0.5", "0.75"], bounds=(0, 110), step=10)
MEAN = nw.mean("age", bounds=(0, 120), step=1, by=nw.keys("ward", ["B", "A"]))
QUESTIONS = (nw.count(by=WARDS), MEAN, QUANTILES, nw.count(name="all"))
POST = ("non-negative", "integers", "totals")
LEAST, MOST = 0.95, 0.995


def planned(privacy: Any, rows: int, *questions: Any) -> tuple[Plan, list[int]]:
    """A plan over a table of persons, and its true numbers.

    Every decade has equally many, so that quarters end where a bin ends: there an interval is missed most easily.
    """
    generator = np.random.default_rng(8)
    ages = np.arange(rows) % 12 * 10 + generator.integers(-4, 5, rows)
    table = pa.table({"id": np.arange(rows), "ward": generator.choice(["A", "B"], rows), "age": ages})
    data = nw.Dataset(table, "id", name="ages", one_row_per_person=True)
    plan = data.plan(*questions, privacy=privacy)
    return plan, data._checked.true_aggregates(plan.layout, 1)


def truths(plan: Plan, vector: list[int]) -> list[float]:
    """What each row of an answer would say without noise, computed by hand."""
    parts = dict(
        zip((table.questions[0][0].label for table in plan.layout.tables), plan.layout.split(vector), strict=True)
    )
    found: list[float] = []
    for question in plan.questions:
        part = parts[question.label]
        if question.word == "count":
            found += map(float, part)
        elif question.word == "mean":
            found += [60 + part[i + 1] / part[i] for i in range(0, len(part), 2)]
        else:
            first, span = list(accumulate(part)), question.range
            found += [
                float(span.step * (span.first + bisect_left(first, q * first[-1]))) for q in question.probabilities
            ]
    return found


def shares(
    plan: Plan, vector: list[int], releases: int, factors: Sequence[Any] = (1,), post: Sequence[str] = ()
) -> list[list[tuple[str, float]]]:
    """For widths times each factor, then after post-processing: of each row, its question and how often it held."""
    true, stated, entropy, tidy = (
        truths(plan, vector),
        half_widths_of(plan),
        Replay(seed=20),
        post_processing_of(plan, post),
    )
    half_widths = [{label: [factor * width for width in own] for label, own in stated.items()} for factor in factors]
    said, held, labels = Counter[tuple[int, int]](), Counter[tuple[int, int]](), list[str]()
    for _ in range(releases):
        numbers = drawn(plan.blocks, plan.layout, vector, entropy)
        found = [columns(plan, numbers, 0, own, tidy if i == 0 else None) for i, own in enumerate(half_widths)]
        ends = [(one["low"], one["high"]) for one in found]
        ends += [] if tidy is None else [(found[0]["post_low"], found[0]["post_high"])]
        labels = found[0]["question"]
        for i, (lows, highs) in enumerate(ends):
            for row, (low, high) in enumerate(zip(lows, highs, strict=True)):
                if low is not None:
                    said[i, row] += 1
                    held[i, row] += low <= true[row] + 1e-9 and true[row] - 1e-9 <= high
    ways = range(len(factors) + bool(post))
    assert all(said[i, row] >= 0.99 * releases for i in ways for row in range(len(true)))
    return [[(label, held[i, row] / said[i, row]) for row, label in enumerate(labels)] for i in ways]


def chance(plan: Plan) -> float:
    """How often the law of the counts says that they are within their half-width."""
    (width,) = half_widths_of(plan)["count"]
    mechanism = next(block.certified.mechanism for block in plan.blocks if block.table == 0)
    with precision():
        return float(mechanism.errors.chances((width,), BALLS)[0].mid())


def require_honest(
    plan: Plan, found: list[tuple[str, float]], releases: int, sway: float, *, exact: bool = True
) -> None:
    """Counts hold as often as their law says (`exact`, for answers as they were drawn), others within the limits."""
    law = chance(plan)
    assert law >= LEAST
    for label, share in found:
        if label == "count" and exact:
            assert abs(share - law) <= sway * math.sqrt(law * (1 - law) / releases), (label, share, law)
        else:
            assert share >= LEAST - sway * math.sqrt(LEAST * (1 - LEAST) / releases), (label, share)
            assert share <= MOST + sway * math.sqrt(MOST * (1 - MOST) / releases), (label, share)


@pytest.mark.statistical
def test_half_widths_hold_as_often_as_they_say_and_smaller_ones_do_not():
    plan, vector = planned(nw.ZeroConcentratedDP("0.004"), 600, *QUESTIONS[:3])
    stated, smaller = shares(plan, vector, 200, (1, Fraction(1, 3)))
    require_honest(plan, stated, 200, 4.5)
    for row in range(len(stated)):
        with pytest.raises(AssertionError):
            require_honest(plan, smaller[row : row + 1], 200, 4.5)


PLANS = {
    "pure": (nw.PureDP("0.1"), 2400),
    "concentrated": (nw.ZeroConcentratedDP("0.004"), 600),
}


@pytest.mark.soak
@pytest.mark.statistical
@pytest.mark.parametrize("name", PLANS)
def test_ten_thousand_releases(name: str):
    privacy, rows = PLANS[name]
    plan, vector = planned(privacy, rows, *QUESTIONS)
    stated, larger, after = shares(plan, vector, 10_000, (1, Fraction(3, 2)), POST)
    require_honest(plan, stated, 10_000, 3)
    require_honest(plan, after, 10_000, 3, exact=False)
    with pytest.raises(AssertionError):
        require_honest(plan, larger[:1], 10_000, 3)
