"""Databases, files and processes that once changed what a release reads, spends or tells."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.run.checked_table import CheckedTable
from noisewright.release.stage.vector import aggregated
from noisewright.release.table import person_local as local

BROKEN = nw.errors.InvalidTableError
FRAME = pd.DataFrame({"id": np.arange(40) % 10, "w": list("ABCD") * 10, "x": np.arange(40.0)})


def declared(folder: Path, source: Any = FRAME, **more: Any) -> nw.Dataset:
    return nw.Dataset(source, "id", name="visits", budget=nw.PureDP(2), ledger=folder / "x.ledger", **more)


@pytest.fixture
def database() -> Any:
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE visits AS SELECT i % 3 AS id, 'x' AS s, i AS n FROM range(9) t(i)")
    return backend


# What a name of the database stands for.


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE TEMP VIEW Visits AS SELECT * FROM memory.visits LIMIT 1", "would be read instead"),
        ("CREATE TEMP TABLE visits AS SELECT * FROM memory.visits LIMIT 1", "would be read instead"),
        ("CREATE MACRO Encode(x) AS 'one and the same'::BLOB", "defines encode anew"),
        ("CREATE MACRO floor(x) AS 7000", "defines floor anew"),
        ("SET default_collation = 'nocase'", "by a collation"),
        ("ALTER TABLE visits RENAME TO old; CREATE VIEW visits AS SELECT * FROM old LIMIT 1", "is a view"),
    ],
)
def test_a_database_that_means_something_else_is_refused_also_after_the_plan(
    database: Any, tmp_path: Path, sql: str, words: str
):
    data = declared(tmp_path, database.table("visits"))
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    database.con.execute(sql)
    with pytest.raises(BROKEN, match=words):
        plan.release()
    assert data.ledger is not None
    assert data.ledger.spent == 0
    with pytest.raises(BROKEN, match=words):
        nw.Dataset(database.table("visits"), "id", name="again")


def test_a_table_of_another_schema_is_found_by_the_schema_that_is_used(database: Any):
    database.con.execute("CREATE SCHEMA other; CREATE VIEW other.visits AS SELECT * FROM main.visits LIMIT 1")
    database.con.execute("SET search_path = 'other'")
    with pytest.raises(BROKEN, match="is a view"):
        nw.Dataset(database.table("visits"), "id", name="x")


def test_the_private_table_is_not_public_under_another_name(database: Any):
    data = nw.Dataset(database.table("visits"), "id", name="x")
    for same in (database.table("VISITS"), database.table("visits", database=("memory", "main"))):
        with pytest.raises(nw.errors.InvalidInputError, match="this is the private table itself"):
            data.join_public(same, "s")


def test_two_datasets_say_one_thing_of_a_table(database: Any, tmp_path: Path):
    database.con.execute("CREATE TABLE bills AS SELECT id, s, n AS amount FROM visits")
    visits, bills = database.table("visits"), database.table("bills")
    mine = declared(tmp_path, visits)
    theirs = nw.Dataset(bills, "id", name="bills", ledger=mine.ledger).join_public(visits.select("s"), "s")
    with pytest.raises(nw.errors.InvalidInputError, match="different things of one table"):
        mine.join(theirs)


def test_a_table_can_be_joined_with_itself(tmp_path: Path):
    data = declared(tmp_path)
    layout = layout_of([nw.count()], ContributionBounds(10**6, 1, False))
    assert data.join(data)._checked.true_aggregates(layout, 1) == [10 * 4 * 4]


def test_what_was_joined_is_a_part_of_what_a_plan_is_known_by(tmp_path: Path):
    keys = set()
    for name in ("first", "second"):
        data = declared(tmp_path)
        other = nw.Dataset(FRAME, "id", name=name, ledger=data.ledger)
        keys.add(data.join(other).plan(nw.count(), privacy=nw.PureDP(1)).key)
    assert len(keys) == 2


# Files and frames.


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (b'1,"3"4\n2,5\n3,6\n', 3),  # a strict reader drops all that follows
        (b"1,3\r\n2,5\n3,6\r\n", 3),  # a strict reader fails
        (b"1,3\n2," + b"9" * 3_000_000 + b"\n3,6\n", 2),
        (b"1,3\n2,\xff\n3,6\n", 2),
        (b"1,3\n2\n3,6,7\n", 2),
    ],
    ids=["quote", "line ends", "long", "no UTF-8", "short"],
)
def test_a_line_of_a_file_takes_no_other_with_it(tmp_path: Path, lines: bytes, rows: int):
    path = tmp_path / "x.csv"
    path.write_bytes(b"id,x\n" + lines)
    data = nw.Dataset(path, "id")
    layout = layout_of([nw.mean("x", bounds=(0, 10))], data.limits)
    assert data._checked.true_aggregates(layout, 1)[0] == rows


def test_a_header_that_ends_in_a_carriage_return_shows_no_values(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"id,,x\rsecret,1,2\r")
    with pytest.raises(BROKEN, match="must name every column once") as refusal:
        nw.Dataset(path, "id")
    assert "secret" not in str(refusal.value)
    path.write_bytes(b"id,x\r1,3\r2,4\r")
    assert nw.Dataset(path, "id").columns == {"id": "string", "x": "string"}


@pytest.mark.parametrize("second", [{"id": ["b"], "x": ["abc"]}, {"id": ["b"], "x": [1e300]}, {"id": ["b"], "y": [1]}])
def test_parquet_files_of_one_table_have_one_schema(tmp_path: Path, second: Any):
    pq.write_table(pa.table({"id": ["a"], "x": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table(second), tmp_path / "2.parquet")
    with pytest.raises(BROKEN, match="have different columns or types \\('x'"):
        nw.Dataset(str(tmp_path / "*.parquet"), "id")


def test_broken_frames_are_refused_when_they_are_declared():
    starts = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    broken = pa.StringArray.from_buffers(2, starts, pa.py_buffer(b"\xffb"))
    with pytest.raises(BROKEN, match="no UTF-8"):
        nw.Dataset(pa.table({"id": [1, 2], "x": broken}), "id")


# The transaction.


def test_a_dataset_does_not_change_after_it_was_checked(tmp_path: Path):
    data = declared(tmp_path)
    for name, value in (
        ("unit", "w"),
        ("limits", ContributionBounds(1, 1, True)),
        ("name", "y"),
        ("_table", data._table.limit(1)),
    ):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(data, name, value)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    other = nw.Dataset(FRAME.rename(columns={"x": "y"}), "id", name="other", ledger=data.ledger)
    with pytest.raises(nw.errors.MechanismFileError, match="does not fit it any more"):
        replace(plan, dataset=other).release()
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_what_an_engine_says_of_a_value_is_not_repeated(tmp_path: Path, monkeypatch):
    data = declared(tmp_path)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))

    def failing(self: Any, layout: Any, salt: int) -> list[int]:
        raise duckdb.ConversionException("could not convert 'a secret' to INT64")

    monkeypatch.setattr(CheckedTable, "true_aggregates", failing)
    with pytest.raises(
        nw.errors.ReleaseFailedError, match=r"the engine failed \(ConversionException\). Charge 1"
    ) as told:
        plan.release()
    error: BaseException | None = told.value
    while error is not None:
        assert "secret" not in "".join([str(error), *getattr(error, "__notes__", [])])
        error = error.__cause__ or error.__context__
    assert data.ledger is not None
    assert data.ledger.spent == 1


@pytest.mark.parametrize("spent", [0, 1])
def test_ctrl_c_in_a_query_of_duckdb_is_ctrl_c(tmp_path: Path, monkeypatch, spent: int):
    data = declared(tmp_path)
    plan, ledger = data.plan(nw.count(), privacy=nw.PureDP(1)), data.ledger
    assert ledger is not None

    def stopped(*given: Any, **named: Any) -> Any:
        if ledger.spent == spent:
            raise RuntimeError("Query interrupted")
        return aggregated(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr("noisewright.release.stage.vector.aggregated", stopped)
        with pytest.raises(KeyboardInterrupt) as caught:
            plan.release()
    told = "".join(getattr(caught.value, "__notes__", []))
    assert ("without another charge" in told) == bool(spent)
    assert ledger.spent == spent
    assert set(plan.release(frame="pyarrow")["charge"].to_pylist()) == {1}


def test_nothing_is_read_before_the_charge_and_every_release_has_a_salt_of_its_own(tmp_path: Path, monkeypatch):
    data = declared(tmp_path)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    aggregate = CheckedTable.true_aggregates
    salts: list[int] = []

    def watched(self: Any, layout: Any, salt: int, leave_out: Any = None) -> list[int]:
        assert data.ledger is not None
        assert data.ledger.spent == len(salts) + 1, "charged before it is read"
        salts.append(salt)
        return aggregate(self, layout, salt, leave_out)

    monkeypatch.setattr(CheckedTable, "true_aggregates", watched)
    plan.release()
    plan.release(fresh=True)
    with pytest.raises(nw.errors.BudgetExceeded):
        plan.release(fresh=True)
    assert len(set(salts)) == 2


def test_threads_neither_share_a_draw_nor_read_each_other(tmp_path: Path):
    data = nw.Dataset(
        FRAME,
        "id",
        name="x",
        budget=nw.PureDP(32),
        ledger=tmp_path / "x.ledger",
        rows_per_group=9,
        groups_per_person=4,
    )
    wards = nw.keys("w", list("ABCD"))
    # Almost without noise: an answer that belongs to another question shows.
    counts = data.plan(nw.count(by=wards), privacy=nw.PureDP(4))
    sums = data.plan(nw.ask.sum("x", bounds=(0, 1000), step=1, by=wards), privacy=nw.PureDP(4))
    own = layout_of([nw.count(by=wards)], data.limits)
    found: list[Any] = []
    failed: list[BaseException] = []

    def ask(plan: Any) -> None:
        try:
            for _ in range(2):
                found.append((plan is sums, plan.release()))
                assert data._checked.true_aggregates(own, 1) == [10] * 4
        except BaseException as error:  # noqa: BLE001 -- shown by the test
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(plan,), daemon=True) for plan in (counts, sums) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed
    assert len(found) == 8
    answers = {(summed, tuple(frame["value"]), frame["charge"][0]) for summed, frame in found}
    assert max(Counter(charge for _, _, charge in answers).values()) == 1, "one draw for each charge"
    assert data.ledger is not None
    assert sum(row["event"] == "charge" for row in data.ledger.rows()) == data.ledger.spent / 4 >= len(answers)


def test_a_query_waits_for_the_one_that_runs(database: Any):
    one, other = DuckDB(database), DuckDB(database)
    answered = threading.Event()

    def ask() -> None:
        other.fetch(database.table("visits").count())
        answered.set()

    with one.snapshot():
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        assert not answered.wait(0.5)
    assert answered.wait(120)
    thread.join()


def test_the_falsifier_sees_rows_of_one_person_that_reach_another(monkeypatch):
    data = nw.Dataset(FRAME, "id", name="x", rows_per_group=2, groups_per_person=4)
    monkeypatch.setattr(local, "_same_person", lambda *given: True)
    # Wards that somebody (person 7) was in at 7 are left out for everybody.
    leaking = data.through(lambda t: t.anti_join(t.view().filter(lambda v: v.x == 7).view(), "w"))
    plan = leaking.plan(nw.count(by=nw.keys("w", list("ABCD"))), privacy=nw.PureDP(1))
    with pytest.raises(nw.errors.UncertifiedError, match="by more than the plan allows"):
        plan.selfcheck(200)


def test_the_falsifier_reads_tables_by_their_declared_types(tmp_path: Path):
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    data = nw.Dataset(tmp_path / "x.csv", "id", types={"id": "integer", "x": "number"})
    joined = data.through(lambda t: t.join(t.view(), "id"))
    assert joined.plan(nw.count(), privacy=nw.PureDP(1)).selfcheck(3).startswith("held for ")


# The noise.


def epsilon_of(block: Any) -> Any:
    return block.certified.certificate.requirement.epsilon


@pytest.mark.parametrize("groups", [1, 3])
def test_what_is_charged_is_what_one_person_touches(tmp_path: Path, groups: int):
    """Added up by hand: of each table as many groups as a person is in, each with the epsilon of its mechanism."""
    wards, both = nw.keys("w", list("ABCD")), nw.keys({"w": ["A", "B"], "id": range(3)})
    data = declared(tmp_path, groups_per_person=groups)
    questions = [
        nw.count(by=wards),
        nw.ask.histogram("x", edges=[0, 10, 20], name="ten"),
        nw.ask.histogram("x", edges=[0, 5, 20], name="five"),
        nw.mean("x", bounds=(0, 40), by=both),
    ]
    plan = data.plan(*questions, privacy=nw.PureDP(1))
    spent = sum(
        min(groups, table.grouping.count) * epsilon_of(block)
        for table, block in zip(plan.layout.tables, plan.blocks, strict=True)
    )
    assert len(plan.blocks) == 4, "overlapping bins are tables of their own"
    assert spent == plan.price.costs().pure() == 1
    plan.release()
    assert data.ledger is not None
    assert data.ledger.spent == 1
