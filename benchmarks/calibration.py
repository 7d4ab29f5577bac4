"""How long ten thousand scales of one law take: one vectorised search, then each is checked in balls.

Run: python benchmarks/calibration.py
"""

from __future__ import annotations

import random
import time
from fractions import Fraction

import noisewright as nw

COUNT = 10_000
LIMIT_SECONDS = 2.0


def main() -> None:
    """Print one line per family."""
    source = random.Random(1)  # noqa: S311 -- settings to time, nothing private
    wanted = [
        source.choice([nw.ApproxDP, nw.ProbabilisticDP])(
            Fraction(10 ** source.uniform(-2, 1)).limit_denominator(10**6),
            Fraction(10 ** source.uniform(-9, -1)).limit_denominator(10**12),
        )
        for _ in range(COUNT)
    ]
    nw.laws.calibrated(nw.laws.generalized_gaussians(3), 1, wanted[0])  # loads what is loaded once
    for family in (
        nw.laws.GAUSSIAN,
        nw.laws.generalized_gaussians("1.5"),
        nw.laws.generalized_gaussians(3),
        nw.laws.LOGISTIC,
    ):
        start = time.perf_counter()
        scales = nw.laws.calibrated_many(family, 1, wanted)
        seconds = time.perf_counter() - start
        verdict = "within" if seconds <= LIMIT_SECONDS else "above"
        print(f"{family.name}: {len(scales):,} checked scales in {seconds:.2f} s ({verdict} {LIMIT_SECONDS:g} s)")


if __name__ == "__main__":
    main()
