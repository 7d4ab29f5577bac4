"""Folders that stand for columns: which they are is said by what was given, and their values, which persons may choose,
neither stop a dataset from being opened nor change what is read of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.spark_session import Sparks

REFUSED = nw.errors.InvalidTableError
VALUES = {
    "1": "1",
    "007": "007",
    "X": "X",
    "2026-01-31": "2026-01-31",
    "2026-13-31": "2026-13-31",
    "1e999": "1e999",
    "true": "true",
    "NULL": None,
    "null": "null",
    "x=y": "x=y",
    "a%20b": "a b",
    "a+b": "a+b",
    "%2F": "/",
    "%C3%A9": "é",
    "%FF": "%FF",
    "%zz": "%zz",
    "%": "%",
    "[x]": "[x]",
    "a*b": "a*b",
    "aab": "aab",
    "q?": "q?",
    "o'clock; \"": "o'clock; \"",
    "日本": "日本",
    "": "",
    "two\nlines": "two\nlines",
    "__HIVE_DEFAULT_PARTITION__": None,
}
"""What a folder is called behind `code=`, and the value that it stands for, by hand."""


def put(folder: Path, table: dict[str, Any] | None = None, kind: str = "parquet") -> None:
    """Two rows of the persons 1 and 2 in a folder, unless others are given."""
    folder.mkdir(parents=True)
    rows = pa.table({"id": [1, 2]} if table is None else table)
    if kind == "parquet":
        pq.write_table(rows, folder / "1.parquet")
    else:
        rows.to_pandas().to_csv(folder / "1.csv", index=False)


def read(data: nw.Dataset) -> list[dict[str, Any]]:
    """The rows that a dataset stands for."""
    engine = data._source.engine
    with engine.snapshot():
        rows: list[dict[str, Any]] = engine.fetch(data._source.table).to_pylist()
    return rows


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_no_value_of_a_folder_stops_a_dataset_from_being_opened(tmp_path: Path, kind: str):
    for name in VALUES:
        put(tmp_path / f"code={name}", kind=kind)
    data = nw.Dataset(f"{tmp_path}/code=*/1.{kind}", "id", groups_per_person=6)
    assert data.columns["code"] == "string"
    found = sorted((str(row["id"]), str(row["code"])) for row in read(data))
    assert found == sorted((person, str(value)) for value in VALUES.values() for person in ("1", "2"))
    by = nw.keys("code", ["X", "a b", "null", "%FF", "a*b", ""])
    assert data._checked.true_aggregates(layout_of([nw.ask.persons(by=by)], data.limits), 1) == [2] * 6
    (tmp_path / f"code=1/1.{kind}").unlink()
    assert len(read(nw.Dataset(f"{tmp_path}/code=*/1.{kind}", "id"))) == 2 * len(VALUES) - 2


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_may_be_the_unit_and_one_without_a_value_is_nobody(tmp_path: Path, kind: str):
    for name in ("7", "07", "anne", "__HIVE_DEFAULT_PARTITION__"):
        put(tmp_path / f"id={name}", {"x": [1, 2, 3]}, kind)
    data = nw.Dataset(f"{tmp_path}/id=*/*.{kind}", "id")
    assert data._checked.true_aggregates(layout_of([nw.ask.persons(), nw.count()], data.limits), 1) == [3, 3]


def test_which_folders_are_columns_is_said_by_what_was_given(tmp_path: Path):
    for name in ("code=1/day=3", "code=X/day=x", "code=2/note=x=y", "code=3/plain", "code=4/Code=5", "code=6/id=9"):
        put(tmp_path / name)
    star = nw.Dataset(f"{tmp_path}/code=*/*/1.parquet", "id")
    assert list(star.columns) == ["id", "code"]
    assert sorted({row["code"] for row in read(star)}) == ["1", "2", "3", "4", "6", "X"]
    assert {row["id"] for row in read(star)} == {1, 2}
    days = nw.Dataset(f"{tmp_path}/*/day=*/1.parquet", "id")
    assert sorted((row["day"], row["id"]) for row in read(days)) == [("3", 1), ("3", 2), ("x", 1), ("x", 2)]
    one = nw.Dataset(tmp_path / "code=X" / "day=x" / "1.parquet", "id")
    assert read(one)[0] == {"id": 1, "code": "X", "day": "x"}


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_name_of_a_folder_that_a_star_found_is_no_column(tmp_path: Path, kind: str):
    for name in ("code=1", "code=2"):
        put(tmp_path / name, kind=kind)
    assert list(nw.Dataset(f"{tmp_path}/*/1.{kind}", "id").columns) == ["id"]


def test_folders_of_different_depth_stand_for_what_their_own_place_says(tmp_path: Path):
    put(tmp_path / "code=1")
    put(tmp_path / "code=2" / "deep" / "note=7" / "deeper")
    first = nw.Dataset(f"{tmp_path}/code=*/**/*.parquet", "id")
    assert sorted((row["code"], row["id"]) for row in read(first)) == [("1", 1), ("1", 2), ("2", 1), ("2", 2)]
    put(tmp_path / "deep" / "code=3")
    last = nw.Dataset(f"{tmp_path}/**/code=*/*.parquet", "id")
    assert sorted({row["code"] for row in read(last)}) == ["1", "3"]
    with pytest.raises(REFUSED, match=r"between two \*\*"):
        nw.Dataset(f"{tmp_path}/**/code=*/**/*.parquet", "id")
    put(tmp_path / "code=9" / "CODE=1")
    with pytest.raises(REFUSED, match=r"two folders .* stand for the same column"):
        nw.Dataset(f"{tmp_path}/code=*/CODE=*/*.parquet", "id")


@pytest.mark.parametrize("column", ["code", "Code", "CODE"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_stands_before_a_column_of_its_name_up_to_case(tmp_path: Path, column: str, kind: str):
    for name in ("1", "X"):
        put(tmp_path / f"code={name}", {"id": [1, 2], column: [7, 8], "file_0": [5, 6], "filename": [3, 4]}, kind)
    data = nw.Dataset(f"{tmp_path}/code=*/*.{kind}", "id")
    assert list(data.columns) == ["id", "file_0", "filename", "code"]
    assert sorted((row["code"], str(row["file_0"])) for row in read(data)) == [
        ("1", "5"),
        ("1", "6"),
        ("X", "5"),
        ("X", "6"),
    ]


def test_a_name_with_stars_is_one_file(tmp_path: Path):
    for name in ("a*b", "aab", "[a]", "a"):
        put(tmp_path / name)
    for name in ("a*b", "[a]"):
        assert len(read(nw.Dataset(tmp_path / name / "1.parquet", "id"))) == 2
    assert len(read(nw.Dataset(f"{tmp_path}/*/1.parquet", "id"))) == 8


def test_a_relative_path_stays_where_it_was_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    put(tmp_path / "one" / "visits")
    put(tmp_path / "other" / "visits", {"id": [1, 2, 3]})
    monkeypatch.chdir(tmp_path / "one")
    data = nw.Dataset("visits/*.parquet", "id")
    monkeypatch.chdir(tmp_path / "other")
    assert len(read(data)) == 2


def test_parquet_files_that_duckdb_wrote_by_folder_are_read_back(tmp_path: Path):
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a/b'), (2, NULL), (3, 'x y%'), (4, '=')) v(id, k)"
        )
        connection.execute(f"COPY t TO '{tmp_path}/out' (FORMAT parquet, PARTITION_BY (k))")
    found = {row["id"]: row["k"] for row in read(nw.Dataset(f"{tmp_path}/out/k=*/*.parquet", "id"))}
    assert found == {1: "a/b", 2: None, 3: "x y%", 4: "="}


spark_only = pytest.mark.xdist_group("spark")


@spark_only
def test_folders_of_spark_are_texts_whatever_they_are_called(spark: Sparks, tmp_path: Path):
    left_out = ("", "two\nlines", "%FF", "%C3%A9")  # refused, or read by Spark in its own way
    values = {name: value for name, value in VALUES.items() if name not in left_out} | {"NULL": "NULL"}
    for name in values:
        put(tmp_path / f"code={name}")
    data = nw.Dataset(f"spark:{tmp_path}", "id")
    assert data.columns["code"] == "string"
    found = sorted((row["id"], str(row["code"])) for row in read(data))
    assert found == sorted((person, str(value)) for value in values.values() for person in (1, 2))
    starred = nw.Dataset(f"spark:{tmp_path}/code=*", "id")
    assert len(read(starred)) == 2 * len(values), "a star in the name of a folder would read others twice"


@spark_only
def test_a_folder_of_spark_does_not_take_the_place_of_files_beside_it(spark: Sparks, tmp_path: Path):
    put(tmp_path / "visits")
    data = nw.Dataset(f"spark:{tmp_path}/visits", "id", budget=nw.PureDP(2), ledger=tmp_path / "x.ledger")
    plan = data.plan(nw.ask.persons(), privacy=nw.PureDP(1))
    put(tmp_path / "visits" / "b=2")
    with pytest.raises(REFUSED, match="files beside the folders"):
        nw.Dataset(f"spark:{tmp_path}/visits", "id")
    with pytest.raises(REFUSED):
        plan.release()
    assert data.ledger is not None
    assert [row["event"] for row in data.ledger.rows()].count("charge") == 0


@spark_only
def test_folders_of_spark_that_say_different_things_are_refused_at_once(spark: Sparks, tmp_path: Path):
    for place, names in enumerate(
        (["code=1", "note=1"], ["code=1", "code=1/b=2"], ["code=1", "plain"], ["code=1", "code="])
    ):
        for name in names:
            put(tmp_path / str(place) / name / "files")
        with pytest.raises(REFUSED, match=r"cannot be read as Parquet .* Nothing was spent"):
            nw.Dataset(f"spark:{tmp_path}/{place}", "id")
