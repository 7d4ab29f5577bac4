"""Bounds of laws, in exact rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.pure import pure_bound

ONE = Fraction(1)


@pytest.mark.parametrize("kind", [Laplace, DiscreteLaplace])
def test_laplace_noise_costs_reach_over_scale_exactly(kind):
    assert pure_bound(kind(Fraction(3)), Fraction(1))[0] == Fraction(1, 3)
    assert pure_bound(kind(Fraction(1, 3)), Fraction(5))[0] == 15


@pytest.mark.parametrize("split", [Fraction(1, 1000), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize(("reach", "levels"), [("1/1000", 1), ("1", 1), ("1.001", 2), ("2", 2), ("7/2", 4)])
def test_a_staircase_costs_one_level_per_sensitivity_begun(split, reach, levels):
    law = staircase(epsilon=Fraction(1, 7), sensitivity=ONE, split=split)
    assert pure_bound(law, Fraction(reach))[0] == Fraction(levels, 7)


def test_a_narrow_top_step_lets_two_levels_come_close():
    """Down on both sides of a top narrower than the reach: the two sides are as far from each other as from the top."""
    law = skewed_staircase(epsilon=ONE, sensitivity=ONE, left=Fraction(0), right=Fraction(1, 100))
    assert pure_bound(law, ONE)[0] == 1
    assert pure_bound(law, Fraction(102, 100))[0] == 2


def test_cells_that_only_touch_at_the_reach_do_not_count():
    """A gap of exactly the reach is met by a single pair of points: a null set."""
    law = Piecewise(
        rate=ONE,
        period=ONE,
        breaks=tuple(map(Fraction, (-2, -1, 0, 1, 2, 3))),
        levels=tuple(map(Fraction, (0, 0, 1, 2, 2))),
        left_cells=1,
        right_cells=1,
    )
    assert pure_bound(law, ONE)[0] == 1
    assert pure_bound(law, ONE + Fraction(1, 10**9))[0] == 2


def test_a_law_without_a_rule_is_refused():
    with pytest.raises(UncertifiedError, match="no rule"):
        pure_bound(object(), ONE)  # type: ignore[arg-type]  # that it fails is the point


def test_a_period_too_short_for_the_reach_is_refused_at_once():
    law = staircase(epsilon=Fraction(1, 10**12), sensitivity=ONE, split=ONE)
    with pytest.raises(UncertifiedError, match="period"):
        pure_bound(law, Fraction(10**12))
