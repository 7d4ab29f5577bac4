"""Contribution bounding, limiting what a person has: at most so many rows in a group, and at most so many groups.

Which rows stay is a function of the person's own rows and of the salt, so that nobody else's rows depend on whether a
person is there; it holds for every salt, and a fresh one for each release spreads what is lost. Identical rows of a
person are numbered first, so that each copy has its own chance and no order of storage matters.

Two ways give such a choice: windows inside the engine, and arrays of whole numbers in this process, which is several
times faster. They choose differently; each by itself is proven. Units of text come into this process as words of 53
bits, by which rows are chosen; two persons with one word are still two (`numbered`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import ibis
import numpy as np
from numpy.typing import NDArray

from noisewright.release.engines.base import Engine, Local, is_local
from noisewright.release.stage.rows import GROUP, UNIT

if TYPE_CHECKING:
    import ibis.expr.types as ir

Whole = NDArray[np.int64]
_LARGEST_WORD = 2**63
WORD = "word"
_HALF = np.uint64(32)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def rows_in_engine(rows: ir.Table, salt: str, most_rows: int, most_groups: int, engine: Engine) -> ir.Table:
    """The rows that stay, by windows.

    Rows are ordered by (hash of salt, unit, group, content, copy number), content, copy number: ROW_NUMBER over an
    order without ties among different rows. Groups are ordered by (hash of salt, unit, group), group.
    """
    content = [name for name in rows.columns if name.startswith("t")]
    hashed = rows.mutate(gh=engine.hash_of(_text(salt, rows, engine)))
    # Groups first: what is in one place by unit is there by unit and group as well, so that rows are moved once.
    ranked = hashed.mutate(g=ibis.dense_rank().over(group_by=[UNIT], order_by=["gh", GROUP]))
    within = ranked.filter(ranked.g < most_groups)
    copied = within.mutate(copy=ibis.row_number().over(group_by=[UNIT, GROUP, *content]))
    full = [_text(salt, copied, engine), *(copied[name].cast("string") for name in (*content, "copy"))]
    hashed = copied.mutate(rh=engine.hash_of(_joined(full)))
    ranked = hashed.mutate(r=ibis.row_number().over(group_by=[UNIT, GROUP], order_by=["rh", *content, "copy"]))
    return ranked.filter(ranked.r < most_rows)


def groups_in_engine(persons: ir.Table, salt: str, most_groups: int, engine: Engine) -> ir.Table:
    """Of one row for each person in each group, those that stay: the very groups that `rows_in_engine` keeps."""
    hashed = persons.mutate(gh=engine.hash_of(_text(salt, persons, engine)))
    ranked = hashed.mutate(g=ibis.row_number().over(group_by=[UNIT], order_by=["gh", GROUP]))
    return ranked.filter(ranked.g < most_groups)


def slice_of(rows: ir.Table, own: int, slices: int, engine: Engine) -> ir.Table:
    """The rows of one of so many slices of persons: all rows of a person are in the same slice, whoever else is there.

    Whole units are told apart by their remainder, texts by the slot that the engine gives to their bytes.
    """
    if slices == 1:
        return rows
    if rows[UNIT].type().is_integer():
        return rows.filter((rows[UNIT] % slices + slices) % slices == own)
    return rows.filter(_local(engine).slot_of(rows[UNIT], slices) == own)


def rows_to_hold(table: ir.Table, engine: Engine) -> int:
    """How many rows of a table may have to be in the memory of this process; none of an engine that works elsewhere."""
    return int(engine.fetch(table.agg(n=table.count()))["n"][0].as_py()) if engine.in_process else 0


def persons_among(rows: ir.Table, engine: Engine) -> int:
    """How many different units rows have, exactly."""
    return int(engine.fetch(rows.agg(n=rows[UNIT].nunique()))["n"][0].as_py())


def slices_for(rows: int, at_once: int, *, whole: bool) -> int:
    """How many slices hold about `at_once` rows each, or fewer.

    Remainders are taken by a prime other than 2 and 5, because units are often multiples of a power of ten; slots are
    even for every number of them.
    """
    least = max(-(-rows // at_once), 1)
    if least == 1 or not whole:
        return least
    return next(n for n in count(max(least, 3)) if n != 5 and all(n % d for d in range(2, math.isqrt(n) + 1)))


def _text(salt: str, rows: ir.Table, engine: Engine) -> ir.Value:
    return _joined([ibis.literal(salt), _unit_text(rows, engine), rows[GROUP].cast("string")])


def _unit_text(rows: ir.Table, engine: Engine) -> ir.Value:
    return engine.digits_of(rows[UNIT]) if rows[UNIT].type().is_binary() else rows[UNIT].cast("string")


def worded(rows: ir.Table, engine: Engine) -> ir.Table:
    """Rows with a word in place of each unit of text: a function of the unit alone, whoever else is there."""
    return rows.mutate(**{UNIT: _local(engine).word_of(rows[UNIT])})


def numbered(rows: ir.Table, engine: Engine) -> ir.Table:
    """Rows with the place of each unit among all units instead of it, and its word beside it.

    Guarantees: two rows have the same place exactly where they have the same unit. Places depend on who else is there,
    so that nothing is chosen by them.
    """
    return rows.mutate(**{UNIT: ibis.dense_rank().over(order_by=UNIT), WORD: _local(engine).word_of(rows[UNIT])})


def _local(engine: Engine) -> Local:
    if not is_local(engine):
        raise TypeError(f"persons of {engine.name} do not come into this process")
    return engine


def _joined(parts: Sequence[ir.Value]) -> ir.Value:
    return ibis.literal(",").join(list(parts))


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays of each person: `rows` are places of rows, `order` puts the rows of a person in a group side by side.

    In that order a person's rows in a group begin at `starts`; `within` says whether the group stays. There are so many
    `persons`, by their units.
    """

    rows: NDArray[np.intp]
    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    within: NDArray[np.bool_]
    persons: int


def kept_rows(
    unit: Whole,
    group: Whole,
    content: Sequence[Whole],
    salt: int,
    most_rows: int,
    most_groups: int,
    word: Whole | None = None,
) -> Kept:
    """The rows and groups that stay of each person, who is all rows of one unit.

    They are chosen by hashes of the unit, or of its `word` where units do not stand for themselves.
    """
    if not len(unit):
        nothing = np.empty(0, np.intp)
        return Kept(nothing, nothing, nothing, np.empty(0, bool), 0)
    order = _by_person(unit, group)
    u, k = unit[order], group[order]
    starts = np.flatnonzero(np.r_[True, (u[1:] != u[:-1]) | (k[1:] != k[:-1])])
    sizes = np.diff(np.r_[starts, len(u)])
    person = np.cumsum(np.r_[True, u[starts[1:]] != u[starts[:-1]]]) - 1
    u = u if word is None else word[order]
    within = _within_groups(person, u[starts], k[starts], salt, most_groups)
    keep = np.repeat(within, sizes)
    large = np.flatnonzero(within & (sizes > most_rows))
    if len(large):
        run = np.repeat(np.arange(len(large)), sizes[large])
        places = np.repeat(starts[large] - np.r_[0, np.cumsum(sizes[large])[:-1]], sizes[large]) + np.arange(len(run))
        columns = [column[order[places]] for column in content]
        keep[places] = _ranks(run, u[places], k[places], columns, salt) < most_rows
    return Kept(order[keep], order, starts, within, int(person[-1]) + 1)


def _by_person(unit: Whole, group: Whole) -> NDArray[np.intp]:
    """An order by unit and then group; by one word for both where they fit into it."""
    low, width = int(unit.min()), int(group.max()) + 1
    if (int(unit.max()) - low + 1) * width < _LARGEST_WORD:
        return np.argsort((unit - low) * width + group)
    return np.lexsort((group, unit))


def _within_groups(person: NDArray[np.intp], word: Whole, group: Whole, salt: int, most: int) -> NDArray[np.bool_]:
    """Of the groups of each person (sorted by person and group), which are among the first by (hash, group)."""
    sizes = np.bincount(person)
    keep = np.ones(len(person), bool)
    many = np.flatnonzero(sizes[person] > most)
    if len(many):
        order = _ordered(person[many], mixed(salt, [word[many], group[many]]), [group[many]])
        keep[many[order]] = _places(person[many][order]) < most
    return keep


def _ordered(run: NDArray[np.intp], hashed: NDArray[np.uint64], rest: Sequence[Whole]) -> NDArray[np.intp]:
    """An order by run, hash and then the rest, which only matters where two of a run have the same hash."""
    word = (run.astype(np.uint64) << _HALF) | hashed
    order = np.argsort(word)
    found = word[order]
    if (found[1:] == found[:-1]).any():
        order = np.lexsort((*reversed(list(rest)), word))
    return order


def _ranks(run: NDArray[np.intp], word: Whole, group: Whole, content: Sequence[Whole], salt: int) -> NDArray[np.intp]:
    """The rank of each row among those of its run, by (hash, content, copy number)."""
    order = np.lexsort((*reversed(list(content)), run))
    same = np.r_[False, run[order][1:] == run[order][:-1]]
    for column in content:
        same[1:] &= column[order][1:] == column[order][:-1]
    copy = np.empty(len(run), np.int64)
    copy[order] = _places(np.cumsum(~same))
    final = _ordered(run, mixed(salt, [word, group, *content, copy]), [*content, copy])
    ranks = np.empty(len(run), np.intp)
    ranks[final] = _places(run[final])
    return ranks


def _places(sorted_runs: NDArray[np.generic]) -> NDArray[np.intp]:
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
