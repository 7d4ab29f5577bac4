"""What noise for linear questions costs, enclosed: expected errors, the bias of rounded columns, and half-widths.

Where errors depend on one another, the joint chance that all answers stay within a width lies between two that are
known: that of the widest answer alone, and what is left of the chances that each leaves (of Gaussian noise, the
product of the chances that each stays).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.base import Mechanism
from noisewright.numerics.balls import Ball, ball, hull, upper, upper_gamma_share
from noisewright.numerics.bisection import gallop, turn
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.problem.numbers import show
from noisewright.problem.utilities import Utility

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


# Expected errors and biases.


USUAL_PEOPLE = 1_000_000
"""How many people the bias of rounded columns is counted for where their number is not given."""

_DIRECTIONS = 1 << 14
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


class LinearNoise(Mechanism):
    """Noise on integer columns; upper ends hold whatever part of the largest bias there is."""

    __slots__ = ()

    @abstractmethod
    def variances(self, field: Field) -> list[Value]:
        """Variance of the noise of each query."""

    @abstractmethod
    def absolute(self, field: Field) -> list[Value]:
        """Mean absolute noise of each query."""

    @abstractmethod
    def largest_noise(self) -> Ball:
        """A ball around the mean of the largest noise."""

    @abstractmethod
    def largest_estimate(self) -> float:
        """The mean of the largest noise, in floats."""

    @abstractmethod
    def noise_width(self, confidence: Fraction) -> Ball:
        """A ball around the smallest half-width that all noise stays within, with the confidence."""

    def width_estimate(self, confidence: Fraction) -> float:
        """The same in floats; the upper end of the ball unless more is known."""
        return float(upper(self.noise_width(confidence)))

    @abstractmethod
    def biases(self) -> list[Fraction]:
        """The most that one person's contribution to each answer is off."""

    @property
    def count(self) -> int:
        found: int = self.query.dimension
        return found

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if power not in (1, 2):
            self._refuse(f"the mean of |error|^{show(power)}")
        noise = self.absolute(field) if power == 1 else self.variances(field)
        return [v + field.real(b ** int(power)) for v, b in zip(noise, self._biases(), strict=True)]

    def largest(self, field: Field) -> Ball:
        noise = self.largest_noise()
        return hull(noise, noise + ball(max(self._biases())))

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        if field is not BALLS:
            return self.width_estimate(confidence)
        noise = self.noise_width(confidence)
        return hull(noise, noise + ball(max(self._biases())))

    def estimate(self, utility: Utility, value: Ball) -> Fraction | None:
        if not utility.joint:
            return super().estimate(utility, value)
        confidence = utility.confidence
        return Fraction(self.largest_estimate() if confidence is None else self.width_estimate(confidence))

    def _biases(self) -> list[Fraction]:
        people = self.query.people or USUAL_PEOPLE
        return [people * b for b in self.biases()]


def largest_independent(scales: Sequence[Fraction], steps: Sequence[Fraction]) -> Ball:
    """The mean of the largest of independent discrete Laplace noises.

    Rule: two sums around the integral of P(some |noise_k| > t), which falls in t; the rest is bounded query by query.
    [theory#metric-privacy]
    """
    count, near = max(40, min(400, 100_000 // len(scales))), max(scales) / 2**12
    growth = 2.0 ** (18 / count)  # up to 64 of the largest scale
    edges = [Fraction(0), *(near * Fraction(growth**i) for i in range(count + 1))]
    fades = [ball(-step / scale).exp() for step, scale in zip(steps, scales, strict=True)]
    chances = [_some_beyond(steps, fades, edge) for edge in edges]
    widths = [ball(b - a) for a, b in pairwise(edges)]
    low = sum((w * chance for w, chance in zip(widths, chances[1:], strict=True)), ball(0))
    high = sum((w * chance for w, chance in zip(widths, chances[:-1], strict=True)), ball(0))
    for step, fade in zip(steps, fades, strict=True):
        high = high + ball(step) * 2 * fade ** (int(edges[-1] / step) + 1) / ((1 + fade) * (1 - fade))
    return hull(low, high)


def _some_beyond(steps: Sequence[Fraction], fades: list[Ball], t: Fraction) -> Ball:
    """P(some |noise_k| > t); a discrete Laplace number exceeds m in size with probability 2 b^(m+1) / (1 + b)."""
    return 1 - independent_inside(steps, fades, t)


def directions(size: int) -> NDArray[np.float64]:
    """Evenly spread unit vectors: normal quantiles of a Halton sequence, scaled to length one."""
    from scipy.special import ndtri

    points = np.stack([_van_der_corput(p) for p in _PRIMES[:size]], axis=1)
    normal: Any = ndtri(points)
    return np.asarray(normal / np.linalg.norm(normal, axis=1)[:, None])


def _van_der_corput(base: int) -> NDArray[np.float64]:
    rest, result, share = np.arange(1, _DIRECTIONS + 1), np.zeros(_DIRECTIONS), 1.0 / base
    while rest.any():
        result += share * (rest % base)
        rest, share = rest // base, share / base
    return result


def estimate_independent(scales: NDArray[np.float64]) -> float:
    """The integral of P(some |noise_k| > t) for Laplace noise, by Gauss-Laguerre pieces."""
    edges = scales.max() * np.concatenate([[0.0], np.geomspace(1e-4, 60.0, 200)])
    nodes, weights = np.polynomial.legendre.leggauss(8)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    t = middle[:, None] + half[:, None] * nodes
    alive = -np.expm1(np.log1p(-np.exp(-t[..., None] / scales)).sum(axis=-1))
    return float((half[:, None] * weights * alive).sum())
