"""Queries of Spark: each release over one state of the files, planned before the charge and run after it.

*One state.* Spark has no snapshots of Parquet files. They are listed when a release begins to read, all queries read
what was listed, and at the end they are listed again: if one came, went or has another length or time, the release
fails, before anything is drawn. What Spark does not give: files are opened one after the other, so that one that is
written anew with the same length, within the granularity of its file system's clock or with its time set back, is taken
for what it was, by this release and by later ones.

*Nobody's rows.* A row without a unit is nobody's. Where every row counts, the unit would be read for that alone. So it
is asked, once for each state of the files and after a charge, whether one is missing. The column is read for it: what
files say of their values is not believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import getpid
from threading import get_ident
from typing import Any

import ibis.expr.operations as ops
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from noisewright.problem.errors import EngineError, InvalidTableError
from noisewright.release.engines.base import Result
from noisewright.release.engines.spark_homes import Home, Pin, Trial, is_stopped
from noisewright.release.engines.spark_rows import Query
from noisewright.release.engines.spark_threads import apart
from noisewright.release.engines.spark_writing import Expressions, written

_LOST = (OSError, EOFError)
"""How Python says that the JVM is gone."""


class Reader(Expressions):
    """What runs queries in the session of a home."""

    name = "pyspark"
    in_process = False
    errors: tuple[type[Exception], ...] = (PySparkException, Py4JError, *_LOST)
    _home: Home

    def fetch(self, expression: Any) -> Any:
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

    def _query(self, query: Any) -> Query:
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

    def _view(self, leaf: Any, pin: Pin) -> Any:
        """A table as it was listed when this snapshot first asked for it."""
        space, home = ops.Namespace(), self._home
        return ops.DatabaseTable(name=home.view(leaf, pin), schema=leaf.schema, source=home.backend, namespace=space)

    def rehearse(self, table: Any, work: Callable[[Any], None]) -> None:
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

    def is_whole(self, column: Any) -> bool:
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

    def _pin(self, leaf: Any) -> Pin:
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


def _origin(value: Any) -> tuple[Any, str] | None:
    """The column of a table that a value is, of some of its rows; None if it is computed or joined."""
    while isinstance(value, ops.Field):
        rel = value.rel
        if isinstance(rel, ops.DatabaseTable):
            return rel, value.name
        if not isinstance(rel, ops.Project | ops.Filter):
            return None
        value = rel.values[value.name] if isinstance(rel, ops.Project) else ops.Field(rel.parent, value.name)
    return None
