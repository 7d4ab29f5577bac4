"""Whatever bounded question is asked, what comes back keeps its promises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings, strategies as st

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import profile_of, uniform_grid
from noisewright.problem.queries import Bounded
from noisewright.proof.bounded import largest_bias
from noisewright.search.cache import Cache
from noisewright.search.families.bounded_optimum import solved
from noisewright.search.families.shapes import two_point
from noisewright.search.programmes.bounded import smallest_margin
from noisewright.search.programmes.layout import Size

EPSILONS = st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(5, 2)])
PARTS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2, 7)])
EXTRAS = st.sampled_from([Fraction(1, 50), Fraction(1, 2), Fraction(3)])


@st.composite
def bounded_questions(draw, epsilons=EPSILONS) -> tuple[Bounded, Fraction]:
    """A feasible question with any offset and any width, and its epsilon."""
    epsilon = draw(epsilons)
    low, width = Fraction(draw(st.integers(-5, 5))), Fraction(draw(st.sampled_from([1, 7, 120])))
    bare = Bounded(width * draw(PARTS), (low, low + width), (low, low + width), Fraction(0))
    margin = smallest_margin(bare, epsilon)
    room = [margin * (1 + draw(EXTRAS)) for _ in range(2)]
    return Bounded(bare.sensitivity, bare.inputs, (low - room[0], low + width + room[1]), Fraction(0)), epsilon


@settings(max_examples=12)
@given(bounded_questions(), st.sampled_from([nw.WorstVariance(), nw.AverageVariance()]))
def test_the_programmes_mechanism_is_private_unbiased_and_not_below_the_bound(asked, utility):
    query, epsilon = asked
    found = solved(query, epsilon, utility, Size(6, 40), lambda _: None, Cache(None))
    assert found.bound is not None
    assert found.bound >= 0
    others = [two_point(query, epsilon)]
    if found.mechanism is not None:
        assert nw.certify(found.mechanism, nw.PureDP(epsilon)).bound <= epsilon
        assert largest_bias(found.mechanism) == 0
        others.append(found.mechanism)
    for mechanism in others:
        profile = profile_of(mechanism)
        value = profile.worst(1) if isinstance(utility, nw.WorstVariance) else profile.average(1)
        assert found.bound <= value


@settings(max_examples=15)
@given(bounded_questions(), st.floats(0, 1))
def test_releases_stay_in_bounds_for_every_answer(asked, place):
    query, epsilon = asked
    answer = query.inputs[0] + Fraction(place) * query.width
    mechanism = two_point(query, epsilon)
    certified = nw.Certified(mechanism, nw.certify(mechanism, nw.PureDP(epsilon)))
    drawn = certified.release_many(np.full(50, float(min(max(answer, query.inputs[0]), query.inputs[1]))))
    assert float(query.outputs[0]) <= drawn.min()
    assert drawn.max() <= float(query.outputs[1])


@settings(max_examples=25)
@given(bounded_questions(), st.integers(1, 9))
def test_mixing_rows_is_linear_in_the_mean(asked, times):
    query, epsilon = asked
    cells = times * (query.width / query.sensitivity).numerator
    mechanism = two_point(query, epsilon, uniform_grid(*query.covered, cells))
    profile = profile_of(mechanism)
    assert all(low <= 0 <= high for low, high in profile.bias)
    assert profile.worst(0) <= profile.worst(1)
    assert profile.average(1) <= profile.worst(1)
