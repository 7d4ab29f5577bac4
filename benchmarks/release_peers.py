"""OpenDP on the same table as `release_times.py`, run by it in an environment of its own; prints one line of JSON.

Counts and clamped sums of listed groups at epsilon 1. Limited: at most 3 rows in a group and 3 groups of each person.
Groups are those that come first: keeping a random sample of groups fails in OpenDP 0.16 with an error about two
columns of one name. Its float sums need a public cap on the rows, which is the number of rows here.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from typing import Any

from needed import needed

GROUPS = 1000


def query(task: dict[str, Any]) -> Any:
    """A function that releases once."""
    opendp, polars = needed("opendp.prelude"), needed("polars")

    opendp.enable_features("contrib")
    key, rows, runs = task["key"], task["rows"], task["runs"]
    values = [f"ward {i}" for i in range(GROUPS)] if key == "name" else list(range(GROUPS))
    keys = polars.DataFrame({key: values}).lazy()
    person = {"identifier": polars.col(task["unit"])} if "limited" in task else {}
    context = opendp.Context.compositor(
        data=polars.scan_parquet(task["path"]),
        privacy_unit=opendp.unit_of(contributions=1, **person),
        privacy_loss=opendp.loss_of(epsilon=float(runs + 1)),
        split_evenly_over=runs + 1,
        margins=[
            opendp.polars.Margin(by=[], max_length=rows),
            opendp.polars.Margin(by=[key], max_groups=GROUPS, max_length=rows),
        ],
    )

    def release() -> Any:
        asked = context.query()
        if "limited" in task:
            asked = asked.truncate_per_group(3, by=[key]).truncate_num_groups(3, by=[key], keep="first")
        cost = polars.col("cost").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, 10_000.0))
        return asked.group_by(key).agg(opendp.len(), cost).with_keys(keys).release().collect()

    return release


def spent() -> float:
    """Seconds of processors that this process has used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Release a few times; the first does not count unless it is the only one."""
    warnings.simplefilter("ignore")
    task = json.loads(sys.argv[1])
    # Limiting takes OpenDP minutes, so that it is done once.
    task["runs"] = 0 if "limited" in task else task["runs"]
    release = query(task)
    runs = []
    for _ in range(task["runs"] + 1):
        start, before = time.perf_counter(), spent()
        release()
        runs.append((time.perf_counter() - start, spent() - before))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"runs": runs[1:] or runs, "peak": peak}))


if __name__ == "__main__":
    main()
