"""Rows without a unit on Spark: asked about once for each state of the files, after the charge; and long answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.spark_session import Sparks

pytestmark = pytest.mark.xdist_group("spark")
KEYS = nw.keys("k", [0, 1])
TEXT = "concat(repeat('\U0001f642', id % 5), repeat('x', id % 3), '\"', char(92), 'é', id)"


def counts(data: nw.Dataset, by: Any = KEYS) -> list[int]:
    return data._checked.true_aggregates(layout_of([nw.count(by=by)], data.limits), 1)


def opened(address: str, **how: Any) -> nw.Dataset:
    return nw.Dataset(address, "id", one_row_per_person=True, **how)


def known(data: nw.Dataset) -> dict[str, bool]:
    """What is known of the columns of its files."""
    engine: Any = data._source.engine
    (leaf,) = data._source.bases
    found: dict[str, bool] = engine._home.known[leaf].whole
    return found


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that what is run from now on is put into, as it is planned."""
    from noisewright.release.engines.spark.rows import Query

    ran: list[str] = []
    rows = Query.rows

    def watched(own: Query, schema: Any) -> Any:
        ran.append(str(own.plan().toString()))
        return rows(own, schema)

    monkeypatch.setattr(Query, "rows", watched)
    return ran


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("ending", ["", "/*.parquet"])
def test_a_row_without_a_unit_is_nobodys_whatever_was_known(spark: Sparks, tmp_path: Path, ending: str, text: bool):
    kind = pa.string() if text else pa.int64()

    def written(name: str, ids: list[int | None], keys: list[int]) -> None:
        units = pa.array([None if one is None else (str(one) if text else one) for one in ids], kind)
        pq.write_table(pa.table({"id": units, "k": keys}), tmp_path / f"{name}.parquet")

    written("1", [1, 2, 3], [0, 1, 1])
    data = opened(f"spark:{tmp_path}{ending}")
    for _ in range(2):
        assert counts(data) == [1, 2]
        assert known(data) == {"id": True}
    written("2", [4, None, None], [0, 0, 1])
    for _ in range(2):
        assert counts(data) == [2, 2]
        assert known(data) == {"id": False}
    (tmp_path / "2.parquet").unlink()
    pq.write_table(pa.table({"k": [0, 0]}), tmp_path / "3.parquet")
    assert counts(data) == [1, 2], "files without the column have no units"
    assert known(data) == {"id": False}
    (tmp_path / "3.parquet").unlink()
    assert counts(data) == [1, 2]
    assert known(data) == {"id": True}


def test_units_that_are_all_there_are_read_neither_at_first_nor_later(
    spark: Sparks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pq.write_table(pa.table({"id": [1, 2, 3], "k": [0, 1, 1], "x": [1.0, 2.0, 3.0]}), tmp_path / "1.parquet")
    data = opened(f"spark:{tmp_path}")
    ran = asked(monkeypatch)
    assert counts(data) == [1, 2]
    assert len(ran) == 2, "the question, and the numbers"
    assert "PushedFilters: []" in ran[0], "what files say of their values is not believed"
    assert "id" not in ran[1].partition("ReadSchema")[2]
    assert counts(data, nw.keys("k", [1])) == [2]
    assert len(ran) == 3
    assert "id" not in ran[2].partition("ReadSchema")[2]
    few = data.filter(lambda t: t.x < 3)
    assert counts(few) == [1, 1]
    assert len(ran) == 4, "of some of the rows it is known too"
    assert "id" not in ran[3].partition("ReadSchema")[2]
    again = opened(f"spark:{tmp_path}").mutate(y=lambda t: t.x + 1)
    assert counts(again) == [1, 2]
    assert "id" not in ran[-1].partition("ReadSchema")[2]


def test_units_of_queries_are_not_asked_about(spark: Sparks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, ids in (("left", [1, 2, 3]), ("right", [1, 2, 4])):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"id": ids, "k": [0, 1, 1]}), tmp_path / name / "1.parquet")
    spark.session.read.parquet(str(tmp_path / "left")).filter("k > 0").createOrReplaceTempView("few")
    try:
        data = opened("spark:few", local_views=["few"])
        ran = asked(monkeypatch)
        assert counts(data) == [0, 2]
        assert len(ran) == 1
        assert "isnotnull(id" in ran[0]
    finally:
        spark.session.catalog.dropTempView("few")
    limited = nw.Dataset(f"spark:{tmp_path}/left", "id", rows_per_group=2, groups_per_person=2)
    assert counts(limited) == [1, 2]
    assert len(ran) == 2, "who is limited is read anyway"


def test_what_was_asked_of_files_that_changed_is_forgotten(spark: Sparks, tmp_path: Path):
    pq.write_table(pa.table({"id": [1, 2], "k": [0, 1]}), tmp_path / "1.parquet")
    data = opened(f"spark:{tmp_path}")
    engine: Any = data._source.engine
    with pytest.raises(nw.errors.EngineError, match="changed"), engine.snapshot():  # noqa: PT012
        assert engine.is_whole(data._table["id"])
        assert engine.is_whole(data._table["id"]), "asked once in a snapshot"
        pq.write_table(pa.table({"id": [1, None, 3], "k": [0, 1, 1]}), tmp_path / "1.parquet")
    assert known(data) == {}
    assert counts(data) == [1, 1]


def test_a_table_that_became_a_view_is_asked_about_again(spark: Sparks, tmp_path: Path):
    pq.write_table(pa.table({"id": [1, 2, 3], "k": [0, 1, 1]}), tmp_path / "1.parquet")
    sql = spark.session.sql
    sql(f"CREATE TABLE turned (id BIGINT, k BIGINT) USING parquet LOCATION '{tmp_path}'")
    try:
        data = opened("spark:turned", local_views=["turned"])
        assert counts(data) == [1, 2]
        sql("DROP TABLE turned")
        sql(f"CREATE VIEW turned AS SELECT CASE WHEN k = 0 THEN id END AS id, k FROM parquet.`{tmp_path}`")
        assert counts(data) == [1, 0]
    finally:
        sql("DROP VIEW IF EXISTS turned")
        sql("DROP TABLE IF EXISTS turned")


def test_folders_that_stand_for_other_units_are_another_state(spark: Sparks, tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"k": [0, 1]}), tmp_path / name / "1.parquet")
    sql = spark.session.sql
    sql(f"CREATE TABLE parted (k BIGINT, id STRING) USING parquet PARTITIONED BY (id) LOCATION '{tmp_path}'")
    try:
        for unit, name in (("1", "a"), ("2", "b")):
            sql(f"ALTER TABLE parted ADD PARTITION (id='{unit}') LOCATION '{tmp_path}/{name}'")
        data = opened("spark:parted")
        assert counts(data) == [2, 2]
        engine: Any = data._source.engine
        with pytest.raises(nw.errors.EngineError, match="changed"), engine.snapshot():  # noqa: PT012
            assert counts(data) == [2, 2]
            sql("ALTER TABLE parted DROP PARTITION (id='2')")
            sql(f"ALTER TABLE parted ADD PARTITION (id=null) LOCATION '{tmp_path}/b'")
        assert counts(data) == [1, 1]
    finally:
        sql("DROP TABLE parted")


def test_other_settings_make_known_columns_unknown(spark: Sparks, tmp_path: Path):
    session = spark.session.newSession()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"ID": [1, 2], "k": [0, 1]}), tmp_path / name / "1.parquet")
    data = opened_frame(session, tmp_path / "one")
    assert counts(data) == [1, 1]
    session.conf.set("spark.sql.caseSensitive", "true")
    opened_frame(session, tmp_path / "other")
    assert counts(data) == [0, 0], "no file has such a column by now"


def opened_frame(session: Any, place: Path) -> nw.Dataset:
    return nw.Dataset(session.read.schema("id long, k long").parquet(str(place)), "id", one_row_per_person=True)


@pytest.mark.parametrize("rows", [0, 1, 60, 5000, 40_000])
def test_long_answers_come_whole(spark: Sparks, rows: int):
    from noisewright.release.engines.spark.rows import Query

    text = f"SELECT id AS n, {TEXT} AS t FROM range({rows})"
    schema = pa.schema({"n": pa.int64(), "t": pa.string()})
    found = Query.of_text(spark.session, text, {}).rows(schema).to_pydict()
    assert found["n"] == list(range(rows))
    assert found["t"] == ["\U0001f642" * (n % 5) + "x" * (n % 3) + '"\\é' + str(n) for n in range(rows)]
