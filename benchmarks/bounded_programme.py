"""How long the linear programme for bounded answers takes, certificate included, and how close it comes.

Run as `python benchmarks/bounded_programme.py`; nothing is read from or written to the user's cache.
"""

from __future__ import annotations

import os
import time

os.environ["NOISEWRIGHT_CACHE"] = ""

import noisewright as nw

CASES = [
    ("sensitivity = range, default grid", "1", "1", "1.54149", None, 20),
    ("sensitivity = range / 10, default grid", "1/10", "1/5", "1/2", None, 20),
    ("sensitivity = range, 60 x 600", "1", "1", "1.54149", (60, 600), 60),
    ("sensitivity = range / 10, 60 x 600", "1/10", "1/5", "1/2", (60, 600), 180),
]


def main() -> None:
    """Time each case twice: the second time it is remembered."""
    from fractions import Fraction

    for name, sensitivity, epsilon, margin, size, limit in CASES:
        room = Fraction(margin)
        query = nw.Scalar(sensitivity, inputs=(0, 1), outputs=(-room, 1 + room), unbiased=True)
        times = []
        for _ in range(2):
            start = time.perf_counter()
            if size is None:
                report = nw.design(query, privacy=nw.PureDP(epsilon), utility=nw.WorstVariance())
            else:
                report = nw.mechanisms.design_bounded(
                    query, privacy=nw.PureDP(epsilon), utility=nw.WorstVariance(), inputs=size[0], outputs=size[1]
                )
            times.append(time.perf_counter() - start)
        best = report.candidates[0]
        print(
            f"{name}: {times[0]:.1f} s (limit {limit} s), again {times[1]:.2f} s;"
            f" {best.name} {best.value:.6f}, certified bound {report.bound:.6f}"
        )


if __name__ == "__main__":
    main()
