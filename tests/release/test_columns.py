"""Whatever type a column has, its values are read one by one, or it is refused by its name before anything is spent."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of

REFUSED = nw.errors.InvalidTableError
FAR = 2**63 - 1
VALUES = [FAR, -FAR, -(2**63), FAR // 1000, 0, None]
COUNT = len(VALUES)
ENDS = pa.array(range(COUNT + 1), pa.int32())


def _counted(unit: str, zone: str | None = None) -> Any:
    return pa.array(VALUES, pa.int64()).cast(pa.timestamp(unit, zone))


def _span(unit: str) -> Any:
    return pa.array(VALUES, pa.int64()).cast(pa.duration(unit))


def _asked(data: nw.Dataset) -> list[list[Any]]:
    """What is counted of a column of times or spans in all ways that read it; nothing of it may fail."""
    there = data.filter(lambda t: t.x.notnull())
    many = data.through(lambda t: t.group_by("u").agg(n=t.x.count()))
    return [one._checked.true_aggregates(layout_of([nw.count()], one.limits), 1) for one in (data, there, many)]


TIMES = [_counted(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Europe/Berlin")]
SPANS = [_span(unit) for unit in ("s", "ms", "us", "ns")]


class Kept(pa.ExtensionType):  # type: ignore[misc]
    """An extension that nobody has registered."""

    def __init__(self) -> None:
        super().__init__(pa.timestamp("ms", "UTC"), "noisewright.kept")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: Any) -> Kept:
        return cls()


CODED = [
    *(one.dictionary_encode() for one in (*TIMES, *SPANS)),
    *(pa.RunEndEncodedArray.from_arrays(pa.array(range(1, COUNT + 1), pa.int32()), one) for one in TIMES),
    pa.ExtensionArray.from_storage(Kept(), _counted("ms", "UTC")),
    pa.DictionaryArray.from_arrays(
        pa.array(range(COUNT), pa.int8()), pa.ExtensionArray.from_storage(Kept(), _counted("ms", "UTC"))
    ),
]


@pytest.mark.parametrize("column", [*TIMES, *SPANS, *CODED], ids=lambda column: str(column.type)[:60])
def test_times_and_spans_that_are_far_away_end_no_release_however_they_are_coded(column: Any):
    data = nw.Dataset(pa.table({"u": range(COUNT), "x": column}), "u", name="x")
    everybody, there, persons = _asked(data)
    assert everybody == persons == [COUNT]
    assert 1 <= there[0] < COUNT
    if data.columns["x"].startswith("timestamp"):
        zone = {"zone": "UTC"} if "UTC" in data.columns["x"] else {}
        bins = nw.ask.histogram("x", every="year", start="1969-01-01", end="1972-01-01", **zone)
        near = 2 if "timestamp[ns" in str(column.type) else 1  # the others are far away
        assert data._checked.true_aggregates(layout_of([bins], data.limits), 1)[1] == near


NESTED = {
    "list": lambda held: pa.ListArray.from_arrays(ENDS, held),
    "large list": lambda held: pa.LargeListArray.from_arrays(ENDS.cast(pa.int64()), held),
    "fixed list": lambda held: pa.FixedSizeListArray.from_arrays(held, 1),
    "list view": lambda held: pa.ListViewArray.from_arrays(ENDS[:-1], pa.array([1] * COUNT, pa.int32()), held),
    "large list view": lambda held: pa.LargeListViewArray.from_arrays(
        ENDS[:-1].cast(pa.int64()), pa.array([1] * COUNT, pa.int64()), held
    ),
    "struct": lambda held: pa.StructArray.from_arrays([held], ["f"]),
    "map": lambda held: pa.MapArray.from_arrays(ENDS, pa.array(list("abcdef")), held),
    "sparse union": lambda held: pa.UnionArray.from_sparse(pa.array([0] * COUNT, pa.int8()), [held]),
    "dense union": lambda held: pa.UnionArray.from_dense(pa.array([0] * COUNT, pa.int8()), ENDS[:-1], [held]),
    "list of structs": lambda held: pa.ListArray.from_arrays(ENDS, pa.StructArray.from_arrays([held], ["f"])),
    "dictionary of lists": lambda held: pa.DictionaryArray.from_arrays(
        pa.array([0] * COUNT, pa.int8()), pa.ListArray.from_arrays(ENDS, held)
    ),
    "list of codes": lambda held: pa.ListArray.from_arrays(ENDS, held.dictionary_encode()),
}


@pytest.mark.parametrize("nest", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("unit", ["s", "ms"])
def test_times_that_count_milliseconds_are_refused_by_name_however_deep(nest: Any, unit: str):
    for held in (_counted(unit, "UTC"), _counted(unit), _span(unit)):
        table = pa.table({"u": range(COUNT), "deep": nest(held)})
        with pytest.raises(REFUSED, match=r"'deep' holds .*which is not read.*Nothing was spent"):
            nw.Dataset(table, "u", name="x")


def test_lists_of_what_is_read_as_it_is_are_carried_along():
    columns = {"u": [1, 2], "x": [[1], [2, 3]], "y": [{"a": "b"}] * 2}
    data = nw.Dataset(pa.table(columns), "u", name="x")
    assert data.filter(lambda t: t.x.notnull())._checked.true_aggregates(layout_of([nw.count()], data.limits), 1) == [2]
    for query in (
        lambda t: t.group_by("u").agg(m=t.x.max()),
        lambda t: t.group_by("u", "x").agg(n=t.count()),
        lambda t: t.group_by("u").agg(m=t.y.nunique()),
        lambda t: t.mutate(z=t.x.count().over(group_by=["u", "y"])).select("u", "z"),
    ):
        with pytest.raises(nw.errors.NotPersonLocalError, match=r"'[xy]' holds .* is only carried along"):
            data.through(query)


class Mute:
    """Something without a text."""

    def __str__(self) -> str:
        raise RuntimeError("a secret")

    __repr__ = __str__


class Unequal:
    """Something that is not compared."""

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("a secret")

    __hash__ = None  # type: ignore[assignment]


ODD: dict[str, Any] = {
    "no text": [Mute(), 1],
    "not compared": [Unequal(), 1],
    "no UTF-8": ["\ud800", "a"],
    "decimal of 51 digits": pa.array([1, 2], pa.decimal256(51, 0)),
    "decimal of tens": pa.array([None, None], pa.decimal128(5, -2)),
    "months, days and nanoseconds": pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()),
    "nothing nested": pa.array([{}] * 2, pa.struct([])),
    "objects of polars": pl.Series([object()] * 2, dtype=pl.Object),
    "whole numbers of 128 bits": pl.Series([2**100] * 2, dtype=pl.Int128),
}


@pytest.mark.parametrize("column", ODD.values(), ids=ODD)
def test_a_column_that_is_not_read_is_refused_by_its_name_and_no_value_is_told(column: Any):
    if isinstance(column, pa.Array):
        frame: Any = pa.table({"u": [1, 2], "odd": column})
    elif isinstance(column, pl.Series):
        frame = pl.DataFrame({"u": [1, 2]}).with_columns(column.alias("odd"))
    else:
        frame = pd.DataFrame({"u": [1, 2], "odd": pd.Series(column, dtype=object)})
    with pytest.raises(REFUSED, match=r"'odd' holds .*which is not read") as caught:
        nw.Dataset(frame, "u", name="x")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


READ: dict[str, Any] = {
    "arrays among others": pd.Series([np.array([1, 2]), None, 1.5, "a"], dtype=object),
    "whole numbers of any length": pd.Series([2**70, 1, None, 2], dtype=object),
    "complex": pd.Series([1j, 2j, 3j, 4j]),
    "periods": pd.Series(pd.period_range("2020", periods=4, freq="M")),
    "pieces": pd.Series(pd.cut([1, 2, 3, 4], 2)),
    "half": pa.array([1, 2, 3, 4], pa.float32()).cast(pa.float16()),
    "decimal of 256 bits": pa.array([1, 2, 3, None], pa.decimal256(20, 2)),
    "days by milliseconds": pa.array([0, 86_400_000, 86_400_000 * 2**32, None], pa.int64()).view(pa.date64()),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.uuid4().bytes] * 4, pa.binary(16))),
    "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", "{", None, "1"])),
    "truth in bytes": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, None, 2], pa.int8())),
}


@pytest.mark.parametrize("column", READ.values(), ids=READ)
def test_odd_columns_are_read_and_end_no_release(column: Any):
    kind = pa.table if isinstance(column, pa.Array) else pd.DataFrame
    data = nw.Dataset(kind({"u": [1, 2, 3, 4], "x": column}), "u", name="x", rows_per_group=4)
    (found,) = data.filter(lambda t: t.x.notnull())._checked.true_aggregates(layout_of([nw.count()], data.limits), 1)
    assert found >= 2


def test_frames_without_columns_and_names_that_nobody_can_write_are_refused():
    for frame in (pd.DataFrame(), pd.DataFrame(index=range(3)), pl.DataFrame(), pa.table({})):
        with pytest.raises(REFUSED, match="no columns"):
            nw.Dataset(frame, "u", name="x")
    for name in ("\ud800", "a\0b"):
        with pytest.raises(REFUSED, match="no engine can write"):
            nw.Dataset(pd.DataFrame({"u": [1], name: [1]}), "u", name="x")
    for frame in (pd.DataFrame([[1, 2, 3]], columns=["u", "x", "x"]), pd.DataFrame([[1, 2]], columns=["u", 0])):
        with pytest.raises(REFUSED, match=r"same name|named by texts"):
            nw.Dataset(frame, "u", name="x")


def _orders(data: nw.Dataset) -> list[list[Any]]:
    few = [data.filter(lambda t: t.k < "b"), data.filter(lambda t: (t.k >= "b") & (t.k != "zzz"))]
    most = data.through(lambda t: t.group_by("u").agg(k=t.k.max())).filter(lambda t: t.k == "c")
    same = data.through(lambda t: t.filter(t.k == t.j))
    return [one._checked.true_aggregates(layout_of([nw.count()], one.limits), 1) for one in (*few, most, same)]


def test_categories_are_ordered_and_compared_as_texts_whatever_their_list_says():
    words = ["a", "b", "c", None]
    plain = pa.table({"u": [1, 1, 1, 2], "k": words, "j": ["a", "c", "c", "c"]})
    backend = ibis.duckdb.connect()
    backend.con.register("plain", plain)
    backend.con.execute("CREATE TYPE one AS ENUM ('c', 'b', 'a'); CREATE TYPE other AS ENUM ('b', 'c', 'a')")
    backend.con.execute("CREATE TABLE held AS SELECT u, k::one AS k, j::other AS j FROM plain")
    codes = pl.Enum(["c", "b", "a"])
    sources = [
        plain,
        backend.table("held"),
        pl.DataFrame(plain).with_columns(pl.col("k").cast(codes), pl.col("j").cast(pl.Categorical)),
        plain.to_pandas().assign(k=lambda t: pd.Categorical(t.k, ["c", "b", "a"], ordered=True)),
        ibis.memtable(plain.set_column(1, "k", plain["k"].dictionary_encode())),
    ]
    found = [_orders(nw.Dataset(source, "u", name="x", rows_per_group=4)) for source in sources]
    assert found == [[[1], [2], [1], [2]]] * len(sources)


@pytest.mark.parametrize("column", [_counted("ms"), _counted("s", "UTC"), _span("ms")])
def test_a_table_of_ibis_in_memory_is_read_as_its_frame_or_refused(column: Any):
    table = pa.table({"u": range(COUNT), "x": column})
    with pytest.raises(REFUSED, match=r"'x' of the table in memory .* give\s+the frame itself"):
        nw.Dataset(ibis.memtable(table), "u", name="x")
    assert _asked(nw.Dataset(table, "u", name="x"))[0] == [COUNT]
    fine = table.set_column(1, "x", _counted("us"))
    assert _asked(nw.Dataset(ibis.memtable(fine), "u", name="x"))[0] == [COUNT]


@pytest.mark.parametrize("nest", [lambda held: held, *NESTED.values()], ids=["plain", *NESTED])
@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
def test_a_parquet_file_of_milliseconds_is_refused_whoever_wrote_it_and_however_deep(
    tmp_path: Path, nest: Any, writer: str
):
    for zone in (None, "UTC"):
        table = pa.table({"u": range(COUNT), "deep": nest(_counted("ms", zone)), "last": range(COUNT)})
        try:
            if writer == "polars":
                pl.DataFrame(table).write_parquet(tmp_path / "x.parquet")
            else:
                pq.write_table(table, tmp_path / "x.parquet")
        except (pa.ArrowException, pl.exceptions.PolarsError):
            return  # a type that this writer has no form for
        with pytest.raises(REFUSED, match=r"'deep' of .* counts milliseconds"):
            nw.Dataset(tmp_path / "x.parquet", "u", name="x")


def test_a_parquet_file_of_json_is_refused_because_a_value_may_be_none(tmp_path: Path):
    column = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", "{"]))
    pq.write_table(pa.table({"u": [1, 2], "x": column}), tmp_path / "x.parquet")
    with pytest.raises(REFUSED, match=r"'x' of .* is of type JSON"):
        nw.Dataset(tmp_path / "x.parquet", "u", name="x")
    with duckdb.connect() as connection:
        words = "SELECT 1 AS u, uuid() AS a, INTERVAL 1 DAY AS b, [1] AS c, MAP {1: 'x'} AS d, 1.5::DECIMAL(30, 2) AS e"
        connection.execute(f"COPY ({words}, TIME '10:00' AS f, '\\xFF'::BLOB AS g) TO '{tmp_path}/y.parquet'")
    assert len(nw.Dataset(tmp_path / "y.parquet", "u", name="x").columns) == 8


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with files of the same names."""
    found = tmp_path / "a", tmp_path / "b"
    for place, folder in enumerate(found):
        folder.mkdir()
        count = 3 + 2 * place
        pd.DataFrame({"id": range(count), "ward": "A"}).to_csv(folder / "visits.csv", index=False)
        pd.DataFrame({"ward": ["A"], "beds": [count]}).to_csv(folder / "wards.csv", index=False)
    return found


def _count(data: nw.Dataset) -> int:
    (found,) = data._checked.true_aggregates(layout_of([nw.count()], data.limits), 1)
    return int(found)


def test_an_open_table_stays_the_file_that_it_was_in_whichever_folder_one_is(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    first, second = folders
    monkeypatch.chdir(first)
    data = nw.Dataset("visits.csv", "id", name="a")
    early = data.join_public("wards.csv", "ward")
    monkeypatch.chdir(second)
    late = data.join_public("wards.csv", "ward")
    assert [_count(one.filter(lambda t: t.beds == "3")) for one in (early, late)] == [3, 0]
    assert [_count(one.filter(lambda t: t.beds == "5")) for one in (early, late)] == [0, 3]
    other = nw.Dataset("visits.csv", "id", name="b")
    assert [_count(data), _count(other)] == [3, 5]
    # Read once more, in the engine of the other, it is the file that it was.
    assert _count(other.join(data, how="left")) == 5
    assert _count(other.join(data)) == 3
    for same in (first / "visits.csv", "../a/visits.csv"):
        with pytest.raises(nw.errors.InvalidInputError, match="the private table itself"):
            data.join_public(same, "ward")
    assert "id_right" in data.join_public("visits.csv", "ward").columns


def test_a_database_that_was_attached_by_a_relative_path_stays_the_file_that_it_was(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    for folder in folders:
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            connection.execute(f"CREATE TABLE visits AS FROM '{folder}/visits.csv'")
    monkeypatch.chdir(folders[0])
    backend = ibis.duckdb.connect()
    backend.con.execute("ATTACH 'clinic.duckdb' AS held (READ_ONLY)")
    first = nw.Dataset(backend.table("visits", database=("held", "main")), "id", name="a")
    monkeypatch.chdir(folders[1])
    again = nw.Dataset(backend.table("visits", database=("held", "main")), "id", name="b")
    for data in (first, again):
        with pytest.raises(nw.errors.InvalidInputError, match="were listed from the private table"):
            data.plan(nw.count(by=nw.keys("ward", "../a/clinic.duckdb::visits")), privacy=nw.PureDP(1))
        data.plan(nw.count(by=nw.keys("ward", "clinic.duckdb::visits")), privacy=nw.PureDP(1))
    backend.disconnect()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,5", 1.5),
        (" -12,25 ", -12.25),
        ("7", 7.0),
        ("1.5", None),
        ("1.234,5", None),
        ("1,5,5", None),
        ("1,5e2", 150.0),
    ],
)
def test_a_point_is_no_decimal_comma(text: str, number: float | None):
    data = nw.Dataset(pa.table({"id": [1], "x": [text]}), "id", name="x", types={"x": "decimal comma"})
    assert data._source.engine.fetch(data._table.select("x")).to_pydict()["x"] == [number]
