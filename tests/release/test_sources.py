"""Every kind of source gives the same numbers; hostile names and values break nothing; what is wrong is said early."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.release.tables import arrow, hostile

ROWS = hostile(300, 20, 11)
QUESTIONS = [
    nw.count(by=nw.keys("k", ["A", "a", "日本"])),
    nw.mean("t", bounds=(-10, 100), by=nw.keys("k", ["A", "a", "日本"])),
    nw.ask.sum("f", bounds=(0, 120), step="0.1"),
]
TABLE_ERROR = nw.errors.InvalidTableError


def numbers(data: nw.Dataset) -> list[int]:
    return data._checked.true_aggregates(layout_of(QUESTIONS, data.limits), 5)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    # Texts that a CSV file cannot tell from missing ones are left out.
    return arrow([{**row, "t": row["t"] or None, "k": row["k"] or None} for row in ROWS])


@pytest.fixture(scope="module")
def expected(table: pa.Table) -> list[int]:
    return numbers(nw.Dataset(table, "id"))


def test_frames_give_the_same_numbers(table: pa.Table, expected: list[int]):
    assert numbers(nw.Dataset(pl.from_arrow(table), "id")) == expected
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert numbers(nw.Dataset(frame, "id")) == expected
    categories = table.set_column(4, "k", table.column("k").dictionary_encode())
    assert numbers(nw.Dataset(categories, "id")) == expected


def test_files_give_the_same_numbers(table: pa.Table, expected: list[int], tmp_path: Path):
    pq.write_table(table.slice(0, 100), tmp_path / "a.parquet")
    pq.write_table(table.slice(100), tmp_path / "b.parquet")
    assert numbers(nw.Dataset(str(tmp_path / "*.parquet"), "id")) == expected
    path = tmp_path / "o'clock; rows.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow(["" if value is None else value for value in row.values()])
    data = nw.Dataset(path, "id", types={"id": "integer"})
    assert data.columns["f"] == "string"
    found = numbers(data)
    # The text of an infinite float is no number of our grammar; the others have the same values.
    finite = arrow([{**row, "f": None if row["f"] in (float("inf"), -float("inf")) else row["f"]} for row in ROWS])
    wide = {5e-324, 1e300, -1e300}
    small = [{**row, "f": None if row["f"] in wide else row["f"]} for row in finite.to_pylist()]
    assert found[:6] == expected[:6]
    assert found[6] == numbers(nw.Dataset(arrow(small), "id"))[6]


def test_rows_that_do_not_fit_the_header_are_left_out(tmp_path: Path):
    path = tmp_path / "broken.csv"
    path.write_bytes(b'id,t,k,f\n1,1,A,1\n2,2\n3,3,A,4,5,6\n4,\xff\xfe,A,1\n5,5,A,"1\n2"\n')
    data = nw.Dataset(path, "id", types={"id": "integer"})
    assert numbers(data)[0] == 3, "what is beyond the header is not read"


def test_databases_and_ibis_tables_give_the_same_numbers(table: pa.Table, expected: list[int], tmp_path: Path):
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute('CREATE TABLE "select; drop" AS SELECT * FROM given')
        connection.execute('CREATE VIEW part AS SELECT * FROM "select; drop" LIMIT 3')
        connection.execute("CREATE TABLE nocase (id BIGINT, k VARCHAR COLLATE NOCASE)")
    assert numbers(nw.Dataset(f"{path}::select; drop", "id")) == expected
    backend = ibis.duckdb.connect(path, read_only=True)
    assert numbers(nw.Dataset(backend.table("select; drop"), "id")) == expected
    with pytest.raises(TABLE_ERROR, match="'part' is a view, whose definition is not checked"):
        nw.Dataset(f"{path}::part", "id")
    assert nw.Dataset(f"{path}::part", "id", local_views=["part"]).columns["k"] == "string"
    with pytest.raises(TABLE_ERROR, match="by a collation"):
        nw.Dataset(f"{path}::nocase", "id")
    with pytest.raises(TABLE_ERROR, match="there is no table 'none'"):
        nw.Dataset(f"{path}::none", "id")
    backend.disconnect()


HOSTILE = [
    'a"b',
    "select",
    "'; DROP TABLE x; --",
    "日本 ü",
    "u",
    "k",
    "t0",
    "b",
    "value",
    "question",
    "{x}",
    "%s",
    "a.b",
    " ",
]


def test_hostile_column_names_neither_break_nor_inject():
    frame = pa.table({name: pa.array([1, 2, 3, None]) for name in HOSTILE})
    for unit, key, column in zip(HOSTILE[::3], HOSTILE[1::3], HOSTILE[2::3], strict=False):
        data = nw.Dataset(frame, unit)
        layout = layout_of([nw.ask.sum(column, bounds=(0, 5), step=1, by=nw.keys(key, [1, 2, 7]))], data.limits)
        assert data._checked.true_aggregates(layout, 3) == [1, 2, 0]
    assert {" ", "a.b"} <= set(nw.Dataset(frame, "u").columns)


def test_persons_of_frames_are_joined_and_public_tables_too():
    visits = nw.Dataset(pd.DataFrame({"id": [1, 1, 2, 3], "ward": list("ABAA")}), "id", name="visits", rows_per_group=5)
    bills = nw.Dataset(pd.DataFrame({"id": [1, 2, 2], "cost": [5.0, 7.0, None]}), "id", name="bills")
    both = visits.join(bills)
    layout = layout_of([nw.count(), nw.ask.sum("cost", bounds=(0, 10), step=1)], both.limits)
    assert both._checked.true_aggregates(layout, 1) == [4, 17]
    wards = pl.DataFrame({"ward": ["A", "B"], "beds": [10, 20]})
    named = visits.join_public(wards, "ward")
    layout = layout_of([nw.ask.sum("beds", bounds=(0, 30), step=1)], named.limits)
    assert named._checked.true_aggregates(layout, 1) == [50]
    other = visits.join_public(wards.with_columns(beds=pl.col("beds") + 1), "ward")
    assert named.describe() != other.describe(), "another public table is another question"


@pytest.mark.parametrize(
    ("source", "unit", "words", "more"),
    [
        ("nowhere.csv", "id", "there is no file nowhere.csv", {}),
        ("nowhere.duckdb::t", "id", "there is no file nowhere.duckdb", {}),
        (42, "id", "the source is of type int", {}),
        (pa.table({"id": [1]}), "ID", "there is no column 'ID'; there are 'id'", {}),
        (pa.table({"id": [1.5]}), "id", "a unit is text or a whole number", {}),
        (pa.table({"id": [1]}), "", "give the name of the column", {}),
        (pa.table({"id": [1], "x": ["1"]}), "id", "the type of 'x' is 'float'", {"types": {"x": "float"}}),
        (pa.table({"id": [1], "x": [1]}), "id", "'x' holds int64, not text", {"types": {"x": "number"}}),
        (pd.DataFrame([[1, 2]], columns=["id", "id"]), "id", "two columns have the same name", {}),
        (pa.table({"id": [1], "a": [1], "A": [2]}), "id", "up to upper and lower case", {}),
        (pl.LazyFrame({"id": [1]}), "id", "this is a lazy frame", {}),
    ],
)
def test_wrong_sources_are_refused_in_words(source: Any, unit: str, words: str, more: Any):
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        nw.Dataset(source, unit, **more)


def test_mixed_columns_of_pandas_are_read_as_text():
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "x": [1, "2", None, object]})
    data = nw.Dataset(frame, "id", name="x")
    layout = layout_of([nw.mean("x", bounds=(0, 10), step=1)], data.limits)
    assert data._checked.true_aggregates(layout, 1) == [2, -7]


@pytest.mark.parametrize("how", ["BEGIN TRANSACTION", "BEGIN TRANSACTION READ ONLY"])
def test_a_transaction_of_the_caller_stays_open(how: str, table: pa.Table):
    connection = ibis.duckdb.connect()
    connection.con.register("held", table)
    connection.con.execute("CREATE TABLE people AS SELECT * FROM held")
    data = nw.Dataset(connection.table("people"), "id")
    before = numbers(data)
    connection.con.execute(how)
    try:
        assert numbers(data) == before
    finally:
        connection.con.execute("COMMIT")
