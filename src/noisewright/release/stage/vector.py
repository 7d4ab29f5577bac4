"""The true aggregates of a plan, integers: compiled, limited and added up; they never leave this process.

Numbers of rows are added over the rows that stay of a person, numbers of persons over the groups that stay: the same
groups for both, because they are chosen by the same hashes. Large tables are read in slices of persons, so that memory
is bounded by the size of a slice.

Of groups that nobody listed the sums are found by key; those of unpublished groups never leave this process. A person's
groups are chosen there by a hash of salt, unit and the key itself, written out, with ties by what is written; no sum
of a group is made from the other keys of the table, so that nobody's choice depends on who else is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import ibis
import numpy as np
from numpy.typing import NDArray

from noisewright.release.engines.base import Engine
from noisewright.release.stage.aggregates import Aggregate, Partial
from noisewright.release.stage.contribution_bounding import (
    WORD,
    Kept,
    groups_in_engine,
    kept_rows,
    numbered,
    persons_among,
    rows_in_engine,
    rows_to_hold,
    slice_of,
    slices_for,
    worded,
)
from noisewright.release.stage.expressions import comparable
from noisewright.release.stage.groupings import Grouping
from noisewright.release.stage.rows import GROUP, UNIT, counted, persons_of, rows_of, totals
from noisewright.release.table.keys import Keys, Row, Value

if TYPE_CHECKING:
    import ibis.expr.types as ir

_WORDS_AT_ONCE = 50_000_000
"""About how many words of 64 bits are held in this process for one slice: what is fetched and what orders it."""
_WORDS_OF_ORDER = 5
_ROWS_AT_ONCE = 4_000_000
"""The same for groups that nobody listed, in rows."""
_LARGEST_WORD = 2**63
_HALF = np.int64(20)
_FAR = np.int64(2**42)
_CELL = "tcell"
"""Its first letter says that it is content: which cell a row is in may decide whether it stays."""

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]


class Part(Protocol):
    """What the last stage needs to know of one table of answers."""

    @property
    def grouping(self) -> Grouping:
        """Its groups."""

    @property
    def aggregates(self) -> Sequence[Aggregate]:
        """What is summed in each of them."""

    @property
    def rows(self) -> int:
        """How many rows of a person count in a group."""

    @property
    def groups(self) -> int:
        """In how many groups a person counts."""

    @property
    def together(self) -> int:
        """How many neighbouring groups are one for these bounds."""

    @property
    def count(self) -> int:
        """How many sums there are."""


def aggregated(
    table: ir.Table, unit: str, parts: Sequence[Part], salt: int, engine: Engine, *, one_row: bool
) -> list[int]:
    """The vector of tables of listed groups over a checked table; groups nobody is in have zeros.

    Guarantees: with the same salt, two tables that differ by the rows of one person give vectors that differ by an
    element of the product of their sets of differences.
    """
    whole = table[unit].type().is_integer()
    count = 0 if one_row else rows_to_hold(table, engine)
    way = _unlimited if one_row else _in_process if engine.in_process else _in_engine
    work = []
    for part in parts:
        rows = (counted if one_row else rows_of)(table, unit, part.grouping, part.aggregates, engine)
        at_once = _WORDS_AT_ONCE // (len(rows.columns) + _WORDS_OF_ORDER)
        work.append((part, rows, slices_for(count, at_once, whole=whole)))
    done, found = 0, []
    try:
        for part, rows, slices in work:
            vector = [0] * part.count
            for own in range(slices):
                engine.steps = (done, sum(one[-1] for one in work))
                sums = way(slice_of(rows, own, slices, engine), part, salt, engine)
                vector = [a + b for a, b in zip(vector, sums, strict=True)]
                done += 1
            found += vector
    finally:
        engine.steps = (0, 1)
    return found


def _unlimited(sums: ir.Table, part: Part, salt: int, engine: Engine) -> list[int]:
    """Every row counts, and is a person: the owner's word."""
    return _summed(sums, part, engine)


def _in_engine(rows: ir.Table, part: Part, salt: int, engine: Engine) -> list[int]:
    """Any unit: limited by windows of the engine, which only gives the sums away."""
    of_rows, of_persons = _apart(part)
    text = f"{salt:016x}"
    vector = [0] * part.count
    queries = []
    if of_rows:
        limited = rows_in_engine(_parted(rows, part.together), text, part.rows, part.groups, engine)
        queries.append(totals(_gathered(limited), of_rows, engine))
    if of_persons:
        persons = persons_of(rows, of_persons, engine)
        queries.append(totals(groups_in_engine(persons, text, part.groups, engine), of_persons, engine))
    for query in queries:
        vector = [a + b for a, b in zip(vector, _summed(query, part, engine), strict=True)]
    return vector


def _apart(part: Part) -> tuple[dict[int, Aggregate], dict[int, Aggregate]]:
    """The numbers of rows and those of persons, by their places."""
    places = dict(enumerate(part.aggregates))
    of_persons = {place: number for place, number in places.items() if number.of_persons}
    return {place: number for place, number in places.items() if place not in of_persons}, of_persons


def _parted(rows: ir.Table, together: int) -> ir.Table:
    """Rows whose group is that of the limits; where it has several cells, the cell is part of the content."""
    if together == 1:
        return rows
    cell = rows[GROUP] % together
    return rows.mutate(**{GROUP: rows[GROUP] - cell, _CELL: cell})


def _gathered(rows: ir.Table) -> ir.Table:
    """Limited rows with the group that they are counted in."""
    return rows.mutate(**{GROUP: rows[GROUP] + rows[_CELL]}) if _CELL in rows.columns else rows


def _summed(query: ir.Table, part: Part, engine: Engine) -> list[int]:
    """Sums that the engine made, at the places of their groups; zeros elsewhere."""
    data = engine.fetch(query).to_pydict()
    width = len(part.aggregates)
    vector = [0] * part.count
    for place in range(width):
        if f"s{place}" in data:
            for group, total in zip(data[GROUP], data[f"s{place}"], strict=True):
                vector[group * width + place] = int(total)
    return vector


def _in_process(rows: ir.Table, part: Part, salt: int, engine: Engine) -> list[int]:
    """Unit, group and terms are fetched as whole numbers, limited and added here.

    Rule: a word is a function of the unit, so that there are at most as many words as units, and as many only where
    different units have different words. Where two have the same, they are told apart by their places; what stays of a
    person is chosen by the word either way, so that it does not depend on whether somebody else has it.
    [theory#tables-and-contribution-bounds]
    """
    if rows[UNIT].type().is_integer():
        columns = _columns(rows, engine)
        kept = _kept(columns, part, salt)
    else:
        persons = persons_among(rows, engine)
        columns = _columns(worded(rows, engine), engine)
        kept = _kept(columns, part, salt)
        if kept.persons < persons:
            del columns, kept
            columns = _columns(numbered(rows, engine), engine)
            kept = _kept(columns, part, salt)
    of_rows, of_persons = _apart(part)
    sums = _over_rows(columns, kept, of_rows, part) | _over_persons(columns, kept, of_persons, part)
    return [sums[place][group] for group in range(part.grouping.count) for place in range(len(part.aggregates))]


def _columns(rows: ir.Table, engine: Engine) -> dict[str, Integers]:
    """Rows of whole numbers as arrays."""
    data = engine.fetch(rows)
    if not data.num_rows:  # as in every dry run, which is spared what Arrow loads to make arrays
        return {name: np.empty(0, np.int64) for name in data.column_names}
    return {name: data[name].to_numpy().astype(np.int64, copy=False) for name in data.column_names}


def _kept(columns: Mapping[str, Integers], part: Part, salt: int) -> Kept:
    """What stays of each person; where all numbers are of persons, no rows need to be chosen."""
    content, group = [columns[name] for name in columns if name.startswith("t")], columns[GROUP]
    if part.together > 1:
        cell = group % part.together
        content, group = [cell, *content], group - cell
    most_rows = part.rows if _apart(part)[0] else len(columns[UNIT])
    return kept_rows(columns[UNIT], group, content, salt, most_rows, part.groups, columns.get(WORD))


def _over_rows(
    columns: Mapping[str, Integers], kept: Kept, numbers: Mapping[int, Aggregate], part: Part
) -> dict[int, list[int]]:
    """By the place of a number, its sums over the rows that stay."""
    if not numbers:
        return {}
    group, groups = columns[GROUP][kept.rows], part.grouping.count
    counts = np.bincount(group, minlength=groups).tolist()
    return {
        place: exact_sums(columns[f"t{place}"][kept.rows], group, groups) if f"t{place}" in columns else counts
        for place in numbers
    }


def _over_persons(
    columns: Mapping[str, Integers], kept: Kept, numbers: Mapping[int, Aggregate], part: Part
) -> dict[int, list[int]]:
    """By the place of a number, its sums over the persons in the groups that stay."""
    if not numbers:
        return {}
    group, groups = columns[GROUP][kept.order[kept.starts[kept.within]]], part.grouping.count
    heads = np.bincount(group, minlength=groups).tolist()
    found = {}
    for place, number in numbers.items():
        if isinstance(number, Partial):
            own = clamped_sums(columns[f"t{place}"][kept.order], kept.starts, number.first, number.last)
            found[place] = exact_sums(own[kept.within], group, groups)
        else:
            found[place] = heads
    return found


def clamped_sums(values: Integers, starts: Indices, first: int, last: int) -> Integers:
    """The sum of each run of values, clamped to [first, last], which are within 2^40 of 0 as the values are.

    64 bits hold a sum where (rows) times (largest value) does. Otherwise each value is taken as 2^20 high + low with
    0 <= low < 2^20, and both parts are added: a high part beyond 2^42 is beyond the clamps, whatever the low one is.
    """
    if not len(starts):
        return np.empty(0, np.int64)
    if int(np.abs(values).max()) * len(values) < _LARGEST_WORD:
        return np.clip(np.add.reduceat(values, starts), first, last)
    low = np.add.reduceat(values & ((1 << _HALF) - 1), starts)
    high = np.add.reduceat(values >> _HALF, starts) + (low >> _HALF)
    rest = low & ((1 << _HALF) - 1)
    found: Integers = np.clip(np.clip(high, -_FAR, _FAR) * (1 << _HALF) + rest, first, last)
    return found


def exact_sums(values: Integers, group: Integers, count: int) -> list[int]:
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


def _sums(values: Integers, group: Integers, count: int) -> Integers:
    """Sums of whole numbers by group, in 64 bits; `bincount` with weights would add doubles."""
    found = np.zeros(count, np.int64)
    np.add.at(found, group, values)
    return found


class Unlisted(dict[Row, tuple[int, ...]]):
    """By key, the numbers of a group, bin by bin; a key that is not there has zeros."""

    def __sub__(self, other: Unlisted) -> Unlisted:
        """What differs, by key."""
        zeros = (0,) * len(next(iter((*self.values(), *other.values())), ()))
        pairs = {key: (self.get(key, zeros), other.get(key, zeros)) for key in self.keys() | other.keys()}
        return Unlisted(
            {key: tuple(x - y for x, y in zip(a, b, strict=True)) for key, (a, b) in pairs.items() if a != b}
        )


def true_numbers(
    table: ir.Table, unit: str, parts: Sequence[Part], salt: int, engine: Engine, *, one_row: bool
) -> list[Any]:
    """The vector of tables over a checked table: integers, and one mapping for each table of unknown groups.

    Guarantees: with the same salt, two tables that differ by the rows of one person give vectors whose difference the
    layout of the tables holds.
    """
    public = [part for part in parts if not part.grouping.private]
    listed = iter(aggregated(table, unit, public, salt, engine, one_row=one_row) if public else ())
    found: list[Any] = []
    for part in parts:
        keys = part.grouping.keys
        if keys is not None and keys.private:
            found.append(unknown_groups(table, unit, part, keys, salt, engine, one_row=one_row))
        else:
            found += islice(listed, part.count)
    return found


def unknown_groups(
    table: ir.Table, unit: str, part: Part, keys: Keys, salt: int, engine: Engine, *, one_row: bool
) -> Unlisted:
    """The numbers of every group that somebody is in; rows without a unit or without a key are in none."""
    rows, kinds = _rows(table, unit, part, engine), keys.kinds_in(table)
    count = 0 if one_row else rows_to_hold(table, engine)
    slices = slices_for(count, _ROWS_AT_ONCE, whole=rows[UNIT].type().is_integer())
    width, found = len(part.aggregates), dict[Row, list[int]]()
    text = None if one_row else f"{salt:016x}"
    for own in range(slices):
        for query in _unknown_sums(slice_of(rows, own, slices, engine), part, text, engine):
            data = engine.fetch(query).to_pydict()
            places = [place for place in range(width) if f"s{place}" in data]
            for row, group in enumerate(data[GROUP]):
                *texts, bin_place = group.split(",")
                if (key := _key(texts, kinds)) is not None:
                    numbers = found.setdefault(key, [0] * (part.grouping.count * width))
                    for place in places:
                        numbers[int(bin_place) * width + place] += int(data[f"s{place}"][row])
    return Unlisted({key: tuple(numbers) for key, numbers in found.items()})


def _unknown_sums(rows: ir.Table, part: Part, salt: str | None, engine: Engine) -> Iterator[ir.Table]:
    """The sums of each group over what stays of each person; without a salt every row stays, and is a person."""
    numbers = dict(enumerate(part.aggregates))
    if salt is None:
        yield totals(rows, numbers, engine)
        return
    of_persons = {place: number for place, number in numbers.items() if number.of_persons}
    of_rows = {place: number for place, number in numbers.items() if not number.of_persons}
    if of_rows:
        yield totals(rows_in_engine(rows, salt, part.rows, part.groups, engine), of_rows, engine)
    if of_persons:
        persons = persons_of(rows, of_persons, engine)
        yield totals(groups_in_engine(persons, salt, part.groups, engine), of_persons, engine)


def _key(texts: Sequence[str], kinds: Sequence[str]) -> Row | None:
    """The key that was written; None for one that is none."""
    values = [_read(text, kind) for text, kind in zip(texts, kinds, strict=True)]
    key = tuple(value for value in values if value is not None)
    return key if len(key) == len(values) else None


def _rows(table: ir.Table, unit: str, part: Part, engine: Engine) -> ir.Table:
    """Every row that counts: its unit, its key and bin written out as one text, and its terms."""
    grouping = part.grouping
    terms = {f"t{place}": one for place, n in enumerate(part.aggregates) if (one := n.term(table, engine)) is not None}
    bins = grouping.bins
    place = bins.place_of(table[bins.column], engine) if bins else ibis.literal(0)
    named = {f"g{i}": _written(table[column], engine) for i, column in enumerate(grouping.key_columns)}
    found = table.select(**{UNIT: comparable(table[unit], engine)}, **named, b=place.cast("string"), **terms)
    for name in (UNIT, *named, "b"):
        found = found.filter(found[name].notnull())
    group = ibis.literal(",").join([found[name] for name in (*named, "b")])
    return found.select(UNIT, **{GROUP: group}, **{name: found[name] for name in terms})


def _written(column: ir.Value, engine: Engine) -> ir.Value:
    """A key as text without a comma, different for different keys: hexadecimal digits of the bytes of a text.

    NULL is no key, nor is a day that Python has no date for.
    """
    kind = column.type()
    if kind.is_string():
        return engine.digits_of(engine.bytes_of(column))
    if kind.is_date():
        known = (column >= ibis.literal(date.min)) & (column <= ibis.literal(date.max))
        return known.ifelse(column.cast("string"), ibis.null("string"))
    return engine.cast(column, "int8").cast("string") if kind.is_boolean() else column.cast("string")


def _read(text: str, kind: str) -> Value | None:
    """The key that was written; None for bytes that are no text, which are no key."""
    if kind == "text":
        try:
            return bytes.fromhex(text).decode("utf-8")
        except UnicodeDecodeError:
            return None
    if kind == "date":
        return date.fromisoformat(text)
    return bool(int(text)) if kind == "boolean" else int(text)
