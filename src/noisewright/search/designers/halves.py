"""Half-integers for whole-number answers: noise around 1/2, and the half taken off what is released.

The bound for whole-number answers is over mechanisms that release whole numbers. Where a step with an even
number of points is best, noise on 1/2, 3/2, … does better. It is an integer staircase around 1/2, proven and
drawn as such; taking off 1/2 afterwards looks at no data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import certainly_at_most, lower, precision, upper
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.numerics.series import geometric_power_sum
from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError, InvalidUtilityError
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.report.designer import check_problem, for_one, outward
from noisewright.search.report.shown import number

_MOST_POINTS = 100
_LARGEST_FLOAT = 2**52


@dataclass(frozen=True, slots=True)
class HalfIntegers:
    """A certified mechanism for whole-number answers whose releases, less 1/2, are the private half-integers.

    `value` is the expected utility of what `release` returns, its worse end if it is not exact.
    """

    certified: Certified
    utility: Any
    value: float

    def release(self, answer: Number) -> float | Fraction:
        """One private answer: a half-integer; from 2^52 on as an exact rational, since floats there are whole."""
        released = Fraction(self.certified.release(answer)) - HALF
        return float(released) if abs(released) < _LARGEST_FLOAT else released

    def __str__(self) -> str:
        return (
            f"half-integers for {self.certified.mechanism.query}: {self.utility} {number(self.value)},"
            f" {self.certified.certificate.requirement}"
        )


def half_integers(query: Scalar, *, privacy: PureDP, utility: Utility) -> HalfIntegers:
    """The best noise on half-integers for a question with whole-number answers.

    Guarantees: certified for exactly the noise that is drawn; the value was enclosed in balls.
    Valid for: Scalar(..., integer=True) without bounds, PureDP, and power errors above 1 (sensitivity up to 100),
    usefulness or error quantiles; raises an InvalidInputError otherwise. For absolute errors and powers below 1 no
    numbers do better than whole ones.
    """
    if not isinstance(query, Scalar) or not query.integer or query.bounded is not None:
        raise InvalidQueryError("half-integers are for whole-number answers: Scalar(sensitivity, integer=True).")
    if not isinstance(privacy, PureDP):
        raise InvalidPrivacyError(f"privacy is {privacy!r}; half-integers are designed for nw.PureDP(epsilon).")
    if not isinstance(utility, Utility) or not _covers(query, for_one(utility)):
        raise InvalidUtilityError(
            "half-integers are designed for Usefulness, ErrorQuantile and power errors above 1 with a sensitivity of at"
            f" most {_MOST_POINTS}; use design for whole numbers.",
            utility=utility,
        )
    check_problem(query, privacy, utility)
    mechanism, worst = _best(query, privacy.epsilon, utility)
    shown = outward(worst, larger=not utility.larger_is_better)
    return HalfIntegers(make_certified(mechanism, privacy), utility, shown)


def what_half_integers_can_do(query: Scalar, epsilon: Fraction, utility: Utility, bound: Fraction) -> tuple[str, ...]:
    """One sentence for the report where half-integers are proven to beat the bound on whole numbers; else none."""
    if not query.integer or not _covers(query, utility):
        return ()
    worst = _best(query, epsilon, utility)[1]
    if not (worst > bound if utility.larger_is_better else worst < bound):
        return ()
    return (
        f"Half-integers do better than any whole numbers here: {utility} {float(worst):.7g} against"
        f" {float(bound):.7g}. Where they may be released, half_integers(query, privacy=..., utility=...) gives them.",
    )


def _covers(query: Scalar, utility: Utility) -> bool:
    if utility.tabulated or utility.numerical or utility.averaged:
        return False
    return utility.power is None or (utility.power > 1 and query.sensitivity <= _MOST_POINTS)


def _best(query: Scalar, epsilon: Fraction, utility: Utility) -> tuple[Additive, Fraction]:
    """The best mechanism and the worse end of its expected utility."""
    if utility.power is not None:
        half = _best_half(query, epsilon, utility.power)
        mechanism = _around_half(query, epsilon, half)
        with precision():
            return mechanism, upper(_power_error(mechanism, half, utility.power, BALLS))
    if utility.edges:
        points = math.floor(utility.edges[0] + HALF)
        mechanism = _widest_top(query, epsilon, points)
        with precision():
            return mechanism, lower(_within(mechanism, points))
    points = _fewest_points(query, epsilon, utility.confidence)
    return _widest_top(query, epsilon, points), points - HALF


def _around_half(query: Scalar, epsilon: Fraction, half: int) -> Additive:
    """Integer noise with top step {1 - half, …, half}."""
    law = skewed_staircase(epsilon=epsilon, sensitivity=query.sensitivity, left=HALF - half, right=half + HALF)
    return Additive(query, law, Lattice.integers())


def _widest_top(query: Scalar, epsilon: Fraction, points: int) -> Additive:
    """The noise that stays most often among the `points` half-integers nearest to zero on each side.

    A drop of the staircase falls on the end of the range: the top step is what is left over by whole sensitivities.
    """
    per = int(query.sensitivity)
    return _around_half(query, epsilon, points % per or per)


def _within(mechanism: Additive, points: int) -> Value:
    """P(|error| < points) in balls, the error being the integer noise less 1/2."""
    density: Any = mechanism.error_density
    return 1 - density.sf(points + HALF, BALLS) - density.cdf(HALF - points, BALLS)


def _power_error(mechanism: Additive, half: int, power: Fraction, field: Field) -> Value:
    """E |noise - 1/2|^power: the points of the top step one by one, then one series for each point of a period."""
    density: Any = mechanism.error_density
    top = sum((field.power(field.real(i + HALF), power) for i in range(half)), start=field.real(0))
    below = range(half, half + int(density.period))
    series = (geometric_power_sum(field, density.rate, i + HALF, density.period, power) for i in below)
    total = top + density.weight(Fraction(1), field) * sum(series, start=field.real(0))
    return 2 * total / density.mass_total(field)


def _best_half(query: Scalar, epsilon: Fraction, power: Fraction) -> int:
    """Half the size of the best top step: the minimum of a function that falls, then rises (in floats)."""

    def value(half: int) -> float:
        return float(_power_error(_around_half(query, epsilon, half), half, power, FLOATS))

    return first_true(lambda half: value(half) <= value(half + 1), 0, int(query.sensitivity))


def _fewest_points(query: Scalar, epsilon: Fraction, confidence: Fraction) -> int:
    """The fewest half-integers on each side that hold the confidence for sure."""

    def reached(points: int) -> bool:
        with precision():
            return certainly_at_most(BALLS.real(confidence), _within(_widest_top(query, epsilon, points), points))

    return first_true(reached, *gallop(reached, 0, 1))
