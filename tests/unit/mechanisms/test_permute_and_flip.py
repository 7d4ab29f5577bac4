"""Permute-and-flip against every order of the candidates, and against the exponential mechanism."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisewright.mechanisms.answers import STRETCH
from noisewright.mechanisms.selection import PermuteAndFlip, RandomExponential
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidAnswerError, UncertifiedError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice
from noisewright.proof.certify import certify

NAMES = ["a", "b", "c", "d", "e", "f"]
SCORES = [
    (3,),
    (1, 1),
    (0, 5),
    (2, -1, 4),
    (4, 4, 1, 0),
    (Fraction(1, 3), 7, 2, 2, -4),
    (0, 1, 2, 3, 3, -10),
]


def masses(scores, epsilon=1, sensitivity=1, field=FLOATS) -> list[Any]:
    """The law of permute-and-flip for exact scores."""
    query = Choice(NAMES[: len(scores)], sensitivity, exact=True)
    return PermuteAndFlip(query, epsilon).law_given(dict(zip(NAMES, scores, strict=False))).masses(field)


def by_orders(scores, epsilon: float, sensitivity: float) -> list[float]:
    """The same by going through every order of the candidates."""
    coins = [math.exp(-epsilon * float(max(scores) - s) / (2 * sensitivity)) for s in scores]
    found = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        refused = 1 / len(orders)
        for index in order:
            found[index] += refused * coins[index]
            refused *= 1 - coins[index]
    return found


@pytest.mark.parametrize("scores", SCORES, ids=str)
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1, 1), (Fraction(7, 2), 3), (Fraction(1, 100), Fraction(1, 2))])
def test_the_law_is_the_mean_over_every_order(scores, epsilon, sensitivity):
    wanted = by_orders(scores, float(epsilon), float(sensitivity))
    assert masses(scores, epsilon, sensitivity) == pytest.approx(wanted, rel=1e-12)
    with precision():
        enclosed = masses(scores, epsilon, sensitivity, BALLS)
        total = sum(enclosed[1:], start=enclosed[0])
        assert lower(total) <= 1 <= upper(total)
        assert float(total.rad()) < 1e-30
        assert [float(p.mid()) for p in enclosed] == pytest.approx(wanted, rel=1e-12)


def test_a_whole_law_of_many_candidates_sums_to_one():
    query = Choice([str(i) for i in range(40)], exact=True)
    law = PermuteAndFlip(query, 2).law_given({str(i): Fraction(i * i, 7) for i in range(40)})
    with precision():
        found = law.masses(BALLS)
        total: Any = sum(found[1:], start=found[0])
        assert abs(float((total - 1).mid())) < 1e-30
        assert float(law.cdf(38, BALLS).mid()) + float(law.sf(38, BALLS).mid()) == pytest.approx(1)
        assert float(law.sf(38, BALLS).mid()) == pytest.approx(float(found[39].mid()))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 3])
@pytest.mark.parametrize("size", [2, 3])
def test_one_person_changes_a_probability_by_at_most_the_epsilon_and_by_as_much_somewhere(epsilon, size: int):
    """Every two vectors of whole scores from 0 to 4 of which each differs by at most the sensitivity."""
    vectors = list(itertools.product(range(5), repeat=size))
    laws = {scores: np.array(masses(scores, epsilon)) for scores in vectors}
    worst = max(
        (laws[s] / laws[t]).max()
        for s in vectors
        for t in vectors
        if max(abs(a - b) for a, b in zip(s, t)) <= 1  # noqa: B905
    )
    assert worst <= math.exp(epsilon) * (1 + 1e-12)
    assert worst >= math.exp(epsilon) * (1 - 1e-6)


def test_its_epsilon_is_proven_and_no_smaller_one():
    mechanism = PermuteAndFlip(Choice(["a", "b"], 2), Fraction(1, 3))
    certificate = certify(mechanism, PureDP(Fraction(1, 3)))
    assert (certificate.bound, certificate.rule) == (Fraction(1, 3), "pure/permute-and-flip")
    assert certify(mechanism, PureDP(1)).bound == Fraction(1, 3)
    with pytest.raises(UncertifiedError, match="pure/permute-and-flip"):
        certify(mechanism, PureDP(Fraction(1, 3) - Fraction(1, 10**12)))


def test_computed_scores_are_worth_a_little_less():
    scores = {"a": 2**25, "b": 2**25 - 3}
    plain, wide = (PermuteAndFlip(Choice(["a", "b"], 2, exact=exact), 1) for exact in (True, False))
    assert plain.refusals(scores) == [0, Fraction(3, 4)]
    assert wide.refusals(scores) == [0, Fraction(3, 4) / STRETCH]


@pytest.mark.parametrize("scores", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 2}, [1, 2], 5])
def test_every_candidate_needs_a_score_and_no_other_has_one(scores):
    with pytest.raises(InvalidAnswerError, match="every candidate"):
        PermuteAndFlip(Choice(["a", "b"]), 1).law_given(scores)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 5])
def test_it_is_nowhere_worse_than_the_exponential_mechanism(epsilon):
    """The chance to choose among the best m is at least as large, for every m, at every scores of a grid."""
    query = Choice(NAMES[:4], exact=True)
    better = 0
    for scores in itertools.combinations_with_replacement(range(6), 4):
        ordered = dict(zip(NAMES, sorted(scores, reverse=True), strict=False))
        flips = np.cumsum(PermuteAndFlip(query, epsilon).law_given(ordered).masses(FLOATS))
        usual = np.cumsum(RandomExponential(query, [epsilon], [1]).law_given(ordered).masses(FLOATS))
        assert (flips >= usual - 1e-14).all()
        better += bool((flips > usual + 1e-6).any())
    assert better > 100
