"""Clamped noise in levels, written out point by point: slow, and independent of the closed forms under test."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any

from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.problem.queries import Bounded

LOPSIDED = Bounded(
    sensitivity=Fraction(3, 2), inputs=(Fraction(-1, 3), Fraction(31, 5)), outputs=(-9, 13), bias=0, exact=True
)
SMALL = Clamped(LOPSIDED, step=Fraction(1, 2), top=1, period=3, heights=(900, 331, 130, 51, 20, 8))
"""Noise in levels of three steps for a move of three steps and a little more."""

WHOLE = Clamped(
    Bounded(sensitivity=2, inputs=(-1, 12), outputs=(-14, 20), bias=0, integer=True),
    step=1,
    top=0,
    period=2,
    heights=(4000, 1100, 310, 88, 25, 7),
)


def written_rows(mechanism: Clamped) -> dict[int, dict[int, Fraction]]:
    """The law of every row: weights on the lattice and beyond its ends, moved to the ends, over their sum."""
    low, high = (bound / mechanism.step for bound in mechanism.query.outputs)
    first, last = ceil(low), floor(high)
    far = mechanism.top + (len(mechanism.heights) - 2) * mechanism.period
    rows = {}
    for k in range(first, last + 1):
        weights: dict[int, int] = dict.fromkeys(range(first, last + 1), 0)
        for y in range(first - far, last + far + 1):
            level = 0
            while level < len(mechanism.heights) - 1 and abs(y - k) > mechanism.top + level * mechanism.period:
                level += 1
            weights[min(max(y, first), last)] += mechanism.heights[level]
        total = sum(weights.values())
        rows[k] = {y: Fraction(weight, total) for y, weight in weights.items()}
    return rows


def mean_of(law: dict[int, Fraction]) -> Fraction:
    """The mean of a law on the lattice, in steps."""
    return sum((y * chance for y, chance in law.items()), Fraction(0))


def written_law(mechanism: Clamped, rows: dict[int, dict[int, Fraction]], answer: Any) -> dict[int, Fraction]:
    """The law of the release at an answer: the two rows whose means lie around it, mixed so that the mean is right."""
    wanted = Fraction(answer) / mechanism.step
    means = {k: mean_of(law) for k, law in rows.items()}
    k = max(k for k in rows if means[k] <= wanted and k + 1 in rows)
    share = (wanted - means[k]) / (means[k + 1] - means[k])
    return {y: (1 - share) * rows[k][y] + share * rows[k + 1][y] for y in rows[k]}
