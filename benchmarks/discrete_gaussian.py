"""Exact draws of the discrete Gaussian: ours and OpenDP's, same parameter, same run.

Run: python benchmarks/discrete_gaussian.py (needs the package opendp)
"""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
from needed import needed

import noisewright as nw

STD = 10
OURS, THEIRS = 5_000_000, 100_000


def main() -> None:
    """Print draws per second of both, and their ratio."""
    mechanism = nw.mechanisms.Additive(
        nw.Scalar(1, integer=True), nw.laws.DiscreteGaussian(Fraction(STD)), nw.laws.Lattice.integers()
    )
    certified = nw.Certified(mechanism, nw.certify(mechanism, nw.ZeroConcentratedDP("0.005")))
    start = time.perf_counter()
    drawn = certified.draw(OURS)
    ours = OURS / (time.perf_counter() - start)
    print(f"noisewright: {ours:,.0f} draws a second, table included (standard deviation {np.std(drawn):.3f})")

    dp = needed("opendp.prelude")

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    noise = dp.m.make_gaussian(*space, scale=float(STD))
    zeros = [0] * THEIRS
    start = time.perf_counter()
    released = noise(zeros)
    theirs = THEIRS / (time.perf_counter() - start)
    print(f"OpenDP: {theirs:,.0f} draws a second (standard deviation {np.std(released):.3f})")
    print(f"ratio: {ours / theirs:,.0f}")


if __name__ == "__main__":
    main()
