"""Workloads: ranges, first cells, marginals or any linear questions about the cells of public bins or keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Spec, is_list, only, optional
from noisewright.problem.records import record
from noisewright.problem.workload import FORMS, Factor, Regular, Workload
from noisewright.release.ask.estimates import Estimate, Interval
from noisewright.release.ask.linear import FINE, MOST_ANSWERS, MOST_CELLS, Linear
from noisewright.release.ask.question import QUESTIONS, Answers, By, Line, Name, by_field, name_field, require_keys
from noisewright.release.stage.groupings import Bins, Grouping
from noisewright.release.table.keys import Keys

_COLUMN = "cells"


@record("workload", QUESTIONS, error=InvalidQueryError)
class CellQuestions(Linear):
    """Linear questions about the counts of rows in cells: bins of a column, or listed keys; in each group of `by`."""

    asked: Workload = only(Workload)
    bins: Spec[Bins | None, Bins | None] = optional(only(Bins), default=None, absent=None)
    keys: Spec[Keys | None, Keys | None] = optional(only(Keys), default=None, absent=None)
    by: By = by_field()
    name: Name = name_field()
    word = "workload"

    def __post_init__(self) -> None:
        if (self.bins is None) == (self.keys is None):
            raise InvalidQueryError("a workload is about bins (column= and edges=) or about keys=; give one of them.")
        if not self.asked.single:
            raise InvalidQueryError(
                "what one person changes follows from the limits of the dataset; give the workload without"
                " cells_per_person, replace and rows."
            )
        if self.asked.size != self.count:
            raise InvalidQueryError(
                f"the questions are about {self.asked.size} cells, and there are {self.count}; give a weight for each.",
                cells=self.count,
            )
        if self.count > MOST_CELLS or self.asked.dimension > MOST_ANSWERS:
            raise InvalidQueryError(
                f"these are {self.asked.dimension} questions about {self.count} cells; at most {MOST_ANSWERS} about"
                f" {MOST_CELLS} are answered together. Ask about fewer cells."
            )
        require_keys(self.by, _COLUMN)
        require_keys(self.keys, _COLUMN)
        if self.keys and self.by and set(self.keys.columns) & set(self.by.columns):
            raise InvalidQueryError("keys= and by= share a column; name each column once.")

    @property
    def about(self) -> str:
        return self.bins.column if self.bins else " and ".join(self.keys.columns if self.keys else ())

    @property
    def count(self) -> int:
        """How many cells there are in a group."""
        return Grouping(self.keys, self.bins).count

    @property
    def grouping(self) -> Grouping:
        if self.keys is None or self.by is None:
            return Grouping(self.by or self.keys, self.bins)
        rows = [(*group, *cell) for group, cell in product(self.by.rows, self.keys.rows)]
        return Grouping(Keys((*self.by.columns, *self.keys.columns), rows))

    @property
    def strategy(self) -> tuple[Any, ...]:
        return ("over-cells", self.count)

    @property
    def reading(self) -> Workload:
        return self.asked

    @property
    def columns(self) -> tuple[str, ...]:
        return (*(self.by.columns if self.by else ()), _COLUMN)

    def lines(self, table: Answers, indices: Sequence[int]) -> list[Line]:
        return [(f"rows, {len(indices)} answers", Fraction(1), indices)]

    @property
    def labels(self) -> list[str]:
        """What each of its questions is called, by the cells that it is about where they follow one another."""
        found = []
        for part in self.asked.parts:
            for chosen in product(*(range(factor.questions) for factor in part.factors)):
                named = [
                    (factor.name_of(inner), axis)
                    for axis, (factor, inner) in enumerate(zip(part.factors, chosen, strict=True))
                ]
                words = [self._word(word, axis, part.factors) for word, axis in named if word]
                found.append(" × ".join(words) or "total")
        return found

    def _word(self, word: str, axis: int, factors: Sequence[Factor]) -> str:
        """A cell, or a run of cells, by what it holds; rows of a matrix have their place alone."""
        if not isinstance(factors[axis], Regular):
            return word
        first, _, last = word.partition("..")
        low, high = int(first), int(last or first)
        if self.bins is not None:
            labels = self.bins.labels
            return f"{labels[low].split(', ')[0]}, {labels[high].split(', ')[1]}"
        rows = self.keys.rows if self.keys else ()
        if len(factors) == 1:
            ends = [" × ".join(map(str, rows[place])) for place in dict.fromkeys((low, high))]
            return "..".join(ends)
        value = list(dict.fromkeys(row[axis] for row in rows))[low]
        return f"{self.keys.columns[axis] if self.keys else axis}={value}"

    def answers(
        self, table: Answers, part: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[Mapping[str, Any], Estimate]]:
        groups: Sequence[tuple[Any, ...]] = self.by.rows if self.by else ((),)
        each, labels = len(part) // len(groups), self.labels
        for row, key in enumerate(groups):
            for i, label, width in zip(indices, labels, widths, strict=True):
                value = Fraction(part[row * each + i], FINE)
                named = {**dict(zip(self.columns, key, strict=False)), _COLUMN: label}
                yield named, Interval(value, value - width, value + width)


def workload(
    questions: Workload | str | Iterable[Iterable[str | exact.Number]],
    *,
    column: str | None = None,
    edges: Iterable[exact.Number] | None = None,
    keys: Keys | None = None,
    by: Keys | None = None,
    name: str | None = None,
) -> CellQuestions:
    """Linear questions about the rows in cells, in each group of `by`, answered together by a strategy.

    Cells are the bins between `edges` of a `column`, or listed `keys`. `questions` are "ranges" (every run of cells),
    "prefixes", "identity" or "total"; a list of lists of columns of the keys, which are marginals; a matrix with a row
    of weights for each question; or a `nw.Workload`. All cells of a group are one group for the limits of a person.
    """
    if (column is None) != (edges is None) or (column is None) == (keys is None):
        raise InvalidQueryError("a workload is about bins (column= and edges=) or about keys=; give one of them.")
    require_keys(keys, _COLUMN)
    bins = None if column is None or edges is None else Bins(column, edges)
    count = Grouping(keys, bins).count
    if isinstance(questions, Workload):
        return CellQuestions(questions, bins, keys, by, name)
    if isinstance(questions, str):
        if questions not in FORMS:
            raise InvalidQueryError(
                f"questions is {questions!r}; give one of {', '.join(FORMS)}, lists of columns of keys, or a matrix.",
                questions=questions,
            )
        makers = {"identity": Workload.identity, "total": Workload.total, "prefixes": Workload.prefixes}
        return CellQuestions(makers.get(questions, Workload.ranges)(count), bins, keys, by, name)
    if not is_list(questions):
        raise InvalidQueryError(f"questions is of type {type(questions).__name__}; give a list of lists.")
    rows: list[list[Any]] = [list(row) if is_list(row) else [row] for row in questions]
    if all(isinstance(one, str) for row in rows for one in row):
        return CellQuestions(_marginals(keys, rows), bins, keys, by, name)
    return CellQuestions(Workload(rows), bins, keys, by, name)


def _marginals(keys: Keys | None, which: Sequence[Sequence[str]]) -> Workload:
    """Marginals by the names of columns, of keys that are every combination of the values of theirs."""
    if keys is None:
        raise InvalidQueryError("marginals are about the columns of keys=; bins have one axis alone.")
    values = {column: list(dict.fromkeys(row[i] for row in keys.rows)) for i, column in enumerate(keys.columns)}
    if list(keys.rows) != list(product(*values.values())):
        raise InvalidQueryError(
            "marginals need all combinations of the values of columns; give nw.keys a mapping of columns to values."
        )
    return Workload.marginals({column: len(one) for column, one in values.items()}, which)
