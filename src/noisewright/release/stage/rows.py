"""The last stage, the only one whose sensitivity is proven: from rows to whole numbers, written once over Ibis.

rows -> (unit, group, values) -> drop NULL and NaN -> clamp -> floor(x/step + 1/2) -> clamp the whole numbers ->
limit per person -> add whole numbers. Nothing is inferred about what came before: whatever a value was, after the
second clamp it is one of finitely many whole numbers, and after the limit a person has so many of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ibis

from noisewright.release.engines.base import Engine
from noisewright.release.stage.aggregates import Aggregate, Partial
from noisewright.release.stage.expressions import comparable
from noisewright.release.stage.groupings import Grouping
from noisewright.release.table.keys import Keys

if TYPE_CHECKING:
    import ibis.expr.types as ir

UNIT, GROUP = "u", "k"


def rows_of(table: ir.Table, unit: str, grouping: Grouping, numbers: Sequence[Aggregate], engine: Engine) -> ir.Table:
    """Every row that counts: its unit, its group and what it adds to each number that is a sum.

    Rows whose unit is NULL, or whose keys are not listed, are left out. Listed keys are distinct, so that the join
    gives each row at most once.
    """
    return _grouped(_unlisted(table, unit, grouping, numbers, engine), grouping, engine)


def _grouped(found: ir.Table, grouping: Grouping, engine: Engine) -> ir.Table:
    """Rows with the groups of their keys and bins."""
    if grouping.keys is None:
        return found.rename({GROUP: "b"})
    joined = _listed(found, grouping.keys, engine)
    terms = {name: joined[name] for name in found.columns if name.startswith("t")}
    return joined.select(UNIT, **{GROUP: _group(joined.place, joined, grouping)}, **terms)


def _group(place: ir.Value, rows: ir.Table, grouping: Grouping) -> ir.Value:
    """The group of the place of a key and the bin of a row."""
    return place * grouping.bins.count + rows.b if grouping.bins else place


def counted(table: ir.Table, unit: str, grouping: Grouping, numbers: Sequence[Aggregate], engine: Engine) -> ir.Table:
    """The sums of each listed group where every row counts and is a person: `totals` of `rows_of`.

    Where the engine says how listed keys are known by themselves, rows are added up by key first, and only the sums
    are joined with the list: the same rows in the same groups, because equal keys are equal bytes in both. Where no
    unit is missing, units need not be read.
    """
    everybody = engine.is_whole(table[unit])
    places, found = dict(enumerate(numbers)), _unlisted(table, unit, grouping, numbers, engine, everybody=everybody)
    few = _among(found, grouping.keys, engine) if grouping.keys else []
    if grouping.keys is None or any(one is None for one in few):
        return totals(_grouped(found, grouping, engine), places, engine)
    own = {f"g{i}": comparable(found[f"g{i}"], engine) for i in range(len(few))}
    changed = {name: column for name, column in own.items() if not column.equals(found[name])}
    by, run = ["b", *own] if grouping.bins else list(own), _run(grouping.keys)
    kept = found.filter(few)
    summed = totals(kept.mutate(**changed) if changed else kept, places, engine, by)
    joined = _listed(summed, grouping.keys, engine) if run is None else summed
    place = joined.place if run is None else joined.g0 - ibis.literal(run[0], "int64")
    sums = {f"s{number}": joined[f"s{number}"] for number in places}
    return joined.select(**{GROUP: _group(place, joined, grouping)}, **sums)


def _run(keys: Keys) -> range | None:
    """Keys of one column that are one whole number after the other; None for any others."""
    if keys.kinds != ("integer",):
        return None
    first: Any = keys.rows[0][0]
    run = range(first, first + len(keys.rows))
    return run if all(row == (value,) for row, value in zip(keys.rows, run, strict=True)) else None


def _among(found: ir.Table, keys: Keys, engine: Engine) -> list[Any]:
    """For each column of keys, what holds for its listed values and few others; None where the engine says nothing."""
    columns = zip(keys.kinds, zip(*keys.rows, strict=True), strict=True)
    return [engine.among(found[f"g{i}"], kind, list(dict.fromkeys(values))) for i, (kind, values) in enumerate(columns)]


def _unlisted(
    table: ir.Table,
    unit: str,
    grouping: Grouping,
    numbers: Sequence[Aggregate],
    engine: Engine,
    *,
    everybody: bool = False,
) -> ir.Table:
    """Every row of a person that is in a bin: its unit, bin, keys and what it adds to each number that is a sum.

    `everybody` says that no unit is missing.
    """
    terms = {f"t{place}": one for place, n in enumerate(numbers) if (one := n.term(table, engine)) is not None}
    keyed = {f"g{place}": table[column] for place, column in enumerate(grouping.keys.columns)} if grouping.keys else {}
    place = grouping.bins.place_of(table[grouping.bins.column], engine) if grouping.bins else ibis.literal(0)
    found = table.select(**{UNIT: comparable(table[unit], engine)}, b=place.cast("int64"), **keyed, **terms)
    asked = ([] if everybody else [UNIT]) + (["b"] if grouping.bins else [])
    return found.filter([found[name].notnull() for name in asked]) if asked else found


def _listed(found: ir.Table, keys: Keys, engine: Engine) -> ir.Table:
    """Rows with the places of their keys in the list."""
    listed = key_table(keys, engine)
    columns = range(len(keys.columns))
    matched = [comparable(found[f"g{i}"], engine) == comparable(listed[f"l{i}"], engine) for i in columns]
    return found.join(listed, matched)


def key_table(keys: Keys, engine: Engine) -> ir.Table:
    """The listed keys as a public table with their places."""
    columns = {f"l{i}": [row[i] for row in keys.rows] for i in range(len(keys.columns))}
    return engine.small_table({"place": list(range(len(keys.rows))), **columns})


def totals(rows: ir.Table, numbers: Mapping[int, Aggregate], engine: Engine, by: Sequence[str] = (GROUP,)) -> Any:
    """The sums of each group over its rows, as texts of whole numbers, by the places of their numbers.

    Each row is a whole person for numbers that are about persons: those are counted, and clamped, row by row.
    """
    sums = {}
    for place, number in numbers.items():
        if isinstance(number, Partial):
            sums[f"s{place}"] = engine.sum_text(_within(rows[f"t{place}"], number), number.sensitivity(1))
        elif f"t{place}" in rows.columns:
            sums[f"s{place}"] = engine.sum_text(rows[f"t{place}"], number.sensitivity(1))
        else:
            sums[f"s{place}"] = rows.count().cast("string")
    return rows.group_by(list(by)).agg(**sums)


def persons_of(rows: ir.Table, numbers: Mapping[int, Aggregate], engine: Engine) -> ir.Table:
    """One row for each person in each group, with the sum of all of that person's rows for each partial number.

    Guarantees: each sum is within the clamps of its number, so that it fits into 64 bits, however many rows there are.
    """
    sums = {
        f"t{place}": _within(engine.sum_of(rows[f"t{place}"]), number).cast("int64")
        for place, number in numbers.items()
        if isinstance(number, Partial)
    }
    return rows.group_by([UNIT, GROUP]).agg(**sums)


def _within(whole: ir.Value, number: Partial) -> ir.Value:
    """A whole number clamped to what one person may add to a partial sum."""
    first, last = ibis.literal(number.first, "int64"), ibis.literal(number.last, "int64")
    return ibis.least(ibis.greatest(whole, first), last)
