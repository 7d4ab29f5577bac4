"""What many releases cost together is never understated: beside sums over every shift, or refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.numerics.fields import FLOATS

F = Fraction
ONE = nw.laws.Lattice.cells(F(1))
QUARTER = nw.laws.Lattice.cells(F(1, 4))
INTEGERS = nw.laws.Lattice.integers()


def masses(mechanism, points):
    return np.array([float(mechanism.noise.mass(k, FLOATS)) for k in range(-points, points)])


def shifted(line, shift):
    """The same masses `shift` places further on, within a window so wide that nothing is lost."""
    room = np.zeros(abs(shift))
    return np.concatenate([room, line, room])[abs(shift) - shift :][: len(line)]


def true_delta(mechanism, count, epsilon, points):
    """The largest hockey-stick divergence over all shifts and directions of each release, outcome by outcome."""
    line = masses(mechanism, points)
    reach = int(mechanism.query.sensitivity / mechanism.lattice.step)
    moves = [shifted(line, s) for s in range(-reach, reach + 1) if s]
    worst = 0.0
    for first in moves:
        if count == 1:
            worst = max(worst, np.maximum(0, line - math.exp(epsilon) * first).sum())
            continue
        for second in moves:
            together = np.outer(line, line) - math.exp(epsilon) * np.outer(first, second)
            worst = max(worst, np.maximum(0, together).sum())
    return worst


def additive(sensitivity, law, lattice):
    return nw.mechanisms.Additive(nw.Scalar(sensitivity, integer=bool(lattice.edge)), law, lattice)


def piecewise(breaks, levels, **more):
    tails = {"left_cells": 1, "right_cells": 1} | more
    return nw.laws.Piecewise(
        rate=F(1), period=F(1), breaks=tuple(map(F, breaks)), levels=tuple(map(F, levels)), **tails
    )


COMB = additive(2, nw.laws.Tabulated(F(1), (30, 1) * 235, F(0)), ONE)
HALF_CELLS = additive(3, nw.laws.Tabulated(F(2), (8, 4, 2, 1), F(0)), ONE)
# To the right nothing but a slow fall; the teeth are on the left, where half of the noise lies.
LOPSIDED = additive(1, piecewise(range(-5, 6), (5, 0, 5, 0, 5, 0, 0, 0, 0, 0)), ONE)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "understated", "truth"),
    [
        (COMB, 1, 0.004, 0.877),  # every second value has next to no weight: a shift of one of the two cells tells
        (HALF_CELLS, F(1, 2), 0.1155, 0.2486),  # the sensitivity is a cell and a half, not one cell
        (LOPSIDED, 1, 1e-9, 0.387),
    ],
    ids=["teeth", "cell and a half", "lopsided"],
)
def test_noise_whose_worst_shift_is_another_one_is_refused_instead_of_understated(
    mechanism, epsilon, understated, truth
):
    found = true_delta(mechanism, 1, float(epsilon), 500)
    assert found == pytest.approx(truth, abs=0.005)
    assert found > 2 * understated  # what the losses at a shift of whole cells, on the right-hand side alone, would say
    with pytest.raises(nw.errors.UncertifiedError, match="refused"):
        nw.mechanisms.composed_delta(mechanism, 1, epsilon)
    with pytest.raises(nw.errors.UncertifiedError, match="refused"):
        nw.mechanisms.composed_epsilon(mechanism, 1, "0.01")


@pytest.mark.parametrize(
    ("law", "lattice"),
    [
        (nw.laws.skewed_staircase(epsilon=F(1), sensitivity=F(1), left=F(-1, 4), right=F(3, 4)), QUARTER),
        (nw.laws.skewed_staircase(epsilon=F(1), sensitivity=F(1), left=F(-3, 2), right=F(1, 2)), INTEGERS),
        (piecewise((-2, -1, 1, 2), (0, 3, 0)), QUARTER),  # rises from the middle
        (piecewise((-3, -2, -1, 1, 2, 3), (2, 0, 1, 0, 1)), QUARTER),  # one level differs from its mirror image
        (piecewise((-1, -F(1, 2), 0, F(1, 2), 1), (0, 0, 1, 0), right_cells=2, left_cells=2), QUARTER),
        (nw.laws.Tabulated(F(1), (1, 2), F(1, 2)), INTEGERS),
    ],
)
def test_noise_that_is_lopsided_or_rises_somewhere_is_refused(law, lattice):
    with pytest.raises(nw.errors.UncertifiedError, match="not symmetric or does not fall outward"):
        nw.mechanisms.composed_delta(additive(1, law, lattice), 3, 1)


@pytest.mark.parametrize(
    ("mechanism", "points"),
    [
        (additive(1, nw.laws.staircase(epsilon=F(1), sensitivity=F(1), split=F(1, 4)), QUARTER), 120),
        (
            additive(
                1, nw.laws.skewed_staircase(epsilon=F(1), sensitivity=F(1), left=-F(3, 4), right=F(3, 4)), QUARTER
            ),
            120,
        ),
        (additive(2, nw.laws.Tabulated(F(1), (8, 8, 4, 2, 1), F(0)), ONE), 12),
        (additive(2, nw.laws.Tabulated(F(1), (8, 8, 4, 2, 1), F(1, 2)), INTEGERS), 12),
        (additive(2, nw.laws.DiscreteLaplace(F(2)), INTEGERS), 60),
        (additive(2, nw.laws.DiscreteGaussian(F(3)), INTEGERS), 30),
        (additive(1, nw.laws.Gaussian(F(2)), nw.laws.Lattice.cells(F(1, 2))), 40),
        (additive(1, nw.laws.TruncatedLaplace(F(1), F(4)), nw.laws.Lattice.cells(F(1, 2))), 12),
        (additive(1, nw.laws.TwoFold(nw.folds.GammaFold(F(3), F(1, 3))), nw.laws.Lattice.cells(F(1, 2))), 120),
    ],
    ids=lambda value: type(value.law).__name__ if isinstance(value, nw.mechanisms.Additive) else "",
)
@pytest.mark.parametrize("count", [1, 2])
def test_what_is_not_refused_is_at_least_the_worst_over_all_shifts(mechanism, points, count):
    for epsilon in (F(1, 4), F(1)):
        truth = true_delta(mechanism, count, float(epsilon), points)
        found = nw.mechanisms.composed_delta(mechanism, count, epsilon)
        assert truth * (1 - 1e-9) - 1e-12 <= found <= 1.02 * truth + 1e-3


def test_heavy_tails_cost_at_most_the_pure_sum():
    mechanism = additive(1, nw.laws.TwoFold(nw.folds.GammaFold(F(1), F(1))), nw.laws.Lattice.cells(F(1, 10)))
    alone = nw.certify(mechanism, nw.PureDP(32)).bound
    assert float(alone) == pytest.approx(2 * math.log(2), abs=1e-9)
    # The table of the losses ends where 1e-6 of the noise still lies beyond: by itself it says infinity.
    assert nw.mechanisms.composed_epsilon(mechanism, 10, "1e-6") == pytest.approx(20 * math.log(2), abs=1e-9)
    assert F(nw.mechanisms.composed_epsilon(mechanism, 10, "1e-6")) >= 10 * alone
    assert nw.mechanisms.composed_delta(mechanism, 10, 10 * alone + F(1, 1000)) == 0
    assert nw.mechanisms.composed_delta(mechanism, 10, 10 * alone - F(1, 1000)) > 0


def test_a_table_that_is_too_short_is_no_answer():
    wide = additive(1, nw.laws.Gaussian(F(10) ** 7), ONE)
    with pytest.raises(nw.errors.UncertifiedError, match="too many points"):
        nw.mechanisms.composed_epsilon(wide, 1, "1e-6")


def test_values_that_become_impossible_cost_infinitely_much():
    cut = additive(1, nw.laws.TruncatedLaplace(F(1), F(2)), nw.laws.Lattice.cells(F(1, 2)))
    assert nw.mechanisms.composed_epsilon(cut, 1, "1e-6") == math.inf


@pytest.mark.parametrize("epsilon", [0, -1])
def test_a_total_that_is_not_positive_is_refused(epsilon):
    with pytest.raises(nw.errors.InvalidPrivacyError, match="above 0"):
        nw.mechanisms.composed_delta(additive(1, nw.laws.Gaussian(F(1)), ONE), 1, epsilon)


def test_what_is_no_additive_noise_is_refused():
    with pytest.raises(nw.errors.InvalidMechanismError, match="additive noise on one number"):
        nw.mechanisms.composed_delta(nw.laws.Gaussian(F(1)), 1, 1)  # type: ignore[arg-type]
