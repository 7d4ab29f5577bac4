"""One of finitely many candidates under pure differential privacy."""

from __future__ import annotations

import math
from typing import Any

from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.mechanisms.shortfall import Chooser, worst_shortfall
from noisewright.numerics.balls import precision
from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice
from noisewright.problem.utilities import ErrorQuantile, PowerError, Usefulness
from noisewright.search.bounds.choice import best_choice
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import measured, outward, ranked
from noisewright.search.report.report import Report

FIRST_OF_EQUALS = ("permute-and-flip", "exponential")
"""Permute-and-flip is at least as good at every scores, so it wins where the worst cases are equal."""

_LARGEST_SCALE = 150.0
_MEANING = "The error of a choice is how far the chosen score lies below the best one, at the worst scores there are."


def design_choice(query: Choice, privacy: PureDP, utility: Any, step: Advance) -> Report:
    """The exponential mechanism and permute-and-flip, with the bound for every private choice."""
    _check(query, utility)
    step("evaluating the worst case")
    mechanisms: dict[str, Chooser] = {
        "exponential": RandomExponential(query, (privacy.epsilon,), (1,)),
        "permute-and-flip": PermuteAndFlip(query, privacy.epsilon),
    }
    with precision():
        values = {name: worst_shortfall(mechanism, utility) for name, mechanism in mechanisms.items()}
    step("proving the bound")
    bound = best_choice(query, privacy.epsilon, utility)
    step("certifying")
    candidates = [measured(name, m, privacy, values[name], bound, utility) for name, m in mechanisms.items()]
    limit = outward(bound, larger=utility.larger_is_better)
    return Report(query, privacy, utility, ranked(candidates, utility, FIRST_OF_EQUALS), limit, notes=(_MEANING,))


def _check(query: Choice, utility: Any) -> None:
    """Refuse a utility whose worst case is not known, and values beyond what floats hold."""
    served = isinstance(utility, Usefulness | ErrorQuantile) or (isinstance(utility, PowerError) and utility.power >= 1)
    if not served:
        raise InvalidUtilityError(
            f"utility is {utility!r}; for a Choice question give one of AbsoluteError(), SquaredError(), PowerError(p)"
            " with p at least 1, Usefulness(within), ErrorQuantile(confidence).",
            utility=utility,
        )
    power = float(utility.power) if isinstance(utility, PowerError) else 1.0
    if power * abs(math.log10(query.sensitivity)) > _LARGEST_SCALE:
        raise InvalidQueryError(
            f"{utility} is beyond what floats can hold for a sensitivity of {show(query.sensitivity)}; measure the"
            " scores in another unit.",
            sensitivity=query.sensitivity,
        )
