"""Tables of PostgreSQL and Spark at the command line: a first spec, a plan, a release, and what is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noisewright.app.cli.init import spec_text
from noisewright.ledger.ledger import Ledger
from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.postgres_server import PASSWORD, Server

NAMES = {
    "postgresql://reader@db.example/clinic/visits?statement_timeout=60000": "visits",
    "postgresql://reader@[::1]:5432/clinic/a%20b.Visits%2Fof%20May": "Visitsof May",
    "spark:clinic.visits": "visits",
    "spark:visits": "visits",
    "spark:s3a://clinic/visits/*.parquet": "visits",
    "spark:/data/visits.parquet": "visits",
    "spark:hdfs://node:9000/data/visits": "visits",
    "spark:*": "spark",
    "://": "spec",
}


def _of_postgres(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    server: Server = request.getfixturevalue("server")
    server.execute("DROP TABLE IF EXISTS visits_by_address")
    server.execute(
        "CREATE TABLE visits_by_address AS SELECT (i % 60)::bigint AS patient, chr(65 + i % 60 % 3) AS ward,"
        " (20 + i % 60)::double precision AS age FROM generate_series(0, 239) i"
    )
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return f"postgresql://owner@127.0.0.1:{server.port}/postgres/visits_by_address"


def _of_spark(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    request.getfixturevalue("spark")
    (folder / "cluster" / "visits_by_address").mkdir(parents=True)
    rows = [(i % 60, "ABC"[i % 60 % 3], 20.0 + i % 60) for i in range(240)]
    for place in range(2):
        patient, ward, age = zip(*rows[place::2], strict=True)
        table = pa.table({"patient": patient, "ward": ward, "age": age})
        pq.write_table(table, folder / "cluster" / "visits_by_address" / f"{place}.parquet")
    return f"spark:{folder}/cluster/visits_by_address/*.parquet"


MADE: dict[str, Callable[..., str]] = {"postgres": _of_postgres, "spark": _of_spark}


@pytest.fixture(params=["postgres", pytest.param("spark", marks=pytest.mark.xdist_group("spark"))])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sixty patients with four visits each, twenty patients in each ward."""
    return MADE[request.param](request, tmp_path, monkeypatch)


def _filled(path: Path, epsilon: str) -> None:
    """What a person writes into a first spec."""
    text = path.read_text(encoding="utf-8")
    for old, new in {
        "budget = { epsilon = 3 }": "budget = { epsilon = 30 }",
        "rows_per_group = 1": "rows_per_group = 4",
        "[privacy]\nepsilon = 1\n": f"[privacy]\nepsilon = {epsilon}\n",
        'kind = "count"\n': 'kind = "count"\nby = { columns = "ward", values = ["A", "B", "C", "D"] }\n',
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def test_from_an_address_to_answers(cli: Cli, tmp_path: Path, address: str):
    assert_succeeded(cli("init", address, "--unit", "patient"))
    spec = tmp_path / "visits_by_address.toml"
    text = spec.read_text(encoding="utf-8")
    assert tomllib.loads(text)["dataset"]["source"] == address
    assert '"patient" (int64), "ward" (string), "age" (float64)' in text
    assert '# column = "age"' in text
    _filled(spec, "10")
    planned = cli("plan", spec.name)
    assert_succeeded(planned)
    assert f"Plan for {address}; nothing is spent yet" in planned.out
    assert not list(tmp_path.glob("*.ledger"))
    first = cli("release", spec.name, "--output", "a.csv", "--report", "r.html", "--json")
    assert_succeeded(first)
    # Each ward has 80 rows, and epsilon 10 for at most 4 rows leaves little noise: off by 40 less than once in 10^20.
    assert all(abs(one["value"] - true) < 40 for one, true in zip(first.data, [80, 80, 80, 0], strict=True))
    second = cli("release", spec.name, "--output", "b.csv")
    assert "Nothing was spent: these are the answers of charge 1 of" in second.out
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    assert Ledger.open(tmp_path / "visits_by_address.ledger").remaining == 20
    assert_succeeded(cli("verify", "r.html"))


def test_what_is_wrong_with_an_address_is_refused_before_anything_is_made(cli: Cli, tmp_path: Path, address: str):
    missing = address.replace("visits_by_address", "nowhere")
    assert_failed(cli("init", missing), 2, "there is no ")
    assert_failed(cli("init", address, "--unit", "patent"), 2, "the columns are 'patient', 'ward', 'age'")
    assert_succeeded(cli("init", address))
    spec = tmp_path / "visits_by_address.toml"
    assert_failed(cli("plan", spec.name), 2, "unit is ''")
    text = spec.read_text(encoding="utf-8").replace('unit = ""', 'unit = "patient"')
    (tmp_path / "wards.csv").write_text("ward,floor\nA,1\n", encoding="utf-8")
    (tmp_path / "persons.csv").write_text("patient,born\n1,1980\n", encoding="utf-8")
    for join in ('[[join_public]]\ntable = "wards.csv"\non = "ward"', '[[join]]\nsource = "persons.csv"'):
        spec.write_text(f"{text}\n{join}\n", encoding="utf-8")
        assert_failed(cli("release", spec.name), 2, "different places", "load one of them beside the other")
    (tmp_path / "other.toml").write_text(
        text.replace(address, "persons.csv") + f'\n[[join_public]]\ntable = "{address}"\non = "patient"\n'
    )
    assert_failed(cli("release", "other.toml"), 2, "different places")
    assert not list(tmp_path.glob("*.ledger*"))


def test_a_password_in_an_address_is_not_written_into_the_spec(cli: Cli, tmp_path: Path, request: Any):
    server: Server = request.getfixturevalue("server")
    server.execute("CREATE TABLE IF NOT EXISTS visits_kept (patient bigint)")
    outcome = cli("init", f"{server.url}/visits_kept?statement_timeout=60000", "--unit", "patient")
    assert_succeeded(outcome)
    assert "The password is not in it" in outcome.err
    source = tomllib.loads((tmp_path / "visits_kept.toml").read_text(encoding="utf-8"))["dataset"]["source"]
    assert source == f"postgresql://owner@127.0.0.1:{server.port}/postgres/visits_kept?statement_timeout=60000"


@pytest.mark.parametrize("address", NAMES)
def test_a_spec_is_named_after_the_table_of_an_address(address: str):
    assert f'ledger = "{NAMES[address]}.ledger"' in spec_text(address, {"patient": "int64"}, None)
