"""Workloads: many linear questions about one table of counts, kept in the form in which they were asked, and named."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product
from typing import Any, ClassVar, TypeAlias, overload

from noisewright.problem import fields
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.linear import over_denominators, rational_rows
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.privacy import ADD_REMOVE, REPLACE
from noisewright.problem.queries import QUERIES
from noisewright.problem.records import Family, Record, record


class QuestionNames(Sequence[str]):
    """A name for each question, in order, made when it is asked for: there may be millions.

    A run of cells is called `3..17`, a cell `3`; about attributes with names `age=2 × sex=1`, about others by position,
    `0=2 × 1=1`. What sums over every cell is called `total`.
    """

    def __init__(self, parts: Sequence[Any], axes: Sequence[str] | None) -> None:
        self._parts, self._axes = parts, axes
        self._ends: list[int] = list(accumulate(part.questions for part in parts))

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        index = range(len(self))[place]
        part = bisect_right(self._ends, index)
        return self._name(self._parts[part].factors, index - (self._ends[part - 1] if part else 0))

    def _name(self, factors: Sequence[Any], index: int) -> str:
        words = []
        for axis, factor in reversed(list(enumerate(factors))):
            index, inner = divmod(index, factor.questions)
            word = factor.name_of(inner)
            if word and len(factors) > 1:
                word = f"{axis if self._axes is None else self._axes[axis]}={word}"
            words.append(word)
        return " × ".join(word for word in reversed(words) if word) or "total"


def regular_name(form: str, size: int, index: int) -> str:
    """The name of a question of a known form about an axis; empty for the total."""
    if form == "total":
        return ""
    first, last = {"identity": (index, index), "prefixes": (0, index)}.get(form) or _run(size, index)
    return f"{first}..{last}" if last > first else str(first)


def _run(size: int, index: int) -> tuple[int, int]:
    """The first and the last cell of a run, in the order of the first, then of the last.

    Rule: counted from the end, the runs of the last k first cells are k (k + 1) / 2.
    [theory#strategies-in-whole-numbers]
    """
    after = size * (size + 1) // 2 - 1 - index
    rest = (math.isqrt(8 * after + 1) - 1) // 2
    return size - 1 - rest, size - 1 - (after - rest * (rest + 1) // 2)


FORMS = ("identity", "total", "prefixes", "ranges")
MOST_CELLS_BUILT = 20_000_000
"""How many entries of a matrix are built at most when somebody asks for it."""
_MOST_PARTS = 100_000
_LARGEST_AXIS = 2**40
_LARGEST_WEIGHT = Fraction(10**30)

FACTORS: Family[Any] = Family("questions about one axis of a table", InvalidQueryError)
"""Every form of questions about one axis by the name it has in files."""


@record("regular", FACTORS, error=InvalidQueryError)
class Regular(Record):
    """Questions of a known form about an axis of `size` cells: each cell, the total, first cells, runs of cells."""

    form: fields.Text = fields.text(among=FORMS)
    size: fields.Whole = fields.whole(at_least=1, at_most=_LARGEST_AXIS, shown="n", hint=": how many cells there are")

    @property
    def questions(self) -> int:
        """How many questions there are."""
        n = self.size
        return {"identity": n, "total": 1, "prefixes": n, "ranges": n * (n + 1) // 2}[self.form]

    def rows(self) -> list[list[Fraction]]:
        """The matrix; runs in the order of their first cell, then of their last."""
        n = self.size
        ends = {
            "identity": ((i, i) for i in range(n)),
            "total": ((0, n - 1) for _ in range(1)),
            "prefixes": ((0, j) for j in range(n)),
            "ranges": ((i, j) for i in range(n) for j in range(i, n)),
        }[self.form]
        return [[Fraction(int(low <= k <= high)) for k in range(n)] for low, high in ends]

    def name_of(self, index: int) -> str:
        """What a question is called."""
        return regular_name(self.form, self.size, index)


@record("listed", FACTORS, error=InvalidQueryError)
class Listed(Record):
    """Questions by their weights: row k of the matrix is `numerators[k]` over `denominators[k]`."""

    numerators: fields.PackedMatrix = fields.whole_matrix()
    denominators: fields.Wholes = fields.wholes(at_least=1, as_text=True, like="numerators")
    form: ClassVar[str] = ""

    def __post_init__(self) -> None:
        rows, columns = self.numerators.rows, self.numerators.columns
        if not rows or not columns:
            raise InvalidQueryError("matrix is empty; give at least one question over at least one cell.")
        if rows * columns > MOST_CELLS_BUILT:
            raise InvalidQueryError(f"matrix is too large; at most {MOST_CELLS_BUILT} entries are read.")

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.numerators.columns

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return self.numerators.rows

    def rows(self) -> list[list[Fraction]]:
        """The matrix."""
        return [[Fraction(v, d) for v in row] for row, d in zip(self.numerators, self.denominators, strict=True)]

    def name_of(self, index: int) -> str:
        """What a question is called."""
        return f"row {index}"


Factor: TypeAlias = Regular | Listed


@record(error=InvalidQueryError)
class Part(Record):
    """Questions that are products of questions about the axes of a table; each counts `weight` times."""

    factors: fields.Many[Factor] = fields.tuple_of(fields.one_of(FACTORS), least=1)
    weight: fields.Rational = fields.rational(
        at_least=1 / _LARGEST_WEIGHT, at_most=_LARGEST_WEIGHT, shown="weight", hint=": how much each question counts"
    )

    @property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(factor.size for factor in self.factors)

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return math.prod(factor.questions for factor in self.factors)


@record("workload", QUERIES, error=InvalidQueryError)
class Workload(Record):
    """Linear questions about one table of whole counts, answered together.

    `Workload(matrix)` has one row of weights for each question, one column for each cell; `ranges(n)`, `prefixes(n)`,
    `identity(n)`, `total(n)` and `marginals(sizes, which)` are kept in that form and never built. `a | b` asks both,
    `a.product(b)` asks every pair about the table with the cells of both (those of `a` vary slowest), and
    `a * weight` lets each question count that many times: weights multiply squared errors and variances, not answers.

    One person is counted in at most `cells_per_person` different cells, once in each, and may come or leave; with
    `replace=True` the number of people is public, all are counted somewhere, and one person may be replaced by another,
    who is counted in other cells. With `rows_per_person` (see `with_rows`) a person has up to so many rows, each
    counted like that, which may meet in one cell; who is replaced has a row at least, and so has who takes the place,
    but not as many: rows move, and others come or go. `axes` are the names of the attributes, where they have some.

    >>> print(nw.Workload.prefixes(3))
    3 linear questions about a table of 3 cells
    >>> [[int(weight) for weight in row] for row in nw.Workload.prefixes(3).matrix()]
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    parts: fields.Many[Part] = fields.tuple_of(fields.only(Part), least=1, most=_MOST_PARTS)
    cells_per_person: fields.Whole = fields.whole(
        at_least=1, at_most=10**6, default=1, absent=1, hint=": in how many cells one person is counted"
    )
    replace: fields.Flag = fields.flag(default=False, absent=False)
    axes: fields.Spec[Any, tuple[str, ...] | None] = fields.optional(
        fields.tuple_of(fields.text()), default=None, absent=None
    )
    rows_per_person: fields.Whole = fields.whole(
        at_least=1, at_most=10**6, default=1, absent=1, hint=": how many rows of one person are counted"
    )

    @property
    def neighbours(self) -> str:
        """Which datasets are neighbours."""
        return REPLACE if self.replace else ADD_REMOVE

    def __init__(self, matrix: Iterable[Iterable[Number]], *, cells_per_person: int = 1, replace: bool = False) -> None:
        listed = Listed(*over_denominators(rational_rows(matrix)))
        people = {"cells_per_person": cells_per_person, "replace": replace, "rows_per_person": 1}
        self.construct(parts=[Part([listed], 1)], axes=None, **people)

    def __post_init__(self) -> None:
        sizes = {part.size for part in self.parts}
        if len(sizes) > 1:
            low, high = min(sizes), max(sizes)
            raise InvalidQueryError(
                f"some questions are about {low} cells, others about {high}; ask all of them about the same table.",
                sizes=sorted(sizes),
            )
        if not any(all(map(_asks, part.factors)) for part in self.parts):
            raise InvalidQueryError("every weight is 0, so that nothing is asked; give at least one that is not.")
        if self.axes is not None and {len(set(self.axes))} != {len(part.factors) for part in self.parts}:
            raise InvalidQueryError("axes needs one name for each attribute, each of them once.", axes=self.axes)

    @property
    def still(self) -> bool:
        """Whether every change that one person can make leaves all answers as they are."""
        moves = not self.replace or min(self.cells_per_person, self.size) > 1 or self.rows_per_person > 1
        return not moves and all(
            all(map(_alike, part.factors)) or not all(map(_asks, part.factors)) for part in self.parts
        )

    def __eq__(self, other: object) -> bool:
        """The same questions about the same people, whatever attributes are called."""
        return isinstance(other, Workload) and self._asked == other._asked

    def __hash__(self) -> int:
        return hash(self._asked)

    @property
    def _asked(self) -> tuple[Any, ...]:
        return self.parts, *self._people

    @classmethod
    def identity(cls, n: int, *, cells_per_person: int = 1, replace: bool = False) -> Workload:
        """The count of each of n cells."""
        return cls._regular("identity", n, cells_per_person, replace)

    @classmethod
    def total(cls, n: int, *, cells_per_person: int = 1, replace: bool = False) -> Workload:
        """The sum over all n cells, one question."""
        return cls._regular("total", n, cells_per_person, replace)

    @classmethod
    def prefixes(cls, n: int, *, cells_per_person: int = 1, replace: bool = False) -> Workload:
        """The sums over the first 1, 2, …, n cells."""
        return cls._regular("prefixes", n, cells_per_person, replace)

    @classmethod
    def ranges(cls, n: int, *, cells_per_person: int = 1, replace: bool = False) -> Workload:
        """The sums over all runs of neighbouring cells, in the order of their first cell, then of their last."""
        return cls._regular("ranges", n, cells_per_person, replace)

    @classmethod
    def marginals(
        cls,
        sizes: Sequence[int] | Mapping[str, int],
        which: Iterable[Iterable[int | str]],
        *,
        cells_per_person: int = 1,
        replace: bool = False,
    ) -> Workload:
        """One count for each combination of values of some attributes, for each of several sets of attributes.

        `sizes` says how many values each attribute has, by position or by name, and `which` lists sets of
        attributes by position (from 0) or by name; the empty set asks for the total. Counts are in the order of the
        table, whatever the order in a set.
        """
        table: Mapping[Any, int] = sizes if isinstance(sizes, Mapping) else dict(enumerate(sizes))
        names, counts = list(table), list(table.values())
        if not counts:
            raise InvalidQueryError("sizes is empty; say how many values each attribute has.")
        axes = {form: [Regular(form, n) for n in counts] for form in ("identity", "total")}
        parts = []
        for one in fields.items(
            which, "which", InvalidQueryError, "a list of sets of attributes, such as [(0,), (0, 1)]"
        ):
            chosen = _places(one, names)
            parts.append(Part([axes["identity" if i in chosen else "total"][i] for i in range(len(counts))], 1))
        return cls._made(parts, cells_per_person, replace, names if all(isinstance(n, str) for n in names) else None)

    @classmethod
    def _regular(cls, form: str, n: int, cells_per_person: int, replace: bool) -> Workload:
        return cls._made([Part([Regular(form, n)], 1)], cells_per_person, replace)

    @classmethod
    def _made(
        cls, parts: Iterable[Part], cells_per_person: int, replace: bool, axes: Any = None, rows_per_person: int = 1
    ) -> Workload:
        people = {"cells_per_person": cells_per_person, "replace": replace, "rows_per_person": rows_per_person}
        return cls._rebuilt({"parts": parts, "axes": axes, **people})

    def with_rows(self, rows_per_person: int) -> Workload:
        """The same questions where one person has up to so many rows, each counted as one person was."""
        return self._made(self.parts, self.cells_per_person, self.replace, self.axes, rows_per_person)

    def __or__(self, other: object) -> Workload:
        if not isinstance(other, Workload):
            return NotImplemented
        axes = self.axes if self.axes == other.axes else None
        cells, replace, rows = self._shared(other)
        return self._made((*self.parts, *other.parts), cells, replace, axes, rows)

    def __mul__(self, weight: Number | Workload) -> Workload:
        if isinstance(weight, Workload):
            raise InvalidQueryError("a workload is multiplied by a weight; for products of workloads use a.product(b).")
        factor = parameter(weight, "weight")
        if factor <= 0:
            raise InvalidQueryError(f"weight is {show(factor)}; give a positive number.", weight=factor)
        parts = [Part(p.factors, p.weight * factor) for p in self.parts]
        return self._made(parts, self.cells_per_person, self.replace, self.axes, self.rows_per_person)

    __rmul__ = __mul__

    def product(self, other: Workload) -> Workload:
        """Every question of this workload about the first axes, times every question of the other about the last."""
        if not isinstance(other, Workload):
            raise InvalidQueryError(f"the other workload is {other!r}; give a nw.Workload.", given=other)
        pairs = product(self.parts, other.parts)
        parts = [Part((*a.factors, *b.factors), a.weight * b.weight) for a, b in pairs]
        axes = (*(self.axes or ()), *(other.axes or ()))
        named = bool(self.axes and other.axes) and len(set(axes)) == len(axes)
        cells, replace, rows = self._shared(other)
        return self._made(parts, cells, replace, axes if named else None, rows)

    @property
    def _people(self) -> tuple[int, bool, int]:
        return self.cells_per_person, self.replace, self.rows_per_person

    def _shared(self, other: Workload) -> tuple[int, bool, int]:
        """Who counts as one person, which both must say alike."""
        if self._people != other._people:
            raise InvalidQueryError(
                f"one workload says (cells_per_person, replace, rows_per_person) = {self._people}, the other"
                f" {other._people}; make them alike."
            )
        return self._people

    def __str__(self) -> str:
        m, n = self.dimension, self.size
        more = f", up to {self.cells_per_person} cells a person" if self.cells_per_person > 1 else ""
        more += f", up to {self.rows_per_person} rows a person" if self.rows_per_person > 1 else ""
        moved = ", a person may be replaced" if self.replace else ""
        return f"{m} linear question{'s' if m > 1 else ''} about a table of {n} cell{'s' if n > 1 else ''}{more}{moved}"

    @property
    def size(self) -> int:
        """How many cells the table has."""
        return self.parts[0].size

    @property
    def dimension(self) -> int:
        """How many questions there are."""
        return sum(part.questions for part in self.parts)

    @property
    def names(self) -> QuestionNames:
        """What each question is called, in order: `3..17`, `age=2 × sex=1`."""
        return QuestionNames(self.parts, self.axes)

    @property
    def single(self) -> bool:
        """Whether one person moves one cell by one, for which optimal strategies are known."""
        return self._people == (1, False, 1)

    @property
    def attributes(self) -> tuple[int, ...] | None:
        """The sizes of the attributes where all parts are marginals of one table, else None."""
        sizes = {tuple(factor.size for factor in part.factors) for part in self.parts}
        forms = {factor.form if isinstance(factor, Regular) else "" for part in self.parts for factor in part.factors}
        return next(iter(sizes)) if len(sizes) == 1 and forms <= {"identity", "total"} else None

    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The questions as rows of weights, built here and now; refused where it would be too large."""
        if self.dimension * self.size > MOST_CELLS_BUILT:
            raise InvalidQueryError(
                f"the matrix has {self.dimension} rows and {self.size} columns, too many to build; at most"
                f" {MOST_CELLS_BUILT} entries are built.",
                entries=self.dimension * self.size,
            )
        return tuple(tuple(row) for part in self.parts for row in _product([f.rows() for f in part.factors]))


def _asks(factor: Factor) -> bool:
    return isinstance(factor, Regular) or any(map(any, factor.numerators))


def _alike(factor: Factor) -> bool:
    """Whether each question weighs all cells alike."""
    if isinstance(factor, Regular):
        return factor.size == 1 or factor.form == "total"
    return all(len(set(row)) == 1 for row in factor.numerators)


def _product(factors: list[list[list[Fraction]]]) -> list[list[Fraction]]:
    """The Kronecker product of matrices."""
    rows = [[Fraction(1)]]
    for factor in factors:
        rows = [[a * b for a in row for b in other] for row in rows for other in factor]
    return rows


def _places(chosen: Any, names: list[Any]) -> set[int]:
    """The positions of a set of attributes, each named once."""
    given = list(fields.items(chosen, "a set of attributes", InvalidQueryError, "positions or names, such as (0, 2)"))
    for name in given:
        if isinstance(name, bool) or name not in names:
            raise InvalidQueryError(
                f"there is no attribute {name!r}; give one of {', '.join(map(repr, names[:20]))}.", attribute=name
            )
    if len(set(given)) < len(given):
        raise InvalidQueryError(f"the set {tuple(given)!r} names an attribute twice; name each once.")
    return {names.index(name) for name in given}
