"""Files for DuckDB: SQL that reads them by fixed rules, and the columns that their folders stand for.

What a folder is called is chosen by whoever has rows in it, so that DuckDB neither looks for columns in the names of
folders nor guesses types from them, and stars in the names of files mean themselves. The value of a folder is read for
each file by one total expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import count

from noisewright.release.files import Files, Folder
from noisewright.release.names import folded

_MISSING = ("__HIVE_DEFAULT_PARTITION__", "NULL")
"""What Hive, Spark and others, and DuckDB, call the folder of rows whose value is missing."""

LEAVES = "SELECT name, coalesce(num_children, 0), converted_type, logical_type FROM parquet_schema(?)"
"""What the schemas of Parquet files say, in their order: each column, and behind it what is nested in it."""
_CONVERTED = re.compile("UTF8|LIST|MAP|MAP_KEY_VALUE|ENUM|DECIMAL|DATE|TIME_.*|TIMESTAMP_MICROS|U?INT_.*|INTERVAL")
_LOGICAL = re.compile("(String|List|Map|Enum|Decimal|Date|Time|Timestamp|Int|UUID|Null|Float16)Type[(].*")
_COARSE = re.compile("TIMESTAMP_MILLIS|Timestamp.*MILLIS=Milli.*")
"""Types of Parquet: those that DuckDB reads whatever a value is, and times in milliseconds, of which it does not."""


def why_not_read(leaves: Iterable[tuple[str, int, str | None, str | None]]) -> tuple[str, str] | None:
    """The first column of Parquet files that DuckDB may fail on, at whatever depth, and why; None if there is none."""
    open_ends: list[int] = []
    column = ""
    for name, children, *types in leaves:
        while open_ends and open_ends[-1] == 0:
            open_ends.pop()
        if open_ends:
            open_ends[-1] -= 1
            column = name if len(open_ends) == 1 else column
        open_ends.append(children)
        said = [one for one in types if one is not None]
        if any(map(_COARSE.fullmatch, said)):
            return column, "counts milliseconds, of which DuckDB fails on those far away; write it with microseconds"
        for one, known in zip(types, (_CONVERTED, _LOGICAL), strict=True):
            if one is not None and not known.fullmatch(one):
                return column, f"is of type {one.removesuffix('()')}, on whose values DuckDB may fail; write it as text"
    return None


def parquet(paths: Sequence[str], more: str = "") -> str:
    """Parquet files, for SQL."""
    rules = "hive_partitioning = false, binary_as_string = false, union_by_name = false"
    return f"read_parquet({_listed(paths)}, {rules}{more})"


def csv(names: Sequence[str], separator: str, paths: Sequence[str], more: str = "") -> str:
    """CSV files of these columns, for SQL: all texts, by a fixed dialect.

    Rows with fewer values than the header are left out, and values beyond it are not read. Nothing is sniffed: a
    sniffer looks at values, and a wrong guess raises in the middle of a release. Nor is the reader strict: a strict one
    drops every row after a letter behind a closing quote, whoever they are about, and fails on an odd line end. Nor
    does it read a file in pieces at once: where a piece begins, it would have to guess whether that is within quotes,
    and one person's line ends would lose the rows of others.
    """
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    dialect = f"delim = {quoted(separator)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
    rules = "ignore_errors = true, strict_mode = false, nullstr = '', allow_quoted_nulls = false, parallel = false"
    rules = f"{rules}, hive_partitioning = false"
    return f"read_csv({_listed(paths)}, {dialect}, columns = {{{columns}}}, {rules}{more})"


def with_folders(source: Callable[..., str], files: Files, names: Sequence[str]) -> str:
    """A query for files with these columns, and those of their folders, which stand before one of the same name."""
    if not files.folders:
        return f"SELECT * FROM {source(files.absolute)}"
    free = next(one for one in (f"file_{i}" for i in count()) if one not in set(map(folded, names)))
    stood = {folded(folder.column) for folder in files.folders}
    left_out = [free, *(name for name in names if folded(name) in stood)]
    values = [f"{_value(folder, free)} AS {identifier(folder.column)}" for folder in files.folders]
    query = f"SELECT * EXCLUDE ({', '.join(map(identifier, left_out))}), {', '.join(values)}"
    return f"{query} FROM {source(files.absolute, f', filename = {quoted(free)}')}"


def _value(folder: Folder, file: str) -> str:
    """The value of a folder, from the path of a file; escapes that are none, or of no UTF-8, stay as they are."""
    named = f"string_split({identifier(file)}, '/')[{folder.place}]"
    text = f"substring({named}, {len(folder.column) + 2})"
    missing = ", ".join(map(quoted, _MISSING))
    return f"CASE WHEN {text} NOT IN ({missing}) THEN coalesce(TRY(url_decode({text})), {text}) END"


def literal(path: str) -> str:
    """A path in which stars mean themselves."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)


def quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _listed(paths: Sequence[str]) -> str:
    return f"[{', '.join(quoted(literal(path)) for path in paths)}]"
