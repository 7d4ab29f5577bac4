"""The true numbers of groups that nobody listed, by key; those of unpublished groups never leave this process.

A person's groups are chosen by a hash of salt, unit and the key itself, written out, with ties by what is written; no
number of a group is made from the other keys of the table, so that nobody's choice depends on who else is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import ibis

from noisewright.problem.errors import InvalidTableError
from noisewright.release.aggregate import aggregated
from noisewright.release.engines.base import Engine
from noisewright.release.keys import Row, Value
from noisewright.release.layout import Layout, Table
from noisewright.release.limiting import groups_in_engine, rows_in_engine, rows_to_hold, slice_of, slices_for
from noisewright.release.stage import GROUP, UNIT, bin_of, comparable, key_kind, persons_of, term, totals

_ROWS_AT_ONCE = 4_000_000


class Unlisted(dict[Row, tuple[int, ...]]):
    """By key, the numbers of a group, bin by bin; a key that is not there has zeros."""

    def __sub__(self, other: Unlisted) -> Unlisted:
        """What differs, by key."""
        zeros = (0,) * len(next(iter((*self.values(), *other.values())), ()))
        pairs = {key: (self.get(key, zeros), other.get(key, zeros)) for key in self.keys() | other.keys()}
        return Unlisted(
            {key: tuple(x - y for x, y in zip(a, b, strict=True)) for key, (a, b) in pairs.items() if a != b}
        )


def true_numbers(table: Any, unit: str, layout: Layout, salt: int, engine: Engine, *, one_row: bool) -> list[Any]:
    """The vector of a layout over a checked table: whole numbers, and one mapping for each table of unlisted keys.

    Guarantees: with the same salt, two tables that differ by the rows of one person give vectors whose difference the
    layout holds.
    """
    public = Layout(tuple(part for part in layout.tables if not part.grouping.private))
    numbers = aggregated(table, unit, public, salt, engine, one_row=one_row) if public.tables else []
    listed = iter(public.split(numbers))
    found: list[Any] = []
    for part in layout.tables:
        own = [counted(table, unit, part, salt, engine, one_row=one_row)] if part.grouping.private else next(listed)
        found.extend(own)
    return found


def counted(table: Any, unit: str, part: Table, salt: int, engine: Engine, *, one_row: bool) -> Unlisted:
    """The numbers of every group that somebody is in; rows without a unit or without a key are in none."""
    rows, kinds = _rows(table, unit, part, engine), kinds_of(table, part.grouping.key_columns)
    count = 0 if one_row else rows_to_hold(table, engine)
    slices = slices_for(count, _ROWS_AT_ONCE, whole=rows[UNIT].type().is_integer())
    width, found = len(part.numbers), dict[Row, list[int]]()
    for own in range(slices):
        for query in _sums(slice_of(rows, own, slices, engine), part, None if one_row else f"{salt:016x}", engine):
            data = engine.fetch(query).to_pydict()
            places = [place for place in range(width) if f"s{place}" in data]
            for row, group in enumerate(data[GROUP]):
                *texts, bin_place = group.split(",")
                if (key := _key(texts, kinds)) is not None:
                    numbers = found.setdefault(key, [0] * (part.grouping.count * width))
                    for place in places:
                        numbers[int(bin_place) * width + place] += int(data[f"s{place}"][row])
    return Unlisted({key: tuple(numbers) for key, numbers in found.items()})


def _sums(rows: Any, part: Table, salt: str | None, engine: Engine) -> Iterator[Any]:
    """The sums of each group over what stays of each person; without a salt every row stays, and is a person."""
    numbers = dict(enumerate(part.numbers))
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


def _rows(table: Any, unit: str, part: Table, engine: Engine) -> Any:
    """Every row that counts: its unit, its key and bin written out as one text, and its terms."""
    grouping = part.grouping
    terms = {f"t{place}": one for place, n in enumerate(part.numbers) if (one := term(n, table, engine)) is not None}
    bins = grouping.bins
    place = bin_of(bins, table[bins.column], engine) if bins else ibis.literal(0)
    named = {f"g{i}": _written(table[column], engine) for i, column in enumerate(grouping.key_columns)}
    found = table.select(**{UNIT: comparable(table[unit], engine)}, **named, b=place.cast("string"), **terms)
    for name in (UNIT, *named, "b"):
        found = found.filter(found[name].notnull())
    group = ibis.literal(",").join([found[name] for name in (*named, "b")])
    return found.select(UNIT, **{GROUP: group}, **{name: found[name] for name in terms})


def _written(column: Any, engine: Engine) -> Any:
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


def kinds_of(table: Any, columns: Sequence[str]) -> list[str]:
    """What the columns of keys hold; refuses what is no key."""
    found = []
    for column in columns:
        held = table[column].type()
        kind = key_kind(held)
        if kind is None:
            raise InvalidTableError(
                f"{column!r} holds {held}; keys that are chosen privately are text, whole numbers, truth values or"
                " dates. Derive such a column with dataset.mutate(...), or make bins with nw.ask.histogram.",
                column=column,
            )
        found.append(kind)
    return found
