"""Tables of Spark: what is read, what is refused, what leaves it, and that nobody's session is touched."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.app.cli import main
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.stage.contribution_bounding import rows_in_engine
from noisewright.release.stage.rows import rows_of, totals
from tests.ledger.many import forked, outcome
from tests.optional import require_package
from tests.release.tables import SPEC, arrow, hostile
from tests.release.test_stage import QUESTIONS as STAGE, by_hand
from tests.release.test_trouble import CODE
from tests.spark_session import Sparks

pytestmark = pytest.mark.xdist_group("spark")
TABLE_ERROR = nw.errors.InvalidTableError
KEYS = ["A", "a", "'; DROP TABLE visits; --", '{"\\,}', "ß"]
QUESTIONS = [nw.ask.persons(by=nw.keys("k", KEYS))]
VISITS = pa.table(
    {
        "id": [place % 40 for place in range(200)],
        "k": [["A", "a", '{"\\,}', "ß", None][place % 5] for place in range(200)],
        "x": [float(place) for place in range(200)],
    }
)


def numbers(data: nw.Dataset, questions: list[Any] = QUESTIONS) -> list[int]:
    return data._checked.true_aggregates(layout_of(questions, data.limits), 1)


@pytest.fixture
def session(spark: Sparks) -> Iterator[Any]:
    """A session with a table of visits, and without anything of the test before."""
    made = spark.session
    if not made.catalog.tableExists("visits"):
        folder = spark.folder / "visits"
        (folder / "more").mkdir(parents=True)
        pq.write_table(VISITS[:100], folder / "1.parquet")
        pq.write_table(VISITS[100:], folder / "2.parquet")
        made.sql(f"CREATE TABLE visits USING parquet LOCATION '{folder}'")
        made.sql("CREATE TABLE parts USING parquet PARTITIONED BY (k) AS SELECT id, x, k FROM visits")
    before = dict(made.conf.getAll)
    yield made
    for table in made.catalog.listTables():
        if table.isTemporary:
            made.catalog.dropTempView(table.name)
    for name in dict(made.conf.getAll):
        if name not in before:
            made.conf.unset(name)


def ledger_of(data: nw.Dataset) -> nw.Ledger:
    assert data.ledger is not None
    return data.ledger


def test_tables_and_files_are_named_in_every_way(spark: Sparks, session: Any):
    files = spark.folder / "visits"
    session.read.parquet(str(files)).createOrReplaceTempView("named")
    sources = [
        session.table("visits"),
        session.read.parquet(str(files)),
        "spark:visits",
        "spark:`spark_catalog`.default.visits",
        "spark:parts",
        f"spark:{files}/*.parquet",
        f"spark:file://{files}",
        ibis.pyspark.connect(session).table("visits"),
        "spark:named",
    ]
    kinds = [{"id": "int64", "k": "string", "x": "float64"}, {"id": "int64", "x": "float64", "k": "string"}]
    made = [nw.Dataset(source, "id", rows_per_group=9, groups_per_person=9) for source in sources]
    assert all(data.columns in kinds for data in made)
    for data in made[:2] + made[4:6]:
        assert numbers(data) == [8, 8, 0, 8, 8]
    # One session: whatever they were named by, they can be joined.
    assert len({id(data._source.engine.connection) for data in made}) == 1
    assert made[2].name == "spark:visits"
    assert made[2].describe() == nw.Dataset("spark:visits", "id", rows_per_group=9, groups_per_person=9).describe()


def test_a_forked_child_does_not_ask_over_the_connection_of_its_parent(session: Any, tmp_path: Path):
    data = nw.Dataset("spark:visits", "id", budget=nw.PureDP(3), ledger=tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))

    def child() -> str:
        with pytest.raises(TABLE_ERROR) as caught:
            plan.release()
        return str(caught.value)

    code, told = outcome(*forked(child))
    assert code == 0
    assert "was made in another process, which this one was forked from" in told
    assert ledger_of(data).spent == 0
    plan.release()


def test_keys_are_those_of_a_public_table_however_it_is_named(spark: Sparks, session: Any):
    listed = nw.keys("k", VISITS)
    for table in ("spark:visits", f"spark:{spark.folder}/visits/*.parquet", session.table("visits")):
        assert nw.keys("k", table) == listed


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("spark:", "names no table"),
        ("spark:nothing", r"there is no table nothing .*TABLE_OR_VIEW_NOT_FOUND"),
        ("spark:a b", r"there is no table a b .*PARSE_SYNTAX_ERROR"),
        ("spark:/nowhere/*.parquet", "there is no file /nowhere"),
        ("spark:s3a://key:secret@bucket/x", "leave it to Spark's configuration"),
    ],
)
def test_addresses_that_name_no_table_are_refused(session: Any, address: str, words: str):
    with pytest.raises(TABLE_ERROR, match=words) as caught:
        nw.Dataset(address, "id")
    assert "secret" not in str(caught.value)


QUERIES = {
    "a limit": "SELECT * FROM visits LIMIT 3",
    "a filter": "SELECT * FROM visits WHERE id > 3",
    "a sample": "SELECT * FROM visits TABLESAMPLE (50 PERCENT)",
    "chance": "SELECT id, k, rand() AS x FROM visits",
    "another's rows": "SELECT id, max(k) OVER () AS k FROM visits",
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_no_table_under_whatever_name(session: Any, name: str):
    with pytest.raises(TABLE_ERROR, match="is a query, or no table of Parquet files"):
        nw.Dataset(session.sql(QUERIES[name]), "id")
    for kind, known in (("TEMPORARY VIEW", "short"), ("VIEW", "long")):
        session.sql(f"CREATE OR REPLACE {kind} {known} AS {QUERIES[name]}")
        for source in (f"spark:{known}", session.table(known), ibis.pyspark.connect(session).table(known)):
            with pytest.raises(TABLE_ERROR, match="is a view, whose definition is not checked"):
                nw.Dataset(source, "id")
        if name in ("a limit", "a sample", "chance"):
            # A lost task that is done again would choose other rows: no declaration helps.
            with pytest.raises(TABLE_ERROR, match=r"chooses among rows|that differ each time"):
                nw.Dataset(f"spark:{known}", "id", local_views=[known])
    session.sql("DROP VIEW long")


def test_a_declared_view_is_read_as_it_was_declared(session: Any):
    session.sql("CREATE OR REPLACE VIEW near AS SELECT id, k FROM visits WHERE x < 100")
    session.sql("CREATE TEMPORARY VIEW nearer AS SELECT id, k FROM visits WHERE x < 50")
    assert numbers(nw.Dataset("spark:near", "id", local_views=["near"], rows_per_group=9), [nw.count()]) == [100]
    assert numbers(nw.Dataset("spark:nearer", "id", local_views=["nearer"], rows_per_group=9), [nw.count()]) == [50]


def test_what_may_change_or_fail_in_the_middle_is_refused(spark: Sparks, session: Any):
    session.range(3).createOrReplaceTempView("constants")
    session.range(3).localCheckpoint().createOrReplaceTempView("computed")
    session.readStream.schema("id BIGINT").parquet(str(spark.folder / "visits")).createOrReplaceTempView("endless")
    session.sql("CREATE TABLE commas (id BIGINT, k STRING) USING csv")
    session.sql("CREATE TABLE padded (id BIGINT, odd CHAR(5)) USING parquet")
    session.sql("CREATE TABLE folded (id BIGINT, k STRING COLLATE UTF8_LCASE) USING parquet")
    for name, words in {
        "constants": "is a view",
        "computed": r"reads something else than Parquet files \(LogicalRDD\)",
        "endless": "is a stream",
        "padded": "'odd' is of type char",
        "commas": "is a query, or no table of Parquet files",
        "folded": "compares texts by a collation",
    }.items():
        with pytest.raises(TABLE_ERROR, match=words):
            nw.Dataset(f"spark:{name}", "id", local_views=() if name == "constants" else [name])
    session.catalog.cacheTable("visits")
    try:
        with pytest.raises(TABLE_ERROR, match="is cached"):
            nw.Dataset("spark:visits", "id")
    finally:
        session.catalog.uncacheTable("visits")


def test_files_that_fail_on_a_value_are_refused_by_their_schemas(tmp_path: Path, session: Any):
    far = pa.array([2**62, 0], pa.int64()).cast(pa.timestamp("ms"))
    pq.write_table(pa.table({"id": [1, 2], "at": far}), tmp_path / "1.parquet", coerce_timestamps=None)
    with pytest.raises(TABLE_ERROR, match="counts milliseconds"):
        nw.Dataset(f"spark:{tmp_path}", "id")
    ends, keys = pa.array([0, 1, 2], pa.int32()), pa.array(["a", "b"])
    within = [pa.ListArray.from_arrays(ends, far), pa.StructArray.from_arrays([far], ["f"])]
    within += [pa.MapArray.from_arrays(ends, keys, far), pa.ListArray.from_arrays(ends, within[0])]
    for nested in within:
        pq.write_table(pa.table({"id": [1, 2], "deep": nested}), tmp_path / "1.parquet")
        with pytest.raises(TABLE_ERROR, match="counts milliseconds"):
            nw.Dataset(f"spark:{tmp_path}", "id")
    (tmp_path / "1.parquet").unlink()
    pq.write_table(pa.table({"id": [1], "x": [1], "y": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": [2], "y": [2]}), tmp_path / "2.parquet")  # without x: NULL
    data = nw.Dataset(f"spark:{tmp_path}", "id")
    pq.write_table(pa.table({"id": [3], "x": ["text"], "y": [3]}), tmp_path / "3.parquet")
    with pytest.raises(TABLE_ERROR, match="has files of different types"):
        data.rehearse(layout_of([nw.count()], data.limits))
    (tmp_path / "3.parquet").unlink()
    with pytest.raises(TABLE_ERROR, match=r"whose column 'id' is of another type \(long\)"):
        nw.Dataset(session.read.schema("id INT, y BIGINT").parquet(str(tmp_path)), "id")


def test_a_changed_table_is_refused_before_the_charge(session: Any, tmp_path: Path):
    session.sql("CREATE TABLE changing USING parquet AS SELECT id, k FROM visits")
    data = nw.Dataset("spark:changing", "id", budget=nw.PureDP(3), ledger=tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    for words, change in {
        "other columns or types": "ALTER TABLE changing ADD COLUMN more INT",
        "is a view": "DROP TABLE changing; CREATE VIEW changing AS SELECT id, k FROM visits LIMIT 1",
    }.items():
        for statement in change.split("; "):
            session.sql(statement)
        with pytest.raises(TABLE_ERROR, match=words):
            plan.release()
    session.sql("DROP VIEW changing")
    with pytest.raises(nw.errors.EngineError, match=r"the engine failed \(AnalysisException\)"):
        plan.release()
    assert ledger_of(data).spent == 0


def test_a_file_that_comes_between_two_queries_ends_the_release_and_another_finishes_it(
    spark: Sparks, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pq.write_table(VISITS, tmp_path / "1.parquet")
    data = nw.Dataset(f"spark:{tmp_path}/*.parquet", "id", budget=nw.PureDP(3), ledger=tmp_path / "x.ledger")
    plan = data.plan(nw.count(), nw.ask.persons(name="p"), privacy=nw.PureDP(1))
    from noisewright.release.engines.spark.engine import Spark

    fetch, seen = Spark.fetch, []

    def watched(own: Spark, expression: Any) -> Any:
        found = fetch(own, expression)
        seen.append(found.num_rows)
        if ledger_of(data).spent and len(list(tmp_path.glob("*.parquet"))) == 1:
            pq.write_table(VISITS, tmp_path / "2.parquet")
        return found

    monkeypatch.setattr(Spark, "fetch", watched)
    with pytest.raises(nw.errors.ReleaseFailedError, match=r"the table changed meanwhile.*Nothing was drawn"):
        plan.release()
    assert ledger_of(data).spent == 1
    assert len(plan.release()) == 2
    assert ledger_of(data).spent == 1
    assert max(seen) <= 1, "nothing but aggregates is fetched"


def test_rows_are_moved_once_by_unit_and_the_table_is_read_once(session: Any):
    data = nw.Dataset("spark:visits", "id", rows_per_group=2, groups_per_person=2)
    asked = nw.ask.sum("x", bounds=(0, 9), step=1, by=nw.keys("k", KEYS))
    engine: Any = data._source.engine
    part = layout_of([asked], data.limits).tables[0]
    rows = rows_of(data._table, "id", part.grouping, part.aggregates, engine)
    with engine.snapshot():
        query = totals(rows_in_engine(rows, "salt", 2, 2, engine), dict(enumerate(part.aggregates)), engine)
        plan = engine._query(query).plan().toString()
    moved = [line for line in plan.splitlines() if "Exchange hashpartitioning" in line]
    assert sum("hashpartitioning(u#" in line for line in moved) == 1
    assert len(moved) == 2, "the other one is of the sums, by group"
    assert plan.count("FileScan parquet") == 1
    assert "rand(" not in plan.lower()
    assert "monotonically" not in plan.lower()


@pytest.mark.parametrize("limits", [{"one_row_per_person": True}, {"rows_per_group": 2, "groups_per_person": 2}])
def test_a_rehearsal_runs_nothing_and_the_release_runs_what_was_rehearsed(session: Any, limits: dict[str, Any]):
    data = nw.Dataset("spark:visits", "id", **limits)
    layout = layout_of([nw.ask.sum("x", bounds=(0, 9), step=1, by=nw.keys("k", KEYS)), nw.count()], data.limits)
    engine: Any = data._source.engine
    jobs = session.sparkContext._jsc.sc().dagScheduler().numTotalJobs
    data.rehearse(layout, 7)
    before = jobs()
    data.rehearse(layout, 7)
    assert jobs() == before
    whole = "one_row_per_person" in limits
    assert len(engine._home.rehearsed) == (5 if whole else 2), "with and without units, and whether one is missing"
    found = data._checked.true_aggregates(layout, 7)
    assert jobs() > before
    assert len(engine._home.rehearsed) == (2 if whole else 0), "each is run once"
    assert found == data._checked.true_aggregates(layout, 7)
    data.rehearse(layout, 7)
    assert len(engine._home.rehearsed) == 2, "by now it is known whether a unit is missing"
    data._checked.true_aggregates(layout, 8)
    assert len(engine._home.rehearsed) == (2 if "rows_per_group" in limits else 0), "another salt is another query"


def test_nothing_stands_before_the_table_or_the_functions_and_nothing_is_changed(spark: Sparks, session: Any):
    session = session.newSession()
    settings = {
        "spark.sql.session.timeZone": "America/St_Johns",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.parser.escapedStringLiterals": "true",
    }
    for name, value in settings.items():
        session.conf.set(name, value)
    for name in ("md5", "hex"):
        session.udf.register(name, lambda text: "one and the same")
    data = nw.Dataset(session.table("visits"), "id", rows_per_group=1, groups_per_person=1)
    wanted = numbers(nw.Dataset(VISITS.set_column(0, "id", VISITS["id"].cast("string")), "id", name="x"))
    session.sql("CREATE TEMPORARY VIEW visits AS SELECT * FROM spark_catalog.default.visits LIMIT 1")
    assert sum(numbers(data)) == sum(wanted) == 32
    assert all(session.conf.get(name) == value for name, value in settings.items())
    assert [table.name for table in session.catalog.listTables() if table.isTemporary] == ["visits"]
    from pyspark.sql import SparkSession

    active: Any = SparkSession.getActiveSession()
    assert active._jsparkSession.equals(spark.session._jsparkSession)


def test_columns_of_any_name_are_read(tmp_path: Path, session: Any):
    names = [name for name in CODE if name not in ("id", "SELECT")]
    table = pa.table({"id": [1, 2], **{name: ["A", name] for name in names}})
    pq.write_table(table, tmp_path / "x.parquet")
    data = nw.Dataset(f"spark:{tmp_path}", "id", groups_per_person=2)
    asked = [nw.ask.count(by=nw.keys(name, ["A", name]), name=f"by {place}") for place, name in enumerate(names[:5])]
    assert numbers(data, asked) == [1] * 10
    everything = nw.keys({name: ["A", name] for name in names[5:]})
    assert sum(numbers(data, [nw.ask.count(by=everything)])) == 2
    pq.write_table(pa.table({"id": [1], "K": ["A"], "k": ["a"]}), tmp_path / "x.parquet")
    session.conf.set("spark.sql.caseSensitive", "true")
    with pytest.raises(TABLE_ERROR, match="the same name up to upper and lower case"):
        nw.Dataset(f"spark:{tmp_path}", "id")


def test_tables_of_one_session_are_joined_and_others_are_not(session: Any, tmp_path: Path):
    first = nw.Dataset("spark:visits", "id", budget=nw.PureDP(3), ledger=tmp_path / "x.ledger", rows_per_group=99)
    second = nw.Dataset("spark:parts", "id", ledger=first.ledger, rows_per_group=99)
    assert numbers(first.join(second), [nw.count()]) == [1000]
    pq.write_table(pa.table({"k": ["A"], "w": [2]}), tmp_path / "public.parquet")
    wide = first.join_public(f"spark:{tmp_path}/public.parquet", "k", how="inner")
    assert numbers(wide, [nw.ask.sum("w", bounds=(0, 3), step=1)]) == [80]
    with pytest.raises(nw.errors.InvalidInputError, match="this is the private table itself"):
        first.join_public("spark:default.VISITS", "k")
    with pytest.raises(TABLE_ERROR, match="different places"):
        first.join_public(pa.table({"k": ["A"]}), "k")
    with pytest.raises(TABLE_ERROR, match="the engine does not take it"):
        first.through(lambda t: t.sql("SELECT * FROM nothing"))
    with pytest.raises(nw.errors.NotPersonLocalError, match="SQL text cannot be checked"):
        first.through(lambda t: t.sql("SELECT * FROM visits LIMIT 3"))


def test_a_spec_file_names_a_table_of_spark(session: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    spec = tmp_path / "clinic.toml"
    spec.write_text(SPEC.format(source="spark:visits", ledger=tmp_path / "clinic.ledger"), encoding="utf-8")
    for words in (["plan", str(spec)], ["release", str(spec)], ["release", str(spec), "--json"]):
        assert main(words) in (0, None)
    assert "spark:visits" in "".join(capsys.readouterr())
    assert nw.Ledger.open(tmp_path / "clinic.ledger").spent == 1


def test_other_engines_do_without_spark(tmp_path: Path):
    code = (
        "import sys, noisewright as nw\n"
        "import pyarrow as pa\n"
        "nw.Dataset(pa.table({'id': [1]}), 'id', name='x').plan(nw.count(), privacy=nw.PureDP(1))\n"
        "assert not {'pyspark', 'py4j'} & set(sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_sessions_without_plans_are_refused():
    require_package("pyspark")
    from noisewright.release.engines.spark.sessions import home_of

    class DataFrame:
        __module__ = "pyspark.sql.connect.dataframe"
        sparkSession = None  # noqa: N815

    with pytest.raises(TABLE_ERROR, match="Spark Connect"):
        nw.Dataset(DataFrame(), "id")
    with pytest.raises(TABLE_ERROR, match="Spark Connect"):
        home_of(DataFrame())


@pytest.mark.timeout(600)
def test_two_workers_give_the_numbers_by_hand(tmp_path: Path):
    require_package("pyspark")
    asked = (7, 10)  # persons and their sums by key: limited, joined with the keys, moved by unit, added
    rows = hostile(600, 20, 11, text_units=True)
    for place in range(4):  # several files, so that both workers read some
        pq.write_table(arrow(rows[place::4], text_units=True), tmp_path / f"{place}.parquet")
    wanted = by_hand(
        rows, layout_of([STAGE[place] for place in asked], ContributionBounds(2, 2, False)), in_process=False
    )
    words = [sys.executable, "-m", "tests.release.spark_cluster", str(tmp_path), *map(str, asked)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=590)
    assert done.returncode == 0, done.stderr[-2000:]
    found, workers = done.stdout.splitlines()
    assert json.loads(found) == wanted
    assert workers == "2"
