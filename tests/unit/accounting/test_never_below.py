"""Random compositions with exact references: no delta below the truth, no lower end above it."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from noisewright.accounting.composition import compose
from noisewright.accounting.curves import Curve, optimistic_pmf, pessimistic_pmf, slack
from noisewright.accounting.grids import LossGrid
from tests.compositions import high, low, random_case

MANY = 100_000
CHUNK = 300


def random_grid(leaves, source: random.Random) -> LossGrid:
    """Coarser than the package's own, often off the releases' lattices, and with short tails: bugs show there."""
    fineness = Fraction(1, source.choice([1, 2, 4, 8]))
    unit = Fraction(min(profile.spread for profile, _ in leaves)).limit_denominator(1000) * fineness
    anchors = [anchor for profile, _ in leaves if (anchor := profile.lattice or profile.largest)]
    if anchors and source.random() < 0.4:
        unit = source.choice(anchors) / source.randint(1, 4)
    tail_bits = source.randint(12, 60)
    return LossGrid(unit, fineness, tail_bits, tail_bits + source.randint(8, 40))


def check(seed: int) -> None:
    source = random.Random(seed)
    case = random_case(source)
    plan = compose(case.words)
    leaves = plan.leaves()
    grid = random_grid(leaves, source)
    spread = sum(times * profile.spread**2 for profile, times in leaves) ** 0.5
    above = Curve(pessimistic_pmf(leaves, grid), grid, up=True)
    pairs = plan.pairs() if seed % 3 == 0 else None
    under = None if pairs is None else optimistic_pmf(pairs, grid)
    below = None if under is None else Curve(under, grid, up=False)
    for _ in range(3):
        epsilon = Fraction(round(source.uniform(0, 4) * spread * 10**4), 10**4)
        truth = case.exact.delta(epsilon)
        said = f"seed {seed}: {case.words}, epsilon {epsilon}, {grid}"
        assert above.delta(epsilon) >= min(Fraction(1), low(truth)), said
        if pairs is not None and below is not None:
            assert below.delta(epsilon + slack(sum(times for _, _, times in pairs))) <= high(truth), said


@pytest.mark.parametrize("chunk", range(5))
def test_no_random_composition_is_below_the_truth(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed)


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(MANY // 2000))
@pytest.mark.timeout(1800)
def test_none_of_a_hundred_thousand_is(chunk):
    for seed in range(10**6 + chunk * 2000, 10**6 + (chunk + 1) * 2000):
        check(seed)
