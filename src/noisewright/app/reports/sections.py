"""What is guaranteed, in plain words, in odds and as a picture: numbers are rounded against us."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from noisewright.app.reports.blocks import NONE, Section, figure, guarantee_box, paragraphs
from noisewright.app.reports.charts import MOST_LINES, Point, beliefs, lines
from noisewright.explain.odds import learnt, posterior, rarely, told
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Bounded

_PRIORS = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
_LARGEST = 10


def of_requirement(requirement: Any) -> Fraction:
    """The number that a guarantee stands for when it is met just so."""
    if isinstance(requirement, MetricPrivacy):
        return Fraction(1)
    amounts = {PureDP: "epsilon", ApproxDP: "delta", ZeroConcentratedDP: "rho", RenyiDP: "epsilon"}
    found: Fraction = getattr(requirement, amounts[type(requirement)])
    return found


def amount_card(requirement: Any, over: str) -> tuple[str, str]:
    """A requirement as a card: its kind, and how much of it."""
    kind, _, amounts = str(requirement).partition(", ")
    return f"{kind[:1].upper()}{kind[1:]}, {over}", amounts or "as declared"


def guarantee(
    requirement: Any, bound: Fraction, seen: str, *, whose: str, heading: str = "Privacy guarantee"
) -> Section:
    """The guarantee for what was proven with a bound; `seen` is what an attacker sees, `whose` what odds are about."""
    sentence, picture = odds_of(requirement, bound, seen, whose)
    return Section(
        heading,
        [
            guarantee_box(f"Whatever one person’s data are, {requirement.promise()}.", sentence),
            picture,
            paragraphs(
                "This holds against whoever knows everything about everybody else, and has any other data and any"
                " computer.",
                *learnt(requirement, bound),
            ),
        ],
    )


def odds_of(requirement: Any, bound: Fraction, seen: str, whose: str) -> tuple[str, Markup]:
    """The guarantee as odds and as a picture; nothing where odds depend on who is compared."""
    if type(requirement) not in (PureDP, ApproxDP, ZeroConcentratedDP, RenyiDP):
        return "", NONE
    epsilon, delta = told(requirement, bound)
    with precision():
        grown = upper(ball(epsilon).exp())
    rest = f", except with a chance of at most {rarely(delta)}" if delta else ""
    sentence = f"Whoever sees {seen} and held odds of 1:1 {whose} ends with at most {_up(grown)}:1{rest}."
    return sentence, figure(
        _picture(epsilon), "What somebody may believe of one person: before (the mark), and after (within the bar)."
    )


def _picture(epsilon: Fraction) -> Markup:
    rows = []
    for prior in _PRIORS:
        high, low = posterior(prior, epsilon), 1 - posterior(1 - prior, epsilon)
        shown = (
            f"{show(100 * prior)} % sure before; between {_percent(low, up=False)} and {_percent(high, up=True)} after"
        )
        rows.append((shown, float(low), float(prior), float(high), shown))
    return beliefs("How far a belief about one person can move", rows)


def _percent(share: Fraction, *, up: bool) -> str:
    """Rounded outward, to a digit more where it is small or nearly everything."""
    digits = 1 if Fraction(1, 50) <= share <= Fraction(49, 50) else 2
    unit = Fraction(1, 10**digits)
    rounded = (math.ceil if up else math.floor)(100 * share / unit) * unit
    return f"{float(rounded):.{digits}f} %"


def _up(factor: Fraction) -> str:
    """Three digits, not below the factor."""
    size = math.floor(math.log10(factor))
    unit = Fraction(10) ** (size - 2)
    rounded = math.ceil(factor / unit) * unit
    return (
        f"{float(rounded):,.2f}"
        if rounded < _LARGEST
        else f"{float(rounded):,.4g}"
        if rounded < 10**6
        else f"{float(rounded):.2e}"
    )


# How far off answers are: half-widths, the law of the error, and what the usual noise would do.


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


def laws(named: Sequence[tuple[str, Any]]) -> Markup:
    """The errors of mechanisms as a picture: how they are spread, or for answers in bounds how large they are where."""
    drawn = named[:MOST_LINES]
    if all(isinstance(mechanism.query, Bounded) for _, mechanism in drawn):
        series = [(name, _by_answer(mechanism)) for name, mechanism in drawn]
        picture = lines("Error by true answer", series, "true answer", "root mean squared error")
        return figure(picture, "How large the error is, whatever the true answer is.")
    if not all(hasattr(mechanism, "error_density") for _, mechanism in drawn):
        return NONE
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
