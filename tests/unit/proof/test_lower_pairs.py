"""Pairs of neighbours from below: never above the losses of the laws that are drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import IdenticalNoise
from noisewright.numerics.fields import FLOATS
from noisewright.proof.profiles.certified import lower_pairs_of
from tests import hockey_sticks as sticks
from tests.examples import EXAMPLES

BITS = 96
EDGES = [Fraction(i, 40) for i in range(-100, 101)]
QUARTER, ONE = Fraction(1, 4), Fraction(1)
WHOLE = nw.Scalar(2, integer=True)

SKEWED = nw.laws.Piecewise(1, 1, [-2, -1, 0, 1, 2], [2, 1, 0, "5/2"], left_cells=1, right_cells=1)
MADE: dict[str, Additive] = {
    **{
        kind: Additive(nw.Scalar(1, exact=True), law, Lattice.cells(step))
        for step in (QUARTER, Fraction(1, 32))
        for kind, law in {
            f"laplace in steps of {step}": nw.laws.Laplace("3/4"),
            f"truncated laplace in steps of {step}": nw.laws.TruncatedLaplace("3/4", "5/2"),
            f"gaussian in steps of {step}": nw.laws.Gaussian("5/4"),
            f"mixture in steps of {step}": nw.laws.GaussianMixture(["1/2", 4], ["2/3", "1/3"]),
            f"power 3 in steps of {step}": nw.laws.GeneralizedGaussian(3, "3/2"),
            f"power 1/2 in steps of {step}": nw.laws.GeneralizedGaussian("1/2", "3/2"),
            f"power 1 in steps of {step}": nw.laws.GeneralizedGaussian(1, "3/2"),
            f"logistic in steps of {step}": nw.laws.Logistic("3/4"),
            f"two-fold in steps of {step}": nw.laws.TwoFold(nw.folds.GammaFold(3, 1)),
            f"levels in steps of {step}": nw.laws.staircase(epsilon=1, sensitivity=1, split="1/4"),
            f"skewed in steps of {step}": SKEWED,
            f"cells in steps of {step}": nw.laws.Tabulated(QUARTER, [9, 2, 7, 4, 3, 1], 0),
        }.items()
    },
    "discrete laplace": Additive(WHOLE, nw.laws.DiscreteLaplace("7/3"), Lattice.integers()),
    "discrete gaussian": Additive(WHOLE, nw.laws.DiscreteGaussian("7/3"), Lattice.integers()),
    "whole cells": Additive(WHOLE, nw.laws.Tabulated(1, [9, 7, 5, 3, 1], "1/2"), Lattice.integers()),
    "whole two-fold": Additive(WHOLE, nw.laws.TwoFold(nw.folds.Atoms([1, 2], ["1/2", "1/2"])), Lattice.integers()),
}


@cache
def drawn(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Masses of every released value under the smaller and under the larger answer."""
    mechanism = MADE[kind]
    steps, far = int(mechanism.query.sensitivity / mechanism.lattice.step), int(16 / mechanism.lattice.step)
    masses = np.array([max(0.0, float(mechanism.noise.mass(k, FLOATS))) for k in range(-far - steps, far + steps + 1)])
    return masses[steps:], masses[:-steps]


def chance(p: np.ndarray, q: np.ndarray, edge: float) -> float:
    """P(finite loss >= edge), a hair more so that atoms on the edge count."""
    return float(p[(q > 0) & (p >= q * math.exp(edge - 1e-9))].sum())


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", MADE)
def test_a_pair_has_no_more_loss_than_what_is_drawn(kind: str, turned: bool):
    mechanism = MADE[kind]
    ((pair, count),) = lower_pairs_of(mechanism) or ()
    pair = pair.turned() if turned else pair
    masses = pair.masses_below(EDGES, BITS)
    assert (count, len(masses), min(masses) >= 0) == (1, len(EDGES), True)
    p, q = drawn(kind)[::-1] if turned else drawn(kind)
    # What lies beyond the table, and what rounding may hide: the masses of a few cells.
    rest = 1e-9 + 1 - math.fsum(p)
    hidden = 0.0 if kind.startswith(("levels", "skewed", "cells", "discrete", "whole cells")) else 4 * max(p)
    finite = "truncated" not in kind and "cells" not in kind
    for i, edge in enumerate(EDGES):
        found, true = sum(masses[i:]) / 2**BITS, chance(p, q, float(edge))
        assert true - hidden - rest <= found <= true + rest, (float(edge), found, true)
    infinite = 0.0 if finite else float(p[q == 0].sum())
    assert infinite - hidden - rest <= pair.infinite_below(BITS) / 2**BITS <= infinite + 1e-9


def test_both_orders_of_lopsided_noise_are_told_apart():
    ((pair, _),) = lower_pairs_of(MADE["skewed in steps of 1/4"]) or ()
    one, other = (made.masses_below(EDGES, BITS) for made in (pair, pair.turned()))
    assert one != other
    assert pair.turned().turned() == pair
    ((symmetric, _),) = lower_pairs_of(MADE["gaussian in steps of 1/4"]) or ()
    assert symmetric.turned() == symmetric


def test_an_atom_on_an_edge_counts_from_that_edge_on():
    ((pair, _),) = lower_pairs_of(MADE["discrete laplace"]) or ()
    rate = Fraction(3, 7)
    edges = [-2 * rate, Fraction(0), 2 * rate, 2 * rate + Fraction(1, 10**12)]
    fade = math.exp(-3 / 7)
    tail = 1 / (1 + fade)
    truth = [1.0, 1 - fade**2 * tail, tail, 0.0]
    masses = pair.masses_below(edges, BITS)
    assert [sum(masses[i:]) / 2**BITS for i in range(4)] == pytest.approx(truth, abs=1e-14)


def test_bins_of_a_histogram_that_change_together_are_as_many_pairs():
    part = Additive(nw.Scalar(1, integer=True), nw.laws.DiscreteLaplace(2), Lattice.integers())
    ((pair, count),) = lower_pairs_of(IdenticalNoise(nw.Histogram(5, bins_per_person=3), part)) or ()
    assert (count, pair.infinite_below(BITS)) == (3, 0)
    assert lower_pairs_of(IdenticalNoise(nw.Histogram(5, replace=True), part)) is None


@pytest.mark.parametrize("kind", [nw.mechanisms.PermuteAndFlip, nw.mechanisms.LinearGaussian, nw.mechanisms.NormShaped])
def test_where_no_pair_is_known_none_is_given(kind: Any):
    assert lower_pairs_of(kind(**EXAMPLES[kind])) is None


def test_sums_of_a_pair_stay_below_the_divergence_of_its_noise():
    for kind in ("laplace", "gaussian", "levels", "two-fold", "power 3", "logistic"):
        mechanism = MADE[f"{kind} in steps of 1/32"]
        ((pair, _),) = lower_pairs_of(mechanism) or ()
        masses = [mass / 2**BITS for mass in pair.masses_below(EDGES, BITS)]
        law = mechanism.law
        of = sticks.cell_divergences if kind == "levels" else sticks.smooth_divergences
        for epsilon, true in zip((0.0, 0.3, 0.8), of(law, 1.0, (0.0, 0.3, 0.8)), strict=True):
            below = math.fsum(
                m * max(0.0, 1 - math.exp(epsilon - float(e))) for e, m in zip(EDGES, masses, strict=True)
            )
            assert true - 0.06 < below <= true + 1e-7
