"""The names of files and of their columns: what a glob means, and the first line of CSV files."""

from __future__ import annotations

import csv
from itertools import takewhile
from pathlib import Path

from noisewright.problem.errors import InvalidTableError
from noisewright.release.names import folded

_LONGEST_HEADER = 10**6
_SEPARATORS = ",;\t|"


def matching(pattern: str) -> list[str]:
    """The files that a glob means."""
    whole = Path(pattern)
    fixed = Path(*takewhile(lambda part: not any(c in part for c in "*?["), whole.parts))
    return sorted(map(str, fixed.glob(str(whole.relative_to(fixed)))))


def folder_columns(paths: list[str]) -> tuple[str, ...]:
    """The columns that folders called `column=value` stand for: one list for all files, whatever the values are."""
    found = {tuple(part.partition("=")[0] for part in Path(path).parts[:-1] if "=" in part) for path in paths}
    if len(found) > 1:
        raise InvalidTableError(
            "the folders of these files stand for different columns"
            f" ({' and '.join(sorted(', '.join(one) or 'none' for one in found)[:2])}); give files of one kind."
        )
    return found.pop() if found else ()


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
