"""Norm-shaped noise on a lattice: which shell it falls on.

Integer vectors z of dimension k with mass proportional to e^(-rate max|z_i|) are drawn in two steps:
a radius r >= 0 with weight (2r+1)^k e^(-rate r), then each coordinate uniform on {-r, …, r}. A vector z
then has mass proportional to the sum over r >= max|z_i| of e^(-rate r), which is what is wanted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.balls import Ball, ball, certainly_at_most, hull, working_bits
from noisewright.numerics.bisection import first_true, gallop, turn
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.numerics.special import index_moments
from noisewright.problem.errors import EnclosureError, InvalidLawError

_CLOSED_FORM = 24


@dataclass(frozen=True, slots=True)
class ShellRadius:
    """The integer law of r: mass proportional to (2r+1)^dimension e^(-rate r), r >= 0."""

    dimension: int
    rate: Fraction

    def __post_init__(self) -> None:
        if self.dimension < 1 or self.rate <= 0:
            raise InvalidLawError("a shell law needs a dimension of at least 1 and a positive rate.")

    def mass(self, k: int, field: Field) -> Value:
        if field is FLOATS:
            return self.sf(k - 1, field) - self.sf(k, field)
        if k < 0:
            return ball(0)
        return (self.tail(self.dimension, k) - self.tail(self.dimension, k + 1)) / self.tail(self.dimension)

    def cdf(self, k: int, field: Field) -> Value:
        if field is FLOATS:
            return float(self.masses()[: max(k + 1, 0)].sum())
        return 1 - self.sf(k, field) if k >= 0 else ball(0)

    def sf(self, k: int, field: Field) -> Value:
        if field is FLOATS:
            return float(self.masses()[max(k + 1, 0) :].sum())
        return self.tail(self.dimension, k + 1) / self.tail(self.dimension) if k >= 0 else ball(1)

    def tail(self, power: int, start: int = 0) -> Ball:
        """Sum over r >= start of (2r+1)^power e^(-rate r)."""
        return tail_sum(self.rate, power, max(start, 0), working_bits())

    def moment(self, power: int) -> Ball:
        """E (2r+1)^power."""
        return self.tail(self.dimension + power) / self.tail(self.dimension)

    def masses(self) -> NDArray[np.float64]:
        """Masses of r = 0, 1, … as floats, until what is left is negligible; for search and pictures."""
        return _float_masses(self.dimension, self.rate)

    def span(self) -> tuple[int, int]:
        """Radii between which all but a sliver of the mass lies, in floats (only speed depends on it)."""
        return _window(float(self.rate), self.dimension, 24)


def tail_sum(rate: Fraction, power: int, start: int, bits: int) -> Ball:
    """Sum over r >= start of (2r+1)^power e^(-rate r), at `bits` of working precision.

    Small powers have a closed form with positive terms. For large ones the terms rise, then fall:
    they are added up where they matter, and the two ends are enclosed by a multiple of the first and a
    geometric series after the last.
    """
    if power <= _CLOSED_FORM:
        moments = _index_moments(rate, power, bits)
        origin = 2 * start + 1
        terms = [math.comb(power, i) * origin ** (power - i) * 2**i * moments[i] for i in range(power + 1)]
        return BALLS.exp(BALLS.real(-rate * start)) * sum(terms[1:], terms[0])
    return _Summed.of(rate, power, bits, Fraction(1, 2)).tail(start) * ball(2) ** power


def shifted_sum(rate: Fraction, offset: Fraction, power: int) -> Ball:
    """Sum over n >= 0 of (n + offset)^power e^(-rate n), for 0 <= offset <= 1 and power >= 1."""
    if power <= _CLOSED_FORM:
        moments = _index_moments(rate, power, working_bits())
        terms = [math.comb(power, i) * ball(offset) ** (power - i) * moments[i] for i in range(power + 1)]
        return sum(terms[1:], terms[0])
    return _Summed(rate, power, offset).tail(0)


@lru_cache(maxsize=512)
def _index_moments(rate: Fraction, power: int, bits: int) -> list[Ball]:
    return index_moments(BALLS, rate, power)


class _Summed:
    """Partial sums of (r + offset)^power e^(-rate r) over the window of r that matters at a precision."""

    def __init__(self, rate: Fraction, power: int, offset: Fraction) -> None:
        first, last = _window(float(rate), power, working_bits() + 40, float(offset))
        self._rate, self._power, self._offset, self._first = rate, power, offset, first
        origin, back = ball(offset), BALLS.exp(BALLS.real(rate))
        weight = BALLS.exp(BALLS.real(-rate * last))
        after = self._term(last + 1)
        growth = BALLS.power(ball((last + 2 + offset) / (last + 1 + offset)), power)
        ratio = growth * BALLS.exp(BALLS.real(-rate))
        if not certainly_at_most(ratio, ball(1 - Fraction(1, 2**40))):
            raise EnclosureError("a sum over shells was cut before its terms fall")
        total = hull(ball(0), after / (1 - ratio))
        self._tails = [total]
        for r in range(last, first - 1, -1):
            total = total + (origin + r) ** power * weight
            weight = weight * back
            self._tails.append(total)
        self._tails.reverse()

    @staticmethod
    @lru_cache(maxsize=256)
    def of(rate: Fraction, power: int, bits: int, offset: Fraction) -> _Summed:
        return _Summed(rate, power, offset)

    def tail(self, start: int) -> Ball:
        place = start - self._first
        if place < 0:
            # Terms rise up to the window, so each one before it is at most the first one in it.
            return self._tails[0] + hull(ball(0), ball(-place) * self._term(self._first))
        if place < len(self._tails):
            return self._tails[place]
        return hull(ball(0), self._tails[-1])

    def _term(self, r: int) -> Ball:
        return ball(r + self._offset) ** self._power * BALLS.exp(BALLS.real(-self._rate * r))


def _window(rate: float, power: int, bits: int, offset: float = 0.5) -> tuple[int, int]:
    """Where terms (r + offset)^power e^(-rate r) are at least 2^-bits of the largest; before it they rise."""

    def log_term(r: float) -> float:
        return power * math.log(max(r + offset, 1e-300)) - rate * r

    peak = max(0.0, power / rate - offset)
    floor = log_term(peak) - bits * math.log(2)
    low = turn(lambda r: log_term(r) >= floor, 0.0, peak, within=1)[0] if log_term(0.0) < floor else 0.0

    def fallen(beyond: float) -> bool:
        return log_term(peak + beyond) <= floor

    far = peak + first_true(fallen, *gallop(fallen, 0.0, 1.0), within=1, relative=0.01)
    return math.floor(low), math.ceil(far) + 1


@lru_cache(maxsize=256)
def _float_masses(power: int, rate: Fraction) -> NDArray[np.float64]:
    _, last = _window(float(rate), power, 60)
    r = np.arange(last + 1, dtype=np.float64)
    logs = power * np.log(r + 0.5) - float(rate) * r
    masses = np.exp(logs - logs.max())
    normalised: NDArray[np.float64] = masses / masses.sum()
    return normalised
