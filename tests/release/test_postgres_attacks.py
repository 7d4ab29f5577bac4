"""Attacks on PostgreSQL: forks and threads, types and collations that unite persons, tables that change their kind."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pytest

import noisewright as nw
from noisewright.ledger import checkpoints
from noisewright.release.engines.postgres import engine as postgres
from noisewright.release.plan.arranging import layout_of
from tests.ledger.many import forked, outcome
from tests.postgres_server import Server

GROUPS = nw.keys("g", [0, 1, 2])


@pytest.fixture(scope="module")
def base(server: Server) -> str:
    """The address of a database of its own."""
    server.execute("CREATE DATABASE attacks")
    return server.url.replace("/postgres", "/attacks")


def run(base: str, *statements: str) -> None:
    with psycopg.connect(base, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def numbers(data: nw.Dataset, *questions: Any) -> list[int]:
    return data._checked.true_aggregates(layout_of(list(questions), data.limits), 1)


def backend_of(data: nw.Dataset) -> int:
    """The process of the server that answers."""
    engine: Any = data._source.engine
    return int(engine.rows("SELECT pg_backend_pid()")[0][0])


def test_a_forked_child_never_asks_over_the_connection_of_its_parent(base: str, tmp_path: Path):
    run(base, "CREATE TABLE forks AS SELECT i AS id, i % 3 AS g, 1000 AS x FROM generate_series(1, 3000) i")
    data = nw.Dataset(f"{base}/forks", "id", budget=nw.PureDP(30), ledger=tmp_path / "forks.ledger")
    counts, sums = nw.count(by=GROUPS), nw.ask.sum("x", bounds=(0, 1000), step=1, by=GROUPS)
    before = backend_of(data)

    def child() -> list[Any]:
        return [backend_of(data), *(numbers(data, sums) for _ in range(20))]

    children = [forked(child) for _ in range(2)]
    own = [numbers(data, counts) for _ in range(20)]
    found = [outcome(*one) for one in children]
    assert [code for code, _ in found] == [0, 0]
    assert own == [[1000, 1000, 1000]] * 20
    assert len({before, *(result[0] for _, result in found)}) == 3
    assert all(result[1:] == [[1_000_000] * 3] * 20 for _, result in found)
    assert backend_of(data) == before, "whatever became of the children, it is still open"


def test_a_connection_that_was_given_is_refused_in_a_forked_child(base: str):
    run(base, "CREATE TABLE given AS SELECT i AS id FROM generate_series(1, 30) i")
    with psycopg.connect(base, autocommit=True) as own:
        data = nw.Dataset(ibis.postgres.from_connection(own).table("given"), "id")

        def child() -> str:
            with pytest.raises(nw.errors.InvalidTableError) as caught:
                numbers(data, nw.count())
            return str(caught.value)

        code, told = outcome(*forked(child))
        assert code == 0
        assert "was made in another process" in told
        assert numbers(data, nw.count()) == [30]


def test_a_child_does_not_wait_for_a_thread_of_its_parent(base: str):
    run(base, "CREATE TABLE waits AS SELECT i AS id FROM generate_series(1, 30) i")
    data = nw.Dataset(f"{base}/waits", "id")
    inside, over = threading.Event(), threading.Event()

    def hold() -> None:
        with data._source.engine.snapshot():
            inside.set()
            over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(60)
    code, found = outcome(*forked(lambda: numbers(data, nw.count()), 60))
    over.set()
    thread.join()
    assert (code, found) == (0, [30])


def test_blanks_at_the_end_make_no_two_persons_one(base: str, tmp_path: Path):
    run(
        base,
        "CREATE TABLE short (id varchar(5)); INSERT INTO short VALUES ('a'), ('a '), ('a  '), ('a   ')",
        "CREATE TABLE padded (id char(5)); INSERT INTO padded VALUES ('a'), ('b')",
    )
    first = nw.Dataset(f"{base}/short", "id", name="short", budget=nw.PureDP(9), ledger=tmp_path / "x.ledger")
    second = nw.Dataset(f"{base}/padded", "id", name="padded", ledger=first.ledger)
    both = first.join(second)
    assert numbers(both, nw.count(), nw.ask.persons()) == [1, 1]
    both.plan(nw.count(), nw.ask.persons(), privacy=nw.PureDP(1)).selfcheck()
    with psycopg.connect(base, autocommit=True) as own:
        backend = ibis.postgres.from_connection(own)
        union = nw.Dataset(backend.table("padded").union(backend.table("short")), "id", name="both")
        assert numbers(union, nw.ask.persons(by=nw.keys("id", ["a", "a ", "a  ", "b"]))) == [1, 1, 1, 1]


def test_texts_of_two_collations_are_compared_by_their_bytes(base: str, tmp_path: Path):
    run(
        base,
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        'CREATE TABLE words (id int, name text, a text COLLATE "en-x-icu", b text COLLATE "de-x-icu")',
        "INSERT INTO words SELECT i, 'n' || i, 'x', chr(119 + i % 2) FROM generate_series(1, 50) i",
        "CREATE TABLE said (name text COLLATE loose, w text COLLATE loose)",
        "INSERT INTO said VALUES ('N7', '5'), ('n7', '6')",
    )
    data = nw.Dataset(f"{base}/words", "id", budget=nw.PureDP(9), ledger=tmp_path / "x.ledger", rows_per_group=5)
    for name in ("n7", "nobody"):
        alike = data.mutate(z=lambda t, name=name: (t.name == name).ifelse(t.a == t.b, False).cast("int64"))
        alike.plan(nw.ask.sum("z", bounds=(0, 1), step=1), privacy=nw.PureDP(1)).release()
    assert numbers(data.filter(lambda t: t.a == t.b), nw.count()) == [25]
    assert numbers(data.filter(lambda t: (t.a + t.b).contains("xw")), nw.count()) == [25]
    listed = data.join_public(f"{base}/said", on="name", how="inner")
    assert numbers(listed, nw.count(), nw.ask.sum("w", bounds=(0, 10), step=1)) == [1, 6]
    assert nw.keys("name", f"{base}/said").rows == (("N7",), ("n7",))


def test_blanks_that_pad_a_public_key_are_not_of_the_key(base: str):
    run(base, "CREATE TABLE wards (ward char(5), u uuid); INSERT INTO wards VALUES ('A'), ('BB'), ('A')")
    assert nw.keys("ward", f"{base}/wards").rows == (("A",), ("BB",))
    with pytest.raises(nw.errors.InvalidQueryError, match="'u' of this public table is of type uuid"):
        nw.keys("u", f"{base}/wards")


def test_no_value_is_too_large(base: str):
    run(
        base,
        "CREATE TABLE large (id int, d date, x numeric(400, 0), y numeric(400, 390), s text)",
        "INSERT INTO large VALUES (1, '300000-01-01', 1e350, 1e-350, repeat('x', 40000000))",
        "INSERT INTO large VALUES (2, '2020-05-01', 7, 3, 'a')",
    )
    data = nw.Dataset(f"{base}/large", "id")
    year = data.mutate(z=lambda t: t.d.year())
    assert numbers(year, nw.ask.sum("z", bounds=(0, 400_000), step=1)) == [302_020]
    assert numbers(data, nw.ask.sum("x", bounds=(0, 100), step=1), nw.ask.sum("y", bounds=(0, 9), step=1)) == [7, 3]
    assert numbers(data.filter(lambda t: t.x > 1), nw.count()) == [1]
    run(base, "INSERT INTO large (id, d) VALUES (3, '0001-01-01 BC'), (4, '-infinity')")
    assert numbers(year, nw.ask.sum("z", bounds=(-9, 400_000), step=1)) == [302_020]
    long = data.mutate(z=lambda t: (t.s + "," + t.s + t.s + t.s).length())
    assert numbers(long, nw.ask.sum("z", bounds=(0, 10**9), step=1)) == [400_001 + 5]


def test_columns_of_types_of_ones_own_do_no_harm(base: str, tmp_path: Path):
    run(
        base,
        "CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE TYPE pair AS (a int, b int)",
        "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
        "CREATE TABLE own (id int, m mood, p pair, n positive, ms mood[]); INSERT INTO own (id) VALUES (1), (2)",
    )
    data = nw.Dataset(f"{base}/own", "id", budget=nw.PureDP(9), ledger=tmp_path / "x.ledger")
    assert numbers(data, nw.count()) == [2]
    data.plan(nw.count(), privacy=nw.PureDP(1)).release()
    with psycopg.connect(base, autocommit=True) as own:
        assert numbers(nw.Dataset(ibis.postgres.from_connection(own).table("own"), "id"), nw.count()) == [2]


@pytest.mark.parametrize("kind", ["numeric(2, 5)", "regclass"])
def test_types_that_nobody_reads_are_said(base: str, kind: str):
    run(base, "DROP TABLE IF EXISTS unread", f"CREATE TABLE unread (id int, x {kind})")
    with pytest.raises(nw.errors.InvalidTableError, match=r"'x' of public.unread is of type .*, which is not read"):
        nw.Dataset(f"{base}/unread", "id")


@pytest.mark.parametrize(("kind", "values"), [("oid", "1, 4294967295"), ("money", "1, -92233720368547758.08")])
def test_types_that_are_nearly_numbers_are_read_as_numbers(base: str, kind: str, values: str):
    rows = ", ".join(f"({place}, '{value}')" for place, value in enumerate(values.split(", ")))
    run(base, "DROP TABLE IF EXISTS nearly", f"CREATE TABLE nearly (id int, x {kind})")
    run(base, f"INSERT INTO nearly VALUES {rows}, (9, NULL)")
    data = nw.Dataset(f"{base}/nearly", "id")
    assert numbers(data.filter(lambda t: t.x > 0), nw.count())[0] in (1, 2)
    assert numbers(data, nw.ask.sum("x", bounds=(0, 1), step=1), nw.count()) == [2 if kind == "oid" else 1, 3]
    if kind == "oid":
        assert numbers(nw.Dataset(f"{base}/nearly", "x"), nw.count()) == [2]


@pytest.mark.parametrize(
    "kind", ["odd_one", "odd_pair", "odd_whole", "int4range", "inet", "bit(3)", "xml", "point", "int[]"]
)
def test_types_that_nobody_looked_at_are_carried_and_refused_by_name(base: str, kind: str):
    run(
        base,
        "DROP TABLE IF EXISTS odd_carried; DROP TYPE IF EXISTS odd_one, odd_pair CASCADE",
        "DROP DOMAIN IF EXISTS odd_whole",
        "CREATE TYPE odd_one AS ENUM ('b', 'a'); CREATE TYPE odd_pair AS (a int, b text)",
        f"CREATE DOMAIN odd_whole AS int CHECK (value > 0); CREATE TABLE odd_carried (id int, odd {kind})",
        "INSERT INTO odd_carried VALUES (1, NULL), (2, NULL)",
    )
    data = nw.Dataset(f"{base}/odd_carried", "id")
    assert numbers(data.filter(lambda t: t.odd.isnull()), nw.count()) == [2]
    for query in (lambda t: t.group_by("id").agg(m=t.odd.max()), lambda t: t.group_by("id", "odd").agg(n=t.count())):
        with pytest.raises(nw.errors.NotPersonLocalError, match=r"'odd' holds .* is only carried along"):
            data.through(query)
    with pytest.raises(nw.errors.InvalidTableError, match="'odd' holds"):
        nw.Dataset(f"{base}/odd_carried", "odd")


def test_nothing_that_a_server_knows_of_others_chooses_rows_behind_the_barrier(base: str):
    """Indexes and statistics of the very expressions of the barrier, constraints, parts and children."""
    run(
        base,
        "CREATE TABLE known (id bigint NOT NULL, x float8, t text NOT NULL, n numeric NOT NULL CHECK (n < 9))"
        " PARTITION BY RANGE (int8up(id))",
        "CREATE TABLE known_1 PARTITION OF known FOR VALUES FROM (0) TO (500)",
        "CREATE TABLE known_2 PARTITION OF known FOR VALUES FROM (500) TO (100000)",
        "INSERT INTO known SELECT i, i % 7, 'a', i % 5 FROM generate_series(0, 999) i",
        "CREATE INDEX ON known (int8up(id)); CREATE INDEX ON known (float8up(x)); CREATE INDEX ON known (x, id)",
        """CREATE INDEX ON known ((CASE WHEN t IS NOT NULL THEN t::text COLLATE "C" END))""",
        "CREATE STATISTICS of_known (ndistinct, mcv) ON (float8up(x)), (int8up(id)) FROM known_1; ANALYZE known",
        "CREATE TABLE eldest (id bigint, x float8, CHECK (x < 5)); CREATE TABLE child () INHERITS (eldest)",
        "INSERT INTO child VALUES (1, 4), (2, 3); CREATE INDEX ON child (float8up(x)); ANALYZE child",
    )
    conditions: dict[str, Any] = {
        "known": [
            lambda t: t.id > 700, lambda t: t.x == 3, lambda t: t.t == "a", lambda t: t.n < 3,
            lambda t: t.t.isnull(), lambda t: t.n >= 9, lambda t: t.id.isin([3, 900]),
        ],
        "eldest": [lambda t: t.x >= 5, lambda t: t.x < 4],
    }  # fmt: skip
    found = {"known": [299, 143, 1000, 600, 0, 0, 2], "eldest": [0, 1]}
    for name, asked in conditions.items():
        data = nw.Dataset(f"{base}/{name}", "id")
        engine: Any = data._source.engine
        for condition, count in zip(asked, found[name], strict=True):
            few = data.filter(condition)
            assert numbers(few, nw.count()) == [count]
            words = f"EXPLAIN {postgres.written(engine.backend, few._table)}"
            plan = "\n".join(line for (line,) in engine.rows(words))
            assert "Index" not in plan
            assert "One-Time Filter" not in plan or condition in asked[4:5]  # of a NOT NULL column none is missing
            parts = {"known": ("known_1", "known_2"), "eldest": ("eldest", "child")}[name]
            assert all(part in plan for part in parts) or "One-Time Filter" in plan


def test_a_given_connection_may_speak_another_encoding(base: str):
    run(
        base,
        "CREATE TABLE letters AS SELECT i AS id, (ARRAY['é', 'ü', 'a'])[1 + i % 3] AS k FROM generate_series(1, 300) i",
    )
    with psycopg.connect(base, autocommit=True, client_encoding="LATIN1") as own:
        data = nw.Dataset(ibis.postgres.from_connection(own).table("letters"), "id")
        assert numbers(data, nw.count(by=nw.keys("k", ["é", "ü", "a"]))) == [100, 100, 100]
        assert numbers(data.filter(lambda t: t.k != "é"), nw.count()) == [200]
        assert own.info.encoding == "iso8859-1"


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_other_letters_is_refused(server: Server, encoding: str):
    """Without an encoding the server hands out bytes as they are, and whoever wrote a row may have meant others."""
    name = f"of_{encoding}".lower()
    server.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    address = server.url.replace("/postgres", f"/{name}")
    run(address, "CREATE TABLE letters AS SELECT 1 AS id, 'a' AS k")
    with pytest.raises(nw.errors.InvalidTableError, match="UTF-8"):
        nw.Dataset(f"{address}/letters", "id")


def test_tables_are_opened_beside_a_release(base: str, tmp_path: Path):
    run(
        base,
        "CREATE TABLE busy AS SELECT i AS id, i % 3 AS g FROM generate_series(1, 300) i",
        "CREATE TABLE names AS SELECT i AS g, i * 10 AS w FROM generate_series(0, 2) i",
    )
    data = nw.Dataset(f"{base}/busy", "id", budget=nw.PureDP(30), ledger=tmp_path / "x.ledger")
    plan, trouble, over = data.plan(nw.count(), privacy=nw.PureDP(1)), list[BaseException](), threading.Event()

    def opening() -> None:
        try:
            while not over.is_set():
                data.join_public(f"{base}/names", on="g")
        except BaseException as error:  # noqa: BLE001 -- looked at below
            trouble.append(error)

    threads = [threading.Thread(target=opening) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        plan.release(fresh=True)
    over.set()
    for thread in threads:
        thread.join()
    assert trouble == []


def test_a_table_that_becomes_a_view_after_it_was_tried_is_not_read(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run(base, "CREATE TABLE moving AS SELECT i AS id FROM generate_series(1, 30) i")
    data = nw.Dataset(f"{base}/moving", "id", budget=nw.PureDP(9), ledger=tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))

    def reach(name: str) -> None:
        if name == "charged":
            run(
                base,
                "ALTER TABLE moving RENAME TO moved",
                "CREATE VIEW moving AS SELECT 1 AS id FROM generate_series(1, 5000)",
            )

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "passed", reach)
        with pytest.raises(nw.errors.ReleaseFailedError, match=r"not any more what it was .* Nothing was drawn"):
            plan.release()
    with pytest.raises(nw.errors.InvalidTableError, match="'moving' is a view"):
        plan.release()
    run(base, "DROP VIEW moving", "ALTER TABLE moved RENAME TO moving")
    assert set(plan.release(frame="pyarrow")["charge"].to_pylist()) == {1}
    run(base, "DROP TABLE moving")
    with pytest.raises(nw.errors.EngineError, match=r"TableNotFound.*See that the table is still there"):
        plan.release(fresh=True)


def test_a_given_connection_that_is_closed_is_said_wherever_it_is_used(base: str):
    run(base, "CREATE TABLE closing AS SELECT i AS id FROM generate_series(1, 30) i")
    with psycopg.connect(base, autocommit=True) as own:
        table = ibis.postgres.from_connection(own).table("closing")
        data = nw.Dataset(f"{base}/closing", "id")
    for work in (lambda: nw.Dataset(table, "id"), lambda: nw.keys("id", table), lambda: data.join_public(table, "id")):
        with pytest.raises(nw.errors.InvalidTableError, match=r"is closed: connect again.*Nothing was spent"):
            work()


def test_options_in_the_address_are_kept_and_long_names_refused(base: str):
    run(base, "CREATE TABLE plain AS SELECT i AS id FROM generate_series(1, 30) i", "CREATE ROLE asker")
    run(base, "GRANT SELECT ON plain TO asker")
    data = nw.Dataset(f"{base}/plain?options=-c%20role%3Dasker&application_name=mine", "id")
    engine: Any = data._source.engine
    assert engine.rows("SELECT current_user, current_setting('application_name')") == [("asker", "mine")]
    assert numbers(data, nw.count()) == [30]
    with pytest.raises(nw.errors.InvalidTableError, match="longer than 63 bytes"):
        nw.Dataset(f"{base}/{'x' * 64}", "id")
