"""Half-widths that all answers of linear questions stay within, with a confidence: enclosed, in balls.

Where errors depend on one another, their joint chance lies between two that are known: that of the widest answer alone,
and what is left of the chances that each leaves (of Gaussian noise, the product of the chances that each stays).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.balls import Ball, ball, hull, upper, upper_gamma_share
from noisewright.numerics.bisection import gallop, turn

Chance = Callable[[Fraction], Ball]

_RELATIVE = Fraction(1, 2**24)
_COARSE = Fraction(1, 2**8)
_PIECES = 96
_HALF = Fraction(1, 2)


def between(least: Chance, most: Chance, confidence: Fraction, start: Fraction, fine: Fraction = _RELATIVE) -> Ball:
    """A ball around the smallest width whose chance reaches the confidence.

    `least` and `most` enclose the chance to stay within a width, and rise with it. The upper end was checked to reach
    the confidence, the lower end to miss it; `start` is about the size of the width.
    """
    wanted = ball(confidence)

    def reached(width: Fraction) -> bool:
        return bool(least(width) >= wanted)

    def possible(width: Fraction) -> bool:
        return not bool(most(width) < wanted)

    ends = []
    for holds in (possible, reached):
        if holds(Fraction(0)):
            ends.append((Fraction(0), Fraction(0)))
        else:
            ends.append(turn(holds, *gallop(holds, Fraction(0), start), relative=fine))
    return hull(ball(ends[0][0]), ball(ends[1][1]))


def independent_inside(steps: Sequence[Fraction], fades: Sequence[Ball], width: Fraction) -> Ball:
    """P(every |noise_k| <= width) of independent discrete Laplace noise."""
    noises = zip(steps, fades, strict=True)
    return prod((1 - 2 * fade ** (int(width / step) + 1) / (1 + fade) for step, fade in noises), start=ball(1))


@dataclass(frozen=True, slots=True)
class RoundBlock:
    """Round noise of mass e^(-rate |w|) on whole points, seen by queries along rows of these lengths.

    Rule: spread over unit cubes the density is between e^(-rate sqrt(K)) and e^(rate sqrt(K)) times the one
    proportional to e^(-rate |x|), and a query moves by at most its length times sqrt(K)/2. Of that law the radius is
    Gamma(K) and the direction uniform, so the chance to leave along a row is a mean over |one coordinate of a
    direction|, taken piece by piece at the end where it is larger, or smaller. [theory#metric-privacy]
    """

    rate: Fraction
    lengths: tuple[Ball, ...]

    @property
    def _size(self) -> int:
        return len(self.lengths)

    def chances(self) -> tuple[Chance, Chance]:
        """At most and at least the chance that all queries of the block stay within a width."""
        root = ball(self._size).sqrt()
        sway, pieces = (ball(self.rate) * root).exp(), _directed(self._size)
        widest = max(self.lengths, key=upper)

        def leaving(width: Fraction, length: Ball, *, most: bool) -> Ball:
            moved = ball(width) + (-1 if most else 1) * length * root / 2
            if not bool(moved > 0):
                return ball(int(most))
            return _beyond(self._size, moved * ball(self.rate) / length, pieces, most=most) * (
                sway if most else 1 / sway
            )

        def least(width: Fraction) -> Ball:
            left = 1 - sum((leaving(width, length, most=True) for length in self.lengths), ball(0))
            return left if bool(left > 0) else ball(0)

        return least, lambda width: 1 - leaving(width, widest, most=False)


def _directed(size: int) -> list[Ball]:
    """Chances that |one coordinate of a uniform direction| falls into each piece of [0, 1]."""
    if size == 1:
        return [*[ball(0)] * (_PIECES - 1), ball(1)]
    ends = [
        ball(Fraction(j, _PIECES) ** 2).beta_lower(ball(_HALF), ball(Fraction(size - 1, 2)), regularized=1)
        for j in range(1, _PIECES)
    ]
    return [b - a for a, b in zip([ball(0), *ends], [*ends, ball(1)], strict=True)]


def _beyond(size: int, far: Ball, pieces: Sequence[Ball], *, most: bool) -> Ball:
    """The chance that radius times |direction| exceeds `far`, from above or from below."""
    total = ball(0)
    for j, chance in enumerate(pieces):
        share = j + 1 if most or size == 1 else j
        if share:
            total += chance * upper_gamma_share(size, far * _PIECES / share)
    return total


def round_width(blocks: Sequence[RoundBlock], confidence: Fraction, guess: float) -> Ball:
    """The half-width around all queries of independent blocks of round noise."""
    chances = [block.chances() for block in blocks]

    def least(width: Fraction) -> Ball:
        return prod((low(width) for low, _ in chances), start=ball(1))

    def most(width: Fraction) -> Ball:
        return prod((high(width) for _, high in chances), start=ball(1))

    return between(least, most, confidence, Fraction(guess), fine=_COARSE)


def gaussian_width(
    spreads: Iterable[tuple[Fraction, Fraction]], confidence: Fraction, start: Fraction, *, apart: bool
) -> Ball:
    """The half-width around Gaussian numbers, each given by its variance and how far rounding may move it.

    Rule: for Gaussian noise with any correlations the chance that all stay within limits is at least the product of
    the single ones (Sidak), and at most the smallest of them; `apart` says that they are independent. [Sidak67]
    """
    known = [(ball(2 * variance).sqrt(), sway) for variance, sway in spreads]

    def inside(width: Fraction, unit: Ball, sway: Fraction) -> Ball:
        return (ball(width + sway) / unit).erf() if width + sway > 0 else ball(0)

    def least(width: Fraction) -> Ball:
        return prod((inside(width, unit, -sway) for unit, sway in known), start=ball(1))

    def most(width: Fraction) -> Ball:
        each = [inside(width, unit, sway) for unit, sway in known]
        return prod(each, start=ball(1)) if apart else ball(min(map(upper, each)))

    return between(least, most, confidence, start)


def round_estimate(reaches: NDArray[np.float64], size: int, confidence: float) -> float:
    """The half-width of round noise with a Gamma(size) radius, in floats; `reaches` along evenly spread directions."""
    from scipy.special import gammainc, gammaincinv

    return _solved(
        lambda t: float(gammainc(size, t / reaches).mean()), float(gammaincinv(size, confidence)), reaches, confidence
    )


def gaussian_estimate(reaches: NDArray[np.float64], size: int, confidence: float) -> float:
    """The same for Gaussian noise, whose squared radius is a sum of `size` squares."""
    from scipy.special import gammainc, gammaincinv

    radius = (2 * float(gammaincinv(size / 2, confidence))) ** 0.5
    return _solved(lambda t: float(gammainc(size / 2, (t / reaches) ** 2 / 2).mean()), radius, reaches, confidence)


def _solved(chance: Callable[[float], float], radius: float, reaches: NDArray[np.float64], confidence: float) -> float:
    """Where the mean chance reaches the confidence: between those of the shortest and of the longest direction."""
    low, high = radius * float(reaches.min()), radius * float(reaches.max())
    return turn(lambda t: chance(t) >= confidence, low, high, relative=1e-9)[1]
