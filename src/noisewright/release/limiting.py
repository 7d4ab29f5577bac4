"""Limiting what a person has: at most so many rows in a group, and at most so many groups.

Which rows stay is a function of the person's own rows and of the salt, so that nobody else's rows depend on whether a
person is there; it holds for every salt, and a fresh one for each release spreads what is lost. Identical rows of a
person are numbered first, so that each copy has its own chance and no order of storage matters.

Two ways give such a choice: windows inside the engine (any unit), and arrays of whole numbers in this process (whole
units), which is several times faster. They choose differently; each by itself is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis
import numpy as np
from numpy.typing import NDArray

from noisewright.release.engines.base import Engine
from noisewright.release.stage import GROUP, UNIT

Whole = NDArray[np.int64]
_LARGEST_WORD = 2**63
_HALF = np.uint64(32)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def in_engine(rows: Any, salt: str, most_rows: int, most_groups: int, engine: Engine) -> Any:
    """The rows that stay, by windows; `first` is 1 for one row of each person in a group.

    Rows are ordered by (hash of salt, unit, group, content, copy number), content, copy number: ROW_NUMBER over an
    order without ties among different rows. Groups are ordered by (hash of salt, unit, group), group.
    """
    content = [name for name in rows.columns if name.startswith("t")]
    unit = engine.digits_of(rows[UNIT]) if rows[UNIT].type().is_binary() else rows[UNIT].cast("string")
    copied = rows.mutate(copy=ibis.row_number().over(group_by=[UNIT, GROUP, *content]), unit_text=unit)
    own = _text(salt, copied.unit_text, copied[GROUP])
    full = _joined([own, *(copied[name].cast("string") for name in content), copied["copy"].cast("string")])
    hashed = copied.mutate(gh=engine.hash_of(own), rh=engine.hash_of(full))
    ranked = hashed.mutate(
        r=ibis.row_number().over(group_by=[UNIT, GROUP], order_by=["rh", *content, "copy"]),
        g=ibis.dense_rank().over(group_by=[UNIT], order_by=["gh", GROUP]),
    )
    kept = ranked.filter((ranked.r < most_rows) & (ranked.g < most_groups))
    return kept.mutate(first=(kept.r == 0).cast("int64"))


def _text(salt: str, unit: Any, group: Any) -> Any:
    return _joined([ibis.literal(salt), unit, group.cast("string")])


def _joined(parts: Sequence[Any]) -> Any:
    return ibis.literal(",").join(list(parts))


def kept_rows(
    unit: Whole, group: Whole, content: Sequence[Whole], salt: int, most_rows: int, most_groups: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Places of the rows that stay, and which of them are the first of their person in their group."""
    if not len(unit):
        return np.empty(0, np.intp), np.empty(0, bool)
    order = _by_person(unit, group)
    u, k = unit[order], group[order]
    starts = np.flatnonzero(np.r_[True, (u[1:] != u[:-1]) | (k[1:] != k[:-1])])
    sizes = np.diff(np.r_[starts, len(u)])
    within = _within_groups(u[starts], k[starts], salt, most_groups)
    keep = np.repeat(within, sizes)
    large = np.flatnonzero(within & (sizes > most_rows))
    if len(large):
        run = np.repeat(np.arange(len(large)), sizes[large])
        places = np.repeat(starts[large] - np.r_[0, np.cumsum(sizes[large])[:-1]], sizes[large]) + np.arange(len(run))
        columns = [column[order[places]] for column in content]
        keep[places] = _ranks(run, u[places], k[places], columns, salt) < most_rows
    kept = np.flatnonzero(keep)
    run_of = np.repeat(np.arange(len(starts)), sizes)[kept]
    return order[kept], np.r_[True, run_of[1:] != run_of[:-1]] if len(kept) else np.empty(0, bool)


def _by_person(unit: Whole, group: Whole) -> NDArray[np.intp]:
    """An order by unit and then group; by one word for both where they fit into it."""
    low, width = int(unit.min()), int(group.max()) + 1
    if (int(unit.max()) - low + 1) * width < _LARGEST_WORD:
        return np.argsort((unit - low) * width + group)
    return np.lexsort((group, unit))


def _within_groups(unit: Whole, group: Whole, salt: int, most: int) -> NDArray[np.bool_]:
    """Of the groups of each person (sorted by person and group), which are among the first by (hash, group)."""
    number = np.cumsum(np.r_[True, unit[1:] != unit[:-1]]) - 1
    sizes = np.bincount(number)
    keep = np.ones(len(unit), bool)
    many = np.flatnonzero(sizes[number] > most)
    if len(many):
        order = _ordered(number[many], mixed(salt, [unit[many], group[many]]), [group[many]])
        keep[many[order]] = _places(number[many][order]) < most
    return keep


def _ordered(run: NDArray[np.intp], hashed: NDArray[np.uint64], rest: Sequence[Whole]) -> NDArray[np.intp]:
    """An order by run, hash and then the rest, which only matters where two of a run have the same hash."""
    word = (run.astype(np.uint64) << _HALF) | hashed
    order = np.argsort(word)
    found = word[order]
    if (found[1:] == found[:-1]).any():
        order = np.lexsort((*reversed(list(rest)), word))
    return order


def _ranks(run: NDArray[np.intp], unit: Whole, group: Whole, content: Sequence[Whole], salt: int) -> NDArray[np.intp]:
    """The rank of each row among those of its run, by (hash, content, copy number)."""
    order = np.lexsort((*reversed(list(content)), run))
    same = np.r_[False, run[order][1:] == run[order][:-1]]
    for column in content:
        same[1:] &= column[order][1:] == column[order][:-1]
    copy = np.empty(len(run), np.int64)
    copy[order] = _places(np.cumsum(~same))
    final = _ordered(run, mixed(salt, [unit, group, *content, copy]), [*content, copy])
    ranks = np.empty(len(run), np.intp)
    ranks[final] = _places(run[final])
    return ranks


def _places(sorted_runs: NDArray[Any]) -> NDArray[np.intp]:
    """0, 1, 2, ... within each run of equal values."""
    starts = np.flatnonzero(np.r_[True, sorted_runs[1:] != sorted_runs[:-1]])
    sizes = np.diff(np.r_[starts, len(sorted_runs)])
    return np.arange(len(sorted_runs)) - np.repeat(starts, sizes)


def mixed(salt: int, columns: Sequence[Whole]) -> NDArray[np.uint64]:
    """32 bits for each row from the salt and its columns: the finaliser of SplitMix64, chained."""
    with np.errstate(over="ignore"):
        state = np.full(len(columns[0]), salt, np.uint64)
        for column in columns:
            state = state * np.uint64(3) + column.view(np.uint64) + _STEP
            state = (state ^ (state >> np.uint64(30))) * _FIRST
            state = (state ^ (state >> np.uint64(27))) * _SECOND
            state = state ^ (state >> np.uint64(31))
    return state >> _HALF
