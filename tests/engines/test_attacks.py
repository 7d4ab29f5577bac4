"""Queries that are not person-local, and what other libraries let through: refused or harmless on every engine."""

from __future__ import annotations

from functools import reduce
from typing import Any

import ibis
import pytest

import noisewright as nw
from noisewright.problem.errors import NotPersonLocalError
from noisewright.release.plan.arranging import layout_of
from noisewright.release.table.person_local import Base, checked
from noisewright.release.table.sources import open_source
from tests.engines.loading import load
from tests.release import test_attacks, test_local

KINDS = {"u": "text", "i": "whole", "f": "double", "s": "text", "d": "date", "ts": "time", "t": "text", "w": "whole"}
KINDS |= {"b": "boolean", "i64": "whole", "amount": "whole"}
ROWS: list[tuple[Any, ...]] = [
    ("a", 1, 1.5, "x", 18_262, 1_577_872_800_000_000, "7", 2**63 - 1, True, 2**63 - 1, 1),
    ("b", 0, float("nan"), "y", None, 2**63 - 1, "abc", -(2**63), None, -(2**63), 0),
    ("b", -1, float("inf"), None, 2**31 - 1, None, "1e999", 0, False, 0, -1),
    (None, None, -1e300, "x", -719_162, None, "", None, True, None, None),
]
HARMLESS = {name: query for name, query in test_local.HARMLESS.items() if name not in ("a decimal and a number",)} | {
    name: test_attacks.HARMLESS[name] for name in ("a window of one's own rows in a join", "a text of some")
}
# Without columns that only DuckDB has, and SQL text, which Ibis sends to the engine before anybody checks it.
ELSEWHERE = ("nanoseconds", "list", "SQL text", "an instant", "with a zone", "in a public table")
TRICKS = {
    name: query
    for name, query in (test_local.TRICKS | test_attacks.TRICKS).items()
    if not any(words in name for words in ELSEWHERE)
}


@pytest.fixture(scope="module")
def place(engine: Any) -> tuple[Any, ...]:
    """Visits, bills and public wards of an engine, what was declared of them, and the engine."""
    rows = [dict(zip(KINDS, row, strict=True)) for row in ROWS]
    visits = open_source(load(engine, KINDS, rows), "u")
    bills = open_source(load(engine, {name: KINDS[name] for name in ("u", "amount", "s")}, rows), "u")
    listed = [{"s": "x", "w2": 1, "share": 2.0}, {"s": "y", "w2": 2, "share": 0.0}]
    wards = open_source(load(engine, {"s": "text", "w2": "whole", "share": "double"}, listed), "", public=True)
    bases = {**visits.bases, **bills.bases, **dict.fromkeys(wards.bases, Base(None))}
    return visits.table, bills.table, wards.table, bases, visits.engine


def test_queries_that_are_not_person_local_are_refused(place: tuple[Any, ...]):
    *tables, bases, engine = place
    for name, query in TRICKS.items():
        with pytest.raises(NotPersonLocalError) as refusal:
            checked(query(*tables), bases, engine)
        assert "Nothing was spent" in str(refusal.value), name


def test_no_value_breaks_what_passes(place: tuple[Any, ...]):
    *tables, bases, engine = place
    passed, alone = [], []
    for query in HARMLESS.values():
        try:
            made, standing = checked(query(*tables), bases, engine)
        except NotPersonLocalError as error:
            alone.append(str(error))
            continue
        assert standing.units & {"u", "person"}
        # Everything is computed: a column that nobody reads would not be.
        counts = [made[name].count() for name in made.columns]
        passed.append(made.agg(n=reduce(lambda one, other: one + other, counts).cast("int64")))
    # What would differ, or raise, on this engine alone.
    assert len(alone) <= (0 if engine.name == "duckdb" else 6)
    assert all("Spark" in words or "PostgreSQL" in words for words in alone)
    found = engine.fetch(ibis.union(*passed, distinct=False))
    assert min(found["n"].to_pylist()) > 0


def differences(engine: Any, frame: dict[str, list[Any]], derive: Any, question: Any) -> list[bool]:
    """For two persons of a table of one row each: whether leaving that person out changes what was declared."""
    rows = [{"u": place, "x": value} for place, value in enumerate(frame["x"])]
    whole = nw.Dataset(load(engine, {"u": "whole", "x": "double"}, rows), "u", name="x").mutate(**derive)
    layout = layout_of([question], whole.limits)
    everybody, *left = (whole._checked.true_aggregates(layout, 1, leave_out=person) for person in (None, 0, 1))
    return [layout.holds([a - b for a, b in zip(everybody, each, strict=True)]) for each in left]


@pytest.mark.parametrize("name", [2938, 2939, 2936, 2923, 2949])
def test_what_opendp_lets_through_is_harmless(engine: Any, name: int):
    if engine.name != "duckdb":
        assert differences(engine, *test_local.REPRODUCERS[name]) == [True, True]
