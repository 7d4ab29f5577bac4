"""The two halves of a composite density: a bump that moves with the answer and a base that stays.

Each is a law of mass one with rational parameters on a bounded interval, known by its density and
by `spread(z)`, the integral of (z - t) f(t) up to z: the second antiderivative, from which the
distribution function of the law, rounded at random to a lattice, is a difference quotient.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright.numerics.fields import Field, Floats, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, Rationals, derived, fixed, rational, rationals
from noisewright.problem.records import Family, Record, keep, record

_LARGEST_STEPS = 4096

PARTS: Family[Any] = Family("a part such as Plateau(half), Sine, Tent, Quartic or Steps", InvalidLawError)
"""Every half of a composite density by the name it has in files."""


class Part(Record):
    """A law of mass one on [low, high] with mean `centre`; [-half, half] around 0 unless it says otherwise."""

    __slots__ = ()
    half: Any

    @property
    def low(self) -> Fraction:
        """Where the support begins."""
        return -Fraction(self.half)

    @property
    def high(self) -> Fraction:
        """Where the support ends."""
        return Fraction(self.half)

    @property
    def centre(self) -> Fraction:
        """The mean."""
        return Fraction(0)

    def density(self, z: Point, field: Field) -> Value:
        """Density at z."""
        return self._height(z, field) if self.low <= z <= self.high else field.real(0)

    def spread(self, z: Point, field: Field) -> Value:
        """Integral of (z - t) f(t) over t up to z."""
        if z <= self.low:
            return field.real(0)
        return self._raised(z, field) if z < self.high else field.real(z - self.centre)

    def mass(self, z: Point, field: Field) -> Value:
        """Mass up to z."""
        return self._below(z, field) if self.low < z < self.high else field.real(int(z >= self.high))

    def spreads(self, z: Floats) -> Floats:
        """`spread` at many places in [-3, 3] in floats, within 2^-46 of the truth.

        Rule: `spread` rises by at most the change of its argument, and each formula takes a dozen operations, each
        right to a unit in the last place, on numbers below 4. [theory#floats-that-decide]
        """
        low, high = float(self.low), float(self.high)
        return np.asarray(self._inside(np.clip(z, low, high)) + np.maximum(z - high, 0.0))

    @abstractmethod
    def second_moment(self, field: Field) -> Value:
        """E z^2."""

    @abstractmethod
    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on [low, high]."""

    @abstractmethod
    def _height(self, z: Point, field: Field) -> Value:
        """Density at a z within [low, high]."""

    @abstractmethod
    def _below(self, z: Point, field: Field) -> Value:
        """`mass` at a z strictly between low and high."""

    @abstractmethod
    def _raised(self, z: Point, field: Field) -> Value:
        """`spread` at a z strictly between low and high."""

    @abstractmethod
    def _inside(self, z: Floats) -> Floats:
        """`spreads` at places from low to high."""


@record("box", PARTS, error=InvalidLawError)
class Plateau(Part):
    """Activation A1: constant on [-half, half]. With half = 1 it is base B1."""

    half: Rational = rational(above=0, at_most=1)

    def _height(self, z: Point, field: Field) -> Value:
        return field.real(1 / (2 * self.half))

    def _below(self, z: Point, field: Field) -> Value:
        return field.real((z + self.half) / (2 * self.half))

    def _raised(self, z: Point, field: Field) -> Value:
        return field.real((z + self.half) * (z + self.half) / (4 * self.half))

    def _inside(self, z: Floats) -> Floats:
        half = float(self.half)
        return np.asarray((z + half) ** 2 / (4 * half))

    def second_moment(self, field: Field) -> Value:
        return field.real(self.half**2 / 3)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        return field.real(1 / (2 * self.half)), field.real(1 / (2 * self.half))


@record("sine", PARTS, error=InvalidLawError)
class Sine(Part):
    """Activation A2: half a wave on [-half, half]."""

    half: Rational = rational(above=0, at_most=1)

    def _height(self, z: Point, field: Field) -> Value:
        return field.pi() / field.real(4 * self.half) * field.sin_pi(field.real((z + self.half) / (2 * self.half)))

    def _below(self, z: Point, field: Field) -> Value:
        # (1 - cos(pi u)) / 2 is the square of sin(pi u / 2).
        return field.sin_pi(field.real((z + self.half) / (4 * self.half))) ** 2

    def _raised(self, z: Point, field: Field) -> Value:
        u = field.real((z + self.half) / (2 * self.half))
        return field.real(self.half) * (u - field.sin_pi(u) / field.pi())

    def _inside(self, z: Floats) -> Floats:
        half = float(self.half)
        u = (z + half) / (2 * half)
        return np.asarray(half * (u - np.sin(np.pi * u) / np.pi))

    def second_moment(self, field: Field) -> Value:
        pi = field.pi()
        return field.real(self.half**2) * (1 - 8 / (pi * pi))

    def extremes(self, field: Field) -> tuple[Value, Value]:
        return field.real(0), field.pi() / field.real(4 * self.half)


@record("tent", PARTS, error=InvalidLawError)
class Tent(Part):
    """Activation A3: rises and falls on straight lines on [-half, half]."""

    half: Rational = rational(above=0, at_most=1)

    def _height(self, z: Point, field: Field) -> Value:
        return field.real((self.half - max(z, -z)) / self.half**2)

    def _below(self, z: Point, field: Field) -> Value:
        rest = (self.half - max(z, -z)) ** 2 / (2 * self.half * self.half)
        return field.real(rest if z <= 0 else 1 - rest)

    def _raised(self, z: Point, field: Field) -> Value:
        # The cubic of the rising side, mirrored about the centre: spread(z) = z + spread(-z).
        rest = self.half - max(z, -z)
        cubic = rest * rest * rest / (6 * self.half * self.half)
        return field.real(cubic if z <= 0 else z + cubic)

    def _inside(self, z: Floats) -> Floats:
        half = float(self.half)
        return np.asarray((half - np.abs(z)) ** 3 / (6 * half * half) + np.maximum(z, 0.0))

    def second_moment(self, field: Field) -> Value:
        return field.real(self.half**2 / 6)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        return field.real(0), field.real(1 / self.half)


@record("quartic", PARTS, error=InvalidLawError)
class Quartic(Part):
    """Base B2: y - (y - t) z^4 on [-1, 1], with t = `ratio` y. The infimum is t, not y."""

    ratio: Rational = rational(above=0, at_most=1)
    half: Fraction = fixed(Fraction(1))

    @property
    def top(self) -> Fraction:
        """y, the height in the middle."""
        return Fraction(5) / (2 * (4 + self.ratio))

    def _height(self, z: Point, field: Field) -> Value:
        return field.real(self.top) - field.real(self.top * (1 - self.ratio)) * field.real(z) ** 4

    def _below(self, z: Point, field: Field) -> Value:
        x = field.real(z)
        return field.real(self.top) * (x + 1) - field.real(self.top * (1 - self.ratio) / 5) * (x**5 + 1)

    def _raised(self, z: Point, field: Field) -> Value:
        top, x = self.top, field.real(z)
        bend = x**6 / 30 + x / 5 + field.real(Fraction(1, 6))
        return field.real(top / 2) * (x + 1) ** 2 - field.real(top * (1 - self.ratio)) * bend

    def _inside(self, z: Floats) -> Floats:
        bend = z**6 / 30 + z / 5 + 1 / 6
        return np.asarray(float(self.top / 2) * (z + 1) ** 2 - float(self.top * (1 - self.ratio)) * bend)

    def second_moment(self, field: Field) -> Value:
        return field.real(2 * self.top / 3 - 2 * self.top * (1 - self.ratio) / 7)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        return field.real(self.top * self.ratio), field.real(self.top)


@record("steps", PARTS, error=InvalidLawError)
class Steps(Part):
    """Constant heights between edges, scaled to mass one: a person's own function, or nested boxes."""

    edges: Rationals = rationals(rising=True)
    heights: Rationals = rationals(at_least=0, least=1, most=_LARGEST_STEPS)
    _sums: tuple[tuple[Fraction, Fraction], ...] = derived()
    _square: Fraction = derived()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.heights) + 1:
            raise InvalidLawError(f"{len(self.heights)} heights need one edge more; {len(self.edges)} were given.")
        if not any(self.heights):
            raise InvalidLawError("the heights of a step density must be at least 0, and not all 0.")
        mass = spread = square = Fraction(0)
        sums = [(mass, spread)]
        for (a, b), height in zip(pairwise(self.edges), self.heights, strict=True):
            spread += mass * (b - a) + height * (b - a) ** 2 / 2
            mass += height * (b - a)
            square += height * (b**3 - a**3) / 3
            sums.append((mass, spread))
        keep(self, _sums=tuple(sums), _square=square / mass)

    @property
    def total(self) -> Fraction:
        """What the heights integrate to before scaling."""
        return self._sums[-1][0]

    @property
    def low(self) -> Fraction:
        return self.edges[0]

    @property
    def high(self) -> Fraction:
        return self.edges[-1]

    @property
    def centre(self) -> Fraction:
        mass, spread = self._sums[-1]
        return self.edges[-1] - spread / mass

    def _height(self, z: Point, field: Field) -> Value:
        place = min(bisect_right(self.edges, z), len(self.heights)) - 1
        return field.real(self.heights[place] / self.total)

    def _below(self, z: Point, field: Field) -> Value:
        place = bisect_right(self.edges, z) - 1
        return field.real((self._sums[place][0] + self.heights[place] * (z - self.edges[place])) / self.total)

    def _raised(self, z: Point, field: Field) -> Value:
        place = bisect_right(self.edges, z) - 1
        mass, spread = self._sums[place]
        rest = z - self.edges[place]
        return field.real((spread + mass * rest + self.heights[place] * rest * rest / 2) / self.total)

    def _inside(self, z: Floats) -> Floats:
        edges = np.array([float(e) for e in self.edges])
        mass, spread = (np.array([float(pair[k] / self.total) for pair in self._sums]) for k in (0, 1))
        heights = np.array([*(float(h / self.total) for h in self.heights), 0.0])
        place = np.searchsorted(edges, z, side="right") - 1
        rest = z - edges[place]
        return np.asarray(spread[place] + mass[place] * rest + heights[place] * rest**2 / 2)

    def second_moment(self, field: Field) -> Value:
        return field.real(self._square)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        return field.real(min(self.heights) / self.total), field.real(max(self.heights) / self.total)


FLAT = Plateau(Fraction(1))
"""Base B1."""
