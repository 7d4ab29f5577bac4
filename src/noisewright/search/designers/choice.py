"""One of finitely many candidates under pure differential privacy; releases that are kept in bounds afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.response import RandomisedResponse
from noisewright.mechanisms.selection import MinkowskiExponential, PermuteAndFlip, RandomExponential, points
from noisewright.numerics.balls import ball, lower, precision
from noisewright.problem.errors import (
    InvalidMechanismError,
    InvalidPrivacyError,
    InvalidQueryError,
    InvalidUtilityError,
    UncertifiedError,
)
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice
from noisewright.problem.utilities import Utility
from noisewright.proof.choice import utility_sensitivity
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.bounds.pure import best_choice
from noisewright.search.designer import Designer, Proposal, check_size
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.report.progress import Advance
from noisewright.search.report.report import Report

_TRUTHS = 2**40


def propose(query: Choice, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Permute-and-flip, which is at least as good whatever the scores are, and the exponential mechanism."""
    step("building the mechanisms")
    yield Proposal("permute-and-flip", PermuteAndFlip(query, privacy.epsilon), 0)
    yield Proposal("exponential", RandomExponential(query, (privacy.epsilon,), (1,)), 1)


def check(query: Choice, privacy: PureDP, utility: Utility) -> None:
    """Refuse a power whose worst case is not known, and values beyond what floats hold."""
    if utility.power is not None and utility.power < 1:
        raise InvalidUtilityError(
            f"utility is {utility!r}; for a Choice question the worst scores are known for powers of at least 1 only.",
            utility=utility,
        )
    check_size(query, utility)


def notes(report: Report) -> Iterator[str]:
    """What is measured."""
    yield "The error of a choice is how far the chosen score lies below the best one, at the worst scores there are."


CHOICE_PURE = Designer(SCALAR, propose, best_choice, check, notes=notes, steps=3)


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
    return make_certified(replace(first, rate=privacy.epsilon / (2 * change)), privacy)


def randomised_response(values: Sequence[str], privacy: PureDP) -> Certified:
    """Randomised response over these values that tells the truth as often as epsilon allows, to twelve digits.

    Rule: e^epsilon / (e^epsilon + n - 1) for n values, rounded down. [KairouzBonawitzRamage16, theory#the-local-model]
    """
    if not isinstance(privacy, PureDP):
        raise InvalidPrivacyError(f"privacy is {privacy!r}; randomised response is designed for PureDP(epsilon).")
    names = tuple(values)
    with precision():
        rise = ball(privacy.epsilon).exp()
        truth = Fraction(math.floor(lower(rise / (rise + len(names) - 1)) * _TRUTHS), _TRUTHS)
    return make_certified(RandomisedResponse(names, max(truth, Fraction(1, max(1, len(names))))), privacy)


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
    if certified.certificate.requirement.pointwise:
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
