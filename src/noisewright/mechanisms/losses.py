"""Errors of continuous laws on cells, and a loss known by its values: promises checked, integrated between bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.base import SmoothLaw
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.balls import around
from noisewright.numerics.fields import BALLS, FLOATS, Exact, Field, Point, Value
from noisewright.numerics.special import geometric_power_sum
from noisewright.problem.errors import InvalidLossError
from noisewright.problem.utilities import Expected

_FAR_BITS = 40
_CELLS = 60_000


@dataclass(frozen=True, slots=True)
class Smoothed:
    """A symmetric law, not increasing away from zero, with the mass of each cell [k step, (k+1) step) spread evenly.

    That is the density of released minus true answer, averaged over where the answer falls in its
    cell. Cell edges keep their distribution function; within a cell it is linear.
    """

    law: SmoothLaw
    step: Fraction

    def scaled(self, factor: Fraction) -> Smoothed:
        """The density of `factor` times the error."""
        return self if factor == 1 else Smoothed(self.law.scaled(factor), self.step * factor)

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return self.step

    def density(self, x: Point, field: Field) -> Value:
        low, high, _ = self._cell(x)
        return (self.law.sf(low, field) - self.law.sf(high, field)) / field.real(self.step)

    def sf(self, x: Point, field: Field) -> Value:
        low, high, share = self._cell(x)
        part = field.real(share)
        return (1 - part) * self.law.sf(low, field) + part * self.law.sf(high, field)

    def cdf(self, x: Point, field: Field) -> Value:
        return self.sf(-x, field)

    def mean(self, field: Field) -> Value:
        return field.real(0)

    def moment(self, power: Exact, field: Field) -> Value:
        """E |error|^power: at least that of the law, at most more by the sum of products of ranges.

        Rule: within a cell the density does not increase and the power does not decrease, so
        spreading evenly adds between 0 and (range of density) * (range of power) * step / 4 (Gruess).
        [theory#what-the-stated-error-means]
        """
        exact = self.law.moment(power, field)
        if field is not BALLS or not exact.is_finite():
            return exact
        return field.between(exact, exact + self._excess(Fraction(power)))

    def _excess(self, power: Fraction) -> Value:
        """Upper bound of step/2 * sum over cells of (drop of density) * (rise of power)."""
        h, top = BALLS.real(self.step), self.law.density(Fraction(0), BALLS)
        first = BALLS.power(h, power)
        if power <= 1:
            # The rises of a concave power decrease, so all drops of the density count with the first.
            return h * top * first / 2
        if power < 2:
            # Rises are at most p h^p (k+1)^(p-1); summed by parts and cut at k = K.
            cut = BALLS.real(max(1, math.ceil(float(1 / (2 * h * top).mid()))))
            inner = top + top * BALLS.power(cut, power - 1)
            outer = BALLS.real(power - 1) / (BALLS.power(cut, 2 - power) * 2 * h)
            return h * BALLS.real(power) * first * (inner + outer) / 2
        # Second differences are at most p (p-1) h^2 (x + 2h)^(p-2), and step * f(k step) at most the mass before it.
        rest = power - 2
        spread = self.law.moment(rest, BALLS) + BALLS.power(2 * h, rest)
        doubled = BALLS.power(BALLS.real(2), max(Fraction(0), rest - 1))
        return h / 2 * (top * first + BALLS.real(power * (power - 1)) * h / 2 * doubled * spread)

    def _cell(self, x: Point) -> tuple[Fraction, Fraction, Any]:
        place = Fraction(x) / self.step
        k = math.floor(place)
        return k * self.step, (k + 1) * self.step, place - k


class LossTable:
    """Values of a loss at multiples of a width on both sides of zero, each promise checked.

    Guarantees: finite, at least 0, not decreasing away from zero and within the declared growth at
    every point of the table; between two points a promise can only be trusted.
    """

    def __init__(self, utility: Expected, width: Fraction, count: int) -> None:
        self.width, self.count = width, count
        grid = [float(i * width) for i in range(count + 1)]
        self.right = _values(utility, grid)
        self.left = _values(utility, [-x for x in grid])
        if self.right[-1] <= self.right[0] or self.left[-1] <= self.left[0]:
            side = "above" if self.right[-1] <= self.right[0] else "below"
            raise InvalidLossError(
                f"the loss is flat {side} zero (as far as {grid[-1]:.6g}): pushing the answer that way would cost"
                " nothing, so no best noise exists. Give a loss that rises on both sides.",
                side=side,
            )


def _values(utility: Expected, points: list[float]) -> list[float]:
    power, factor = float(utility.growth.power), float(utility.growth.factor)
    values: list[float] = []
    previous = 0.0
    for x in points:
        try:
            value = float(utility.loss(x))
        except Exception as error:
            raise InvalidLossError(
                f"the loss raised {type(error).__name__} at error {x:.6g}: {error}. It must accept every real error.",
                at=x,
            ) from error
        if not math.isfinite(value) or value < 0:
            raise InvalidLossError(
                f"the loss is {value} at error {x:.6g}; it must be a finite number, at least 0.", at=x, value=value
            )
        if value < previous:
            raise InvalidLossError(
                f"the loss decreases away from zero: {previous:.9g} before error {x:.6g}, {value:.9g} there."
                " It must not decrease on either side.",
                at=x,
                value=value,
            )
        if value > factor * (1 + abs(x)) ** power * (1 + 1e-12):
            raise InvalidLossError(
                f"the loss is {value:.6g} at error {x:.6g}, above its declared growth {utility.growth}."
                " Declare a larger power or factor.",
                at=x,
                value=value,
            )
        previous = value
        values.append(value)
    return values


def loss_reach(density: Piecewise, utility: Expected) -> Fraction:
    """How far from zero the table goes: beyond, mass times growth is below 2^-40."""
    spread = max(abs(density.breaks[0]), abs(density.breaks[-1]))
    periods = math.ceil((_FAR_BITS * math.log(2) + 3 * float(utility.growth.power)) / float(density.rate)) + 2
    return spread + periods * density.period


def expected_loss(density: Piecewise | Smoothed, utility: Expected, field: Field, *, integer: bool) -> Value:
    """Mean loss; with balls an enclosure: every cell between the loss at its two ends, the rest by growth."""
    if isinstance(density, Smoothed):
        return _smoothed_loss(density, utility, field)
    reach = loss_reach(density, utility)
    grid = _common_width(density)
    width = Fraction(1) if integer else grid / max(1, math.ceil(_CELLS * grid / (2 * reach)))
    count = math.ceil(reach / width)
    table = LossTable(utility, width, count)
    sums = [_side_sums(density, table, direction, field, integer=integer) for direction in (1, -1)]
    low, high = (sum(side, field.real(0)) for side in zip(*sums, strict=True))
    centre = field.real(table.right[0]) * density.density(0, field) if integer else field.real(0)
    return field.between(low + centre, high + centre + far_loss(density, utility, width * count, field))


def _smoothed_loss(density: Smoothed, utility: Expected, field: Field) -> Value:
    """The same for a law known by its survival function: table cells carry its differences."""
    reach, power = density.period, float(utility.growth.power)
    while density.sf(float(reach), FLOATS) * (1 + float(reach)) ** power > 2.0**-_FAR_BITS:
        reach *= 2
    width = density.step * max(1, math.ceil(2 * reach / (_CELLS * density.step)))
    count = math.ceil(reach / width)
    table = LossTable(utility, width, count)
    tails = [density.sf(i * width, field) for i in range(count + 1)]
    low, high = field.real(0), field.real(0)
    for values in (table.right, table.left):
        for i in range(count):
            mass = tails[i] - tails[i + 1]
            low, high = low + mass * field.real(values[i]), high + mass * field.real(values[i + 1])
    if field is not BALLS:
        return (low + high) / 2
    return field.between(low, high + _far_by_moment(density, utility, width * count))


def _far_by_moment(density: Smoothed, utility: Expected, beyond: Fraction) -> Value:
    """Upper bound of the loss beyond a distance by Markov's inequality: (1+x)^p <= (1+x)^(p+q) / (1+beyond)^q."""
    q = 8
    power = Fraction(math.ceil(utility.growth.power)) + q
    spread = BALLS.power(BALLS.real(2), power - 1) * (1 + density.moment(power, BALLS))
    return BALLS.real(utility.growth.factor) * spread / BALLS.power(BALLS.real(1 + beyond), q)


def far_loss(density: Piecewise, utility: Expected, beyond: Fraction, field: Field) -> Value:
    """Upper bound of the loss carried by errors farther than `beyond`, from the declared growth."""
    power = Fraction(math.ceil(utility.growth.power))
    # One period further out the tail mass fades by e^-rate, and the loss there is at most its growth.
    series = geometric_power_sum(field, density.rate, 1 + beyond + density.period, density.period, power)
    tails = sum((density.sf(beyond, field), density.cdf(-beyond, field)), field.real(0))
    return tails * field.real(utility.growth.factor) * series


def _side_sums(
    density: Piecewise, table: LossTable, direction: int, field: Field, *, integer: bool
) -> tuple[Value, Value]:
    """Lower and upper sums on one side; runs of equal density are summed in floats, correctly rounded."""
    values = table.right if direction > 0 else table.left
    low, high = field.real(0), field.real(0)
    for start, end, weight in _runs(density, table, direction, field, integer=integer):
        inner = math.fsum(values[start:end])
        outer = inner if integer else math.fsum(values[start + 1 : end + 1])
        low = low + weight * off_by(inner, inner * 2.0**-52, field)
        high = high + weight * off_by(outer, outer * 2.0**-52, field)
    scale = field.real(1 if integer else table.width) / density.mass_total(field)
    return low * scale, high * scale


def off_by(value: float, error: float, field: Field) -> Value:
    """A number that may be off by an error; as a ball, all that it may be if the error is right."""
    return around(value, error) if field is BALLS else value


def _runs(
    density: Piecewise, table: LossTable, direction: int, field: Field, *, integer: bool
) -> Iterator[tuple[int, int, Value]]:
    """Ranges [start, end) of table indices outward from zero that share one density, with its weight."""

    def index(outward: Fraction) -> int:
        return math.floor(outward) + 1 if integer else int(outward / table.width)

    stop = table.count + 1 if integer else table.count
    for a, b, level in density.cells:
        near, far = sorted((a * direction, b * direction))
        if far > 0:
            yield index(max(near, Fraction(0))), min(index(far), stop), density.weight(level, field)
    stride = int(density.period) if integer else int(density.period / table.width)
    fade = density.weight(Fraction(1), field)
    tail = density.cells[: density.left_cells] if direction < 0 else density.cells[-density.right_cells :]
    for a, b, level in tail:
        near, far = sorted((a * direction, b * direction))
        start, end = index(near + density.period), index(far + density.period)
        weight = density.weight(level, field) * fade
        while start < stop:
            yield start, min(end, stop), weight
            start, end, weight = start + stride, end + stride, weight * fade


def _common_width(density: Piecewise) -> Fraction:
    """The largest width of which every jump and the period are multiples."""
    numbers = [density.period, *density.breaks]
    denominator = math.lcm(*(n.denominator for n in numbers))
    divisor = math.gcd(*(int(n * denominator) for n in numbers))
    return Fraction(divisor, denominator)
