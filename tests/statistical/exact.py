"""Distribution functions on the lattice, written a second time from their closed forms, at 2000 bits.

They share no formula with the library: no levels, no cells, no walk.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from noisewright.numerics.balls import precision

BITS = 2000

Cdf = Callable[[int], Any]
"""P(K <= k) as a ball."""


def _real(value: Fraction | int) -> Any:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def laplace_cdf(scale: Fraction, step: Fraction) -> Cdf:
    """Laplace noise that fell into the cell [k, k + 1) steps or below."""

    def cdf(k: int) -> Any:
        x = (k + 1) * step
        tail = (-_real(abs(x)) / _real(scale)).exp() / 2
        return 1 - tail if x >= 0 else tail

    return cdf


def geometric_cdf(scale: Fraction) -> Cdf:
    """Two-sided geometric noise."""

    def cdf(k: int) -> Any:
        ratio = (-_real(1 / scale)).exp()
        return 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio**-k / (1 + ratio)

    return cdf


def staircase_cdf(
    epsilon: Fraction, sensitivity: Fraction, left: Fraction, right: Fraction, step: Fraction, edge: Fraction
) -> Cdf:
    """Staircase noise with top step [left, right) that fell into cell k of the lattice or below."""

    def beyond(distance: Fraction) -> Any:
        """Mass further out than this from the top step, on one side, relative to the height of the top."""
        steps_down = distance // sensitivity
        rest = distance - steps_down * sensitivity
        ratio = (-_real(epsilon)).exp()
        return ratio ** (int(steps_down) + 1) * (_real(sensitivity - rest) + _real(sensitivity) * ratio / (1 - ratio))

    def cdf(k: int) -> Any:
        x = (k + 1 - edge) * step
        total = _real(right - left) + 2 * beyond(Fraction(0))
        if x >= right:
            return 1 - beyond(x - right) / total
        if x <= left:
            return beyond(left - x) / total
        return (beyond(Fraction(0)) + _real(x - left)) / total

    return cdf


def single(k: int) -> tuple[int, int]:
    """A cell of one point: the point before it, and the point."""
    return k - 1, k


def staircase_cell(
    sensitivity: Fraction, left: Fraction, right: Fraction, step: Fraction, edge: Fraction
) -> Callable[[int], tuple[int, int]]:
    """The step of a staircase that a lattice point belongs to: the last point before it, and its last point."""

    def index(x: Fraction) -> int:
        return int(x / step + edge) - 1

    def cell(k: int) -> tuple[int, int]:
        x = (k - edge) * step
        if left <= x < right:
            return index(left), index(right)
        away = (x - right) // sensitivity if x >= right else (x - left) // sensitivity + 1
        start = (right if x >= right else left - sensitivity) + away * sensitivity
        return index(start), index(start + sensitivity)

    return cell


def is_drawn(cdf: Cdf, cell: tuple[int, int], uniform: int, bits: int) -> bool:
    """Whether inversion falls into the cell for every U in [uniform, uniform + 1) / 2^bits."""
    low, high = cell
    with precision(BITS):
        scale = arb(2) ** bits
        return bool(cdf(low) * scale <= uniform) and bool(cdf(high) * scale >= uniform + 1)
