"""Spark: a table or Parquet files of a cluster; only aggregates leave it.

Everything runs in a session of its own beside the one that is given (`newSession`): its settings are fixed there, in
UTC, no temporary view or function of the other stands before a table or a function, and the other is not touched.

*A lost task is done again.* Which rows of a person stay is a function of their values, and ties are among equal rows
alone, so that a second attempt gives the same; sources that may give other rows the second time are refused.

*One state.* Spark has no snapshots of Parquet files. They are listed when a release begins to read, all queries read
what was listed, and at the end they are listed again: if one came, went or has another length or time, the release
fails, before anything is drawn. What Spark does not give: files are opened one after the other, so that one that is
written anew with the same length, within the granularity of its file system's clock or with its time set back, is
taken for what it was, by this release and by later ones.

*Nobody's rows.* A row without a unit is nobody's. Where every row counts, the unit would be read for that alone. So it
is asked, once for each state of the files and after a charge, whether one is missing. The column is read for it: what
files say of their values is not believed.

*Ctrl-C.* Python speaks with the JVM over one connection for each thread, one question and one answer at a time. An
interruption between the two leaves the answer there for the next question: PySpark's own handler of Ctrl-C, which asks
the JVM to cancel every job, then asks over a connection that is in use, and fails. So work is done in a thread of its
own: one that only waits has nothing under way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from os import getpid
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.errors import PySparkException

from noisewright.problem.errors import EngineError, InvalidTableError
from noisewright.release.engines.base import Engine, Opened, Result
from noisewright.release.engines.registry import is_ibis
from noisewright.release.engines.spark import scans as relations
from noisewright.release.engines.spark.expressions import SparkExpressions, written
from noisewright.release.engines.spark.rows import Query, constant, require_no_padding, schema_of
from noisewright.release.engines.spark.scans import addressed, literal, matching, named, options_of
from noisewright.release.engines.spark.sessions import (
    Home,
    Pin,
    Relation,
    Trial,
    home_of,
    is_stopped,
    read_files,
    read_table,
    require_plans,
)
from noisewright.release.table.frames import listed_name
from noisewright.release.table.locations import Locations

if TYPE_CHECKING:
    import ibis.expr.types as ir
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_GROUPS = (f"noisewright-{place}" for place in count())
_PATIENCE = 60
"""Seconds that cancelled jobs are waited for."""


def apart(context: SparkContext, work: Callable[[], Result]) -> Result:
    """What the work gives or raises, done in another thread.

    Whatever ends the waiting cancels the jobs of the work, and only those.
    """
    found: Future[Result] = Future()
    group = next(_GROUPS)

    def done() -> None:
        try:
            context.setJobGroup(group, "a release of noisewright")
            found.set_result(work())
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            found.set_exception(error)

    InheritableThread(target=done, daemon=True).start()
    try:
        return found.result()
    except BaseException:
        if not found.done():
            with suppress(Py4JError, OSError):  # a driver that is gone has no jobs
                context.cancelJobGroup(group)
                wait([found], _PATIENCE)
        raise


_LOST = (OSError, EOFError)
"""How Python says that the JVM is gone."""


_WORDS = (
    'give spark.table("name"), spark.read.parquet(path), "spark:name", "spark:/path/*.parquet" or an Ibis table on'
    " PySpark, and derive from it with dataset.filter and dataset.mutate"
)
# PySpark would write every error of a query to the terminal, and its words may repeat a value.
logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


class Spark(SparkExpressions):
    """A session of Spark through Ibis."""

    name = "pyspark"
    in_process = False
    errors: tuple[type[Exception], ...] = (PySparkException, Py4JError, *_LOST)

    def __init__(self, session: SparkSession | None = None) -> None:
        self._home = home_of(session)
        self.backend = self._home.backend
        self.steps = (0, 1)

    @property
    def connection(self) -> Home:
        return self._home

    @classmethod
    def opened(cls, source: object, *, public: bool, beside: Engine | None) -> Opened:
        """A table or Parquet files of the active session, a frame that is a table, or a table of Ibis."""
        if isinstance(source, str):
            engine, table = cls.of_address(source)
            return Opened(engine, table, source, origin=source)
        if is_ibis(source):
            given: ir.Table = source
            engine = cls(given.get_backend()._session)
            return Opened(engine, engine.qualified(given))
        require_plans(source)
        frame = cast("DataFrame", source)
        engine = cls(frame.sparkSession)
        return Opened(engine, engine._known(frame))

    @classmethod
    def of_address(cls, text: str) -> tuple[Spark, ir.Table]:
        """The engine of "spark:...", in the active session, and its table or Parquet files."""
        rest = text.partition(":")[2]
        if not rest or "\0" in rest:
            raise InvalidTableError(f"{text!r} names no table; {_WORDS}.")
        if not rest.startswith("`") and ("/" in rest or rest.lower().endswith(".parquet")):
            if ":" in rest.partition("://")[2].rpartition("@")[0]:
                raise InvalidTableError("the address holds a password; leave it to Spark's configuration.")
            engine = cls()
            return engine, engine._files([rest], {})
        engine = cls()
        return engine, engine._table(rest, partial(engine._home.given.table, rest))

    def qualified(self, table: ir.Table) -> ir.Table:
        """The same query over tables of this engine, as the session that it came from finds them now."""
        changed = {}
        for leaf in table.op().find(ops.PhysicalTable):
            if not isinstance(leaf, ops.DatabaseTable):
                raise InvalidTableError(f"{leaf.name!r} is no table of Spark; {_WORDS}.")
            space = leaf.namespace
            parts = [part for part in (space.catalog, space.database, leaf.name) if part]
            name = ".".join(map(_quoted, parts))
            changed[leaf] = self._table(leaf.name, partial(self._home.given.table, name)).op()
        return table.op().replace(changed).to_expr()

    def _table(self, shown: str, found: Callable[[], DataFrame]) -> ir.Table:
        problem = ""
        try:
            return self._known(found())
        except self.errors as error:
            problem = _kind(error)
        raise InvalidTableError(f"there is no table {shown} that this session sees ({problem}). Nothing was spent.")

    def _known(self, frame: DataFrame) -> ir.Table:
        plan, own = relations.plan_of(frame), self._home.own
        if (scan := relations.scan_of(plan)) is not None:
            name = relations.name_of(scan)
            if name is None:
                return self._files(relations.paths_of(scan), options_of(scan, own), frame.schema)
            return self._kept(name, Relation(partial(read_table, own, ".".join(map(_quoted, name)))))
        view = relations.view_of(plan)
        if view is None:
            require_no_padding(frame)
            raise InvalidTableError(f"this is a query, or no table of Parquet files; {_WORDS}. Nothing was spent.")
        if len(view) == 1:
            classic = own._jvm.org.apache.spark.sql.classic.Dataset

            def read() -> DataFrame:
                for scan in relations.scans_of(plan):
                    scan.relation().location().refresh()
                return type(frame)(classic.ofRows(own._jsparkSession, plan), own)

            return self._kept(view, Relation(read))
        return self._kept(view, Relation(partial(read_table, own, ".".join(map(_quoted, view)))))

    def _files(self, paths: list[str], options: Mapping[str, str], schema: StructType | None = None) -> ir.Table:
        """Parquet files as a table; their columns are those of the first one, unless they are given."""
        own, problem = self._home.own, ""
        try:
            found = matching(paths, own)
            columns = own.read.options(**options).parquet(*literal(found)).schema if schema is None else schema
            relation = Relation(partial(read_files, own, paths, options, columns), tuple(paths))
            return self._kept((named(paths, options),), relation)
        except self.errors as error:
            problem = _kind(error)
        raise InvalidTableError(
            f"{paths[0]} cannot be read as Parquet ({problem}); see that Spark can reach it, and has the connector of"
            " its file system. Nothing was spent."
        )

    def _kept(self, name: tuple[str, ...], relation: Relation) -> ir.Table:
        space = ops.Namespace(*name[:-1])
        schema = schema_of(relation.read())
        leaf = ops.DatabaseTable(name=name[-1], schema=schema, source=self.backend, namespace=space)
        self._home.relations[leaf] = relation
        self._home.known.pop(leaf, None)
        return leaf.to_expr()

    def locations(self, table: ops.DatabaseTable) -> Locations:
        """The files that it reads, and the folders that they are looked for in, whatever it is called."""
        with self.snapshot():
            listed = self._pin(table).listed
            return addressed([*listed.roots(), *listed.files()])

    def is_view(self, table: ops.DatabaseTable) -> bool:
        with self.snapshot():
            return not self._pin(table).listed.is_scan

    def is_hidden(self, table: ops.DatabaseTable) -> bool:
        return False  # tables are written with their catalogue, and this session has no views of others

    def replaced_functions(self) -> list[str]:
        return []  # a session of its own has Spark's own functions; those of the catalogue come after them

    def has_collation(self, table: ops.DatabaseTable) -> bool:
        return False  # said by `why_unsound`, so that the files are listed once for both

    def why_unsound(self, table: ops.DatabaseTable) -> str | None:
        """Sources that may change when they are read twice, or that fail on a value."""
        with self.snapshot():
            pin = self._pin(table)
            if (why := pin.listed.why_unsound) is not None:
                return why
            if schema_of(pin.listed.frame) != table.schema:
                return "has other columns or types than when the dataset was made; make it anew"
            kept = pin.listed.frame.storageLevel
            if kept.useMemory or kept.useDisk:
                return "is cached, and what is cached may be of an earlier state than the files; unpersist it first"
            why = None if pin.is_readable else pin.listed.why_not_readable()
            pin.is_readable = why is None
            return why

    def small_table(self, columns: Mapping[str, Any]) -> ir.Table:
        data = pa.table(dict(columns))
        name = listed_name(data)
        if name not in self._home.listed:
            constant(self._home.own, data).createOrReplaceTempView(name)
            self._home.listed.add(name)
        schema = ibis.Schema.from_pyarrow(data.schema)
        return ops.DatabaseTable(name=name, schema=schema, source=self.backend, namespace=ops.Namespace()).to_expr()

    def fetch(self, expression: ir.Expr) -> pa.Table:
        """The result of a query; in a rehearsal it is planned, kept, and has no rows."""
        home = self._home
        with self.snapshot():
            query = expression.as_table()
            schema, found = query.schema().to_pyarrow(), self._query(query)
            if home.trial is not None:
                found.plan()
                home.rehearsed[query.op()] = found
                return schema.empty_table()
            for leaf in found.states:
                self._pin(leaf).was_read = True
            return found.rows(schema)

    def _query(self, query: ir.Table) -> Query:
        """A query over its tables as this snapshot has them: the rehearsed one, if they are as they were then."""
        home = self._home
        pins = {leaf: self._pin(leaf) for leaf in query.op().find(ops.DatabaseTable) if leaf in home.relations}
        known = home.rehearsed.pop(query.op(), None)
        if known is not None and known.states == {leaf: pin.state for leaf, pin in pins.items()}:
            return known
        if (before := home.meant.get(query.op())) is not None and (found := before.anew(pins)) is not None:
            return found
        views = {leaf: self._view(leaf, pin) for leaf, pin in pins.items()}
        return Query.of_text(home.own, written(query.op().replace(views).to_expr()), pins)

    def _view(self, leaf: ops.DatabaseTable, pin: Pin) -> ops.DatabaseTable:
        """A table as it was listed when this snapshot first asked for it."""
        space, home = ops.Namespace(), self._home
        return ops.DatabaseTable(name=home.view(leaf, pin), schema=leaf.schema, source=home.backend, namespace=space)

    def rehearse(self, table: ir.Table, work: Callable[[ir.Table], None]) -> None:
        """Queries are planned to the end, and kept: the release that follows runs the very plans.

        Where nobody knows yet whether a unit is missing, both are planned, and the question itself.
        """
        home = self._home
        with self.snapshot():
            home.rehearsed.clear()
            try:
                home.trial = trial = Trial()
                work(table)
                if trial.asked:
                    home.trial = Trial(whole=True)
                    work(table)
                home.meant = dict(home.rehearsed)
            finally:
                home.trial = None

    def is_whole(self, column: ir.Value) -> bool:
        """Asked once for each state of the files, and only of columns of plain scans: the column is read for it."""
        home, found = self._home, _origin(column.op())
        if found is None or found[0] not in home.relations:
            return False
        leaf, name = found
        with self.snapshot():
            pin = self._pin(leaf)
            if not pin.listed.is_scan:
                return False
            if name in pin.whole:
                return pin.whole[name]
            if home.trial is not None and home.trial.whole:
                return True
            table = leaf.to_expr()
            missing = self.fetch(table.filter(table[name].isnull()).count().name("n"))
            if home.trial is not None:
                home.trial.asked = True
                return False
            pin.whole[name] = missing["n"].to_pylist() == [0]
            return pin.whole[name]

    def _pin(self, leaf: ops.DatabaseTable) -> Pin:
        """A table as this snapshot has it: as its files were when it was first asked for."""
        home = self._home
        if home.pinned is None:
            raise EngineError("a query was run outside of a snapshot.", engine=self.name, problem="no snapshot")
        if leaf not in home.pinned:
            home.pinned[leaf] = home.pin(leaf)
        return home.pinned[leaf]

    def run(self, work: Callable[[], Result]) -> Result:
        """In a thread of its own, unless this one holds the snapshot: another would wait for it."""
        if self._home.process != getpid():  # it would ask over the connection to the JVM that its parent has
            raise InvalidTableError(
                "the Spark session of this dataset was made in another process, which this one was forked from; release"
                " there. Nothing was spent."
            )
        if self._home.holder == get_ident():
            return work()
        return apart(self._home.own.sparkContext, work)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One state of all files that are read inside, or an error at its end."""
        home = self._home
        with home.lock:
            if home.pinned is not None:
                yield
                return
            self._ready()
            home.pinned, home.holder = {}, get_ident()
            try:
                yield
                if not all(home.is_as_it_was(leaf, pin) for leaf, pin in home.pinned.items() if pin.was_read):
                    raise EngineError(
                        "the files of the table were changed while they were read.",
                        engine=self.name,
                        problem="the table changed meanwhile",
                    )
                home.known |= home.pinned
            finally:
                home.pinned = home.holder = None

    def _ready(self) -> None:
        if is_stopped(self._home.own):
            raise InvalidTableError(
                "the Spark session of this dataset was stopped; make a session and the dataset anew. Nothing was spent."
            )


def _origin(value: ops.Value) -> tuple[ops.DatabaseTable, str] | None:
    """The column of a table that a value is, of some of its rows; None if it is computed or joined."""
    while isinstance(value, ops.Field):
        rel = value.rel
        if isinstance(rel, ops.DatabaseTable):
            return rel, value.name
        if not isinstance(rel, ops.Project | ops.Filter):
            return None
        value = rel.values[value.name] if isinstance(rel, ops.Project) else ops.Field(rel.parent, value.name)
    return None


def _kind(error: Exception) -> str:
    """What went wrong, without Spark's words, which may be a trace."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return str(condition or type(error).__name__)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
