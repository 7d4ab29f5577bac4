"""`noisewright init`: a first spec file from the columns of a table, to be filled in; no value is looked at."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

import typer

from noisewright.app.cli import options
from noisewright.app.cli.output import check_places, remark, writing
from noisewright.problem.errors import InvalidInputError
from noisewright.release.engines.registry import is_address, shown

_NUMBERS = ("int", "uint", "float", "decimal")
_TEXTS = (".csv", ".tsv", ".txt")

TableFile = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A CSV or Parquet file or glob, a table of a database file (path::table), or the address of a table.",
        show_default=False,
    ),
]


def init(
    table: TableFile,
    unit: Annotated[str | None, options.option("COLUMN", "The column that says whose row it is.")] = None,
    output: Annotated[
        Path | None, options.option("FILE", "The spec to write; else the name of the table, with .toml.")
    ] = None,
) -> None:
    """Write a first spec file for a table, with comments, from its column names and types alone."""
    path = output or Path(_plain_stem(table)).with_suffix(".toml")
    check_places(output=path)
    if path.exists():
        raise InvalidInputError(f"{path} is there already; give another name with --output, or move it away.")
    try:
        from noisewright.release.table.sources import schema_of
    except ImportError:
        raise InvalidInputError(
            "tables need packages that are not installed: pip install 'noisewright[tables]'."
        ) from None

    columns = schema_of(table)
    if unit is not None and unit not in columns:
        raise InvalidInputError(f"--unit is {unit!r}; the columns are {', '.join(map(repr, columns))}.")
    source = _from_folder(table, path.absolute().parent)
    text = spec_text(source, columns, unit)
    with writing(path), path.open("x", encoding="utf-8") as stream:
        stream.write(text)
    remark(f"The spec is in {path}; fill it in, then: noisewright plan {path}")
    if is_address(table) and source != table:
        remark("The password is not in it; give it by PGPASSWORD or a password file.")


def spec_text(source: str, columns: dict[str, str], unit: str | None) -> str:
    """The spec, with what only a person can know left to be filled in."""
    stem = Path(_plain_stem(source)).name
    texts = source.partition("::")[0].lower().endswith(_TEXTS)
    numbers = [name for name, kind in columns.items() if texts or kind.startswith(_NUMBERS)]
    example = next((name for name in numbers if name != unit), "amount")
    return "\n".join([*_head(source, columns, unit, stem), *_types(columns, unit, texts), *_rest(example, stem)]) + "\n"


def _head(source: str, columns: dict[str, str], unit: str | None, stem: str) -> list[str]:
    return [
        "# What to release about a table, by the names that Python has (nw.Dataset, dataset.plan, nw.ask).",
        "# noisewright plan FILE     shows the error to expect, and spends nothing",
        "# noisewright release FILE  charges the budget and gives the answers",
        "",
        "[dataset]",
        f"source = {quoted(source)}",
        "# The column that says whose row it is: all rows of one person are protected together.",
        "# One of: " + ", ".join(f"{quoted(name)} ({kind})" for name, kind in columns.items()),
        f"unit = {quoted(unit or '')}",
        "# Everything that is ever released about these persons, together.",
        "budget = { epsilon = 3 }",
        f"ledger = {quoted(stem + '.ledger')}",
        "# How much of a person counts: rows in a group, and groups of an answer.",
        "rows_per_group = 1",
        "groups_per_person = 1",
        "# one_row_per_person = true  # if the table has one row for each person",
        "# modified_is_public = true  # everybody may know when files were written: old answers say so",
        "",
    ]


def _types(columns: dict[str, str], unit: str | None, texts: bool) -> list[str]:
    if not texts:
        return []
    return [
        "# A CSV file holds text. Say how columns are read, or leave them out:",
        '# "number" (1.5), "decimal comma" (1,5), "integer", "date", "time" or "instant";',
        '# in a file with semicolons "decimal point" instead of "number".',
        "[dataset.types]",
        *(f'# {quoted(name)} = ""' for name in columns if name != unit),
        "",
    ]


def _rest(example: str, stem: str) -> list[str]:
    return [
        "# What this release may spend of the budget.",
        "[privacy]",
        "epsilon = 1",
        "",
        "[[ask]]",
        'kind = "count"',
        "",
        "# Bounds come from what everybody knows about such values, never from the data.",
        "# [[ask]]",
        '# kind = "mean"',
        f"# column = {quoted(example)}",
        "# bounds = [0, 100]",
        '# by = "groups"',
        "",
        "# Every group that may occur, from public knowledge; a group nobody is in gets noise around zero.",
        "# [keys.groups]",
        '# columns = "…"',
        '# values = ["…", "…"]             # or: private = true, where nobody can list them (needs a delta)',
        "",
        "# More at the top of the file, before [dataset]:",
        '# filter = ["age >= 18"]           # which rows count',
        '# utility = "absolute-error"       # what counts as good; squared-error unless given',
        f"# output = {quoted(stem + '-answers.csv')}  # .csv, .parquet or .json",
        f"# report = {quoted(stem + '-report.html')}",
    ]


def quoted(text: str) -> str:
    """A text as TOML writes it, in one line whatever it holds."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() or one == " " else f"\\U{ord(one):08x}" for one in written)


def _plain_stem(table: str) -> str:
    """The name of a table without its ending; stars of a glob are left out."""
    path, _, name = table.partition("::")
    named = _named(table) if is_address(table) else name or Path(path).stem
    return "".join(c for c in named if c.isalnum() or c in "-_ ").strip() or "spec"


def _named(address: str) -> str:
    """The last part of an address without stars: the table without its schema, a file without its ending."""
    parts = [part for part in re.split("[/:]", address.partition("?")[0]) if part and not set("*?[{") & set(part)]
    last = unquote(parts[-1] if parts else "")
    return last.rpartition(".")[2] if not last.endswith(".parquet") else last.removesuffix(".parquet")


def _from_folder(table: str, folder: Path) -> str:
    """The source as the spec names it: from the spec's own folder where that is possible; without a password."""
    if is_address(table):
        return shown(table)
    path, marker, name = table.partition("::")
    try:
        near = os.path.relpath(Path(path).absolute(), folder)
    except ValueError:  # on another drive
        near = str(Path(path).absolute())
    return f"{near}{marker}{name}"
