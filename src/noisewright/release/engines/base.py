"""What an engine must offer to the last stage, and how another one is added.

An engine gives Ibis expressions for the few things whose meaning or totality differs between engines, and runs
queries. Every expression it gives must be *total*: no value of its arguments may raise an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeGuard, TypeVar

import ibis

from noisewright.problem.errors import EngineError, LedgerError
from noisewright.release.table.locations import Locations
from noisewright.release.table.names import folded

Result = TypeVar("Result")

GRAMMAR = r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[01]?[0-9]{1,2})?"
"""Texts that are numbers: the same on every engine, and finite as a double. Everything else counts as missing."""
WHOLE_GRAMMAR = r"[+-]?[0-9]{1,18}"
DATE_GRAMMAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"
_MINUTES, _SECONDS = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9]", r":[0-5][0-9](\.[0-9]{1,6})?"
TIME_GRAMMAR = f"{DATE_GRAMMAR}{_MINUTES}({_SECONDS})?"
INSTANT_GRAMMAR = f"{DATE_GRAMMAR}{_MINUTES}{_SECONDS}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"


class Engine(Protocol):
    """One connection to one engine."""

    name: str
    steps: tuple[int, int]
    """How many of the queries of a release are done, and how many there are: for a bar."""
    errors: tuple[type[Exception], ...]
    """What it raises when it fails; not when a person interrupts it."""

    in_process: bool
    """Whether it works in this process: then rows may come out of it to be limited here, and slices bound its memory.
    Out of any other engine only aggregates come."""

    floors_all: bool
    """Whether `floor_of` gives NULL for any double whose floor is no whole number of 64 bits."""

    @property
    def connection(self) -> Any:
        """What two tables must share to be joined."""

    def known_as(self, name: str) -> str:
        """What the engine takes the name of a column for: two names for which this is the same are one."""

    def number_of_text(self, text: Any) -> Any:
        """A double from text that fits `GRAMMAR` (spaces around it allowed), NULL from any other."""

    def whole_of_text(self, text: Any) -> Any:
        """A 64-bit whole number from text that fits `WHOLE_GRAMMAR`, NULL from any other."""

    def date_of_text(self, text: Any) -> Any:
        """A date from text that fits `DATE_GRAMMAR` and is a day of the calendar, NULL from any other."""

    def time_of_text(self, text: Any) -> Any:
        """A time without a zone from text that fits `TIME_GRAMMAR` and a day of the calendar, NULL from any other."""

    def instant_of_text(self, text: Any) -> Any:
        """An instant from text that fits `INSTANT_GRAMMAR` and a day of the calendar, NULL from any other."""

    def cast(self, value: Any, to: Any) -> Any:
        """A cast that gives NULL where the engine's own would raise."""

    def divisible(self, number: Any) -> Any:
        """A double that may be divided by a number from 1 to 2^53, and is the same when 1/2 is added to it."""

    def floor_of(self, number: Any) -> Any:
        """The floor of a double that is within 2^62 of 0, as a 64-bit whole number; it is asked for no other."""

    def settled(self, query: Any) -> Any:
        """A query of functions that are total by `values`, with those made total, or refused, that here are not."""

    def clamped(self, whole: Any, first: int, last: int) -> Any:
        """A 64-bit whole number that is not NULL, clamped."""

    def among(self, column: Any, kind: str, values: Collection[Any]) -> Any:
        """True for every key of a column that is one of the values of its kind, and for at most a few times as many
        others: by it rows can be added up before the listed keys are joined. None where joining first is better."""

    def bytes_of(self, text: Any) -> Any:
        """The bytes of a text, so that equality is equality of bytes whatever the collation."""

    def digits_of(self, data: Any) -> Any:
        """Bytes as hexadecimal digits."""

    def hash_of(self, text: Any) -> Any:
        """A text that mixes another text well (MD5 in hexadecimal digits), the same on every engine."""

    def sum_of(self, terms: Any) -> Any:
        """The sum of 64-bit whole numbers as a whole number, exact however large it becomes."""

    def sum_text(self, terms: Any, largest: int) -> Any:
        """The sum of 64-bit whole numbers as text, exact however large it becomes; each is within `largest` of 0."""

    def locations(self, table: Any) -> Locations:
        """Where the rows of a table of the database are, as the engine itself knows it; nothing is read for it."""

    def is_view(self, table: Any) -> bool:
        """Whether a table of the database is a view, whose definition nobody has checked."""

    def is_hidden(self, table: Any) -> bool:
        """Whether a temporary table or view of the same name stands before a table of the database."""

    def replaced_functions(self) -> list[str]:
        """Functions of the engine that somebody has defined anew, so that they may mean anything."""

    def has_collation(self, table: Any) -> bool:
        """Whether texts of a table may be equal without having equal bytes."""

    def why_unsound(self, table: Any) -> str | None:
        """What else makes a table of the database none that can be read; None if nothing does."""

    def small_table(self, columns: Mapping[str, Any]) -> Any:
        """A public table from columns of Python values or arrays, for the length of this process."""

    def fetch(self, expression: Any) -> Any:
        """The result of a query as an Arrow table."""

    def rehearse(self, table: Any, work: Callable[[Any], None]) -> None:
        """Do some work with what stands for a table while its queries are tried: no row is read, and none comes."""

    def is_whole(self, column: Any) -> bool:
        """Whether no value of a column is missing in what is read; False where it does not pay to find out."""

    def hold(self, tables: Collection[Any]) -> bool:
        """Keep tables from becoming something else until the snapshot ends; False where nobody else changes them."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All queries inside see the same data, and nobody else's query comes between one and its result."""

    def run(self, work: Callable[[], Result]) -> Result:
        """What some work with this engine gives; Ctrl-C ends it and leaves the engine usable."""


class Local(Engine, Protocol):
    """An engine of this process: persons come out of it as whole numbers."""

    def word_of(self, data: Any) -> Any:
        """A whole number from 0 to 2^53 - 1 for bytes: the first 53 bits of their MD5, the lowest first.

        It fits into a word of 64 bits together with the number of one of 1,024 groups.
        """

    def slot_of(self, data: Any, slots: int) -> Any:
        """Which of so many slots bytes are in, from 0: quickly, evenly, and the same for equal bytes in one process."""


def is_local(engine: Engine) -> TypeGuard[Local]:
    """Whether an engine works in this process."""
    return engine.in_process


_DENSE = 4
"""A list of whole numbers is asked for by its ends where it has at least one of so many between them."""


def between_ends(column: Any, values: Collection[int]) -> Any:
    """For a dense list of whole numbers, whether a column is between its ends; None for any other list."""
    first, last, whole = min(values), max(values), column.cast("int64")
    if last - first >= _DENSE * len(values):
        return None
    return (whole >= ibis.literal(first, "int64")) & (whole <= ibis.literal(last, "int64"))


class Plain:
    """What an engine has to say that needs no way of its own."""

    floors_all = False

    def known_as(self, name: str) -> str:
        """Upper and lower case are not told apart."""
        return folded(name)

    def clamped(self, whole: Any, first: int, last: int) -> Any:
        """By the least and the greatest of two."""
        return ibis.least(ibis.greatest(whole, ibis.literal(first, "int64")), ibis.literal(last, "int64"))

    def floor_of(self, number: Any) -> Any:
        """By its own floor: of Spark it is total, and PostgreSQL works a case out only where its condition holds."""
        return number.floor()

    def among(self, column: Any, kind: str, values: Collection[Any]) -> Any:
        """Rows are added up by whole numbers quickly; of others, the places in a list are quicker."""
        return between_ends(column, values) if kind == "integer" else None

    def rehearse(self, table: Any, work: Callable[[Any], None]) -> None:
        """Queries are run, on no rows."""
        work(table.limit(0))

    def is_whole(self, column: Any) -> bool:
        """Every row is asked."""
        return False

    def hold(self, tables: Collection[Any]) -> bool:
        """Nobody else changes them, or reading them says so."""
        return False


_LOST = "the connection was lost: see that the server runs and can be reached"
_STOPPED = "somebody stopped the query, or it took longer than statement_timeout"
_GONE = "Spark's driver is gone: make a session and the dataset anew"
TROUBLES = {
    "AdminShutdown": "the server ended the connection: it was stopped, or somebody ended it",
    "CannotConnectNow": "the server is starting or stopping",
    "ConnectionRefusedError": _GONE,
    "ConnectionResetError": _GONE,
    "ConnectionTimeout": _LOST,
    "CrashShutdown": "the server ended all connections, because it was stopped at once or crashed",
    "InterfaceError": "the connection that was given is closed: connect again, and make the dataset anew",
    "OperationalError": _LOST,
    "Py4JJavaError": (
        "a job of Spark failed, because it was cancelled, executors were lost, a file could not be read or the like;"
        " its log says why"
    ),
    "InvalidTableError": "a table is not any more what it was when this was tried; ask again to see what is wrong",
    "Py4JNetworkError": _GONE,
    "QueryCanceled": _STOPPED,
}
"""What kinds of errors mean that no value can be the reason of."""
_CAME_BACK = ("InvalidTableError", "Py4JJavaError", "QueryCanceled")
"""Those of them with which an engine answered."""
_UNSAID = (
    " Its own words may repeat a value and are not shown. See that the table is still there, readable and as it was"
    " when the dataset was made."
)
NOTHING_SPENT = "Nothing was spent: ask again."


def in_words(problem: str) -> str:
    """The kind of an error, and in words what it means where that is known."""
    return f"{problem}: {TROUBLES[problem]}" if problem in TROUBLES else problem


def is_away(problem: str) -> bool:
    """Whether an error of this kind, which ended a release, says that the engine or the ledger cannot be reached."""
    return problem == LedgerError.__name__ or (problem in TROUBLES and problem not in _CAME_BACK)


def guarded(engine: Engine, work: Callable[[], Result], *, spent: str = "") -> Result:
    """What the work gives; a failure of the engine becomes an EngineError without the engine's words.

    Those may repeat a value. The error is raised outside of the handler, so that it does not carry the other one.
    `spent` is what else is said.
    """
    problem = ""
    try:
        return engine.run(work)
    except engine.errors as error:
        problem = type(error).__name__
    also = "" if problem in TROUBLES else _UNSAID
    raise EngineError(
        f"the engine failed ({in_words(problem)}).{also}{spent and f' {spent}'}",
        engine=engine.name,
        problem=problem,
    )
