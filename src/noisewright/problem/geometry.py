"""Metrics from coordinates: Euclidean, along the globe, between dates, between time series, by thresholds."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any, cast

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.fields import PackedMatrix, Rational, is_list, items, rational, whole_matrix
from noisewright.problem.metrics import (
    INFINITE,
    LARGEST_MATRIX,
    METRICS,
    Matrix,
    budget,
    budget_field,
    common_unit,
    finite_components_of,
    is_infinite,
    require_size,
)
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.records import Record, record

LARGEST_COORDINATE_BITS = 84
EARTH_RADIUS_KM = Fraction("6371.0088")


@record(error=InvalidPrivacyError)
class Coordinates(Record):
    """Points on a grid of rational unit; subclasses say how far two of them are."""

    unit: Rational = rational(above=0)
    points: PackedMatrix = whole_matrix()

    def __post_init__(self) -> None:
        require_size(len(self.points), 100_000)
        if not self.points.columns:
            raise InvalidPrivacyError("every point needs the same number of coordinates, at least one.")
        if max(abs(v).bit_length() for row in self.points for v in row) > LARGEST_COORDINATE_BITS:
            raise InvalidPrivacyError(
                "these coordinates have too many digits for their range; round them, for instance to 12 decimals."
            )

    def placed(self, rows: list[list[Fraction]], **others: Any) -> None:
        """Fill the record from rational coordinates."""
        if len({len(row) for row in rows}) > 1:
            raise InvalidPrivacyError("every point needs the same number of coordinates, at least one.")
        unit, points = common_unit(rows)
        self.construct(unit=unit, points=points, **others)

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return len(self.points)

    def rationals(self) -> list[list[Fraction]]:
        """The coordinates as they were given, scale included."""
        return [[self.unit * v for v in row] for row in self.points]


@record("euclidean", METRICS, error=InvalidPrivacyError)
class Euclidean(Coordinates):
    """Straight-line distance times `scale`: the budget for one unit of length, or one for each coordinate."""

    def __init__(self, points: Iterable[Iterable[Number]], scale: Number | Iterable[Number] = 1) -> None:
        self.placed(_scaled(_numbers(points), scale))

    def __str__(self) -> str:
        return f"Euclidean distance between {self.size} points in {len(self.points[0])} dimensions"

    def squared(self, i: int, j: int) -> Fraction:
        """The exact square of the distance."""
        return self.unit**2 * sum((a - b) ** 2 for a, b in zip(self.points[i], self.points[j], strict=True))


@record(None, METRICS, error=InvalidPrivacyError)
class Dates(Euclidean):
    """Days between two dates; `days` apart costs `epsilon`."""

    def __init__(self, dates: Iterable[date], days: Number, epsilon: Number = 1) -> None:
        given = list(dates)
        if wrong := [d for d in given if not isinstance(d, date)]:
            raise InvalidPrivacyError(f"{wrong[0]!r} is not a date; give datetime.date values.", given=wrong[0])
        rate = budget(epsilon, "epsilon") / budget(days, "days")
        self.placed([[rate * d.toordinal()] for d in given])

    def __str__(self) -> str:
        return f"days between {self.size} dates"


@record("time-series", METRICS, error=InvalidPrivacyError)
class TimeSeries(Coordinates):
    """The largest difference between two series at any time, times `scale`."""

    def __init__(self, series: Iterable[Iterable[Number]], scale: Number = 1) -> None:
        self.placed(_scaled(_numbers(series), scale))

    def __str__(self) -> str:
        return f"largest difference between {self.size} time series"

    def squared(self, i: int, j: int) -> Fraction:
        """The exact square of the distance."""
        largest = max(abs(a - b) for a, b in zip(self.points[i], self.points[j], strict=True))
        return (self.unit * largest) ** 2


@record("great-circle", METRICS, error=InvalidPrivacyError)
class GreatCircle(Coordinates):
    """Distance along the globe between (latitude, longitude) in degrees; `per_kilometre` is the budget of one."""

    rate: Rational = budget_field()

    def __init__(self, points: Iterable[Iterable[Number]], per_kilometre: Number = 1) -> None:
        self.placed(_numbers(points), rate=budget(per_kilometre, "per_kilometre"))

    def __post_init__(self) -> None:
        Coordinates.__post_init__(self)
        for i, row in enumerate(self.rationals()):
            if len(row) != 2 or abs(row[0]) > 90 or abs(row[1]) > 360:
                raise InvalidPrivacyError(f"point {i} is no (latitude, longitude) in degrees.", point=i)

    def __str__(self) -> str:
        return f"great-circle distance between {self.size} places, {show(self.rate)} per kilometre"


@record("smooth-threshold", METRICS, error=InvalidPrivacyError)
class SmoothThreshold(Coordinates):
    """Budget epsilon up to the Euclidean distance `within`, then epsilon distance / within: growing in proportion."""

    within: Rational = budget_field()
    epsilon: Rational = budget_field()

    def __init__(self, points: Iterable[Iterable[Number]], within: Number, epsilon: Number) -> None:
        self.placed(_numbers(points), within=within, epsilon=epsilon)

    def __str__(self) -> str:
        return f"budget {show(self.epsilon)} within {show(self.within)}, growing beyond, for {self.size} points"

    def squared(self, i: int, j: int) -> Fraction:
        """The exact square of the distance."""
        if i == j:
            return Fraction(0)
        apart = self.unit**2 * sum((a - b) ** 2 for a, b in zip(self.points[i], self.points[j], strict=True))
        return self.epsilon**2 * max(Fraction(1), apart / self.within**2)


@record(None, METRICS, error=InvalidPrivacyError)
class Threshold(Matrix):
    """Budget epsilon for points within a Euclidean distance of each other and none beyond: closed to a metric.

    A policy that stops protecting at a distance is no metric: what is protected step by step is
    protected over the whole way. The closure counts the steps of the shortest way; points that no
    way joins are infinitely far apart. `note` says how many pairs changed.
    """

    def __init__(self, points: Iterable[Iterable[Number]], within: Number, epsilon: Number) -> None:
        rows = _numbers(points)
        require_size(len(rows), LARGEST_MATRIX)
        limit, unit = budget(within, "within"), budget(epsilon, "epsilon")
        grid = Euclidean(rows)
        reach = limit**2
        near = [[j for j in range(grid.size) if j != i and grid.squared(i, j) <= reach] for i in range(grid.size)]
        steps = [_steps(near, i) for i in range(grid.size)]
        entries = tuple(tuple(s or 0 for s in row) for row in steps)
        joined = sum(s is not None and s > 1 for row in steps for s in row) // 2
        parted = sum(s is None for row in steps for s in row) // 2
        note = (
            f"closed to shortest paths: {joined} pairs beyond the threshold get a finite budget through points between"
            f" them, {parted} unjoined pairs may be told apart freely"
        )
        components = finite_components_of([[s is None for s in row] for row in steps])
        self.construct(unit=unit, entries=entries, note=note, finite_components=components)


def _steps(near: list[list[int]], start: int) -> list[int | None]:
    found: list[int | None] = [None] * len(near)
    found[start] = 0
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in near[here]:
            if found[there] is None:
                found[there] = (found[here] or 0) + 1
                queue.append(there)
    return found


def _numbers(points: Iterable[Iterable[Number]]) -> list[list[Fraction]]:
    wanted = "a list of coordinates for each element"
    return [
        [_coordinate(v, f"a coordinate of point {i}") for v in items(row, f"point {i}", InvalidPrivacyError, wanted)]
        for i, row in enumerate(items(points, "points", InvalidPrivacyError, wanted))
    ]


def _coordinate(value: Number, name: str) -> Fraction:
    """A float is its shortest decimal, however long: where a point lies is public, and decimals share a short unit."""
    exact = parameter(value, name)
    return Fraction(repr(float(value))) if isinstance(value, float) else exact


def _scaled(rows: list[list[Fraction]], scale: Number | Iterable[Number]) -> list[list[Fraction]]:
    if is_list(scale):
        factors = [budget(s, f"scale {k}") for k, s in enumerate(cast(Iterable[Number], scale))]
        if any(len(row) != len(factors) for row in rows):
            raise InvalidPrivacyError(f"there are {len(factors)} scales; give one, or one for each coordinate.")
        return [[v * f for v, f in zip(row, factors, strict=True)] for row in rows]
    factor = budget(cast(Number, scale), "scale")
    return [[v * factor for v in row] for row in rows]


@record(None, METRICS, error=InvalidPrivacyError)
class Graph(Matrix):
    """Shortest paths along weighted edges (first, second, budget); a tree is a graph with one path for each pair.

    Nodes that no path joins are refused, unless `unjoined="infinite"` says that they may be told apart freely: then
    edges are the secrets of a policy (Blowfish), and `note` says how many pairs are unjoined.
    """

    def __init__(
        self,
        edges: Iterable[tuple[Hashable, Hashable, Number]],
        nodes: Sequence[Hashable] | None = None,
        *,
        unjoined: str | None = None,
    ) -> None:
        given = [tuple(edge) for edge in edges]
        if wrong := [edge for edge in given if len(edge) != 3]:
            raise InvalidPrivacyError(f"the edge {wrong[0]!r} is not (first, second, budget).", edge=wrong[0])
        ends: list[Any] = [end for first, second, _ in given for end in (first, second)]
        order = list(dict.fromkeys(nodes if nodes is not None else ends))
        require_size(len(order), LARGEST_MATRIX)
        place = {node: i for i, node in enumerate(order)}
        if unknown := [end for end in ends if end not in place]:
            raise InvalidPrivacyError(f"the edge end {unknown[0]!r} is not among the nodes.", node=unknown[0])
        near: list[list[tuple[int, Fraction]]] = [[] for _ in order]
        for first, second, weight in given:
            amount = budget(cast(Number, weight), f"the budget of edge {first!r}-{second!r}")
            near[place[first]].append((place[second], amount))
            near[place[second]].append((place[first], amount))
        reached = [_shortest(near, i) for i in range(len(order))]
        if unjoined is not None and not is_infinite(unjoined, "unjoined"):
            raise InvalidPrivacyError(f'unjoined is {unjoined!r}; give "{INFINITE}", or leave it out.', given=unjoined)
        if unjoined is None and (apart := [node for node, i in place.items() if i not in reached[0]]):
            raise InvalidPrivacyError(
                f"no path joins {order[0]!r} and {apart[0]!r}; add an edge with a budget for the pair, or say"
                f' unjoined="{INFINITE}" if such pairs may be told apart freely.',
                pair=(order[0], apart[0]),
            )
        size = range(len(order))
        unit, entries = common_unit([[row.get(j, Fraction(0)) for j in size] for row in reached])
        components = finite_components_of([[j not in row for j in size] for row in reached])
        parted = sum(j not in row for row in reached for j in size) // 2
        note = f"{parted} unjoined pairs may be told apart freely" if parted else ""
        self.construct(unit=unit, entries=entries, note=note, finite_components=components)


def _shortest(near: list[list[tuple[int, Fraction]]], start: int) -> dict[int, Fraction]:
    done: dict[int, Fraction] = {}
    queue = [(Fraction(0), start)]
    while queue:
        length, here = heapq.heappop(queue)
        if here in done:
            continue
        done[here] = length
        for there, weight in near[here]:
            if there not in done:
                heapq.heappush(queue, (length + weight, there))
    return done
