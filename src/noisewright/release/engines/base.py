"""What an engine must offer to the last stage, and how another one is added.

An engine gives Ibis expressions for the few things whose meaning or totality differs between engines, and runs
queries. Every expression it gives must be *total*: no value of its arguments may raise an error. The names of the
grammars are those of `expressions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar, cast

from noisewright.problem.errors import EngineError, InvalidTableError
from noisewright.release.engines.registry import Registration, in_words
from noisewright.release.table.locations import Locations

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    import ibis.expr.types as ir
    import pyarrow as pa

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Opened:
    """A source as an engine knows it."""

    engine: Engine
    table: ir.Table
    name: str | None = None
    """How it is shown, without a password; None where it has no name."""
    frame: str = "pandas"
    """The kind of frame that answers come back as."""
    origin: object = None
    """What can be opened again beside another table; None where it cannot."""
    made: bool = False
    """Whether the table was made here of files or a frame, so that no database could show another one by its name."""
    unsure_decimals: frozenset[str] = frozenset()
    """Columns whose numbers may well be written with commas."""


class Engine(Protocol):
    """One connection to one engine."""

    name: str
    """What Ibis calls its backend."""
    steps: tuple[int, int]
    """How many of the queries of a release are done, and how many there are: for a bar."""
    errors: tuple[type[Exception], ...]
    """What it raises when it fails; not when a person interrupts it."""

    in_process: bool
    """Whether it works in this process: then rows may come out of it to be limited here, and slices bound its memory.
    Out of any other engine only aggregates come."""

    floors_all: bool
    """Whether `floor_of` gives NULL for any double whose floor is no whole number of 64 bits."""

    @classmethod
    def opened(cls, source: object, *, public: bool, beside: Engine | None) -> Opened:
        """A source that its registration says is its own, or a table of its backend of Ibis; no value is looked at.

        `beside` is an engine that is there already, whose connection is used again where the source can be read by it.
        """

    @property
    def connection(self) -> Any:
        """What two tables must share to be joined."""

    def known_as(self, name: str) -> str:
        """What the engine takes the name of a column for: two names for which this is the same are one."""

    def number_of_text(self, text: ir.Value) -> ir.Value:
        """A double from text that fits `NUMBER_GRAMMAR` (spaces around it allowed), NULL from any other."""

    def whole_of_text(self, text: ir.Value) -> ir.Value:
        """A 64-bit whole number from text that fits `WHOLE_GRAMMAR`, NULL from any other."""

    def date_of_text(self, text: ir.Value) -> ir.Value:
        """A date from text that fits `DAY_GRAMMAR` and is a day of the calendar, NULL from any other."""

    def time_of_text(self, text: ir.Value) -> ir.Value:
        """A time without a zone from text of a day, hours, minutes and maybe seconds, NULL from any other."""

    def instant_of_text(self, text: ir.Value) -> ir.Value:
        """An instant from text of such a time and its distance from UTC, NULL from any other."""

    def cast(self, value: ir.Value, to: str | dt.DataType) -> ir.Value:
        """A cast that gives NULL where the engine's own would raise."""

    def divisible(self, number: ir.Value) -> ir.Value:
        """A double that may be divided by a number from 1 to 2^53, and is the same when 1/2 is added to it."""

    def floor_of(self, number: ir.Value) -> ir.Value:
        """The floor of a double that is within 2^62 of 0, as a 64-bit whole number; it is asked for no other."""

    def settled(self, query: ir.Table) -> ir.Table:
        """A query of functions that are total by `values`, with those made total, or refused, that here are not."""

    def clamped(self, whole: ir.Value, first: int, last: int) -> ir.Value:
        """A 64-bit whole number that is not NULL, clamped."""

    def among(self, column: ir.Value, kind: str, values: Collection[Any]) -> ir.Value | None:
        """True for every key of a column that is one of the values of its kind, and for at most a few times as many
        others: by it rows can be added up before the listed keys are joined. None where joining first is better."""

    def bytes_of(self, text: ir.Value) -> ir.Value:
        """The bytes of a text, so that equality is equality of bytes whatever the collation."""

    def digits_of(self, data: ir.Value) -> ir.Value:
        """Bytes as hexadecimal digits."""

    def hash_of(self, text: ir.Value) -> ir.Value:
        """A text that mixes another text well (MD5 in hexadecimal digits), the same on every engine."""

    def sum_of(self, terms: ir.Value) -> ir.Value:
        """The sum of 64-bit whole numbers as a whole number, exact however large it becomes."""

    def sum_text(self, terms: ir.Value, largest: int) -> ir.Value:
        """The sum of 64-bit whole numbers as text, exact however large it becomes; each is within `largest` of 0."""

    def locations(self, table: ops.DatabaseTable) -> Locations:
        """Where the rows of a table of the database are, as the engine itself knows it; nothing is read for it."""

    def is_view(self, table: ops.DatabaseTable) -> bool:
        """Whether a table of the database is a view, whose definition nobody has checked."""

    def is_hidden(self, table: ops.DatabaseTable) -> bool:
        """Whether a temporary table or view of the same name stands before a table of the database."""

    def replaced_functions(self) -> list[str]:
        """Functions of the engine that somebody has defined anew, so that they may mean anything."""

    def has_collation(self, table: ops.DatabaseTable) -> bool:
        """Whether texts of a table may be equal without having equal bytes."""

    def why_unsound(self, table: ops.DatabaseTable) -> str | None:
        """What else makes a table of the database none that can be read; None if nothing does."""

    def small_table(self, columns: Mapping[str, Any]) -> ir.Table:
        """A public table from columns of Python values or arrays, for the length of this process."""

    def fetch(self, expression: ir.Expr) -> pa.Table:
        """The result of a query as an Arrow table."""

    def rehearse(self, table: ir.Table, work: Callable[[ir.Table], None]) -> None:
        """Do some work with what stands for a table while its queries are tried: no row is read, and none comes."""

    def is_whole(self, column: ir.Value) -> bool:
        """Whether no value of a column is missing in what is read; False where it does not pay to find out."""

    def hold(self, tables: Collection[ops.DatabaseTable]) -> bool:
        """Keep tables from becoming something else until the snapshot ends; False where nobody else changes them."""

    def progress(self) -> Callable[[], float | None]:
        """What says how many hundredths of all queries are done, None where nothing can; from another thread, too."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All queries inside see the same data, and nobody else's query comes between one and its result."""

    def run(self, work: Callable[[], Result]) -> Result:
        """What some work with this engine gives; Ctrl-C ends it and leaves the engine usable."""


class Local(Engine, Protocol):
    """An engine of this process: persons come out of it as whole numbers."""

    def word_of(self, data: ir.Value) -> ir.Value:
        """A whole number from 0 to 2^53 - 1 for bytes: the first 53 bits of their MD5, the lowest first.

        It fits into a word of 64 bits together with the number of one of 1,024 groups.
        """

    def slot_of(self, data: ir.Value, slots: int) -> ir.Value:
        """Which of so many slots bytes are in, from 0: quickly, evenly, and the same for equal bytes in one process."""


def is_local(engine: Engine) -> TypeGuard[Local]:
    """Whether an engine works in this process."""
    return engine.in_process


def loaded(registration: Registration) -> type[Engine]:
    """The class of an engine that is registered; says what is missing where that is not installed."""
    module, _, name = registration.implementation.partition(":")
    try:
        return cast("type[Engine]", getattr(import_module(module), name))
    except ImportError:
        raise InvalidTableError(registration.needs) from None


_UNSAID = (
    " Its own words may repeat a value and are not shown. See that the table is still there, readable and as it was"
    " when the dataset was made."
)
NOTHING_SPENT = "Nothing was spent: ask again."


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
    told = in_words(problem)
    also = _UNSAID if told == problem else ""
    raise EngineError(
        f"the engine failed ({told}).{also}{spent and f' {spent}'}",
        engine=engine.name,
        problem=problem,
    )
