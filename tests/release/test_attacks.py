"""Queries and values that once got past the person-local check, or failed on a value after the charge."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
import pytest
from ibis.common.annotations import ValidationError
from ibis.common.exceptions import IbisError

import noisewright as nw
from noisewright.problem.errors import NoisewrightError
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.plan.arranging import layout_of
from noisewright.release.table import total_functions as values
from noisewright.release.table.person_local import Base, checked

REFUSED = nw.errors.NotPersonLocalError
EXTREMES: dict[str, tuple[str, list[str]]] = {
    "i8": ("TINYINT", ["-128", "127", "0"]),
    "i64": ("BIGINT", ["-9223372036854775808", "9223372036854775807", "0", "-1"]),
    "u64": ("UBIGINT", ["18446744073709551615", "0"]),
    "h": ("HUGEINT", ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105728"]),
    "f": ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "1.7976931348623157e308", "5e-324", "-0.0", "0.5", "9e15", "1e19"]),
    "f32": ("FLOAT", ["'nan'", "'inf'", "3.4e38", "1e-45"]),
    "d38": ("DECIMAL(38, 0)", ["99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"]),
    "d30": ("DECIMAL(38, 30)", ["99999999.999", "-0.5"]),
    "d11": ("DECIMAL(1, 1)", ["0.9"]),
    "s": (
        "VARCHAR",
        ["''", "'1e999'", "' 7 '", "'ß'", "'2020-02-30'", "'9999-12-31'", "chr(0)", "'99999999999999999999'"],
    ),
    "mood": ("MOOD", ["'sad'", "'ok'"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "d": ("DATE", ["'infinity'", "'-infinity'", "'5877642-06-25 (BC)'", "'5881580-07-10'", "'1-01-01'"]),
    "ts": ("TIMESTAMP", ["'infinity'", "'290309-12-22 (BC) 00:00:00'", "'294247-01-10 04:00:54.775806'"]),
    "tns": ("TIMESTAMP_NS", ["'1677-09-22'", "'2262-04-11 23:47:16.8'", "'infinity'"]),
    "tz": ("TIMESTAMPTZ", ["'infinity'", "'290309-12-22 (BC) 00:00:00+00'", "'294247-01-10 04:00:54.775806+00'"]),
    "tm": ("TIME", ["'00:00:00'", "'24:00:00'"]),
    "iv": ("INTERVAL", ["INTERVAL '1000000 years'"]),
    "bl": ("BLOB", ["'\\xFF\\x00'::BLOB"]),
    "uu": ("UUID", ["'00000000-0000-0000-0000-000000000000'"]),
    "l": ("DOUBLE[]", ["['nan'::DOUBLE, NULL]", "[]"]),
    "j": ("JSON", ["'{\"a\": [1]}'"]),
}


@pytest.fixture(scope="module")
def place() -> Any:
    """A private table with every extreme value beside NULL and among others, another one, and a public one."""
    engine = DuckDB.in_memory()
    run = engine.backend.con.execute
    run("CREATE TYPE MOOD AS ENUM ('sad', 'ok')")
    run(f"CREATE TABLE visits (u VARCHAR, {', '.join(f'{name} {kind}' for name, (kind, _) in EXTREMES.items())})")
    chosen = random.Random(1)
    rows = [
        f"('a', {', '.join(value if own == name else 'NULL' for own in EXTREMES)})"
        for name, (_, extremes) in EXTREMES.items()
        for value in extremes
    ]
    rows += [
        f"('{chosen.choice('abc')}', {', '.join(chosen.choice(one) for _, one in EXTREMES.values())})"
        for _ in range(60)
    ]
    run(f"INSERT INTO visits VALUES {', '.join(rows)}")
    run("CREATE TABLE bills AS SELECT u, i64 AS amount, s FROM visits")
    run("CREATE TABLE wards AS SELECT * FROM (VALUES ('x', 1), ('y', 2)) v(s, w2)")
    return engine


def tables(place: Any) -> tuple[Any, Any, Any, dict[Any, Base]]:
    visits, bills, wards = (place.backend.table(name) for name in ("visits", "bills", "wards"))
    return visits, bills, wards, {visits.op(): Base("u"), bills.op(): Base("u"), wards.op(): Base(None)}


@ibis.udf.scalar.python
def own_function(x: int) -> int:
    return x


def _deep(table: Any) -> Any:
    for _ in range(700):
        table = ops.Filter(table.op(), [table.b.op()]).to_expr()
    return table


def _doubled(table: Any) -> Any:
    for _ in range(8):
        table = table.mutate(s=table.s + table.s)
    return table


TRICKS: dict[str, Callable[[Any, Any, Any], Any]] = {
    # A selection from a join becomes a part of the join.
    "random, from a join": lambda v, b, p: v.join(p, "s").select(v.u, z=ibis.random()),
    "one's own function, from a join": lambda v, b, p: v.join(p, "s").select(v.u, z=own_function(v.i64)),
    "a window of everybody, from a join": lambda v, b, p: v.join(p, "s").select(v.u, z=v.f.max().over()),
    "a window across persons, from a join": lambda v, b, p: v.join(p, "s").select(v.u, z=v.f.max().over(group_by=v.s)),
    "a window by another's unit": lambda v, b, p: v.left_join(b, [v.u == b.u]).select(
        v.u, z=b.amount.max().over(group_by=b.u)
    ),
    "a power, from a join": lambda v, b, p: v.join(p, "s").select(v.u, z=v.f**v.f),
    "a summary inside a window": lambda v, b, p: v.mutate(z=v.count().over(group_by=[v.u, v.f.max()])),
    # Constants that fail only where there is a row to write them for.
    "a text that ends early": lambda v, b, p: v.filter(v.s == "a\0b"),
    "half of a letter": lambda v, b, p: v.filter(v.s == "\ud800"),
    "an interval": lambda v, b, p: v.mutate(z=ibis.interval(days=1)),
    # What an engine would cast by itself.
    "microseconds and nanoseconds": lambda v, b, p: v.filter(v.ts == v.tns),
    "nanoseconds and a day far away": lambda v, b, p: v.filter(v.tns < datetime(9999, 1, 1)),
    "nanoseconds behind a constant": lambda v, b, p: v.mutate(
        z=ibis.greatest(v.tns, ibis.literal(datetime(2020, 1, 1)))
    ),
    "a time with a zone and one without": lambda v, b, p: v.filter(v.tz > datetime(2020, 1, 1)),
    "lists compared": lambda v, b, p: v.filter(v.l == v.l),
    "the day of an instant": lambda v, b, p: v.mutate(z=v.tz.cast("date")),
    "the text of a list": lambda v, b, p: v.mutate(z=v.l.cast("string")),
    "everything filled in a public table": lambda v, b, p: v.semi_join(p.select("w2").fill_null(0), [("i8", "w2")]),
    # What may not fit in memory, or in the check.
    "a text doubled again and again": lambda v, b, p: _doubled(v),
    "hundreds of steps": lambda v, b, p: _deep(v),
    "a column instead of a table": lambda v, b, p: v.i64,
}


@pytest.mark.parametrize("query", TRICKS.values(), ids=TRICKS.keys())
def test_tricks_are_refused(place: Any, query: Any):
    visits, bills, wards, bases = tables(place)
    with pytest.raises(REFUSED):
        checked(query(visits, bills, wards), bases, place)


HARMLESS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "computed in a join": lambda v, b, p: v.join(p, "s").select(v.u, z=v.i64 / p.w2),
    "a window of one's own rows in a join": lambda v, b, p: v.join(b, "u").select(v.u, z=v.f.max().over(group_by=v.u)),
    "a decimal of 38 digits and a half": lambda v, b, p: v.filter(v.d38 > 0.5),
    "128 bits and a decimal": lambda v, b, p: v.filter(v.h == v.d38),
    "128 bits and a half": lambda v, b, p: v.mutate(z=ibis.coalesce(v.h, 0.5)),
    "thirty digits and a large number": lambda v, b, p: v.filter(v.d30 > 10**18),
    "a decimal of cases": lambda v, b, p: v.mutate(z=v.b.ifelse(v.h, Decimal("0.5")), y=v.d38.nullif(Decimal("0.5"))),
    "a filled decimal": lambda v, b, p: v.fill_null({"d11": 10**12, "s": ""}),
    "a constant of four bytes": lambda v, b, p: v.filter(v.f > ibis.literal(1e300, "float32")),
    "nanoseconds and a day": lambda v, b, p: v.filter(v.tns < datetime(2020, 1, 1)),
    "categories and text": lambda v, b, p: v.filter(v.mood.isin(["sad", "gone"])).mutate(z=v.mood < "zz"),
    "a whole number or none beside a half": lambda v, b, p: v.mutate(z=-v.i8.nullif(0.5), y=v.f32.nullif(v.i64)),
    "a text of some": lambda v, b, p: v.mutate(s=v.s + ", " + v.u).mutate(z=lambda t: t.s + t.s),
}


@pytest.mark.parametrize("query", HARMLESS.values(), ids=HARMLESS.keys())
def test_no_value_breaks_what_passes(place: Any, query: Any):
    visits, bills, wards, bases = tables(place)
    made, standing = checked(query(visits, bills, wards), bases, place)
    assert "u" in standing.units
    assert _counted(place, made) >= 0


def _counted(place: Any, made: Any) -> int:
    """How many rows there are; everything is evaluated."""
    summaries = {f"n{i}": made[name].nunique() for i, name in enumerate(made.columns) if name not in ("iv", "j", "l")}
    sql = ibis.to_sql(made.agg(n=made.count(), **summaries))
    return int(place.backend.con.execute(sql).fetchone()[0])


def test_infinite_days_have_no_parts(place: Any):
    # DuckDB gives NULL for the month of an infinite day, and takes it for granted that there is none.
    days = "[DATE 'infinity', DATE '2020-05-01']"
    place.backend.con.execute(f"CREATE OR REPLACE TABLE days AS SELECT unnest({days}) AS d, 1 AS u")
    data = nw.Dataset(place.backend.table("days"), "u", rows_per_group=9).mutate(m=lambda t: t.d.month())
    assert data._checked.true_aggregates(
        layout_of([nw.ask.sum("m", bounds=(-20_000, 20_000), step=1)], data.limits), 1
    ) == [5]


def test_a_single_is_compared_as_the_double_that_it_is():
    frame = pa.table({"u": [1, 2], "r": pa.array([0.1, 0.5], pa.float32())})
    data = nw.Dataset(frame, "u", name="x")
    assert data.filter(lambda t: t.r <= 0.1)._checked.true_aggregates(layout_of([nw.count()], data.limits), 1) == [0]
    assert data.filter(lambda t: t.r.isin([0.1, 0.5]))._checked.true_aggregates(
        layout_of([nw.count()], data.limits), 1
    ) == [1]


def test_units_of_doubles_are_refused_wherever_they_stand(place: Any):
    # As doubles, 2^53 and 2^53 + 1 are one: the second person would get the bills of the first.
    run = place.backend.con.execute
    run("CREATE OR REPLACE TABLE whole AS SELECT 9007199254740993 AS u")
    run("CREATE OR REPLACE TABLE floats AS SELECT 9007199254740992::DOUBLE AS u, 5 AS amount")
    whole, floats = place.backend.table("whole"), place.backend.table("floats")
    for query in (whole.join(floats, "u"), whole.semi_join(floats, "u"), floats.join(whole, "u")):
        with pytest.raises(nw.errors.InvalidTableError, match="'u' holds float64"):
            nw.Dataset(query, "u", name="x")


def test_every_operation_of_ibis_is_listed_or_refused():
    kinds = {kind for kind in vars(ops).values() if isinstance(kind, type) and issubclass(kind, ops.Value)}
    listed = set(values.TOTAL) | set(values.REDUCTIONS)
    assert listed <= kinds
    assert len(kinds) > 300
    impure = {kind for kind in listed if issubclass(kind, ops.Impure | ops.Subquery | ops.Analytic | ops.Unnest)}
    assert not impure
    # What may fail on a value has a rule that rewrites it.
    raising = (ops.Binary, ops.Cast, ops.TryCast, ops.Coalesce, ops.SearchedCase, ops.Literal)
    logical = {ops.And, ops.Or, ops.Xor}
    texts = {ops.StartsWith, ops.EndsWith, ops.StringContains}
    unruled = {k for k in values.TOTAL if issubclass(k, raising) and k not in values._RULES}
    assert unruled <= logical | texts


class Writer:
    """Random values of a table with every kind of column, mostly of the kind that is wanted."""

    def __init__(self, table: Any, chosen: random.Random) -> None:
        self.table, self.chosen = table, chosen

    def any(self, depth: int) -> Any:
        return self.chosen.choice([self.number, self.number, self.text, self.truth, self.moment, self.other])(depth)

    def _mostly(self, way: Any, depth: int) -> Any:
        return self.any(depth) if self.chosen.random() < 0.04 else way(depth)

    def _leaf(self, columns: str, constants: list[Any]) -> Any:
        if self.chosen.random() < 0.75:
            return self.table[self.chosen.choice(columns.split())]
        return ibis.literal(self.chosen.choice(constants))

    def number(self, depth: int) -> Any:
        numbers = [0, -1, 2**63 - 1, 2**64 - 1, 10**30, 0.5, 1e308, float("nan"), Decimal("0.1"), Decimal(10) ** 37]
        if depth <= 0:
            return self._leaf("i8 i64 u64 h f f32 d38 d30 d11", numbers)
        one, other = (self._mostly(self.number, depth - 1) for _ in range(2))
        ways: list[Any] = [
            lambda: one + other,
            lambda: one * other,
            lambda: one / other,
            lambda: one // self.chosen.choice([1, 0.5, 1e300, 5e-324]),
            lambda: one % self.chosen.choice([1, 0.5, 2**52]),
            lambda: -one,
            lambda: one.abs(),
            lambda: getattr(one, self.chosen.choice(["sqrt", "ln", "log2", "log10", "floor", "ceil", "round"]))(),
            lambda: one.cast(self.chosen.choice(["int8", "uint64", "float32", "decimal(5, 2)", "decimal(38, 37)"])),
            lambda: self.text(depth - 1).cast(self.chosen.choice(["int8", "int64", "float32", "float64"])),
            lambda: self.text(depth - 1).length(),
            lambda: getattr(self.moment(depth - 1), self.chosen.choice(["year", "quarter", "hour"]))(),
            lambda: self.chosen_among(self.number, depth),
        ]
        return self.chosen.choice(ways)()

    def text(self, depth: int) -> Any:
        if depth <= 0:
            return self._leaf("s mood", ["", "1e5", "zz"])
        one = self._mostly(self.text, depth - 1)
        ways: list[Any] = [
            lambda: one.upper(),
            lambda: one.strip(),
            lambda: one.substr(self.chosen.choice([0, -1, 10**6]), 10**6),
            lambda: one + self.text(depth - 1),
            lambda: self.any(depth - 1).cast("string"),
            lambda: self.chosen_among(self.text, depth),
        ]
        return self.chosen.choice(ways)()

    def moment(self, depth: int) -> Any:
        days = [date(1, 1, 1), datetime(9999, 12, 31), datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)]
        if depth <= 0:
            return self._leaf("d ts tns tz", days)
        ways: list[Any] = [
            lambda: self.text(depth - 1).cast("date"),
            lambda: self.moment(depth - 1).date(),
            lambda: self.moment(depth - 1).cast(self.chosen.choice(["date", "timestamp"])),
            lambda: self.chosen_among(self.moment, depth),
        ]
        return self.chosen.choice(ways)()

    def other(self, depth: int) -> Any:
        return self._leaf("tm iv bl uu l j", [time(3, 4), b"x"])

    def truth(self, depth: int) -> Any:
        if depth <= 0:
            return self.table.b
        way = self.chosen.choice([self.number, self.text, self.moment, self.other])
        one, two, three = (self._mostly(way, depth - 1) for _ in range(3))
        ways: list[Any] = [
            lambda: one == two,
            lambda: one < two,
            lambda: one.identical_to(two),
            lambda: one.between(two, three),
            lambda: one.isin([two, three]),
            lambda: self.truth(depth - 1) & ~self.truth(depth - 1),
            lambda: one.isnull(),
            lambda: self.text(depth - 1).contains(self.text(depth - 1)),
        ]
        return self.chosen.choice(ways)()

    def chosen_among(self, way: Any, depth: int) -> Any:
        one, two, three = (self._mostly(way, depth - 1) for _ in range(3))
        ways: list[Any] = [
            lambda: ibis.coalesce(one, two),
            lambda: self.truth(depth - 1).ifelse(one, two),
            lambda: self.chosen.choice([ibis.greatest, ibis.least])(one, two),
            lambda: one.nullif(two),
            lambda: ibis.cases((self.truth(depth - 1), one), else_=three),
            lambda: one.cases((two, three), else_=one),
        ]
        return self.chosen.choice(ways)()


def placed(table: Any, value: Any, way: int) -> Any:
    """A value as a column, below a filter, summed up for each person, or in a window of each person."""
    if way == 0:
        return table.select("u", "i8", z=value)
    if way == 1:
        return table.select("u", "i8", z=value).filter(ibis._.z.notnull()).filter(ibis._.i8 > 0)
    return table.group_by("u").agg(z=value.max()) if way == 2 else table.select("u", z=value.max().over(group_by="u"))


def fuzz(place: Any, seed: int, count: int) -> int:
    """Whatever is put together of listed functions is refused, or fails on no rows, or on none."""
    visits, _, _, bases = tables(place)
    chosen, passed = random.Random(seed), 0
    writer = Writer(visits, chosen)
    for _ in range(count):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = writer.any(chosen.choice([1, 2, 2, 3]))
                query = placed(visits, value, chosen.randrange(4))
        except (IbisError, ValidationError, TypeError, AttributeError, ValueError, ArithmeticError):
            continue  # no query at all
        try:
            made, _ = checked(query, bases, place)
        except NoisewrightError:
            continue
        try:
            _counted(place, made.limit(0))
        except Exception:  # noqa: BLE001 -- what fails on no rows fails before the charge
            continue
        try:
            _counted(place, made)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {ibis.to_sql(made)}") from error
        passed += 1
    return passed


def test_what_is_put_together_of_listed_functions_fails_on_no_value(place: Any):
    assert fuzz(place, 11, 80) > 15


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_what_is_put_together_of_listed_functions_fails_on_no_value_long(place: Any, seed: int):
    assert fuzz(place, 100 + seed, 3000) > 600


def test_no_text_breaks_a_filter_of_a_frame():
    data = nw.Dataset(pa.table({"u": ["a", "b"], "s": ["\0", ""]}), "u", name="x").filter(lambda t: t.s + t.s != "")
    assert data._source.engine.fetch(data._table).num_rows == 1
