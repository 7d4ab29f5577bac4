"""Spark: a table or Parquet files of a cluster; only aggregates leave it.

Everything runs in a session of its own beside the one that is given (`newSession`): its settings are fixed there, in
UTC, no temporary view or function of the other stands before a table or a function, and the other is not touched.

*A lost task is done again.* Which rows of a person stay is a function of their values, and ties are among equal rows
alone, so that a second attempt gives the same; sources that may give other rows the second time are refused.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
from pyspark.errors import PySparkException

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.engines import spark_relations as relations
from noisewright.release.engines.spark_homes import Relation, home_of, read_files, read_table, require_plans
from noisewright.release.engines.spark_options import addressed, literal, matching, named, options_of
from noisewright.release.engines.spark_reading import Reader
from noisewright.release.engines.spark_rows import constant, require_no_padding, schema_of
from noisewright.release.memory import content
from noisewright.release.places import Places

_WORDS = (
    'give spark.table("name"), spark.read.parquet(path), "spark:name", "spark:/path/*.parquet" or an Ibis table on'
    " PySpark, and derive from it with dataset.filter and dataset.mutate"
)
# PySpark would write every error of a query to the terminal, and its words may repeat a value.
logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


class Spark(Reader):
    """A session of Spark through Ibis."""

    def __init__(self, session: Any = None) -> None:
        self._home = home_of(session)
        self.backend = self._home.backend
        self.steps = (0, 1)

    @property
    def connection(self) -> Any:
        return self._home

    @classmethod
    def of_frame(cls, frame: Any) -> tuple[Spark, Any]:
        """The engine of a frame of Spark, and the table that it is, of Ibis; refuses one that is more than a table."""
        require_plans(frame)
        engine = cls(frame.sparkSession)
        return engine, engine._known(frame)

    @classmethod
    def of_address(cls, text: str) -> tuple[Spark, Any]:
        """The engine of "spark:...", in the active session, and its table or Parquet files, of Ibis."""
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

    def qualified(self, table: Any) -> Any:
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

    def _table(self, shown: str, found: Any) -> Any:
        problem = ""
        try:
            return self._known(found())
        except self.errors as error:
            problem = _kind(error)
        raise InvalidTableError(f"there is no table {shown} that this session sees ({problem}). Nothing was spent.")

    def _known(self, frame: Any) -> Any:
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

            def read() -> Any:
                for scan in relations.scans_of(plan):
                    scan.relation().location().refresh()
                return type(frame)(classic.ofRows(own._jsparkSession, plan), own)

            return self._kept(view, Relation(read))
        return self._kept(view, Relation(partial(read_table, own, ".".join(map(_quoted, view)))))

    def _files(self, paths: list[str], options: Mapping[str, str], schema: Any = None) -> Any:
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

    def _kept(self, name: tuple[str, ...], relation: Relation) -> Any:
        space = ops.Namespace(*name[:-1])
        schema = schema_of(relation.read())
        leaf = ops.DatabaseTable(name=name[-1], schema=schema, source=self.backend, namespace=space)
        self._home.relations[leaf] = relation
        self._home.known.pop(leaf, None)
        return leaf.to_expr()

    def places(self, table: Any) -> Places:
        """The files that it reads, and the folders that they are looked for in, whatever it is called."""
        with self.snapshot():
            listed = self._pin(table).listed
            return addressed([*listed.roots(), *listed.files()])

    def is_view(self, table: Any) -> bool:
        with self.snapshot():
            return not self._pin(table).listed.is_scan

    def is_hidden(self, table: Any) -> bool:
        return False  # tables are written with their catalogue, and this session has no views of others

    def replaced_functions(self) -> list[str]:
        return []  # a session of its own has Spark's own functions; those of the catalogue come after them

    def has_collation(self, table: Any) -> bool:
        return False  # said by `why_unsound`, so that the files are listed once for both

    def why_unsound(self, table: Any) -> str | None:
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

    def small_table(self, columns: Mapping[str, Any]) -> Any:
        data = pa.table(dict(columns))
        name = f"listed_{digest({'columns': str(data.schema), 'content': content(data)})[:32]}"
        if name not in self._home.listed:
            constant(self._home.own, data).createOrReplaceTempView(name)
            self._home.listed.add(name)
        schema = ibis.Schema.from_pyarrow(data.schema)
        return ops.DatabaseTable(name=name, schema=schema, source=self.backend, namespace=ops.Namespace()).to_expr()


def _kind(error: Exception) -> str:
    """What went wrong, without Spark's words, which may be a trace."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return str(condition or type(error).__name__)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
