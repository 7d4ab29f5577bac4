"""Cell, periods and point, drawn apart, have together the law that they should; nothing is left to chance here."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.numerics.balls import ceil_scaled, floor_scaled, precision
from noisewright.numerics.fields import BALLS
from noisewright.sample.inversion import CdfTable, segments_of
from noisewright.sample.sampler import Digit, FoldedCells, NoiseSampler, Turns
from tests.replay import Replay
from tests.statistical.exact import BITS, geometric_cdf
from tests.statistical.noises import SLOW_NAMES, noises

TOP = 2**64 - 1
BASE = 4096
RATES = [Fraction(1, 300), Fraction(1, 10_000), Fraction(1, 10**12), Fraction(1, 10**25)]


def ratio_power(rate: Fraction, power: int) -> arb:
    """e^(-rate power), as a ball."""
    exponent = -rate * power
    return arb(fmpq(exponent.numerator, exponent.denominator)).exp()


def places(rate: Fraction) -> list[int]:
    """What a one in each digit stands for."""
    return [place for place, _ in Turns(rate, bits=64)._digits]


@pytest.mark.parametrize("rate", RATES)
def test_tables_of_digits_enclose_their_closed_form(rate: Fraction):
    """P(digit <= d) = (1 - x^(d+1)) / (1 - x^base), with x = e^(-rate), and no division for the last digit."""
    *lower, (last_place, last_table) = Turns(rate, bits=64)._digits
    assert Fraction(1, 256) <= rate * last_place
    with precision(BITS):
        for d in [0, 1, 2, 77, BASE // 2, BASE - 2, BASE - 1]:
            for place, table in lower:
                value = (1 - ratio_power(rate * place, d + 1)) / (1 - ratio_power(rate * place, BASE))
                assert encloses(table, d, 1 if d == BASE - 1 else value)
            assert encloses(last_table, d, 1 - ratio_power(rate * last_place, d + 1))


def encloses(table: CdfTable, d: int, value: arb | int) -> bool:
    """Whether the bounds of entry d are around 2^64 times a value; bounds of one are cut to what a word can hold."""
    exact = arb(value)
    low, high = int(table._lower[d + 1]), int(table._upper[d + 1])
    return low <= min(floor_scaled(exact, 64), TOP) and min(ceil_scaled(exact, 64), TOP) <= high <= low + 2


@pytest.mark.parametrize("rate", RATES)
def test_digits_multiply_to_the_geometric_law(rate: Fraction):
    """P(n) = x^n (1 - x) is the product of the probabilities of its digits."""
    generator = np.random.Generator(np.random.PCG64(3))
    *lower, last = places(rate)
    laws = [Digit(rate * place, BASE) for place in lower] + [Digit(rate * last, None)]
    with precision(500):
        for _ in range(20):
            rest = n = int(generator.random() * 20 / rate)
            together = arb(1)
            for law in laws:
                rest, d = divmod(rest, BASE) if law is not laws[-1] else (0, rest)
                together *= law.cdf(d, BALLS) - law.cdf(d - 1, BALLS)
            assert (together - ratio_power(rate, n) * (1 - ratio_power(rate, 1))).contains(0)
            assert together.rel_accuracy_bits() > 100


@pytest.mark.parametrize("name", [*SLOW_NAMES, "staircase", "uneven tails", "tailored", "skewed staircase"])
def test_cell_and_periods_multiply_to_the_law_of_the_cells(name: str):
    segments = segments_of(noises()[name].law)
    assert segments is not None
    law = segments.law
    cells = FoldedCells(law)
    origin = next(s for s in range(-len(law.levels), 1) if segments.start(s) == segments.start_at(0))
    with precision(400):
        for p in range(cells.first + 1, cells.last + 1):
            folded = cells.cdf(p, BALLS) - cells.cdf(p - 1, BALLS)
            body = 0 <= p < len(law.levels)
            repeat = law.left_cells if p < 0 else law.right_cells
            for n in [0] if body else [0, 1, 2, 50]:
                position = origin + p + (n * repeat if p >= 0 else -n * repeat)
                mass = segments.cdf(position, BALLS) - segments.cdf(position - 1, BALLS)
                periods = 1 if body else ratio_power(law.rate, n) * (1 - ratio_power(law.rate, 1))
                assert (folded * periods - mass).contains(0)
        assert (cells.cdf(cells.last, BALLS) - 1).is_zero()
        assert cells.cdf(cells.first, BALLS).is_zero()


@pytest.mark.parametrize("times", [1, 2, 5, 20])
def test_periods_are_drawn_to_any_distance(times: int):
    """All words of the last digit are ones: far beyond 64-bit integers, exactly as far as they say."""
    rate = Fraction(1, 10**18)
    *lower, last = places(rate)
    drawn = Turns(rate, bits=64).draw(1, Replay([*[2**63] * len(lower), *[TOP] * times, 0]))
    n = int(drawn[0])
    assert drawn.dtype == object
    assert n > 2**63
    with precision(BITS):
        # U lies in [1 - 2^(-64 times), that plus 2^(-64 (times + 1))), and the last digit is the first d with U < F(d).
        beyond = arb(2) ** (-64 * times)
        assert bool(ratio_power(rate * last, n // last + 1) < beyond)
        assert bool(ratio_power(rate * last, n // last) >= beyond * (1 - arb(2) ** -64))


def test_values_beyond_64_bits_come_as_whole_numbers():
    """Scale 10^18: about one value in ten thousand needs more than 63 bits."""
    law = Rounded(DiscreteLaplace(Fraction(10**18)).stepped(), Lattice.integers())
    draws = NoiseSampler(law).many(200_000, Replay(seed=8))
    assert draws.dtype == object
    huge = sum(abs(int(k)) >= 2**63 for k in draws)
    with precision():
        share = float(2 * geometric_cdf(Fraction(10**18))(-(2**63)).mid())
    assert abs(huge - 200_000 * share) < 6 * (200_000 * share) ** 0.5
