"""A session of Spark beside the given one, and what a table is by its plan: a plain scan of Parquet files, or more.

A plain scan is a table of the catalogue or files at a path, with nothing above it: no query of a view, no filter, no
limit. Which files it has, and what they say of their columns, is asked of Spark, which listed them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import ibis
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.engines.spark_options import matching, why_not_plain

_SCAN = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_CONSTANT = ("LocalRelation", "OneRowRelation", "Range")
_ABOVE = ("SubqueryAlias", "View")
_CHOOSING = ("Sample", "GlobalLimit", "LocalLimit", "Tail", "Offset")
"""Relations whose rows depend on where others are: a lost task that is done again may choose other rows."""
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}
_MILLISECONDS = "TIMESTAMP(MILLIS"


@dataclass(frozen=True, slots=True)
class Relation:
    """How a table is read: `read` gives a frame of its files as they are when it is called."""

    read: Callable[[], Any]


class Pin:
    """A table as a snapshot has it: a frame of its files, their state, and the view that queries read it by."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.state = frame, state_of(frame)
        self.view: Any = None


@dataclass(eq=False)
class Home:
    """What all tables of one session share."""

    given: Any
    own: Any
    backend: Any
    relations: dict[Any, Relation] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    lock: Any = field(default_factory=RLock)
    pinned: dict[Any, Pin] | None = None
    """In a snapshot, by table: what was listed."""
    holder: int | None = None
    """The thread that is in a snapshot."""
    readable: dict[Any, str] = field(default_factory=dict)
    """By table, the state of the files whose schemas were last found to be as declared."""


_HOMES: dict[tuple[str, int], Home] = {}


def require_plans(given: Any) -> None:
    """Refuse sessions and frames of Spark Connect, whose plans cannot be seen."""
    if "connect" in type(given).__module__:
        raise InvalidTableError(
            "this is Spark Connect, which shows no plans, so that a query cannot be told from a table; use a session of"
            " spark-submit, or of SparkSession.builder.master(...). Nothing was spent."
        )


def home_of(session: Any) -> Home:
    """What stands for a session; the active one, or one by Spark's own defaults, if none is given."""
    given = session or _begun()
    require_plans(given)
    jvm: Any = given._jvm
    key = (str(given.sparkContext.applicationId), int(jvm.System.identityHashCode(given._jsparkSession)))
    if key not in _HOMES:
        own = given.newSession()
        own.conf.set("spark.sql.session.timeZone", "UTC")
        _HOMES[key] = Home(given, own, ibis.pyspark.connect(own))
    home = _HOMES[key]
    for name, value in {**given.conf.getAll, **_SETTINGS}.items():
        if home.own.conf.isModifiable(name):
            home.own.conf.set(name, value)
    return home


def _begun() -> Any:
    """The active session, or a new one as spark-submit, the environment or Spark's own defaults say."""
    problem = ""
    try:
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    except (PySparkException, OSError) as error:
        problem = type(error).__name__
    raise InvalidTableError(
        f"no session of Spark can be begun ({problem}); see that Java 17 or later is installed and that the master of"
        " spark-submit, or of the active session, can be reached. Nothing was spent."
    )


def is_stopped(session: Any) -> bool:
    """Whether a session is gone."""
    context = session.sparkContext
    return context._jsc is None or bool(context._jsc.sc().isStopped())


def read_table(session: Any, name: str) -> Any:
    """A table of the catalogue with its files listed anew; one that somebody cached is left alone, to be refused."""
    if not session.catalog.isCached(name):
        session.catalog.refreshTable(name)
    return session.table(name)


def read_files(session: Any, paths: Sequence[str], options: Mapping[str, str], columns: Any) -> Any:
    """Parquet files listed anew; the columns are given, so that no file is opened for them."""
    return session.read.schema(columns).options(**options).parquet(*matching(paths, session))


def plan_of(frame: Any) -> Any:
    """The analysed plan of a frame: what it reads, before anything is optimised."""
    return frame._jdf.queryExecution().analyzed()


def scan_of(plan: Any) -> Any:
    """The scan that a plan is, under whatever names; None if it is more than that."""
    while _kind(plan) in _ABOVE:
        plan = plan.child()
    return plan if _is_scan(plan) else None


def view_of(plan: Any) -> tuple[str, ...] | None:
    """The name of the view that a plan is: one part for a temporary one; None if it is no view."""
    while _kind(plan) == "SubqueryAlias":
        plan = plan.child()
    if _kind(plan) != "View":
        return None
    known = plan.desc().identifier()
    return (str(known.table()),) if plan.isTempView() else _parts(known)


def _kind(plan: Any) -> str:
    return str(plan.getClass().getSimpleName())


def _is_scan(plan: Any) -> bool:
    if _kind(plan) != "LogicalRelation" or plan.relation().getClass().getName() != _SCAN:
        return False
    return bool(plan.relation().fileFormat().getClass().getName() == _PARQUET)


def why_not_steady(plan: Any) -> str | None:
    """Why a plan may give other rows when a part of it is computed again; None if it gives the same."""
    if plan.isStreaming():
        return "is a stream, which has no end"
    if not plan.deterministic():
        return "is made with functions that differ each time they are computed"
    for leaf in _listed(plan.collectLeaves()):
        if not _is_scan(leaf) and _kind(leaf) not in _CONSTANT:
            return f"reads something else than Parquet files ({_kind(leaf)}), whose rows may change meanwhile"
    if (found := next((name for name in _kinds(plan) if name in _CHOOSING), None)) is not None:
        return f"chooses among rows ({found}) by where they are"
    return None


def _kinds(plan: Any) -> list[str]:
    """The relations of a plan."""
    return [_kind(plan), *(name for child in _listed(plan.children()) for name in _kinds(child))]


def _listed(sequence: Any) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]


def name_of(scan: Any) -> tuple[str, ...] | None:
    """Catalogue, database and name of a table; None for files that are none."""
    found = scan.catalogTable()
    return None if found.isEmpty() else _parts(found.get().identifier())


def _parts(identifier: Any) -> tuple[str, ...]:
    return str(identifier.catalog().get()), str(identifier.database().get()), str(identifier.table())


def paths_of(scan: Any) -> list[str]:
    """The paths that a scan of files was made of."""
    return [str(path.toString()) for path in _listed(scan.relation().location().rootPaths())]


def _files(leaf: Any, frame: Any) -> Any:
    """The files of a scan, as Spark listed them when it was made."""
    location = leaf.relation().location()
    if _kind(location) == "CatalogFileIndex":
        nothing = getattr(frame.sparkSession._jvm.scala.collection.immutable, "Nil$")
        location = location.filterPartitions(getattr(nothing, "MODULE$"))
    return location.allFiles()


def scans_of(plan: Any) -> list[Any]:
    """The scans of Parquet files that a plan reads."""
    return [leaf for leaf in _listed(plan.collectLeaves()) if _is_scan(leaf)]


def why_not_as_written(plan: Any) -> str | None:
    """Why what a plan reads may be other rows or types than those of its files; None if it is not."""
    found = (why_not_plain(scan, named=name_of(scan) is not None) for scan in scans_of(plan))
    return next((why for why in found if why is not None), None)


def listed_anew(plan: Any) -> None:
    """Have the files of a plan that was made before listed as they are now."""
    for scan in scans_of(plan):
        scan.relation().location().refresh()


def state_of(frame: Any) -> str:
    """What differs if a file came, went or was written anew: path, length and time of every file."""
    scans = scans_of(plan_of(frame))
    lines = [line for scan in scans for line in str(_files(scan, frame).mkString("\n")).splitlines()]
    return digest({"files": sorted(lines)})


def why_not_readable(frame: Any) -> str | None:
    """Why the Parquet files of a frame may fail in the middle of a query; None if they do not, by their schemas.

    Spark fails on a file whose types are not those of the table, and on a time in milliseconds that is far away. Where
    a file has no such column, its rows have none.
    """
    session = frame.sparkSession
    parquet = getattr(session._jvm.org.apache.spark.sql.execution.datasources.parquet, "ParquetFileFormat$")
    reader, conf = getattr(parquet, "MODULE$"), session._jsc.hadoopConfiguration()
    nothing = getattr(getattr(session._jvm.scala.collection.immutable, "Map$"), "MODULE$").empty()
    for leaf in scans_of(plan_of(frame)):
        files, declared = _files(leaf, frame), _columns(leaf.relation().dataSchema())
        timed = any(str(kind).startswith("timestamp") for kind in declared.values())
        # Whatever a column is called, the words of its type are among those of the schema.
        if timed and _MILLISECONDS in str(reader.readParquetFootersInParallel(conf, files, False).mkString("\n")):
            return "counts milliseconds, of which Spark fails on those far away; write it with microseconds"
        try:
            found = reader.mergeSchemasInParallel(nothing, files, session._jsparkSession)
        except (PySparkException, Py4JError):
            return "has files of different types for one column; write them anew"
        held = {} if found.isEmpty() else _columns(found.get())
        if len({name.casefold() for name in held}) < len(held):
            return "has files with names of columns that differ by capitals alone; write them anew"
        declared = {name.casefold(): kind for name, kind in declared.items()}
        if wrong := sorted(name for name, kind in held.items() if declared.get(name.casefold(), kind) != kind):
            return f"has files whose column {wrong[0]!r} is of another type ({held[wrong[0]]}); write them anew"
    return None


def _columns(schema: Any) -> dict[str, Any]:
    """The columns of a schema and their types, as plain data."""
    return {str(one["name"]): one["type"] for one in json.loads(schema.json())["fields"]}
