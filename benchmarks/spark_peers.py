"""Tumult on the same files as `spark_times.py`, run by it in an environment of its own; prints one line of JSON.

Counts and clamped sums of listed groups at epsilon 1, two queries of one session with half of it each. Limited: at most
3 rows in a group and 3 groups of each person, by the constraints `MaxGroupsPerID` and `MaxRowsPerGroupPerID`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

from beside_plain import GROUPS
from needed import needed
from spark_times import session


def query(frame: Any, task: str) -> Callable[[], Any]:
    """A function that releases once."""
    analytics = needed("tmlt.analytics")

    keys = analytics.KeySet.from_dict({"ward": list(range(GROUPS))})
    limited = task == "limited"
    change = analytics.AddRowsWithID("id") if limited else analytics.AddOneRow()
    half = analytics.PureDPBudget(0.5)

    def release() -> Any:
        opened = analytics.Session.from_dataframe(analytics.PureDPBudget(1), "visits", frame, protected_change=change)
        asked = analytics.QueryBuilder("visits")
        if limited:
            asked = asked.enforce(analytics.MaxGroupsPerID("ward", 3))
            asked = asked.enforce(analytics.MaxRowsPerGroupPerID("ward", 3))
        groups = asked.groupby(keys)
        return [opened.evaluate(one, half).toPandas() for one in (groups.count(), groups.sum("cost", 0, 10_000))]

    return release


def main() -> None:
    """Release a few times; the first does not count unless it is the only one."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job")
    job = json.loads(parser.parse_args().job)
    spark, found = session(job["master"], job["folder"]), {}
    for task in job["tasks"]:
        release, runs = query(spark.read.parquet(job["path"]), task), []
        # Limiting takes Tumult minutes, so that it is done once.
        for _ in range(1 if task == "limited" else job["runs"][task] + 1):
            start = time.perf_counter()
            release()
            runs.append(time.perf_counter() - start)
        found[task] = median(runs[1:] or runs)
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
