"""Linear questions about a histogram, and the universes they are asked over."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, ClassVar

from noisewright.problem import fields
from noisewright.problem.errors import InvalidAnswerError, InvalidQueryError
from noisewright.problem.numbers import Number, data_value, parameter, precision_bits
from noisewright.problem.privacy import REPLACE
from noisewright.problem.queries import QUERIES
from noisewright.problem.records import Record, record

MOST_QUERIES = 1_000
_MOST_ENTRIES = 20_000_000


@record(error=InvalidQueryError)
class Universe(Record):
    """Everything that a person's row can be: distinct elements with named attributes.

    >>> towns = nw.Universe(["name", "height"], [("Aston", 12), ("Bury", 18)])
    >>> len(towns.elements), towns.attributes
    (2, ('name', 'height'))
    """

    attributes: fields.Texts = fields.tuple_of(fields.text())
    elements: fields.Elements = fields.tuple_of(fields.tuple_of(fields.label()), least=1, distinct=True)

    def __post_init__(self) -> None:
        if any(len(row) != len(self.attributes) for row in self.elements):
            raise InvalidQueryError(f"every element needs one value for each of {', '.join(self.attributes)}.")

    @classmethod
    def product(cls, **values: Iterable[Hashable]) -> Universe:
        """All combinations of the listed values of each attribute."""
        return cls(list(values), product(*values.values()))

    @classmethod
    def of_table(cls, table: Mapping[str, Sequence[Any]], attributes: Sequence[str]) -> Universe:
        """The distinct rows of a *public* table, in order of appearance.

        A universe must not be read off private data: that an element is present would be revealed.
        """
        return cls(attributes, list(dict.fromkeys(_columns(table, attributes))))

    def histogram(self, table: Mapping[str, Sequence[Any]]) -> list[int]:
        """How often each element occurs among the rows of a table (columns by name)."""
        counts = Counter(_columns(table, self.attributes))
        if not counts.keys() <= set(self.elements):
            raise InvalidAnswerError("a row of the table is not in the universe; add its values or clean it first.")
        return [counts[element] for element in self.elements]

    def rows(self) -> list[dict[str, Any]]:
        """Each element as a mapping from attributes to values."""
        return [dict(zip(self.attributes, element, strict=True)) for element in self.elements]

    def column(self, attribute: str) -> list[Any]:
        """The value of one attribute for each element."""
        if attribute not in self.attributes:
            raise InvalidQueryError(f"there is no attribute {attribute!r}; there are {', '.join(self.attributes)}.")
        k = self.attributes.index(attribute)
        return [element[k] for element in self.elements]


@record("linear", QUERIES, error=InvalidQueryError)
class Linear(Record):
    """K weighted sums over a histogram of N elements: the rows of `matrix` are the weights.

    `people`, where it is known, is the number of people in the histogram; it lets a design trade a
    little bias for less noise. Entries are exact: row k is `numerators[k]` over `denominators[k]`.

    >>> question = nw.Linear([[1, 1, 0], [0, 0, 1]], names=["west", "east"])
    >>> print(question)
    2 linear queries over a universe of 3 elements
    >>> question.names, question.size
    (('west', 'east'), 3)
    """

    numerators: fields.PackedMatrix = fields.whole_matrix()
    denominators: fields.Wholes = fields.wholes(at_least=1, as_text=True, like="numerators")
    names: fields.Texts = fields.tuple_of(fields.text(), like="numerators")
    people: fields.MaybeWhole = fields.optional(fields.whole(at_least=1, hint=": how many people there are, or None"))
    neighbours: ClassVar[str] = REPLACE

    def __init__(
        self,
        matrix: Iterable[Iterable[Number]],
        *,
        names: Iterable[str] | None = None,
        universe: Universe | None = None,
        people: int | None = None,
    ) -> None:
        numerators, denominators = over_denominators(rational_rows(matrix))
        known = [f"query {k}" for k in range(len(numerators))] if names is None else names
        self.construct(numerators=numerators, denominators=denominators, names=known, people=people)
        if universe is not None and len(universe.elements) != self.size:
            raise InvalidQueryError(
                f"matrix has {self.size} columns for a universe of {len(universe.elements)} elements; give one"
                " column for each element.",
                width=self.size,
                size=len(universe.elements),
            )

    def __post_init__(self) -> None:
        rows, columns = self.numerators.rows, self.numerators.columns
        if not rows or not columns:
            raise InvalidQueryError("matrix is empty; give at least one query over at least one element.")
        if rows > MOST_QUERIES or rows * columns > _MOST_ENTRIES:
            raise InvalidQueryError(f"matrix is too large; at most {MOST_QUERIES} queries and {_MOST_ENTRIES} entries.")

    @classmethod
    def predicates(cls, universe: Universe, tests: Mapping[str, Callable[[Mapping[str, Any]], bool]]) -> Linear:
        """Counts of the people for whom each test of their attributes is true."""
        matrix = [[int(bool(test(row))) for row in universe.rows()] for test in tests.values()]
        return cls(matrix, names=list(tests), universe=universe)

    @classmethod
    def ranges(cls, universe: Universe, attribute: str, limits: Iterable[tuple[Any, Any]]) -> Linear:
        """Counts of the people whose attribute lies in [low, high], for each pair of limits."""
        values, pairs = universe.column(attribute), list(limits)
        matrix = [[int(low <= v <= high) for v in values] for low, high in pairs]
        return cls(matrix, names=[f"{low} <= {attribute} <= {high}" for low, high in pairs], universe=universe)

    @classmethod
    def marginals(cls, universe: Universe, attributes: Sequence[str]) -> Linear:
        """One count for each combination of values of the named attributes."""
        cells = list(zip(*(universe.column(a) for a in attributes), strict=True))
        known = list(dict.fromkeys(cells))
        names = [", ".join(f"{a} = {v}" for a, v in zip(attributes, cell, strict=True)) for cell in known]
        return cls([[int(c == cell) for c in cells] for cell in known], names=names, universe=universe)

    @classmethod
    def weighted(cls, universe: Universe, **weights: Callable[[Mapping[str, Any]], Number]) -> Linear:
        """Sums over people of a number computed from their attributes, such as the elevation of their town."""
        matrix = [[f(row) for row in universe.rows()] for f in weights.values()]
        return cls(matrix, names=list(weights), universe=universe)

    @classmethod
    def statistical(cls, matrix: Iterable[Iterable[Number]], people: int) -> Linear:
        """Averages over a public number of people instead of sums: the matrix divided by `people`."""
        count = fields.whole(at_least=1, hint=": how many people there are").read(people, "people", InvalidQueryError)
        return cls([[v / count for v in row] for row in rational_rows(matrix)], people=count)

    def with_absent(self, *, count: bool = False) -> Linear:
        """With a last element "absent", which adds nothing; `count=True` also asks for the number of people."""
        rows = [[*row, Fraction(0)] for row in self.rationals()]
        names = list(self.names)
        if count:
            rows.append([Fraction(1)] * self.size + [Fraction(0)])
            names.append("number of people")
        return Linear(rows, names=names)

    def __str__(self) -> str:
        count = len(self.numerators)
        return f"{count} linear quer{'ies' if count > 1 else 'y'} over a universe of {self.size} elements"

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return self.numerators.columns

    @property
    def dimension(self) -> int:
        """How many queries there are."""
        return len(self.numerators)

    def rationals(self) -> list[list[Fraction]]:
        """The matrix."""
        return [[Fraction(v, d) for v in row] for row, d in zip(self.numerators, self.denominators, strict=True)]

    def answers(self, histogram: Iterable[Number]) -> list[Fraction]:
        """The true answers, exactly; they are private."""
        counts = checked_histogram(histogram, self.size)
        pairs = zip(self.numerators, self.denominators, strict=True)
        return [Fraction(sum(map(int.__mul__, row, counts)), d) for row, d in pairs]


def checked_histogram(histogram: Iterable[Number], size: int) -> list[int]:
    """Whole counts below 2^64, which are more rows than any table has, one for each element of the universe."""
    wanted = "how many people have each element of the universe"
    counts = [_count(v, i) for i, v in enumerate(fields.items(histogram, "histogram", InvalidAnswerError, wanted))]
    if len(counts) != size:
        raise InvalidAnswerError(
            f"the histogram has {len(counts)} counts for a universe of {size} elements; give one for each.",
            given=len(counts),
            size=size,
        )
    for i, value in enumerate(counts):
        if value.denominator != 1 or not 0 <= value < 2**64:
            raise InvalidAnswerError(f"count {i} is not a whole number of people, 0 to 2^64.", place=i)
    return [int(v) for v in counts]


def _count(value: Number, place: int) -> Fraction:
    """A count as it is; an error does not repeat it, since it is private."""
    count, bits = data_value(value, f"count {place}"), precision_bits(value)
    if bits is not None and count > 2**bits:
        raise InvalidAnswerError(f"count {place} is a float that skips whole numbers; give an int.", place=place)
    return count


def _columns(table: Mapping[str, Sequence[Any]], attributes: Sequence[str]) -> list[tuple[Any, ...]]:
    if missing := [a for a in attributes if a not in table]:
        raise InvalidQueryError(f"the table has no column {missing[0]!r}.", column=missing[0])
    columns = [list(table[a]) for a in attributes]
    if len({len(c) for c in columns}) > 1:
        raise InvalidQueryError("the columns of the table differ in length.")
    return list(zip(*columns, strict=True))


def rational_rows(matrix: Iterable[Iterable[Number]]) -> list[list[Fraction]]:
    """The weights of each query, all of the same number."""
    items = partial(fields.items, error=InvalidQueryError, wanted="one row of weights for each query")
    rows = [
        [parameter(v, f"entry {j} of query {k}") for j, v in enumerate(items(row, f"row {k} of matrix"))]
        for k, row in enumerate(items(matrix, "matrix"))
    ]
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidQueryError(
                f"query {k} has {len(row)} weights, query 0 has {len(rows[0])}; make them equal.", row=k
            )
    return rows


def over_denominators(rows: list[list[Fraction]]) -> tuple[list[list[int]], list[int]]:
    """Whole numbers over one denominator for each row."""
    denominators = [math.lcm(*{v.denominator for v in row}) for row in rows]
    pairs = zip(rows, denominators, strict=True)
    return [[v.numerator * (d // v.denominator) for v in row] for row, d in pairs], denominators
