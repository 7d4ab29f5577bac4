"""What one kind of privacy implies about another: theorems only, everything else is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import ball, precision, upper
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, Requirement, ZeroConcentratedDP
from noisewright.proof.renyi import pure_to_renyi

_BITS = 128


def implied_bound(held: Requirement, wanted: Requirement) -> tuple[Fraction, str]:
    """The proven value of the wanted requirement's last parameter for anything that meets `held`, and the rule.

    Guarantees: a mechanism that meets `held` meets `wanted` with its last parameter replaced by
    the bound. Raises UncertifiedError where no theorem leads from one to the other, or where what it
    gives is more than was wanted.
    """
    rule = CONVERSIONS.get((type(held), type(wanted)))
    if rule is None:
        raise UncertifiedError(
            f"refused: {held} does not imply any {type(wanted).__name__}; certify the mechanism for it directly."
        )
    bound, name = rule(held, wanted)
    limit = list(_numbers(wanted))[-1]
    if bound > limit:
        raise UncertifiedError(
            f"refused: {held} implies {type(wanted).__name__} only with {float(bound):.6g} instead of"
            f" {float(limit):.6g} (rule {name}).",
            bound=bound,
        )
    return bound, name


def _numbers(requirement: Any) -> list[Fraction]:
    return [Fraction(text) for key, text in requirement.to_dict().items() if key != "kind"]


def pure_to_approximate(held: PureDP, wanted: ApproxDP) -> tuple[Fraction, str]:
    """Randomised response is the worst: delta = (e^held - e^wanted) / (e^held + 1), 0 from the held epsilon on."""
    if wanted.epsilon >= held.epsilon:
        return Fraction(0), "pure-is-approximate"
    with precision(_BITS):
        top, low = ball(held.epsilon).exp(), ball(wanted.epsilon).exp()
        return upper((top - low) / (top + 1)), "pure-by-randomised-response"


def pure_to_probabilistic(held: PureDP, wanted: ProbabilisticDP) -> tuple[Fraction, str]:
    """No likelihood ratio exceeds e^epsilon, so none does with any probability."""
    if wanted.epsilon < held.epsilon:
        raise UncertifiedError(
            f"refused: pure privacy at {float(held.epsilon):.6g} says nothing about a probabilistic epsilon below it."
        )
    return Fraction(0), "pure-is-probabilistic"


def _at_least_epsilon(held: Any, wanted: Any) -> tuple[Fraction, str]:
    if wanted.epsilon < held.epsilon:
        raise UncertifiedError(
            f"refused: {held} says nothing about epsilon = {float(wanted.epsilon):.6g}; claim epsilon >="
            f" {float(held.epsilon):.6g}."
        )
    return held.delta, "probabilistic-is-approximate"


def renyi_to_approximate(order: Fraction, divergence: Fraction, epsilon: Fraction) -> Fraction:
    """The least delta that one order shows: e^((a-1)(divergence - epsilon)) / a * (1 - 1/a)^(a-1).

    Rule: the conversion that bounds the hockey-stick integrand by the moment of the privacy loss pointwise, tight
    in its maximum. [CanonneKamathSteinke20]
    """
    with precision(_BITS):
        a, excess = ball(order), ball(divergence) - ball(epsilon)
        return min(Fraction(1), upper(((a - 1) * excess + (a - 1) * (1 - 1 / a).log() - a.log()).exp()))


def concentrated_to_approximate(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The same with the divergence rho * order, at the best order a float search finds."""
    rate, loss = float(rho), float(epsilon)

    def exponent(order: float) -> float:
        return (order - 1) * (order * rate - loss + math.log1p(-1 / order)) - math.log(order)

    low, high = 1 + 1e-6, 2 + 2 * float(epsilon / rho)
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if exponent(left) <= exponent(right):
            high = right
        else:
            low = left
    order = Fraction(low).limit_denominator(10**9)
    return renyi_to_approximate(order, rho * order, epsilon)


def _to_lower_order(held: RenyiDP, wanted: RenyiDP) -> tuple[Fraction, str]:
    if wanted.alpha > held.alpha:
        raise UncertifiedError(
            f"refused: the divergence of order {float(held.alpha):.6g} says nothing about the higher order"
            f" {float(wanted.alpha):.6g}."
        )
    return held.epsilon, "renyi-grows-with-order"


def _same_kind(held: Any, wanted: Any) -> tuple[Fraction, str]:
    if len(_numbers(held)) == 2 and wanted.epsilon < held.epsilon:
        raise UncertifiedError(
            f"refused: {held} says nothing about the smaller epsilon {float(wanted.epsilon):.6g}; claim its own."
        )
    return _numbers(held)[-1], "same-kind"


CONVERSIONS: dict[tuple[type, type], Callable[[Any, Any], tuple[Fraction, str]]] = {
    (PureDP, PureDP): _same_kind,
    (ApproxDP, ApproxDP): _same_kind,
    (ProbabilisticDP, ProbabilisticDP): _same_kind,
    (RenyiDP, RenyiDP): _to_lower_order,
    (ZeroConcentratedDP, ZeroConcentratedDP): _same_kind,
    (PureDP, ApproxDP): pure_to_approximate,
    (PureDP, ProbabilisticDP): pure_to_probabilistic,
    (PureDP, RenyiDP): lambda held, wanted: (pure_to_renyi(held.epsilon, wanted.alpha), "pure-is-renyi"),
    (PureDP, ZeroConcentratedDP): lambda held, wanted: (held.epsilon**2 / 2, "pure-is-concentrated"),
    (ProbabilisticDP, ApproxDP): _at_least_epsilon,
    (RenyiDP, ApproxDP): lambda held, wanted: (
        renyi_to_approximate(held.alpha, held.epsilon, wanted.epsilon),
        "renyi-is-approximate",
    ),
    (ZeroConcentratedDP, RenyiDP): lambda held, wanted: (held.rho * wanted.alpha, "concentrated-is-renyi"),
    (ZeroConcentratedDP, ApproxDP): lambda held, wanted: (
        concentrated_to_approximate(held.rho, wanted.epsilon),
        "concentrated-is-approximate",
    ),
}
"""Which theorem leads from which kind of privacy to which."""
