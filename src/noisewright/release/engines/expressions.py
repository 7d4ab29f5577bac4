"""Expressions that engines have in common: texts that are numbers and days, clamps, casts that are total, refusals.

What an engine does in a way of its own stands in its folder, in a class that derives from `Expressions`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import ibis

from noisewright.problem.errors import NotPersonLocalError
from noisewright.release.table.names import folded

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    import ibis.expr.types as ir

NUMBER_GRAMMAR = r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[01]?[0-9]{1,2})?"
"""Texts that are numbers: the same on every engine, and finite as a double. Everything else counts as missing."""
WHOLE_GRAMMAR = r"[+-]?[0-9]{1,18}"
DAY_GRAMMAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"
_MINUTES, _SECONDS = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9]", r":[0-5][0-9](\.[0-9]{1,6})?"
_SECONDS_AND_MORE = r":[0-5][0-9](\.[0-9]{1,9})?"
_ZONE = "(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"
_DENSE = 4
"""A list of whole numbers is asked for by its ends where it has at least one of so many between them."""


class Expressions(ABC):
    """What `base.Engine` asks for, as far as it needs no way of its own on most engines."""

    floors_all = False
    day_grammar = DAY_GRAMMAR
    """Texts that the engine makes a day of, or NULL, whichever of them they are."""

    @abstractmethod
    def of_text(self, text: ir.StringValue, grammar: str, kind: str, length: int | None = None) -> ir.Value:
        """A value of a kind from text that fits a grammar (spaces around it allowed), NULL from any other.

        With a `length`, so many first letters say which; the others have only to fit.
        """

    def number_of_text(self, text: ir.StringValue) -> ir.Value:
        """By the grammar its size is between 1e-240 and 1e240, so that the double of it is neither infinite nor 0."""
        return self.of_text(text, NUMBER_GRAMMAR, "float64")

    def whole_of_text(self, text: ir.StringValue) -> ir.Value:
        """Eighteen digits are within 64 bits."""
        return self.of_text(text, WHOLE_GRAMMAR, "int64")

    def date_of_text(self, text: ir.StringValue) -> ir.Value:
        """Four digits of a year from 1 on; of a time the day on which it is written, whatever its zone."""
        grammar = f"{self.day_grammar}({_MINUTES}({_SECONDS_AND_MORE})?{_ZONE}?)?"
        return self.of_text(text, grammar, "date", len("2026-01-31"))

    def time_of_text(self, text: ir.StringValue) -> ir.Value:
        """A day, hours and minutes, and maybe seconds."""
        return self.of_text(text, f"{self.day_grammar}{_MINUTES}({_SECONDS})?", "timestamp(6)")

    def instant_of_text(self, text: ir.StringValue) -> ir.Value:
        """A day, a time and how far it is from UTC."""
        return self.of_text(text, f"{self.day_grammar}{_MINUTES}{_SECONDS}{_ZONE}", "timestamp('UTC', 6)")

    def known_as(self, name: str) -> str:
        """Upper and lower case are not told apart."""
        return folded(name)

    def clamped(self, whole: ir.Value, first: int, last: int) -> ir.Value:
        """By the least and the greatest of two."""
        return ibis.least(ibis.greatest(whole, ibis.literal(first, "int64")), ibis.literal(last, "int64"))

    def floor_of(self, number: ir.Value) -> ir.Value:
        """By its own floor: of Spark it is total, and PostgreSQL works a case out only where its condition holds."""
        return number.floor()

    def divisible(self, number: ir.Value) -> ir.Value:
        """Every double may be divided."""
        return number

    def among(self, column: ir.Value, kind: str, values: Collection[Any]) -> ir.Value | None:
        """Rows are added up by whole numbers quickly; of others, the positions in a list are quicker."""
        return between_ends(column, values) if kind == "integer" else None

    def rehearse(self, table: ir.Table, work: Callable[[ir.Table], None]) -> None:
        """Queries are run, on no rows."""
        work(table.limit(0))

    def is_whole(self, column: ir.Value) -> bool:
        """Every row is asked."""
        return False

    def hold(self, tables: Collection[ops.DatabaseTable]) -> bool:
        """Nobody else changes them, or reading them says so."""
        return False

    def progress(self) -> Callable[[], float | None]:
        """Nothing says how far a query is."""
        return lambda: None


def between_ends(column: ir.Value, values: Collection[int]) -> ir.Value | None:
    """For a dense list of whole numbers, whether a column is between its ends; None for any other list."""
    first, last, whole = min(values), max(values), column.cast("int64")
    if last - first >= _DENSE * len(values):
        return None
    return (whole >= ibis.literal(first, "int64")) & (whole <= ibis.literal(last, "int64"))


def single(value: ir.Value) -> ir.Value:
    """Doubles as singles: NULL for those beyond, 0 for those too near to it."""
    most, least = ibis.literal(3.4028235677973362e38, "float64"), ibis.literal(7.006492321624086e-46, "float64")
    return ibis.cases(
        (value.isnan() | value.isinf(), value.cast("float32")),
        (value.abs() > most, ibis.null("float32")),
        (value.abs() <= least, ibis.literal(0.0, "float64").cast("float32")),
        else_=value.cast("float32"),
    )


def within_64_bits(value: ir.Value) -> ir.Value:
    """Whether a double is a number of 64 bits once it is rounded."""
    return (value >= ibis.literal(-(2.0**63), "float64")) & (value < ibis.literal(2.0**63, "float64"))


def within(value: ir.Value, kind: dt.DataType) -> ir.Value:
    """Whether a whole number is one of a signed type."""
    end = 2 ** (kind.nbytes * 8 - 1)
    return (value >= ibis.literal(-end, "int64")) & (value <= ibis.literal(end - 1, "int64"))


def recreated(node: ops.Node, changed: Mapping[str, Any] | None) -> ops.Node:
    """A node of a query with what became of its parts; for functions that `Node.replace` calls."""
    return node.__recreate__(dict(zip(node.argnames, node.args, strict=True)) | dict(changed)) if changed else node


def no_cast(engine: str, held: dt.DataType, kind: dt.DataType) -> NotPersonLocalError:
    """The refusal of a cast that an engine does not have, or has with another meaning."""
    why = f"{engine} has no cast from {held} to {kind} that is the same as on other engines"
    return NotPersonLocalError(f"Cast: {why}. Nothing was spent.", operation="Cast", reason=why)


def refused_on(engine: str, node: ops.Node, why: str) -> NotPersonLocalError:
    """The refusal of an operation that an engine does not have as others do."""
    name = type(node).__name__
    return NotPersonLocalError(
        f"{name} cannot stand before a private answer on {engine}: {why}. Nothing was spent.",
        operation=name,
        reason=why,
    )
