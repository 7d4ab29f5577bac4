"""The true whole numbers of a plan: compiled, limited and added up; they never leave this process."""

from __future__ import annotations

from typing import Any

import numpy as np

from noisewright.release.engines.base import Engine
from noisewright.release.layout import Layout, Table
from noisewright.release.limiting import in_engine, kept_rows
from noisewright.release.numbers import Persons, Rows
from noisewright.release.stage import GROUP, UNIT, rows_of, totals

_ROWS_AT_ONCE = 12_000_000
_LARGEST_WORD = 2**63
_CELL = "tcell"
"""Its first letter says that it is content: which cell a row is in may decide whether it stays."""


def aggregated(table: Any, unit: str, layout: Layout, salt: int, engine: Engine, *, one_row: bool) -> list[int]:
    """The vector of a layout over a checked table; groups nobody is in have zeros.

    Guarantees: with the same salt, two tables that differ by the rows of one person give vectors that differ by an
    element of `layout.sensitivity`.
    """
    whole = table[unit].type().is_integer() and not one_row
    slices = 1 + int(engine.fetch(table.agg(n=table.count()))["n"][0].as_py()) // _ROWS_AT_ONCE if whole else 1
    found: list[int] = []
    for part in layout.tables:
        rows = rows_of(table, unit, part.grouping, part.numbers, engine)
        if one_row:
            found += _summed(totals(rows, part.numbers, engine, person=None), part, engine)
        elif whole:
            found += _in_process(rows, part, salt, engine, slices)
        else:
            found += _in_engine(rows, part, salt, engine)
    return found


def _in_engine(rows: Any, part: Table, salt: int, engine: Engine) -> list[int]:
    """Any unit: limited by windows of the engine, which only gives the sums away."""
    limited = _gathered(in_engine(_parted(rows, part.together), f"{salt:016x}", part.rows, part.groups, engine))
    return _summed(totals(limited, part.numbers, engine, person="first"), part, engine)


def _parted(rows: Any, together: int) -> Any:
    """Rows whose group is that of the limits; where it has several cells, the cell is part of the content."""
    if together == 1:
        return rows
    cell = rows[GROUP] % together
    return rows.mutate(**{GROUP: rows[GROUP] - cell, _CELL: cell})


def _gathered(rows: Any) -> Any:
    """Limited rows with the group that they are counted in."""
    return rows.mutate(**{GROUP: rows[GROUP] + rows[_CELL]}) if _CELL in rows.columns else rows


def _summed(query: Any, part: Table, engine: Engine) -> list[int]:
    """Sums that the engine made, at the places of their groups."""
    data = engine.fetch(query).to_pydict()
    width = len(part.numbers)
    vector = [0] * part.count
    for row, group in enumerate(data[GROUP]):
        for place, number in enumerate(part.numbers):
            column = "n0" if isinstance(number, Rows) or f"s{place}" not in data else f"s{place}"
            vector[group * width + place] = int(data[column][row])
    return vector


def _in_process(rows: Any, part: Table, salt: int, engine: Engine, slices: int) -> list[int]:
    """Whole units: unit, group and terms are fetched, limited and added here, in slices of persons."""
    terms = [place for place in range(len(part.numbers)) if f"t{place}" in rows.columns]
    vector = [0] * part.count
    for own in range(slices):
        chosen = rows if slices == 1 else rows.filter((rows[UNIT] % slices + slices) % slices == own)
        data = engine.fetch(chosen)
        columns = {name: data[name].to_numpy().astype(np.int64, copy=False) for name in data.column_names}
        _add(vector, part, columns, terms, salt)
    return vector


def _add(vector: list[int], part: Table, columns: dict[str, Any], terms: list[int], salt: int) -> None:
    content = [columns[f"t{place}"] for place in terms]
    limited = columns[GROUP]
    if part.together > 1:
        cell = columns[GROUP] % part.together
        content, limited = [cell, *content], columns[GROUP] - cell
    kept, first = kept_rows(columns[UNIT], limited, content, salt, part.rows, part.groups)
    group, width = columns[GROUP][kept], len(part.numbers)
    counts = np.bincount(group, minlength=part.grouping.count)
    heads = np.bincount(group[first], minlength=part.grouping.count)
    for place, number in enumerate(part.numbers):
        if place in terms:
            sums = exact_sums(columns[f"t{place}"][kept], group, part.grouping.count)
        else:
            sums = [int(n) for n in (heads if isinstance(number, Persons) else counts)]
        for own, total in enumerate(sums):
            vector[own * width + place] += total


def exact_sums(values: Any, group: Any, count: int) -> list[int]:
    """Sums by group as Python's own whole numbers.

    64 bits hold a sum where (rows) times (largest term) does; otherwise terms are split into two halves of 32 bits,
    whose sums fit for fewer than 2^31 rows.
    """
    largest = int(np.abs(values).max(initial=0))
    if largest * len(values) < _LARGEST_WORD:
        return [int(total) for total in _sums(values, group, count)]
    high, low = values >> 32, values & 0xFFFFFFFF
    upper, lower = _sums(high, group, count), _sums(low, group, count)
    return [(int(a) << 32) + int(b) for a, b in zip(upper, lower, strict=True)]


def _sums(values: Any, group: Any, count: int) -> Any:
    """Sums of whole numbers by group, in 64 bits; `bincount` with weights would add doubles."""
    found = np.zeros(count, np.int64)
    np.add.at(found, group, values)
    return found
