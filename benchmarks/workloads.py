"""Errors, proven distances and times of strategies for workloads:  python benchmarks/workloads.py

Errors are per question, at a cost that a deviation of 1 and a sensitivity of 1 have. Other libraries are not run here.
"""

from __future__ import annotations

import os
import time
from itertools import combinations

os.environ["NOISEWRIGHT_CACHE"] = "off"

import noisewright as nw  # after the cache is switched off

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (50, 100, 7, 4, 2)


def marginals(sizes: tuple[int, ...], ways: int) -> nw.Workload:
    """All marginals of so many attributes."""
    return nw.Workload.marginals(sizes, list(combinations(range(len(sizes)), ways)))


def main() -> None:
    """A line for each workload."""
    workloads = {
        "ranges 64": nw.Workload.ranges(64),
        "ranges 256": nw.Workload.ranges(256),
        "prefixes 256": nw.Workload.prefixes(256),
        "CPS, 2-way": marginals(CPS, 2),
        "Adult, 3-way": marginals(ADULT, 3),
        "ranges 2^16": nw.Workload.ranges(2**16),
        "prefixes 2^16": nw.Workload.prefixes(2**16),
        "ranges 2^20": nw.Workload.ranges(2**20),
        "prefixes 2^20": nw.Workload.prefixes(2**20),
    }
    print("| workload | root mean square error | proven distance | seconds | measured and rebuilt |")
    print("|---|---|---|---|---|")
    for name, query in workloads.items():
        begin = time.perf_counter()
        report = nw.design(query, privacy=nw.ZeroConcentratedDP("0.5"), utility=nw.SquaredError())
        seconds = time.perf_counter() - begin
        error = (report.candidates[0].value / query.dimension) ** 0.5
        distance = (
            next(note for note in report.notes if "Relative distance" in note).split(":")[1].split(";")[0].strip(" .")
        )
        print(f"| {name} | {error:.6f} | {distance} | {seconds:.2f} | {_released(report, query)} |", flush=True)


def _released(report: nw.Report, query: nw.Workload) -> str:
    """The seconds from a table of counts to the noisy table that fits what was measured; only along a line."""
    if query.attributes is not None:
        return "–"
    begin = time.perf_counter()
    _ = report.best.release([i % 7 for i in range(query.size)]).estimate
    return f"{time.perf_counter() - begin:.2f}"


if __name__ == "__main__":
    main()
