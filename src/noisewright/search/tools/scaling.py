"""Problems in units of the sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.problem.divergences import Numerical
from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError
from noisewright.problem.numbers import show
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import ErrorQuantile, Expected, PowerError, Usefulness, Utility

_LARGEST_SCALE = 150.0


def in_sensitivities(utility: Utility, query: Scalar) -> Utility:
    """The same utility when errors are measured in sensitivities."""
    if isinstance(utility, Usefulness):
        return Usefulness(utility.within / query.sensitivity)
    return utility


def back_factor(utility: Utility, query: Scalar) -> tuple[Fraction, Fraction]:
    """(base, power) such that values in sensitivities times base^power are values in the query's unit."""
    if isinstance(utility, PowerError):
        return query.sensitivity, utility.power
    if isinstance(utility, ErrorQuantile):
        return query.sensitivity, Fraction(1)
    return query.sensitivity, Fraction(0)


def check_problem(query: Scalar, utility: Utility) -> None:
    """Refuse combinations that cannot be meant, before any work."""
    if query.bounded is not None:
        raise InvalidQueryError(
            "this question has bounds for its answers, which this tool does not know; use design for it."
        )
    if not isinstance(utility, PowerError | Usefulness | ErrorQuantile | Expected | Numerical):
        raise InvalidUtilityError(
            f"utility is {utility!r}; give one of SquaredError(), AbsoluteError(), PowerError(p), Usefulness(within),"
            " ErrorQuantile(confidence), Expected(loss, growth=...), KullbackLeibler(prior), Renyi(prior, order),"
            " HistogramEntropy(prior), Mallows(p, nodes), ErrorEntropy().",
            utility=utility,
        )
    if isinstance(utility, PowerError) and float(utility.power) * abs(math.log10(query.sensitivity)) > _LARGEST_SCALE:
        raise InvalidQueryError(
            f"{utility} is beyond what floats can hold for a sensitivity of {show(query.sensitivity)}; measure the"
            " answer in another unit.",
            sensitivity=query.sensitivity,
        )
    if isinstance(utility, Usefulness) and not query.integer and utility.within < query.sensitivity / 10**9:
        raise InvalidUtilityError(
            "within is less than a billionth of the sensitivity: no real-valued answer comes that close with a"
            " probability worth stating. Give a larger within, or integer=True for whole numbers.",
            within=utility.within,
        )
