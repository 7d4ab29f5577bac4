"""What noise for linear questions costs, enclosed: the noise that is drawn, and the bias of rounded columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.base import Mechanism
from noisewright.mechanisms.linear_widths import independent_inside
from noisewright.numerics.balls import Ball, ball, hull, upper
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.problem.numbers import show
from noisewright.problem.utility import Utility

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
