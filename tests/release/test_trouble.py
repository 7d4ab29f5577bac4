"""Names that are code, engines that are away, empty tables, values that break casts: clear errors, or no harm."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from ibis import _

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.run.checked_table import CheckedTable
from tests.release.tables import FLOATS, TEXTS, WHOLES

TABLE_ERROR, ENGINE_ERROR = nw.errors.InvalidTableError, nw.errors.EngineError
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
CODE = ['"; DROP TABLE "x', "'; SELECT 1; --", "SELECT", "a b", "id", "{0}", "%s", "日本", "\\", "\n", "🦆", "*", "?"]


@settings(max_examples=5)
@given(
    st.lists(st.one_of(st.sampled_from(CODE), NAMES), min_size=4, max_size=4, unique_by=lambda name: name.casefold())
)
def test_any_names_can_be_units_keys_and_values(names: list[str]):
    unit, key, value, day = names
    table = pa.table(
        {unit: [1, 1, 2], key: ["A", "A", "B"], value: [1.0, 2.0, 3.0], day: pa.array([0] * 3, pa.date32())}
    )
    data = nw.Dataset(table, unit, name=key, rows_per_group=2, groups_per_person=2)
    asked = [
        nw.ask.sum(value, bounds=(0, 5), step=1, by=nw.keys(key, ["A", "B", unit])),
        nw.ask.histogram(day, every="year", start="1970-01-01", end="1971-01-01", name="days"),
    ]
    layout = layout_of(asked, data.limits)
    assert data._checked.true_aggregates(layout, 3) == [3, 3, 0, 3]
    kept = data.filter(_[value] > 1).mutate(**{f"{value}!": _[value] * 2})
    assert kept._checked.true_aggregates(layout, 3) == [2, 3, 0, 2]


@pytest.mark.parametrize("name", CODE, ids=ascii)
def test_tables_of_any_name_are_read_and_nothing_else_happens(name: str, tmp_path: Path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        quoted = name.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT 1 AS id, 2 AS x')
        connection.execute("CREATE TABLE other AS SELECT 1 AS id")
    data = nw.Dataset(f"{path}::{name}", "id")
    assert data._checked.true_aggregates(layout_of([nw.count()], data.limits), 1) == [1]
    assert data.describe()["name"] == f"{path}::{name}"


def test_a_name_that_no_engine_can_write_is_refused():
    with pytest.raises(TABLE_ERROR, match="a NUL in it"):
        nw.Dataset(pa.table({"id": [1], "a\0b": [2]}), "id", name="x")


def test_files_that_are_no_tables_are_refused(tmp_path: Path):
    for name in ("a.parquet", "a.duckdb::t"):
        (tmp_path / name.partition("::")[0]).write_bytes(b"PAR1 this is nothing of the kind")
        with pytest.raises(TABLE_ERROR, match="Nothing was spent"):
            nw.Dataset(str(tmp_path / name), "id")
    (tmp_path / "a.csv").write_bytes(b"")
    with pytest.raises(TABLE_ERROR, match="must name every column once"):
        nw.Dataset(tmp_path / "a.csv", "id")
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(TABLE_ERROR, match=r"is no .csv, .tsv or .parquet file"):
        nw.Dataset(tmp_path / "a.xlsx", "id")


def budgeted(source: Any, folder: Path, **more: Any) -> nw.Dataset:
    return nw.Dataset(source, "id", name="x", budget=nw.PureDP(2), ledger=folder / "x.ledger", **more)


def test_an_engine_that_is_away_is_said_before_anything_is_spent(tmp_path: Path):
    for name in ("x.parquet", "x.csv"):
        path = tmp_path / name
        frame = pd.DataFrame({"id": [1, 2]})
        frame.to_parquet(path) if name == "x.parquet" else frame.to_csv(path, index=False)
        data = budgeted(path, tmp_path)
        plan = data.plan(nw.count(), privacy=nw.PureDP(1))
        path.unlink()
        with pytest.raises(ENGINE_ERROR, match=r"the engine failed \(IOException\)"):
            plan.release()
        assert data.ledger is not None
        assert data.ledger.spent == 0
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS id")
        with pytest.raises(TABLE_ERROR, match="open for writing elsewhere"):
            nw.Dataset(f"{tmp_path / 'x.duckdb'}::t", "id")
    data = budgeted(f"{tmp_path / 'x.duckdb'}::t", tmp_path)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    data._source.engine.connection.disconnect()
    with pytest.raises(ENGINE_ERROR, match="the engine failed"):
        plan.release()
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_what_an_engine_says_after_the_charge_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = budgeted(pa.table({"id": [1, 2]}), tmp_path)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    rehearse = CheckedTable.dry_run

    def failing(*_: object, **__: object) -> None:
        raise duckdb.ConversionException("Could not convert string 'secret' to INT64")

    def rehearsed(checked: Any, layout: Any, salt: int) -> None:
        rehearse(checked, layout, salt)
        monkeypatch.setattr("noisewright.release.stage.vector.true_numbers", failing)

    monkeypatch.setattr(CheckedTable, "dry_run", rehearsed)
    with pytest.raises(nw.errors.ReleaseFailedError, match="ConversionException") as failure:
        plan.release()
    assert "secret" not in repr(failure.getrepr(style="short", chain=True, truncate_locals=True).reprcrash)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    assert "Nothing was released" in str(failure.value)
    assert data.ledger is not None
    assert data.ledger.spent == 1


def test_what_an_engine_says_of_a_value_is_not_repeated_to_an_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plan = budgeted(pa.table({"id": [1, 2]}), tmp_path).plan(nw.count(), privacy=nw.PureDP(1))

    def failing(*_: object, **__: object) -> None:
        raise duckdb.ConversionException("Could not convert string 'secret' to INT64")

    monkeypatch.setattr("noisewright.release.stage.vector.true_numbers", failing)
    with pytest.raises(nw.errors.EngineError, match="ConversionException") as failure:
        plan.selfcheck(1)
    assert "secret" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


@pytest.mark.parametrize("address", ["postgresql://owner:hush@db/x", "mysql://owner:hush@db/x::t"])
def test_addresses_with_passwords_are_not_repeated(address: str):
    with pytest.raises(TABLE_ERROR) as refusal:
        nw.Dataset(address, "id")
    assert "hush" not in str(refusal.value) + repr(refusal.value.fields)


def test_a_password_of_the_ledger_is_nowhere(tmp_path: Path):
    address = "postgresql://owner:hush@127.0.0.1:1/nowhere"
    with pytest.raises(nw.errors.LedgerError) as refusal:
        nw.Dataset(pa.table({"id": [1]}), "id", name="x", budget=nw.PureDP(1), ledger=address)
    shown: BaseException | None = refusal.value
    while shown is not None:
        assert "hush" not in f"{shown} {shown!r} {getattr(shown, 'fields', '')}"
        shown = shown.__cause__ or shown.__context__


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_an_empty_table_gives_noise_around_zero(kind: str, tmp_path: Path):
    table = pa.table({"id": pa.array([], pa.int64()), "x": pa.array([], pa.string()), "y": pa.array([], pa.string())})
    source: Any = table
    if kind == "csv":
        source = tmp_path / "x.csv"
        source.write_text("id,x,y\n", encoding="utf-8")
    elif kind == "parquet":
        source = tmp_path / "x.parquet"
        pq.write_table(table, source)
    data = budgeted(source, tmp_path, types={"y": "number"})
    asked = [nw.count(by=nw.keys("x", ["A", "B"])), nw.mean("y", bounds=(0, 5)), nw.ask.persons()]
    layout = layout_of(asked, data.limits)
    assert data._checked.true_aggregates(layout, 1) == [0] * layout.dimension
    if kind == "csv":
        answers = data.plan(*asked, privacy=nw.PureDP(1)).release(frame="pyarrow").to_pylist()
        assert [one["question"] for one in answers] == ["count", "count", "mean of y", "persons"]
        # Three tables, noise of a scale of about 3: off by 150 less than once in 10^20.
        assert all(abs(one["value"]) < 150 for one in answers if one["question"] != "mean of y")


def test_rows_without_a_unit_are_left_out_and_a_table_of_them_is_empty():
    frame = pa.table({"id": pa.array([None, None, "", "a"]), "x": [1, 2, 4, 8]})
    data = nw.Dataset(frame, "id", name="x", rows_per_group=5)
    assert data._checked.true_aggregates(layout_of([nw.ask.sum("x", bounds=(0, 10), step=1)], data.limits), 1) == [12]
    nobody = nw.Dataset(frame.slice(0, 2), "id", name="x")
    assert nobody._checked.true_aggregates(layout_of([nw.count()], nobody.limits), 1) == [0]
    nameless = nw.Dataset(pd.DataFrame({"id": [None, None], "x": [None, None]}), "id", name="x")
    assert nameless._checked.true_aggregates(layout_of([nw.mean("x", bounds=(0, 1))], nameless.limits), 1) == [0, 0]


DERIVED = {
    "casts": lambda t: {
        "a": t.t.cast("int64"),
        "b": t.t.cast("float64"),
        "c": t.f.cast("int64"),
        "d": t.w.cast("int8"),
    },
    "dates": lambda t: {"a": t.t.cast("date"), "b": t.t.cast("timestamp"), "c": t.t.cast("timestamp('UTC')")},
    "divisions": lambda t: {"a": t.w / t.w, "b": t.f / t.w, "c": t.w % 3, "d": t.f // 7},
    "products": lambda t: {"a": t.w * t.w, "b": -t.w, "c": t.w.abs(), "d": t.f**8, "e": t.w**2},
    "roots": lambda t: {"a": t.f.sqrt(), "b": t.f.ln(), "c": t.w.log2(), "d": t.f.log10()},
    "rounding": lambda t: {"a": t.f.floor(), "b": t.f.ceil(), "c": t.f.round(), "d": (t.f * 1e300).round()},
    "texts": lambda t: {"a": t.t.substr(1, 2), "b": t.t.strip().upper(), "c": t.t.length(), "d": t.t + t.t},
}


@pytest.mark.parametrize("made", DERIVED.values(), ids=DERIVED.keys())
def test_no_value_breaks_a_cast_or_a_division(made: Any):
    rows = [
        {
            "id": place,
            "f": FLOATS[place % len(FLOATS)],
            "t": TEXTS[place % len(TEXTS)],
            "w": WHOLES[place % len(WHOLES)],
        }
        for place in range(math.lcm(len(FLOATS), len(WHOLES)) * 3)
    ]
    table = pa.Table.from_pylist(
        rows, pa.schema({"id": pa.int64(), "f": pa.float64(), "t": pa.string(), "w": pa.int64()})
    )
    data = nw.Dataset(table, "id", name="x").through(lambda t: t.mutate(**made(t)))
    numbers = [name for name in "abcde" if data.columns.get(name) in ("float64", "int64", "int8", "string", "int32")]
    asked = [nw.mean(name, bounds=(0, 10)) for name in numbers]
    counted = data.filter(*(_[name].notnull() | _.f.isnull() for name in "abcde" if name in data.columns))
    for one in (data, counted):
        layout = layout_of([nw.count(), *asked], one.limits)
        assert len(one._checked.true_aggregates(layout, 1)) == layout.dimension
