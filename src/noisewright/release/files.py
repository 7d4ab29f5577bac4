"""The names of files and of their columns: what a glob means, what its folders stand for, the header of CSV files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.names import folded

_LONGEST_HEADER = 10**6
_SEPARATORS = ",;\t|"
_STARS = "*?["


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
