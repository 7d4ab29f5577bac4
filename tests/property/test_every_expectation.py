"""What any mechanism says of any utility: a value, infinity, or that there is no rule for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import noisewright.problem.divergences  # noqa: F401  # loads the utilities of histograms, which registers them
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.utilities import UTILITIES, AbsoluteError, ErrorQuantile, Expected, SquaredError, Usefulness
from tests.examples import EXAMPLES
from tests.saved import KINDS, example

SMALL = {
    SquaredError: SquaredError(),
    AbsoluteError: AbsoluteError(),
    Usefulness: Usefulness(1),
    ErrorQuantile: ErrorQuantile("0.9"),
}
"""Utilities for any count of numbers, where the examples of the classes have weights."""

GOALS = [SMALL[kind] if kind in SMALL else kind(**EXAMPLES[kind]) for kind in (*UTILITIES.kinds.values(), Expected)]


@pytest.mark.parametrize("utility", GOALS, ids=lambda utility: type(utility).__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_every_mechanism_measures_every_utility_or_says_that_it_cannot(kind: str, utility: Any):
    mechanism = example(kind).mechanism
    try:
        value = mechanism.expected(utility)
    except InvalidUtilityError:
        with pytest.raises(InvalidUtilityError):
            mechanism.expected(utility, FLOATS)
        return
    with precision():
        assert not value.is_finite() or mechanism.shown(utility, value) >= 0
    rough = mechanism.expected(utility, FLOATS)
    assert not math.isnan(rough)
    assert math.isfinite(rough) == bool(value.is_finite())


@pytest.mark.parametrize("utility", [SquaredError([1] * 7), AbsoluteError([1] * 7), Usefulness([1] * 7)])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_limits_for_another_count_of_numbers_are_refused(kind: str, utility: Any):
    for field in (FLOATS, BALLS):
        with pytest.raises(InvalidUtilityError):
            example(kind).mechanism.expected(utility, field)
