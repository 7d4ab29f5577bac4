"""An engine of another distribution: found by its entry point, read by its addresses, and asked like any other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.app.cli import main
from noisewright.release.engines import registry
from noisewright.release.engines.registry import engine_of, is_address, is_away, is_source, registered
from noisewright.release.table.sources import open_source
from tests.engines.falsifier import forms
from tests.engines.falsifier.hunting import hunt
from tests.engines.test_falsifier import require_none

VISITS = pa.table({"patient": [1, 1, 2, 3], "ward": ["A", "A", "B", "A"], "age": [30, 30, 61, 8]})
TABLE_ERROR = nw.errors.InvalidTableError


def put(folder: Path, name: str, data: pa.Table) -> str:
    """A table on a shelf, by its address."""
    folder.mkdir(exist_ok=True)
    with pa.OSFile(str(folder / f"{name}.arrow"), "wb") as stored, pa.ipc.new_file(stored, data.schema) as written:
        written.write_table(data)
    return f"shelf:{folder / name}"


@pytest.fixture
def visits(shelf: Any, tmp_path: Path) -> str:
    return put(tmp_path, "visits", VISITS)


def test_its_addresses_are_its_own(visits: str):
    assert engine_of(visits).name == "shelf"
    assert is_address(visits)
    assert is_source(visits)
    assert [one.name for one in registered()] == ["duckdb", "postgres", "shelf", "pyspark"]
    with pytest.raises(TABLE_ERROR, match='"shelf:/folder/table"'):
        nw.Dataset("unknown://server/table", "patient")


def test_without_it_an_address_of_its_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    without = tuple(one for one in registered() if one.name != "shelf")
    monkeypatch.setattr(registry, "registered", lambda: without)
    with pytest.raises(TABLE_ERROR, match="there is no file"):
        nw.Dataset(f"shelf:{tmp_path / 'visits'}", "patient")


def test_an_address_is_of_the_engine_that_names_it_most_closely(shelf: Any, monkeypatch: pytest.MonkeyPatch):
    usual = registered()
    postgres = next(one for one in usual if one.name == "postgres")
    closer = replace(postgres, name="warehouse", schemes=("postgresql://warehouse/",))
    for engines in ((*usual, closer), (closer, *usual)):
        monkeypatch.setattr(registry, "registered", lambda engines=engines: engines)
        assert engine_of("postgresql://warehouse/a?table=b").name == "warehouse"
        assert engine_of("postgresql://elsewhere/a?table=b").name == "postgres"


def test_a_release_over_it(visits: str, tmp_path: Path):
    data = nw.Dataset(visits, "patient", budget=nw.PureDP(32), ledger=tmp_path / "x.ledger", rows_per_group=2)
    plan = data.filter(lambda t: t.age >= 18).plan(
        nw.count(by=nw.keys("ward", ["A", "B"])), privacy=nw.PureDP(32)
    )  # so large that the answer is the truth, but for one time in a million
    assert data._source.engine.name == "shelf"
    answers = plan.release(frame="pyarrow").to_pydict()
    assert dict(zip(answers["ward"], answers["value"], strict=True)) == {"A": 2, "B": 1}


def test_public_tables_and_files_are_read_beside_it(visits: str, tmp_path: Path):
    wards = put(tmp_path, "wards", pa.table({"ward": ["A", "B"], "beds": [10, 20]}))
    floors = tmp_path / "floors.csv"
    floors.write_text("ward,floor\nA,1\nB,2\n", encoding="utf-8")
    data = nw.Dataset(visits, "patient", rows_per_group=2).join_public(wards, "ward").join_public(floors, "ward")
    assert {"beds", "floor"} <= set(data.columns)


def test_its_private_tables_are_not_read_as_public_by_another_name(visits: str, tmp_path: Path):
    (tmp_path / "other.arrow").symlink_to(tmp_path / "visits.arrow")
    data = nw.Dataset(visits, "patient", rows_per_group=2)
    with pytest.raises(nw.errors.InvalidInputError, match="private table itself"):
        data.join_public(f"shelf:{tmp_path / 'other'}", "ward")
    with pytest.raises(nw.errors.InvalidInputError, match="private table"):
        data.plan(nw.count(by=nw.keys("ward", f"shelf:{tmp_path / 'other'}")), privacy=nw.PureDP(1))


def test_what_it_misses_and_what_it_says_when_it_is_away(shelf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(TABLE_ERROR, match="no table 'nothing' on this shelf"):
        nw.Dataset(f"shelf:{tmp_path / 'nothing'}", "patient")
    with pytest.raises(nw.errors.EngineError, match="no such folder") as told:
        nw.Dataset(f"shelf:{tmp_path / 'away' / 'visits'}", "patient")
    assert is_away(told.value.problem)
    broken = tuple(replace(one, implementation="not_there:Engine") for one in registered() if one.name == "shelf")
    monkeypatch.setattr(registry, "registered", lambda: broken)
    with pytest.raises(TABLE_ERROR, match="need pyarrow, which is not installed"):
        nw.Dataset(f"shelf:{tmp_path / 'visits'}", "patient")


def test_two_engines_of_one_scheme_are_refused(visits: str, monkeypatch: pytest.MonkeyPatch):
    twice = (*registered(), replace(engine_of(visits), name="other", title="another shelf"))
    monkeypatch.setattr(registry, "registered", lambda: twice)
    with pytest.raises(TABLE_ERROR, match="a shelf and another shelf both say"):
        nw.Dataset(visits, "patient")


def test_where_no_engine_is_registered_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "registered", lambda: ())
    with pytest.raises(TABLE_ERROR, match="no engine is registered"):
        nw.Dataset("visits.csv", "patient")


def test_a_spec_begins_with_its_address(visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", visits, "--unit", "patient"]) == 0
    spec = tmp_path / "visits.toml"
    assert f"source = {json.dumps(visits)}" in spec.read_text(encoding="utf-8")
    assert main(["plan", str(spec)]) == 0


def test_the_falsifier_finds_nothing_in_its_files(shelf: Any, tmp_path: Path):
    def form(tables: forms.Three, folder: Path, random: Any) -> forms.Opened:
        first, second, public = (put(folder, f"t{next(forms._NUMBERS)}", data) for data in tables)
        visits = open_source(first, "u")
        bills = open_source(second, "u", beside=visits.engine)
        return visits, bills, open_source(public, "", beside=visits.engine, public=True)

    require_none(hunt(form, tmp_path, 8, 12), 12)
