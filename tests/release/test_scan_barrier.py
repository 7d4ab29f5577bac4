"""What an engine knows of other people's values changes no row: each case let one person move everybody's answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.table.names import folded

MANY = 999


def numbers(data: nw.Dataset, *questions: Any) -> list[int]:
    """The true numbers of some questions; of the rows and persons if there are none."""
    layout = layout_of(list(questions) or [nw.count(), nw.ask.persons()], data.limits)
    return data._checked.true_aggregates(layout, 3)


# A derived column that is named like the unit but for case.


def _by_two_keys(t: Any) -> Any:
    return t.group_by(PATIENT=t.x.cast("int64"), patient=t.patient).agg(n=t.count())


def _by_three_keys(t: Any) -> Any:
    return t.group_by(patient=t.patient, Patient=t.x, k=t.k).agg(n=t.count())


SHAPES: dict[str, Callable[[Any], Any]] = {
    "group by": _by_two_keys,
    "group by, the unit first": _by_three_keys,
    "select": lambda t: t.select(PATIENT=t.x.cast("int64"), patient=t.patient, k=t.k),
    "union": lambda t: t.mutate(pATIENT=t.x.cast("int64")).union(t.mutate(pATIENT=t.x.cast("int64")), distinct=False),
    "window": lambda t: t.mutate(PATIENT=t.x.max().over(group_by=t.patient)),
    "rename": lambda t: t.rename(Patient="x"),
    "join with its own summary": lambda t: t.join(t.group_by(t.patient).agg(PATIENT=t.x.max()), "patient"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_derived_column_is_taken_for_the_unit(shape: str):
    persons = [*range(20), *[20] * 5000]
    rows = {"patient": persons, "x": [float(i) for i in range(5020)], "k": ["A"] * 5020}
    data = nw.Dataset(pa.table(rows), "patient", name="visits", groups_per_person=1)
    with pytest.raises(nw.errors.InvalidTableError, match="same name up to upper and lower case"):
        data.through(SHAPES[shape])


def test_names_inside_a_query_are_distinct_too():
    data = nw.Dataset(pa.table({"patient": [1, 2, 2], "x": [1.0, 2.0, 3.0]}), "patient", name="visits")
    with pytest.raises(nw.errors.InvalidTableError, match="same name up to upper and lower case"):
        data.through(lambda t: _by_two_keys(t).select("patient", "n"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Patient", "pATIENT", True),
        ("kelvin", "\u212aelvin", True),  # the sign of kelvin
        ("i", "\u0130", True),  # a large I with a dot, whose small form is two letters
        ("s", "\u017f", True),  # the long s
        ("σ", "ς", True),
        ("ß", "ss", True),
        ("Ä", "ä", True),
        ("Ä", "a", False),
        ("x1", "x2", False),
    ],
)
def test_names_are_one_where_an_engine_takes_them_for_one(one: str, other: str, same: bool):
    assert (folded(one) == folded(other)) is same


def test_names_that_differ_in_letters_are_two_columns():
    data = nw.Dataset(pa.table({"patient": [1, 2, 2], "Ä": [1.0, 2.0, 3.0]}), "patient", name="visits")
    found = data.through(lambda t: t.group_by(t.patient, patients=t.patient).agg(a=t.count()))
    assert numbers(found) == [2, 2]


# Least and greatest values of Parquet files leave NaN out.


def _pyarrow(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path)


def _polars(table: pa.Table, path: Path) -> None:
    frame: Any = pl.from_arrow(table)
    frame.write_parquet(path, statistics="full")


def _duckdb(table: pa.Table, path: Path) -> None:
    with duckdb.connect() as connection:
        connection.register("rows", table)
        connection.execute(f"COPY rows TO '{path}' (FORMAT parquet)")


WRITERS = {"pyarrow": _pyarrow, "polars": _polars, "duckdb": _duckdb}


def opened(tmp_path: Path, writer: str, x: list[Any]) -> nw.Dataset:
    """A file of persons with one row each."""
    path = tmp_path / f"{len(x)}.parquet"
    WRITERS[writer](pa.table({"id": list(range(len(x))), "x": pa.array(x, pa.float64())}), path)
    return nw.Dataset(str(path), "id")


@pytest.mark.parametrize("writer", WRITERS)
def test_a_filter_means_the_same_whatever_the_greatest_value_of_the_others_is(tmp_path: Path, writer: str):
    # NaN is above every number here, as it is for DuckDB and PostgreSQL.
    crowd = [math.nan] * MANY
    for more, count in (([], MANY), ([1.0], MANY), ([30.0], MANY + 1), ([1.0, 30.0], MANY + 1)):
        data = opened(tmp_path, writer, [*more, *crowd]).filter(lambda t: t.x > 5)
        assert numbers(data, nw.count()) == [count]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("greatest", [99.0, 100.0, 101.0])
def test_no_sum_fails_because_of_the_greatest_value_of_a_column(tmp_path: Path, writer: str, greatest: float):
    data = opened(tmp_path, writer, [math.nan] * 50 + [1.0, greatest])
    asked = [nw.ask.sum("x", bounds=(0, 100), step=1), nw.mean("x", bounds=(0, 100), step=1, name="mean")]
    asked.append(nw.ask.variance("x", bounds=(0, 100), step=1, name="variance"))
    assert numbers(data, *asked)[0] == 1 + min(greatest, 100)


# Filters of joins that are handed down to a scan.


@pytest.mark.parametrize("form", ["frame", *WRITERS])
@pytest.mark.parametrize("public", ["frame", "file"])
def test_missing_numbers_meet_missing_numbers_whoever_else_is_there(tmp_path: Path, form: str, public: str):
    listed = pa.table({"age": [math.nan, 200.0], "group": ["none", "old"]})
    _pyarrow(listed, tmp_path / "public.parquet")
    other: Any = listed if public == "frame" else str(tmp_path / "public.parquet")
    found = []
    for ages in ([math.nan] * 1000, [math.nan] * 1000 + [30.0]):
        table = pa.table({"id": list(range(len(ages))), "age": ages})
        path = tmp_path / f"{len(ages)}.parquet"
        if form != "frame":
            WRITERS[form](table, path)
        data = nw.Dataset(table if form == "frame" else str(path), "id", name="people")
        found.append(numbers(data.join_public(other, "age", how="inner"), nw.count()))
    assert found == [[1000], [1000]]


# Bloom filters tell 0.0 from -0.0.


def test_a_zero_is_a_zero_whichever_sign_the_others_have(tmp_path: Path):
    found = []
    for first in (-1.0, 0.0):
        data = opened(tmp_path, "duckdb", [first, 1.0, -1.0] + [-0.0] * 10_000).filter(lambda t: t.x == 0)
        found.append(numbers(data, nw.count()))
    assert found == [[10_000], [10_001]]


# CSV files that are read in blocks.


@pytest.mark.parametrize("times", [1, 3])
def test_line_ends_in_a_field_of_one_person_lose_no_row_of_others(tmp_path: Path, times: int):
    # The field opens before the eight millionth byte, where a reader of blocks begins another one, and ends after it.
    line, after = "1,A,a plain text of somebody\n", 300_000
    before = (8_000_000 - 20) // len(line)
    own = '0,B,"' + times * 'x\n0,B,""\n1,A,7\n2,A,7\n3,A,\n4,A,7\n5,A,7\n6,A,7' + '"\n'
    path = tmp_path / "visits.csv"
    path.write_text("id,k,s\n" + line * before + own + line * after, encoding="utf-8", newline="")
    data = nw.Dataset(str(path), "id", rows_per_group=10**6, types={"id": "integer"})
    keys = nw.keys("k", ["A", "B"])
    assert numbers(data, nw.count(by=keys), nw.ask.persons(by=keys)) == [before + after, 1, 1, 1]
