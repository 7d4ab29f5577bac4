"""Every reason for a refusal in every place of a query, every comparison in every join, every union of every column.

What is refused in one place is refused in all. Which joins and unions pass is told from the definition; of queries
that pass, each person's rows are looked at: without the person all other rows are left as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
import pytest
from ibis.common.annotations import ValidationError
from ibis.common.exceptions import IbisError

import noisewright as nw
from noisewright.problem.errors import InvalidTableError
from noisewright.release.dataset import joined
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.table.person_local import checked
from noisewright.release.table.total_functions import REASONS
from tests.release.test_attacks import own_function, tables

REFUSED = nw.errors.NotPersonLocalError
ROWS = "('a', 'x', 1, 0.5), ('a', 'b', 2, 1.5), ('b', 'a', 2, 0.25), ('c', 'x', 3, 4.0), ('c', 'c', 1, NULL)"
OTHERS = "('a', 'b', 2), ('a', 'x', 1), ('b', 'x', 3), ('d', 'a', 2)"


@pytest.fixture(scope="module")
def place() -> Any:
    engine = DuckDB.in_memory()
    engine.backend.raw_sql(f"CREATE TABLE visits AS SELECT * FROM (VALUES {ROWS}) v(u, s, i, f)")
    engine.backend.raw_sql(f"CREATE TABLE bills AS SELECT * FROM (VALUES {OTHERS}) v(u, s, i)")
    engine.backend.raw_sql("CREATE TABLE wards AS SELECT * FROM (VALUES ('x', 1, 0.5), ('b', 2, 2.0)) v(s, i, f)")
    return engine


def _by_person(table: Any, value: Any) -> Any:
    """Over the rows of one person where there are persons, so that the function alone is at fault."""
    return value.over(group_by=table.u) if "u" in table.columns else value.over(group_by=table.s)


def _other(table: Any) -> Any:
    return table.view().f.max().as_scalar() if hasattr(table.f.max(), "as_scalar") else table.view().f.max()


Value = Callable[[Any], Any]
FORBIDDEN: dict[type, Value] = {
    ops.Sum: lambda t: _by_person(t, t.f.sum()),
    ops.Mean: lambda t: _by_person(t, t.f.mean()),
    ops.Variance: lambda t: _by_person(t, t.f.var()),
    ops.StandardDev: lambda t: _by_person(t, t.f.std()),
    ops.ScalarSubquery: _other,
    ops.InSubquery: lambda t: t.s.isin(t.view().s),
    ops.ExistsSubquery: lambda t: (t.view().i == t.i).any(),
    ops.RandomScalar: lambda t: ibis.random(),
    ops.RandomUUID: lambda t: ibis.uuid(),
    ops.RowID: lambda t: t.rowid(),
    ops.RowNumber: lambda t: _by_person(t, ibis.row_number()),
    ops.Lag: lambda t: _by_person(t, t.f.lag()),
    ops.Lead: lambda t: _by_person(t, t.f.lead()),
    ops.First: lambda t: _by_person(t, t.f.first()),
    ops.Last: lambda t: _by_person(t, t.f.last()),
    ops.Arbitrary: lambda t: _by_person(t, t.f.arbitrary()),
    ops.ArgMax: lambda t: _by_person(t, t.f.argmax(t.i)),
    ops.ArgMin: lambda t: _by_person(t, t.f.argmin(t.i)),
    ops.Mode: lambda t: _by_person(t, t.f.mode()),
    ops.ArrayCollect: lambda t: _by_person(t, t.f.collect()),
    ops.GroupConcat: lambda t: _by_person(t, t.s.group_concat()),
    ops.Unnest: lambda t: ibis.array([t.f, t.f]).unnest(),
    ops.TimestampNow: lambda t: ibis.now(),
    ops.DateNow: lambda t: ibis.today(),
    ops.Exp: lambda t: t.f.exp(),
    ops.Repeat: lambda t: t.s.repeat(t.i),
    ops.Hash: lambda t: t.s.hash(),
    ops.ScalarUDF: lambda t: own_function(t.i),
}
"""Of each reason a value that it is about, and nothing else that would be refused."""
WIDE: dict[str, Value] = {
    "a window over everybody": lambda t: t.f.max().over(),
    "a window across persons": lambda t: t.f.max().over(group_by=t.s),
    "a window by a computed unit": lambda t: t.f.max().over(group_by=t.s.upper()),
    "a running window": lambda t: t.f.max().over(ibis.cumulative_window(group_by=t.s, order_by=t.i)),
    "a summary of everybody": lambda t: t.f.max(),
    "a power of columns": lambda t: t.f**t.f,
    "a remainder by a column": lambda t: t.f % t.i,
}
"""What reads rows of several persons, and what may overflow."""
VALUES: dict[str, Value] = {**{kind.__name__: value for kind, value in FORBIDDEN.items()}, **WIDE}


def _case(table: Any, value: Any) -> Any:
    return ibis.cases((table.i > 1, value.notnull()), else_=False)


POSITIONS: dict[str, Callable[[Any, Any, Any, Value], Any]] = {
    "select": lambda v, b, p, of: v.select(v.u, z=of(v)),
    "mutate": lambda v, b, p, of: v.mutate(z=of(v)),
    "mutate, then dropped": lambda v, b, p, of: v.mutate(z=of(v)).drop("z"),
    "filter": lambda v, b, p, of: v.filter(of(v).notnull()),
    "filter behind another": lambda v, b, p, of: v.filter(v.i > 0, of(v).notnull()),
    "inside a comparison": lambda v, b, p, of: v.mutate(z=(v.i > 0) & of(v).isnull()),
    "a case": lambda v, b, p, of: v.mutate(z=_case(v, of(v))),
    "below a filter": lambda v, b, p, of: v.mutate(z=of(v)).filter(ibis._.i > 1),
    "a key behind the unit": lambda v, b, p, of: v.group_by(["u", of(v).name("key")]).agg(n=v.count()),
    "a key before the unit": lambda v, b, p, of: v.group_by([of(v).isnull().name("key"), "u"]).agg(n=v.count()),
    "inside a summary": lambda v, b, p, of: v.group_by("u").agg(z=of(v).isnull().any()),
    "which rows a summary takes": lambda v, b, p, of: v.group_by("u").agg(z=v.i.max(where=of(v).notnull())),
    "a partition": lambda v, b, p, of: v.mutate(z=v.i.max().over(group_by=[v.u, of(v)])),
    "what a window summarises": lambda v, b, p, of: v.mutate(z=of(v).isnull().any().over(group_by=v.u)),
    "left of a union": lambda v, b, p, of: v.select(v.u, z=of(v).isnull()).union(b.select(b.u, z=b.i > 1)),
    "right of a union": lambda v, b, p, of: b.select(b.u, z=b.i > 1).union(v.select(v.u, z=of(v).isnull())),
    "a condition of a join": lambda v, b, p, of: v.join(p, [v.s == p.s, of(v).notnull()]),
    "another side of a join": lambda v, b, p, of: v.join(b.join(p, "s").select("u", z=of(p).isnull()), "u"),
    "a selection from a join": lambda v, b, p, of: v.join(p, "s").select(v.u, z=of(v)),
    "left of a private join": lambda v, b, p, of: v.select(v.u, z=of(v)).join(b, "u"),
    "right of a private join": lambda v, b, p, of: b.join(v.select(v.u, z=of(v)), "u"),
    "right of a semi join": lambda v, b, p, of: b.semi_join(v.filter(of(v).notnull()), "u"),
    "right of an anti join": lambda v, b, p, of: b.anti_join(v.filter(of(v).notnull()), "u"),
    "a dropped missing value": lambda v, b, p, of: v.mutate(z=of(v)).drop_null("z"),
}


def test_every_reason_has_a_value_that_is_tried():
    assert set(FORBIDDEN) == set(REASONS)


@pytest.mark.parametrize("where", POSITIONS)
def test_what_is_refused_in_one_place_is_refused_in_all(place: Any, where: str):
    built, passed = 0, []
    for name, value in VALUES.items():
        visits, bills, wards, bases = tables(place)
        query = _built(partial(POSITIONS[where], visits, bills, wards, value))
        if query is not None:
            built += 1
            if not _refused(query, bases, place):
                passed.append(name)
    assert passed == []
    assert built >= len(VALUES) / 2


_NOT_BUILT = (IbisError, ValidationError, TypeError, AttributeError, ValueError, NotImplementedError)
"""What Ibis raises, by its own mood, where a value does not fit a place; nothing of ours is asked until it is built."""


def _built(query: Callable[[], Any]) -> Any:
    """The query, or None for what Ibis does not build, which nobody can ask."""
    try:
        found = query()
        found.op()
    except _NOT_BUILT:
        return None
    return found


@pytest.mark.parametrize("name", VALUES)
def test_every_value_is_tried_in_half_of_the_positions(place: Any, name: str):
    visits, bills, wards, _ = tables(place)
    queries = [_built(partial(position, visits, bills, wards, VALUES[name])) for position in POSITIONS.values()]
    assert sum(query is not None for query in queries) >= len(POSITIONS) / 2


def _refused(query: Any, bases: Any, place: Any) -> bool:
    try:
        checked(query, bases, place)
    except REFUSED as refusal:
        return bool(refusal.reason)
    return False


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "null-safe": lambda a, b: a.identical_to(b),
    "among": lambda a, b: a.isin([b]),
    "between": lambda a, b: a.between(b, b),
    "== or": lambda a, b: (a == b) | (a == "x"),
    "not !=": lambda a, b: ~(a != b),
    "== and": lambda a, b: (a == b) & (a == a),
    "cases": lambda a, b: a.upper() == b.upper(),
}


def _compared(left: Any, right: Any, sign: Any, pair: Any, also: list[Any], how: Any) -> Any:
    return left.join(right, [sign(*pair), *also], how=how)


HOWS = ("inner", "left", "semi", "anti", "right", "outer", "asof")


@pytest.mark.parametrize("how", HOWS)
def test_private_tables_are_joined_where_their_units_are_equal_and_nowhere_else(place: Any, how: str):
    """Bare columns both, in either order, alone or beside other conditions; other comparisons of units do not count."""
    passed = set()
    for sign, mine, theirs, turned, more in product(COMPARED, ("u", "s"), ("u", "s"), (False, True), (False, True)):
        v, b, _, bases = tables(place)
        pair = (b[theirs], v[mine]) if turned else (v[mine], b[theirs])
        also = [v.i >= b.i] if more else []
        query = _built(partial(_compared, v, b, COMPARED[sign], pair, also, how))
        if query is not None and not _refused(query, bases, place):
            passed.add((sign, mine, theirs))
    allowed = {("==", "u", "u")} if how in ("inner", "left", "semi", "anti") else set()
    assert passed - {("== and", "u", "u")} == allowed


@pytest.mark.parametrize(("how", "passes"), [("inner", {"mine", "theirs"}), ("left", {"mine"})])
def test_the_unit_that_is_kept_is_one_that_every_row_has(place: Any, how: str, passes: set[str]):
    visits, bills, _, bases = tables(place)
    both = visits.join(bills, visits.u == bills.u, how=how)
    kept = {"mine": both.select(w=visits.u, s=visits.s), "theirs": both.select(w=bills.u, s=visits.s)}
    assert {name for name, query in kept.items() if not _refused(query, bases, place)} == passes


@pytest.mark.parametrize("left", list(product("us", repeat=2)))
def test_a_union_carries_the_unit_where_both_sides_do(place: Any, left: tuple[str, str]):
    for right in product("us", repeat=2):
        visits, bills, _, bases = tables(place)
        sides = [t.select(x=t[c], y=t[d]) for t, (c, d) in ((visits, left), (bills, right))]
        both = {name for name, one, other in zip("xy", left, right, strict=True) if one == other == "u"}
        query = sides[0].union(sides[1], distinct=False)
        if not both:
            with pytest.raises(REFUSED):
                checked(query, bases, place)
            continue
        standing = checked(query, bases, place)[1]
        assert standing.units == both
        assert not standing.straight


SEVERAL: dict[str, Callable[[Any, Any, Any], Any]] = {
    "filter": lambda v, b, p: v.filter((v.i > 1) | v.f.isnull()),
    "inner": lambda v, b, p: v.join(b, "u"),
    "inner with more": lambda v, b, p: v.join(b, [v.u == b.u, v.i >= b.i]),
    "left": lambda v, b, p: v.left_join(b, "u"),
    "semi": lambda v, b, p: v.semi_join(b, [v.u == b.u, v.s == b.s]),
    "anti": lambda v, b, p: v.anti_join(b, [v.u == b.u, v.s == b.s]),
    "public": lambda v, b, p: v.left_join(p, "s"),
    "public anti": lambda v, b, p: v.anti_join(p, "s"),
    "both": lambda v, b, p: v.select("u", "s", "i").union(b, distinct=False),
    "summary": lambda v, b, p: v.group_by(["u", "i"]).agg(n=v.count(), most=v.f.max(), kinds=v.s.nunique()),
    "window": lambda v, b, p: v.mutate(n=v.count().over(group_by=[v.u, v.i]), top=v.f.max().over(group_by=v.u)),
    "joined summaries": lambda v, b, p: v.join(b.group_by("u").agg(n=b.count()), "u"),
    "both, joined": lambda v, b, p: v.select("u", "s").union(b.select("u", "s"), distinct=False).join(b, "u"),
}


@pytest.mark.parametrize("query", SEVERAL.values(), ids=SEVERAL)
def test_without_a_person_the_rows_of_all_others_stay_as_they_are(query: Any):
    def rows(without: str) -> Counter[tuple[Any, ...]]:
        engine = DuckDB.in_memory()
        for name, given, columns in (("visits", ROWS, "u, s, i, f"), ("bills", OTHERS, "u, s, i")):
            engine.backend.raw_sql(
                f"CREATE TABLE {name} AS SELECT * FROM (VALUES {given}) v({columns}) WHERE u <> '{without}'"
            )
        engine.backend.raw_sql("CREATE TABLE wards AS SELECT * FROM (VALUES ('x', 1, 0.5), ('b', 2, 2.0)) v(s, i, f)")
        visits, bills, wards, bases = tables(engine)
        made, standing = checked(query(visits, bills, wards), bases, engine)
        unit = sorted(standing.units)[0]
        return Counter((row[unit], *map(repr, row.values())) for row in made.to_pyarrow().to_pylist())

    everybody = rows("nobody")
    assert everybody
    for person in "abcd":
        assert rows(person) == Counter({row: n for row, n in everybody.items() if row[0] != person})


KINDS = ["string", "int8", "int32", "int64", "float32", "float64", "decimal(9, 2)", "boolean", "date"]


@pytest.mark.parametrize("mine", KINDS)
def test_columns_are_compared_with_columns_of_their_own_type(mine: str):
    """A float beside a whole number would take two for one; whole numbers of any width are the same numbers."""
    for theirs in KINDS:
        left, right = ibis.table({"u": mine, "k": mine}, name="l"), ibis.table({"u": theirs, "k": theirs}, name="r")
        alike = mine == theirs or (mine.startswith("int") and theirs.startswith("int"))
        for asked in (
            lambda le=left, ri=right: joined(le, ri, ["k"], "inner"),
            lambda le=left, ri=right: joined(le, ri, [], "inner", ("u", "u")),
        ):
            if alike:
                asked()
            else:
                with pytest.raises(InvalidTableError, match="one type"):
                    asked()


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_datasets_of_two_ledgers_are_not_joined(how: str, tmp_path: Path):
    """Each way round, and where one has no ledger: what one person gives away would be charged to one of them alone."""
    frame = pa.table({"u": ["a", "b"], "x": [1, 2]})
    made: list[Any] = [
        nw.Dataset(frame, "u", name=name, ledger=nw.Ledger.create(tmp_path / name, budget=nw.PureDP(1)))
        for name in ("one", "other")
    ]
    made.append(nw.Dataset(frame, "u", name="third"))
    for one, other in product(made, repeat=2):
        if one is other:
            continue
        with pytest.raises(nw.errors.InvalidInputError, match="same ledger"):
            one.join(other, how=how)
    shared = nw.Dataset(frame, "u", name="fourth", ledger=made[0].ledger)
    assert made[0].join(shared, how=how).ledger is made[0].ledger
