"""Noise that stays in a range: the smallest scale that is proven, and what the exponential mechanism makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.mechanisms.exponential import MinkowskiExponential, points
from noisewright.mechanisms.ranged import RangedNoise
from noisewright.mechanisms.sensitivities import minkowski_utility_sensitivity
from noisewright.numerics.roots import power_from_above
from noisewright.problem.errors import InvalidMechanismError, InvalidPrivacyError, InvalidQueryError, UncertifiedError
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.privacy import ProbabilisticDP, PureDP
from noisewright.problem.ranged import RangedScalar
from noisewright.proof.exponential import utility_sensitivity
from noisewright.proof.ranged import ranged_bound
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.calibration import smallest_scale

_TOLERANCE = 1e-4
_POINTS = 400


def ranged_mechanism(
    query: RangedScalar, privacy: PureDP, *, power: Number = 2, kind: str = "truncated", steps: int | None = None
) -> Certified:
    """Truncated or boundary-inflated generalized Gaussian noise with the smallest scale that is proven.

    `steps` is how many grid steps make up the sensitivity (as many as give a grid of about 400 points).
    Guarantees: the certificate covers the inside and the atoms at the ends; the scale is at most
    0.01 % above the smallest that would be certified on this grid.
    """
    if not isinstance(query, RangedScalar) or not isinstance(privacy, PureDP):
        raise InvalidQueryError("give nw.RangedScalar(low, high, sensitivity) and nw.PureDP(epsilon).", query=query)
    exponent = parameter(power, "power")
    step = grid_step(query, steps)

    def made(scale: Fraction) -> RangedNoise:
        return RangedNoise(query, GeneralizedGaussian(exponent, scale), kind, step)

    width = float(query.high - query.low)
    p, reach = float(exponent), float(query.sensitivity)
    guess = ((width**p - (width - reach) ** p) / float(privacy.epsilon)) ** (1 / p)
    made(Fraction(guess))

    def holds(scale: Fraction) -> bool:
        return ranged_bound(made(scale))[0] <= privacy.epsilon

    return make_certified(made(smallest_scale(holds, guess, _TOLERANCE)), privacy)


def grid_step(query: RangedScalar, steps: int | None) -> Fraction:
    """A step that divides the range and the sensitivity."""
    width = query.high - query.low
    ratio = width / query.sensitivity
    unit = query.sensitivity / ratio.denominator
    if steps is not None:
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise InvalidMechanismError(f"steps is {steps!r}; give a whole number of steps per sensitivity.")
        if ratio.denominator > steps or steps % ratio.denominator:
            raise InvalidMechanismError(
                f"steps is {steps}; with this range and sensitivity it must be a multiple of {ratio.denominator}."
            )
        return query.sensitivity / steps
    return unit / max(1, math.ceil(_POINTS * unit / width))


def per_coordinate(
    queries: Sequence[RangedScalar],
    privacy: PureDP,
    *,
    power: Number = 2,
    kind: str = "truncated",
    shares: Sequence[Number] | None = None,
) -> list[Certified]:
    """One mechanism per coordinate; their epsilons add up to at most the requirement's.

    `shares` are the parts of epsilon, equal unless given. Guarantees: if one person changes every
    coordinate at once, all releases together meet the requirement.
    """
    if not queries:
        raise InvalidQueryError("give at least one coordinate.")
    parts = [Fraction(1)] * len(queries) if shares is None else [parameter(s, "share") for s in shares]
    if len(parts) != len(queries) or any(s <= 0 for s in parts):
        raise InvalidPrivacyError("give one positive share of epsilon for each coordinate.")
    total = sum(parts, Fraction(0))
    return [
        ranged_mechanism(query, PureDP(privacy.epsilon * share / total), power=power, kind=kind)
        for query, share in zip(queries, parts, strict=True)
    ]


def exponential_on_range(query: RangedScalar, privacy: PureDP, *, power: Number = 2) -> Certified:
    """The exponential mechanism with utility -|c - s|^power over the whole range.

    Guarantees: the certificate's bound is the true epsilon; it is at most the nominal one, usually far less.
    """
    exponent = parameter(power, "power")
    reach = minkowski_utility_sensitivity([(query.low, query.high)], [query.sensitivity], exponent)
    scale = power_from_above(2 * reach / privacy.epsilon, 1 / exponent)
    mechanism = RangedNoise(query, GeneralizedGaussian(exponent, scale), "truncated", grid_step(query, None))
    return make_certified(mechanism, privacy)


def exponential_over(
    answers: Sequence[Any], candidates: Sequence[Any], privacy: PureDP, *, power: Number = 2, reach: Number = 1
) -> Certified:
    """The exponential mechanism over enumerated candidates, with the exact sensitivity of its utility."""
    first = MinkowskiExponential(
        points(answers, "answer"),
        points(candidates, "candidate"),
        parameter(power, "power"),
        Fraction(1),
        parameter(reach, "reach"),
    )
    change = utility_sensitivity(first)
    if not change:
        raise InvalidQueryError("no two answers are neighbours within the reach; nothing needs protection here.")
    rate = privacy.epsilon / (2 * change)
    return make_certified(
        MinkowskiExponential(first.answers, first.candidates, first.power, rate, first.reach), privacy
    )


def release_within(certified: Certified, answer: Any, low: Number, high: Number, *, how: str = "clamp") -> Any:
    """One release kept in public bounds afterwards: clamped to the nearer end, or None if it falls outside.

    Both are post-processing, so the certificate holds for the result. Drawing again until a value falls inside is
    not: how often that happens depends on the answer. Probabilistic privacy does not survive post-processing and is
    refused.
    """
    start, end = parameter(low, "low"), parameter(high, "high")
    if end <= start:
        raise InvalidQueryError(f"the bounds are {show(start)} and {show(end)}; give low < high.")
    if how not in ("clamp", "truncate"):
        raise InvalidMechanismError(f'how is {how!r}; give "clamp" or "truncate".')
    if isinstance(certified.certificate.requirement, ProbabilisticDP):
        raise UncertifiedError(
            "refused: probabilistic privacy is not kept by post-processing; certify the same mechanism as ApproxDP with"
            " the same epsilon and delta, which it implies."
        )
    released = certified.release(answer)
    if start <= released <= end:
        return released
    if how == "truncate":
        return None
    return float(start) if released < start else float(end)
