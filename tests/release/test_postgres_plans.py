"""How PostgreSQL does what it is asked: the table is read once, few groups are kept, and the list is what is hashed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import noisewright as nw
from noisewright.release.engines.postgres.engine import Postgres, written
from noisewright.release.plan.arranging import layout_of
from tests.postgres_server import Server

ROWS, LISTED, WARDS = 20_000, 50, 1000
NEAR = nw.keys("w", range(LISTED))
FAR = nw.keys("w", range(0, 100 * LISTED, 100))
TEXTS = nw.keys("k", [f"key {place}" for place in range(0, 100 * LISTED, 100)])


@pytest.fixture(scope="module")
def address(server: Server) -> str:
    """A table in which every row has keys of its own."""
    server.execute("CREATE DATABASE plans")
    address = server.url.replace("/postgres", "/plans")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i::bigint AS visit, (i % 4000)::bigint AS id, i::bigint AS w,"
            f" 'key ' || i AS k, (i % {WARDS})::bigint AS ward, i / 7.0::double precision AS x"
            f" FROM generate_series(1, {ROWS}) i"
        )
        connection.execute("ANALYZE visits")
    return f"{address}/visits"


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def plans(data: nw.Dataset, questions: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """The nodes of the plan of each query, with the rows that went through them."""
    found, fetch = [], Postgres.fetch

    def watched(own: Postgres, expression: Any) -> Any:
        with own.snapshot(), own.backend.con.cursor() as cursor:
            words = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {written(own.backend, expression)}"
            ((told,),) = cursor.execute(words.encode()).fetchall()
        found.append(list(nodes((json.loads(told) if isinstance(told, str) else told)[0]["Plan"])))
        return fetch(own, expression)

    monkeypatch.setattr(Postgres, "fetch", watched)
    data._checked.true_aggregates(layout_of(questions, data.limits), 1)
    return found


def scans(plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [node for node in plan if node.get("Relation Name") == "visits"]


@pytest.mark.parametrize("keys", [NEAR, FAR, TEXTS], ids=["side by side", "far apart", "texts"])
def test_one_row_per_person_is_one_reading_that_keeps_few_groups(
    address: str, keys: Any, monkeypatch: pytest.MonkeyPatch
):
    data = nw.Dataset(address, "visit", one_row_per_person=True)
    asked = [nw.count(by=keys), nw.ask.sum("x", bounds=(0, 9), step="0.1", by=keys)]
    (plan,) = plans(data, asked, monkeypatch)
    (scan,) = scans(plan)
    assert scan["Actual Rows"] <= LISTED, "rows of other keys are left out where they are read"
    assert scan["Rows Removed by Filter"] >= ROWS - LISTED
    (aggregate,) = (node for node in plan if node["Node Type"] == "Aggregate")
    assert aggregate["Actual Rows"] <= LISTED


def test_a_limited_person_is_one_reading_that_hashes_the_list(address: str, monkeypatch: pytest.MonkeyPatch):
    data = nw.Dataset(address, "id", rows_per_group=3, groups_per_person=2)
    wards = nw.keys("ward", range(WARDS))
    asked = [nw.count(by=wards), nw.ask.sum("x", bounds=(0, 9), step="0.1", by=wards)]
    (plan,) = plans(data, asked, monkeypatch)
    assert len(scans(plan)) == 1
    (hashed,) = (node for node in plan if node["Node Type"] == "Hash")
    assert not scans(list(nodes(hashed)))


def test_numbers_of_persons_and_of_rows_are_one_reading_each(address: str, monkeypatch: pytest.MonkeyPatch):
    data = nw.Dataset(address, "id", rows_per_group=3, groups_per_person=2)
    found = plans(data, [nw.count(by=NEAR), nw.ask.persons(by=NEAR, name="persons")], monkeypatch)
    assert [len(scans(plan)) for plan in found] == [1, 1]
