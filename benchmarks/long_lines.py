"""Ranges and prefix sums of long lines: error, distance to the proven bound, and times of one process.

python benchmarks/long_lines.py
"""

from __future__ import annotations

import time

import noisewright as nw

SIZES = (2**16, 2**20)


def main() -> None:
    """A line for each workload."""
    print("| questions | cells | root mean square error | proven distance | design, s | measured and rebuilt, s |")
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        for name, query in (("ranges", nw.Workload.ranges(size)), ("prefix sums", nw.Workload.prefixes(size))):
            begin = time.perf_counter()
            report = nw.design(query, privacy=nw.ZeroConcentratedDP("0.5"), utility=nw.SquaredError())
            designed = time.perf_counter() - begin
            error = (report.candidates[0].value / query.dimension) ** 0.5
            note = next(note for note in report.notes if "Relative distance" in note)
            distance = note.split(":")[1].split(";")[0].strip(" .")
            begin = time.perf_counter()
            _ = report.best.release([i % 7 for i in range(size)]).estimate
            released = time.perf_counter() - begin
            print(f"| {name} | {size} | {error:.6f} | {distance} | {designed:.1f} | {released:.1f} |", flush=True)


if __name__ == "__main__":
    main()
