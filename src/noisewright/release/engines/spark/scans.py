"""What a table of Spark is by its plan, a plain scan of Parquet files or more, and with which options it is read.

A plain scan is a table of the catalogue or files at a path, with nothing above it: no query of a view, no filter, no
limit. Which files it has, and what they say of their columns, is asked of Spark, which listed them.

Options of a frame or a table stand before the settings of a session. Some leave out whole files that one value makes
unreadable; any other may be handed on to the reader of Parquet, so that only those that choose files are allowed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.engines.spark.rows import is_collated, jvm_of
from noisewright.release.table.locations import Locations, of_files
from noisewright.release.table.names import folded

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame, SparkSession

_ALLOWED = frozenset(
    {"path", "paths", "basepath", "mergeschema", "recursivefilelookup", "pathglobfilter", "compression"}
    | {"serialization.format"}
)
STARS = "*?[]{}\\"
"""What may stand for other signs in a path."""
_S3 = ("s3", "s3a", "s3n")
"""Connectors to the same buckets."""


def why_not_plain(scan: JavaObject, *, named: bool) -> str | None:
    """Why a scan cannot be read with its options and folders; None if it can.

    The types of folders of a table of the catalogue (`named`) are declared. Those of files at a path were guessed by
    Spark from the names of all folders, so that one person's folder would change what another's name means.
    """
    given = str(scan.relation().options().keys().mkString("\0"))
    for name in sorted(given.split("\0") if given else ()):
        if name.lower() not in _ALLOWED:
            return f"is read with the option {name!r}, which may change what is read; leave it out"
    parts = json.loads(scan.relation().partitionSchema().json())["fields"]
    if guessed := [one["name"] for one in parts if one["type"] != "string" and not named]:
        return (
            f"has folders whose names are the column {guessed[0]!r}, and its type was guessed from them; set"
            " spark.sql.sources.partitionColumnTypeInference.enabled to false, or make it a table of the catalogue"
        )
    return None


def options_of(scan: JavaObject, session: SparkSession) -> dict[str, str]:
    """The options that files are read with, but for their paths."""
    given = dict(jvm_of(session).scala.jdk.javaapi.CollectionConverters.asJava(scan.relation().options()))
    return {str(name): str(value) for name, value in given.items() if name.lower() not in ("path", "paths")}


def matching(paths: Sequence[str], session: SparkSession) -> list[str]:
    """The paths with what their stars stand for now."""
    found = []
    for path in paths:
        whole = jvm_of(session).org.apache.hadoop.fs.Path(path)
        there = whole.getFileSystem(session._jsc.hadoopConfiguration()).globStatus(whole)
        found += [str(one.getPath().toString()) for one in there or ()]
    if not found:
        raise InvalidTableError(f"there is no file {paths[0]} that Spark sees. Nothing was spent.")
    return found


def literal(paths: Iterable[str]) -> list[str]:
    """Paths that were found, written so that stars in them mean themselves: Spark looks for them in every path."""
    return ["".join(f"\\{sign}" if sign in STARS else sign for sign in path) for path in paths]


def named(paths: Sequence[str], options: Mapping[str, str]) -> str:
    """A name for files that does not change from run to run."""
    return f"files_{digest({'paths': list(paths), 'options': dict(options)})[:16]}"


def addressed(locations: Iterable[str]) -> Locations:
    """Where files are that Hadoop addresses so: those of this machine's file system as everybody else knows them."""
    own, far = [], set()
    for location in locations:
        scheme, _, rest = location.partition(":")
        if scheme == "file":
            own.append(f"/{rest.lstrip('/')}")
        else:
            far.add(("address", "s3" if scheme in _S3 else scheme, rest.rstrip("/")))
    return of_files(own) | Locations(frozenset(far))


_SCAN = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_CONSTANT = ("LocalRelation", "OneRowRelation", "Range")
_ABOVE = ("SubqueryAlias", "View")
_CHOOSING = ("Sample", "GlobalLimit", "LocalLimit", "Tail", "Offset")
"""Relations whose rows depend on where others are: a lost task that is done again may choose other rows."""
_MILLISECONDS = "TIMESTAMP(MILLIS"


def plan_of(frame: DataFrame) -> Any:
    """The analysed plan of a frame: what it reads, before anything is optimised."""
    return frame._jdf.queryExecution().analyzed()


def scan_of(plan: JavaObject) -> Any:
    """The scan that a plan is, under whatever names; None if it is more than that."""
    while _kind(plan) in _ABOVE:
        plan = plan.child()
    return plan if _is_scan(plan) else None


def view_of(plan: JavaObject) -> tuple[str, ...] | None:
    """The name of the view that a plan is: one part for a temporary one; None if it is no view."""
    while _kind(plan) == "SubqueryAlias":
        plan = plan.child()
    if _kind(plan) != "View":
        return None
    known = plan.desc().identifier()
    return (str(known.table()),) if plan.isTempView() else _parts(known)


def _kind(plan: JavaObject) -> str:
    return str(plan.getClass().getSimpleName())


def _is_scan(plan: JavaObject) -> bool:
    if _kind(plan) != "LogicalRelation" or plan.relation().getClass().getName() != _SCAN:
        return False
    return bool(plan.relation().fileFormat().getClass().getName() == _PARQUET)


def why_not_steady(plan: JavaObject) -> str | None:
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


def _kinds(plan: JavaObject) -> list[str]:
    """The relations of a plan."""
    return [_kind(plan), *(name for child in _listed(plan.children()) for name in _kinds(child))]


def _listed(sequence: JavaObject) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]


def name_of(scan: JavaObject) -> tuple[str, ...] | None:
    """Catalogue, database and name of a table; None for files that are none."""
    found = scan.catalogTable()
    return None if found.isEmpty() else _parts(found.get().identifier())


def _parts(identifier: JavaObject) -> tuple[str, ...]:
    return str(identifier.catalog().get()), str(identifier.database().get()), str(identifier.table())


def paths_of(scan: JavaObject) -> list[str]:
    """The paths that a scan of files was made of."""
    return [str(path.toString()) for path in _listed(scan.relation().location().rootPaths())]


def scans_of(plan: JavaObject) -> list[Any]:
    """The scans of Parquet files that a plan reads."""
    return [leaf for leaf in _listed(plan.collectLeaves()) if _is_scan(leaf)]


def _state(lines: Iterable[str]) -> str:
    return digest({"files": sorted(lines)})


NO_FILES = _state(())


class Listed:
    """A frame of Spark, and what it reads by its plan, which stays; the files that it lists may be listed anew."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame, self.plan = frame, plan_of(frame)
        self._scans = scans_of(self.plan)
        self._indices = [scan.relation().location() for scan in self._scans]
        self._listings = [_listing(index, frame) for index in self._indices]

    @cached_property
    def is_folder(self) -> bool:
        """Whether Spark lists its files by what is there, and not by a catalogue or the log of a stream."""
        return all(_kind(index) == "InMemoryFileIndex" for index in self._indices)

    @cached_property
    def is_scan(self) -> bool:
        """Whether it is nothing but a scan."""
        return scan_of(self.plan) is not None

    def is_like(self, other: Listed) -> bool:
        """Whether two scans find the same in the same files: columns of one name, type and what else Spark notes."""
        return self._schema == other._schema

    @cached_property
    def _schema(self) -> str:
        return str(self.frame._jdf.schema().json())

    @cached_property
    def why_unsound(self) -> str | None:
        """Why it may give other rows than those of its files, or compare them in another way; None if it does not."""
        if is_collated(self.frame):
            return "compares texts by a collation, by which two persons may be one; copy it without"
        if (why := why_not_steady(self.plan)) is not None:
            return why
        found = (why_not_plain(scan, named=name_of(scan) is not None) for scan in self._scans)
        return next((why for why in found if why is not None), None)

    def roots(self) -> list[str]:
        """The paths that it was made of."""
        return [path for scan in self._scans for path in paths_of(scan)]

    def files(self) -> list[str]:
        """The addresses of the files that it lists."""
        return [file for choose in self._listings for file in _files(choose(), self.frame.sparkSession)]

    def list_anew(self) -> None:
        """Have Spark list its files as they are now."""
        for index in self._indices:
            index.refresh()

    def state(self) -> str:
        """What differs if a file came, went or was written anew: path, length and time of every file as listed.

        The values that the folders of a catalogue stand for are written beside them.
        """
        texts = []
        for index in (choose() for choose in self._listings):
            texts.append(str(index.allFiles().mkString("\n")))
            if not self.is_folder:
                texts.append(str(index.partitionSpec().partitions().mkString("\n")))
        return _state(line for text in texts for line in text.splitlines())

    def why_not_readable(self) -> str | None:
        """Why its Parquet files may fail in the middle of a query; None if they do not, by their schemas.

        Spark fails on a file whose types are not those of the table, and on a time in milliseconds that is far away.
        Where a file has no such column, its rows have none. Where folders stand for columns, it reads no other folder.
        """
        session = self.frame.sparkSession
        parquet = getattr(jvm_of(session).org.apache.spark.sql.execution.datasources.parquet, "ParquetFileFormat$")
        reader, conf = getattr(parquet, "MODULE$"), session._jsc.hadoopConfiguration()
        nothing = getattr(getattr(jvm_of(session).scala.collection.immutable, "Map$"), "MODULE$").empty()
        if self.is_folder and any(_leaves_out(index, session) for index in self._indices):
            return "has files beside the folders that stand for columns, which Spark would leave out; move them apart"
        for scan, choose in zip(self._scans, self._listings, strict=True):
            files, declared = choose().allFiles(), _columns(scan.relation().dataSchema())
            timed = "timestamp" in str(declared.values())  # at every depth
            # Whatever a column is called, the words of its type are among those of the schema.
            if timed and _MILLISECONDS in str(reader.readParquetFootersInParallel(conf, files, False).mkString("\n")):
                return "counts milliseconds, of which Spark fails on those far away; write it with microseconds"
            try:
                found = reader.mergeSchemasInParallel(nothing, files, session._jsparkSession)
            except (PySparkException, Py4JError):
                return "has files of different types for one column; write them anew"
            held = {} if found.isEmpty() else _columns(found.get())
            if len(set(map(folded, held))) < len(held):
                return "has files with names of columns that differ by capitals alone; write them anew"
            declared = {folded(name): kind for name, kind in declared.items()}
            if wrong := sorted(name for name, kind in held.items() if declared.get(folded(name), kind) != kind):
                return f"has files whose column {wrong[0]!r} is of another type ({held[wrong[0]]}); write them anew"
        return None


def _listing(index: JavaObject, frame: DataFrame) -> Callable[[], Any]:
    """What gives an index with its files: of a table with folders of the catalogue, that of all folders."""
    if _kind(index) != "CatalogFileIndex":
        return lambda: index
    nothing = getattr(jvm_of(frame.sparkSession).scala.collection.immutable, "Nil$")
    return lambda: index.filterPartitions(getattr(nothing, "MODULE$"))


def _files(index: JavaObject, session: SparkSession) -> list[str]:
    """The addresses of the files of an index, in one question."""
    joined = jvm_of(session).org.apache.hadoop.util.StringUtils.join("\n", index.inputFiles())
    return [unquote(file) for file in str(joined).split("\n") if file]


def _leaves_out(index: JavaObject, session: SparkSession) -> bool:
    """Whether Spark reads only some folders of files: one folder called `column=value` takes the place of all others.

    Files whose names begin with _ or a point hold no rows.
    """
    spec = index.partitionSpec()
    if spec.partitionColumns().isEmpty():
        return False
    places = (file.rpartition("/") for file in _files(index, session))
    return len({folder for folder, _, name in places if name[:1] not in "_."}) > int(spec.partitions().size())


def _columns(schema: JavaObject) -> dict[str, Any]:
    """The columns of a schema and their types, as plain data."""
    return {str(one["name"]): one["type"] for one in json.loads(schema.json())["fields"]}
