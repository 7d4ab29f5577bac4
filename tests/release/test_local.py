"""Queries that people write: person-local ones pass, all others are refused with a reason; none fails on a value."""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.operations as ops
import pandas as pd
import pyarrow as pa
import pytest
from ibis import _

import noisewright as nw
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.plan.arranging import layout_of
from noisewright.release.table.person_local import Base, checked

REFUSED = nw.errors.NotPersonLocalError


@pytest.fixture(scope="module")
def place() -> Any:
    engine = DuckDB.in_memory()
    engine.backend.raw_sql(
        """CREATE TABLE visits AS SELECT * FROM (VALUES
        ('a', 1, 1.5, 'x', DATE '2020-01-01', TIMESTAMP '2020-01-01 10:00', '7', 9223372036854775807,
         1.25::DECIMAL(9, 2)),
        ('b', 0, 'nan'::DOUBLE, 'y', NULL, 'infinity'::TIMESTAMP, 'abc', -9223372036854775808, NULL),
        ('b', -1, 'inf'::DOUBLE, NULL, 'infinity'::DATE, NULL, '1e999', 0, 0.5),
        (NULL, NULL, -1e300, 'x', DATE '1-01-01', NULL, '', NULL, 9999999.99)) v(u, i, f, s, d, ts, t, w, m)"""
    )
    engine.backend.raw_sql("CREATE TABLE bills AS SELECT u, i AS amount, s FROM visits")
    engine.backend.raw_sql("CREATE TABLE wards AS SELECT * FROM (VALUES ('x', 1, 2.0), ('y', 2, 0.0)) v(s, w2, share)")
    return engine


def tables(place: Any) -> tuple[Any, Any, Any, dict[Any, Base]]:
    visits, bills, wards = (place.backend.table(name) for name in ("visits", "bills", "wards"))
    return visits, bills, wards, {visits.op(): Base("u"), bills.op(): Base("u"), wards.op(): Base(None)}


HARMLESS = {
    "filter and derive": lambda v, b, p: v.filter(v.i > 0).mutate(z=v.i + 1),
    "division by zero": lambda v, b, p: v.mutate(z=v.f / v.i),
    "modulo": lambda v, b, p: v.mutate(z=v.w % 7),
    "whole division": lambda v, b, p: v.mutate(z=v.w // 7),
    "overflowing product": lambda v, b, p: v.mutate(z=v.w * v.w),
    "overflowing negation": lambda v, b, p: v.mutate(z=-v.w, y=v.w.abs()),
    "a square": lambda v, b, p: v.mutate(z=v.w**2, y=v.f**8),
    "root of a negative number": lambda v, b, p: v.mutate(z=v.i.sqrt(), y=v.i.ln()),
    "floor of what is not finite": lambda v, b, p: v.mutate(z=v.f.floor(), y=v.f.ceil(), x=v.f.round()),
    "a cast of text": lambda v, b, p: v.mutate(z=v.t.cast("int64"), y=v.t.cast("float64"), x=v.t.cast("date")),
    "a cast of floats": lambda v, b, p: v.mutate(z=v.f.cast("int64"), y=v.w.cast("int8"), x=v.w.cast("string")),
    "a cast below a filter": lambda v, b, p: v.filter(v.t.cast("int64") > 3).filter(v.i > 0),
    "years and hours": lambda v, b, p: v.mutate(z=v.d.year(), y=v.ts.hour(), x=v.ts.date(), q=v.d.day_of_week.index()),
    "texts": lambda v, b, p: v.mutate(z=v.s.upper(), y=v.s.substr(0, 3), x=v.s.length(), a=v.s + v.u),
    "cases": lambda v, b, p: v.mutate(z=ibis.cases((v.i > 0, "more"), else_="less"), y=v.s.isin(["x", "y"])),
    "a decimal and a number": lambda v, b, p: v.filter(v.m > 1),
    "between and coalesce": lambda v, b, p: v.filter(v.i.between(0, 1)).mutate(z=ibis.coalesce(v.i, 0)),
    "fill and drop missing": lambda v, b, p: v.fill_null({"i": 0}).drop_null("f"),
    "a renamed unit": lambda v, b, p: v.rename(person="u"),
    "a public join": lambda v, b, p: v.join(p, "s"),
    "a public left join": lambda v, b, p: v.left_join(p, "s"),
    "a public semi join": lambda v, b, p: v.semi_join(p, "s"),
    "a public anti join": lambda v, b, p: v.anti_join(p, "s"),
    "a private join on the unit": lambda v, b, p: v.join(b, "u"),
    "a private left join": lambda v, b, p: v.left_join(b, [v.u == b.u, v.s == b.s]),
    "persons with a bill": lambda v, b, p: v.semi_join(b, "u"),
    "all rows of both": lambda v, b, p: v.select("u", "s").union(b.select("u", "s"), distinct=False),
    "a summary per person": lambda v, b, p: v.group_by("u").agg(n=v.count(), most=v.i.max(), kinds=v.s.nunique()),
    "a summary per person and kind": lambda v, b, p: v.group_by(["u", "s"]).agg(spread=v.i.max() - v.i.min()),
    "a window per person": lambda v, b, p: v.mutate(n=v.count().over(group_by="u")),
    "a summary of a public table": lambda v, b, p: v.join(p.group_by("s").agg(most=p.w2.max()), "s"),
}


@pytest.mark.parametrize("query", HARMLESS.values(), ids=HARMLESS.keys())
def test_person_local_queries_pass_and_no_value_breaks_them(place: Any, query: Any):
    visits, bills, wards, bases = tables(place)
    made, standing = checked(query(visits, bills, wards), bases, place)
    assert standing.units & {"u", "person"}
    place.fetch(made)


@ibis.udf.scalar.python
def own_function(x: int) -> int:
    return x


TRICKS = {
    "distinct": lambda v, b, p: v.distinct(),
    "limit": lambda v, b, p: v.limit(10),
    "top ten": lambda v, b, p: v.order_by(v.f.desc()).limit(10),
    "order": lambda v, b, p: v.order_by("i"),
    "sample": lambda v, b, p: v.sample(0.5),
    "above the mean": lambda v, b, p: v.filter(v.i > v.i.mean()),
    "above the maximum of others": lambda v, b, p: v.filter(v.i >= b.amount.max()),
    "share of everybody": lambda v, b, p: v.mutate(z=v.i / v.i.sum()),
    "a rank across persons": lambda v, b, p: v.mutate(z=ibis.row_number().over(order_by=v.i)),
    "a rank of a person": lambda v, b, p: v.mutate(z=ibis.row_number().over(group_by="u", order_by=v.i)),
    "a running count": lambda v, b, p: v.mutate(z=v.count().over(ibis.cumulative_window(group_by="u", order_by=v.i))),
    "the row before": lambda v, b, p: v.mutate(z=v.i.lag().over(group_by="u", order_by=v.d)),
    "first value": lambda v, b, p: v.group_by("u").agg(z=v.s.first()),
    "any value": lambda v, b, p: v.group_by("u").agg(z=v.s.arbitrary()),
    "latest value": lambda v, b, p: v.group_by("u").agg(z=v.s.argmax(v.i)),
    "most frequent": lambda v, b, p: v.group_by("u").agg(z=v.s.mode()),
    "a list": lambda v, b, p: v.group_by("u").agg(z=v.s.collect()),
    "a joined text": lambda v, b, p: v.group_by("u").agg(z=v.s.group_concat()),
    "what may overflow": lambda v, b, p: v.mutate(z=v.f.exp()),
    "what may overflow, of a person": lambda v, b, p: v.group_by("u").agg(z=v.f.max().exp()),
    "an average per person": lambda v, b, p: v.group_by("u").agg(z=v.f.mean()),
    "a float sum per person": lambda v, b, p: v.group_by("u").agg(z=v.f.sum()),
    "a summary across persons": lambda v, b, p: v.group_by("s").agg(z=v.count()),
    "a window across persons": lambda v, b, p: v.mutate(z=v.count().over(group_by="s")),
    "rare kinds only": lambda v, b, p: v.filter(v.count().over(group_by="s") < 5),
    "in a private column": lambda v, b, p: v.filter(v.s.isin(b.s)),
    "exists": lambda v, b, p: v.filter((b.amount == v.i).any()),
    "random": lambda v, b, p: v.mutate(z=ibis.random()),
    "a random filter": lambda v, b, p: v.filter(ibis.random() < 0.1),
    "the clock": lambda v, b, p: v.filter(v.ts < ibis.now()),
    "row ids": lambda v, b, p: v.mutate(z=v.rowid()),
    "a computed unit": lambda v, b, p: v.mutate(u=v.u.upper()),
    "another column as the unit": lambda v, b, p: v.mutate(u=v.s),
    "a constant unit": lambda v, b, p: v.mutate(u=ibis.literal("a")),
    "no unit": lambda v, b, p: v.select("i"),
    "the unit dropped": lambda v, b, p: v.drop("u"),
    "the unit dropped under both names": lambda v, b, p: v.mutate(other=v.u).drop("u").drop("other"),
    "another column in the place of a unit that was dropped": lambda v, b, p: (
        v.mutate(other=v.u).drop("other").mutate(other=v.s).drop("u")
    ),
    "units for rows without": lambda v, b, p: v.fill_null({"u": "nobody"}),
    "everything filled": lambda v, b, p: v.select("u", "s").fill_null("nobody"),
    "a private join on something else": lambda v, b, p: v.join(b, "s"),
    "a private join on either": lambda v, b, p: v.join(b, (v.u == b.u) | (v.s == b.s)),
    "a private join on more or less": lambda v, b, p: v.join(b, v.u <= b.u),
    "persons without a like": lambda v, b, p: v.anti_join(b, "s"),
    "an outer join": lambda v, b, p: v.outer_join(b, "u"),
    "a right join": lambda v, b, p: v.right_join(p, "s"),
    "a public table on the left": lambda v, b, p: p.left_join(v, "s"),
    "public rows that somebody has": lambda v, b, p: p.semi_join(v, "s"),
    "a union that drops": lambda v, b, p: v.select("u").union(b.select("u"), distinct=True),
    "a union with public rows": lambda v, b, p: v.select("u").union(p.select(u="s"), distinct=False),
    "a difference": lambda v, b, p: v.select("u").difference(b.select("u")),
    "an intersection": lambda v, b, p: v.select("u").intersect(b.select("u")),
    "SQL text": lambda v, b, p: v.sql("SELECT * FROM visits LIMIT 3"),
    "a function of one's own": lambda v, b, p: v.mutate(z=own_function(v.i)),
    "a bare summary": lambda v, b, p: ops.Project(v.op(), {"u": v.u.op(), "z": v.i.max().op()}).to_expr(),
    "a power": lambda v, b, p: v.mutate(z=v.f**v.f),
    "a broken power": lambda v, b, p: v.mutate(z=v.f**0.5),
    "a table nobody declared": lambda v, b, p: v.join(ibis.memtable({"s": ["x"]}), "s"),
    "dates compared with text": lambda v, b, p: v.filter(v.t.cast("date") == v.t.cast("date")).filter(v.d == v.ts),
    "a text of floats": lambda v, b, p: v.mutate(z=v.f.cast("string")),
    "categories": lambda v, b, p: v.mutate(z=v.f.bucket([0.0, 1.0])),
    "a histogram of everybody": lambda v, b, p: v.mutate(z=v.f.histogram(nbins=4)),
    "the length of all": lambda v, b, p: v.mutate(z=v.count()),
    "quantiles of others": lambda v, b, p: v.mutate(z=v.f.quantile(0.5).over(group_by="s")),
    "modulo a column": lambda v, b, p: v.mutate(z=v.i % v.w),
}


@pytest.mark.parametrize("query", TRICKS.values(), ids=TRICKS.keys())
def test_other_queries_are_refused_with_a_reason(place: Any, query: Any):
    visits, bills, wards, bases = tables(place)
    with pytest.raises(REFUSED) as refusal:
        checked(query(visits, bills, wards), bases, place)
    assert refusal.value.reason in str(refusal.value)
    assert refusal.value.operation


def _differences(frame: dict[str, list[Any]], derive: Any, question: Any) -> list[bool]:
    """For each person of a table of one row each: whether leaving that person out changes what was declared."""
    held = []
    whole = nw.Dataset(pa.table({"u": range(len(next(iter(frame.values())))), **frame}), "u", name="x").mutate(**derive)
    layout = layout_of([question], whole.limits)
    everybody = whole._checked.true_aggregates(layout, 1)
    for person in (0, 1):
        difference = [
            a - b for a, b in zip(everybody, whole._checked.true_aggregates(layout, 1, leave_out=person), strict=True)
        ]
        held.append(layout.holds(difference))
    return held


NAN, FAR = float("nan"), 2.0**30
REPRODUCERS = {
    # A cast that gives NULL, a category of NaN, a filler that is NaN: counted as missing, never as free.
    2938: ({"x": [NAN] + [1.0] * 15}, {"y": _.x.fill_null(0.0).cast("int64")}, nw.mean("y", bounds=(0, 1))),
    2939: ({"x": [NAN] + [1.0] * 15}, {}, nw.ask.histogram("x", edges=[0, 1.5, 3])),
    2936: ({"x": [None] + [1.0] * 99}, {"x": _.x.fill_null(NAN)}, nw.ask.sum("x", bounds=(0, 1))),
    # Deviations from a mean that is rounded: the centre is public here, and everything is whole.
    2923: ({"x": [FAR + 0.5] + [FAR + 0.25] * 99}, {}, nw.ask.variance("x", bounds=(FAR, FAR + 1), step="1/64")),
    # A bound of a column that was redefined.
    2949: ({"x": [1.0, 2.0, 3.0]}, {"x": _.x * 1e9}, nw.ask.sum("x", bounds=(0, 10))),
    # Bounds in which a formula of the sensitivity was wrong by a factor: of both signs, of one, and far from zero.
    "sum of both signs": ({"x": [-10.0] + [10.0] * 9}, {}, nw.ask.sum("x", bounds=(-10, 10))),
    "sum far from zero": ({"x": [FAR] + [FAR + 1] * 9}, {}, nw.ask.sum("x", bounds=(FAR, FAR + 1), step="1/8")),
    "odd width": ({"x": [0.0] + [7.0] * 9}, {}, nw.ask.sum("x", bounds=(0, 7), step=1, centred=True)),
    "small table": ({"x": [0.0, 1.0]}, {}, nw.mean("x", bounds=(0, 1))),
    "small spread": ({"x": [0.0, 1.0]}, {}, nw.ask.variance("x", bounds=(0, 1))),
}


def test_groups_that_are_merged_after_the_limit_are_limited_again():
    """opendp 2949 as it stands: one row in each of a hundred groups, which then become one group."""
    frame = pa.table({"u": [0] * 100 + [1] * 100, "g": [*range(100)] * 2})
    data = nw.Dataset(frame, "u", name="x", rows_per_group=1, groups_per_person=100).mutate(g=ibis.literal(0, "int64"))
    layout = layout_of([nw.count(by=nw.keys("g", [0]))], data.limits)
    everybody, without = data._checked.true_aggregates(layout, 1), data._checked.true_aggregates(layout, 1, leave_out=0)
    assert (everybody, without) == ([2], [1])
    assert layout.holds([a - b for a, b in zip(everybody, without, strict=True)])


def test_a_limit_is_what_one_person_changes_and_not_twice_as_much():
    """opendp 2945: three rows in a group go and three others come, which is two persons here."""
    frame = pa.table({"u": [0] * 3 + [1] * 3, "x": [10.0] * 3 + [-10.0] * 3})
    data = nw.Dataset(frame, "u", name="x", rows_per_group=3)
    layout = layout_of([nw.ask.sum("x", bounds=(-10, 10), step=1)], data.limits)
    one, other = (data._checked.true_aggregates(layout, 1, leave_out=unit)[0] for unit in (1, 0))
    assert (one, other) == (30, -30)
    assert layout.holds([one])
    assert layout.holds([other])
    assert not layout.holds([31])


@pytest.mark.parametrize(("frame", "derive", "question"), REPRODUCERS.values(), ids=map(str, REPRODUCERS))
def test_what_opendp_lets_through_is_harmless(frame: Any, derive: Any, question: Any):
    assert _differences(frame, derive, question) == [True, True]


def test_what_opendp_lets_through_is_refused_where_it_can_raise():
    frame = {"u": range(16), "n": range(16), "m": [0] + [3] * 15}
    with pytest.raises(REFUSED, match="the divisor is a positive number that is written down"):  # opendp 2940
        nw.Dataset(pa.table(frame), "u", name="x").mutate(z=_.n.fill_null(0) % _.m.fill_null(0))
    with pytest.raises(nw.errors.InvalidQueryError, match="whole numbers beyond 2\\^40"):  # opendp 2923 as it stands
        nw.ask.variance("x", bounds=(2**50, 2**50 + 1))


def test_a_redefined_column_is_clamped_again():
    data = nw.Dataset(pa.table({"u": ["a", "b", "c"], "age": [1.0, 2.0, 3.0]}), "u", name="x").mutate(age=_.age * 1e9)
    layout = layout_of([nw.ask.sum("age", bounds=(0, 10), step=1)], data.limits)
    assert data._checked.true_aggregates(layout, 1) == [30]


def test_a_join_ends_the_promise_of_one_row():
    data = nw.Dataset(pd.DataFrame({"u": [1, 2], "s": ["x", "y"]}), "u", name="x", one_row_per_person=True)
    data.filter(_.s == "x")
    with pytest.raises(nw.errors.InvalidInputError, match="after a join or union a person may have more rows"):
        data.join_public(pd.DataFrame({"s": ["x", "x"]}), "s")
