"""Counts of people by bin: the question that is asked most, kept as a number of bins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.neighbours import ADD_REMOVE, REPLACE
from noisewright.problem.queries import QUERIES
from noisewright.problem.records import Record, record

Label: TypeAlias = str | int | tuple[Any, ...]

_MOST_BINS = 10_000_000


@record("histogram", QUERIES, error=InvalidQueryError)
class Histogram(Record):
    """How many people are in each of several bins; answers and releases are whole numbers.

    `bins` is how many there are, or a list of their labels. A person is in at most `bins_per_person` of them, once in
    each. Neighbours differ by one person who comes or goes; with `replace=True` by one person who changes.

    >>> print(nw.Histogram(["north", "south"]))
    a histogram of 2 bins, each person in one bin
    >>> nw.Histogram(3, replace=True).replace
    True
    """

    bins: fields.Whole = fields.whole(at_least=1, at_most=_MOST_BINS, hint=": how many bins there are")
    labels: fields.Spec[Iterable[Label] | None, tuple[Label, ...] | None] = fields.optional(
        fields.tuple_of(
            fields.Spec(lambda value, name, error: _label(value, name), lambda v: _plain(v), lambda v: _kept(v))
        ),
        default=None,
        absent=None,
    )
    bins_per_person: fields.Whole = fields.whole(at_least=1, hint=": in how many bins one person can be", default=1)
    replace: fields.Flag = fields.flag(default=False)
    integer: ClassVar[bool] = True
    exact: ClassVar[bool] = True

    @property
    def neighbours(self) -> str:
        """Which datasets are neighbours."""
        return REPLACE if self.replace else ADD_REMOVE

    def __init__(self, bins: int | Iterable[Label], *, bins_per_person: int = 1, replace: bool = False) -> None:
        labels = None
        if fields.is_list(bins):
            labels = fields.tuple_of(fields.label()).read(bins, "bins", InvalidQueryError)
        self.born(
            bins=bins if labels is None else len(labels),
            labels=labels,
            bins_per_person=bins_per_person,
            replace=replace,
        )

    def __post_init__(self) -> None:
        if self.labels is not None and not len(set(self.labels)) == len(self.labels) == self.bins:
            raise InvalidQueryError("two bins have the same label; give each bin a label of its own.")
        if self.bins_per_person > self.bins:
            raise InvalidQueryError(
                f"bins_per_person is {self.bins_per_person}, but there are {self.bins} bins; give at most that.",
                bins_per_person=self.bins_per_person,
            )

    def __str__(self) -> str:
        several = "one bin" if self.bins_per_person == 1 else f"up to {self.bins_per_person} bins"
        change = ", one person replaced" if self.replace else ""
        return f"a histogram of {self.bins} bin{'s' if self.bins > 1 else ''}, each person in {several}{change}"

    @property
    def dimension(self) -> int:
        """How many numbers there are."""
        return self.bins

    @property
    def together(self) -> int:
        """How many bins one person can change at once, each by one."""
        return min(self.bins, self.bins_per_person * (2 if self.replace else 1))


def _label(value: Any, name: str) -> Label:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple) and value:
        return tuple(_label(part, name) for part in value)
    raise InvalidQueryError(
        f"{name.replace('labels:', 'label')} is of type {type(value).__name__}; give text, whole numbers or tuples of"
        " them (str(label) turns others into text).",
    )


def _plain(label: Label) -> Any:
    return [_plain(part) for part in label] if isinstance(label, tuple) else label


def _kept(plain: Any) -> Any:
    return tuple(map(_kept, plain)) if isinstance(plain, list) else plain
