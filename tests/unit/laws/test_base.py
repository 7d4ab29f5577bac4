"""Quantiles by bisection."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.base import Law, quantile
from noisewright.laws.laplace import Laplace
from noisewright.laws.piecewise import staircase
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidNumberError

LAWS: list[Law] = [
    Laplace(Fraction(2)),
    Laplace(Fraction(1, 10**6)),
    staircase(epsilon=Fraction(1), sensitivity=Fraction(3), split=Fraction(1, 4)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("probability", [1e-12, 0.01, 0.3, 0.7, 0.99, 1 - 1e-12])
def test_a_quantile_inverts_the_distribution_function(law, probability):
    x = quantile(law, probability)
    assert law.cdf(x, FLOATS) == pytest.approx(probability, rel=1e-9)
    assert law.sf(x, FLOATS) == pytest.approx(1 - probability, rel=1e-4 if probability > 0.999 else 1e-9)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_median_of_symmetric_noise_is_zero(law):
    assert quantile(law, 0.5) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("probability", [0, 1, -0.1, 1.1, float("nan")])
def test_only_probabilities_strictly_inside(probability):
    with pytest.raises(InvalidNumberError, match="between 0 and 1"):
        quantile(LAWS[0], probability)


def test_laws_answer_to_the_protocol():
    assert all(isinstance(law, Law) for law in LAWS)
    assert not isinstance(object(), Law)
