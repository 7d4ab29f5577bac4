"""Each kind of claim is compared with its own parameter, a hair decides, and odd proofs are refused."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, exp, sqrt
from typing import Any

import pytest

import noisewright as nw
from noisewright.proof.provers import PROVERS

F = Fraction
HAIR = F(1, 10**9)
GAUSSIAN = nw.mechanisms.Additive(nw.Scalar(2), nw.laws.Gaussian(F(3)), nw.laws.Lattice.cells(F(1, 10)))


def tail(x: float) -> float:
    return erfc(x / sqrt(2)) / 2


# Shift 2 at deviation 3: the log-ratio passes 1/2 at 9/4 - 1 = 5/4.
HALF_LINE = tail(1.25 / 3) - exp(0.5) * tail(3.25 / 3)
BOTH_TAILS = tail(1.25 / 3) + tail(3.25 / 3)

CLAIMS: dict[str, tuple[Any, Any]] = {
    "approximate": (lambda last: nw.ApproxDP("1/2", last), HALF_LINE),
    "Renyi": (lambda last: nw.RenyiDP(5, last), 5 * 4 / 18),
    "concentrated": (nw.ZeroConcentratedDP, 4 / 18),
}


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_claim_is_compared_with_its_own_last_parameter(kind):
    make, truth = CLAIMS[kind]
    bound = nw.certify(GAUSSIAN, make(F(truth) * (1 + HAIR))).bound
    assert float(bound) == pytest.approx(truth, rel=1e-12)
    with pytest.raises(nw.errors.UncertifiedError, match="refused") as refusal:
        nw.certify(GAUSSIAN, make(F(truth) * (1 - HAIR)))
    assert refusal.value.bound == bound
    assert nw.certify(GAUSSIAN, make(bound)).bound == bound, "what is proven may be claimed"


def test_a_probabilistic_claim_is_not_proven_as_an_approximate_one():
    """Of the lattice cells between the two tails and beyond, 5/4 itself is an edge for none: one cell may count."""
    bound = float(nw.certify(GAUSSIAN, nw.ProbabilisticDP("1/2", "0.9")).bound)
    assert BOTH_TAILS - 0.05 < bound < BOTH_TAILS + 0.05
    assert bound > 2 * HALF_LINE
    with pytest.raises(nw.errors.UncertifiedError, match="refused"):
        nw.certify(GAUSSIAN, nw.ProbabilisticDP("1/2", F(HALF_LINE) * 2))


def test_a_bound_of_zero_is_a_bound():
    laplace = nw.mechanisms.Additive(nw.Scalar(2), nw.laws.Laplace(F(4)), nw.laws.Lattice.cells(F(1, 10)))
    assert nw.certify(laplace, nw.ApproxDP("1/2", "1e-9")).bound == 0
    assert nw.certify(laplace, nw.ProbabilisticDP("1/2", "1e-9")).bound == 0


@pytest.mark.parametrize("wrong", [0.5, F(-1, 2), None, 1])
def test_a_rule_that_gives_no_exact_bound_from_zero_on_proves_nothing(wrong, monkeypatch):
    monkeypatch.setitem(PROVERS, (nw.mechanisms.Additive, nw.PureDP), lambda mechanism, requirement: (wrong, "odd"))
    with pytest.raises(nw.errors.UncertifiedError, match="no proven bound"):
        nw.certify(GAUSSIAN, nw.PureDP(1))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_largest_epsilon_of_a_random_choice_counts_wherever_it_stands(order):
    epsilons = [[F(1, 2), F(1), F(2)][i] for i in order]
    mechanism = nw.mechanisms.RandomExponential(nw.Choice(["a", "b"]), tuple(epsilons), (F(1, 3),) * 3)
    assert nw.certify(mechanism, nw.PureDP(2)).bound == 2
    with pytest.raises(nw.errors.UncertifiedError, match="largest-epsilon"):
        nw.certify(mechanism, nw.PureDP(2 - HAIR))
