"""Parquet files of Spark: neither options nor folders nor names of columns change what is read."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.engines.spark.expressions import written
from noisewright.release.plan.arranging import layout_of
from tests.spark_session import Sparks

pytestmark = pytest.mark.xdist_group("spark")
REFUSED = nw.errors.InvalidTableError


def numbers(data: nw.Dataset) -> list[int]:
    return data._checked.true_aggregates(layout_of([nw.ask.persons()], data.limits), 1)


@pytest.mark.parametrize(
    "options", [{"ignoreCorruptFiles": "true"}, {"datetimeRebaseMode": "EXCEPTION"}, {"parquet.any": "1"}]
)
def test_options_that_change_what_is_read_are_refused(spark: Sparks, tmp_path: Path, options: dict[str, str]):
    days = pa.array([date(1500, 1, 1), *[date(2026, 1, 1)] * 3])
    pq.write_table(pa.table({"id": [1, 2, 3, 4], "day": days}), tmp_path / "1.parquet")
    with pytest.raises(REFUSED, match="option"):
        nw.Dataset(spark.session.read.options(**options).parquet(str(tmp_path)), "id")
    plain = nw.Dataset(spark.session.read.options(mergeSchema="true").parquet(str(tmp_path)), "id")
    assert numbers(plain.filter(lambda t: t.day >= date(2000, 1, 1))) == [3]


@pytest.mark.parametrize("name", ["basePath", "BASEPATH"])
def test_folders_below_a_base_path_that_was_given_stay_columns(spark: Sparks, tmp_path: Path, name: str):
    for code in ("A", "B"):
        (tmp_path / f"code={code}").mkdir()
        pq.write_table(pa.table({"id": [1, 2, 3]}), tmp_path / f"code={code}" / "1.parquet")
    frame = spark.session.read.option(name, str(tmp_path)).parquet(str(tmp_path / "code=B"))
    data = nw.Dataset(frame, "id")
    layout = layout_of([nw.count(by=nw.keys("code", ["A", "B"]))], data.limits)
    assert data._checked.true_aggregates(layout, 1) == [0, 3]


def test_options_of_a_table_of_the_catalogue_are_refused(spark: Sparks, tmp_path: Path):
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "1.parquet")
    given = "OPTIONS (ignoreCorruptFiles 'true')"
    spark.session.sql(f"CREATE TABLE optioned (id BIGINT) USING parquet {given} LOCATION '{tmp_path}'")
    try:
        with pytest.raises(REFUSED, match="option"):
            nw.Dataset("spark:optioned", "id")
    finally:
        spark.session.sql("DROP TABLE optioned")


def test_names_of_folders_are_texts(spark: Sparks, tmp_path: Path):
    for name in ("7", "07", "007", "0007"):
        (tmp_path / f"id={name}").mkdir()
        pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / f"id={name}" / "1.parquet")
    assert numbers(nw.Dataset(f"spark:{tmp_path}", "id")) == [4]
    with pytest.raises(REFUSED, match="guessed"):
        nw.Dataset(spark.session.read.parquet(str(tmp_path)), "id")


def test_columns_that_differ_by_capitals_alone_are_refused(spark: Sparks, tmp_path: Path):
    pq.write_table(pa.table({"id": ["a"], "X": ["text"]}), tmp_path / "1.parquet")
    spark.session.sql(f"CREATE TABLE capitals (id STRING, x BIGINT) USING parquet LOCATION '{tmp_path}'")
    try:
        with pytest.raises(REFUSED, match="another type"):
            nw.Dataset("spark:capitals", "id")
    finally:
        spark.session.sql("DROP TABLE capitals")


def test_a_file_of_another_type_that_came_after_the_plan_is_refused_before_the_charge(spark: Sparks, tmp_path: Path):
    (tmp_path / "files").mkdir()
    pq.write_table(pa.table({"id": [1, 2], "x": [1, 2]}), tmp_path / "files" / "1.parquet")
    data = nw.Dataset(f"spark:{tmp_path}/files/*.parquet", "id", budget=nw.PureDP(2), ledger=tmp_path / "budget.ledger")
    plan = data.plan(nw.ask.persons(), privacy=nw.PureDP(1))
    plan.release()
    pq.write_table(pa.table({"id": [3], "x": ["text"]}), tmp_path / "files" / "2.parquet")
    with pytest.raises(REFUSED, match="types"):
        plan.release(fresh=True)
    assert data.ledger is not None
    assert [row["event"] for row in data.ledger.rows()].count("charge") == 1
    (tmp_path / "files" / "2.parquet").unlink()
    plan.release(fresh=True)


def test_files_that_came_after_the_rehearsal_are_read(spark: Sparks, tmp_path: Path):
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "1.parquet")
    data = nw.Dataset(f"spark:{tmp_path}/*.parquet", "id")
    data.rehearse(layout_of([nw.ask.persons()], data.limits), 1)
    pq.write_table(pa.table({"id": [3]}), tmp_path / "2.parquet")
    assert numbers(data) == [3]


def test_a_table_that_was_put_elsewhere_after_the_rehearsal_is_read_there(spark: Sparks, tmp_path: Path):
    for name, ids in (("one", [1, 2]), ("other", [1, 2, 3])):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"id": ids}), tmp_path / name / "1.parquet")
    sql, made = spark.session.sql, f"CREATE TABLE moved (id BIGINT) USING parquet LOCATION '{tmp_path}/{{}}'"
    try:
        sql(made.format("one"))
        data = nw.Dataset("spark:moved", "id")
        data.rehearse(layout_of([nw.ask.persons()], data.limits), 1)
        sql("DROP TABLE moved")
        sql(made.format("other"))
        assert numbers(data) == [3]
    finally:
        sql("DROP TABLE IF EXISTS moved")


def test_a_folder_is_listed_anew_in_the_same_frame(spark: Sparks, tmp_path: Path):
    place = tmp_path / "visits"
    place.mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), place / "1.parquet")
    data = nw.Dataset(f"spark:{place}", "id")
    engine: Any = data._source.engine
    home, (leaf,) = engine._home, data._source.bases
    assert numbers(data) == [2]
    first = home.known[leaf].listed
    assert numbers(data) == [2]
    assert home.known[leaf].listed is first
    pq.write_table(pa.table({"id": [3]}), place / "2.parquet")
    assert numbers(data) == [3]
    assert home.known[leaf].listed is not first, "other files are another frame"
    (place / "1.parquet").unlink()
    assert numbers(data) == [1]
    (place / "2.parquet").unlink()
    assert numbers(data) == [0]
    place.rmdir()
    with pytest.raises(REFUSED, match="there is no file"):
        numbers(data)


def test_what_was_rehearsed_is_not_run_over_files_that_were_away(spark: Sparks, tmp_path: Path):
    place, away = tmp_path / "visits", tmp_path / "away.parquet"
    place.mkdir()
    for name, ids in (("1", [1, 2]), ("2", [3])):
        pq.write_table(pa.table({"id": ids, "x": ids}), place / f"{name}.parquet")
    data = nw.Dataset(f"spark:{place}", "id", one_row_per_person=True)
    layouts = [layout_of([asked], data.limits) for asked in (nw.count(), nw.ask.sum("x", bounds=(0, 9), step=1))]
    data.rehearse(layouts[0], 1)
    (place / "2.parquet").rename(away)
    assert data._checked.true_aggregates(layouts[1], 1) == [3]
    away.rename(place / "2.parquet")
    assert data._checked.true_aggregates(layouts[0], 1) == [3]


def test_the_same_plan_is_read_as_words_once_and_over_other_files_again(
    spark: Sparks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = tmp_path / "visits"
    place.mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), place / "1.parquet")
    texts: list[str] = []

    def noted(query: Any) -> str:
        texts.append(written(query))
        return texts[-1]

    monkeypatch.setattr("noisewright.release.engines.spark.engine.written", noted)

    def released(data: nw.Dataset) -> tuple[list[int], int]:
        texts.clear()
        data.rehearse(layout_of([nw.count()], data.limits), 1)
        return data._checked.true_aggregates(layout_of([nw.count()], data.limits), 1), len(texts)

    data = opened(place)
    assert released(data)[0] == [2]
    assert released(data)[0] == [2]
    assert [released(data), released(data)] == [([2], 0)] * 2
    pq.write_table(pa.table({"id": [3]}), place / "2.parquet")
    other = opened(place)
    assert released(other)[0] == [3], "the same table by its name, in a frame of its own"
    assert released(data)[0] == [3]
    (place / "1.parquet").unlink()
    assert [released(one)[0] for one in (data, other, data)] == [[1]] * 3


def opened(place: Path) -> nw.Dataset:
    return nw.Dataset(f"spark:{place}", "id", one_row_per_person=True)


def test_what_a_stream_writes_is_read_to_its_last_batch(spark: Sparks, tmp_path: Path):
    given, place = tmp_path / "given", tmp_path / "visits"
    given.mkdir()

    def arrived(name: str, ids: list[int]) -> None:
        pq.write_table(pa.table({"id": ids}), given / f"{name}.parquet")
        stream = spark.session.readStream.schema("id long").parquet(str(given))
        sink = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "kept"))
        sink.trigger(availableNow=True).start(str(place)).awaitTermination()

    arrived("1", [1, 2, 3])
    data = nw.Dataset(f"spark:{place}", "id", one_row_per_person=True)
    layout = layout_of([nw.count()], data.limits)
    assert data._checked.true_aggregates(layout, 1) == [3]
    arrived("2", [4, 5])
    assert data._checked.true_aggregates(layout, 1) == [5]
    engine: Any = data._source.engine
    with pytest.raises(nw.errors.EngineError, match="changed"), engine.snapshot():  # noqa: PT012
        assert data._checked.true_aggregates(layout, 1) == [5]
        arrived("3", [6])


def test_a_temporary_view_is_listed_anew(spark: Sparks, tmp_path: Path):
    place = tmp_path / "1.parquet"
    pq.write_table(pa.table({"id": [1, 2]}), place)
    spark.session.read.parquet(str(tmp_path)).filter("id > 0").createOrReplaceTempView("few")
    try:
        data = nw.Dataset("spark:few", "id", local_views=["few"])
        assert numbers(data) == [2]
        pq.write_table(pa.table({"id": [1, 2, 3, 4, 5]}), place)
        os.utime(place, (2_000_000_000, 2_000_000_000))
        assert numbers(data) == [5]
        engine: Any = data._source.engine
        with pytest.raises(nw.errors.EngineError, match="changed"), engine.snapshot():  # noqa: PT012
            engine.fetch(data._table.agg(n=data._table.count()))
            pq.write_table(pa.table({"id": [1]}), place)
    finally:
        spark.session.catalog.dropTempView("few")


def test_constants_are_what_they_say(spark: Sparks, tmp_path: Path):
    pq.write_table(pa.table({"id": [1], "s": ["${spark.app.name}"]}), tmp_path / "1.parquet")
    data = nw.Dataset(f"spark:{tmp_path}/*.parquet", "id")
    assert numbers(data.filter(lambda t: t.s == "${spark.app.name}")) == [1]


@pytest.mark.parametrize("address", ["spark:s3a://bucket/x/y.parquet", "spark:hdfs://127.0.0.1:1/x.parquet"])
def test_places_that_cannot_be_reached_are_said_without_a_trace(spark: Sparks, address: str):
    with pytest.raises(REFUSED, match="cannot be read") as caught:
        nw.Dataset(address, "id")
    assert "at org." not in str(caught.value)


@pytest.mark.parametrize("address", ["spark:s3a://KEY:SEC/RET@bucket/x", "spark:file://u:p/w@h/x.parquet"])
def test_a_password_with_a_slash_is_one(spark: Sparks, address: str):
    with pytest.raises(REFUSED, match="holds a password"):
        nw.Dataset(address, "id")
