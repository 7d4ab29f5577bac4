"""What is said about the mean of a bounded answer is what was proven about it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.laws.bumps import Plateau, Sine
from noisewright.proof.bounded import largest_bias
from noisewright.sample.certified import make_certified
from noisewright.search.families.shapes import composite, piecewise_half, truncated, two_point
from tests.bounded import question

QUERY, EPSILON = question(margin="4"), Fraction(1)
HALF = piecewise_half(EPSILON)


def _nudged(share: Fraction) -> nw.mechanisms.Rows:
    """Two points whose first row leans by this share to the upper one; a hundredth of epsilon pays for it."""
    exact = two_point(QUERY, EPSILON - Fraction(1, 100))
    weights = [[w * share.denominator for w in row] for row in exact.weights]
    moved = share.numerator * exact.total
    weights[0] = [weights[0][0] - moved, weights[0][1] + moved]
    return replace(exact, weights=tuple(tuple(row) for row in weights))


def _mean(mechanism) -> str:
    said = make_certified(mechanism, nw.PureDP(EPSILON)).describe().splitlines()
    (line,) = (line for line in said if line.startswith(("Mean: ", "Bias: ")))
    return line


def test_an_exact_mean_is_called_exact():
    assert largest_bias(two_point(QUERY, EPSILON)) == 0
    assert _mean(two_point(QUERY, EPSILON)) == "Mean: exactly the true answer, for every answer in the range."


@pytest.mark.parametrize(
    "mechanism",
    [
        _nudged(Fraction(1, 7 * 10**12)),
        _nudged(Fraction(1, 3 * 10**20)),
        composite(QUERY, EPSILON, Plateau(HALF)),
        composite(QUERY, EPSILON, Sine(HALF / 2)),
    ],
    ids=["barely allowed", "far less", "an enclosed mean", "an enclosed mean with pi"],
)
def test_a_bias_that_is_only_small_is_not_called_exactly_the_true_answer(mechanism):
    assert mechanism is not None
    bias = largest_bias(mechanism)
    assert 0 < bias <= Fraction(1, 10**12)
    said = _mean(mechanism)
    assert "exactly" not in said
    found = re.fullmatch(r"Mean: proven to be within (\S+) of the true answer, for every answer in the range\.", said)
    assert found is not None
    assert bias <= Fraction(found[1]) <= bias * (1 + Fraction(2, 10**6))


def test_a_bias_is_never_stated_smaller_than_it_is():
    mechanism = truncated(QUERY, EPSILON, Fraction(1))
    assert mechanism is not None
    found = re.fullmatch(r"Bias: answers are off by up to (\S+) on average\.", _mean(mechanism))
    assert found is not None
    assert largest_bias(mechanism) <= Fraction(found[1])
