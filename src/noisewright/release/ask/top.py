"""The largest categories: noisy counts of listed keys, put in order, which is post-processing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Spec, Whole, only, optional, text, whole
from noisewright.problem.records import record
from noisewright.release.ask import estimates
from noisewright.release.ask.estimates import Estimate
from noisewright.release.ask.question import QUESTIONS, Answers, Name, Question, name_field, require_keys
from noisewright.release.stage.aggregates import Aggregate, Rows
from noisewright.release.table.keys import Keys

_COLUMN = "rank"


@record("top", QUESTIONS, error=InvalidQueryError)
class Top(Question):
    """The k listed categories with the largest noisy counts of rows, in each group of the other keys.

    Equal counts stand in the order of the keys. Picking the largest picks noise that is too high: the counts shown are
    biased upwards. Half-widths hold for the counts of all categories of a group at once, hence for those shown.
    """

    k: Whole = whole(at_least=1, at_most=10**6, hint=": how many categories to show")
    by: Keys = only(Keys)
    column: Spec[str | None, str | None] = optional(text(), default=None, absent=None)
    name: Name = name_field()
    word = "top"

    def __post_init__(self) -> None:
        require_keys(self.by, _COLUMN)
        if self.column is not None and self.column not in self.by.columns:
            raise InvalidQueryError(
                f"by has no keys of {self.column!r}, which are to be ranked; list the categories that may occur:"
                f' by=nw.keys("{self.column}", [...]).',
                column=self.column,
            )
        fewest = min(len(places) for places in self._groups().values())
        if self.k > fewest:
            raise InvalidQueryError(
                f"k is {self.k}, and there are {fewest} categories; ask for at most so many.", k=self.k
            )

    @property
    def about(self) -> str:
        return self.column or " and ".join(self.by.columns)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Rows(),)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.by.columns, _COLUMN)

    @property
    def at_once(self) -> int:
        return max(len(places) for places in self._groups().values())

    def promised(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction | None:
        return widths[0]

    def _groups(self) -> dict[tuple[Any, ...], list[int]]:
        """By the values of the other columns, the places of the categories."""
        other = [i for i, column in enumerate(self.by.columns) if self.column is not None and column != self.column]
        found: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(self.by.rows):
            found.setdefault(tuple(row[i] for i in other), []).append(place)
        return found

    def answers(
        self, table: Answers, part: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[Mapping[str, Any], Estimate]]:
        width, own = len(table.aggregates), indices[0]
        for group in self._groups().values():
            ranked = sorted(group, key=lambda place: (-part[place * width + own], place))
            for rank, place in enumerate(ranked[: self.k], 1):
                named = {**dict(zip(self.by.columns, self.by.rows[place], strict=True)), _COLUMN: rank}
                yield named, estimates.plain(part[place * width + own], widths[0], Fraction(1))


def top(column: str | Keys, k: int, *, by: Keys | None = None, name: str | None = None) -> Top:
    """The k categories with the most rows: of `column`, which `by` lists, in each group of its other columns.

    `top("diagnosis", 5, by=nw.keys({"ward": [...], "diagnosis": [...]}))` ranks diagnoses in each ward;
    `top(keys, k)` ranks all rows of keys. Picking the largest noisy counts picks those that are too high.
    """
    if isinstance(column, Keys):
        if by is not None:
            raise InvalidQueryError("give the keys once: top(keys, k), or top(column, k, by=keys).")
        return Top(k, column, None, name)
    if by is None:
        raise InvalidQueryError(
            f'the categories of {column!r} are public: list those that may occur, by=nw.keys("{column}", [...]).'
        )
    return Top(k, by, column, name)
