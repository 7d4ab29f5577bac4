"""Seconds of releases over a large table of PostgreSQL, beside the plain aggregate on the same server.

    python benchmarks/postgres_times.py postgresql://user@host/database

Count and sum of each of 1,000 groups of a table that is made there and dropped again. With one row per person declared,
beside the same GROUP BY; with every person limited to 3 rows in a group and 3 groups, beside GROUP BY person and group.
Ours is all of `plan.release(fresh=True)`: rehearsal, charge, aggregate, draw, store, frame. Figures are medians of runs
that take turns, after one that does not count. Without an address a server is made in a temporary folder, with the
settings that PostgreSQL comes with but for the memory of one query (`work_mem`), which both sides share.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from tables import as_markdown

import noisewright as nw

GROUPS = 1000
NAME = "noisewright_visits"
TASKS: dict[str, dict[str, Any]] = {
    "one row per person": {"unit": "visit", "by": "ward", "goal": 1.5, "limits": {"one_row_per_person": True}},
    "limited": {"unit": "id", "by": "id, ward", "goal": 8.0, "limits": {"rows_per_group": 3, "groups_per_person": 3}},
}


def made(connection: Any, rows: int) -> None:
    """Visits of a fifth as many persons."""
    connection.execute(f"DROP TABLE IF EXISTS {NAME}")
    connection.execute(
        f"CREATE TABLE {NAME} AS SELECT i::bigint AS visit, abs(hashint8(i) % {rows // 5})::bigint AS id,"
        f" abs(hashint8(i * 7 + 1) % {GROUPS})::bigint AS ward,"
        " (abs(hashint8(i * 11 + 3) % 1000000) / 100.0)::double precision AS cost"
        f" FROM generate_series(1::bigint, {rows}) i"
    )
    connection.execute(f"VACUUM ANALYZE {NAME}")


def ours(address: str, task: dict[str, Any], folder: str) -> Callable[[], Any]:
    """A release of the plan of a task, charged and drawn anew at each call."""
    groups = nw.keys("ward", range(GROUPS))
    ledger = Path(tempfile.mkdtemp(dir=folder)) / "budget.ledger"
    data = nw.Dataset(f"{address}/{NAME}", task["unit"], budget=nw.PureDP(30), ledger=ledger, **task["limits"])
    cost = nw.ask.sum("cost", bounds=(0, 10_000), step="0.01", by=groups)
    plan = data.plan(nw.count(by=groups), cost, privacy=nw.PureDP(1))
    return lambda: plan.release(fresh=True)


def plain(connection: Any, task: dict[str, Any]) -> Callable[[], Any]:
    """The plain aggregate of a task; pairs of person and group are not fetched, only added up."""
    query = f"SELECT {task['by']}, count(*) AS n, sum(cost) AS s FROM {NAME} GROUP BY {task['by']}"
    query = f"SELECT sum(n), sum(s) FROM ({query}) AS pairs" if "," in task["by"] else query
    return lambda: connection.execute(query).fetchall()


def seconds(work: Callable[[], Any]) -> float:
    """Seconds on the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(address: str, rows: int, runs: int) -> None:
    """A line for each task, then the goals."""
    lines, goals = [["release", "plain", "noisewright", "ratio"]], []
    with psycopg.connect(address, autocommit=True) as connection, tempfile.TemporaryDirectory() as folder:
        made(connection, rows)
        try:
            for name, task in TASKS.items():
                release, aggregate = ours(address, task, folder), plain(connection, task)
                pairs = [(seconds(aggregate), seconds(release)) for _ in range(runs + 1)][1:]
                base, own = (median(column) for column in zip(*pairs, strict=True))
                lines.append([name, f"{base:.2f} s", f"{own:.2f} s", f"{own / base:.2f}"])
                reached = "yes" if own <= task["goal"] * base else "no"
                goals.append(f"goal {name}: at most {task['goal']} times: {own / base:.2f} … reached {reached}")
                print(" | ".join(lines[-1]), file=sys.stderr, flush=True)
        finally:
            connection.execute(f"DROP TABLE {NAME}")
    print(f"{rows:,} rows, {GROUPS:,} groups, count and sum; medians of {runs} runs\n")
    print(as_markdown(lines), "", *goals, sep="\n")


def main() -> None:
    """Measure on the server of an address, or on one that is made for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?", help="postgresql://user@host/database; a server of its own unless given")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    if given.address:
        measured(given.address, given.rows, given.runs)
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.postgres_server import Server, programs

    folder = programs()
    if folder is None:
        sys.exit("PostgreSQL is not installed: apt-get install postgresql, or give an address")
    server = Server(folder)
    try:
        server.execute("ALTER SYSTEM SET work_mem = '256MB'")
        server.execute("SELECT pg_reload_conf()")
        measured(server.url, given.rows, given.runs)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
