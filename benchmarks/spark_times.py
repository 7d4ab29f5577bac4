"""Seconds of releases over Parquet files in Spark, beside the plain aggregate and Tumult on the same Spark.

    python benchmarks/spark_times.py

Count and sum of each of 1,000 groups of a folder of eight Parquet files. With one row per person declared, beside the
same GROUP BY; with every person limited to 3 rows in a group and 3 groups, beside GROUP BY person and group. Ours is
all of `plan.release(fresh=True)`: rehearsal, charge, aggregate, draw, store, frame. Figures are medians of runs that
take turns, after one that does not count; every master is a process of its own, all with the same settings. A JVM goes
on compiling what it runs for ten queries and more, so that short work is run often. The second table is the same work
on one worker process and on two, each with one core.

    python benchmarks/spark_times.py --no-peer              # without Tumult, which is installed into a cache folder
    python benchmarks/spark_times.py --rows 1000000 --only "one row per person"

Tumult Analytics 0.21 takes Spark 4 from Python 3.12 on, and Spark 3.5 before. On Python 3.11 it is therefore installed
beside what it asks for on 3.12, which runs; so both are measured on PySpark 4.0.5. It answers count and sum by two
queries, each with half of the budget, because it has no query for both. Where it limits, it is run once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from beside_plain import GROUPS, TASKS, by_turns, goal, line, ours, plain
from needed import needed
from tables import as_markdown

FILES = 8
RUNS = {"one row per person": 41, "limited": 3}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "3g",
    "spark.executor.memory": "3g",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
}
LARGEST_WORKER = 3072
PEER = [
    *("pyspark[sql]==4.0.5", "pandas>=2.2,<3", "numpy>=1.26,<2", "pyarrow>=18,<19", "scipy>=1.11.2,<2", "sympy<1.13"),
    *("randomgen>=1.26,<=2.3.0", "typeguard>=4,<5", "tabulate<0.9", "tqdm<5", "typing-extensions<5", "setuptools"),
]
PEER_ITSELF = ["tmlt.core==0.19.1", "tmlt.analytics==0.21.0"]


def made(folder: Path, rows: int) -> str:
    """Visits of a fifth as many persons."""
    duckdb = needed("duckdb")

    with duckdb.connect() as connection:
        for i in range(FILES):
            first, last = rows * i // FILES, rows * (i + 1) // FILES
            connection.execute(
                f"COPY (SELECT i AS visit, (hash(i) % {rows // 5})::BIGINT AS id, (hash(i * 7 + 1) % {GROUPS})::BIGINT"
                " AS ward, (hash(i * 11 + 3) % 1000000)::DOUBLE / 100 AS cost"
                f" FROM range({first}, {last}) t(i)) TO '{folder / f'visits-{i}.parquet'}' (FORMAT parquet)"
            )
    return str(folder)


def session(master: str, folder: str) -> Any:
    """A session of this process."""
    SparkSession = needed("pyspark.sql").SparkSession  # noqa: N806

    builder = SparkSession.builder.master(master).appName("noisewright")
    for name, value in {**SETTINGS, "spark.sql.warehouse.dir": f"{folder}/warehouse"}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def measured(job: dict[str, Any]) -> dict[str, Any]:
    """What one process measures: by task, the medians of the plain aggregate and of ours."""
    spark, found = session(job["master"], job["folder"]), {}
    table = spark.read.parquet(job["path"])
    table.createOrReplaceTempView("visits")
    for name in job["tasks"]:
        query, release = plain("visits", TASKS[name]), ours(table, TASKS[name], job["folder"])
        found[name] = by_turns(lambda query=query: spark.sql(query).toArrow(), release, job["runs"][name])
    spark.stop()
    return found


def asked(python: str, script: str, job: dict[str, Any]) -> dict[str, Any]:
    """What another process measures, in an environment of its own."""
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": python}
    if job["master"].startswith("local-cluster"):
        from tests.spark_session import linked_home

        # Workers write beside Spark's own files.
        environment["SPARK_HOME"] = str(linked_home(Path(tempfile.mkdtemp(dir=job["folder"]))))
    command = [python, str(Path(__file__).with_name(script)), "--job", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=job["folder"], check=False)
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def peer() -> str:
    """The Python of an environment with Tumult, made once."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    place = home / "noisewright-benchmarks" / "tumult"
    python, ready, wanted = str(place / "bin" / "python"), place / "ready", " ".join(PEER + PEER_ITSELF)
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        print(f"installing Tumult into {place}", file=sys.stderr)
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", *PEER_ITSELF], check=True)
        ready.write_text(wanted, encoding="utf-8")
    return python


def compared(job: dict[str, Any], tumult: str | None) -> None:
    """A line for each task, then the goals."""
    found = asked(sys.executable, Path(__file__).name, job)
    beside = asked(tumult, "spark_peers.py", job) if tumult else {}
    lines, goals = [["release", "plain", "noisewright", "ratio", "Tumult"]], []
    for name, (base, own) in found.items():
        other = f"{beside[name]:.1f} s" if name in beside else "not run"
        lines.append([*line(name, base, own), other])
        goals.append(goal(name, base, own))
    print(as_markdown(lines), "", *goals, "", sep="\n", flush=True)


def scaled(job: dict[str, Any], workers: list[int]) -> None:
    """The same work on more and more workers of one core each."""
    masters = {count: f"local-cluster[{count},1,{LARGEST_WORKER}]" for count in workers}
    found = {n: asked(sys.executable, Path(__file__).name, {**job, "master": masters[n]}) for n in workers}
    lines = [["release", "workers", "plain", "noisewright", "ratio"]]
    for name in job["tasks"]:
        lines += [[name, str(n), *line(name, *found[n][name])[1:]] for n in workers]
    print(as_markdown(lines))


def main() -> None:
    """Measure on this machine, or, as a child, one job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, help="how many count; without it 41 of short work, and 3 of long work")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2], help="numbers of workers; none: leave it out")
    parser.add_argument("--only", choices=TASKS, help="one of the two releases")
    parser.add_argument("--no-peer", action="store_true", help="without Tumult")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(measured(json.loads(given.job))))
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "visits").mkdir()
        path = made(Path(folder) / "visits", given.rows)
        tasks = [given.only] if given.only else list(TASKS)
        runs = {name: given.runs or RUNS[name] for name in tasks}
        job = {"path": path, "folder": folder, "runs": runs, "tasks": tasks, "master": given.master}
        told = " and ".join(f"{runs[name]} runs ({name})" for name in tasks)
        print(f"{given.rows:,} rows, {GROUPS:,} groups, count and sum; medians of {told}\n", flush=True)
        compared(job, None if given.no_peer else peer())
        if given.workers:
            scaled(job, given.workers)


if __name__ == "__main__":
    main()
