"""Many answers located between the inputs of a grid at once, as exactly as one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.answers import LARGEST_FLOAT, Flags, Whole
from noisewright.numerics.fields import Floats
from noisewright.problem.numbers import data_value

GridPosition = tuple[int, Fraction]
"""The grid input at or below an answer, and the chance of rounding up to the next one."""

_EXACT_FLOATS = 2**53
_MARGIN = 2.0**-50
_FINEST = 2.0**40
_BELOW_A_LIMIT = 1 - 2.0**-40


@dataclass(frozen=True)
class GridPositions:
    """For each answer the row at or below it, and the chance of the next row as a float that is off by at most `slack`.

    `on_grid` says where the chance is exactly zero; `share(j)` is the exact chance of answer j.
    """

    rows: Whole
    shares: Floats
    slack: Floats
    on_grid: Flags
    share: Callable[[int], Fraction]

    def part(self, begin: int, end: int) -> GridPositions:
        """Those of the answers from one index up to another."""
        here = slice(begin, end)
        slack, on_grid = self.slack[here], self.on_grid[here]
        return GridPositions(self.rows[here], self.shares[here], slack, on_grid, lambda j: self.share(begin + j))


def positions_of(
    answers: NDArray[Any], points: tuple[Fraction, ...], coarse: Fraction | None, one: Any
) -> GridPositions:
    """Where many answers fall on a grid; `one` locates or refuses a single answer.

    Floats beyond `LARGEST_FLOAT` times `coarse` may be refused, if it is given.

    Rule: rounding to doubles never changes an order. An answer with the double x, read as v, is therefore between
    those grid inputs whose doubles x lies strictly between. Where x is the double of a grid input, every such answer
    is read as the same number, which is compared with the input once. With M the largest input in size and d the
    width of the cell, the float of the share is off by at most 2^-53 times 4.1 M / d + 4 (reading, the two inputs,
    their difference, the quotient), which is below the slack 2^-50 (M / d + 1), as long as M / d is at most 2^40.
    [theory#floats-that-decide]
    """
    floats = np.array([float(p) for p in points])
    widths = np.diff(floats)
    size = float(np.abs(floats).max())
    regular = answers.dtype.kind in "iu" or answers.dtype == np.float64
    if not regular or not (widths > size / _FINEST).all():
        return _one_by_one(answers, one)
    x = answers.astype(np.float64)
    limit = _EXACT_FLOATS if answers.dtype.kind in "iu" else LARGEST_FLOAT * float(coarse) if coarse else np.inf
    with np.errstate(invalid="ignore"):
        plain = (x >= floats[0]) & (x <= floats[-1]) & (np.abs(x) < limit * _BELOW_A_LIMIT)
    rows = np.searchsorted(floats, np.where(plain, x, floats[0]), side="right") - 1
    tied = plain & (x == floats[rows])
    on_grid = np.zeros(len(x), dtype=np.bool_)
    for row in np.unique(rows[tied]):
        here = tied & (rows == row)
        if data_value(float(floats[row])) != points[row]:
            plain &= ~here
        elif row < len(widths):
            on_grid |= here
    rows = np.minimum(rows, len(widths) - 1)
    width = widths[rows]
    shares = np.where(on_grid, 0.0, (x - floats[rows]) / width)
    slack = _MARGIN * (size / width + 1.0)
    exact: dict[int, GridPosition] = {}
    known: dict[Any, GridPosition] = {}
    for j in np.flatnonzero(~plain).tolist():
        answer = answers[j]
        if answer not in known:
            known[answer] = one(answer)
        exact[j] = known[answer]
        rows[j], share = exact[j]
        shares[j], slack[j], on_grid[j] = float(share), 2.0**-52, not share
    return GridPositions(rows, shares, slack, on_grid, lambda j: (exact.get(j) or one(answers[j]))[1])


def _one_by_one(answers: NDArray[Any], one: Callable[[Any], GridPosition]) -> GridPositions:
    found = [one(answer) for answer in answers]
    shares = [share for _, share in found]
    return GridPositions(
        np.array([row for row, _ in found], dtype=np.int64),
        np.array([float(share) for share in shares]),
        np.full(len(found), 2.0**-52),
        np.array([not share for share in shares], dtype=np.bool_),
        lambda j: shares[j],
    )
