"""Files for DuckDB: SQL that reads them by fixed rules, and the columns that their folders stand for.

What a folder is called is chosen by whoever has rows in it, so that DuckDB neither looks for columns in the names of
folders nor guesses types from them, and stars in the names of files mean themselves. The value of a folder is read for
each file by one total expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from noisewright.release.files import Files, Folder
from noisewright.release.names import folded

_MISSING = ("__HIVE_DEFAULT_PARTITION__", "NULL")
"""What Hive, Spark and others, and DuckDB, call the folder of rows whose value is missing."""


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
