"""The exponential mechanism over listed candidates: its true privacy, by every pair of probabilities."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath
import pytest

import noisewright as nw
from noisewright.proof.choice import exponential_bound, utility_sensitivity

F = Fraction
CANDIDATES = [(F(0),), (F(1, 2),), (F(3),)]


def line(answers: list[Any], candidates: Any, power: str = "1", rate: str = "2/3", reach: str = "1") -> Any:
    return nw.mechanisms.MinkowskiExponential(
        tuple((F(a),) for a in answers), tuple(candidates), F(power), F(rate), F(reach)
    )


def truth(mechanism: Any) -> Any:
    """The largest log-ratio of two probabilities over neighbouring answers, in sixty digits."""
    power, rate = (mpmath.mpf(v.numerator) / v.denominator for v in (mechanism.power, mechanism.rate))

    def logs(answer: Any) -> list[Any]:
        far = [
            sum(
                mpmath.power(mpmath.mpf(abs(x - y).numerator) / abs(x - y).denominator, power)
                for x, y in zip(c, answer, strict=True)
            )
            for c in mechanism.candidates
        ]
        weights = [mpmath.exp(-rate * d) for d in far]
        return [mpmath.log(w / sum(weights)) for w in weights]

    worst = mpmath.mpf(0)
    for a in mechanism.answers:
        for b in mechanism.answers:
            if a != b and sum(abs(x - y) for x, y in zip(a, b, strict=True)) <= mechanism.reach:
                worst = max(worst, *(p - q for p, q in zip(logs(a), logs(b), strict=True)))
    return worst


MECHANISMS = {
    "answers beside the candidates": line([0, 1, 2, 3], CANDIDATES),
    "candidates far to one side": line([0, 1, 2], [(F(4),), (F(6),), (F(13, 2),)], power="2"),
    "squared": line([0, 1, 2, 3], CANDIDATES, power="2"),
    "root": line([0, 1, 2, 3], CANDIDATES, power="1/2"),
    "only the last two are neighbours": line([0, 5, 6], CANDIDATES, power="2"),
    "only the first two are neighbours": line([0, 1, 6], CANDIDATES),
    "plane": nw.mechanisms.MinkowskiExponential(
        ((F(0), F(0)), (F(1), F(0)), (F(0), F(1))), ((F(0), F(2)), (F(3), F(1)), (F(1), F(1))), F(2), F(1, 3), F(1)
    ),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_bound_is_the_largest_ratio_of_two_probabilities(name):
    mechanism = MECHANISMS[name]
    bound = exponential_bound(mechanism)
    with mpmath.workdps(60):
        largest = truth(mechanism)
        shown = mpmath.mpf(bound.numerator) / bound.denominator
        assert largest > 0
        assert largest <= shown <= largest * (1 + mpmath.mpf(10) ** -30)
    assert nw.certify(mechanism, nw.PureDP(bound)).bound == bound
    with pytest.raises(nw.errors.UncertifiedError, match="likelihood ratio"):
        nw.certify(mechanism, nw.PureDP(bound * F(999, 1000)))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_candidates_and_answers_does_not_matter(order):
    plain = MECHANISMS["squared"]
    mixed = line([[0, 1, 3][i] for i in order] + [2], [CANDIDATES[i] for i in order], power="2")
    assert float(exponential_bound(mixed)) == pytest.approx(float(exponential_bound(plain)), rel=1e-30)
    # |3 - 3|^2 against |3 - 2|^2 is 1, |0 - 3|^2 against |0 - 2|^2 is 5; 25/4 - 9/4 = 4.
    assert utility_sensitivity(mixed) == utility_sensitivity(plain) == 5
    close = line([0, "1/4"], CANDIDATES)
    assert utility_sensitivity(close) == F(1, 4)
