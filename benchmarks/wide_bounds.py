"""Unbiased answers in bounds where the sensitivity is much smaller than the range: variance, its ratio, and time.

Run as `python benchmarks/wide_bounds.py`, or with the ranges to look at; nothing is read from or written to the user's
cache. Epsilon and sensitivity are 1; the best noise without bounds has variance 1.918. Up to a range of 40 a linear
programme is solved too, and the clamped staircase stands beside it.
"""

from __future__ import annotations

import os
import sys
import time
from fractions import Fraction

os.environ["NOISEWRIGHT_CACHE"] = ""

import noisewright as nw

RANGES = (10, 20, 40, 100, 300, 1000, 10_000, 10**6)
ROOMS = ("1/2", "1")


def main() -> None:
    """One row for each range and room."""
    free = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError()).bound
    print("| range | room beyond, in ranges | best | worst-case variance | over 1.918 | clamped over programme | s |")
    print("|---|---|---|---|---|---|---|")
    for width in [int(word) for word in sys.argv[1:]] or RANGES:
        for room in ROOMS:
            beyond = width * Fraction(room)
            query = nw.Scalar(1, inputs=(0, width), outputs=(-beyond, width + beyond), unbiased=True)
            start = time.perf_counter()
            report = nw.design(query, privacy=nw.PureDP(1), utility=nw.WorstVariance())
            taken = time.perf_counter() - start
            found = {c.name: c.value + c.error for c in report.candidates}
            best = report.candidates[0].name
            programme = found.get("linear programme")
            beside = f"{found['clamped staircase'] / programme:.4f}" if programme else ""
            value = f"{found[best]:.5f} | {found[best] / free:.4f}"
            print(f"| {width:,} | {room} | {best} | {value} | {beside} | {taken:.1f} |", flush=True)


if __name__ == "__main__":
    main()
