"""How hard it must be to tell one element of a finite universe from another: budgets, and metrics as frozen data.

The distance d(i, j) is the budget for telling i from j: if one person's element changes from i to
j, no outcome becomes more than e^d(i, j) times likelier. Entries are exact: whole numbers times one
rational unit, or the square root of such a number.

Where d(i, j) is infinite nothing is guaranteed. By the triangle inequality being at a finite distance is an
equivalence: such a universe falls into *finite components*, and an infinite distance is one between two of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.records import Family, Record, record

INFINITE: Final = "infinite"
"""The budget of two elements that may be told apart freely.

A word and no number: a computed float that overflowed would silently take all protection away.
"""

Budget: TypeAlias = Fraction | str
"""A positive rational, or `INFINITE`."""


def budget(value: Number, name: str) -> Fraction:
    """A positive budget."""
    return budget_field().read(value, name, InvalidPrivacyError)  # type: ignore[no-any-return]  # a rational


def budget_field() -> fields.Rational:
    """A positive budget."""
    return fields.rational(at_least=Fraction(1, 10**30), at_most=10**30, hint=": a budget is positive")


def is_infinite(value: Any, name: str) -> bool:
    """Whether the word was given; an infinite float is refused, with the word."""
    if isinstance(value, float) and math.isinf(value):
        raise InvalidPrivacyError(
            f'{name} is {value}; write "{INFINITE}" where two elements may be told apart freely.', given=value
        )
    return isinstance(value, str) and value.strip().lower() == INFINITE


def any_budget(value: Number, name: str) -> Budget:
    """A positive budget, or the word."""
    return INFINITE if is_infinite(value, name) else budget(value, name)


def any_distance(value: Number, name: str) -> Budget:
    """A distance: 0, a positive budget, or the word."""
    if is_infinite(value, name):
        return INFINITE
    exact = parameter(value, name)
    if exact < 0:
        raise InvalidPrivacyError(f"{name} is {show(exact)}; it cannot be negative.", given=exact)
    return budget(exact, name) if exact else exact


def distance_field() -> fields.Spec[Number, Budget]:
    """A distance; in files a rational, or the word."""

    def load(plain: object) -> Budget:
        return INFINITE if plain == INFINITE else fields.exact_text(plain)

    return fields.Spec(lambda value, name, error: any_distance(value, name), str, load)


def smaller(first: Budget, second: Budget) -> Budget:
    """The smaller one of two budgets."""
    if isinstance(first, str) or isinstance(second, str):
        return second if isinstance(first, str) else first
    return min(first, second)


def added(first: Budget, second: Budget) -> Budget:
    """Two budgets together: infinite if one of them is."""
    if isinstance(first, str) or isinstance(second, str):
        return INFINITE
    return first + second


Components: TypeAlias = tuple[int, ...]
MaybeComponents: TypeAlias = fields.Spec[Iterable[int] | None, Components | None]

LARGEST_MATRIX = 2_000
_CHECKED_AT_BIRTH = 128
_ROUNDING = Fraction(1, 2**40)
_LARGEST_DENOMINATOR_BITS = 900
"""Floats reach a little farther than 2^1000; distances times this stay below."""


METRICS: Family[Any] = Family(
    "a metric such as Euclidean(points), Matrix(distances), Hamming(n, epsilon) …", InvalidPrivacyError
)
"""Every metric by the name it has in files."""


@record("matrix", METRICS, error=InvalidPrivacyError)
class Matrix(Record):
    """Any distances, as a square of numbers; distance(i, j) is `unit * entries[i][j]`, or "infinite".

    `finite_components` numbers the component of each element in order of appearance, or is None where all distances
    are finite; between components entries are 0, so that whoever overlooked them would protect too much.
    Valid for: up to 2,000 elements. Refuses what is no metric and names the points at fault; a
    triangle may be off by the rounding of floats (2^-40 of its long side), since proofs use the
    entries as they are. Above 128 elements triangles are checked when a design starts.
    """

    unit: fields.Rational = fields.rational(above=0)
    entries: fields.PackedMatrix = fields.whole_matrix()
    note: fields.Text = fields.text()
    finite_components: MaybeComponents = fields.optional(fields.wholes(at_least=0), key="islands", absent=None)

    def __init__(self, distances: Iterable[Iterable[Number]], *, note: str = "") -> None:
        rows = [
            [any_distance(v, f"the distance from {i} to {j}") for j, v in enumerate(row)]
            for i, row in enumerate(fields.items(distances, "distances", InvalidPrivacyError))
        ]
        if any(len(row) != len(rows) for row in rows):
            raise InvalidPrivacyError(f"distances has {len(rows)} rows, not all of that length; give a square matrix.")
        unit, entries = common_unit([[Fraction(0) if isinstance(v, str) else v for v in row] for row in rows])
        components = finite_components_of([[isinstance(v, str) for v in row] for row in rows])
        self.construct(unit=unit, entries=entries, note=note, finite_components=components)

    def __post_init__(self) -> None:
        require_size(len(self.entries), LARGEST_MATRIX)
        if self.entries.columns != len(self.entries):
            raise InvalidPrivacyError("distances are a square matrix.")
        check_entries(self.entries)
        check_finite_components(self.finite_components, self.entries)
        if len(self.entries) <= _CHECKED_AT_BIRTH:
            check_triangles(self.entries, self.unit, self.finite_components)

    @classmethod
    def from_function(cls, universe: Sequence[Any], distance: Callable[[Any, Any], Number]) -> Matrix:
        """The distances that a function gives for every ordered pair of a universe."""
        return cls([[distance(u, v) for v in universe] for u in universe])

    def __str__(self) -> str:
        apart = f", infinite between {max(self.finite_components) + 1} components" if self.finite_components else ""
        return f"distances of {self.size} elements{apart}{f' ({self.note})' if self.note else ''}"

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return len(self.entries)


@record("hamming", METRICS, error=InvalidPrivacyError)
class Hamming(Record):
    """The same budget for every pair: ordinary epsilon-differential privacy."""

    size: fields.Whole = fields.whole(at_least=1, at_most=10**6, hint=": how many elements the universe has")
    epsilon: fields.Rational = budget_field()

    def __str__(self) -> str:
        return f"the same budget {show(self.epsilon)} for every pair of {self.size} elements"


@record("sum", METRICS, error=InvalidPrivacyError)
class Sum(Record):
    """Budgets that are spent one after the other: the sum of metrics over the same universe."""

    parts: fields.Many[Any] = fields.tuple_of(fields.one_of(METRICS))

    def __post_init__(self) -> None:
        if not self.parts or len({m.size for m in self.parts}) > 1:
            sizes = ", ".join(str(m.size) for m in self.parts) or "none"
            raise InvalidPrivacyError(f"metrics over the same universe can be added; these have sizes {sizes}.")

    def __str__(self) -> str:
        return "sum of " + " and ".join(str(p) for p in self.parts)

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return int(self.parts[0].size)


@record("scaled", METRICS, error=InvalidPrivacyError)
class Scaled(Record):
    """A share, or a multiple, of another metric."""

    metric: Any = fields.one_of(METRICS)
    factor: fields.Rational = budget_field()

    def __str__(self) -> str:
        return f"{show(self.factor)} times {self.metric}"

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return int(self.metric.size)


@record("with-absent", METRICS, error=InvalidPrivacyError)
class WithAbsent(Record):
    """A universe with one more, last element: not being there at all, `budget` away from everyone.

    For neighbours that come and go instead of changing. Two elements are never farther apart than
    leaving and coming back, twice the budget.
    """

    metric: Any = fields.one_of(METRICS)
    budget: fields.Rational = budget_field()

    def __str__(self) -> str:
        return f"{self.metric}, or absent with budget {show(self.budget)}"

    @property
    def size(self) -> int:
        """How many elements the universe has, absence included."""
        return int(self.metric.size) + 1


def require_size(size: int, largest: int = 10**6) -> None:
    """Refuse an empty or far too large universe."""
    if not 1 <= size <= largest:
        raise InvalidPrivacyError(
            f"the universe has {size} elements; it needs at least one, and at most {largest} here.", size=size
        )


def common_unit(rows: list[list[Fraction]]) -> tuple[Fraction, tuple[tuple[int, ...], ...]]:
    """Rationals as whole numbers times one unit."""
    denominator = math.lcm(*{v.denominator for row in rows for v in row})
    if denominator.bit_length() > _LARGEST_DENOMINATOR_BITS:
        raise InvalidPrivacyError("these numbers have no common denominator of reasonable size; round them first.")
    whole = tuple(tuple(v.numerator * (denominator // v.denominator) for v in row) for row in rows)
    return Fraction(1, denominator), whole


def check_entries(entries: Iterable[tuple[int, ...]]) -> None:
    """Zero on the diagonal and symmetric, or an error that names the place."""
    entries = tuple(entries)
    for i, row in enumerate(entries):
        if row[i]:
            raise InvalidPrivacyError(f"the distance of element {i} to itself is not 0.", pair=(i, i))
        for j in range(i):
            if row[j] != entries[j][i]:
                raise InvalidPrivacyError(
                    f"the distance from {j} to {i} differs from the one back; a metric is symmetric.", pair=(j, i)
                )


def finite_components_of(infinite: Sequence[Sequence[bool]]) -> Components | None:
    """The finite component of each element from which distances are infinite; None if none is.

    Raises InvalidPrivacyError, with the points, where a finite way joins two elements that are said to be infinitely
    far apart, or where only one direction is.
    """
    if not any(map(any, infinite)):
        return None
    check_entries(tuple(map(int, row)) for row in infinite)
    found: dict[int, int] = {}
    for i, row in enumerate(infinite):
        first = next((j for j in range(i + 1) if not row[j]), i)
        found[i] = found[first] if first < i else len(set(found.values()))
    if any(apart != (found[i] != found[j]) for i, row in enumerate(infinite) for j, apart in enumerate(row)):
        raise _joined_by_a_finite_way(infinite)
    return tuple(found.values())


def _joined_by_a_finite_way(infinite: Sequence[Sequence[bool]]) -> InvalidPrivacyError:
    size = range(len(infinite))
    ways = ((a, k, b) for a in size for b in size for k in size)
    a, k, b = next((a, k, b) for a, k, b in ways if infinite[a][b] and not infinite[a][k] and not infinite[k][b])
    return InvalidPrivacyError(
        f"the triangle inequality fails for the points {a}, {k}, {b}: d({a},{b}) is infinite, but the way"
        f" through {k} is not. Lower d({a},{b}), or use shortest paths (Graph).",
        points=(a, k, b),
    )


def members(components: Components | None, size: int) -> list[list[int]]:
    """The elements of each component."""
    found: dict[int, list[int]] = {}
    for i, component in enumerate(components or (0,) * size):
        found.setdefault(component, []).append(i)
    return list(found.values())


def check_finite_components(components: Components | None, entries: Iterable[tuple[int, ...]]) -> None:
    """One component for each element, at least two of them, numbered as they appear, with zeros between them."""
    if components is None:
        return
    rows = tuple(entries)
    order = list(dict.fromkeys(components))
    if len(components) != len(rows) or order != list(range(len(order))) or len(order) < 2:
        raise InvalidPrivacyError("islands number the finite component of each element, from 0 in order of appearance.")
    for i, row in enumerate(rows):
        if any(v and components[i] != components[j] for j, v in enumerate(row)):
            raise InvalidPrivacyError("elements of different finite components have no finite distance.", element=i)


def check_triangles(entries: Iterable[tuple[int, ...]], unit: Fraction, components: Components | None = None) -> None:
    """The triangle inequality for every three points of a component, or an error that names them."""
    whole = tuple(entries)
    slack = 1 + _ROUNDING
    for places in members(components, len(whole)):
        size, part = len(places), [[whole[i][k] for k in places] for i in places]
        for j in range(size):
            through = part[j]
            for i in range(size):
                if i != j:
                    start, row = through[i], part[i]
                    longest = max(range(size), key=lambda k: row[k] - through[k])
                    if row[longest] > (start + through[longest]) * slack:
                        points = (places[i], places[j], places[longest])
                        raise triangle_error(*points, *(unit * v for v in (row[longest], start, through[longest])))


def triangle_error(i: int, j: int, k: int, long: Fraction, first: Fraction, second: Fraction) -> InvalidPrivacyError:
    """Names the three points of a violated triangle."""
    return InvalidPrivacyError(
        f"the triangle inequality fails for the points {i}, {j}, {k}: d({i},{k}) = {show(long)} exceeds d({i},{j}) +"
        f" d({j},{k}) = {show(first + second)}. Lower d({i},{k}), or use shortest paths (Graph).",
        points=(i, j, k),
    )
