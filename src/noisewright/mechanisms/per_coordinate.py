"""Independent noise for each of several numbers: with a law and a lattice of its own, or the same for every bin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from noisewright.laws.laplace import Laplace
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.shells import shifted_sum
from noisewright.mechanisms.additive import Additive, Released
from noisewright.mechanisms.answers import read_answers
from noisewright.mechanisms.base import MECHANISMS, Errors, Mechanism
from noisewright.mechanisms.expected import ErrorDensity, ErrorLaw
from noisewright.numerics.balls import Ball, around, ball, hull
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import BALLS, FLOATS, Field, Floats, Value
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, InvalidUtilityError
from noisewright.problem.fields import Many, only, optional, tuple_of
from noisewright.problem.numbers import Number
from noisewright.problem.queries import Histogram, Vector
from noisewright.problem.records import record

_PART_POINTS = 300
_MOST_JUMPS = 20_000
_DOUBT = 1e-9


class Several(Mechanism):
    """A mechanism for several numbers.

    Moments and chances of single numbers are enclosed by balls; what concerns the largest error is integrated in
    floats from `inside`, and the ball around it is as wide as the integration may be off.
    """

    __slots__ = ()
    query: Vector

    @property
    def count(self) -> int:
        return self.query.dimension

    def inside(self, x: Floats) -> Floats:
        """P(every error is at most x), for each x, in floats."""
        self._refuse("the largest error")

    def half_width(self, confidence: Fraction, field: Field) -> Ball:
        value = self._quantile(float(confidence))
        if self.query.integer is True:
            # The chance jumps at whole numbers; where it nearly meets the confidence, either side may be meant.
            nearest = round(value)
            doubtful = abs(float(self.inside(np.array([nearest - 0.5]))[0]) - confidence) < _DOUBT
            return hull(ball(nearest - 1 if doubtful else nearest), ball(nearest))
        return around(value, value * 1e-6)

    def largest(self, field: Field) -> Ball:
        """The mean of the largest error: the integral of the chance to exceed x.

        It is taken twice, on a grid and on every second point of it; four times their difference is the slack.
        """
        top = self._quantile(1 - 1e-12)
        # Points crowd near zero, where small errors of few numbers decide, and thin out in the tail.
        grid = top * np.linspace(0, 1, 601) ** 2
        if self.query.integer is False:
            exceeds = 1 - self.inside(grid)
            fine, coarse = _trapezoid(exceeds, grid), _trapezoid(exceeds[::2], grid[::2])
            value = fine + (fine - coarse) / 3
            return around(value, 4 * abs(fine - coarse) + 1e-9 * value)
        # The errors of whole numbers jump: both sides of every jump are looked at, or some of them in a long tail.
        every = max(1, math.ceil(top / _MOST_JUMPS))
        jumps = np.arange(0, math.ceil(top) + every, every, dtype=np.float64)
        fine, coarse = (
            _trapezoid(1 - self.inside(points), points)
            for points in (_with_jumps(grid, jumps), _with_jumps(grid[::2], jumps))
        )
        return around(fine, 4 * abs(fine - coarse) + 1e-9 * fine + every - 1)

    def _quantile(self, confidence: float) -> float:
        def reached(x: float) -> bool:
            return bool(1 - self.inside(np.array([x]))[0] <= 1 - confidence)

        high = 1.0
        while reached(high) and high > 1e-300:
            high /= 16
        while not reached(high):
            high *= 2
        return first_true(reached, 0.0, high, relative=1e-9)


def _with_jumps(grid: Floats, jumps: Floats) -> Floats:
    return np.unique(np.concatenate([grid, jumps, np.nextafter(jumps[1:], 0.0)]))


def _trapezoid(values: Floats, grid: Floats) -> float:
    return float(np.sum((values[1:] + values[:-1]) * np.diff(grid)) / 2)


class Still(Errors):
    """A number that is released as it is."""

    __slots__ = ()
    integer = True

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        return [field.real(0)]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        return [field.real(1)] * len(limits)

    def mean_loss(self, utility: Any, field: Field) -> Value:
        return field.real(0)


@record("per-coordinate", MECHANISMS, error=InvalidMechanismError)
class PerCoordinate(Several):
    """Number i gets the noise of parts[i]; None means that it is released as it is.

    The sensitivity inside a part is only what its lattice was made for; what is proven is always
    about the set of the question.
    """

    query: Vector = only(Vector)
    parts: Many[Additive | None] = tuple_of(optional(only(Additive)), like="query")

    def __post_init__(self) -> None:
        given = [(part.query, whole) for part, whole in zip(self.parts, self.query.whole, strict=True) if part]
        if any(asked.integer != whole for asked, whole in given):
            raise InvalidMechanismError(
                "a part for whole answers belongs to a number that is an integer, and to no other: Vector(integer=...)."
            )
        if not self.query.exact and any(asked.exact and not whole for asked, whole in given):
            raise InvalidMechanismError(
                "a part is for exact answers, but the question does not declare them; say Vector(..., exact=True), or"
                " leave exact out of the part's question."
            )

    def law_given(self, answer: Sequence[Number]) -> list[Any]:
        """The law of each released number when `answer` is the truth (the number itself where none is added)."""
        values = read_answers(answer, self.query)
        return [part.law_given(x) if part else x for part, x in zip(self.parts, values, strict=True)]

    @property
    def errors(self) -> Errors:
        return self if len(self.parts) > 1 or self.parts[0] is None else self.parts[0].errors

    def apart(self) -> list[Errors]:
        found = {part: Still() if part is None else part.errors for part in set(self.parts)}
        return [found[part] for part in self.parts]

    def power_means(self, power: Fraction, field: Field) -> list[Ball]:
        @cache
        def mean(part: Additive | None) -> Ball:
            return ball(0) if part is None else _part_moment(part, power) * BALLS.power(ball(part.stretch), power)

        return [mean(part) for part in self.parts]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Ball]:
        @cache
        def chance(part: Additive | None, limit: Fraction) -> Ball:
            return ball(1) if part is None else part.errors.chances((limit,), BALLS)[0]

        return [chance(part, limit) for part, limit in zip(self.parts, limits, strict=True)]

    def inside(self, x: Floats) -> Floats:
        counts = Counter(part for part in self.parts if part is not None)
        logs = np.zeros_like(x)
        direct = len(counts) <= 40
        with np.errstate(divide="ignore"):
            for part, count in counts.items():
                logs += count * np.log(inside_of_part(part, x, direct=direct))
        return np.asarray(np.exp(logs))


def _part_moment(part: Additive, power: Fraction) -> Ball:
    """Mean of |error|^power on the lattice, before the release is stretched.

    Closed forms for real answers with Laplace noise and symmetric staircases, of which there may be thousands; the
    general rule else.

    Rounded Laplace noise is n + U steps away, n geometric and U uniform. A staircase with split g has
    E|X|^p = period^p / (p+1) * sum b^n (n+g)^(p+1) / sum b^n (n+g).
    """
    law, closed = part.law, power in (1, 2) and not part.query.integer
    if closed and isinstance(law, Laplace):
        b = ball(-part.lattice.step / law.scale).exp()
        rest = 1 - b
        first = b / rest
        if power == 1:
            return (first + ball(Fraction(1, 2))) * ball(part.lattice.step)
        return (b * (1 + b) / rest**2 + first + ball(Fraction(1, 3))) * ball(part.lattice.step**2)
    if closed and isinstance(law, Piecewise) and list(law.levels) == [1, 0, 1] and law.breaks[1] == -law.breaks[2]:
        split = law.breaks[2] / law.period
        if 0 < split <= 1:
            ratio = shifted_sum(law.rate, split, int(power) + 1) / shifted_sum(law.rate, split, 1)
            return ratio * ball(law.period ** int(power) / (power + 1))
    return ErrorLaw(part.lattice_density, part.query.integer).power_means(power, BALLS)[0]


def inside_of_part(part: Additive, x: Floats, *, direct: bool) -> Floats:
    """P(|error| <= x): evaluated at nodes (all jumps of a few-stepped density among them), linear between."""
    density = part.error_density
    if part.query.integer:
        reaches, back = np.unique(np.floor(x) + 0.5, return_inverse=True)
        return np.array([_chance(density, float(v)) for v in reaches])[back]
    if direct or len(x) <= _PART_POINTS:
        return np.array([_chance(density, float(v)) for v in x])
    nodes = set(np.linspace(0, 1, _PART_POINTS) ** 2 * float(x[-1]))
    if isinstance(density, Piecewise) and float(density.period) * _PART_POINTS > float(x[-1]):
        count = math.ceil(float(x[-1]) / float(density.period)) + 1
        nodes |= {abs(float(b)) + n * float(density.period) for b in density.breaks for n in range(count)}
    at = np.array(sorted(v for v in nodes if v <= float(x[-1])))
    return np.asarray(np.interp(x, at, np.array([_chance(density, float(v)) for v in at])))


def _chance(density: Any, x: float) -> float:
    return max(0.0, float(1 - density.sf(x, FLOATS) - density.cdf(-x, FLOATS)))


@record("alike", MECHANISMS, error=InvalidMechanismError)
class IdenticalNoise(Several):
    """Every bin of a histogram gets independent noise of `part`; what is known of one bin is known of all."""

    query: Histogram = only(Histogram)  # type: ignore[assignment]  # several numbers, told by their count
    part: Additive = only(Additive)

    def __post_init__(self) -> None:
        if not self.part.query.integer:
            raise InvalidMechanismError(
                "the bins of a histogram are whole numbers; give noise for Scalar(integer=True)."
            )

    def law_given(self, answer: Sequence[Any]) -> list[Released]:
        """The law of each released count when `answer` are the true ones."""
        self.check(answer)
        return [self.part.law_given(x) for x in answer]

    def check(self, answer: Any) -> None:
        """Refuse what has not one count for each bin."""
        listed = (
            hasattr(answer, "__len__") and not isinstance(answer, str | bytes) and getattr(answer, "shape", 1) != ()
        )
        if not listed or len(answer) != self.query.bins:
            given = f"{len(answer)} counts" if listed else "no list"
            raise InvalidAnswerError(f"the answer has {given}; give one count for each of {self.query.bins} bins.")

    @property
    def error_density(self) -> ErrorDensity:
        """The density of the error of each bin."""
        return self.part.error_density

    def apart(self) -> list[Errors]:
        return [self.part.errors]

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        return self.part.errors.power_means(power, field)

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        if len(set(limits)) > 1:
            raise InvalidUtilityError("the bins of a histogram share one limit; give within as a single number.")
        return self.part.errors.chances(limits[:1], BALLS)

    def inside(self, x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(self.query.bins * np.log(inside_of_part(self.part, x, direct=True))))
