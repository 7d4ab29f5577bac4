"""How hard it must be to tell one element of a finite universe from another: metrics as frozen data.

The distance d(i, j) is the budget for telling i from j: if one person's element changes from i to
j, no outcome becomes more than e^d(i, j) times likelier. Entries are exact: whole numbers times one
rational unit, or the square root of such a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.records import Family, Record, keep, record

Codes: TypeAlias = fields.Spec[Iterable[Iterable[int]], tuple[tuple[int, ...], ...]]
Tables: TypeAlias = fields.Spec[Iterable[Iterable[Iterable[Number]]], tuple[tuple[tuple[Fraction, ...], ...], ...]]

LARGEST_MATRIX = 2_000
_CHECKED_AT_BIRTH = 128
_ROUNDING = Fraction(1, 2**40)
_LARGEST_DENOMINATOR_BITS = 900
"""Floats reach a little farther than 2^1000; distances times this stay below."""


METRICS: Family[Any] = Family(
    "a metric such as Euclidean(points), Matrix(distances), Hamming(n, epsilon) …", InvalidPrivacyError
)
"""Every metric by the name it has in files."""


def budget(value: Number, name: str) -> Fraction:
    """A positive budget."""
    return budget_field().read(value, name, InvalidPrivacyError)  # type: ignore[no-any-return]  # a rational


def budget_field() -> fields.Rational:
    """A positive budget."""
    return fields.rational(at_least=Fraction(1, 10**30), at_most=10**30, hint=": a budget is positive")


@record("matrix", METRICS, error=InvalidPrivacyError)
class Matrix(Record):
    """Any distances, as a square of numbers; distance(i, j) is `unit * entries[i][j]`.

    Valid for: up to 2,000 elements. Refuses what is no metric and names the points at fault; a
    triangle may be off by the rounding of floats (2^-40 of its long side), since proofs use the
    entries as they are. Above 128 elements triangles are checked when a design starts.
    """

    unit: fields.Rational = fields.rational(above=0)
    entries: fields.PackedMatrix = fields.whole_matrix()
    note: fields.Text = fields.text()

    def __init__(self, distances: Iterable[Iterable[Number]], *, note: str = "") -> None:
        rows = [
            [_distance(v, i, j) for j, v in enumerate(row)]
            for i, row in enumerate(fields.items(distances, "distances", InvalidPrivacyError))
        ]
        if any(len(row) != len(rows) for row in rows):
            raise InvalidPrivacyError(f"distances has {len(rows)} rows, not all of that length; give a square matrix.")
        unit, entries = common_unit(rows)
        self.born(unit=unit, entries=entries, note=note)

    def __post_init__(self) -> None:
        require_size(len(self.entries), LARGEST_MATRIX)
        if self.entries.columns != len(self.entries):
            raise InvalidPrivacyError("distances are a square matrix.")
        check_entries(self.entries)
        if len(self.entries) <= _CHECKED_AT_BIRTH:
            check_triangles(self.entries, self.unit)

    @classmethod
    def from_function(cls, universe: Sequence[Any], distance: Callable[[Any, Any], Number]) -> Matrix:
        """The distances that a function gives for every ordered pair of a universe."""
        return cls([[distance(u, v) for v in universe] for u in universe])

    def __str__(self) -> str:
        return f"distances of {self.size} elements{f' ({self.note})' if self.note else ''}"

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


@record("attributes", METRICS, error=InvalidPrivacyError)
class Attributes(Record):
    """A sum over attributes of a small table: distance(u, v) = sum of tables[k][u_k][v_k]."""

    codes: Codes = fields.tuple_of(fields.wholes())
    tables: Tables = fields.tuple_of(fields.tuple_of(fields.tuple_of(fields.rational())))
    note: str = fields.derived()

    def __post_init__(self) -> None:
        tables = [Matrix(t) for t in self.tables]
        require_size(len(self.codes))
        for row in self.codes:
            if len(row) != len(tables) or any(not 0 <= c < t.size for c, t in zip(row, tables, strict=True)):
                raise InvalidPrivacyError("every element needs one known value for each attribute.", element=row)
        if not hasattr(self, "note"):
            keep(self, note="")

    def __str__(self) -> str:
        return f"budgets for {len(self.tables)} attributes of {self.size} elements"

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return len(self.codes)


@record(None, METRICS, error=InvalidPrivacyError)
class PerAttribute(Attributes):
    """A budget for each attribute: the sum of budgets[k] over the attributes in which two elements differ."""

    def __init__(self, universe: Iterable[Sequence[Hashable]], budgets: Iterable[Number]) -> None:
        amounts = [
            budget(b, f"budget {k}") for k, b in enumerate(fields.items(budgets, "budgets", InvalidPrivacyError))
        ]
        codes, values = encode(universe, len(amounts))
        pairs = zip(amounts, values, strict=True)
        self.born(codes=codes, tables=[[[0 if a == b else amount for b in v] for a in v] for amount, v in pairs])


@record(None, METRICS, error=InvalidPrivacyError)
class PerValue(Attributes):
    """A budget for each value: the smaller one of two differing values, summed over attributes.

    With three or more values that is no metric (a detour through the most protected value is
    shorter); the detour is then what counts, and `note` says so. `both=True` adds the two budgets
    instead, which is always a metric.
    """

    def __init__(
        self,
        universe: Iterable[Sequence[Hashable]],
        budgets: Sequence[Mapping[Any, Number]],
        *,
        both: bool = False,
    ) -> None:
        codes, values = encode(universe, len(budgets))
        tables, changed = [], 0
        for k, (known, given) in enumerate(zip(values, budgets, strict=True)):
            if missing := [v for v in known if v not in given]:
                raise InvalidPrivacyError(
                    f"attribute {k} has no budget for the value {missing[0]!r}.", value=missing[0]
                )
            amounts = [budget(given[v], f"budget of {v!r}") for v in known]
            detour = 2 * min(amounts)
            changed += sum(not both and min(a, b) > detour for i, a in enumerate(amounts) for b in amounts[:i])
            apart = [[a + b if both else min(a, b, detour) for b in amounts] for a in amounts]
            tables.append([[0 if i == j else d for j, d in enumerate(row)] for i, row in enumerate(apart)])
        note = f"{changed} pairs of values were brought closer by a detour through a more protected value"
        self.born(codes=codes, tables=tables)
        keep(self, note=note if changed else "")


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


def encode(universe: Iterable[Sequence[Hashable]], attributes: int) -> tuple[list[tuple[int, ...]], list[list[Any]]]:
    """Values of each attribute as numbers, in order of appearance."""
    rows = [tuple(row) for row in fields.items(universe, "universe", InvalidPrivacyError)]
    require_size(len(rows))
    for row in rows:
        if len(row) != attributes:
            raise InvalidPrivacyError(
                f"the element {row!r} has {len(row)} values for {attributes} budgets; give one for each attribute.",
                element=row,
            )
    values = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    places = [{v: c for c, v in enumerate(known)} for known in values]
    return [tuple(p[v] for p, v in zip(places, row, strict=True)) for row in rows], values


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


def check_triangles(entries: Iterable[tuple[int, ...]], unit: Fraction) -> None:
    """The triangle inequality for every three points, or an error that names them."""
    entries = tuple(entries)
    size = len(entries)
    slack = 1 + _ROUNDING
    for j in range(size):
        through = entries[j]
        for i in range(size):
            if i != j:
                start, row = through[i], entries[i]
                longest = max(range(size), key=lambda k: row[k] - through[k])
                if row[longest] > (start + through[longest]) * slack:
                    raise triangle_error(i, j, longest, *(unit * v for v in (row[longest], start, through[longest])))


def triangle_error(i: int, j: int, k: int, long: Fraction, first: Fraction, second: Fraction) -> InvalidPrivacyError:
    """Names the three points of a violated triangle."""
    return InvalidPrivacyError(
        f"the triangle inequality fails for the points {i}, {j}, {k}: d({i},{k}) = {show(long)} exceeds d({i},{j}) +"
        f" d({j},{k}) = {show(first + second)}. Lower d({i},{k}), or use shortest paths (Graph).",
        points=(i, j, k),
    )


def _distance(value: Number, i: int, j: int) -> Fraction:
    exact = parameter(value, f"the distance from {i} to {j}")
    if exact < 0:
        raise InvalidPrivacyError(f"the distance from {i} to {j} is {show(exact)}; it cannot be negative.", pair=(i, j))
    if exact:
        budget(exact, f"the distance from {i} to {j}")
    return exact
