"""The verifier against brute force: exact, tight, and monotone."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import PureDP
from noisewright.proof.certify import certify
from noisewright.proof.pure import pure_bound
from tests import brute, strategies
from tests.strategies import Claim

EVERY_LAW = pytest.mark.parametrize("kind", sorted(strategies.LAWS))
reaches = st.fractions(min_value=Fraction(1, 6), max_value=9, max_denominator=6)
HAIR = Fraction(1, 10**9)


@EVERY_LAW
@given(data=st.data(), reach=reaches)
@settings(max_examples=150)
def test_the_bound_is_that_of_every_pair_of_cells(kind, data, reach):
    law = data.draw(strategies.LAWS[kind])
    assert pure_bound(law, reach)[0] == brute.privacy_loss(law, reach)


@EVERY_LAW
@given(data=st.data(), reach=reaches, more=reaches)
@settings(max_examples=50)
def test_a_wider_reach_never_costs_less(kind, data, reach, more):
    law = data.draw(strategies.LAWS[kind])
    assert pure_bound(law, reach)[0] <= pure_bound(law, reach + more)[0]


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=50)
def test_what_is_true_is_proven_and_a_hair_less_is_refused(kind, data):
    claim: Claim = data.draw(strategies.CLAIMS[kind])
    assert certify(claim.mechanism, PureDP(claim.epsilon)).bound == claim.epsilon
    with pytest.raises(UncertifiedError):
        certify(claim.mechanism, PureDP(claim.epsilon * (1 - HAIR)))


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=30)
def test_what_is_certified_holds_for_what_is_drawn_and_is_reached_by_it(kind, data):
    """Masses of the lattice cells, in balls: no pair within the sensitivity passes epsilon, and some pair meets it."""
    claim: Claim = data.draw(strategies.CLAIMS[kind])
    mechanism = claim.mechanism
    steps = int(mechanism.query.sensitivity / mechanism.lattice.step)
    ends = brute.density_of(mechanism.law)
    reach = max(abs(ends.breaks[0]), ends.breaks[-1]) + 2 * ends.period if hasattr(ends, "breaks") else 0
    far = int(reach / mechanism.lattice.step) + 2 * steps
    with precision(100):
        logs = [mechanism.noise.mass(k, BALLS).log() for k in range(-far, far + 1)]
        highs, lows = [upper(value) for value in logs], [lower(value) for value in logs]
    certain = max(lows[i] - highs[j] for i, j in _pairs(len(logs), steps))
    possible = max(highs[i] - lows[j] for i, j in _pairs(len(logs), steps))
    assert certain <= claim.epsilon
    assert possible >= claim.epsilon
    assert possible - certain < HAIR


def _pairs(size: int, steps: int) -> list[tuple[int, int]]:
    near = [(i, j) for i in range(size) for j in range(i + 1, min(size, i + steps + 1))]
    return near + [(j, i) for i, j in near]


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=60)
def test_answers_within_the_sensitivity_stay_within_as_many_steps(kind, data):
    """Half-way points and floats just beside them included."""
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    step, sensitivity = mechanism.lattice.step, mechanism.query.sensitivity
    if mechanism.query.integer:
        answer = Fraction(data.draw(st.integers(-50, 50)))
        other = answer + data.draw(st.integers(-int(sensitivity), int(sensitivity)))
    else:
        halves = st.integers(-200, 200).map(lambda n: n * step / 2)
        answer = data.draw(halves | st.fractions(min_value=-9, max_value=9))
        share = data.draw(st.sampled_from([-1, 1, 0]) | st.fractions(min_value=-1, max_value=1))
        other = answer + share * sensitivity
    first, second = (mechanism.law_given(value).answer_index for value in (answer, other))
    assert abs(first - second) <= sensitivity / step
