"""The two halves of a composite density: a bump that moves with the answer and a base that stays.

Each is a law of mass one with rational parameters on a bounded interval, known by its density and
by `spread(z)`, the integral of (z - t) f(t) up to z: the second antiderivative, from which the
distribution function of the law, rounded at random to a lattice, is a difference quotient.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.fields import Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, Rationals, derived, rational, rationals
from noisewright.problem.records import Family, Record, keep, record

Floats = NDArray[np.float64]

_LARGEST_STEPS = 4096

PARTS: Family[Any] = Family("a part such as Plateau(half), Sine, Tent, Quartic or Steps", InvalidLawError)
"""Every half of a composite density by the name it has in files."""


class Part(Protocol):
    """A law of mass one on [low, high] with mean `centre`."""

    @property
    def low(self) -> Fraction: ...
    @property
    def high(self) -> Fraction: ...
    @property
    def centre(self) -> Fraction: ...
    def density(self, z: Point, field: Field) -> Value: ...
    def spread(self, z: Point, field: Field) -> Value: ...
    def spreads(self, z: Floats) -> Floats:
        """`spread` at many places in [-3, 3] in floats, within 2^-46 of the truth.

        Rule: `spread` rises by at most the change of its argument, and each formula takes a dozen operations, each
        right to a unit in the last place, on numbers below 4.
        """
        ...

    def second_moment(self, field: Field) -> Value:
        """E z^2."""
        ...

    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on [low, high]."""
        ...

    def to_dict(self) -> dict[str, Any]: ...


def _size(z: Point) -> Point:
    return z if z >= 0 else -z


@record(error=InvalidLawError)
class Symmetric(Record):
    """What the paper's activations share: a support [-half, half] around a mean of 0."""

    half: Rational = rational(above=0, at_most=1)

    @property
    def low(self) -> Fraction:
        """Where the support begins."""
        return -self.half

    @property
    def high(self) -> Fraction:
        """Where the support ends."""
        return self.half

    @property
    def centre(self) -> Fraction:
        """The mean."""
        return Fraction(0)

    def spreads(self, z: Floats) -> Floats:
        """Integral of (z - t) f(t) over t up to each z."""
        half = float(self.half)
        return np.asarray(half * self._inside(np.clip(z / half, -1.0, 1.0)) + np.maximum(z - half, 0.0))

    def _inside(self, z: Floats) -> Floats:
        """The same between the ends, for half = 1."""
        raise NotImplementedError


@record("box", PARTS, error=InvalidLawError)
class Plateau(Symmetric):
    """Activation A1: constant on [-half, half]. With half = 1 it is base B1."""

    def density(self, z: Point, field: Field) -> Value:
        """Density at z."""
        return field.real(1 / (2 * self.half)) if -self.half <= z <= self.half else field.real(0)

    def spread(self, z: Point, field: Field) -> Value:
        """Integral of (z - t) f(t) over t up to z."""
        if z <= -self.half:
            return field.real(0)
        if z >= self.half:
            return field.real(z)
        return field.real((z + self.half) * (z + self.half) / (4 * self.half))

    def _inside(self, z: Floats) -> Floats:
        return np.asarray((z + 1.0) ** 2 / 4.0)

    def second_moment(self, field: Field) -> Value:
        """E z^2."""
        return field.real(self.half**2 / 3)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on its support."""
        return field.real(1 / (2 * self.half)), field.real(1 / (2 * self.half))


@record("sine", PARTS, error=InvalidLawError)
class Sine(Symmetric):
    """Activation A2: half a wave on [-half, half]."""

    def density(self, z: Point, field: Field) -> Value:
        """Density at z."""
        if not -self.half <= z <= self.half:
            return field.real(0)
        return field.pi() / field.real(4 * self.half) * field.sin_pi(field.real((z + self.half) / (2 * self.half)))

    def spread(self, z: Point, field: Field) -> Value:
        """Integral of (z - t) f(t) over t up to z."""
        if z <= -self.half:
            return field.real(0)
        if z >= self.half:
            return field.real(z)
        u = field.real((z + self.half) / (2 * self.half))
        return field.real(self.half) * (u - field.sin_pi(u) / field.pi())

    def _inside(self, z: Floats) -> Floats:
        u = (z + 1.0) / 2.0
        return np.asarray(u - np.sin(np.pi * u) / np.pi)

    def second_moment(self, field: Field) -> Value:
        """E z^2."""
        pi = field.pi()
        return field.real(self.half**2) * (1 - 8 / (pi * pi))

    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on its support."""
        return field.real(0), field.pi() / field.real(4 * self.half)


@record("tent", PARTS, error=InvalidLawError)
class Tent(Symmetric):
    """Activation A3: rises and falls on straight lines on [-half, half]."""

    def density(self, z: Point, field: Field) -> Value:
        """Density at z."""
        if not -self.half <= z <= self.half:
            return field.real(0)
        return field.real((self.half - _size(z)) / self.half**2)

    def spread(self, z: Point, field: Field) -> Value:
        """Integral of (z - t) f(t) over t up to z."""
        if z <= -self.half:
            return field.real(0)
        if z >= self.half:
            return field.real(z)
        # The cubic of the rising side, mirrored about the centre: spread(z) = z + spread(-z).
        rest = self.half - _size(z)
        cubic = rest * rest * rest / (6 * self.half * self.half)
        return field.real(cubic if z <= 0 else z + cubic)

    def _inside(self, z: Floats) -> Floats:
        return np.asarray((1.0 - np.abs(z)) ** 3 / 6.0 + np.maximum(z, 0.0))

    def second_moment(self, field: Field) -> Value:
        """E z^2."""
        return field.real(self.half**2 / 6)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on its support."""
        return field.real(0), field.real(1 / self.half)


@record("quartic", PARTS, error=InvalidLawError)
class Quartic(Record):
    """Base B2: y - (y - t) z^4 on [-1, 1], with t = `ratio` y. The infimum is t, not y."""

    ratio: Rational = rational(above=0, at_most=1)

    @property
    def low(self) -> Fraction:
        """Where the support begins."""
        return Fraction(-1)

    @property
    def high(self) -> Fraction:
        """Where the support ends."""
        return Fraction(1)

    @property
    def centre(self) -> Fraction:
        """The mean."""
        return Fraction(0)

    @property
    def top(self) -> Fraction:
        """y, the height in the middle."""
        return Fraction(5) / (2 * (4 + self.ratio))

    def density(self, z: Point, field: Field) -> Value:
        """Density at z."""
        top = self.top
        return field.real(top) - field.real(top * (1 - self.ratio)) * field.real(z) ** 4

    def spread(self, z: Point, field: Field) -> Value:
        """Integral of (z - t) f(t) over t up to z."""
        top = self.top
        z = max(z, Fraction(-1))
        if z >= 1:
            return field.real(z)
        x = field.real(z)
        bend = x**6 / 30 + x / 5 + field.real(Fraction(1, 6))
        return field.real(top / 2) * (x + 1) ** 2 - field.real(top * (1 - self.ratio)) * bend

    def spreads(self, z: Floats) -> Floats:
        """Integral of (z - t) f(t) over t up to each z."""
        x = np.clip(z, -1.0, 1.0)
        bend = x**6 / 30 + x / 5 + 1 / 6
        inside = float(self.top / 2) * (x + 1) ** 2 - float(self.top * (1 - self.ratio)) * bend
        return np.asarray(inside + np.maximum(z - 1.0, 0.0))

    def second_moment(self, field: Field) -> Value:
        """E z^2."""
        top = self.top
        return field.real(2 * top / 3 - 2 * top * (1 - self.ratio) / 7)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on its support."""
        top = self.top
        return field.real(top * self.ratio), field.real(top)


@record("steps", PARTS, error=InvalidLawError)
class Steps(Record):
    """Constant heights between edges, scaled to mass one: a person's own function, or nested boxes."""

    edges: Rationals = rationals()
    heights: Rationals = rationals(at_least=0)
    _sums: tuple[tuple[Fraction, Fraction], ...] = derived()
    _square: Fraction = derived()

    def __post_init__(self) -> None:
        if not 1 <= len(self.heights) <= _LARGEST_STEPS or len(self.edges) != len(self.heights) + 1:
            raise InvalidLawError(
                f"{len(self.heights)} heights need {len(self.heights) + 1} edges (at most 4096 steps)."
            )
        if any(b <= a for a, b in pairwise(self.edges)):
            raise InvalidLawError("the edges of a step density must increase.")
        if not any(self.heights):
            raise InvalidLawError("the heights of a step density must be at least 0, and not all 0.")
        mass = spread = Fraction(0)
        sums = [(mass, spread)]
        for (a, b), height in zip(pairwise(self.edges), self.heights, strict=True):
            spread += mass * (b - a) + height * (b - a) ** 2 / 2
            mass += height * (b - a)
            sums.append((mass, spread))
        cells = zip(pairwise(self.edges), self.heights, strict=True)
        square = sum((h * (b**3 - a**3) / 3 for (a, b), h in cells), Fraction(0)) / mass
        keep(self, _sums=tuple(sums), _square=square)

    @property
    def total(self) -> Fraction:
        """What the heights integrate to before scaling."""
        return self._sums[-1][0]

    @property
    def low(self) -> Fraction:
        """Where the support begins."""
        return self.edges[0]

    @property
    def high(self) -> Fraction:
        """Where the support ends."""
        return self.edges[-1]

    @property
    def centre(self) -> Fraction:
        """The mean."""
        mass, spread = self._sums[-1]
        return self.edges[-1] - spread / mass

    def density(self, z: Point, field: Field) -> Value:
        """Density at z."""
        if not self.low <= z <= self.high:
            return field.real(0)
        place = min(bisect_right(self.edges, z), len(self.heights)) - 1
        return field.real(self.heights[place] / self.total)

    def spread(self, z: Point, field: Field) -> Value:
        """Integral of (z - t) f(t) over t up to z."""
        if z <= self.low:
            return field.real(0)
        place = min(bisect_right(self.edges, z) - 1, len(self.heights))
        mass, spread = self._sums[place]
        rest = z - self.edges[place]
        height = self.heights[place] if place < len(self.heights) else Fraction(0)
        return field.real((spread + mass * rest + height * rest * rest / 2) / self.total)

    def spreads(self, z: Floats) -> Floats:
        """Integral of (z - t) f(t) over t up to each z."""
        edges = np.array([float(e) for e in self.edges])
        mass, spread = (np.array([float(pair[k] / self.total) for pair in self._sums]) for k in (0, 1))
        heights = np.array([*(float(h / self.total) for h in self.heights), 0.0])
        place = np.maximum(np.searchsorted(edges, z, side="right") - 1, 0)
        rest = np.maximum(z - edges[place], 0.0)
        return np.asarray(spread[place] + mass[place] * rest + heights[place] * rest**2 / 2)

    def second_moment(self, field: Field) -> Value:
        """E z^2."""
        return field.real(self._square)

    def extremes(self, field: Field) -> tuple[Value, Value]:
        """Infimum and supremum of the density on its support."""
        return field.real(min(self.heights) / self.total), field.real(max(self.heights) / self.total)


FLAT = Plateau(Fraction(1))
"""Base B1."""
