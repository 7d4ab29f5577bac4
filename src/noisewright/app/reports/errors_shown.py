"""How far off answers are: half-widths, the law of the error, and what the usual noise would do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.app.reports.blocks import figure
from noisewright.app.reports.charts import MOST_LINES, Point, lines
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.queries import Bounded

CONFIDENCE = "0.95"
_POINTS = 360
_PLACES = 80
_SEEN = 0.985


def within(certified: Any) -> str | None:
    """What 95 of 100 answers are within; of several numbers, what all of them are within at once."""
    several = hasattr(certified.mechanism.query, "dimension")
    try:
        return str(certified.half_width(CONFIDENCE, joint=several))
    except InvalidUtilityError:
        return None


def laws(named: Sequence[tuple[str, Any]]) -> str:
    """The errors of mechanisms as a picture: how they are spread, or for answers in bounds how large they are where."""
    drawn = named[:MOST_LINES]
    if all(isinstance(mechanism.query, Bounded) for _, mechanism in drawn):
        series = [(name, _by_answer(mechanism)) for name, mechanism in drawn]
        picture = lines("Error by true answer", series, "true answer", "root mean squared error")
        return figure(picture, "How large the error is, whatever the true answer is.")
    if not all(hasattr(mechanism, "error_density") for _, mechanism in drawn):
        return ""
    half = max(_half(mechanism.error_density, mechanism.query) for _, mechanism in drawn[:1])
    series = [(name, _density(mechanism.error_density, half)) for name, mechanism in drawn]
    picture = lines("How the error is spread", series, "error of a released number", "density of the error")
    return figure(picture, "How the error is spread: the higher and narrower around 0, the better.")


def _by_answer(mechanism: Any) -> list[Point]:
    """Also between the answers of a grid, where rounding at random adds to the error."""
    profile, (low, high) = mechanism.profile, mechanism.query.inputs
    places = [low + (high - low) * Fraction(i, _PLACES) for i in range(_PLACES + 1)]
    whole = [Fraction(round(place)) for place in places] if mechanism.query.integer else places
    return [(float(place), math.sqrt(float(profile.at(place, 1)))) for place in dict.fromkeys(whole)]


def _half(density: Any, query: Any) -> float:
    """How far to the side most errors of a law go."""
    width = float(getattr(query, "sensitivity", 1) if not hasattr(query, "dimension") else 1) / 4
    while density.sf(width, FLOATS) + density.cdf(-width, FLOATS) > 1 - _SEEN:
        width *= 1.25
    return width


def _density(density: Any, half: float) -> list[Point]:
    xs = [half * (2 * i / _POINTS - 1) for i in range(_POINTS + 1)]
    return [(x, float(density.density(x, FLOATS))) for x in xs]
