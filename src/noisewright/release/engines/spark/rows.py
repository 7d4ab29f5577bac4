"""What goes into Spark and what comes out of it: the columns of a frame, small public tables, and aggregates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

import ibis
import ibis.expr.datatypes as dt
import pyarrow as pa
from ibis.backends.pyspark.datatypes import PySparkType
from ibis.common.exceptions import IbisError

from noisewright.problem.errors import InvalidTableError
from noisewright.release.table.names import require_distinct

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

_WRITTEN = {"string": "string", "bool": "boolean", "int64": "bigint", "date32[day]": "int"}

_PIECE, _MANY, _ONE_UNIT = 2_600, 200, 0xFFFF


def jvm_of(session: SparkSession) -> JavaObject:
    """The packages of the JVM behind a session."""
    return session._jvm


def schema_of(frame: DataFrame) -> ibis.Schema:
    """The columns of a frame, of Ibis; TIMESTAMP is an instant and TIMESTAMP_NTZ a time without a zone."""
    require_distinct(frame.columns)
    return ibis.schema({one.name: _type_of(one) for one in frame.schema.fields})


def _type_of(column: StructField) -> dt.DataType:
    kind = column.dataType.typeName()
    if kind in ("timestamp", "timestamp_ntz"):
        return dt.Timestamp("UTC" if kind == "timestamp" else None, 6)
    try:
        return PySparkType.to_ibis(column.dataType)
    except (RuntimeError, IbisError):
        raise InvalidTableError(
            f"{column.name!r} is of type {column.dataType.simpleString()}, which is not read; leave it out of the"
            " table.",
            column=column.name,
        ) from None


def require_no_padding(frame: DataFrame) -> None:
    """Refuse, by name, columns of a type that Spark fills with blanks when it reads them."""
    for one in frame.schema.fields:
        kind = str(one.metadata.get("__CHAR_VARCHAR_TYPE_STRING", one.dataType.simpleString()))
        if kind.startswith("char("):
            raise InvalidTableError(
                f"{one.name!r} is of type {kind}, which Spark fills with blanks when it is read; make it STRING."
                " Nothing was spent.",
                column=one.name,
            )


def is_collated(frame: DataFrame) -> bool:
    """Whether a text of a frame is compared in another way than by its bytes."""
    return any("collate" in one.dataType.simpleString().lower() for one in frame.schema.fields)


def constant(session: SparkSession, data: pa.Table) -> DataFrame:
    """A small public table as a frame of constants, which Spark sends to every executor; days are counted."""
    kinds = dict(zip(data.column_names, map(str, data.schema.types), strict=True))
    days = {name for name, kind in kinds.items() if kind == "date32[day]"}
    plain = {name: data[name].cast("int32") if name in days else data[name] for name in kinds}
    shape = ", ".join(f"{name}: {_WRITTEN[kind]}" for name, kind in kinds.items())
    rows = list(zip(*(column.to_pylist() for column in plain.values()), strict=True))
    text = json.dumps([dict(zip(kinds, row, strict=True)) for row in rows])
    columns = ", ".join(f"date_from_unix_date({name}) AS {name}" if name in days else name for name in kinds)
    query = f"SELECT {columns} FROM (SELECT inline(from_json(:text, 'array<struct<{shape}>>')))"
    found = session.sql(query, args={"text": text})
    kept = session._jsparkSession.createDataFrame(found._jdf.collectAsList(), found._jdf.schema())
    return type(found)(kept, session)


class Pinned(Protocol):
    """A table in some state."""

    @property
    def state(self) -> str:
        """What differs if it is another one."""

    @property
    def listed(self) -> object:
        """Its frame, with the files that it lists."""


class Query:
    """A query of Spark over tables in some states; its rows come as one text, without a socket that nobody closes."""

    def __init__(self, session: SparkSession, found: JavaObject, pins: Mapping[ops.DatabaseTable, Pinned]) -> None:
        self._session, self._found = session, found
        self.states = {leaf: pin.state for leaf, pin in pins.items()}
        self._frames = {leaf: pin.listed for leaf, pin in pins.items()}

    @classmethod
    def of_text(cls, session: SparkSession, text: str, pins: Mapping[ops.DatabaseTable, Pinned]) -> Query:
        """What Spark reads in a text."""
        # An expression of the query: what `toJSON` puts behind a query is planned, and compiled, besides.
        return cls(session, session.sql(f"SELECT to_json(struct(*)) FROM ({text})")._jdf, pins)

    def anew(self, pins: Mapping[ops.DatabaseTable, Pinned]) -> Query | None:
        """The same query, to be planned and run once more; None if its tables are in other frames by now.

        What its words mean is kept, and nothing of how it was planned or run. A frame in which files were listed anew
        is the same, and other files are another one.
        """
        if any(self._frames[leaf] is not pin.listed for leaf, pin in pins.items()):
            return None
        meant = self._found.queryExecution().analyzed()
        classic = jvm_of(self._session).org.apache.spark.sql.classic.Dataset
        return Query(self._session, classic.ofRows(self._session._jsparkSession, meant), pins)

    def plan(self) -> Any:
        """How Spark will run it, planned to the end; nothing is read."""
        return self._found.queryExecution().executedPlan()

    def rows(self, schema: pa.Schema) -> pa.Table:
        """Its rows as an Arrow table; once, because a plan that failed is not begun again."""
        rows = [row for (row,) in json.loads(_text(self._session._jvm, self._found.collectAsList()))]
        return pa.table(
            [pa.array([_value(row.get(one.name), one.type) for row in rows], one.type) for one in schema], schema
        )


def _text(jvm: JavaObject, lines: JavaObject) -> str:
    """A list of rows of the JVM as it writes itself, which for rows of JSON is an array of arrays.

    An answer of the JVM that is longer than its buffer of 8,192 bytes goes out in parts, and the last one waits
    for a confirmation that the other side delays by 40 milliseconds. Pieces of so few characters fit into the buffer,
    because one is at most three bytes, or two if it is escaped on the way; where they are many, they take longer than
    the delay. A piece does not end within a character of two units.
    """
    whole = jvm.java.lang.StringBuilder().append(lines)
    length, pieces, start = int(whole.length()), list[str](), 0
    piece = _PIECE if length <= _MANY * _PIECE else length
    while start < length:
        end = min(start + piece, length)
        end += int(whole.codePointAt(end - 1)) > _ONE_UNIT
        pieces.append(str(whole.substring(start, end)))
        start = end
    return "".join(pieces)


def _value(value: Any, kind: pa.DataType) -> Any:
    """A value that stood in a text: days stand there as words, and so do doubles that are no numbers."""
    if value is None:
        return None
    if pa.types.is_date(kind):
        return date.fromisoformat(value)
    return float(value) if pa.types.is_floating(kind) else value
