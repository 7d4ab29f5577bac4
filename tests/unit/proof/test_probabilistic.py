"""Probabilistic privacy of what is drawn: every cell and every shift, by brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaincc

import noisewright as nw
from noisewright.laws.laplace import TruncatedLaplace
from noisewright.laws.piecewise import staircase
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import TwoFold, two_point_fold
from noisewright.proof.approximate import refuse_too_many
from noisewright.proof.probabilistic import _first_false, tabulated_delta

F = Fraction


def masses(sf: Any, step: float, count: int) -> np.ndarray:
    """Masses of the cells [k step, (k + 1) step) for k from -count to count - 1, of a symmetric law."""
    above = np.array([sf(k * step) - sf((k + 1) * step) for k in range(count)])
    return np.concatenate([above[::-1], above])


def truths(line: np.ndarray, steps: int, epsilon: float) -> list[float]:
    """For every shift the mass of cells that are e^epsilon times likelier or less likely than the shifted one."""
    found = []
    for j in range(1, steps + 1):
        moved = np.concatenate([line[j:], np.zeros(j)])
        back = np.concatenate([np.zeros(j), line[:-j]])
        ahead, behind = (
            float(line[(line > math.exp(epsilon) * other) | (other > math.exp(epsilon) * line)].sum())
            for other in (moved, back)
        )
        assert ahead == pytest.approx(behind, abs=1e-12)
        found.append(ahead)
    return found


def gaussian(std: float) -> Any:
    return lambda x: math.erfc(x / std / math.sqrt(2)) / 2


def cut_laplace(scale: float, bound: float) -> Any:
    floor = math.exp(-bound / scale)
    return lambda x: 0.0 if x >= bound else (math.exp(-x / scale) - floor) / (2 * (1 - floor))


CASES: dict[str, tuple[Any, Any, str, int, str]] = {
    "gaussian, coarse": (nw.laws.Gaussian(F(1)), gaussian(1), "1/3", 3, "1/2"),
    "gaussian, one step": (nw.laws.Gaussian(F(3)), gaussian(3), "2", 1, "1/5"),
    "gaussian, wide shift": (nw.laws.Gaussian(F(1, 2)), gaussian(0.5), "1/4", 8, "3"),
    "gaussian, a smaller shift is worse": (nw.laws.Gaussian(F(1)), gaussian(1), "1/2", 5, "5/4"),
    "power 3": (nw.laws.GeneralizedGaussian(F(3), F(1)), lambda x: gammaincc(1 / 3, x**3) / 2, "1/4", 4, "1"),
    "laplace": (nw.laws.Laplace(F(1)), lambda x: math.exp(-x) / 2, "1/4", 6, "0.9"),
    "cut off, inside harmless": (TruncatedLaplace(F(1), F(4)), cut_laplace(1, 4), "1/4", 4, "1.25"),
    "cut off, inside just harmless": (TruncatedLaplace(F(1), F(4)), cut_laplace(1, 4), "1/4", 4, "1"),
    "cut off, inside harmful": (TruncatedLaplace(F(1), F(4)), cut_laplace(1, 4), "1/4", 6, "1"),
    "cut off inside a cell": (TruncatedLaplace(F(1), F(33, 10)), cut_laplace(1, 3.3), "1/4", 4, "1.25"),
    "cut off inside a cell, harmful": (TruncatedLaplace(F(1), F(33, 10)), cut_laplace(1, 3.3), "1/4", 6, "1"),
}


@pytest.mark.parametrize("name", CASES)
def test_delta_is_the_mass_of_doubtful_cells_at_the_worst_shift(name):
    law, sf, step, steps, epsilon = CASES[name]
    mechanism = nw.mechanisms.Additive(nw.Scalar(F(step) * steps), law, nw.laws.Lattice.cells(F(step)))
    # Ratios that are exactly e^epsilon do not exceed it, whatever floats make of them.
    truth = max(truths(masses(sf, float(F(step)), 400), steps, float(F(epsilon)) + 1e-9))
    bound = float(nw.certify(mechanism, nw.ProbabilisticDP(epsilon, "0.99999")).bound)
    assert truth * (1 - 1e-9) <= bound
    # A cell in which the support ends may be counted although its ratio is harmless.
    slack = float(masses(sf, float(F(step)), 400).max()) if "cut off" in name else 1e-9
    assert bound <= truth + slack


def test_the_worst_shift_is_not_always_the_largest():
    found = truths(masses(gaussian(1), 0.5, 400), 5, 1.25)
    assert found[3] == max(found) > found[-1] + 0.04


@pytest.mark.parametrize("std", ["1", "7/3", "5"])
@pytest.mark.parametrize("epsilon", ["1/3", "1", "2"])
@pytest.mark.parametrize("steps", [1, 4, 9])
def test_integer_gaussian_noise_is_judged_at_every_shift(std, epsilon, steps):
    width, e = float(F(std)), float(F(epsilon))
    k = np.arange(-200, 201)
    line = np.exp(-(k**2) / (2 * width**2))
    line /= line.sum()
    truth = max(truths(line, steps, e))
    mechanism = nw.mechanisms.Additive(
        nw.Scalar(steps, integer=True), nw.laws.DiscreteGaussian(F(std)), nw.laws.Lattice.integers()
    )
    claim = nw.ProbabilisticDP(epsilon, "0.9999999999")
    if truth >= 0.9999999999:
        with pytest.raises(nw.errors.UncertifiedError):
            nw.certify(mechanism, claim)
    else:
        assert float(nw.certify(mechanism, claim).bound) == pytest.approx(truth, rel=1e-9)


TABLES = {
    "falling": (9, 5, 2, 1),
    "cliff at the end": (9, 9, 9, 1),
    "valley": (9, 1, 8, 7),
    "alone": (5, 1, 1, 9),
}


@pytest.mark.parametrize("weights", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("reach", ["1", "3/2", "2", "5/2", "4", "20"])
def test_tables_are_judged_at_every_shift_that_begins_a_cell(weights, reach):
    line = np.array([*weights[::-1], *weights], dtype=float)
    line /= line.sum()
    shifts = min(math.ceil(F(reach)), len(line))
    one_sided = []
    for j in range(1, shifts + 1):
        moved = np.concatenate([line[j:], np.zeros(j)])
        one_sided.append(float(np.maximum(line - math.exp(1.1) * moved, 0).sum()))
    law, truth = Tabulated(F(1), weights, F(0)), max(truths(line, shifts, 1.1))
    assert float(tabulated_delta(law, F("1.1"), F(reach))) == pytest.approx(truth, rel=1e-12)
    if truth < 0.99:
        mechanism = nw.mechanisms.Additive(nw.Scalar(F(reach)), law, nw.laws.Lattice.cells(F(1, 2)))
        assert float(nw.certify(mechanism, nw.ProbabilisticDP("1.1", "0.99")).bound) == pytest.approx(truth, rel=1e-12)
    assert float(nw.laws.approximate_delta(law, F("1.1"), F(reach))[0]) == pytest.approx(max(one_sided), rel=1e-12)


@pytest.mark.parametrize("integer", [True, False])
def test_the_middle_cell_of_an_integer_table_stands_once(integer):
    law = Tabulated(F(1), (4, 7, 1), F(1, 2) if integer else F(0))
    line = np.array([1, 7, 4, 7, 1] if integer else [1, 7, 4, 4, 7, 1], dtype=float)
    line /= line.sum()
    for shifts in (1, 2, 3):
        moved = [np.concatenate([line[j:], np.zeros(j)]) for j in range(1, shifts + 1)]
        truth = max(float(np.maximum(line - math.exp(0.1) * other, 0).sum()) for other in moved)
        assert float(nw.laws.approximate_delta(law, F("0.1"), F(shifts))[0]) == pytest.approx(truth, rel=1e-12)


def test_shifts_times_cells_are_limited():
    refuse_too_many(4000, 5000)
    with pytest.raises(nw.errors.UncertifiedError, match="too many"):
        refuse_too_many(4000, 5001)


def test_a_table_too_long_to_be_summed_shift_by_shift_is_refused_at_once():
    law = Tabulated(F(1), (1, 2) * 5000, F(0))
    for judge in (tabulated_delta, nw.laws.approximate_delta):
        with pytest.raises(nw.errors.UncertifiedError, match="too many"):
            judge(law, F(1), F(10**4))


def test_noise_without_a_rule_for_what_is_drawn_is_refused_beyond_its_pure_bound():
    steps = staircase(epsilon=F(1, 2), sensitivity=F(1), split=F(1, 2))
    folded = TwoFold(two_point_fold(F(1, 4), F(1, 3), F(1, 2)))
    mixed = nw.laws.GaussianMixture((F(1), F(2)), (F(1, 2), F(1, 2)))
    for law, purely in ((steps, True), (folded, True), (mixed, False)):
        mechanism = nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells(F(1, 2)))
        with pytest.raises(nw.errors.UncertifiedError, match="no rule for the probabilistic"):
            nw.certify(mechanism, nw.ProbabilisticDP("0.2", "0.9"))
        if purely:
            assert nw.certify(mechanism, nw.ProbabilisticDP("1/2", "1e-9")).bound == 0


@pytest.mark.parametrize("end", [-40, -3, -1, 0, 1, 2, 7, 31, 64, 1000])
@pytest.mark.parametrize("guess", [-70, -4, -1, 0, 1, 5, 33, 1001])
def test_the_first_place_that_fails_is_found_from_any_guess(end, guess):
    asked = []

    def holds(k: int) -> bool:
        asked.append(k)
        return k < end

    assert _first_false(holds, guess, -2000) == end
    assert len(asked) <= 4 * (abs(end - guess).bit_length() + 2)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("std", [200, 10**6])
@pytest.mark.parametrize("epsilon", [1, 20])
def test_wide_noise_whose_doubtful_cells_weigh_nothing_is_proven_at_once_and_can_be_saved(std, epsilon):
    noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(std), nw.laws.Lattice.cells("1/2"))
    bound = nw.certify(noise, nw.ProbabilisticDP(epsilon, "1e-9")).bound
    assert 0 < bound <= Fraction(1, 2**900)
    assert bound.denominator <= 2**1000
    hardly = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(10**60), noise.lattice)
    with pytest.raises(nw.errors.UncertifiedError, match="delta reaches 1"):
        nw.certify(hardly, nw.ProbabilisticDP(epsilon, "1e-9"))


def test_integer_noise_is_refused_for_a_shift_that_is_not_whole():
    with pytest.raises(nw.errors.UncertifiedError, match="whole"):
        nw.laws.approximate_delta(nw.laws.DiscreteGaussian(F(3)), F(1), F(3, 2))
