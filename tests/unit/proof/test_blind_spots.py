"""Claims that a verifier with a blind spot would accept, each with an attack on it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.laplace import TruncatedLaplace
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.linear.noise import LinearLaplace
from noisewright.problem.attributes import Attributes
from noisewright.problem.geometry import GreatCircle
from noisewright.problem.metrics import Hamming, Scaled, Sum

F = Fraction


def told_apart(metric, cost):
    """Noise under which the log-ratio between the two elements is exactly `cost`."""
    mechanism = LinearLaplace(nw.Linear([[0, 1]]), ((0, 1),), (F(1),), (1 / F(cost),))
    return nw.certify(mechanism, nw.MetricPrivacy(metric))


def nested() -> Any:
    metric: Any = Hamming(2, 1)
    for factor in (10**30, F(1, 10**30)):
        for _ in range(11):
            metric = Scaled(metric, factor)
    return metric


@pytest.mark.parametrize(
    ("metric", "cost"),
    [
        (GreatCircle([[0, 180], [0, -180]], "1e13"), 10),
        (GreatCircle([[90, 0], [90, 180]], "1e14"), 10),
        (GreatCircle([[0, 180], [0, -180]], 1), F(1, 10**12)),
        (nested(), 10),
    ],
    ids=["antimeridian", "pole", "antimeridian, ordinary rate", "beyond the range of floats"],
)
def test_places_that_only_floats_hold_apart_are_not_told_apart(metric, cost):
    with pytest.raises(nw.errors.UncertifiedError):
        told_apart(metric, cost)
    if isinstance(metric, Scaled):
        assert told_apart(metric, 1).bound == 1


def test_sums_of_many_small_terms_are_not_rounded_up():
    n = 30_000
    small = F(10001, 10000) / 2**53
    distance = 1 + (n - 1) * small
    tables: Any = [[[0, 1], [1, 0]]] + [[[0, small], [small, 0]]] * (n - 1)
    for metric in (Attributes([[0] * n, [1] * n], tables), Sum([Hamming(2, 1)] + [Hamming(2, small)] * (n - 1))):
        with pytest.raises(nw.errors.UncertifiedError):
            told_apart(metric, distance * (1 + F(2, 10**12)))


def test_a_table_whose_jumps_fall_inside_cells_is_refused():
    with pytest.raises(nw.errors.InvalidMechanismError):
        nw.mechanisms.Additive(
            nw.Scalar(2, integer=True), Tabulated(F(2), (5, 4, 3, 2, 1), F(1, 2)), nw.laws.Lattice.integers()
        )


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_a_scale_that_is_no_number_makes_no_law(scale):
    laws: list[Any] = [nw.laws.Gaussian, nw.laws.Logistic]
    for law in laws:
        with pytest.raises(nw.errors.InvalidNumberError):
            law(scale)


def test_machine_integers_do_not_wrap_around_in_a_proof():
    machine: Any = np.int64(2**31)
    law = nw.laws.Gaussian(machine)
    mechanism = nw.mechanisms.Additive(nw.Scalar(2**33), law, nw.laws.Lattice.cells(F(2**33, 100)))
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(mechanism, nw.ZeroConcentratedDP("0.001"))
    assert nw.certify(mechanism, nw.ZeroConcentratedDP(8)).bound == 8


def test_a_support_narrower_than_the_shift_hides_nothing():
    mechanism = nw.mechanisms.Additive(
        nw.Scalar(1), TruncatedLaplace(F(1, 100), F(1, 100)), nw.laws.Lattice.cells(F(1, 1000))
    )
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(mechanism, nw.ProbabilisticDP(1, F(1, 2)))
