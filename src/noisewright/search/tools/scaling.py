"""Problems that cannot be meant, and round numbers."""

from __future__ import annotations

import math

from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError
from noisewright.problem.numbers import show
from noisewright.problem.queries import Choice, Scalar
from noisewright.problem.utility import Utility

_LARGEST_SCALE = 150.0


def check_size(query: Scalar | Choice, utility: Utility) -> None:
    """Refuse values that floats cannot hold."""
    if float(utility.degree) * abs(math.log10(query.sensitivity)) > _LARGEST_SCALE:
        raise InvalidQueryError(
            f"{utility} is beyond what floats can hold for a sensitivity of {show(query.sensitivity)}; measure the"
            " answer in another unit.",
            sensitivity=query.sensitivity,
        )


def check_problem(query: Scalar, utility: Utility) -> None:
    """Refuse combinations that cannot be meant, before any work."""
    check_size(query, utility)
    if utility.edges and not query.integer and min(utility.edges) < query.sensitivity / 10**9:
        raise InvalidUtilityError(
            "within is less than a billionth of the sensitivity: no real-valued answer comes that close with a"
            " probability worth stating. Give a larger within, or integer=True for whole numbers.",
            within=min(utility.edges),
        )


def for_one(utility: Utility) -> Utility:
    """What counts as good for a single number; weights and limits of several are refused."""
    if utility.weights is not None:
        raise InvalidUtilityError("weights are for several numbers; leave them out for one.", weights=utility.weights)
    utility.check_count(1)
    return utility.alone(0)
