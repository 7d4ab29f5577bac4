"""What holds for every law that is used through its survival function."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.laws.registry import law_from_dict
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from tests import strategies

EVERY_LAW = pytest.mark.parametrize("kind", sorted(strategies.SMOOTH_LAWS))
EXAMPLES = settings(max_examples=15)


@EVERY_LAW
@EXAMPLES
@given(data=st.data())
def test_tails_are_mirror_images_and_floats_lie_near_the_balls(kind, data):
    law = data.draw(strategies.SMOOTH_LAWS[kind])
    x = data.draw(strategies.decimals(0.01, 30))
    with precision(128):
        low, high = law.cdf(-x, BALLS), law.sf(x, BALLS)
        assert low.overlaps(high)
        assert (law.cdf(x, BALLS) + high).contains(1)
        assert float(high.mid()) == pytest.approx(law.sf(x, FLOATS), rel=1e-9, abs=1e-290)


@EVERY_LAW
@EXAMPLES
@given(data=st.data())
def test_moments_agree_in_both_fields_and_with_a_sum_of_tails(kind, data):
    law = data.draw(strategies.SMOOTH_LAWS[kind])
    with precision(128):
        for power in (Fraction(1), Fraction(2), Fraction(5, 2)):
            assert float(law.moment(power, BALLS).mid()) == pytest.approx(law.moment(power, FLOATS), rel=1e-9)
    spread = math.sqrt(law.moment(2, FLOATS))
    reach = 3 * spread + (0.5 if kind == "discrete-gaussian" else 0)  # whole numbers are spread over half a unit
    assert 1 - 2 * law.sf(reach, FLOATS) >= 1 - 1 / 9 - 1e-9  # Chebyshev
    assert law.mean(FLOATS) == 0


@EVERY_LAW
@EXAMPLES
@given(data=st.data())
def test_laws_come_back_from_plain_data(kind, data):
    law = data.draw(strategies.SMOOTH_LAWS[kind])
    assert law_from_dict(law.to_dict()) == law
