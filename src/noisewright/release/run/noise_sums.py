"""How far a weighted sum of independent noise is from zero, with a confidence: for totals that were made to add up.

The size of each error is taken on a grid, sums are convolutions of such laws, and what the grids leave out is bounded.
Rule: noise is symmetric, so that rounding an error symmetrically to a grid moves it by a bounded amount of mean zero;
by Hoeffding's inequality all these amounts together exceed `_SURE` times the root of the summed squares of their ranges
with a probability of at most 1e-5. What a convolution on a circle wraps around is bounded by Chernoff's inequality.
Both, and what lies beyond the grids, are taken off the confidence. [theory#errors-of-several-numbers]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.half_widths import rounded_up
from noisewright.problem.errors import EnclosureError

_SURE = math.sqrt(math.log(2e5) / 2)
_LEFT_OUT = 1e-5
_FLOATS = 1e-8
"""Far more than what rounding in doubles does to a chance: a millionth of a millionth for transforms of this length."""
_FINENESS = 300
_SMALLEST = 1e-10
_SHARE = 0.004
_FINEST = 1e-5
_MOST_POINTS = 1 << 24
Chances = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The size of a whole error: `masses[j]` is the chance of j steps, after rounding up to whole steps."""

    step: int
    masses: NDArray[np.float64]
    std: float

    @property
    def range(self) -> float:
        """Between which ends, so far apart, rounding moves an error: 0 where every whole error has its own step."""
        return 0.0 if self.step == 1 else 2.0 * self.step


def sizes_of(beyond: Callable[[Fraction], float], std: float) -> Sizes:
    """The law of the size of a whole error from its tail P(|error| > t), until that is as good as nothing."""
    step = max(1, math.ceil(std / _FINENESS))
    tails = [1.0]
    while tails[-1] > _SMALLEST:
        tails.append(min(tails[-1], beyond(Fraction(step * (len(tails) - 1)))))
    return Sizes(step, -np.diff(np.array(tails)), std)


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """So many independent errors of one law, each multiplied by the same coefficient."""

    sizes: Sizes
    coefficient: float
    count: int

    @property
    def variance(self) -> float:
        """What they add to the variance of a sum."""
        return float(self.count * (self.coefficient * self.sizes.std) ** 2)


def half_width_of(terms: Sequence[Term], confidence: Fraction) -> Fraction:
    """A width that the sum of all terms stays within with the confidence; about one in a hundred above the least."""
    std = math.sqrt(math.fsum(term.variance for term in terms))
    fine = [max(_SHARE / math.sqrt(term.count * len(terms)), _FINEST) * std for term in terms]
    unit = min(fine)
    steps = [max(1, int(own / unit)) for own in fine]
    laws = [_on_grid(term, step * unit) for term, step in zip(terms, steps, strict=True)]
    radius, wrapped = _radius(terms, laws, steps, unit, std)
    length = 1 << math.ceil(math.log2(2 * radius / unit))
    spectrum = np.ones(length // 2 + 1)
    for term, law, step in zip(terms, laws, steps, strict=True):
        spectrum *= np.fft.rfft(_around(law, step, length)).real ** term.count
    chances = np.fft.irfft(spectrum, length)[: length // 2]
    inside = np.cumsum(np.concatenate([chances[:1], 2 * chances[1:]]))
    wanted = float(confidence) + _LEFT_OUT + wrapped + _FLOATS
    place = int(np.searchsorted(inside, wanted))
    if place == len(inside):
        raise EnclosureError("the width of a sum was not found on its grid")
    ranges = (
        term.count * (step * unit + abs(term.coefficient) * term.sizes.range) ** 2
        for term, step in zip(terms, steps, strict=True)
    )
    return Fraction(rounded_up(Fraction(place * unit + _SURE * math.sqrt(math.fsum(ranges)))))


def _on_grid(term: Term, step: float) -> Any:
    """The chance of each number of steps, of the size of one error."""
    sizes = np.arange(len(term.sizes.masses)) * (term.sizes.step * abs(term.coefficient) / step)
    return np.bincount((sizes + 0.5).astype(np.int64), weights=term.sizes.masses)


def _around(law: Chances, step: int, length: int) -> Any:
    """Half of each chance to either side of zero, on a circle."""
    places = np.arange(len(law)) * step
    found = np.bincount(places % length, weights=law / 2, minlength=length)
    return found + np.bincount(-places % length, weights=law / 2, minlength=length)


def _radius(
    terms: Sequence[Term], laws: Sequence[Chances], steps: Sequence[int], unit: float, std: float
) -> tuple[float, float]:
    """A distance, and at least the chance that the sum goes beyond it.

    Rule: P(|S| > r) <= 2 e^{-t r} E e^{t S} for every t, and the moments of independent terms multiply.
    [theory#errors-of-several-numbers]
    """
    radius = 16 * std
    while True:
        best = 1.0
        for rate in (0.5 / std, 0.9 / std, 1.2 / std, 1.35 / std, 2 / std, 4 / std):
            total = math.log(2) - rate * radius
            for term, law, step in zip(terms, laws, steps, strict=True):
                powers = np.minimum(np.arange(len(law)) * (step * unit * rate), 700)
                total += term.count * math.log(float(law @ np.cosh(powers)))
            best = min(best, math.exp(min(total, 0.0)))
        if best <= _LEFT_OUT / 10 or 2 * radius / unit > _MOST_POINTS:
            return radius, best
        radius *= 2
