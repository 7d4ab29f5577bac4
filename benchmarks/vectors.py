"""Speed for several numbers: exact draws of norm-shaped blocks, partitions and budget splits for 10,000.

Run with `python benchmarks/vectors.py`. Targets: a million coordinates a second; two seconds for 10,000
sensitivities, in memory linear in their number.
"""

from __future__ import annotations

import time
import tracemalloc
from fractions import Fraction

import numpy as np

import noisewright as nw
from noisewright.search.families.vector import power_curve
from noisewright.search.families.vector_parts import best_partition, curve_shares


def draws() -> None:
    """Coordinates a second of the certified block mechanism, table included and afterwards."""
    query = nw.Vector(nw.Box([1] * 20))
    best = nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    for title in ("with the table", "afterwards"):
        start = time.perf_counter()
        noise = best.draw(200_000)
        rate = noise.size / (time.perf_counter() - start)
        print(f"block draws, K = 20, {title}: {rate / 1e6:.1f} million coordinates a second")


def searches(count: int = 10_000) -> None:
    """Time and memory of the two searches over many sensitivities."""
    generator = np.random.default_rng(1)
    sensitivities, weights = np.exp(2 * generator.normal(size=count)), np.exp(generator.normal(size=count))

    def partition() -> object:
        return best_partition(sensitivities, weights, 2)

    def split() -> object:
        grid, values = power_curve(2, 1.0, count)
        return curve_shares(weights * sensitivities**2, grid, values, count)

    def sparse_split() -> object:
        grid, values = power_curve(2, 1.0, count)
        return curve_shares(weights * sensitivities**2, grid, values, count // 100)

    for title, work in (("partition", partition), ("budget split", split), ("split, 1 % move together", sparse_split)):
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"{title}, K = {count}: {seconds:.2f} s, {peak / count:.0f} bytes of memory for each number")


def design(count: int = 10_000) -> None:
    """A whole design, bound and certificates included."""
    generator = np.random.default_rng(2)
    each = [Fraction(f"{v:.6g}") for v in np.exp(generator.normal(size=count))]
    start = time.perf_counter()
    report = nw.design(nw.Vector(nw.Box(each)), privacy=nw.PureDP(1), utility=nw.SquaredError([1] * count))
    print(f"whole design, K = {count}: {time.perf_counter() - start:.1f} s, winner {report.candidates[0].name}")


if __name__ == "__main__":
    draws()
    searches()
    searches(20_000)
    design()
