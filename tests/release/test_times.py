"""Bins of time: exact instants with a zone, the clock on the wall without one, and what fits which column."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.stage.times import TimeBins

QUERY_ERROR, TABLE_ERROR = nw.errors.InvalidQueryError, nw.errors.InvalidTableError


def lengths(bins: TimeBins) -> list[float]:
    return [(b - a) / 3600 for a, b in pairwise(bins.edges)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-02-29", "2024-02-29"),
        ("2024-02-29 23:59", "2024-02-29"),
        (" 2024-02-29T23:59:59.999999999 ", "2024-02-29"),
        ("2024-02-29T23:59:59-11:00", "2024-02-29"),
        ("2024-02-29 00:00Z", "2024-02-29"),
        ("2023-02-29 10:00", None),
        ("2024-02-29 24:00", None),
        ("2024-02-29 10", None),
        ("2024-02-29x", None),
    ],
)
def test_a_date_reads_the_day_that_is_written_whatever_stands_behind_it(text: str, day: str | None):
    table = pa.table({"id": [1], "when": [text]})
    data = nw.Dataset(table, "id", name="x", types={"when": "date"})
    found = data._source.engine.fetch(data._table.select("when")).to_pydict()["when"]
    assert [one and one.isoformat() for one in found] == [day]


def test_days_have_as_many_hours_as_the_clock_of_the_place_says():
    assert lengths(TimeBins("v", "day", "2026-03-28", "2026-03-31", "Europe/Berlin")) == [24, 23, 24]
    assert lengths(TimeBins("v", "day", "2026-10-24", "2026-10-27", "Europe/Berlin")) == [24, 25, 24]
    assert lengths(TimeBins("v", "day", "2026-03-28", "2026-03-31")) == [24, 24, 24], "a wall knows no zone"
    # Midnight that is skipped, midnight that comes twice, and a day that Samoa left out.
    assert lengths(TimeBins("v", "day", "2018-11-03", "2018-11-06", "America/Sao_Paulo")) == [24, 23, 24]
    assert lengths(TimeBins("v", "day", "2026-10-31", "2026-11-03", "America/Havana")) == [24, 25, 24]
    assert lengths(TimeBins("v", "day", "2011-12-29", "2012-01-01", "Pacific/Apia")) == [24, 0, 24]
    # The clock jumped from 23:30 to 00:30: the next day begins at the jump.
    assert lengths(TimeBins("v", "day", "1919-03-30", "1919-04-01", "America/Toronto")) == [23.5, 23.5]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia", "UTC"])
def test_a_day_begins_with_the_first_instant_that_shows_its_midnight_or_later(zone: str):
    place = ZoneInfo(zone)
    for year, month in ((2011, 12), (2025, 3), (2025, 4), (2025, 9), (2025, 10), (2025, 11)):
        start, end = datetime(year, month, 1), datetime(year, month, 28)
        bins = TimeBins("v", "day", start, end, zone)
        for label, edge in zip(bins.labels, bins.edges, strict=False):
            midnight = datetime.fromisoformat(label)
            before = datetime.fromtimestamp(edge - 1, UTC).astimezone(place).replace(tzinfo=None)
            at = datetime.fromtimestamp(edge, UTC).astimezone(place).replace(tzinfo=None)
            assert before < midnight <= at


def test_hours_that_come_twice_are_two_and_an_hour_that_is_skipped_is_none():
    twice = TimeBins("v", "hour", "2026-10-25T01:00", "2026-10-25T04:00", "Europe/Berlin")
    assert twice.labels == (
        *("2026-10-25 01:00+02:00", "2026-10-25 02:00+02:00", "2026-10-25 02:00+01:00", "2026-10-25 03:00+01:00"),
    )
    assert TimeBins("v", "hour", "2026-03-29", "2026-03-30", "Europe/Berlin").count == 23
    assert TimeBins("v", "hour", "2026-03-29", "2026-03-30").count == 24
    # Half an hour back: the last hour of the day is a short one, and none is lost.
    half = TimeBins("v", "hour", "2026-04-05", "2026-04-06", "Australia/Lord_Howe")
    assert (half.count, lengths(half)[-1], sum(lengths(half))) == (25, 0.5, 24.5)


def test_labels_are_those_people_read():
    assert TimeBins("v", "month", "2026-01-01", "2026-04-01").labels == ("2026-01", "2026-02", "2026-03")
    assert TimeBins("v", "week", "2025-12-22", "2026-01-05").labels == ("2025-W52", "2026-W01")
    assert TimeBins("v", "quarter", date(2026, 4, 1), np.datetime64("2026-10-01")).labels == ("2026-Q2", "2026-Q3")
    assert TimeBins("v", "year", "0001-01-01", "0003-01-01").labels == ("0001", "0002")
    assert TimeBins("v", "hour", "2026-01-01T23:00", "2026-01-02").labels == ("2026-01-01 23:00",)


MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2099, 12, 31))
ZONES = st.sampled_from([None, "Europe/Berlin", "America/Havana", "Asia/Kathmandu"])


@given(MOMENTS, st.integers(1, 40), st.sampled_from(["day", "month"]), ZONES)
def test_every_instant_is_in_the_bin_that_its_wall_clock_names(moment: datetime, count: int, every: str, zone: str):
    first = datetime(moment.year, moment.month, moment.day if every == "day" else 1)
    end = first + timedelta(days=count) if every == "day" else datetime(first.year + count, first.month, 1)
    bins = TimeBins("v", every, first, end, zone)
    place = UTC if zone is None else ZoneInfo(zone)
    for low, high in pairwise(bins.edges):
        # Away from the edges, where no clock is set back: half-way through a bin.
        shown = datetime.fromtimestamp((low + high) // 2, UTC).astimezone(place)
        assert bins.labels[bins.edges.index(low)] == shown.date().isoformat()[: 10 if every == "day" else 7]


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"every": "month"}, "takes start= and end="),
        ({"every": "moon", "start": "2026-01-01", "end": "2026-02-01"}, "give one of hour, day, week"),
        ({"every": "month", "start": "2026-01-02", "end": "2026-02-01"}, "on the first of a month"),
        ({"every": "week", "start": "2026-01-01", "end": "2026-01-08"}, "on a Monday"),
        ({"every": "day", "start": "2026-01-02", "end": "2026-01-01"}, "end is later"),
        ({"every": "day", "start": "2026-01-01", "end": "2026-01-01"}, "end is later"),
        ({"every": "day", "start": "today", "end": "2026-01-01"}, "give a date such as"),
        ({"every": "day", "start": 5, "end": "2026-01-01"}, "of type int; give a date"),
        ({"every": "day", "start": "2026-01-01T00:00Z", "end": "2026-02-01"}, "say the zone with zone="),
        ({"every": "day", "start": "2026-01-01T12:00", "end": "2026-02-01"}, "at midnight: give a date"),
        ({"every": "hour", "start": "2026-01-01T12:30", "end": "2026-02-01"}, "on the hour"),
        ({"every": "hour", "start": "2026-01-01", "end": "2027-01-01"}, "more than 2000 times every hour"),
        ({"every": "year", "start": "9999-01-01", "end": "9999-12-31"}, "on the first of January"),
        ({"every": "day", "start": "2026-01-01", "end": "2026-02-01", "zone": "Middle/Earth"}, "does not know"),
        ({"every": "day", "start": "2026-01-01", "end": "2026-02-01", "zone": "../etc"}, "does not know"),
        ({"every": "day", "start": "2026-01-01", "end": "2026-02-01", "edges": [0, 1]}, "and no edges"),
        ({"edges": [0, 1], "zone": "UTC"}, "give edges="),
        ({}, "give edges="),
    ],
)
def test_what_cannot_be_meant_is_refused(given_: Any, words: str):
    with pytest.raises(QUERY_ERROR, match=words):
        nw.ask.histogram("v", **given_)


MONTH: dict[str, Any] = {"every": "month", "start": "2026-01-01", "end": "2026-03-01"}


@pytest.mark.parametrize(
    ("column", "more", "words"),
    [
        ("text", MONTH, 'types={"text": "date"}'),
        ("number", MONTH, "time bins need dates or times"),
        ("instant", MONTH, 'say whose hours and days, such as zone="Europe/Berlin"'),
        ("wall", {**MONTH, "zone": "UTC"}, "times without a zone, which are compared as they are written"),
        ("day", {**MONTH, "zone": "UTC"}, "leave zone= out"),
        ("day", {**MONTH, "every": "hour", "end": "2026-01-02"}, "a date has no hours"),
        ("day", {"edges": [0, 1]}, 'give every="month"'),
        ("none", MONTH, "there is no column 'none'"),
    ],
)
def test_columns_that_have_no_such_bins_are_refused_before_anything_is_spent(column: str, more: Any, words: str):
    wall = pa.array([0], pa.timestamp("us"))
    columns = {"text": ["2026-01-01"], "number": [1], "wall": wall, "instant": wall.cast(pa.timestamp("us", "UTC"))}
    data = nw.Dataset(pa.table({"id": [1], **columns, "day": pa.array([0], pa.date32())}), "id", name="x")
    with pytest.raises(TABLE_ERROR) as refusal:
        data.plan(nw.ask.histogram(column, **more), privacy=nw.PureDP(1))
    assert words in str(refusal.value)


def test_no_time_breaks_a_query_however_far_it_is(tmp_path: Any):
    far = [0, 2**62, -(2**62), 2**63 - 1, -(2**63), 1_767_225_600, None]
    table = pa.table({"id": range(len(far)), **{unit: pa.array(far, pa.timestamp(unit)) for unit in ("s", "ms", "us")}})
    data = nw.Dataset(table, "id", name="x")
    layout = layout_of([nw.ask.histogram(unit, **MONTH, name=unit) for unit in ("s", "ms", "us")], data.limits)
    assert data._checked.true_aggregates(layout, 1) == [1, 0, 0, 0, 0, 0]
    later = data.filter(lambda t: t.s > datetime(2020, 1, 1)).mutate(y=lambda t: t.ms.year())
    assert (
        later._checked.true_aggregates(layout_of([nw.count(), nw.ask.sum("y", bounds=(1900, 2100))], data.limits), 1)[0]
        == 1
    )
    pq.write_table(table.drop_columns("s"), tmp_path / "far.parquet")
    with pytest.raises(TABLE_ERROR, match=r"'ms' of .* counts milliseconds"):
        nw.Dataset(tmp_path / "far.parquet", "id")
    again = nw.Dataset(pq.read_table(tmp_path / "far.parquet"), "id", name="x")
    assert again._checked.true_aggregates(layout_of([nw.ask.histogram("ms", **MONTH)], again.limits), 1) == [0, 0]


def test_a_value_at_an_edge_is_in_the_bin_that_begins_there():
    days = pa.array([20_453, 20_454, 20_484, 20_485, 20_512, 20_513], pa.int32()).cast(pa.date32())
    data = nw.Dataset(pa.table({"id": range(6), "day": days}), "id", name="x")
    assert data._checked.true_aggregates(layout_of([nw.ask.histogram("day", **MONTH)], data.limits), 1) == [2, 2]


def test_times_in_nanoseconds_have_bins_beyond_what_they_can_hold():
    # Infinity is the last value that 64 bits hold; 1677 and 2262 are the first and last years.
    values = [2**63 - 1, -(2**63) + 1, 0, 1_767_225_600 * 10**9, 1_767_225_600 * 10**9 - 1, 9_223_372_035 * 10**9]
    table = pa.table({"id": range(6), "ns": pa.array(values, pa.timestamp("ns"))})
    data = nw.Dataset(table, "id", name="x")
    asked = [
        nw.ask.histogram("ns", every="year", start="1600-01-01", end="2300-01-01"),
        nw.ask.histogram("ns", **{**MONTH, "start": "2025-12-01"}, name="months"),
    ]
    found = data._checked.true_aggregates(layout_of(asked, data.limits), 1)
    assert (sum(found[:700]), found[662], found[700:]) == (4, 1, [1, 1, 0])


def test_times_that_an_engine_would_cast_are_refused_in_queries():
    import ibis

    engine = ibis.duckdb.connect()
    engine.raw_sql("CREATE TABLE t AS SELECT 1 AS id, TIMESTAMP_S '2026-01-05 10:00:00' AS s")
    data = nw.Dataset(engine.table("t"), "id", name="x")
    for query in (lambda t: t.s.hour(), lambda t: t.s.cast("date"), lambda t: t.s > datetime(2020, 1, 1)):
        with pytest.raises(nw.errors.NotPersonLocalError, match="count seconds or milliseconds"):
            data.mutate(z=query)
    assert data._checked.true_aggregates(layout_of([nw.ask.histogram("s", **MONTH)], data.limits), 1) == [1, 0]


def test_a_plan_with_time_bins_is_released_saved_and_proven_again(tmp_path: Any):
    instants = pa.array([1_767_225_599 - 3600, 1_767_225_599, 1_767_225_600], pa.timestamp("s", "Asia/Tokyo"))
    table = pa.table({"id": [1, 2, 3], "visited": instants})
    data = nw.Dataset(table, "id", name="x", budget=nw.PureDP(30), ledger=tmp_path / "x.ledger")
    asked = nw.ask.histogram("visited", **{**MONTH, "start": "2025-12-01"}, zone="Europe/Berlin")
    plan = data.plan(asked, privacy=nw.PureDP(30))
    assert "3 times (month) of visited" in str(asked)
    answers = plan.release()
    assert answers["visited"].to_pylist() == ["2025-12", "2026-01", "2026-02"]
    assert answers["value"].to_pylist() == [1, 2, 0], "23:00 of the last day in London is midnight in Berlin"
    plan.save(tmp_path / "plan.json")
    assert data.load_plan(tmp_path / "plan.json").questions == plan.questions
