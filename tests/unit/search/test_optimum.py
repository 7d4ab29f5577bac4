"""The best split of a staircase, against closed forms and a plain search."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.laws.piecewise import staircase
from noisewright.numerics.fields import FLOATS
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, PowerError, SquaredError, Usefulness
from noisewright.search.families.scalar_pure import best_quantile, best_split

EPSILONS = [Fraction(1, 20), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_closed_forms_of_the_split(epsilon):
    b = math.exp(-epsilon)
    assert best_split(AbsoluteError(), epsilon) == pytest.approx(1 / (1 + math.exp(epsilon / 2)))
    squared = ((b * (1 + b) / 2) ** (1 / 3) - b) / (1 - b)
    assert best_split(SquaredError(), epsilon) == pytest.approx(squared, rel=1e-6)
    assert best_split(Usefulness("7/4"), epsilon) == 0.75
    assert best_split(Usefulness(3), epsilon) == 1.0


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("power", ["1/2", "3/2", "5", "15/2"])
def test_no_other_split_of_a_grid_is_better(epsilon, power):
    def value(split: float) -> float:
        law = staircase(epsilon=epsilon, sensitivity=Fraction(1), split=Fraction(split).limit_denominator(10**9))
        return law.moment(Fraction(power), FLOATS)

    best = value(best_split(PowerError(power), epsilon))
    assert best <= min(value(i / 40) for i in range(1, 41)) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("confidence", ["0.001", "0.5", "0.95", "0.999"])
def test_at_the_best_half_width_the_best_usefulness_is_the_confidence(epsilon, confidence):
    whole, part = best_quantile(Fraction(confidence), epsilon)
    b = math.exp(-epsilon)
    assert 0 <= part <= 1
    assert 1 - b ** (whole + 1) / (b + part * (1 - b)) == pytest.approx(float(Fraction(confidence)), rel=1e-9)
    assert best_split(ErrorQuantile(confidence), epsilon) == (part or 1.0)


def test_a_tiny_epsilon_uses_the_split_of_the_absolute_error():
    assert best_split(PowerError("5/2"), Fraction(1, 10**4)) == best_split(AbsoluteError(), Fraction(1, 10**4))
