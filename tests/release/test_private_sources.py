"""The private table under another name is private: as a public table, as a source of keys, and in a join."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
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
from noisewright.app.cli import main
from noisewright.release.table.locations import of_memory
from tests.release.private import ITSELF, LISTED, REFUSED, ROWS, refused_as_public


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the test, with the private table as CSV and Parquet and one that is public."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(ROWS).to_csv("visits.csv", index=False)
    Path("wards.csv").write_text("ward,beds\nA,3\nB,4\n", encoding="utf-8")
    pq.write_table(pa.table(ROWS), "visits.parquet")
    return tmp_path


def _linked(visits: Path, name: str, how: Callable[[Path, Path], None]) -> str:
    how(visits / "visits.csv", visits / name)
    return name


@pytest.mark.parametrize(
    "other",
    [
        lambda _: "visits.csv",
        lambda _: "./visits.csv",
        lambda visits: str(visits / "visits.csv"),
        lambda visits: visits / "visits.csv",
        lambda visits: f"../{visits.name}/visits.csv",
        lambda _: "vis*.csv",
        lambda visits: _linked(visits, "soft.csv", lambda old, new: new.symlink_to(old)),
        lambda visits: _linked(visits, "hard.csv", lambda old, new: new.hardlink_to(old)),
    ],
    ids=["same", "dot", "absolute", "path", "around", "glob", "soft link", "hard link"],
)
def test_a_private_file_is_not_public_by_whichever_path(visits: Path, other: Callable[[Path], Any]):
    table = other(visits)
    for source in ("visits.csv", visits / "visits.csv", "visits*.csv"):
        data = nw.Dataset(source, "id")
        refused_as_public(data, table)
        assert data.join_public("wards.csv", "ward").columns["beds"] == "string"
        assert data.plan(nw.count(by=nw.keys("ward", "wards.csv")), privacy=nw.PureDP(1)).layout.dimension == 2


def test_a_private_file_is_not_public_among_others_of_a_glob(visits: Path):
    (visits / "wards.csv").write_text("id,ward\n9,Z\n", encoding="utf-8")
    refused_as_public(nw.Dataset("visits.csv", "id"), "*.csv")
    refused_as_public(nw.Dataset("*.csv", "id"), "wards.csv")
    refused_as_public(nw.Dataset("visits.parquet", "id"), str(visits / "*.parquet"))


def test_nothing_is_read_of_a_private_file_that_is_given_as_public(visits: Path, monkeypatch: pytest.MonkeyPatch):
    from noisewright.release.engines.duckdb.engine import DuckDB

    def never(*_: Any) -> None:
        raise AssertionError("it was read")

    data, keys = nw.Dataset("visits.csv", "id"), nw.keys("ward", "./visits.csv")
    monkeypatch.setattr(DuckDB, "fetch", never)
    with pytest.raises(REFUSED, match=ITSELF):
        data.join_public("./visits.csv", "ward")
    with pytest.raises(REFUSED, match=LISTED):
        data.plan(nw.count(by=keys), privacy=nw.PureDP(1))


def test_a_file_that_is_written_anew_after_its_keys_were_listed_is_the_same(visits: Path):
    keys = nw.keys("ward", "visits.csv")
    linked = nw.keys("ward", _linked(visits, "hard.csv", lambda old, new: new.hardlink_to(old)))
    (visits / "hard.csv").unlink()
    with pytest.raises(REFUSED, match=LISTED):
        nw.Dataset("visits.csv", "id").plan(nw.count(by=linked), privacy=nw.PureDP(1))
    Path("soft.csv").symlink_to("visits.csv")
    through = nw.keys("ward", "soft.csv")
    Path("soft.csv").unlink()
    (visits / "new.csv").write_text("id,ward\n1,A\n2,Z\n", encoding="utf-8")
    (visits / "new.csv").replace("visits.csv")
    for before in (keys, through):
        with pytest.raises(REFUSED, match=LISTED):
            nw.Dataset("visits.csv", "id").plan(nw.count(by=before), privacy=nw.PureDP(1))
    with (visits / "wards.csv").open("a", encoding="utf-8") as stream:
        keys = nw.keys("ward", _linked(visits, "late.csv", lambda _, new: new.hardlink_to(visits / "wards.csv")))
        stream.write("C,5\n")
    with pytest.raises(REFUSED, match=LISTED):
        nw.Dataset("wards.csv", "ward").plan(nw.count(by=keys), privacy=nw.PureDP(1))


def test_another_file_that_gets_the_number_of_one_that_is_gone_is_another(visits: Path):
    keys = nw.keys("ward", "wards.csv")
    (visits / "wards.csv").unlink()
    for attempt in range(40):
        (visits / f"{attempt}.csv").write_text("id,ward\n1,A\n2,B\n", encoding="utf-8")
        plan = nw.Dataset(f"{attempt}.csv", "id").plan(nw.count(by=keys), privacy=nw.PureDP(1))
        assert plan.layout.dimension == 2


def test_keys_from_a_table_are_saved_and_compared_as_their_rows(visits: Path):
    listed, written = nw.keys("ward", "wards.csv"), nw.keys("ward", ["A", "B"])
    assert listed == written
    assert hash(listed) == hash(written)
    assert listed.digest == written.digest
    assert listed.to_dict() == written.to_dict() == {"kind": "keys", "columns": ["ward"], "rows": [["A"], ["B"]]}
    assert repr(listed) == repr(written)
    data = nw.Dataset("visits.csv", "id", name="visits")
    first, second = (data.plan(nw.count(by=keys), privacy=nw.PureDP(1)) for keys in (listed, written))
    assert first.key == second.key
    assert first.to_dict()["questions"] == second.to_dict()["questions"]


def _kept(keys: Any) -> Any:
    """As another process would get them."""
    return pickle.loads(pickle.dumps(keys))  # noqa: S301 -- of this test


def test_copies_of_keys_come_from_the_same_table_and_rows_that_are_written_are_the_owners_word(visits: Path):
    data, keys = nw.Dataset("visits.csv", "id"), nw.keys("ward", "visits.csv")
    for same in (copy.copy(keys), copy.deepcopy(keys), _kept(keys)):
        assert same == keys
        with pytest.raises(REFUSED, match=LISTED):
            data.plan(nw.count(by=same), privacy=nw.PureDP(1))
    data.plan(nw.count(by=nw.keys("ward", [ward for (ward,) in keys.rows])), privacy=nw.PureDP(1))
    frame = pd.DataFrame(ROWS)
    keys = nw.keys("ward", frame)
    for same in (copy.copy(keys), copy.deepcopy(keys)):
        with pytest.raises(REFUSED, match=LISTED):
            nw.Dataset(frame, "id", name="x").plan(nw.count(by=same), privacy=nw.PureDP(1))
    assert _kept(keys) == keys


def test_a_saved_plan_is_bound_to_no_dataset_that_holds_its_keys(visits: Path):
    other = nw.Dataset("visits.parquet", "id", name="visits")
    plan = other.plan(nw.count(by=nw.keys("ward", "visits.csv")), privacy=nw.PureDP(1))
    from noisewright.release.plan.plan import bound

    data = nw.Dataset("visits.csv", "id", name="visits", types={"id": "integer"})
    object.__setattr__(plan, "about", data.describe())
    with pytest.raises(REFUSED, match=LISTED):
        bound(plan, data)


def test_private_and_public_tables_are_apart_in_whichever_order_they_are_joined(visits: Path):
    pd.DataFrame({"id": [1, 2], "cost": [3, 4]}).to_csv("bills.csv", index=False)
    said = "say different things of one table"
    first = nw.Dataset("visits.csv", "id", name="visits")
    joined = first.join_public("bills.csv", "id")
    for bills in ("bills.csv", "./bills.csv", str(visits / "b*.csv")):
        with pytest.raises(REFUSED, match=said):
            joined.join(nw.Dataset(bills, "id", name="bills"))
    public = nw.Dataset("bills.csv", "id", name="bills").join_public("./visits.csv", "id")
    with pytest.raises(REFUSED, match=said):
        first.join(public)
    both = first.join(nw.Dataset("bills.csv", "id", name="bills"))
    for table in ("./bills.csv", "./visits.csv"):
        with pytest.raises(REFUSED, match=ITSELF):
            both.join_public(table, "id")
        with pytest.raises(REFUSED, match=LISTED):
            both.filter(lambda t: t.cost > "1").plan(nw.count(by=nw.keys("id", table)), privacy=nw.PureDP(1))
    with pytest.raises(REFUSED, match=said):
        nw.Dataset("visits.csv", "id", name="x").join(nw.Dataset("./visits.csv", "ward", name="y"))
    assert "ward_right" in first.join(nw.Dataset("./visits.csv", "id", name="again")).columns


def test_a_database_is_one_however_often_and_by_whichever_path_it_is_opened(visits: Path):
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE Visits AS SELECT * FROM 'visits.csv'; CREATE TABLE wards AS FROM 'wards.csv'")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.wards AS SELECT * FROM 'visits.csv'")
    Path("link.duckdb").symlink_to("clinic.duckdb")
    data = nw.Dataset("clinic.duckdb::Visits", "id")
    attached = ibis.duckdb.connect()
    attached.con.execute("ATTACH './clinic.duckdb' AS held (READ_ONLY)")
    again = ibis.duckdb.connect(visits / "clinic.duckdb", read_only=True)
    tables = [attached.table("visits", database=("held", "main")), again.table("Visits"), again.table("VISITS")]
    for table in [f"{visits}/clinic.duckdb::Visits", "link.duckdb::Visits", *tables]:
        refused_as_public(data, table)
    for table in ("clinic.duckdb::wards", attached.table("wards", database=("held", "main"))):
        assert data.plan(nw.count(by=nw.keys("ward", table)), privacy=nw.PureDP(1)).layout.dimension == 2
    same = nw.Dataset(again.table("Visits"), "id", name="again")
    assert same.join_public(again.table("wards", database="main"), "ward").columns["beds"] == "int64"
    refused_as_public(same, "clinic.duckdb::Visits")
    inner = nw.Dataset(again.table("wards", database="other"), "id", name="inner")
    inner.plan(nw.count(by=nw.keys("ward", "clinic.duckdb::wards")), privacy=nw.PureDP(1))
    attached.disconnect()
    again.disconnect()


def test_tables_in_memory_are_those_of_their_connection():
    one, other = ibis.duckdb.connect(), ibis.duckdb.connect()
    for connection in (one, other):
        connection.con.execute("CREATE TABLE visits AS SELECT 1 AS id, 'A' AS ward")
    data = nw.Dataset(one.table("visits"), "id", name="visits")
    refused_as_public(data, ibis.duckdb.from_connection(one.con).table("VISITS"))
    data.plan(nw.count(by=nw.keys("ward", other.table("visits"))), privacy=nw.PureDP(1))


LONG = pd.DataFrame({**ROWS, "x": np.arange(5.0), "n": pd.array([1, None, 3, 4, 5], "Int64")})
ARROW = pa.table(ROWS)
POLARS = pl.DataFrame(ROWS)
BACKED = ARROW.to_pandas(types_mapper=pd.ArrowDtype)


@pytest.mark.parametrize(
    ("private", "public"),
    [
        (LONG, LONG),
        (LONG, LONG.iloc[1:4]),
        (LONG, pd.DataFrame({"ward": LONG["ward"]}, copy=False)),
        (LONG, LONG.set_axis(["id", "ward", "y", "z"], axis=1, copy=False)),
        (pd.DataFrame({"id": LONG["n"], "ward": ["A"] * 5}, copy=False), LONG),
        (ARROW, ARROW),
        (ARROW, ARROW.slice(2)),
        (ARROW, ARROW.select(["ward"])),
        (ARROW, BACKED),
        (BACKED, BACKED.iloc[:2]),
        (POLARS, POLARS),
        (POLARS, POLARS.clone()),
        (POLARS, POLARS.select("ward")),
        (POLARS, POLARS.head(2)),
        (POLARS, POLARS.to_arrow(compat_level=pl.CompatLevel.newest())),
        (ARROW, ibis.memtable(ARROW)),
        (ibis.memtable(LONG), LONG.iloc[1:4]),
    ],
)
def test_a_private_frame_is_not_public_nor_is_what_shares_its_memory(private: Any, public: Any):
    refused_as_public(nw.Dataset(private, "id", name="x"), public)


@pytest.mark.parametrize("column", [LONG["ward"], LONG["ward"].to_numpy(), POLARS["ward"], BACKED["ward"]])
def test_keys_that_are_a_column_of_the_private_frame_are_refused(column: Any):
    private = next(one for one in (LONG, ARROW, POLARS) if nw.keys("ward", column).locations.meets(of_memory(one)))
    data = nw.Dataset(private, "id", name="x")
    for keys in (nw.keys("ward", column), nw.keys({"sex": ["f"], "ward": column})):
        with pytest.raises(REFUSED, match=LISTED):
            data.plan(nw.count(by=keys), privacy=nw.PureDP(1))


def test_frames_that_are_alike_are_not_one():
    for private in (LONG, ARROW, POLARS):
        data = nw.Dataset(private, "id", name="x")
        for public in (LONG.copy(), pa.table(ROWS), pl.DataFrame(ROWS)):
            assert data.plan(nw.count(by=nw.keys("ward", public)), privacy=nw.PureDP(1)).layout.dimension == 4
            assert "id_right" in data.join_public(public, "ward").columns
    halves = pd.DataFrame({"id": np.arange(10), "ward": np.arange(10)})
    data = nw.Dataset(halves.iloc[:5], "id", name="x")
    assert data.plan(nw.count(by=nw.keys("ward", halves.iloc[5:])), privacy=nw.PureDP(1)).layout.dimension == 5


SPEC = """
[dataset]
source = "visits.csv"
unit = "id"
[privacy]
epsilon = 1
[[ask]]
kind = "count"
by = {by}
[keys.place]
columns = "ward"
values = {values}
"""


@pytest.mark.parametrize(
    ("values", "by"),
    [
        ('"./visits.csv"', '"place"'),
        ('"{folder}/visits.csv"', '"place"'),
        ('"v*.csv"', '"place"'),
        ('["A"]', '{{ columns = "ward", values = "visits.csv" }}'),
        ('["A"]', '{{ columns = {{ ward = "visits.csv", sex = ["f"] }} }}'),
        ('["A"]', '{{ columns = ["ward"], values = "wards.csv" }}'),
    ],
)
def test_a_spec_does_not_list_keys_of_its_private_tables(
    visits: Path, values: str, by: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    from noisewright.release.engines.duckdb.engine import DuckDB

    def never(*_: Any) -> None:
        raise AssertionError("it was read")

    text = SPEC.format(values=values, by=by).replace("{folder}", str(visits)).replace("{{", "{")
    text = text.replace("}}", "}")
    if "wards.csv" in text:
        text += '[[join]]\nsource = "./wards.csv"\nunit = "ward"\non = []\n'
    Path("plan.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(DuckDB, "fetch", never)
    assert main(["plan", "plan.toml"]) == 2
    told = capsys.readouterr()
    assert "these keys are to be listed from the private table itself" in told.err
    assert "groups" not in told.err + told.out


def test_a_spec_lists_keys_of_public_tables(visits: Path, capsys: pytest.CaptureFixture[str]):
    text = SPEC.format(values='"wards.csv"', by='"place"')
    Path("plan.toml").write_text(text, encoding="utf-8")
    assert main(["plan", "plan.toml"]) == 0
    joined = '[[join_public]]\ntable = "./visits.csv"\non = "ward"\n'
    Path("plan.toml").write_text(text + joined, encoding="utf-8")
    assert main(["plan", "plan.toml"]) == 2
    assert ITSELF in capsys.readouterr().err
