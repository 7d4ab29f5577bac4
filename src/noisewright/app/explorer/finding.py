"""From an accuracy to the amount of privacy that is enough for it, in as few designs as may be; error against amount.

Designs at amounts that were tried before say where to look next, and the one that is shown was designed, certified and
measured at its own amount: what lies between two designs is a guess only until it is looked at.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from noisewright.app.explorer.form import Asked, EntryError
from noisewright.problem.errors import InfeasibleError, NoisewrightError, SolverError
from noisewright.problem.numbers import show
from noisewright.problem.utilities import ErrorQuantile
from noisewright.problem.warnings import UnevenNumbersWarning
from noisewright.search.budget import reaches
from noisewright.search.design import design
from noisewright.search.report.report import Report

_DIGITS = 3
_NEAR = Fraction(15, 1000)
_ASIDE = 0.004
_MOST_LOOKS = 40
_SLOPE = 1.0
PICTURED = {"epsilon": (0.05, 8.0), "rho": (0.001, 8.0)}
"""The amounts that the picture of error against privacy shows."""
_POINTS, _FEW_POINTS = 25, 7

Point = dict[str, Any]
"""What is known at one amount: "values" by the name of the mechanism, and "bound" (None where none is proven)."""


@dataclass(slots=True)
class Known:
    """What designs of one question found, by amount."""

    asked: Asked
    points: dict[Fraction, Point] = field(default_factory=dict)

    def design(self, amount: Fraction) -> Report:
        """The design at an amount, which is kept in mind."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnevenNumbersWarning)  # the report says the same
            report = design(self.asked.query, privacy=self.asked.requirement(amount), utility=self.asked.utility)
        self.points[amount] = {"values": {c.name: c.value for c in report.kept}, "bound": report.bound}
        return report

    def best(self, amount: Fraction) -> float:
        """What the best mechanism reaches at an amount that was looked at; infinitely bad where nothing is possible."""
        larger = self.asked.utility.larger_is_better
        values = self.points[amount]["values"].values()
        return (max if larger else min)(values, default=0.0 if larger else math.inf)

    def plain(self) -> list[list[Any]]:
        """The points as plain data."""
        return [[str(amount), point] for amount, point in sorted(self.points.items())]


def known_from(asked: Asked, plain: list[list[Any]]) -> Known:
    """What was found before; plain data have no infinity, so that a value that is missing is an infinite one."""
    return Known(
        asked,
        {
            Fraction(amount): {
                "values": {name: math.inf if value is None else value for name, value in point["values"].items()},
                "bound": point["bound"],
            }
            for amount, point in plain
        },
    )


def usual_amount(asked: Asked) -> Fraction:
    """Where a page begins that says no amount."""
    return Fraction(1) if asked.amount_name == "epsilon" else Fraction(1, 10)


def report_for(asked: Asked, known: Known, settled: Fraction | None = None) -> tuple[Report, Fraction, Fraction]:
    """The design that the page shows, its amount, and the accuracy that it was made for.

    `settled` is the amount that was found for the same accuracy before: a page that is loaded again shows it again.
    """
    if asked.move == "privacy":
        amount = usual_amount(asked) if asked.amount is None else asked.amount
        report = known.design(amount)
        return report, amount, _short(known.best(amount), asked)
    first = usual_amount(asked) if asked.target is None else settled
    begun = None if first is None else _designed(known, first)
    target = asked.target
    if target is None:
        target = _short(known.best(usual_amount(asked)), asked)
    if begun is not None and first is not None and _holds(begun, asked, target):
        return begun, first, target
    report, amount = _reached(asked, known, target)
    return report, amount, target


def _short(value: float, asked: Asked) -> Fraction:
    """A value to three digits, on the side that is easier to reach."""
    if not math.isfinite(value) or value <= 0:
        return Fraction(1)
    if asked.utility.larger_is_better:
        return Fraction(math.floor(value * 1000), 1000) or Fraction(1, 1000)
    return _rounded(Fraction(value), up=True)


def _rounded(value: Fraction, *, up: bool) -> Fraction:
    scale = Fraction(10) ** (_DIGITS - 1 - math.floor(math.log10(float(value))))
    return Fraction((math.ceil if up else math.floor)(value * scale)) / scale


def _reached(asked: Asked, known: Known, target: Fraction) -> tuple[Report, Fraction]:
    """A design that reaches the target, checked in balls, at an amount of three digits close to the smallest.

    Guarantees: the amount is one at which the design was looked at and held. That no smaller one does is not claimed.
    """
    low, high = asked.ends
    stepwise = isinstance(asked.utility, ErrorQuantile) and getattr(
        asked.query, "integer", asked.question == "histogram"
    )
    missed: set[Fraction] = set()
    for _ in range(_MOST_LOOKS):
        fails, holds = _bracket(asked, known, target, missed)
        amount = _guess(asked, known, target, (fails, holds), stepwise=stepwise)
        report = _designed(known, amount)
        if report is None or not _holds(report, asked, target):
            missed.add(amount)
            if amount == high:
                raise EntryError(
                    f"no mechanism reaches {show(target)} for any {asked.amount_name} up to {show(high)}: ask for less"
                    " accuracy.",
                    "target",
                )
            continue
        width = 2 * _NEAR if stepwise else _NEAR
        narrow = amount in (low, holds) or (fails is not None and amount <= fails * (1 + width))
        over = -_distance(asked, known.best(amount), target)
        if narrow or (not stepwise and over <= float(_NEAR) * _slope(asked, known, target, fails, holds)):
            return report, amount
    raise EntryError("the search for an amount did not settle; move the privacy instead.", "target")


def _slope(asked: Asked, known: Known, target: Fraction, fails: Fraction | None, holds: Fraction | None) -> float:
    """How much the logarithm of the error falls with that of the amount, between two ends."""
    if fails is None or holds is None:
        return _SLOPE
    fall = _distance(asked, known.best(fails), target) - _distance(asked, known.best(holds), target)
    return fall / math.log(float(holds / fails)) if math.isfinite(fall) else _SLOPE


def _designed(known: Known, amount: Fraction) -> Report | None:
    try:
        return known.design(amount)
    except (InfeasibleError, SolverError):
        known.points[amount] = {"values": {}, "bound": None}
        return None


def _holds(report: Report, asked: Asked, target: Fraction) -> bool:
    """Whether the winner certainly reaches the target.

    Rule: `error` is the distance from `value` to the farther end of the ball, as the nearest float; the next float is
    not below it. Where that is too close to call the ball itself decides. [theory#floats-that-decide]
    """
    winner, larger = report.candidates[0], asked.utility.larger_is_better
    if not math.isfinite(winner.value):
        return False
    value, doubt = Fraction(winner.value), Fraction(math.nextafter(winner.error, math.inf))
    if (value - doubt >= target) if larger else (value + doubt <= target):
        return True
    if (value + doubt < target) if larger else (value - doubt > target):
        return False
    return reaches(report.best.mechanism.expected(report.utility), target, asked.utility)


def _bracket(
    asked: Asked, known: Known, target: Fraction, missed: set[Fraction]
) -> tuple[Fraction | None, Fraction | None]:
    """The largest known amount that misses the target below the smallest that seems to reach it."""
    ordered = sorted(known.points)
    last = max(missed, default=Fraction(0))
    good = [a for a in ordered if a > last and _distance(asked, known.best(a), target) <= 0]
    holds = good[0] if good else None
    bad = [amount for amount in ordered if amount not in good and (holds is None or amount < holds)]
    return (bad[-1] if bad else None), holds


def _guess(
    asked: Asked, known: Known, target: Fraction, ends: tuple[Fraction | None, Fraction | None], *, stepwise: bool
) -> Fraction:
    """Where the known ends and a third place say that the target is crossed; outward where there is no end."""
    (low, high), (fails, holds) = asked.ends, ends
    if fails is None and holds is None:
        return usual_amount(asked)
    if fails is None or holds is None:
        here = fails or holds or Fraction(1)
        reach = min(max(1.1 * math.exp(abs(_distance(asked, known.best(here), target)) / _SLOPE), 1.3), 64.0)
        beyond = here * Fraction(reach) if holds is None else here / Fraction(reach)
        return min(max(_rounded(beyond, up=True), low), high)
    if stepwise and holds <= fails * (1 + 2 * _NEAR):
        return holds
    turn = None if stepwise else _crossing(asked, known, target, fails, holds)
    guess = fails if turn is None else _rounded(Fraction(turn * (1 + _ASIDE)), up=True)
    if fails < guess:
        return min(guess, holds)
    middle = _rounded(Fraction(math.sqrt(float(fails * holds))), up=True)
    return middle if fails < middle < holds else holds


def _crossing(asked: Asked, known: Known, target: Fraction, fails: Fraction, holds: Fraction) -> float | None:
    """Where the distance is zero, by inverse interpolation over logarithms through both ends and the nearest third."""
    middle = math.log(float(fails * holds)) / 2
    others = sorted(known.points.keys() - {fails, holds}, key=lambda a: abs(math.log(float(a)) - middle))
    found = {_distance(asked, known.best(a), target): math.log(float(a)) for a in (fails, holds, *others[:1])}
    places = [d for d in found if math.isfinite(d)]
    if len(places) < 2:
        return None
    for count in (3, 2):
        used = places[:count]
        turn = sum(found[d] * math.prod(e / (e - d) for e in used if e != d) for d in used)
        if math.log(float(fails)) < turn < math.log(float(holds)):
            return math.exp(turn)
    return None


def _distance(asked: Asked, value: float, target: Fraction) -> float:
    """The logarithm of the value over the target, of the odds for a chance; positive where the target is missed."""
    goal = float(target)
    if asked.utility.larger_is_better:
        if value <= 0:
            return math.inf
        return math.log(goal / (1 - goal)) - (math.log(value / (1 - value)) if value < 1 else math.inf)
    return math.log(value / goal) if 0 < value < math.inf else math.copysign(math.inf, value - goal)


def missing_amounts(asked: Asked, known: Known, *, slow: bool) -> list[Fraction]:
    """The amounts of the picture that were not looked at yet, coarse first."""
    low, high = PICTURED[asked.amount_name]
    count = _FEW_POINTS if slow else _POINTS
    every = [_rounded(Fraction(low * (high / low) ** (i / (count - 1))), up=True) for i in range(count)]
    order = sorted(range(count), key=lambda i: (-(i & -i) if i else -count, i))
    return [every[i] for i in order if every[i] not in known.points]


def completed(asked: Asked, known: Known, *, slow: bool) -> Iterator[tuple[int, int]]:
    """Look at the amounts of the picture one after the other; yields how many are done of how many."""
    wanted = missing_amounts(asked, known, slow=slow)
    for done, amount in enumerate(wanted, 1):
        try:
            known.design(amount)
        except NoisewrightError:
            known.points[amount] = {"values": {}, "bound": None}
        yield done, len(wanted)
