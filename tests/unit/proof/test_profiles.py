"""Profiles against plain sums over many shifts and both orders: never below, and tight."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import mpmath
import pytest

import noisewright as nw
from noisewright.proof.profiles.base import (
    GaussianProfile,
    LeastProfile,
    MostProfile,
    PairProfile,
    Profile,
    least,
    most,
)
from noisewright.proof.profiles.cells import PiecewiseProfile, TabulatedProfile, atoms_of, worst_shifts
from noisewright.proof.profiles.joint import JointProfile, factors_of, joint
from noisewright.proof.profiles.laws import law_profile
from noisewright.proof.profiles.renyi import ConcentratedProfile, RenyiProfile
from noisewright.proof.profiles.smooth import stretches
from tests import hockey_sticks as sticks

BITS = 128
UNIT = Fraction(1, 1 << BITS)
EPSILONS = [Fraction(0), Fraction(1, 10), Fraction(2, 5), Fraction(9, 10), Fraction(8, 5)]
FLOATS = [float(e) for e in EPSILONS]
SHARES = [0.3, 0.8, 1.0]


def deltas(profile: Profile, epsilons: list[Fraction] = EPSILONS, bits: int = BITS) -> list[Fraction]:
    return [Fraction(v, 1 << bits) for v in profile.deltas(epsilons, bits)]


def assert_tight(found: list[Fraction], truth: list[float], within: float, besides: float = 1e-11) -> None:
    for got, true in zip(found, truth, strict=True):
        assert true * (1 - within) - besides <= got <= true * (1 + within) + besides, (float(got), true)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", sticks.SMOOTH)
def test_smooth_noise_has_the_largest_divergence_over_all_shifts(kind: str, seed: int):
    chance = Random(f"{kind} {seed}")
    law, reach = sticks.random_smooth(kind, chance), Fraction(chance.randint(3, 20), 10)
    each = [sticks.smooth_divergences(law, sign * share * float(reach), FLOATS) for share in SHARES for sign in (1, -1)]
    assert_tight(deltas(law_profile(law, reach)), [max(values) for values in zip(*each, strict=True)], 1e-6, 1e-8)


def test_a_mixture_whose_loss_turns_is_summed_on_every_stretch():
    law, reach = nw.laws.GaussianMixture(["1/2", 6], ["4/5", "1/5"]), Fraction(1)
    ways = [stretch.rising for stretch in stretches(law, reach) if stretch.rising is not None]
    assert ways == [True, False, True]
    assert_tight(deltas(law_profile(law, reach)), sticks.smooth_divergences(law, 1.0, FLOATS), 1e-6, 1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("one_top", [True, False])
def test_noise_with_levels_has_the_largest_divergence_over_all_shifts_and_both_orders(one_top: bool, seed: int):
    chance = Random(f"levels {one_top} {seed}")
    law, reach = sticks.random_levels(chance, one_top=one_top), Fraction(chance.randint(2, 9), 5)
    shifts = {float(reach), *(i / 16 for i in range(1, math.floor(16 * reach) + 1))}
    each = [sticks.cell_divergences(law, sign * s, FLOATS) for s in shifts for sign in (1, -1)]
    profile = law_profile(law, reach)
    assert isinstance(profile, PiecewiseProfile)
    assert (len(worst_shifts(profile.law, profile.sensitivity)) == 2) is one_top
    assert_tight(deltas(profile), [max(values) for values in zip(*each, strict=True)], 1e-9)


def test_the_two_orders_of_lopsided_noise_differ_and_the_worse_one_counts():
    law = nw.laws.skewed_staircase(epsilon=1, sensitivity=1, left="-1/8", right="7/8")
    mirrored = nw.laws.skewed_staircase(epsilon=1, sensitivity=1, left="-7/8", right="1/8")
    skewed = nw.laws.Piecewise(1, 1, [-2, -1, 0, 1, 2], [2, 1, 0, "5/2"], left_cells=1, right_cells=1)
    for made in (law, mirrored, skewed):
        right, left = (sticks.cell_divergences(made, s, FLOATS) for s in (0.75, -0.75))
        assert_tight(deltas(law_profile(made, Fraction(3, 4))), [max(p) for p in zip(right, left, strict=True)], 1e-9)
    one, other = (sticks.cell_divergences(skewed, s, FLOATS)[3] for s in (0.75, -0.75))
    assert abs(one - other) > 0.05


def test_two_orders_with_the_same_losses_differ_in_their_masses():
    """The losses that can occur are the same either way; only how likely they are tells which order is worse."""
    for levels, sign in ([0, 0, 1, 1], -1), ([1, 1, 0, 0], 1):
        law = nw.laws.Piecewise(1, 1, [-2, -1, 0, 1, 2], levels, left_cells=1, right_cells=1)
        there, back = (atoms_of(law, s * Fraction(3, 2)) for s in (1, -1))
        assert there.keys() == back.keys()
        worse, other = (sticks.cell_divergences(law, s * 1.5, FLOATS) for s in (sign, -sign))
        assert max(a - b for a, b in zip(worse, other, strict=True)) > 0.02
        truth = [max(pair) for pair in zip(worse, other, strict=True)]
        assert_tight(deltas(law_profile(law, Fraction(3, 2))), truth, 1e-9)


@pytest.mark.parametrize("weights", [[10, 1, 10, 1, 10, 1], [9, 7, 4, 2, 1], [5, 0, 3, 3, 0, 1]])
@pytest.mark.parametrize("cells", [Fraction(1, 3), Fraction(1), Fraction(2), Fraction(7, 3), Fraction(30)])
@pytest.mark.parametrize("edge", [0, Fraction(1, 2)])
def test_tabulated_noise_is_summed_at_every_shift(weights: list[int], cells: Fraction, edge: Fraction):
    law = nw.laws.Tabulated(1 if edge else Fraction(1, 2), weights, edge)
    line = [*reversed(weights[1:] if edge else weights), *weights]
    last = min(math.ceil(cells), len(line))
    whole = [sticks.table_divergences(line, s, FLOATS) for s in range(last + 1)]
    share = float(cells - math.floor(cells)) if cells < len(line) else 1.0
    end = (
        [(1 - share) * a + share * b for a, b in zip(whole[last - 1], whole[last], strict=True)]
        if share
        else whole[last]
    )
    inside = whole[:last] if share and cells < len(line) else whole
    truth = [max(values) for values in zip(end, *inside, strict=True)]
    profile = law_profile(law, cells * law.width)
    assert isinstance(profile, TabulatedProfile)
    assert_tight(deltas(profile), truth, 1e-9)
    assert float(profile.lost) == pytest.approx(deltas(profile, [profile.largest or Fraction(0)])[0], abs=1e-30)


def test_tables_and_levels_are_summed_to_the_last_digit():
    weights, epsilon = [10, 1, 7, 2], Fraction(3, 7)
    line = [*reversed(weights), *weights]
    levels = nw.laws.staircase(epsilon=1, sensitivity=1, split="1/3")
    with mpmath.workdps(60):
        grown = mpmath.exp(_with_digits(epsilon))
        pairs = [zip([*line, 0, 0], [0] * s + line + [0] * (2 - s), strict=True) for s in (1, 2)]
        table = max(mpmath.fsum(max(0, a - grown * b) for a, b in each) for each in pairs) / sum(line)
        # Moved by the sensitivity, the staircase falls by one level over all but two thirds of its top on one side.
        fade = mpmath.exp(-1)
        top = mpmath.mpf(2) / 3 + 2 * fade / (1 - fade)
        beyond = (mpmath.mpf(2) / 3 + fade / (1 - fade)) / top
        stairs = beyond * (1 - grown * fade)
        for law, reach, true in ((nw.laws.Tabulated(1, weights, 0), 2, table), (levels, 1, stairs)):
            found = _with_digits(deltas(law_profile(law, Fraction(reach)), [epsilon])[0])
            assert true <= found <= true + mpmath.mpf(2) ** -120


@pytest.mark.parametrize("largest", [2, 50, 80, 200])
def test_levels_that_lie_far_apart_are_summed_from_above(largest: int):
    """What is rounded is taken off e^epsilon times: there it must be rounded down, however large that is."""
    profile = law_profile(nw.laws.staircase(epsilon=largest, sensitivity=1, split="1/3"), Fraction(1))
    shares = [Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)]
    found = deltas(profile, [share * largest for share in shares])
    with mpmath.workdps(400):
        fade = mpmath.exp(-largest)
        beyond = (mpmath.mpf(2) / 3 + fade / (1 - fade)) / (mpmath.mpf(2) / 3 + 2 * fade / (1 - fade))
        for share, got in zip(shares, found, strict=True):
            true = beyond * (1 - mpmath.exp((_with_digits(share) - 1) * largest))
            assert true <= _with_digits(got)
            assert largest > 50 or _with_digits(got) <= true + mpmath.mpf(2) ** -120


def test_a_comb_is_worst_at_a_shift_that_is_not_the_largest():
    weights = [10, 1, 10, 1, 10, 1]
    line = [*reversed(weights), *weights]
    near, far = (sticks.table_divergences(line, s, [0.5])[0] for s in (1, 2))
    assert near > far + 0.2
    found = deltas(law_profile(nw.laws.Tabulated(1, weights, 0), Fraction(2)), [Fraction(1, 2)])
    assert_tight(found, [near], 1e-9)
    teeth = nw.laws.Piecewise(
        1, 1, ["-2", "-3/2", "-1", "-1/2", 0, "1/2", 1, "3/2", 2], [3, 1, 3, 0, 3, 0, 3, 1], left_cells=2, right_cells=2
    )
    one, whole = (sticks.cell_divergences(teeth, s, [0.5])[0] for s in (0.5, 1.0))
    assert one > whole + 0.2
    assert_tight(deltas(law_profile(teeth, Fraction(1)), [Fraction(1, 2)]), [one], 1e-9)


@pytest.mark.parametrize("shift", [1, 2, 3, 7])
def test_noise_on_the_integers_is_exact_at_its_atoms(shift: int):
    far = range(-400, 401)
    for law, weigh in (
        (nw.laws.DiscreteLaplace("5/2"), lambda k: mpmath.exp(-abs(k) * mpmath.mpf(2) / 5)),
        (nw.laws.DiscreteGaussian("7/3"), lambda k: mpmath.exp(-mpmath.mpf(k * k * 9) / 98)),
    ):
        with mpmath.workdps(60):
            masses = {k: weigh(k) for k in far}
            total = mpmath.fsum(masses.values())
            profile = law_profile(law, Fraction(shift))
            assert profile.lattice
            for multiple in (0, 1, 2, 5, 11, Fraction(7, 2)):
                epsilon = profile.lattice * multiple
                grown = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
                true = max(
                    mpmath.fsum(max(0, masses[k] - grown * masses.get(k + s, 0)) for k in far if abs(k + s) <= 400)
                    / total
                    for s in range(-shift, shift + 1)
                )
                found = deltas(profile, [epsilon])[0]
                got = mpmath.mpf(found.numerator) / found.denominator
                assert true - mpmath.mpf(10) ** -45 <= got <= true + mpmath.mpf(2) ** (2 - BITS)


def _with_digits(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def test_tiny_deltas_keep_their_digits():
    """Down to 1e-40, by formulas evaluated with 90 digits."""
    with mpmath.workdps(90):
        for mu, epsilon in (
            (Fraction(1, 40), Fraction(1, 3)),
            (Fraction(1), Fraction(27, 2)),
            (Fraction(2), Fraction(20)),
        ):
            m, e = _with_digits(mu), _with_digits(epsilon)
            true = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
            found = _with_digits(deltas(GaussianProfile(mu**2), [epsilon], 192)[0])
            assert true < 1e-19
            assert true <= found <= true * (1 + mpmath.mpf(10) ** -10) + mpmath.mpf(2) ** -190
        law, shift = nw.laws.GeneralizedGaussian(4, 2), mpmath.mpf(1)
        half = mpmath.gamma(mpmath.mpf(1) / 4)
        tail = lambda x: mpmath.gammainc(mpmath.mpf(1) / 4, (x / 2) ** 4) / half / 2  # noqa: E731
        for epsilon in (Fraction(12), Fraction(30), Fraction(50)):
            e = _with_digits(epsilon)
            place = mpmath.findroot(lambda x, e=e: ((x + shift) ** 4 - x**4) / 16 - e, 3)
            true = tail(place) - mpmath.exp(e) * tail(place + shift)
            found = _with_digits(deltas(law_profile(law, Fraction(1)), [epsilon], 192)[0])
            assert true < 1e-4
            assert (
                true * (1 - mpmath.mpf(10) ** -50) <= found <= true * (1 + mpmath.mpf(10) ** -9) + mpmath.mpf(2) ** -189
            )


def test_asking_for_one_epsilon_or_for_many_gives_bounds_of_one_curve():
    many = [Fraction(i, 50) for i in range(120)]
    for kind in sticks.SMOOTH:
        profile = law_profile(sticks.random_smooth(kind, Random(kind)), Fraction(1))
        together = deltas(profile, many)
        assert all(a >= b for a, b in pairwise(together))
        for i in (0, 7, 33, 118):
            alone = deltas(profile, [many[i]])[0]
            assert abs(alone - together[i]) <= alone * Fraction(1, 10**10) + 4 * UNIT
        # Convex in e^epsilon, so that chords lie above it.
        heights = [(math.exp(e), float(v)) for e, v in zip(many, together, strict=True)]
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(heights)]
        assert all(a <= b + 1e-9 for a, b in pairwise(slopes))


def test_a_pair_has_the_profile_of_its_four_points():
    epsilon, delta = Fraction(7, 10), Fraction(1, 50)
    profile = PairProfile(epsilon, delta)
    share = 1 - float(delta)
    top = share * math.exp(0.7) / (1 + math.exp(0.7))
    points = [(top, share - top), (share - top, top), (float(delta), 0.0)]
    truth = [sum(max(0.0, p - math.exp(e) * q) for p, q in points) for e in FLOATS]
    assert_tight(deltas(profile), truth, 1e-12)
    assert (profile.largest, profile.lost, profile.lattice) == (epsilon, delta, epsilon)
    assert deltas(profile, [epsilon, 2 * epsilon]) == [pytest.approx(delta, abs=1e-38)] * 2
    assert min(deltas(profile, [epsilon])) >= delta


@pytest.mark.parametrize("counts", [(1, 1), (2, 0), (3, 2)])
def test_noises_that_move_together_are_summed_over_every_outcome(counts: tuple[int, int]):
    first, second = PairProfile(Fraction(1, 2), Fraction(1, 100)), PairProfile(Fraction(3, 10))
    found = joint([(first, counts[0]), (second, counts[1])] if counts[1] else [(first, counts[0])])
    outcomes = [_points(0.5, 0.01)] * counts[0] + [_points(0.3, 0.0)] * counts[1]
    truth = []
    for e in FLOATS:
        masses = ((math.prod(p for p, _ in one), math.prod(q for _, q in one)) for one in product(*outcomes))
        truth.append(math.fsum(max(0.0, p - math.exp(e) * q) for p, q in masses))
    for got, true in zip(deltas(found), truth, strict=True):
        assert true - 1e-12 <= got <= 1.002 * true + 1e-12
    assert sum(count for _, count in factors_of(found)) == sum(counts)


def _points(epsilon: float, delta: float) -> list[tuple[float, float]]:
    top = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    return [(top, 1 - delta - top), (1 - delta - top, top), (delta, 0.0), (0.0, delta)]


def test_what_is_lost_together_is_lost_by_any_of_them():
    together = JointProfile(((PairProfile(Fraction(1, 2), Fraction(1, 10)), 2), (PairProfile(Fraction(1, 4)), 3)))
    assert (together.largest, together.lost) == (Fraction(7, 4), 1 - Fraction(9, 10) ** 2)
    assert min(deltas(together, [Fraction(7, 4), Fraction(3)])) >= together.lost


def test_gaussians_that_move_together_are_one_gaussian():
    together = JointProfile(((GaussianProfile(Fraction(1, 4)), 3), (GaussianProfile(Fraction(1, 9)), 2)))
    one = GaussianProfile(Fraction(3, 4) + Fraction(2, 9))
    for got, true in zip(deltas(together), deltas(one), strict=True):
        assert true <= got <= Fraction(1002, 1000) * true
    far = [Fraction(9)]
    assert deltas(one, far)[0] < Fraction(1, 10**15)
    assert deltas(one, far)[0] <= deltas(together, far)[0] <= Fraction(104, 100) * deltas(one, far)[0]


def test_the_least_of_bounds_and_the_most_of_cases_hold_at_every_epsilon():
    pair, gaussian = PairProfile(Fraction(1), Fraction(1, 1000)), GaussianProfile(Fraction(1, 4))
    both = [deltas(pair), deltas(gaussian)]
    assert deltas(least(pair, gaussian)) == [min(v) for v in zip(*both, strict=True)]
    assert deltas(most(pair, gaussian)) == [max(v) for v in zip(*both, strict=True)]
    assert least(pair, pair) == most(pair, pair) == pair
    assert (LeastProfile((pair, gaussian)).largest, MostProfile((pair, gaussian)).largest) == (None, None)
    exact = PairProfile(Fraction(2))
    assert (LeastProfile((pair, exact)).largest, LeastProfile((pair, exact)).lost) == (Fraction(2), Fraction(0))
    assert (LeastProfile((gaussian, exact)).largest, LeastProfile((gaussian, exact)).lost) == (Fraction(2), Fraction(0))
    assert (MostProfile((pair, exact)).largest, MostProfile((pair, exact)).lost) == (Fraction(2), Fraction(1, 1000))


def test_of_bounds_of_one_kind_each_counts_in_whatever_order():
    """At epsilon 0 the one with the smaller epsilon is less, far out the one with the smaller delta."""
    early, late = PairProfile(Fraction(1, 2), Fraction(1, 10)), PairProfile(Fraction(2), Fraction(1, 1000))
    ends = [Fraction(0), Fraction(3)]
    both = list(zip(deltas(early, ends), deltas(late, ends), strict=True))
    assert [a < b for a, b in both] == [True, False]
    for bounds in ((early, late), (late, early)):
        assert deltas(least(*bounds), ends) == [min(pair) for pair in both]
        assert deltas(most(*bounds), ends) == [max(pair) for pair in both]


def test_what_divergences_imply_is_above_the_profile_of_gaussian_noise():
    true = deltas(GaussianProfile(Fraction(1, 2)))
    for implied in (ConcentratedProfile(Fraction(1, 4)), RenyiProfile(Fraction(4), Fraction(1))):
        assert all(a < b for a, b in zip(true, deltas(implied), strict=True))
    assert deltas(ConcentratedProfile(Fraction(1, 4)))[4] < deltas(RenyiProfile(Fraction(4), Fraction(1)))[4]


def test_profiles_are_keys_and_laws_that_differ_in_scale_alone_share_theirs():
    for kind in sticks.SMOOTH:
        law = sticks.random_smooth(kind, Random(f"{kind} scaled"))
        one, other = law_profile(law, Fraction(1, 3)), law_profile(law.scaled(Fraction(6)), Fraction(2))
        assert one == other
        assert hash(one) == hash(other)
        assert one != law_profile(law, Fraction(1, 2))
