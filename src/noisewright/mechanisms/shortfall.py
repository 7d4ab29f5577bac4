"""How far the chosen candidate's score lies below the best one, in the worst case over all scores.

Write x for a candidate's shortfall times the rate epsilon / (2 sensitivity), a = e^-x, and k for the number of
candidates but one best. A loss l(x) that rises from l(0) = 0 costs most, for both mechanisms, when all k lie at a
common gap. So `missed(gap)`, the chance that k candidates at that gap leave for the best one, says everything:
k a / (1 + k a) for the exponential mechanism, 1 - (1 - (1 - a)^n) / (n a) with n = k + 1 for permute-and-flip.

*Exponential mechanism.* The mean loss is at most v if and only if the sum of (l(x_j) - v) e^-x_j is at most v. Each
term is largest at the same x.

*Permute-and-flip.* The best candidate's place is u, uniform, and candidate j comes before it and is accepted where
nobody is before; with m = a l(x) the mean loss is the integral over u of (1 - u) sum_j m_j prod_{i != j} (1 - u a_i).
It is affine in each pair (m_j, a_j), rises with m_j and falls with a_j.
For l = 1 where x > y, else 0: a candidate that is accepted and missed can only replace another outcome by a miss, so
a_j is best as large as a miss can have it, just below e^-y.
For l = x^p with p >= 1: below x = p, m rises and a falls with x, so all x are at least p. Now fix all but two
candidates and the sum of their a; let x_1 < x_2. Moving a_1 and a_2 apart by ds each changes the mean loss by
D ((l_1 - l_1') - (l_2 - l_2')) + E ((a_1 - a_2)(l_1 + l_2) + a_2 l_1' - a_1 l_2') - G (a_1 - a_2), with G >= 0 and
0 <= E <= D / 2, as E / D is the mean of u under a weight that falls with u. Since x >= p, the first bracket is at most
-(l_2 - l_1) / p. As a_2 l_1' <= a_1 l_2', a_1 - a_2 <= a_1 (x_2 - x_1), l_2 - l_1 >= p x_1^(p-1) (x_2 - x_1) and
x e^-x <= 1/e, the second is at most 3 (l_2 - l_1) / (e p). So the change is negative: two that differ are worse
brought together, and the maximum, which exists by compactness, is where all are equal.

Both `missed` have a logarithm that is concave in the gap. For the exponential mechanism by differentiation; for
permute-and-flip it is the mean over u of 1 - (1 - u a)^k, whose logarithm is concave in log(u a), convolved with e^w on
w = log u < 0, and convolution keeps it (Prékopa).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential, rate_of
from noisewright.numerics.balls import Ball, ball, hull
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.utilities import ErrorQuantile, PowerError, Usefulness

Chooser = RandomExponential | PermuteAndFlip
Shortfall = PowerError | Usefulness | ErrorQuantile
"""What can be said about a choice: powers of the shortfall from 1 on, chances and quantiles."""

_TINY = Fraction(1, 2**40)
_STEPS = 2**24
_HALVINGS = 64


def worst_shortfall(mechanism: Chooser, utility: Shortfall) -> Ball:
    """The utility of the shortfall at the worst scores, enclosed; as a limit where no scores attain it."""
    if isinstance(utility, Usefulness):
        return 1 - missed(mechanism, utility.within)
    if isinstance(utility, ErrorQuantile):
        return _quantile(mechanism, utility.confidence)
    if utility.power < 1 or (isinstance(mechanism, RandomExponential) and len(mechanism.epsilons) > 1):
        raise InvalidUtilityError(
            f"the largest {utility} of this choice is not known; give a power of at least 1 and a mechanism with one"
            " epsilon, or ask for Usefulness(within) or ErrorQuantile(confidence).",
            utility=utility,
        )
    return _largest_mean(mechanism, utility.power)


def missed(mechanism: Chooser, gap: Fraction) -> Ball:
    """The largest chance that the chosen score lies more than `gap` below the best one."""
    query, others = mechanism.query, len(mechanism.query.candidates) - 1
    if isinstance(mechanism, PermuteAndFlip):
        return _missed_by_flips((-ball(rate_of(query, mechanism.epsilon) * gap)).exp(), others)
    total = ball(0)
    for epsilon, weight in zip(mechanism.epsilons, mechanism.weights, strict=True):
        weights = others * (-ball(rate_of(query, epsilon) * gap)).exp()
        total += ball(weight) * weights / (1 + weights)
    return total


def _missed_by_flips(coin: Ball, others: int) -> Ball:
    """1 - (1 - (1 - a)^n) / (n a); where a is tiny between ka/2 - k(k-1)a^2/6 and ka/2, the first sums of it."""
    most = others * coin / 2
    if bool(most < ball(_TINY)):
        return hull(most - others * (others - 1) * coin**2 / 6, most)
    size = others + 1
    return 1 - (1 - (1 - coin) ** size) / (size * coin)


def _unit(mechanism: Chooser) -> Fraction:
    """The gap that makes a candidate e times less likely, for the smallest epsilon."""
    epsilons = (mechanism.epsilon,) if isinstance(mechanism, PermuteAndFlip) else mechanism.epsilons
    return 1 / rate_of(mechanism.query, min(epsilons))


def _quantile(mechanism: Chooser, confidence: Fraction) -> Ball:
    """The smallest gap beyond which the choice lies with at most the remaining probability."""
    size = len(mechanism.query.candidates)
    if Fraction(size - 1, size) <= 1 - confidence:
        return ball(0)
    low, high, rest = Fraction(0), _unit(mechanism), ball(1 - confidence)
    while not bool(missed(mechanism, high) <= rest):
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        chance = missed(mechanism, middle)
        if bool(chance <= rest):
            high = middle
        elif bool(chance > rest):
            low = middle
        else:
            break
    return hull(ball(low), ball(high))


def _largest_mean(mechanism: Chooser, power: Fraction) -> Ball:
    """The largest gap^power missed(gap), whose logarithm is concave in the gap.

    A point that is larger than both its neighbours has the maximum between them, and the secants of the
    logarithm bound it by the point's value times its ratio to the smaller neighbour.
    """
    if len(mechanism.query.candidates) == 1:
        return ball(0)
    step = _unit(mechanism) / _STEPS

    def mean(place: int) -> Ball:
        return ball(place * step) ** ball(power) * missed(mechanism, place * step)

    top = _peak(mean)
    at, below, above = mean(top), mean(top - 2), mean(top + 2)
    if not (bool(below < at) and bool(above < at)):
        raise ArithmeticError("the largest mean shortfall was not found; the working precision was too small")
    return hull(hull(at, at * at / below), at * at / above)


def _peak(mean: Callable[[int], Ball]) -> int:
    """The first place from which a function that rises and then falls does not rise any more."""
    low, high = 1, _STEPS
    while bool(mean(high + 1) > mean(high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bool(mean(middle + 1) > mean(middle)) else (low, middle)
    return high
