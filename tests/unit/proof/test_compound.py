"""Compound Gaussian noise under approximate privacy, and the exponential mechanism with a random epsilon."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidAnswerError, InvalidLawError, InvalidQueryError, UncertifiedError
from noisewright.proof import mixtures
from noisewright.proof.approximate import approximate_delta
from noisewright.proof.mixtures import mixture_delta
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
    assert nw.certify(smaller, PRIVACY).rule == "approximate/gaussian-mixture"


def _integrated(law, epsilon, shift):
    """The positive part of f(x) - e^epsilon f(x + shift), between its roots, to 15 digits."""

    def excess(x):
        return law.density(x, FLOATS) - math.exp(epsilon) * law.density(x + shift, FLOATS)

    grid = [-shift / 2 + i * 30 * float(max(law.stds)) / 10_000 for i in range(10_000)]
    roots = [brentq(excess, a, b, xtol=1e-14) for a, b in pairwise(grid) if (excess(a) > 0) != (excess(b) > 0)]
    ends = [*roots, *([math.inf] if len(roots) % 2 else [])]

    def mass(x):
        if math.isinf(x):
            return 0.0
        return float(law.sf(x, FLOATS) - math.exp(epsilon) * law.sf(x + shift, FLOATS))

    return sum(mass(a) - mass(b) for a, b in zip(ends[::2], ends[1::2], strict=True)), len(roots)


@pytest.mark.parametrize(
    ("stds", "weights", "epsilon", "roots"),
    [
        ((1, 3), ("2/3", "1/3"), "1", 3),
        ((1, 10), ("1/2", "1/2"), "1/2", 3),
        ((2, 40), ("99/100", "1/100"), "1", 2),
        ((1, 4), ("9/10", "1/10"), "3/2", 3),
        ((1, 3, 9), ("6/10", "3/10", "1/10"), "1/4", 3),
        ((3,), ("1",), "1/3", 1),
    ],
)
def test_the_delta_of_a_mixture_is_its_integral_from_above(stds, weights, epsilon, roots):
    law = nw.laws.GaussianMixture(stds, weights)
    truth, found = _integrated(law, float(Fraction(epsilon)), 1.0)
    assert found == roots
    bound = float(mixture_delta(law, Fraction(epsilon), Fraction(1)))
    assert truth * (1 - 1e-12) <= bound <= truth * (1 + 1e-6)


def test_undecided_cells_count(monkeypatch):
    """With no cell ever cut, nothing is decided where the sign changes, and all of it counts."""
    law = nw.laws.GaussianMixture((1, 10), ("1/2", "1/2"))
    truth, _ = _integrated(law, 0.5, 1.0)
    monkeypatch.setattr(mixtures, "_MOST_CELLS", 0)
    assert truth <= float(mixture_delta(law, Fraction(1, 2), Fraction(1)))


def test_no_mixture_below_its_integral_is_certified():
    """At the exact delta the claim stands; a hair below it falls."""
    law = nw.laws.GaussianMixture((1, 4), ("9/10", "1/10"))
    mechanism = nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells(Fraction(1, 100)))
    truth, _ = _integrated(law, 1.0, 1.0)
    assert nw.certify(mechanism, nw.ApproxDP(1, Fraction(truth * (1 + 1e-6)))).rule == "approximate/gaussian-mixture"
    with pytest.raises(UncertifiedError, match="gaussian-mixture"):
        nw.certify(mechanism, nw.ApproxDP(1, Fraction(truth * (1 - 1e-6))))


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "3"])
@pytest.mark.parametrize(
    ("rates", "weights"), [((1, 4), ("9/10", "1/10")), (("1/100", 5), ("3/10", "7/10")), ((2, 3), ("1/2", "1/2"))]
)
def test_the_delta_of_two_fold_noise_is_its_integral_from_above(rates, weights, epsilon):
    """In closed form: the loss exceeds epsilon on an interval around 0, whose ends are found in floats."""
    law, rate = nw.laws.TwoFold(nw.folds.Atoms(rates, weights)), float(Fraction(epsilon))

    def excess(x):
        return law.density(x, FLOATS) - math.exp(rate) * law.density(x + 1, FLOATS)

    def mass(x):
        return float(law.sf(x, FLOATS) - math.exp(rate) * law.sf(x + 1, FLOATS))

    bound, rule = approximate_delta(law, Fraction(epsilon), Fraction(1))
    if excess(0.0) <= 0:
        assert (bound, rule) == (Fraction(0), "approximate/pure/two-fold")
        return
    first = brentq(excess, -0.5, 0.0, xtol=1e-15)
    last = brentq(excess, 0.0, 200.0, xtol=1e-15) if excess(200.0) < 0 else None
    truth = mass(first) - (0.0 if last is None else mass(last))
    assert rule == "approximate/two-fold"
    assert truth * (1 - 1e-12) <= float(bound) <= truth * (1 + 1e-9)


def test_two_fold_noise_with_heavy_tails_ends_where_its_loss_falls_below_epsilon():
    """Gamma(2, 1): density (1 + |x|)^-3, so the loss falls to 1/2 at x = 1 / (e^(1/6) - 1) - 1."""
    law = nw.laws.TwoFold(nw.folds.GammaFold(2, 1))
    last = 1 / math.expm1(1 / 6) - 1
    # On the left (1 - x)^3 = e^(-1/2) (2 + x)^3.
    first = (1 - 2 * math.exp(-1 / 6)) / (1 + math.exp(-1 / 6))

    def mass(x):
        return float(law.sf(x, FLOATS) - math.exp(0.5) * law.sf(x + 1, FLOATS))

    bound = float(approximate_delta(law, Fraction(1, 2), Fraction(1))[0])
    assert bound == pytest.approx(mass(first) - mass(last), rel=1e-9)


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
