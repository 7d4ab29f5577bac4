"""Every difference that one person can make to several numbers at once, as a set.

Each set is closed under changes of sign. It says three things that designs and proofs need: how many
numbers there are, how far each of them can move, and (where that describes the set) how many of them
can move together.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import (
    Many,
    Matrix,
    Rational,
    Rationals,
    Whole,
    derived,
    items,
    one_of,
    rational,
    rationals,
    tuple_of,
    whole,
)
from noisewright.problem.numbers import Number, sensitivity_value, show
from noisewright.problem.privacy import DECLARED, REPLACE
from noisewright.problem.records import Family, Record, keep, record

LARGEST_DIMENSION = 1_000_000
MOST_POINTS = 100_000
_SMALLEST = Fraction(1, 10**100)
_MOST_LEVELS = 8
_LARGEST = Fraction(10**100)

SETS: Family[Any] = Family(
    "the set of differences one person can make: Box([...]) if all numbers may move at once, Disjoint([...]) for a"
    " histogram, Sparse, Replace, L1Ball, L2Ball, LpBall, Points, Groups",
    InvalidQueryError,
)
"""Every set by the name it has in files."""


_HINT = ": the most that one person can move that number (use another unit beyond)"


def _extents() -> Any:
    limits = {"at_least": _SMALLEST, "at_most": _LARGEST, "or_zero": True}
    return rationals(raised=True, **limits, hint=_HINT, each="sensitivity")


class _Set(Record):
    """What every set has."""

    __slots__ = ()
    neighbours: ClassVar[str] = DECLARED

    @property
    def kind(self) -> str:
        """Its name in files."""
        return str(self.CARD.kind)

    order: ClassVar[int | None] = None
    """Of which norm it is the ball."""

    @property
    @abstractmethod
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""

    def repeats(self, moving: int) -> int | None:
        """How many changes in a row fill the ball, or the box of the extents of so many moving numbers.

        None where they do not, or where one number at a time says as much.
        """
        return None

    @property
    def smallest(self) -> tuple[Fraction, ...]:
        """The smallest difference of each number that the set tells from none; 0 where it cannot move."""
        return self.extents

    @property
    def fractional(self) -> list[int]:
        """Places of the numbers whose listed differences are no whole numbers."""
        return [i for i, extent in enumerate(self.extents) if extent.denominator > 1]


class _Each(_Set):
    """What the sets with one extent for each number share."""

    __slots__ = ()
    each: Rationals
    moves: ClassVar[str]
    """How the numbers move, in words."""
    most: ClassVar[int] = LARGEST_DIMENSION
    """The most of them that can move together, whatever their count."""

    def __post_init__(self) -> None:
        check_dimension(len(self.each), type(self).__name__)
        if not any(self.each):
            raise InvalidQueryError("every sensitivity is 0: nobody changes anything, so no noise is needed.")

    @property
    def extents(self) -> tuple[Fraction, ...]:
        return self.each

    @property
    def together(self) -> int:
        """How many numbers can move together."""
        return min(self.most, len(self.each))

    def repeats(self, moving: int) -> int | None:
        return math.ceil(moving / self.together)

    def __str__(self) -> str:
        low, high = show(min(self.each)), show(max(self.each))
        return f"{self.moves} ({f'each by at most {low}' if low == high else f'by at most {low} to {high}'})"


@record("box", SETS, error=InvalidQueryError)
class Box(_Each):
    """Every number may move at once, number i by at most each[i].

    >>> nw.Box([1, 120]).each
    (Fraction(1, 1), Fraction(120, 1))
    >>> print(nw.Box([1, 120]))
    all may move at once (by at most 1 to 120)
    """

    each: Rationals = _extents()
    moves: ClassVar[str] = "all may move at once"


@record("disjoint", SETS, error=InvalidQueryError)
class Disjoint(_Each):
    """One number moves at a time, number i by at most each[i]: a histogram when people are added or removed.

    >>> print(nw.Disjoint([1, 24]))
    one moves at a time (by at most 1 to 24)
    """

    each: Rationals = _extents()
    moves: ClassVar[str] = "one moves at a time"
    most: ClassVar[int] = 1

    def repeats(self, moving: int) -> None:
        return None


@record("sparse", SETS, error=InvalidQueryError)
class Sparse(_Each):
    """At most `changes` of the numbers move, number i by at most each[i].

    >>> print(nw.Sparse(2, [1, 1, 1]))
    at most 2 move (each by at most 1)
    """

    changes: Whole = whole()
    each: Rationals = _extents()

    def __post_init__(self) -> None:
        _Each.__post_init__(self)
        if not 1 <= self.changes <= len(self.each):
            raise InvalidQueryError(
                f"changes is {self.changes}; give how many numbers one person can move, 1 to {len(self.each)}.",
                changes=self.changes,
            )

    @property
    def moves(self) -> str:  # type: ignore[override]  # a class variable elsewhere
        """How the numbers move, in words."""
        return f"at most {self.changes} move"

    @property
    def together(self) -> int:
        return self.changes


@record("replace", SETS, error=InvalidQueryError)
class Replace(_Each):
    """One number falls and another rises, number i by at most each[i]: a histogram when one record is replaced.

    >>> print(nw.Replace([1, 1, 1]))
    one falls and another rises (each by at most 1)
    """

    each: Rationals = _extents()
    moves: ClassVar[str] = "one falls and another rises"
    most: ClassVar[int] = 2
    neighbours: ClassVar[str] = REPLACE

    def repeats(self, moving: int) -> int:
        # What rises must fall again.
        return moving


@record(error=InvalidQueryError)
class _Ball(_Set):
    """What the balls share: a radius in so many dimensions."""

    radius: Rational = rational(raised=True, at_least=_SMALLEST, at_most=_LARGEST, hint="; use another unit beyond")
    dimension: Whole = whole(at_least=1, at_most=LARGEST_DIMENSION, hint=": how many numbers there are")

    @property
    def extents(self) -> tuple[Fraction, ...]:
        return (self.radius,) * self.dimension

    @property
    def smallest(self) -> tuple[Fraction, ...]:
        """Rounding errors of all numbers add up, so each gets its share of the radius."""
        return (self.radius / self.dimension,) * self.dimension

    @property
    def fractional(self) -> list[int]:
        return []

    def repeats(self, moving: int) -> int:
        return 1


@record("l1-ball", SETS, error=InvalidQueryError)
class L1Ball(_Ball):
    """The absolute changes of all numbers add up to at most `radius`.

    >>> print(nw.L1Ball(2, dimension=10))
    absolute changes add up to at most 2
    """

    order: ClassVar[int] = 1

    def __str__(self) -> str:
        return f"absolute changes add up to at most {show(self.radius)}"


@record("l2-ball", SETS, error=InvalidQueryError)
class L2Ball(_Ball):
    """The change is a vector of Euclidean length at most `radius`.

    >>> print(nw.L2Ball(1, dimension=10))
    Euclidean length of the change at most 1
    """

    order: ClassVar[int] = 2

    def __str__(self) -> str:
        return f"Euclidean length of the change at most {show(self.radius)}"


@record("lp-ball", SETS, error=InvalidQueryError)
class LpBall(_Ball):
    """The change has an l_p norm of at most `radius`: its `power`-th powers add up to at most that of the radius.

    >>> print(nw.LpBall(1, dimension=10, power=3))
    l_3 norm of the change at most 1
    """

    power: Rational = rational(at_least=1, at_most=100, hint=" (2 is the Euclidean length)")

    @property
    def order(self) -> Fraction:  # type: ignore[override]  # a class variable elsewhere
        """Of which norm it is the ball."""
        return self.power

    def __str__(self) -> str:
        return f"l_{show(self.power)} norm of the change at most {show(self.radius)}"


@record("points", SETS, error=InvalidQueryError)
class Points(_Set):
    """The change is one of the rows, or its negative; nothing between them.

    >>> print(nw.Points([[1, 3], [2, -1]]))
    one of 2 listed differences
    """

    rows: Matrix = tuple_of(tuple_of(rational()), least=1, most=MOST_POINTS)
    extents: tuple[Fraction, ...] = derived()
    smallest: tuple[Fraction, ...] = derived()

    def __init__(self, matrix: Iterable[Iterable[Number]]) -> None:
        given = items(matrix, "Points", InvalidQueryError, "a list of rows, such as [[1, 2], [0, 3]]")
        self.construct(rows=[_row(row, f"row {i + 1} of Points") for i, row in enumerate(given)])

    def __post_init__(self) -> None:
        widths = sorted({len(row) for row in self.rows})
        if len(widths) > 1:
            raise InvalidQueryError(
                f"the rows of Points differ in length ({widths[0]} and {widths[-1]}); make them equal."
            )
        check_dimension(widths[0], "Points")
        if not any(any(row) for row in self.rows):
            raise InvalidQueryError("every entry of Points is 0: nobody changes anything, so no noise is needed.")
        columns = [[abs(v) for v in column] for column in zip(*self.rows, strict=True)]
        least = tuple(min((v for v in column if v), default=Fraction(0)) for column in columns)
        keep(self, rows=tuple(dict.fromkeys(self.rows)), extents=tuple(map(max, columns)), smallest=least)

    def __str__(self) -> str:
        return f"one of {len(self.rows)} listed differences"

    @property
    def fractional(self) -> list[int]:
        columns = zip(*self.rows, strict=True)
        return [i for i, column in enumerate(columns) if any(v.denominator > 1 for v in column)]


@record("groups", SETS, error=InvalidQueryError)
class Groups(_Set):
    """One person changes at most `at_most` of the groups, in each of them by a difference of that group's set.

    The numbers of the groups follow one another. Groups of groups are allowed: with `at_most` the number of
    groups it is the product of the sets.

    >>> print(nw.Groups([nw.Box([1, 30])] * 4, at_most=1))
    at most 1 of 4 groups change, inside a group: all may move at once (by at most 1 to 30)
    """

    sets: Many[Any] = tuple_of(one_of(SETS), least=1)
    at_most: Whole = whole(at_least=1, hint=": how many groups one person can change")

    def __post_init__(self) -> None:
        if self.at_most > len(self.sets):
            raise InvalidQueryError(
                f"at_most is {self.at_most}; give how many of the {len(self.sets)} groups one person can change.",
                at_most=self.at_most,
            )
        if self.levels > _MOST_LEVELS:
            raise InvalidQueryError(
                f"groups hold groups {self.levels} levels deep; at most {_MOST_LEVELS} are allowed. Put the sets of"
                " inner groups beside each other."
            )
        check_dimension(sum(len(part.extents) for part in self.sets), "Groups")

    def __str__(self) -> str:
        kinds = list(dict.fromkeys(map(str, self.sets)))
        inside = kinds[0] if len(kinds) == 1 else "their own sets"
        return f"at most {self.at_most} of {len(self.sets)} groups change, inside a group: {inside}"

    @property
    def extents(self) -> tuple[Fraction, ...]:
        return tuple(chain.from_iterable(part.extents for part in self.sets))

    @property
    def smallest(self) -> tuple[Fraction, ...]:
        return tuple(chain.from_iterable(part.smallest for part in self.sets))

    @property
    def fractional(self) -> list[int]:
        return [start + i for start, part in self.placed() for i in part.fractional]

    @property
    def levels(self) -> int:
        """How deep groups hold groups: 1 where none does."""
        return 1 + max(part.levels if isinstance(part, Groups) else 0 for part in self.sets)

    def placed(self) -> Iterator[tuple[int, SensitivitySet]]:
        """Each group with the place of its first number."""
        start = 0
        for part in self.sets:
            yield start, part
            start += len(part.extents)


Counted = Box | Disjoint | Sparse | Replace
"""Sets of the form "so many of the numbers, each by so much"."""

NormBall = L1Ball | L2Ball | LpBall
"""Every change up to a length."""

SensitivitySet = Box | Disjoint | Sparse | Replace | L1Ball | L2Ball | LpBall | Points | Groups
"""Every way of saying what one person can change."""


def _row(row: Iterable[Number], name: str) -> tuple[Fraction, ...]:
    values = tuple(sensitivity_value(v, name) for v in items(row, name, InvalidQueryError, "a list such as [1, 2, 3]"))
    if any(value and not _SMALLEST <= abs(value) <= _LARGEST for value in values):
        raise InvalidQueryError(f"{name} has an entry outside 1e-100 to 1e100; use another unit.")
    return values


def check_dimension(count: int, name: str) -> None:
    """Refuse no numbers, and too many."""
    if not count:
        raise InvalidQueryError(f"{name} is empty; give one sensitivity for each number.")
    if count > LARGEST_DIMENSION:
        raise InvalidQueryError(f"{name} has {count} numbers; at most {LARGEST_DIMENSION} are allowed.")
