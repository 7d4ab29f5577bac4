"""The verifier accepts what is true, refuses what is not, and is the only maker of certificates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import above
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.proof.certify import Certificate, certificate_matches, certify
from noisewright.proof.provers import PROVERS

ONE = Fraction(1)
TINY = Fraction(1, 10**12)


def laplace(scale: Fraction) -> Additive:
    return Additive(Scalar(1), Laplace(scale), Lattice.cells(Fraction(1, 10)))


HONEST = {
    "laplace": laplace(ONE),
    "discrete laplace": Additive(Scalar(3, integer=True), DiscreteLaplace(Fraction(3)), Lattice.integers()),
    "staircase": Additive(
        Scalar(1), staircase(epsilon=ONE, sensitivity=ONE, split=Fraction(1, 4)), Lattice.cells(Fraction(1, 4))
    ),
    "integer staircase": Additive(
        Scalar(3, integer=True),
        skewed_staircase(epsilon=ONE, sensitivity=Fraction(3), left=-3 * HALF, right=3 * HALF),
        Lattice.integers(),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_true_claim_is_proven_with_its_exact_bound(name):
    certificate = certify(HONEST[name], PureDP(1))
    assert certificate.bound == 1
    assert certificate.requirement == PureDP(1)
    assert certificate.mechanism == HONEST[name].digest
    assert certificate.rule in str(certificate)


@pytest.mark.parametrize("name", HONEST)
def test_a_claim_that_is_too_small_by_a_hair_is_refused(name):
    with pytest.raises(UncertifiedError, match="refused") as caught:
        certify(HONEST[name], PureDP(1 - TINY))
    assert caught.value.bound == 1
    assert caught.value.requirement == PureDP(1 - TINY)


def test_a_scale_too_small_by_a_thousandth_is_refused():
    with pytest.raises(UncertifiedError, match="refused"):
        certify(laplace(Fraction(999, 1000)), PureDP(1))


def test_a_float_scale_just_too_small_is_refused():
    """As floats 1 / 0.3333333333333333 is exactly 3; as rationals it is more."""
    with pytest.raises(UncertifiedError, match="refused"):
        certify(laplace(0.3333333333333333), PureDP(3))  # type: ignore[arg-type]  # floats are read exactly


def test_the_refusal_names_an_epsilon_that_would_be_granted():
    with pytest.raises(UncertifiedError) as caught:
        certify(laplace(Fraction(1, 3)), PureDP(1))
    named = str(caught.value).rpartition("epsilon >= ")[2].rstrip(".")
    assert certify(laplace(Fraction(1, 3)), PureDP(named)).bound == 3


@pytest.mark.parametrize("bound", [Fraction(1, 3), Fraction(10**7 + 1, 10**7), Fraction(2), Fraction(1, 10**5) + TINY])
def test_the_shown_bound_is_not_below_and_close(bound):
    assert bound <= Fraction(above(bound)) <= bound * (1 + Fraction(1, 10**5))


def test_certificates_are_made_by_nothing_else():
    certificate = certify(HONEST["laplace"], PureDP(1))
    with pytest.raises(UncertifiedError, match="nothing else"):
        Certificate(PureDP(1), ONE, "pure/laplace", HONEST["laplace"].digest, "declared", object())
    with pytest.raises(TypeError):
        Certificate(PureDP(1), ONE, "pure/laplace", HONEST["laplace"].digest, "declared")  # type: ignore[call-arg]
    with pytest.raises((UncertifiedError, ValueError, TypeError)):
        replace(certificate, bound=Fraction(0))  # type: ignore[call-arg]  # that it fails is the point
    with pytest.raises(AttributeError):
        certificate.bound = Fraction(0)  # type: ignore[misc]  # that it fails is the point


@pytest.mark.parametrize(("mechanism", "requirement"), [(object(), PureDP(1)), (HONEST["laplace"], object())])
def test_without_a_rule_there_is_no_certificate(mechanism, requirement):
    with pytest.raises(UncertifiedError, match="no rule"):
        certify(mechanism, requirement)


def test_a_claim_matches_only_if_every_word_of_it_does():
    certificate = certify(HONEST["laplace"], PureDP(1))
    said = certificate.to_dict()
    assert certificate_matches(certificate, said)
    for field in said:
        assert not certificate_matches(certificate, {**said, field: "other"})
    assert not certificate_matches(certificate, {**said, "more": 1})
    # Claims of older versions do not name their neighbours; nothing else may be missing.
    for field in said:
        left = {name: value for name, value in said.items() if name != field}
        assert certificate_matches(certificate, left) is (field == "neighbours")


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, ArithmeticError])
def test_numbers_that_a_rule_cannot_compute_with_are_a_refusal(monkeypatch: pytest.MonkeyPatch, error: type[Exception]):
    def rule(*_: object) -> None:
        raise error

    monkeypatch.setitem(PROVERS, (Additive, PureDP), rule)
    with pytest.raises(UncertifiedError, match=f"too large or too small to be computed with .{error.__name__}"):
        certify(laplace(ONE), PureDP(1))
