"""One query over 20,000 points: time and memory until its scale is found and certified.

Run: python benchmarks/metric_scale.py [elements]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import noisewright as nw


def main() -> None:
    """Design, certify and release once, and say what it took."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    rng = np.random.default_rng(1)
    metric = nw.metrics.Euclidean(rng.uniform(0, 100, (size, 2)).tolist())
    query = nw.Linear([rng.uniform(0, 1, size).tolist()])
    started = time.perf_counter()
    report = nw.design(query, privacy=nw.MetricPrivacy(metric), utility=nw.SquaredError())
    took = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{size} elements, {size * (size - 1) // 2} pairs: {took:.1f} s, {peak:.2f} GiB at most (limits 60 s, 2 GiB)")
    print(report.best.certificate)
    print(report.best.release([1] * size))


if __name__ == "__main__":
    main()
