"""Errors, proven distances and times of strategies for workloads:  python benchmarks/workloads.py

The other libraries' figures were measured apart, each in an environment of its own; they are errors of the same
questions at the same cost (noise deviation 1, sensitivity 1), and theirs are shown where they win or draw level.
"""

from __future__ import annotations

import os
import time
from itertools import combinations

os.environ["NOISEWRIGHT_CACHE"] = "off"

import noisewright as nw  # after the cache is switched off

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (50, 100, 7, 4, 2)
OTHERS = {
    "ranges 256": "HDMM 2.9014 (0.4 s), jax-privacy 2.9014 (4 s)",
    "prefixes 256": "HDMM 2.5244 (1.5 s), jax-privacy 2.52496 (7 s)",
    "Adult, 3-way": "ResidualPlanner 10.5153",
    "CPS, 2-way": "ResidualPlanner 2.0346",
}


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
    }
    print("| workload | root mean square error | proven distance | seconds | others |\n|---|---|---|---|---|")
    for name, query in workloads.items():
        begin = time.perf_counter()
        report = nw.design(query, privacy=nw.ZeroConcentratedDP("0.5"), utility=nw.SquaredError())
        seconds = time.perf_counter() - begin
        error = (report.candidates[0].value / query.dimension) ** 0.5
        distance = (
            next(note for note in report.notes if "Relative distance" in note).split(":")[1].split(";")[0].strip(" .")
        )
        print(f"| {name} | {error:.6f} | {distance} | {seconds:.2f} | {OTHERS.get(name, '')} |")


if __name__ == "__main__":
    main()
