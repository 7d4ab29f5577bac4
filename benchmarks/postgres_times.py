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
from pathlib import Path
from typing import Any

from beside_plain import GROUPS, TASKS, by_turns, goal, line, ours, plain
from needed import needed
from tables import as_markdown

psycopg: Any = needed("psycopg")

NAME = "noisewright_visits"


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


def measured(address: str, rows: int, runs: int) -> None:
    """A line for each task, then the goals."""
    lines, goals = [["release", "plain", "noisewright", "ratio"]], []
    with psycopg.connect(address, autocommit=True) as connection, tempfile.TemporaryDirectory() as folder:
        made(connection, rows)
        try:
            for name, task in TASKS.items():
                query, release = plain(NAME, task), ours(f"{address}/{NAME}", task, folder)
                found = by_turns(lambda query=query: connection.execute(query).fetchall(), release, runs)
                lines.append(line(name, *found))
                goals.append(goal(name, *found))
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
