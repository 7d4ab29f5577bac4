"""Our strategy for one workload:  python workload_ours.py noisewright '{…}'; started by workloads.py."""

from __future__ import annotations

import json
import resource
import sys
import time
from itertools import combinations
from typing import Any

import noisewright as nw


def workload(task: dict[str, Any]) -> nw.Workload:
    """The questions of a task."""
    if "form" in task:
        found: nw.Workload = getattr(nw.Workload, task["form"])(task["n"])
        return found
    count = len(task["sizes"])
    return nw.Workload.marginals(task["sizes"], [c for ways in task["ways"] for c in combinations(range(count), ways)])


def designed(task: dict[str, Any]) -> tuple[nw.Report, float, float]:
    """The report, its error per question and the seconds it took."""
    privacy = nw.PureDP(1) if task.get("noise") == "Laplace" else nw.ZeroConcentratedDP("1/2")
    begin = time.process_time()
    query = workload(task)
    report = nw.design(query, privacy=privacy, utility=nw.SquaredError())
    seconds = time.process_time() - begin
    return report, (report.candidates[0].value / query.dimension) ** 0.5, seconds


def released(task: dict[str, Any]) -> str:
    """What it takes to release all marginals of the Adult table, and how far off they are."""
    from adult_table import read_adult

    table = read_adult()
    if table is None:
        return "The Adult table is not at hand, so nothing was released."
    start = time.perf_counter()
    report, error, _ = designed(task)
    designing = time.perf_counter() - start
    begin = time.perf_counter()
    answers = report.best.release(table).answers
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"Adult, {len(report.query.parts)} marginals, {len(answers)} cells: designed in {designing:.2f} s, released and"
        f" rebuilt in {seconds:.1f} s, {peak:.2f} GiB at the peak; stated error {error:.6f} per cell."
    )


if __name__ == "__main__":
    given = json.loads(sys.argv[2])
    if given.get("release"):
        print(json.dumps({"text": released(given)}))
    else:
        _, found_error, found_seconds = designed(given)
        print(json.dumps({"error": found_error, "seconds": found_seconds}))
