"""The moves on losses: what they stand for only goes up, or only goes down."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from noisewright.accounting.curves import Curve
from noisewright.accounting.grids import DEPTHS, LossGrid, choose_grid, level_of
from noisewright.accounting.loss_pmf import PrivacyLossPMF, power, product, together
from noisewright.accounting.optimistic import OPTIMISTIC, SLACK, _filled, bins
from noisewright.accounting.pessimistic import GUARD, PESSIMISTIC, cells_to_the_end, connect_dots, connect_values
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.proof.profiles.base import GaussianProfile, PairProfile
from noisewright.proof.profiles.integers import DiscreteLaplaceProfile
from noisewright.proof.profiles.laws import law_profile, lower_pair
from noisewright.proof.profiles.lower import GaussianLosses, ResponseLosses, SymmetricPair
from tests.compositions import Exact, ball, gaussian_delta, high, low, response_losses

GRID = LossGrid(Fraction(1, 7), Fraction(1, 2), 24, 40)
PLACES = [Fraction(n, 10) for n in range(-60, 61, 7)]


def worth(losses: PrivacyLossPMF, grid: LossGrid, epsilon: Fraction, moved: Fraction = Fraction(0)):
    """What losses stand for, term by term, in balls of many bits."""
    step = grid.step(losses.level)
    total = ball(losses.infinite)
    for i, mass in enumerate(losses.masses):
        loss = (losses.first + i) * step - moved
        if loss > epsilon:
            total += mass * (1 - ball(epsilon - loss).exp())
    return total / (1 << grid.mass_bits)


def some_losses(seed: int, sparse: bool = False) -> PrivacyLossPMF:
    source = random.Random(seed)
    masses = [source.randrange(1 << 30) if not sparse or source.random() < 0.3 else 0 for _ in range(21)]
    return PrivacyLossPMF(
        0, source.randint(-14, -6), [*masses, 1 + source.randrange(99)], source.randrange(1 << 20), 1.0
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("side", [PESSIMISTIC, OPTIMISTIC], ids=["above", "below"])
def test_wider_cells_and_shorter_tails_go_one_way(side, seed):
    before = some_losses(seed, sparse=seed % 2 == 1)
    short = LossGrid(GRID.unit, GRID.fineness, 8, GRID.mass_bits)
    for after in (
        side.coarser(before, GRID),
        side.trimmed(before, short, 1),
        side.coarser(side.coarser(before, GRID), GRID),
    ):
        for epsilon in PLACES:
            old, new = worth(before, GRID, epsilon), worth(after, GRID, epsilon)
            assert high(new) >= low(old) if side.up else low(new) <= high(old)
        assert sum(after.masses) >= 0
    kept = side.trimmed(before, short, 1)
    assert len(kept.masses) < len(before.masses)


def test_a_right_tail_goes_to_infinity_from_above_and_to_the_last_cell_from_below():
    losses = PrivacyLossPMF(0, -1, [5, 1000, 7], 2, 1.0)
    grid = LossGrid(Fraction(1), Fraction(1), 4, 8)
    assert PESSIMISTIC.trimmed(losses, grid, 1) == PrivacyLossPMF(0, 0, [1005], 9, 1.0)
    assert OPTIMISTIC.trimmed(losses, grid, 1) == PrivacyLossPMF(0, 0, [1007], 2, 1.0)
    assert PESSIMISTIC.trimmed(losses, grid, 4) == PrivacyLossPMF(0, -1, [5, 1000, 7], 2, 1.0)


@pytest.mark.parametrize(("side", "least"), [(PESSIMISTIC, True), (OPTIMISTIC, False)], ids=["above", "below"])
def test_products_are_rounded_to_their_side_and_keep_what_is_infinite(side, least):
    grid = LossGrid(Fraction(1), Fraction(1, 10**6), 40, 8)
    one = PrivacyLossPMF(0, 0, [100, 57], 99, 1.0)
    other = PrivacyLossPMF(0, 2, [33, 200], 23, 1.0)
    found = product(one, other, grid, side, 1)
    exact = [100 * 33, 100 * 200 + 57 * 33, 57 * 200]
    rounded = [-(-value // 256) if least else value // 256 for value in exact]
    infinite = 99 * (33 + 200 + 23) + 157 * 23
    assert (found.first, found.masses) == (2, rounded)
    assert found.infinite == (-(-infinite // 256) if least else infinite // 256)


def test_wide_cells_meet_few_atoms_without_moving_them():
    one = 1 << 60
    atoms = PrivacyLossPMF(0, -7, [one // 2, *[0] * 13, one // 2], 0, 1.0)
    wide = PrivacyLossPMF(2, -1, [one // 4, one // 2, one // 4], 0, 0.01)
    for pair in ((atoms, wide), (wide, atoms)):
        found = product(*pair, LossGrid(Fraction(1, 8), Fraction(1, 100), 40, 60), OPTIMISTIC, 1)
        assert found.level == 0
        assert {found.first + i for i, mass in enumerate(found.masses) if mass} == {-11, -7, -3, 3, 7, 11}


@pytest.mark.parametrize("times", [1, 2, 3, 7])
def test_powers_are_products_one_after_the_other(times):
    losses = some_losses(3)
    small = PrivacyLossPMF(0, losses.first, [mass >> 3 for mass in losses.masses], 0, 1e-9)
    grid = LossGrid(Fraction(1, 7), Fraction(1, 100), 38, 40)
    slow = small
    for _ in range(times - 1):
        slow = product(slow, small, grid, PESSIMISTIC, 1)
    fast = power(small, times, grid, PESSIMISTIC, 1)
    for epsilon in PLACES:
        a, b = float(worth(slow, grid, epsilon)), float(worth(fast, grid, epsilon))
        assert a == pytest.approx(b, rel=1e-6, abs=1e-9)
    joined = together([small] * times, grid, PESSIMISTIC)
    for epsilon in PLACES:
        assert float(worth(joined, grid, epsilon)) == pytest.approx(
            float(worth(fast, grid, epsilon)), rel=1e-6, abs=1e-9
        )


@pytest.mark.parametrize("squared", [Fraction(1, 100), Fraction(1), Fraction(9)])
@pytest.mark.parametrize("cells", [2, 5, 30])
def test_dots_are_above_a_gaussian_and_bins_below_it_at_every_epsilon_of_both_signs(squared, cells):
    profile = GaussianProfile(squared)
    unit = Fraction(profile.spread).limit_denominator(10**4) / cells
    grid = LossGrid(unit, Fraction(1, cells), 30, 60)
    last = cells_to_the_end(profile, unit, 30)
    up = connect_dots(profile, grid, 0, 1)
    down = bins(SymmetricPair(GaussianLosses(squared)), grid, 0, last, 1.0, None)
    assert down is not None
    for epsilon in [Fraction(profile.spread).limit_denominator(100) * n / 4 for n in range(-20, 21)]:
        truth = gaussian_delta(squared, epsilon)
        assert low(worth(up, grid, epsilon)) >= low(truth)
        assert high(worth(down, grid, epsilon, SLACK)) <= high(truth)
        if cells == 30 and -2 < epsilon / Fraction(profile.spread) < 4:
            assert float(worth(up, grid, epsilon) / truth) < 1.01
            assert float(worth(down, grid, epsilon, SLACK) / truth) > 0.99


@pytest.mark.parametrize("unit", [Fraction(1, 10), Fraction(3, 100), Fraction(7, 100), Fraction(1)])
def test_randomised_response_on_and_off_its_lattice(unit):
    epsilon_of_one = Fraction(3, 10)
    grid = LossGrid(unit, Fraction(1, 10), 30, 60)
    exact = Exact([(response_losses(epsilon_of_one), 1)])
    up = connect_dots(PairProfile(epsilon_of_one), grid, 0, 1)
    down = bins(SymmetricPair(ResponseLosses(epsilon_of_one)), grid, 0, -(-epsilon_of_one // unit), 1.0, epsilon_of_one)
    assert down is not None
    for epsilon in [Fraction(n, 20) for n in range(-8, 9)]:
        truth = exact.delta(epsilon)
        assert low(worth(up, grid, epsilon)) >= low(truth)
        assert high(worth(down, grid, epsilon, SLACK)) <= high(truth)
        if (epsilon_of_one / unit).denominator == 1:
            assert float(worth(up, grid, epsilon)) == pytest.approx(float(truth), abs=1e-15)
            assert float(worth(down, grid, epsilon, SLACK)) == pytest.approx(float(truth), abs=1e-12)


def test_a_pair_keeps_its_delta_at_infinity():
    grid = LossGrid(Fraction(1, 10), Fraction(1, 10), 30, 60)
    found = connect_dots(PairProfile(Fraction(1, 2), Fraction(1, 100)), grid, 0, 1)
    assert found.infinite == -(-(1 << 60) // 100)
    assert float(worth(found, grid, Fraction(3))) == pytest.approx(0.01, abs=1e-15)


@pytest.mark.parametrize("bits", range(20, 32))
def test_a_pair_keeps_its_mass_whatever_the_bits(bits):
    grid = LossGrid(Fraction(1, 10), Fraction(1, 10), 16, bits)
    found = connect_dots(PairProfile(Fraction(1, 2)), grid, 0, 1)
    true = 1 / (1 + ball(Fraction(-1, 2)).exp())
    assert found.masses[-1] >= low(true * (1 << bits))
    assert found.masses[0] >= low((1 - true) * (1 << bits))
    flat = connect_values([(1 << (bits + GUARD)) // 3], grid, 0, 1.0)
    assert Fraction(flat.masses[0], 1 << bits) >= Fraction(2, 3)


@pytest.mark.parametrize("mass", [1, 3, 1001, 99991])
def test_wider_cells_keep_every_unit(mass):
    after = PESSIMISTIC.coarser(PrivacyLossPMF(0, 1, [mass], 0, 1.0), GRID)
    share = 1 / (1 + ball(GRID.unit).exp())
    assert after.first == 0
    assert after.masses[0] >= low(mass * share)
    assert after.masses[1] >= low(mass * (1 - share))


def test_a_curve_adds_up_every_unit():
    losses = PrivacyLossPMF(0, 1, [3, 5], 1, 1.0)
    grid = LossGrid(Fraction(1), Fraction(1), 4, 4)
    for epsilon in [Fraction(n, 7) for n in range(14)]:
        assert Curve(losses, grid, up=True).delta(epsilon) >= min(Fraction(1), low(worth(losses, grid, epsilon)))


def test_the_largest_loss_of_laplace_noise_is_kept_apart_from_those_below_it():
    grid = LossGrid(Fraction(1, 100), Fraction(1, 10), 30, 60)
    pair = lower_pair(Laplace(Fraction(1)), Fraction(1))
    assert pair is not None
    found = bins(pair, grid, 0, 100, 1.0, Fraction(1))
    assert found is not None
    assert found.masses[-1] >> 40 == pytest.approx(1 << 19, rel=1e-6)
    assert float(worth(found, grid, Fraction(4, 5), SLACK)) == pytest.approx(1 - 2.718281828459045**-0.1, rel=1e-3)


@pytest.mark.parametrize("up", [True, False], ids=["above", "below"])
def test_a_curve_reads_what_the_losses_stand_for_and_its_inverse_was_checked(up):
    losses = some_losses(5)
    grid = LossGrid(Fraction(1, 7), Fraction(1, 2), 24, 36)
    curve = Curve(losses, grid, up=up)
    one = sum(losses.masses) + losses.infinite
    for epsilon in [Fraction(n, 10) for n in range(21)]:
        exact, read = worth(losses, grid, epsilon), curve.delta(epsilon)
        assert min(Fraction(1), low(exact)) <= read if up else read <= high(exact)
        assert float(read) == pytest.approx(min(1.0, float(exact)) if up else float(exact), rel=1e-9)
    for delta in [Fraction(losses.infinite + one // n, 1 << 36) for n in (3, 10, 100, 1000)]:
        found = curve.epsilon(delta)
        assert found is not None
        if up:
            assert curve.delta(found) <= delta
            assert found == 0 or curve.delta(found - Fraction(1, 10**9)) > delta
        else:
            assert found == 0 or curve.delta(found) >= delta
            assert curve.delta(found + Fraction(1, 10**9)) <= delta
    assert curve.epsilon(Fraction(losses.infinite - 1, 1 << 36)) is None
    assert curve.epsilon(Fraction(losses.infinite, 1 << 36)) is not None


def test_tails_end_where_a_profile_does():
    assert cells_to_the_end(PairProfile(Fraction(1)), Fraction(1, 10), 40) == 10
    assert cells_to_the_end(PairProfile(Fraction(1), Fraction(1, 10)), Fraction(3, 10), 40) == 4
    assert cells_to_the_end(PairProfile(Fraction(0)), Fraction(1, 10), 40) == 0
    gaussian = law_profile(Gaussian(Fraction(1)), Fraction(1))
    last = cells_to_the_end(gaussian, Fraction(1, 10), 20)
    bounds = gaussian.deltas([Fraction(last, 10), Fraction(last - 1, 10)], 30)
    assert bounds[0] <= 1 << 10 < bounds[1]


def test_an_atom_never_falls_below_the_bin_of_one_before_it():
    bits = 64
    rates = {b: math.ceil(math.exp(b / 10) * (1 << bits)) for b in range(-3, 4)}
    enough, lacking = (1 << 40, 1 << 39), (1 << 40, 1 << 40)
    assert _filled([(1, *lacking), (1, *enough)], rates, bits) is not None
    assert _filled([(1, *enough), (2, *enough)], rates, bits) == {1: 1 << 40, 2: 1 << 40}
    # The second atom lacks for the bin of the first; below it, the bins from 1 on would leave it out.
    assert _filled([(1, *enough), (1, *lacking)], rates, bits) is None


@pytest.mark.parametrize("depth", DEPTHS[:2], ids=["likely", "rare"])
@pytest.mark.parametrize("rates", [("1/1000", "7/8"), ("1/1000", "3/10", "1/40"), ("1/1000", "3/4", "5/4")], ids=str)
def test_cells_are_never_so_wide_that_losses_fall_between_them(rates, depth):
    """Next to finer losses cells grow with what a release spreads, but only as far as its own stay on their ends."""
    profiles = [DiscreteLaplaceProfile(Fraction(rate), 1) for rate in rates]
    grid = choose_grid([(profile, 5) for profile in profiles], depth)
    steps = [(profile.lattice, grid.step(level_of(profile, grid))) for profile in profiles]
    assert all(lattice is not None and (lattice / step).denominator == 1 for lattice, step in steps)
    assert rates[1] != "7/8" or any(level_of(one, grid) < grid.level(one.spread**2) for one in profiles)
