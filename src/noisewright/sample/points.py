"""Lattice points as the numbers that are released: decimals of as many digits as the step has."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.lattice import decimals_of
from noisewright.mechanisms.answers import SURELY_READ
from noisewright.sample.inversion import Indices

_SHARED_FLOATS = 2**52
_MARGIN = 2.0**-50
_WIDEST = 2**62


class Points:
    """The released number of lattice point n, which is n * spacing: the nearest decimal, a half upwards.

    Rule: the spacing is at least the step, and the step at least the unit u of the last decimal. Two different points
    are therefore at least u apart, floor(x / u + 1/2) differs for them, and no two of them share a decimal: what is
    released is a one-to-one function of the lattice point, which harms no requirement, probabilistic privacy included.
    Decimals up to 10^15 units, which are fewer than 2^52 points, have at most 15 digits (and 10^15 itself), so that no
    two share a double. A point beyond is released as the double nearest to it; it is at least half a unit from the
    last decimal, more than two floats there. From 2^52 points on two of them could share a double, and the exact
    rational is released, unless `always_floats`. [Mironov12, theory#floats-that-decide]
    """

    def __init__(self, step: Fraction, spacing: Fraction, *, always_floats: bool = False) -> None:
        self._spacing, self._always_floats = spacing, always_floats
        decimals = decimals_of(step)
        self._unit: int | None = None if decimals is None else 10**decimals
        self._ratio = spacing * (self._unit or 1)

    def one(self, n: int) -> float | Fraction:
        """The released number of one point."""
        if self._unit is not None:
            top, bottom = self._ratio.numerator, self._ratio.denominator
            units: int = (2 * n * top + bottom) // (2 * bottom)
            if abs(units) <= SURELY_READ:
                return units / self._unit
        value = n * self._spacing
        # From 2^52 steps on two lattice points could share a float, which probabilistic privacy does not survive.
        return value if abs(n) >= _SHARED_FLOATS and not self._always_floats else as_float(value)

    def many(self, n: Indices) -> NDArray[Any]:
        """The released numbers of many points: exactly those of `one`, in an array of floats if they all are.

        Rule: floats hold n up to 2^53, beyond which nothing is decided here. The product with the float next to the
        ratio of spacing and unit is off by less than 2.1 * 2^-53 of its size, and its distance to a whole number below
        2^52 is computed without error. Where that is more than the margin of 2^-50 away from a half, the whole number
        is the nearest one to the exact product. It is exact up to 10^15, so is the power of ten up to 10^22, and the
        quotient of the two is the nearest double, as that of Python's whole numbers is. [theory#floats-that-decide]
        """
        if n.dtype == object or self._unit is None:
            return self._each(n)
        t = n.astype(np.float64) * float(self._ratio)
        units = np.floor(t + 0.5)
        size = np.abs(t)
        decided = size < SURELY_READ
        size *= _MARGIN
        decided &= np.abs(t - units) < 0.5 - size
        released = units / float(self._unit)
        if decided.all():
            return released
        left = np.flatnonzero(~decided)
        rest = self._in_whole_numbers(n[left])
        if rest.dtype == object:
            released = released.astype(object)
        released[left] = rest
        return released

    def _in_whole_numbers(self, n: NDArray[np.int64]) -> NDArray[Any]:
        """The same by 64-bit integers where they suffice: ties between two decimals come in crowds."""
        top, bottom = self._ratio.numerator, self._ratio.denominator
        reach = min((_WIDEST - bottom) // (2 * top), SURELY_READ * bottom // top - 1)
        if reach <= 0 or self._unit is None or 2 * bottom >= _WIDEST or int(np.abs(n).max()) > reach:
            return self._each(n)
        units = (n * (2 * top) + bottom) // (2 * bottom)
        return np.asarray(units / float(self._unit))

    def _each(self, n: Indices) -> NDArray[Any]:
        released = [self.one(int(k)) for k in n]
        if not any(isinstance(value, Fraction) for value in released):
            return np.array(released, dtype=np.float64)
        result = np.empty(len(released), dtype=object)
        result[:] = released
        return result


def as_float(value: Fraction) -> float | Fraction:
    """The nearest float; beyond the range of floats, which heavy tails can reach, the exact rational."""
    try:
        return float(value)
    except OverflowError:
        return value


def added(indices: Indices, noise: Indices) -> Indices:
    """The sums of cells and noise; as Python integers if one of either comes near 64 bits."""
    if any(part.dtype == object or is_far(part) for part in (indices, noise)):
        indices, noise = indices.astype(object), noise.astype(object)
    return np.asarray(indices + noise)


def is_far(indices: Indices) -> bool:
    """Whether one of them is so large that the sum of two may not fit into 64 bits."""
    return bool(len(indices)) and max(int(indices.max()), -int(indices.min())) >= _WIDEST
