"""Seconds for the true numbers of a plan over a Parquet file, beside the plain aggregate in the same engine.

    python benchmarks/release_times.py --rows 10000000 --persons 2000000 --groups 1000

Count and sum of each group: once with one row per person declared, once with every person limited to 3 rows in a
group and 3 groups. Plain: the same GROUP BY in DuckDB, and GROUP BY person and group. Peak memory is that of this
process after the limited run.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import noisewright as nw
from noisewright.release.layout import layout_of


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """The least of a few runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def made(folder: Path, rows: int, persons: int, groups: int) -> Path:
    """A table of visits."""
    path = folder / "visits.parquet"
    duckdb.execute(
        f"""COPY (SELECT (hash(i) % {persons})::BIGINT AS id, (hash(i * 7 + 1) % {groups})::BIGINT AS ward,
        (hash(i * 11 + 3) % 1000000) / 100.0::DOUBLE AS cost FROM range({rows}) r(i))
        TO '{path}' (FORMAT parquet)"""
    )
    return path


def main() -> None:
    """Print one line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--persons", type=int, default=2_000_000)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder), given.rows, given.persons, given.groups)
        wards = nw.keys("ward", range(given.groups))
        questions = [nw.count(by=wards), nw.ask.sum("cost", bounds=(0, 10_000), step="0.01", by=wards)]
        plain = f"SELECT ward, count(*), sum(cost) FROM '{path}' GROUP BY ward"
        print(
            f"plain GROUP BY group            {seconds(lambda: duckdb.execute(plain).fetchall(), given.times):8.2f} s"
        )
        pairs = f"SELECT count(*) FROM (SELECT id, ward, count(*), sum(cost) FROM '{path}' GROUP BY id, ward)"
        print(
            f"plain GROUP BY person, group    {seconds(lambda: duckdb.execute(pairs).fetchall(), given.times):8.2f} s"
        )
        one = nw.Dataset(path, "id", one_row_per_person=True)
        layout = layout_of(questions, one.limits)
        print(f"one row per person (declared)   {seconds(lambda: one._aggregate(layout, 1), given.times):8.2f} s")
        many = nw.Dataset(path, "id", rows_per_group=3, groups_per_person=3)
        layout = layout_of(questions, many.limits)
        print(f"limited to 3 rows and 3 groups  {seconds(lambda: many._aggregate(layout, 1), given.times):8.2f} s")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"peak memory                     {peak:8.2f} GiB")


if __name__ == "__main__":
    main()
