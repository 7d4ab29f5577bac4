"""Compound Gaussian noise under approximate privacy, and the exponential mechanism with a random epsilon."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from scipy.integrate import quad

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidAnswerError, InvalidLawError, InvalidQueryError, UncertifiedError
from noisewright.proof.approximate import approximate_delta
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.calibration import smallest_scale

SHAPE = nw.laws.GaussianMixture((Fraction(1), Fraction(3)), (Fraction(2, 3), Fraction(1, 3)))
PRIVACY = nw.ApproxDP(1, "0.001")


def calibrated_mixture(shape, privacy, sensitivity):
    """The shape at the smallest scale that is proven, to a relative 1e-9."""

    def private(factor):
        return approximate_delta(shape.scaled(factor), privacy.epsilon, sensitivity)[0] <= privacy.delta

    return shape.scaled(smallest_scale(private, float(sensitivity), 1e-9))


def test_a_calibrated_mixture_is_private_and_nothing_smaller_is_proven():
    law = calibrated_mixture(SHAPE, PRIVACY, Fraction(2))
    lattice = nw.laws.Lattice.cells(Fraction(1, 10))
    certified = make_certified(nw.mechanisms.Additive(nw.Scalar(2), law, lattice), PRIVACY)
    assert certified.certificate.rule == "approximate/joint-convexity"
    assert Certified.from_dict(json.loads(json.dumps(certified.to_dict()))).mechanism == certified.mechanism
    smaller = nw.mechanisms.Additive(nw.Scalar(2), law.scaled(Fraction(999, 1000)), lattice)
    with pytest.raises(UncertifiedError):
        nw.certify(smaller, PRIVACY)


def test_the_true_delta_of_the_mixture_is_below_the_proven_one():
    law = calibrated_mixture(SHAPE, PRIVACY, Fraction(1))

    def true_delta(chosen):
        def excess(x):
            return max(0.0, chosen.density(x, FLOATS) - 2.718281828459045 * chosen.density(x - 1, FLOATS))

        return quad(excess, -60, 60, limit=400, points=[-3, 0, 1])[0]

    assert true_delta(law) <= 0.001
    assert true_delta(law.scaled(Fraction(1, 4))) > 0.001


def test_impossible_mixtures_are_refused():
    with pytest.raises(InvalidLawError):
        nw.laws.GaussianMixture((Fraction(1),), (Fraction(1, 2),))
    with pytest.raises(UncertifiedError):
        nw.certify(nw.mechanisms.Additive(nw.Scalar(1), SHAPE, nw.laws.Lattice.cells(Fraction(1, 10))), nw.PureDP(10))


def test_a_random_epsilon_is_certified_by_its_largest_value():
    mechanism = nw.mechanisms.RandomExponential(
        nw.Choice(["a", "b"], 2), (Fraction(1, 2), Fraction(2)), (Fraction(1, 2),) * 2
    )
    with pytest.raises(UncertifiedError, match="largest-epsilon"):
        nw.certify(mechanism, nw.PureDP("1.9"))
    certified = make_certified(mechanism, nw.PureDP(2))
    assert certified.certificate.bound == 2
    assert Certified.from_dict(json.loads(json.dumps(certified.to_dict()))).mechanism == mechanism
    assert certified.release({"a": 1, "b": 1000}) == "b"
    assert "2 candidates" in certified.describe()
    with pytest.raises(InvalidAnswerError):
        certified.release({"a": 1})
    with pytest.raises(InvalidAnswerError):
        certified.draw(3)


def test_probabilities_of_a_choice_change_by_at_most_the_bound():
    mechanism = nw.mechanisms.RandomExponential(
        nw.Choice(["a", "b", "c"]), (Fraction(1, 2), Fraction(2)), (Fraction(1, 2),) * 2
    )
    before = mechanism.law_given({"a": 0, "b": 1, "c": 2}).masses(FLOATS)
    after = mechanism.law_given({"a": 1, "b": 0, "c": 1}).masses(FLOATS)
    assert sum(before) == pytest.approx(1)
    ratios = [max(p / q, q / p) for p, q in zip(before, after, strict=True)]
    assert max(ratios) <= 2.718281828459045**2


@pytest.mark.parametrize("wrong", [[], ["a", "a"], ["a", 3]])
def test_impossible_choices_are_refused(wrong):
    with pytest.raises(InvalidQueryError):
        nw.Choice(wrong)
    with pytest.raises(InvalidLawError):
        nw.mechanisms.RandomExponential(nw.Choice(["a"]), (Fraction(1),), (Fraction(1, 2),))
