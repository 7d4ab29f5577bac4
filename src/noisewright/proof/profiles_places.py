"""Floats near the places where a loss passes epsilon, and about how much it varies: hints, never evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import Any

from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.two_fold import TwoFold
from noisewright.numerics.fields import FLOATS
from noisewright.proof.profiles_stretches import Stretch

_PROBES = 160
_FARTHEST = 1e15


class Search:
    """Floats near the places where the loss passes epsilon; whatever they are, what is proven from them holds."""

    def __init__(self, law: Any, shift: Fraction, stretch: Stretch) -> None:
        moved = float(shift)
        self._loss = _loss(law, moved)
        self._stretch = stretch
        self._low, start = float(stretch.start), float(stretch.start)
        self._high = float(stretch.end) if stretch.end is not None else _far(law, self._loss, start, moved)
        self._probes = sorted({self._low, self._high, *_between(self._low, self._high, moved)})
        self._losses = [self._loss(x) for x in self._probes]

    def place(self, epsilon: float) -> Fraction:
        """Within the stretch."""
        sign = 1 if self._stretch.rising else -1
        # Losses times the sign rise along the probes.
        low, high = 0, len(self._probes) - 1
        if sign * (self._losses[low] - epsilon) >= 0:
            return self._inside(self._probes[low])
        if sign * (self._losses[high] - epsilon) <= 0:
            return self._inside(self._probes[high])
        while high - low > 1:
            middle = (low + high) // 2
            if sign * (self._losses[middle] - epsilon) <= 0:
                low = middle
            else:
                high = middle
        return self._inside(self._solved(low, high, epsilon, sign))

    def _inside(self, x: float) -> Fraction:
        exact, end = Fraction(x), self._stretch.end
        return max(self._stretch.start, exact if end is None else min(end, exact))

    def _solved(self, low: int, high: int, epsilon: float, sign: int) -> float:
        """False position, a stale end counting half."""
        a, b = self._probes[low], self._probes[high]
        below, above = sign * (self._losses[low] - epsilon), sign * (self._losses[high] - epsilon)
        x, stale = a, 0
        for _ in range(60):
            x = (a * above - b * below) / (above - below) if above > below else (a + b) / 2
            if not a < x < b:
                break
            value = sign * (self._loss(x) - epsilon)
            if abs(value) <= 1e-16 * epsilon:
                break
            if value <= 0:
                a, below, above, stale = x, value, above / 2 if stale < 0 else above, -1
            else:
                b, above, below, stale = x, value, below / 2 if stale > 0 else below, 1
        return min(max(x, self._probes[0]), self._probes[-1])


@singledispatch
def _loss(law: Any, shift: float) -> Callable[[float], float]:
    """The loss at a place."""
    return lambda x: float(law.drop(x, shift, FLOATS))


@_loss.register
def _(law: TwoFold, shift: float) -> Callable[[float], float]:
    return lambda x: math.log(law.density(x, FLOATS) / law.density(x + shift, FLOATS))


@_loss.register
def _(law: GaussianMixture, shift: float) -> Callable[[float], float]:
    """Over the density of the widest part, so that nothing underflows."""
    widest = max(law.stds)
    parts = [(float(w / s), float((1 / s**2 - 1 / widest**2) / 2)) for s, w in zip(law.stds, law.weights, strict=True)]

    def height(x: float) -> float:
        return sum(weight * math.exp(-rate * x * x) for weight, rate in parts)

    moved = shift / (2 * float(widest) ** 2)
    return lambda x: math.log(height(x) / height(x + shift)) + moved * (2 * x + shift)


def _far(law: Any, loss: Callable[[float], float], start: float, shift: float) -> float:
    """A float beyond which there is hardly any mass, or no loss to be told from its limit."""
    x = max(abs(start), shift, 1e-3)
    while x < _FARTHEST and float(law.sf(2 * x, FLOATS)) > 1e-200:
        try:
            loss(2 * x)
        except (ValueError, ZeroDivisionError, OverflowError):
            break
        x *= 2
    return x


def _between(low: float, high: float, shift: float) -> list[float]:
    """Probes that crowd near the start, where the loss turns, and grow apart outward."""
    near = min(high - low, shift)
    inner = [low + near * i / _PROBES for i in range(1, _PROBES)]
    if high - low <= near:
        return inner
    ratio = ((high - low) / near) ** (1 / _PROBES)
    return inner + [low + near * ratio**i for i in range(_PROBES)]


@lru_cache(maxsize=256)
def spread_of(law: Any, shift: float) -> float:
    """The standard deviation of the loss, roughly, in floats."""
    loss, start = _loss(law, shift), -shift / 2
    places = [start, *_between(start, _far(law, loss, start, shift), shift)]
    mean = square = 0.0
    tails = [(float(law.sf(x, FLOATS)), float(law.sf(x + shift, FLOATS))) for x in places]
    for a, b, here, there in zip(places, places[1:], tails, tails[1:], strict=False):
        x, p, q = loss((a + b) / 2), here[0] - there[0], here[1] - there[1]
        mean, square = mean + (p - q) * x, square + (p + q) * x * x
    return math.sqrt(max(square - mean**2, 0.0))
