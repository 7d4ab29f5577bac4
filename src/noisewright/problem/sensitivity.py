"""Every difference that one person can make to several numbers at once, as a set.

Each set is closed under changes of sign. It says three things that designs and proofs need: how many
numbers there are, how far each of them can move, and (where that describes the set) how many of them
can move together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.numbers import Number, parameter, show

LARGEST_DIMENSION = 1_000_000
MOST_POINTS = 100_000
_SMALLEST = Fraction(1, 10**100)
_LARGEST = Fraction(10**100)


@dataclass(frozen=True, slots=True, init=False)
class Box:
    """Every number may move at once, number i by at most each[i]."""

    each: tuple[Fraction, ...]
    kind: ClassVar[str] = "box"

    def __init__(self, each: Iterable[Number]) -> None:
        object.__setattr__(self, "each", _sensitivities(each, "Box"))

    def __str__(self) -> str:
        return f"all may move at once ({_range(self.each)})"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return self.each

    @property
    def together(self) -> int:
        """How many numbers can move together."""
        return len(self.each)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "each": [str(v) for v in self.each]}


@dataclass(frozen=True, slots=True, init=False)
class Disjoint:
    """One number moves at a time, number i by at most each[i]: a histogram when people are added or removed."""

    each: tuple[Fraction, ...]
    kind: ClassVar[str] = "disjoint"

    def __init__(self, each: Iterable[Number]) -> None:
        object.__setattr__(self, "each", _sensitivities(each, "Disjoint"))

    def __str__(self) -> str:
        return f"one moves at a time ({_range(self.each)})"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return self.each

    @property
    def together(self) -> int:
        """How many numbers can move together."""
        return 1

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "each": [str(v) for v in self.each]}


@dataclass(frozen=True, slots=True, init=False)
class Sparse:
    """At most `changes` of the numbers move, number i by at most each[i]."""

    changes: int
    each: tuple[Fraction, ...]
    kind: ClassVar[str] = "sparse"

    def __init__(self, changes: int, each: Iterable[Number]) -> None:
        values = _sensitivities(each, "Sparse")
        if isinstance(changes, bool) or not isinstance(changes, int) or not 1 <= changes <= len(values):
            raise InvalidQueryError(
                f"changes is {changes!r}; give how many numbers one person can move, 1 to {len(values)}.",
                changes=changes,
            )
        object.__setattr__(self, "changes", changes)
        object.__setattr__(self, "each", values)

    def __str__(self) -> str:
        return f"at most {self.changes} move ({_range(self.each)})"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return self.each

    @property
    def together(self) -> int:
        """How many numbers can move together."""
        return self.changes

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "changes": self.changes, "each": [str(v) for v in self.each]}


@dataclass(frozen=True, slots=True, init=False)
class Replace:
    """One number falls and another rises, number i by at most each[i]: a histogram when one record is replaced."""

    each: tuple[Fraction, ...]
    kind: ClassVar[str] = "replace"

    def __init__(self, each: Iterable[Number]) -> None:
        object.__setattr__(self, "each", _sensitivities(each, "Replace"))

    def __str__(self) -> str:
        return f"one falls and another rises ({_range(self.each)})"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return self.each

    @property
    def together(self) -> int:
        """How many numbers can move together."""
        return min(2, len(self.each))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "each": [str(v) for v in self.each]}


@dataclass(frozen=True, slots=True, init=False)
class L1Ball:
    """The absolute changes of all numbers add up to at most `radius`."""

    radius: Fraction
    dimension: int
    kind: ClassVar[str] = "l1-ball"

    def __init__(self, radius: Number, dimension: int) -> None:
        object.__setattr__(self, "radius", _radius(radius))
        object.__setattr__(self, "dimension", _dimension(dimension))

    def __str__(self) -> str:
        return f"absolute changes add up to at most {show(self.radius)}"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return (self.radius,) * self.dimension

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "radius": str(self.radius), "dimension": self.dimension}


@dataclass(frozen=True, slots=True, init=False)
class L2Ball:
    """The change is a vector of Euclidean length at most `radius`."""

    radius: Fraction
    dimension: int
    kind: ClassVar[str] = "l2-ball"

    def __init__(self, radius: Number, dimension: int) -> None:
        object.__setattr__(self, "radius", _radius(radius))
        object.__setattr__(self, "dimension", _dimension(dimension))

    def __str__(self) -> str:
        return f"Euclidean length of the change at most {show(self.radius)}"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return (self.radius,) * self.dimension

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "radius": str(self.radius), "dimension": self.dimension}


@dataclass(frozen=True, slots=True, init=False)
class Points:
    """The change is one of the rows, or its negative; nothing between them."""

    rows: tuple[tuple[Fraction, ...], ...]
    kind: ClassVar[str] = "points"

    def __init__(self, matrix: Iterable[Iterable[Number]]) -> None:
        rows = [_row(row, i) for i, row in enumerate(_sequence(matrix, "Points"))]
        if not rows:
            raise InvalidQueryError("Points has no rows; give one row for each difference one person can make.")
        if len(rows) > MOST_POINTS:
            raise InvalidQueryError(f"Points has {len(rows)} rows; at most {MOST_POINTS} are allowed.")
        widths = sorted({len(row) for row in rows})
        if len(widths) > 1:
            raise InvalidQueryError(
                f"the rows of Points differ in length ({widths[0]} and {widths[-1]}); make them equal."
            )
        _check_dimension(widths[0], "Points")
        if not any(any(row) for row in rows):
            raise InvalidQueryError("every entry of Points is 0: nobody changes anything, so no noise is needed.")
        object.__setattr__(self, "rows", tuple(dict.fromkeys(rows)))

    def __str__(self) -> str:
        return f"one of {len(self.rows)} listed differences"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return tuple(max(abs(v) for v in column) for column in zip(*self.rows, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.kind, "rows": [[str(v) for v in row] for row in self.rows]}


Counted = Box | Disjoint | Sparse | Replace
"""Sets of the form "so many of the numbers, each by so much"."""

SensitivitySet = Box | Disjoint | Sparse | Replace | L1Ball | L2Ball | Points
"""Every way of saying what one person can change."""

SETS: dict[str, Callable[[Mapping[str, Any]], SensitivitySet]] = {
    "box": lambda data: Box(data["each"]),
    "disjoint": lambda data: Disjoint(data["each"]),
    "sparse": lambda data: Sparse(data["changes"], data["each"]),
    "replace": lambda data: Replace(data["each"]),
    "l1-ball": lambda data: L1Ball(data["radius"], data["dimension"]),
    "l2-ball": lambda data: L2Ball(data["radius"], data["dimension"]),
    "points": lambda data: Points(data["rows"]),
}
"""How each set is read back from files."""

_Item = TypeVar("_Item")


def _sequence(values: Iterable[_Item], name: str) -> Sequence[_Item]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidQueryError(f"{name} needs a list, not {type(values).__name__}; write {name}([1, 2, 3]).")
    return list(values)


def _row(row: Iterable[Number], i: int) -> tuple[Fraction, ...]:
    values = tuple(parameter(v, f"row {i + 1} of Points") for v in _sequence(row, "a row of Points"))
    for value in values:
        if value and not _SMALLEST <= abs(value) <= _LARGEST:
            raise InvalidQueryError(f"row {i + 1} of Points has an entry outside 1e-100 to 1e100; use another unit.")
    return values


def _sensitivities(each: Iterable[Number], name: str) -> tuple[Fraction, ...]:
    values = tuple(parameter(v, f"sensitivity {i + 1}") for i, v in enumerate(_sequence(each, name)))
    _check_dimension(len(values), name)
    for i, value in enumerate(values):
        if value < 0:
            raise InvalidQueryError(
                f"sensitivity {i + 1} is {show(value)}; give the most that one person can move number {i + 1},"
                " 0 or more.",
                sensitivity=value,
                place=i,
            )
        if value and not _SMALLEST <= value <= _LARGEST:
            raise InvalidQueryError(
                f"sensitivity {i + 1} is outside 1e-100 to 1e100; measure number {i + 1} in another unit.",
                sensitivity=value,
                place=i,
            )
    if not any(values):
        raise InvalidQueryError("every sensitivity is 0: nobody changes anything, so no noise is needed.")
    return values


def _check_dimension(count: int, name: str) -> None:
    if not count:
        raise InvalidQueryError(f"{name} is empty; give one sensitivity for each number.")
    if count > LARGEST_DIMENSION:
        raise InvalidQueryError(f"{name} has {count} numbers; at most {LARGEST_DIMENSION} are allowed.")


def _radius(radius: Number) -> Fraction:
    value = parameter(radius, "radius")
    if value <= 0:
        raise InvalidQueryError(f"radius is {show(value)}; it must be positive.", radius=value)
    if not _SMALLEST <= value <= _LARGEST:
        raise InvalidQueryError("radius is outside 1e-100 to 1e100; use another unit.", radius=value)
    return value


def _dimension(dimension: int) -> int:
    if isinstance(dimension, bool) or not isinstance(dimension, int) or not 1 <= dimension <= LARGEST_DIMENSION:
        raise InvalidQueryError(
            f"dimension is {dimension!r}; give how many numbers there are, 1 to {LARGEST_DIMENSION}.",
            dimension=dimension,
        )
    return dimension


def _range(each: tuple[Fraction, ...]) -> str:
    low, high = min(each), max(each)
    return f"each by at most {show(low)}" if low == high else f"by at most {show(low)} to {show(high)}"
