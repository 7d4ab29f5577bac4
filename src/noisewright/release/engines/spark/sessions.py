"""A session of Spark beside the given one, what all tables of it share, and tables with their files as they are listed.

Files at a path that were listed before are listed anew in the same frame: only their names, lengths and times are asked
for. Where they are as they were, what was found out about them stays true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import getpid
from threading import RLock
from typing import TYPE_CHECKING, Any

import ibis
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from noisewright.problem.errors import InvalidTableError
from noisewright.release.engines.spark.rows import Query
from noisewright.release.engines.spark.scans import NO_FILES, STARS, Listed, literal, matching

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

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
    # Nothing that is known of the values decides what is read: least and greatest ones leave NaN out.
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.recordLevelFilter.enabled": "false",
    "parquet.filter.stats.enabled": "false",
    "parquet.filter.columnindex.enabled": "false",
    "parquet.filter.bloom.enabled": "false",
    "parquet.filter.dictionary.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.optimizer.runtimeFilter.semiJoinReduction.enabled": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.metadataOnly": "false",
    "spark.sql.cbo.enabled": "false",
    "spark.sql.cbo.planStats.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """How a table is read: `read` gives a frame of its files as they are when it is called."""

    read: Callable[[], Any]
    paths: Sequence[str] = ()
    """Where its files are, if nothing else can change of it."""

    def may_list(self, before: Listed) -> bool:
        """Whether a frame of it that was read before can have its files listed anew."""
        return bool(self.paths) and before.is_folder

    def has_listed(self, before: Listed) -> bool:
        """Whether a frame of it that was read before has its files as they are now, because they were listed anew.

        Where the paths have no stars, Spark lists what is there; a folder that is gone has no files.
        """
        if not self.may_list(before):
            return False
        try:
            starred = any(sign in path for path in self.paths for sign in STARS)
            if starred and before.roots() != matching(self.paths, before.frame.sparkSession):
                return False
            before.list_anew()
        except (PySparkException, Py4JError):  # with what it was made with; reading it anew says whether it can be
            return False
        return True


class Pin:
    """A table as a snapshot has it: a frame of its files, and their state."""

    def __init__(self, listed: Listed) -> None:
        self.listed, self.state = listed, listed.state()
        self.was_read = self.is_readable = False
        self.whole: dict[str, bool] = {}
        """By column, whether no value of it is missing, as far as that was asked."""


@dataclass(slots=True)
class Trial:
    """A rehearsal: what is taken for true of the units that nobody knows about, and whether that was asked."""

    whole: bool = False
    asked: bool = False


@dataclass(eq=False)
class Home:
    """What all tables of one session share."""

    given: Any
    own: Any
    backend: Any
    relations: dict[Any, Relation] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    lock: Any = field(default_factory=RLock)
    process: int = field(default_factory=getpid)
    pinned: dict[Any, Pin] | None = None
    """In a snapshot, by table: what was listed."""
    known: dict[Any, Pin] = field(default_factory=dict)
    """By table, what was listed last, and was the same at the end."""
    holder: int | None = None
    """The thread that is in a snapshot."""
    trial: Trial | None = None
    rehearsed: dict[Any, Query] = field(default_factory=dict)
    """The queries of the last rehearsal, planned."""
    meant: dict[Any, Query] = field(default_factory=dict)
    """The same ones, for releases of the same plan: what their words mean by these settings is not asked again."""
    settings: dict[str, str] = field(default_factory=dict)
    """What was last set in the session: what is set in the given one, and what must be."""
    views: dict[Any, tuple[str, Listed]] = field(default_factory=dict)
    """By table, the view that queries know it by, and the frame that it is of."""

    def pin(self, leaf: ops.DatabaseTable) -> Pin:
        """A table with its files as they are now; what is known of them stays true while they are the same."""
        relation, before = self.relations[leaf], self.known.get(leaf)
        if before is not None and relation.may_list(before.listed):
            found = Pin(before.listed) if relation.has_listed(before.listed) else None
            if found is not None and found.state == before.state != NO_FILES:
                found.whole, found.is_readable = dict(before.whole), before.is_readable
                return found
            self.forget()  # plans over this frame may read other files than they were made for
        found = Pin(Listed(relation.read()))
        if before is not None and found.state == before.state:
            found.is_readable = before.is_readable
            found.whole = dict(before.whole) if found.listed.is_like(before.listed) else {}
        return found

    def is_as_it_was(self, leaf: ops.DatabaseTable, pin: Pin) -> bool:
        """Whether the files of a table are those that were listed."""
        relation = self.relations[leaf]
        same = (pin.listed if relation.has_listed(pin.listed) else Listed(relation.read())).state() == pin.state
        if not same:
            self.forget()
        return same

    def forget(self) -> None:
        """Keep no query."""
        self.rehearsed.clear()
        self.meant.clear()

    def view(self, leaf: ops.DatabaseTable, pin: Pin) -> str:
        """The name by which queries know a table as it was listed."""
        name, listed = self.views.get(leaf, (f"noisewright_{len(self.views)}", None))
        if listed is not pin.listed:
            opaque(pin.listed.frame).createOrReplaceTempView(name)
            self.views[leaf] = name, pin.listed
        return name


def opaque(frame: DataFrame) -> DataFrame:
    """The scan barrier of Spark: the same rows, each column inside a CASE, which no reader of files is handed."""
    quoted = ["`" + name.replace("`", "``") + "`" for name in frame.columns]
    return frame.selectExpr(*(f"CASE WHEN {name} IS NOT NULL THEN {name} END AS {name}" for name in quoted))


_HOMES: dict[tuple[str, int], Home] = {}


def require_plans(given: object) -> None:
    """Refuse sessions and frames of Spark Connect, whose plans cannot be seen."""
    if "connect" in type(given).__module__:
        raise InvalidTableError(
            "this is Spark Connect, which shows no plans, so that a query cannot be told from a table; use a session of"
            " spark-submit, or of SparkSession.builder.master(...). Nothing was spent."
        )


def home_of(session: SparkSession | None) -> Home:
    """What stands for a session; the active one, or one by Spark's own defaults, if none is given."""
    given = session or _begun()
    require_plans(given)
    jvm: Any = given._jvm
    key = (str(given.sparkContext.applicationId), int(jvm.System.identityHashCode(given._jsparkSession)))
    if key not in _HOMES:
        own = given.newSession()
        own.conf.set("spark.sql.session.timeZone", "UTC")
        _HOMES[key] = Home(given, own, ibis.pyspark.connect(own))
    home, settings = _HOMES[key], {**given.conf.getAll, **_SETTINGS}
    if settings != home.settings:
        for name, value in settings.items():
            if name in _SETTINGS or home.own.conf.isModifiable(name):
                home.own.conf.set(name, value)
        # By other settings the same files may have other values.
        home.settings = settings
        home.known.clear()
        home.forget()
    return home


def _begun() -> SparkSession:
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


def is_stopped(session: SparkSession) -> bool:
    """Whether a session is gone."""
    context = session.sparkContext
    return context._jsc is None or bool(context._jsc.sc().isStopped())


def read_table(session: SparkSession, name: str) -> DataFrame:
    """A table of the catalogue with its files listed anew; one that somebody cached is left alone, to be refused."""
    if not session.catalog.isCached(name):
        session.catalog.refreshTable(name)
    return session.table(name)


def read_files(
    session: SparkSession, paths: Sequence[str], options: Mapping[str, str], columns: StructType
) -> DataFrame:
    """Parquet files listed anew; the columns are given, so that no file is opened for them."""
    return session.read.schema(columns).options(**options).parquet(*literal(matching(paths, session)))
