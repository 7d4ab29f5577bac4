"""What an attacker could learn, in odds: each kind of guarantee in sentences, its numbers rounded against us."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import Any

from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.finite_components import finite_components
from noisewright.problem.metrics import Hamming
from noisewright.problem.numbers import above, show
from noisewright.problem.privacy import (
    ApproxDP,
    MetricPrivacy,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    Requirement,
    ZeroConcentratedDP,
)
from noisewright.proof.conversions import concentrated_to_approximate, renyi_to_approximate

STATED_DELTA = Fraction(1, 10**6)
"""The chance at which guarantees without one are told as approximate privacy."""

_EVEN, _UNLIKELY = Fraction(1, 2), Fraction(1, 100)
_RELATIVE = Fraction(1, 2**12)
_MOST_DIGITS = 6


def posterior(prior: Fraction, epsilon: Fraction) -> Fraction:
    """At least the most that a prior can become when odds grow at most e^epsilon-fold.

    Rule: Bayes' theorem, posterior odds are prior odds times the likelihood ratio. [KasiviswanathanSmith14]
    """
    with precision():
        return upper(1 / (1 + ball((1 - prior) / prior) * ball(-epsilon).exp()))


def odds(prior: Fraction, epsilon: Fraction) -> str:
    """What a prior can become, as odds to the nearest digits that tell it from the prior, and its ceiling."""
    share = 100 * posterior(prior, epsilon)
    if share > 100 - Fraction(1, 10**4):
        return "all but certain"
    digits = 0 if share >= 10 else 1
    while digits < _MOST_DIGITS and (round(share, digits) in (100 * prior, 100) or not round(share, digits)):
        digits += 1
    near, unit = round(share, digits), Fraction(1, 10 ** (digits + 1))
    ceiling = math.ceil(share / unit) * unit
    shown, rest, top = float(near), float(100 - near), float(ceiling)
    return f"at most {shown:.{digits}f}:{rest:.{digits}f} (rounded; never above {top:.{digits + 1}f} %)"


def guesses(epsilon: Fraction) -> str:
    """The two guesses that every explanation follows."""
    return (
        f"a guess that was 50:50 can become {odds(_EVEN, epsilon)}, and one that was 1:99 can become"
        f" {odds(_UNLIKELY, epsilon)}"
    )


def rarely(chance: Fraction) -> str:
    """A chance in words, never smaller than it is."""
    if chance >= Fraction(1, 20):
        return f"{above(100 * chance)} %"
    times = math.floor(1 / chance)
    unit = 10 ** max(0, len(str(times)) - 3)
    return f"1 in {times // unit * unit:,}"


@singledispatch
def learnt(requirement: Requirement, bound: Fraction) -> list[str]:
    """What can be learnt of one person by anything that was proven to meet a requirement with this bound."""
    return [f"Whatever one person's data are, {requirement.promise()}."]


@learnt.register
def _learnt_pure(requirement: PureDP, bound: Fraction) -> list[str]:
    return [f"Whatever is released, {guesses(bound)}. Guesses can fall by as much as they can rise."]


@learnt.register
def _learnt_approximate(requirement: ApproxDP, bound: Fraction) -> list[str]:
    return _as_a_game(requirement.epsilon, bound)


def _as_a_game(epsilon: Fraction, delta: Fraction) -> list[str]:
    """Rule: two laws within (epsilon, delta) are the image of one game (Kairouz, Oh and Viswanath 2015).
    [KairouzOhViswanath15]

    The game tells which law it is with probability delta, and otherwise lies with odds of 1 : e^epsilon.
    """
    if not delta:
        return learnt(PureDP(epsilon), epsilon)
    with precision():
        grown = ball(epsilon).exp()
        right = upper(100 * (1 - (1 - ball(delta)) / (1 + grown)))
    percent = Fraction(math.ceil(10 * right), 10)
    share = f"at most {float(percent):.1f} % of the time" if percent < 100 else "nearly every time"
    return [
        "The release tells no more than a game would that gives the person away with a probability of"
        f" {rarely(delta)} and keeps to these odds otherwise: {guesses(epsilon)}. An attacker who must choose between"
        f" two equally likely possibilities is right {share}."
    ]


@learnt.register
def _learnt_probabilistic(requirement: ProbabilisticDP, bound: Fraction) -> list[str]:
    if not bound:
        return learnt(PureDP(requirement.epsilon), requirement.epsilon)
    return [
        f"Except with a probability of at most {rarely(bound)}, {guesses(requirement.epsilon)}. This is said of the"
        " value just as it is released."
    ]


@learnt.register
def _learnt_renyi(requirement: RenyiDP, bound: Fraction) -> list[str]:
    return _as_a_game(*told(requirement, bound))


@learnt.register
def _learnt_concentrated(requirement: ZeroConcentratedDP, bound: Fraction) -> list[str]:
    if not bound:
        return ["Nothing: what is released is the same whatever one person's data are."]
    return _as_a_game(*told(requirement, bound))


@singledispatch
def told(requirement: Any, bound: Fraction) -> tuple[Fraction, Fraction]:
    """The epsilon and the delta with which odds are told of what was proven to meet a requirement with this bound."""
    return requirement.epsilon, bound


@told.register
def _told_pure(requirement: PureDP, bound: Fraction) -> tuple[Fraction, Fraction]:
    return bound, Fraction(0)


@told.register(RenyiDP)
@lru_cache(maxsize=64)
def _told_renyi(requirement: RenyiDP, bound: Fraction) -> tuple[Fraction, Fraction]:
    return _converted(lambda epsilon: renyi_to_approximate(requirement.alpha, bound, epsilon))


@told.register(ZeroConcentratedDP)
@lru_cache(maxsize=64)
def _told_concentrated(requirement: ZeroConcentratedDP, bound: Fraction) -> tuple[Fraction, Fraction]:
    return _converted(lambda epsilon: concentrated_to_approximate(bound, epsilon)) if bound else (bound, bound)


def _converted(delta: Callable[[Fraction], Fraction]) -> tuple[Fraction, Fraction]:
    """The guarantee as approximate privacy at a stated chance, with an epsilon that was checked."""

    def reached(epsilon: Fraction) -> bool:
        return delta(epsilon) <= STATED_DELTA

    return first_true(reached, *gallop(reached, Fraction(0), _EVEN), relative=_RELATIVE), STATED_DELTA


@learnt.register
def _learnt_metric(requirement: MetricPrivacy, bound: Fraction) -> list[str]:
    metric: Any = requirement.metric
    if isinstance(metric, Hamming):
        return learnt(PureDP(1), bound * metric.epsilon)
    return [
        f"How much depends on how far apart two possibilities are ({metric}). Between two at distance 1,"
        f" {guesses(bound)}. Between two at distance 3, a guess that was 50:50 can become"
        f" {odds(_EVEN, 3 * bound)}. At distance d the odds grow at most e^d-fold"
        f"{'' if bound == 1 else f' (proven: e^({show(bound)} d))'}: what is near is hard to tell apart, what is far"
        " is told.",
        *(
            ["Possibilities that are infinitely far apart may be told apart for sure."]
            if finite_components(metric)
            else []
        ),
    ]


@singledispatch
def together(requirement: Requirement, bound: Fraction) -> str:
    """What becomes of the guarantee when there are more releases such as this one."""
    return "with every release more can be learnt"


@together.register
def _together_pure(requirement: PureDP, bound: Fraction) -> str:
    return f"after two such as this one, a guess that was 50:50 can become {odds(_EVEN, 2 * bound)}"


@together.register(ApproxDP)
@together.register(ProbabilisticDP)
def _together_approximate(requirement: Any, bound: Fraction) -> str:
    return "with every release the odds multiply, and the small probabilities add up"
