"""The noise-free whole numbers of every engine are those of an evaluation in plain Python, bit for bit.

Generated tables have everything that real ones have: missing values, NaN, infinities, negative zero, huge and tiny
numbers, text among numbers, equal rows, heavy persons, groups that nobody is in, keys of any script, infinite times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import ibis
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.engines.loading import load
from tests.release.tables import FLOATS, KEYS, TEXTS, WHOLES
from tests.release.test_stage import QUESTIONS, SALT, by_hand

COLUMNS = {
    "id": "whole",
    "f": "double",
    "t": "text",
    "w": "whole",
    "k": "text",
    "b": "boolean",
    "day": "date",
    "at": "time",
    "instant": "instant",
}
SECOND, DAY = 10**6, 86_400 * 10**6
# From 1969 to 2030, with the two nights of 2026 in which Berlin sets its clock, and what is infinite or far away.
EDGES = [1_774_746_000 * SECOND, 1_792_890_000 * SECOND, 1_767_222_000 * SECOND, 1_767_225_600 * SECOND, 0]
MICROSECONDS = st.one_of(
    st.none(),
    st.sampled_from([edge + step for edge in EDGES for step in (-1, 0, 1, 3600 * SECOND)]),
    st.sampled_from([2**63 - 1, -(2**63) + 1, 2**62, -(2**62), 10**17]),
    st.integers(-SECOND * 86_400 * 365, 1_900_000_000 * SECOND),
    st.integers(1_767_200_000, 1_798_800_000).map(lambda second: second * SECOND),
)
DAYS = st.one_of(st.none(), st.integers(20_440, 20_900), st.sampled_from([0, 20_454, 20_453, 2**31 - 1, -(2**31) + 1]))
SCRIPTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
TIMES = [
    nw.ask.histogram("day", every="month", start="2026-01-01", end="2027-01-01"),
    nw.ask.histogram("day", every="week", start="2025-12-29", end="2026-06-01", name="weeks", persons=True),
    nw.ask.histogram("at", every="quarter", start="2025-10-01", end="2027-01-01"),
    nw.ask.histogram("at", every="hour", start="2026-01-01", end="2026-01-03", name="hours on the wall"),
    nw.ask.histogram("instant", every="day", start="2026-03-28", end="2026-04-01", zone="Europe/Berlin"),
    nw.ask.histogram("instant", every="hour", start="2026-10-24", end="2026-10-27", zone="Europe/Berlin", name="hours"),
    nw.ask.histogram(
        "instant", every="year", start="1969-01-01", end="2031-01-01", zone="Asia/Kathmandu", name="years"
    ),
]


def rows(texts: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Small tables: few persons with many rows each, and rows that come several times."""
    units = st.sampled_from(["p", "P", "ß", "日本", "p ", ""]) if texts else st.sampled_from([0, 1, -5, 2**62])
    row = st.fixed_dictionaries(
        {
            "id": st.one_of(st.none(), units),
            "f": st.one_of(st.sampled_from(FLOATS), st.floats(-20, 140), st.floats()),
            "t": st.one_of(st.sampled_from(TEXTS), SCRIPTS, st.floats(-50, 150).map(repr)),
            "w": st.one_of(st.sampled_from(WHOLES), st.integers(-(2**63), 2**63 - 1)),
            "k": st.one_of(st.none(), st.sampled_from(KEYS), SCRIPTS),
            "b": st.sampled_from([True, False, None]),
            "day": DAYS,
            "at": MICROSECONDS,
            "instant": MICROSECONDS,
        }
    )
    copies = st.tuples(row, st.integers(1, 3)).map(lambda pair: [pair[0]] * pair[1])
    return st.lists(copies, max_size=14).map(lambda lists: [one for each in lists for one in each])


def equal(engine: Any, table: list[dict[str, Any]], questions: list[Any], texts: bool = False, **limits: Any) -> None:
    """The numbers of the engine are those by hand."""
    kinds: Mapping[str, str] = {**COLUMNS, "id": "text"} if texts else COLUMNS
    data = nw.Dataset(load(engine, kinds, table), "id", name="x", **limits)
    layout = layout_of(questions, data.limits)
    own = data.limits.one_row_per_person
    local = data._source.engine.in_process
    assert data._checked.true_aggregates(layout, SALT) == by_hand(table, layout, one_row=own, in_process=local)


def check(engine: Any, texts: bool, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(rows(texts), st.integers(1, 3), st.integers(1, 3), st.data())
    def generated(table: list[dict[str, Any]], per_group: int, groups: int, data: Any) -> None:
        asked = data.draw(st.lists(st.sampled_from([*QUESTIONS, *TIMES]), min_size=1, max_size=4, unique=True))
        equal(engine, table, asked, texts, rows_per_group=per_group, groups_per_person=groups)

    generated()


@pytest.mark.parametrize("texts", [False, True], ids=["whole units", "text units"])
def test_generated_tables(engine: Any, texts: bool):
    check(engine, texts, 2 if engine.name == "pyspark" else 6)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("texts", [False, True], ids=["whole units", "text units"])
def test_many_generated_tables(engine: Any, texts: bool):
    check(engine, texts, 100 if engine.name == "pyspark" else 600)


def row(place: int, **more: Any) -> dict[str, Any]:
    """A row with values that differ from place to place."""
    given = {"f": FLOATS[place % len(FLOATS)], "t": TEXTS[place % len(TEXTS)], "w": WHOLES[place % len(WHOLES)]}
    times = {"day": 20_454 + place % 400, "at": EDGES[2] + place * DAY // 7, "instant": EDGES[0] + place * SECOND * 900}
    return {"id": place % 5, **given, "k": KEYS[place % len(KEYS)], "b": place % 3 == 0, **times, **more}


@pytest.mark.parametrize("texts", [False, True], ids=["whole units", "text units"])
def test_a_person_of_ten_thousand_rows(engine: Any, texts: bool):
    heavy = [row(place // 2, id=77) for place in range(10_000)]
    table = [*heavy, *(row(place) for place in range(300)), *(row(place, id=None) for place in range(50))]
    named = [{**one, "id": None if one["id"] is None else f"pérson {one['id']}"} for one in table] if texts else table
    asked = [QUESTIONS[0], QUESTIONS[2], QUESTIONS[8], TIMES[3]]
    equal(engine, named, asked, texts, rows_per_group=3, groups_per_person=4)


def some(engine: Any, first: int) -> list[Any]:
    """All questions; of Spark, whose queries take a part of a second each, every fourth."""
    return [*QUESTIONS, *TIMES][first::4] if engine.name == "pyspark" else [*QUESTIONS, *TIMES]


def test_one_row_per_person_is_not_limited(engine: Any):
    equal(engine, [row(place, id=place) for place in range(400)], some(engine, 0), one_row_per_person=True)


def test_an_empty_table_and_empty_groups_give_zeros(engine: Any):
    equal(engine, [], some(engine, 1))
    equal(engine, [row(1, k="nowhere", f=None, t=None)], some(engine, 2), rows_per_group=2, groups_per_person=2)


def test_sums_beyond_64_bits_are_exact(engine: Any):
    most = 2**63 - 1
    table = [row(place, id=place, w=most) for place in range(3)]
    data = nw.Dataset(load(engine, COLUMNS, table), "id", name="x")
    own, rows = data._source.engine, data._table
    sums = {
        "s": own.sum_text(rows.w, most),
        "least": own.sum_text(-1 - rows.w, most + 1),
        "whole": own.sum_of(rows.w).cast("string"),
    }
    found = own.fetch(rows.agg(**sums, c=rows.count()))
    assert [int(found[name][0].as_py()) for name in sums] == [3 * most, -3 * 2**63, 3 * most]


def test_sums_are_exact_at_every_size_of_their_terms(engine: Any):
    sizes = [2**bits + less for bits in (1, 20, 21, 22, 41, 42, 43, 62) for less in (-1, 0, 1)]
    table = [row(place, id=place, w=1) for place in range(4)]
    data = nw.Dataset(load(engine, COLUMNS, table), "id", name="x")
    own, rows = data._source.engine, data._table
    sums = {f"s{size}": own.sum_text(rows.w * ibis.literal(size, "int64"), size) for size in sizes}
    sums |= {f"n{size}": own.sum_text(rows.w * ibis.literal(-size, "int64"), size) for size in sizes}
    found = own.fetch(rows.agg(**sums))
    assert [int(found[name][0].as_py()) for name in sums] == [4 * size for size in sizes] + [
        -4 * size for size in sizes
    ]


def test_texts_with_any_spaces_around_them_are_numbers(engine: Any):
    spaces = [" ", "\t", "\n", "\r", "\v", "\f", ""]
    others = ["v", "f", "t", "\\", "'", "\u00a0", "1", ","]
    texts = [f"{one}{place}{one}" for place, one in enumerate((*spaces, *others))]
    table = [row(place, id=place, t=text) for place, text in enumerate(texts)]
    equal(engine, table, [QUESTIONS[3]], rows_per_group=2)
    plain = [{**one, "k": text} for one, text in zip(table, texts, strict=True)]
    data = nw.Dataset(load(engine, COLUMNS, plain), "id", name="x")
    for text in (texts[4], texts[10]):
        found = data.filter(lambda t, text=text: t.k == text)
        assert found._checked.true_aggregates(layout_of([nw.count()], data.limits), SALT) == [1]


def test_a_floor_by_itself_fails_on_no_value(engine: Any):
    """It is asked for within a case; of an engine that works cases out at once, a value must not fail there either."""
    if engine.name == "postgres":
        return  # its documentation says that a case is worked out only where its condition holds
    values = [math.inf, -math.inf, math.nan, 1e300, -(2.0**63) - 2048, 2.0**63, None, -0.5, 7.9]
    table = [row(place, id=place, f=value) for place, value in enumerate(values)]
    data = nw.Dataset(load(engine, COLUMNS, table), "id", name="x")
    own, rows = data._source.engine, data._table
    found = own.fetch(rows.select("id", z=own.floor_of(rows.f))).to_pydict()
    assert dict(zip(found["id"], found["z"], strict=True)).items() >= {6: None, 7: -1, 8: 7}.items()
