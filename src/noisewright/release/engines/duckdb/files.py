"""Files for DuckDB: what a glob and its folders stand for, the header of CSV files, and the SQL that reads them.

What a folder is called is chosen by whoever has rows in it, so that DuckDB neither looks for columns in the names of
folders nor guesses types from them, and stars in the names of files mean themselves. The value of a folder is read for
each file by one total expression.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.table.names import folded

_LONGEST_HEADER = 10**6
_SEPARATORS = ",;\t|"
_STARS = "*?["
TEXTS = frozenset({".csv", ".tsv", ".txt"})
"""The endings of files that are read as text."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A column that folders called `column=value` stand for; `place` is where they are in a path, from 1 or from -1."""

    column: str
    place: int


@dataclass(frozen=True, slots=True)
class Files:
    """Files that are read as one table, as they were given and found.

    Which columns their folders stand for is said by what was given, `year=*/*.parquet`, and never by what the folders
    that a star found are called: those names may be chosen by a person.
    """

    given: str
    paths: list[str]
    absolute: list[str]
    folders: tuple[Folder, ...]

    @property
    def name(self) -> str:
        """A name that does not change from run to run."""
        folders = [[folder.column, folder.place] for folder in self.folders]
        return f"files_{digest({'paths': self.paths, **({'folders': folders} if folders else {})})[:16]}"


def files_of(text: str) -> Files:
    """The files that a path or a glob means; refuses none."""
    starred = any(sign in text for sign in _STARS) and not Path(text).exists()
    found = _matching(text) if starred else [text]
    if not found or not all(Path(one).is_file() for one in found):
        raise InvalidTableError(f"there is no file {text}; give the path of a CSV or Parquet file, or a glob.")
    if not all(map(_writable, found)):
        raise InvalidTableError(f"{text} finds a file whose name is no UTF-8; rename it.")
    return Files(text, found, [str(Path(one).absolute()) for one in found], _folders(text))


def _matching(pattern: str) -> list[str]:
    whole = Path(pattern)
    fixed = Path(*takewhile(lambda part: not any(c in part for c in _STARS), whole.parts))
    return sorted(map(str, fixed.glob(str(whole.relative_to(fixed)))))


def _writable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _folders(text: str) -> tuple[Folder, ...]:
    """The columns that the folders of a path or glob stand for: those whose names it says itself."""
    whole = Path(text).absolute()
    own, given = whole.parts, len(Path(text).parts)
    deep = [place for place, part in enumerate(own) if part == "**"]
    found = []
    for place, part in enumerate(own[:-1]):
        column, sign, _ = part.partition("=")
        if place < len(own) - given or not sign or not column or any(star in column for star in _STARS):
            continue
        if deep and deep[0] < place < deep[-1]:
            raise InvalidTableError(f"{part} of {text} is between two **, so that it may be anywhere; give one **.")
        found.append(Folder(column, place - len(own) if deep and deep[0] < place else place + 1))
    if len({folded(folder.column) for folder in found}) < len(found):
        raise InvalidTableError(f"two folders of {text} stand for the same column; give each another name.")
    return tuple(found)


def header(paths: list[str]) -> tuple[list[str], str]:
    """The column names of CSV files, and their separator: both from the first line, which holds no values."""
    lines = []
    for path in paths:
        with Path(path).open("rb") as stream:
            line = stream.readline(_LONGEST_HEADER).decode("utf-8-sig", "replace")
            lines.append(line.partition("\n")[0].partition("\r")[0])
    if len(set(lines)) > 1:
        raise InvalidTableError("the files of this glob have different header lines; give files of one kind.")
    separator = max(_SEPARATORS, key=lines[0].count)
    try:
        names = next(csv.reader([lines[0]], delimiter=separator), [])
    except csv.Error:
        names = []
    if not names or not all(names) or len(set(map(folded, names))) < len(names):
        raise InvalidTableError(f"the header of {paths[0]} must name every column once; it is {lines[0][:200]!r}.")
    return names, separator


def unsure_decimals(files: Files) -> frozenset[str]:
    """The columns within CSV files that separate them by semicolons, as is done where numbers have decimal commas."""
    if not {Path(one).suffix.lower() for one in files.paths} <= TEXTS:
        return frozenset()
    names, separator = header(files.absolute)
    folders = {folded(folder.column) for folder in files.folders}
    return frozenset(name for name in names if folded(name) not in folders) if separator == ";" else frozenset()


_MISSING = ("__HIVE_DEFAULT_PARTITION__", "NULL")
"""What Hive, Spark and others, and DuckDB, call the folder of rows whose value is missing."""

LEAVES = "SELECT name, coalesce(num_children, 0), converted_type, logical_type FROM parquet_schema($1)"
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


def parquet_scan(paths: Sequence[str], more: str = "") -> str:
    """Parquet files, for SQL."""
    rules = "hive_partitioning = false, binary_as_string = false, union_by_name = false"
    return f"read_parquet({_listed(paths)}, {rules}{more})"


def csv_scan(names: Sequence[str], separator: str, paths: Sequence[str], more: str = "") -> str:
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
