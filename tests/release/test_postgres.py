"""Tables of a PostgreSQL server: what is read, what is refused, what leaves the server and what is never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import ibis
import psycopg
import pyarrow as pa
import pytest
from psycopg import sql

import noisewright as nw
from noisewright.app.cli import main
from noisewright.release.engines.postgres.engine import Postgres, split
from noisewright.release.plan.arranging import layout_of
from tests.postgres_server import PASSWORD, Server
from tests.release.tables import SPEC
from tests.release.test_trouble import CODE

TABLE_ERROR = nw.errors.InvalidTableError
QUESTIONS = [nw.count(), nw.ask.persons(by=nw.keys("k", ["A", "a", "'; DROP TABLE visits; --", '{"\\,}', "ß"]))]


@pytest.fixture(scope="module")
def base(server: Server) -> str:
    """The address of a database of its own, with a table of visits."""
    server.execute("CREATE DATABASE room")
    address = server.url.replace("/postgres", "/room")
    _run(
        address,
        "CREATE TABLE visits (id bigint, k text, x double precision)",
        """INSERT INTO visits SELECT i % 40, (ARRAY['A', 'a', '{"\\,}', 'ß', NULL])[1 + i % 5], i FROM
        generate_series(1, 200) i""",
        "CREATE SCHEMA ward",
        "CREATE TABLE ward.visits (id bigint, k text) PARTITION BY HASH (id)",
        "CREATE TABLE ward.part PARTITION OF ward.visits FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
        "INSERT INTO ward.visits VALUES (1, 'A'), (2, 'a'), (NULL, 'A')",
    )
    return address


def _run(address: str, *statements: Any) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def _ledger(data: nw.Dataset) -> nw.Ledger:
    assert data.ledger is not None
    return data.ledger


def numbers(data: nw.Dataset, questions: list[Any] = QUESTIONS) -> list[int]:
    return data._checked.true_aggregates(layout_of(questions, data.limits), 1)


def test_tables_are_named_by_database_and_schema(base: str):
    assert numbers(nw.Dataset(f"{base}/visits", "id", rows_per_group=9, groups_per_person=9)) == [200, 8, 8, 0, 8, 8]
    assert numbers(nw.Dataset(f"{base}/ward.visits", "id")) == [2, 1, 1, 0, 0, 0]


def test_keys_are_those_of_a_public_table(base: str):
    assert nw.keys("k", f"{base}/visits").rows == (("A",), ("a",), ('{"\\,}',), ("ß",))
    with pytest.raises(TABLE_ERROR, match=r"there is no table public\.nothing") as caught:
        nw.keys("k", f"{base}/nothing")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("rest", ["", "/", "/a/b", "/.x", "/x.", "/a.b.c", "/visits?statement_timeout=soon"])
def test_addresses_that_name_no_table_are_refused(base: str, rest: str):
    with pytest.raises(TABLE_ERROR) as caught:
        nw.Dataset(base + rest, "id")
    assert "secret" not in str(caught.value)


def test_missing_tables_and_servers_are_said(base: str):
    with pytest.raises(TABLE_ERROR, match=r"there is no table public\.nothing .* there are public\.visits"):
        nw.Dataset(f"{base}/nothing", "id")
    wrong = base.replace("a%3Asecret", "other%3Asecret")
    for address in (wrong, base.replace("127.0.0.1:", "127.0.0.1:1"), base.replace("/room", "/no")):
        with pytest.raises(nw.errors.EngineError, match="cannot be opened") as caught:
            nw.Dataset(f"{address}/visits", "id")
        assert "secret" not in str(caught.value)


def test_the_password_is_shown_nowhere(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for address in (base, base.replace(":a%3Asecret%20word%2Fwith%40signs", "")):
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        folder = tmp_path / str(len(address))
        folder.mkdir()
        data = nw.Dataset(f"{address}/visits", "id", budget=nw.PureDP(3), ledger=folder / "x.ledger")
        plan = data.plan(nw.count(), privacy=nw.PureDP(1))
        plan.save(folder / "plan.json")
        frame = plan.release()
        told = [str(data), repr(data), str(data.describe()), str(plan), repr(plan), plan._repr_html_(), str(frame)]
        told += [
            (folder / "plan.json").read_text(),
            str(list(_ledger(data).rows())),
            repr(vars(data._source.engine.connection)),
        ]
        monkeypatch.delenv("PGPASSWORD")
        assert data.name == split(f"{base}/visits")[3] == f"postgresql://owner@{base.rpartition('@')[2]}/visits"
        assert not any("secret" in text for text in told)


def test_only_aggregates_leave_the_server_in_one_read_only_snapshot(base: str, monkeypatch: pytest.MonkeyPatch):
    data = nw.Dataset(f"{base}/visits?statement_timeout=4000", "id", rows_per_group=2)
    seen: list[Any] = []
    fetch = Postgres.fetch

    def watched(own: Postgres, expression: Any) -> Any:
        with own.backend.con.cursor() as cursor:
            names = ("transaction_isolation", "transaction_read_only", "statement_timeout", "search_path", "timezone")
            seen.append(tuple(cursor.execute(f"SHOW {name}").fetchone()[0] for name in names))
        found = fetch(own, expression)
        if len(seen) == 1:
            _run(base, "INSERT INTO visits VALUES (12345, 'A', 1)")
        assert found.num_rows <= 5
        return found

    monkeypatch.setattr(Postgres, "fetch", watched)
    try:
        asked = [nw.count(), nw.ask.persons(name="p"), nw.ask.sum("x", bounds=(0, 9), step=1, by=nw.keys("k", ["A"]))]
        first = numbers(data, asked)
        assert set(seen) == {("repeatable read", "on", "4s", "pg_catalog, pg_temp", "UTC")}
        assert len(seen) >= 3
        assert [b - a for a, b in zip(first, numbers(data, asked), strict=True)] == [1, 1, 1]
    finally:
        _run(base, "DELETE FROM visits WHERE id = 12345")


def interrupted(engine: Postgres) -> None:
    """As Ctrl-C leaves a connection in the short time between asking and listening."""
    with engine.snapshot():
        engine.backend.con.pgconn.send_query(b"SELECT count(*) FROM visits")
        raise KeyboardInterrupt


@pytest.mark.parametrize("given", [False, True])
def test_a_transaction_that_cannot_be_ended_ends_with_its_connection(base: str, given: bool):
    with psycopg.connect(base, autocommit=True) as own:
        table = ibis.postgres.from_connection(own).table("visits") if given else f"{base}/visits"
        data = nw.Dataset(table, "id", rows_per_group=9, groups_per_person=9)
        wanted, engine = numbers(data), cast(Postgres, data._source.engine)
        connection = engine.backend.con
        with pytest.raises(KeyboardInterrupt):
            interrupted(engine)
        assert connection.closed
        _run(base, "SET lock_timeout = '60s'; LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
        if not given:
            assert numbers(data) == wanted
        else:
            with pytest.raises(nw.errors.EngineError, match="connect again, and make the dataset anew"):
                numbers(data)


def test_a_query_that_takes_too_long_is_ended_before_or_after_the_charge(base: str, tmp_path: Path):
    _run(base, "CREATE OR REPLACE VIEW slow AS SELECT id, pg_sleep(0.2)::text AS k FROM visits")
    data = nw.Dataset(
        f"{base}/slow?statement_timeout=100", "id", local_views=["slow"], budget=nw.PureDP(3), ledger=tmp_path / "x"
    )
    plan = data.plan(nw.ask.persons(by=nw.keys("k", ["A"])), privacy=nw.PureDP(1))
    with pytest.raises(nw.errors.ReleaseFailedError, match=r"QueryCanceled.*is spent"):
        plan.release()


REFUSALS = {
    "a view": ("CREATE VIEW {} AS SELECT * FROM visits LIMIT 3", "is a view"),
    "a materialised view": ("CREATE MATERIALIZED VIEW {} AS SELECT * FROM visits", "is a view"),
    "row-level security": (
        "CREATE TABLE {} AS SELECT * FROM visits; ALTER TABLE {} ENABLE ROW LEVEL SECURITY;"
        " ALTER TABLE {} FORCE ROW LEVEL SECURITY; ALTER TABLE {} OWNER TO reader",
        "row-level security",
    ),
    "a collation": (
        "CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
        " CREATE TABLE {} (id text COLLATE loose, k text)",
        "by a collation",
    ),
    "a foreign part": (
        "CREATE EXTENSION IF NOT EXISTS file_fdw; CREATE SERVER IF NOT EXISTS files FOREIGN DATA WRAPPER file_fdw;"
        " CREATE TABLE {} (id bigint, k text) PARTITION BY LIST (k);"
        " CREATE FOREIGN TABLE distant PARTITION OF {} FOR VALUES IN ('A') SERVER files OPTIONS (filename '/dev/null')",
        "is a view",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_no_plain_table_is_refused(base: str, name: str):
    words, match = REFUSALS[name]
    with psycopg.connect(base, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone():
            connection.execute(sql.SQL("CREATE ROLE reader LOGIN PASSWORD {}").format(sql.Literal(PASSWORD)))
            connection.execute("GRANT ALL ON SCHEMA public TO reader")
        connection.execute(sql.SQL(words).format(*[sql.Identifier(name)] * words.count("{}")))  # type: ignore[arg-type]
    address = base.replace("//owner:", "//reader:") if "security" in name else base
    with pytest.raises(TABLE_ERROR, match=match):
        nw.Dataset(f"{address}/{name.replace(' ', '%20')}", "id")


def test_nothing_stands_before_the_table_or_the_functions(base: str):
    connection = psycopg.connect(base, autocommit=True)
    backend = ibis.postgres.from_connection(connection)
    data = nw.Dataset(backend.table("visits"), "id", name="x", rows_per_group=9, groups_per_person=9)
    connection.execute("CREATE TEMP TABLE visits (id bigint, k text, x double precision)")
    connection.execute("CREATE SCHEMA IF NOT EXISTS trap")
    connection.execute("CREATE OR REPLACE FUNCTION trap.md5(text) RETURNS text LANGUAGE sql AS $$SELECT 'same'$$")
    connection.execute(
        "CREATE OR REPLACE FUNCTION trap.convert_to(text, name) RETURNS bytea LANGUAGE sql AS $$SELECT ''::bytea$$"
    )
    connection.execute("SET search_path = trap, pg_catalog, public")
    assert numbers(data) == [200, 8, 8, 0, 8, 8]
    connection.execute("BEGIN")
    with pytest.raises(TABLE_ERROR, match="a transaction of its own"):
        numbers(data)
    connection.execute("ROLLBACK")
    connection.execute("SET allow_system_table_mods = on")
    connection.execute("CREATE FUNCTION pg_catalog.md5(integer) RETURNS text LANGUAGE sql AS $$SELECT 'same'$$")
    try:
        with pytest.raises(TABLE_ERROR, match="defines md5 anew"):
            nw.Dataset(f"{base}/visits", "id")
    finally:
        connection.execute("DROP FUNCTION pg_catalog.md5(integer)")
    connection.close()


def test_a_changed_table_is_refused_before_the_charge(base: str, tmp_path: Path):
    _run(base, "CREATE TABLE changing (id bigint, k text)")
    data = nw.Dataset(f"{base}/changing", "id", budget=nw.PureDP(3), ledger=tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    _run(base, "ALTER TABLE changing ALTER id TYPE integer")
    with pytest.raises(TABLE_ERROR, match="other columns or types"):
        plan.release()
    assert _ledger(data).spent == 0


@pytest.mark.parametrize("name", [name for name in CODE if name != "id"], ids=ascii)
def test_tables_and_columns_of_any_name_are_read(base: str, name: str):
    with psycopg.connect(base, autocommit=True) as connection:
        words = sql.SQL("DROP TABLE IF EXISTS {0}; CREATE TABLE {0} AS SELECT 1 AS id, 'A'::text AS {0}")
        connection.execute(words.format(sql.Identifier(name)))
        backend = ibis.postgres.from_connection(connection)
        data = nw.Dataset(backend.table(name), "id", name="x")
        assert numbers(data, [nw.count(by=nw.keys(name, ["A", name]))]) == [1, 0]
        connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))


def test_two_tables_of_one_database_are_joined_and_others_are_not(base: str, tmp_path: Path):
    first = nw.Dataset(f"{base}/visits", "id", budget=nw.PureDP(3), ledger=tmp_path / "x.ledger", rows_per_group=99)
    second = nw.Dataset(f"{base}/ward.visits", "id", ledger=first.ledger, rows_per_group=9)
    assert numbers(first.join(second), [nw.count()]) == [10]
    _run(base, "CREATE TABLE IF NOT EXISTS public_kinds (k text, w bigint)", "INSERT INTO public_kinds VALUES ('A', 2)")
    wide = first.join_public(f"{base}/public_kinds", "k", how="inner")
    assert numbers(wide, [nw.ask.sum("w", bounds=(0, 3), step=1)]) == [80]
    with pytest.raises(TABLE_ERROR, match="different places"):
        first.join_public(pa.table({"k": ["A"]}), "k")


def test_a_spec_file_names_an_address_and_shows_no_password(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    spec = tmp_path / "clinic.toml"
    spec.write_text(
        SPEC.format(source=f"{base}/visits?statement_timeout=60000", ledger="clinic.ledger"), encoding="utf-8"
    )
    shown = ""
    for words in (["plan", str(spec)], ["release", str(spec)], ["release", str(spec), "--json"]):
        assert main(words) in (0, None)
        shown += "".join(capsys.readouterr())
    ledger = nw.Ledger.open(tmp_path / "clinic.ledger")
    assert ledger.spent == 1
    written = [path.read_bytes() for path in tmp_path.iterdir() if path != spec]
    assert "secret" not in shown
    assert not any(b"secret" in text for text in written)
