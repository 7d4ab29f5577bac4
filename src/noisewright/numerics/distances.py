"""Distances of a metric in two number systems: exact lower bounds pair by pair, fast floats by rows.

`lower_squared` never exceeds the true squared distance (and equals it wherever it is rational).
`float_view` gives rows of floats whose relative error is at most its `margin`.
Which distances are infinite, where nothing is guaranteed, `finite_components` knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.balls import angle, ball, lower, pi, precision, upper
from noisewright.numerics.fields import Floats
from noisewright.numerics.finite_components import finite_components, infinitely_apart
from noisewright.problem.attributes import Attributes
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.geometry import EARTH_RADIUS_KM, Euclidean, GreatCircle, SmoothThreshold, TimeSeries
from noisewright.problem.metrics import Hamming, Matrix, Scaled, Sum, WithAbsent, triangle_error

Rows = Callable[[int, int], Floats]

MARGIN = 2.0**-44
"""Relative error of float distances: a few operations, each within 2^-52, on exact differences."""
CIRCLE_MARGIN = 2.0**-20
"""The haversine formula loses half its digits near the antipodes."""
_ROUNDING = 2.0**-52
_LIMB = 32
_ROOT_BITS = 160
_CIRCLE_BITS = 256


@dataclass(frozen=True, slots=True)
class FloatView:
    """Rows [start, stop) of the distance matrix, columns from `start` on.

    Each is within a relative `margin` and an absolute `slack` of the distance; those that `apart` marks are infinite.
    """

    size: int
    margin: float
    rows: Rows
    slack: float = 0.0
    components: NDArray[np.intp] | None = None

    def apart(self, start: int, stop: int) -> NDArray[np.bool_] | None:
        """Which of these distances are infinite; None if no distance is."""
        if self.components is None:
            return None
        return np.asarray(self.components[start:stop, None] != self.components[None, start:])


def lower_squared(metric: Any, i: int, j: int) -> Fraction:
    """An exact rational at or below the squared distance.

    Valid for: pairs at a finite distance; raises InvalidPrivacyError for others.
    """
    if infinitely_apart(metric, i, j):
        raise InvalidPrivacyError(
            f"elements {i} and {j} are infinitely far apart: they may be told apart freely, and no budget covers that.",
            pair=(i, j),
        )
    return _lower_squared(metric, i, j)


@singledispatch
def _lower_squared(metric: Any, i: int, j: int) -> Fraction:
    raise InvalidPrivacyError(f"there are no distances for metrics of type {type(metric).__name__}.")


@_lower_squared.register(Euclidean)
@_lower_squared.register(TimeSeries)
@_lower_squared.register(SmoothThreshold)
def _lower_squared_of_euclidean(metric: Any, i: int, j: int) -> Fraction:
    return Fraction(metric.squared(i, j))


@_lower_squared.register
def _lower_squared_of_matrix(metric: Matrix, i: int, j: int) -> Fraction:
    return (metric.unit * metric.entries[i][j]) ** 2


@_lower_squared.register
def _lower_squared_of_hamming(metric: Hamming, i: int, j: int) -> Fraction:
    return metric.epsilon**2 if i != j else Fraction(0)


@_lower_squared.register
def _lower_squared_of_attributes(metric: Attributes, i: int, j: int) -> Fraction:
    codes = zip(metric.tables, metric.codes[i], metric.codes[j], strict=True)
    return sum((Fraction(table[a][b]) for table, a, b in codes), Fraction(0)) ** 2


@_lower_squared.register
def _lower_squared_of_scaled(metric: Scaled, i: int, j: int) -> Fraction:
    return metric.factor**2 * lower_squared(metric.metric, i, j)


@_lower_squared.register
def _lower_squared_of_with_absent(metric: WithAbsent, i: int, j: int) -> Fraction:
    last = metric.size - 1
    if i == j:
        return Fraction(0)
    if last in (i, j):
        return metric.budget**2
    if infinitely_apart(metric.metric, i, j):
        return (2 * metric.budget) ** 2
    return min(lower_squared(metric.metric, i, j), (2 * metric.budget) ** 2)


@_lower_squared.register
def _lower_squared_of_sum(metric: Sum, i: int, j: int) -> Fraction:
    return sum((root_below(lower_squared(part, i, j)) for part in metric.parts), Fraction(0)) ** 2


@_lower_squared.register
def _lower_squared_of_great_circle(metric: GreatCircle, i: int, j: int) -> Fraction:
    if metric.points[i] == metric.points[j]:
        return Fraction(0)
    with precision(_CIRCLE_BITS):
        return max(Fraction(0), lower(_circle(metric, i, j))) ** 2


def _circle(metric: GreatCircle, i: int, j: int) -> Any:
    half = pi() / 360
    (lat, lon), (other_lat, other_lon) = (tuple(metric.unit * v for v in metric.points[k]) for k in (i, j))
    across = (ball(lat - other_lat) * half).sin() ** 2
    along = (ball(lon - other_lon) * half).sin() ** 2
    haversine = across + (ball(lat) * 2 * half).cos() * (ball(other_lat) * 2 * half).cos() * along
    # The angle from both sine and cosine of its half, so that neither end of the range loses digits.
    sine, cosine = haversine.nonnegative_part().sqrt(), (1 - haversine).nonnegative_part().sqrt()
    return ball(metric.rate * EARTH_RADIUS_KM) * 2 * angle(sine, cosine)


def upper_distance(metric: Any, i: int, j: int) -> Fraction:
    """An exact rational at or above the distance, within 2^-150 of it."""
    if isinstance(metric, Sum):
        return sum((upper_distance(part, i, j) for part in metric.parts), Fraction(0))
    if isinstance(metric, Scaled):
        return metric.factor * upper_distance(metric.metric, i, j)
    if isinstance(metric, GreatCircle):
        with precision(_CIRCLE_BITS):
            return upper(_circle(metric, i, j))
    if isinstance(metric, WithAbsent) and metric.size - 1 not in (i, j):
        # The inner distance may be known from below only, whose root is exact all the same.
        around = 2 * metric.budget
        apart = infinitely_apart(metric.metric, i, j)
        return around if apart else min(upper_distance(metric.metric, i, j), around)
    below = root_below(lower_squared(metric, i, j))
    return below if below**2 == lower_squared(metric, i, j) else below * (1 + Fraction(1, 2**150))


def upper_squared(metric: Any, i: int, j: int) -> Fraction:
    """An exact rational at or above the squared distance: the square itself wherever `lower_squared` has it."""
    if isinstance(metric, Scaled):
        return metric.factor**2 * upper_squared(metric.metric, i, j)
    if isinstance(metric, WithAbsent | Sum | GreatCircle):
        return upper_distance(metric, i, j) ** 2
    return lower_squared(metric, i, j)


def group_budget(metric: Any, changes: Iterable[tuple[int, int]]) -> Fraction:
    """The budget spent when several people change at once: at least the sum of their distances."""
    return sum((upper_distance(metric, i, j) for i, j in changes), Fraction(0))


def root_below(square: Fraction) -> Fraction:
    """A rational at or below the square root, exact if it is rational, else within 2^-150 of it."""
    numerator, denominator = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return Fraction(numerator, denominator)
    shift = max(0, _ROOT_BITS - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def float_view(metric: Any) -> FloatView:
    """The metric as rows of floats; infinite exactly where the distance is."""
    view, known = _finite_view(metric), finite_components(metric)
    if known is None:
        return view
    marks = np.array(known, dtype=np.intp)

    def rows(start: int, stop: int) -> Floats:
        return np.where(marks[start:stop, None] != marks[None, start:], np.inf, view.rows(start, stop))

    return replace(view, rows=rows, components=marks)


@singledispatch
def _finite_view(metric: Any) -> FloatView:
    """Rows of floats, of any value where a distance is infinite."""
    raise InvalidPrivacyError(f"there are no distances for metrics of type {type(metric).__name__}.")


@_finite_view.register
def _view_of_euclidean(metric: Euclidean) -> FloatView:
    axes, unit = [_differences(axis) for axis in zip(*metric.points, strict=True)], float(metric.unit)

    def rows(start: int, stop: int) -> Floats:
        total = np.zeros((stop - start, metric.size - start))
        for axis in axes:
            apart = axis(start, stop)
            total += np.multiply(apart, apart, out=apart)
        return np.multiply(np.sqrt(total, out=total), unit, out=total)

    return FloatView(metric.size, MARGIN + len(axes) * _ROUNDING, rows)


@_finite_view.register
def _view_of_time_series(metric: TimeSeries) -> FloatView:
    axes, unit = [_differences(axis) for axis in zip(*metric.points, strict=True)], float(metric.unit)
    return FloatView(
        metric.size,
        MARGIN,
        lambda start, stop: reduce(np.maximum, (np.abs(axis(start, stop)) for axis in axes)) * unit,
    )


@_finite_view.register
def _view_of_smooth_threshold(metric: SmoothThreshold) -> FloatView:
    flat = float_view(Euclidean(metric.rationals()))
    factor, floor = float(metric.epsilon / metric.within), float(metric.epsilon)
    return FloatView(
        metric.size, 2 * flat.margin, lambda start, stop: np.maximum(flat.rows(start, stop) * factor, floor)
    )


@_finite_view.register
def _view_of_great_circle(metric: GreatCircle) -> FloatView:
    across, along = (_differences(axis) for axis in zip(*metric.points, strict=True))
    half = float(metric.unit) * math.pi / 360
    cosines = np.cos(np.array([float(metric.unit * p[0]) for p in metric.points]) * (math.pi / 180))
    radius = 2 * float(metric.rate * EARTH_RADIUS_KM)

    def rows(start: int, stop: int) -> Floats:
        products = cosines[start:stop, None] * cosines[None, start:]
        value = np.sin(across(start, stop) * half) ** 2 + products * np.sin(along(start, stop) * half) ** 2
        return np.asarray(radius * np.arcsin(np.sqrt(np.minimum(value, 1.0))))

    # Sines near 180 and cosines near 90 degrees are off by the rounding of the angle, whatever their own size.
    return FloatView(metric.size, CIRCLE_MARGIN, rows, slack=radius * 2.0**-40)


@_finite_view.register
def _view_of_matrix(metric: Matrix) -> FloatView:
    table = np.array([[float(v) for v in row] for row in metric.entries]) * float(metric.unit)
    return FloatView(metric.size, MARGIN, lambda start, stop: table[start:stop, start:])


@_finite_view.register
def _view_of_hamming(metric: Hamming) -> FloatView:
    value = float(metric.epsilon)
    return FloatView(metric.size, MARGIN, lambda start, stop: np.full((stop - start, metric.size - start), value))


@_finite_view.register
def _view_of_attributes(metric: Attributes) -> FloatView:
    codes = np.array(metric.codes, dtype=np.intp).T
    tables = [
        np.array([[0.0 if isinstance(v, str) else float(v) for v in row] for row in table]) for table in metric.tables
    ]

    def rows(start: int, stop: int) -> Floats:
        attributes = zip(codes, tables, strict=True)
        return reduce(np.add, (table[code[start:stop, None], code[None, start:]] for code, table in attributes))

    return FloatView(metric.size, MARGIN + len(tables) * _ROUNDING, rows)


@_finite_view.register
def _view_of_scaled(metric: Scaled) -> FloatView:
    inner, factor = float_view(metric.metric), float(metric.factor)

    def rows(start: int, stop: int) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            values = inner.rows(start, stop) * factor
        # Beyond the range of floats nothing is known: not a number clears no pair, also inside a sum or a minimum.
        return np.where(np.isfinite(values), values, np.nan)

    return FloatView(metric.size, 2 * inner.margin, rows, slack=2 * inner.slack * factor)


@_finite_view.register
def _view_of_sum(metric: Sum) -> FloatView:
    parts = [float_view(part) for part in metric.parts]
    margin = 2 * max(p.margin for p in parts) + len(parts) * _ROUNDING
    return FloatView(
        metric.size,
        margin,
        lambda start, stop: reduce(np.add, (part.rows(start, stop) for part in parts)),
        slack=2 * sum(p.slack for p in parts),
    )


@_finite_view.register
def _view_of_with_absent(metric: WithAbsent) -> FloatView:
    inner, away = float_view(metric.metric), float(metric.budget)
    last = metric.size - 1

    def rows(start: int, stop: int) -> Floats:
        result = np.full((stop - start, metric.size - start), away)
        if start < last:
            end = min(stop, last)
            result[: end - start, :-1] = np.minimum(inner.rows(start, end), 2 * away)
        return result

    return FloatView(metric.size, 2 * inner.margin, rows, slack=inner.slack)


def check_metric(metric: Any) -> None:
    """The triangle inequality of a matrix of any allowed size; other metrics hold by construction."""
    if not isinstance(metric, Matrix):
        return
    table = float_view(metric).rows(0, metric.size)
    slack = 1 + 2.0**-40
    for j in range(metric.size):
        through = table[j]
        excess = table > (through[:, None] + through[None, :]) * slack
        if excess.any():
            i, k = (int(v) for v in np.argwhere(excess)[0])
            unit, entries = metric.unit, metric.entries
            raise triangle_error(i, j, k, unit * entries[i][k], unit * entries[i][j], unit * entries[j][k])


def _differences(axis: Sequence[int]) -> Rows:
    """The differences of whole coordinates as floats: exact parts, one rounding."""
    high = np.array([v >> _LIMB for v in axis], dtype=np.float64)
    low = np.array([v & ((1 << _LIMB) - 1) for v in axis], dtype=np.float64)

    def rows(start: int, stop: int) -> Floats:
        apart = low[start:stop, None] - low[None, start:]
        if high.any():
            apart += 2.0**_LIMB * (high[start:stop, None] - high[None, start:])
        return np.asarray(apart)

    return rows
