"""How much better one mechanism is than another, or than nothing can beat, in words that a person would use.

Up to twice it is a percentage, beyond that a factor. What is an upper bound is rounded up, what was measured to the
nearest. Also what to say where numbers of very different extent are added up as they are, and which weights would help.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from noisewright.problem.numbers import show
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Disjoint

if TYPE_CHECKING:
    from noisewright.sample.certified import Certified

_NOTHING = 1e-9
_LEAST = 1e-6
_TWICE = 1.0
_HOPELESS = 1e12
_EVEN = 1.0005
_SURE = 1e-5
_FLOAT_DIGITS = 12
UNEVEN = 30
"""From which ratio of extents on numbers are very different."""
_LISTED = 12


class Rated(Protocol):
    """A candidate of a report, as sentences and pictures read it."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def certified(self) -> Certified:
        """The mechanism with its certificate."""

    @property
    def value(self) -> float:
        """Its expected utility."""

    @property
    def gap(self) -> float | None:
        """Its relative distance to the bound."""

    @property
    def parts(self) -> tuple[float, ...]:
        """What is known of each of several numbers."""


class Ranked(Protocol):
    """A report, as sentences and pictures read it."""

    @property
    def query(self) -> Any:
        """The question."""

    @property
    def privacy(self) -> Any:
        """The requirement."""

    @property
    def utility(self) -> Any:
        """What counts as good."""

    @property
    def candidates(self) -> Sequence[Rated]:
        """Best first."""

    @property
    def bound(self) -> float | None:
        """What no mechanism can beat."""

    @property
    def over(self) -> str:
        """Which kind of mechanism the bound is proven for; nothing where it is for all."""

    @property
    def best(self) -> Certified:
        """The winner."""

    @property
    def parts(self) -> tuple[tuple[float, ...], ...]:
        """What is known of each number with each candidate."""

    @property
    def releases(self) -> int:
        """How many equal releases the requirement is the total of."""

    @property
    def title(self) -> str:
        """The utility in words."""


def number(value: float) -> str:
    """Six significant digits, or a plain word if it is not finite."""
    return "infinite" if value == float("inf") else f"{value:.6g}"


def percent(value: float) -> str:
    """A relative distance that is an upper bound, as a percentage of two significant digits."""
    return f"{_plain(100 * max(value, _LEAST), 2, ROUND_CEILING)} %"


def factor(value: float) -> str:
    """A factor that is an upper bound: two significant digits."""
    return _plain(value, 2, ROUND_CEILING)


def times(value: float) -> str:
    """A measured factor: four significant digits."""
    return _plain(value, 4, ROUND_HALF_EVEN)


def _plain(value: float, digits: int, rounding: str) -> str:
    """So many significant digits, never in scientific notation."""
    # What floats add in their last digits is no reason to round up.
    exact = Decimal(f"{value:.{_FLOAT_DIGITS}g}")
    if not exact:
        return "0"
    shown = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=rounding)
    text = f"{shown:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def over(query: Any) -> str:
    """What a bound for this question is over, as a clause to put behind the word mechanism."""
    return " that releases whole numbers" if getattr(query, "integer", False) else ""


def gap_text(gap: float | None) -> str:
    """How far from the bound, in words for a table."""
    if gap is None:
        return "no bound"
    if gap < _NOTHING:
        return "none"
    if gap >= _HOPELESS:
        return "no useful bound"
    return f"at most {percent(gap)}" if gap < _TWICE else f"at most a factor of {factor(1 + gap)}"


def limit_text(report: Ranked) -> str:
    """The winner's distance to the best possible, and over which mechanisms that is proven, in words."""
    gap, larger = report.candidates[0].gap, report.utility.larger_is_better
    other = rival(report.over, report.query)
    if gap is None:
        side, article = "upper" if larger else "lower", "" if report.title.startswith("P(") else "the "
        missing = f"no {side} bound on {article}{report.title} is proven for this kind of question and privacy"
        return f"{missing}, so another {other} may be better"
    if gap < _NOTHING:
        return f"no {other} can do better"
    # A share of the best possible that is missing is a larger one of what is reached.
    gain = (gap / (1 - gap) if gap < 1 else math.inf) if larger else gap
    if gain >= _HOPELESS:
        return f"the bound that is proven here is too weak to say how much better another {other} could be"
    loose = " (bound not tight here)" if gain >= _TWICE else ""
    return f"the gap to the best possible {other} is {gap_text(gap)}{loose}"


def gain_text(winner: Rated, usual: Rated, utility: Any) -> str:
    """How much better the winner is than usual noise, in words."""
    own, other = "their" if many(winner.name) else "its", _noise(usual.name)
    if utility.unit:
        return f"{own} {utility} is {usual.value - winner.value:.4g} {utility.unit} below that of {other}"
    larger = utility.larger_is_better
    top, bottom = (winner.value, usual.value) if larger else (usual.value, winner.value)
    if bottom <= 0 or top <= 0 or math.isinf(top):
        return f"{number(winner.value)} against {number(usual.value)} with {other}"
    if top / bottom < _EVEN:
        return f"practically level with {other}"
    if larger:
        return f"{own} answers are useful {times(top / bottom)} times as often as with {other}"
    return f"{own} error is {times(top / bottom)} times smaller than that of {other}"


def below_text(winner: Rated, second: Rated, title: str) -> str:
    """How far the winner's cost is below that of the second, in words."""
    if winner.value <= 0 or math.isinf(second.value):
        return f"its {title} is {number(winner.value)}, that of {second.name} {number(second.value)}"
    ratio = second.value / winner.value
    if ratio < _EVEN:
        return f"its {title} is practically that of {second.name}"
    if ratio >= 1 + _TWICE:
        return f"its {title} is {times(ratio)} times smaller than that of {second.name}"
    return f"its {title} is {_plain(100 * (1 - 1 / ratio), 2, ROUND_HALF_EVEN)} % below that of {second.name}"


def reason(report: Ranked) -> str:
    """The winner against usual noise where that is among the candidates, and against the bound."""
    winner = report.candidates[0]
    usual = next((c for c in report.candidates if "Laplace" in c.name and c is not winner), None)
    limit = limit_text(report)
    if usual is None or abs(usual.value - winner.value) <= _LEAST * abs(winner.value):
        best = "best for this question" if winner.gap is not None and winner.gap <= _SURE else "best of these"
        return f"{winner.name} {'are' if many(winner.name) else 'is'} the {best}: {limit}."
    verb = "win" if many(winner.name) else "wins"
    return f"{winner.name} {verb}: {gain_text(winner, usual, report.utility)}; {limit}."


def rival(kind: str, query: Any) -> str:
    """Each of the mechanisms of a kind that a bound is proven for; of all of them without a kind."""
    if not kind:
        return f"mechanism{over(query)}"
    whole = getattr(query, "integer", False) and "whole" not in kind
    return f"{kind} on integers" if whole else kind


def many(name: str) -> bool:
    """Whether a name is in the plural."""
    return name.endswith("blocks")


def _noise(name: str) -> str:
    """A candidate as noise: what is said behind a comma stays behind it."""
    head, comma, rest = name.partition(", ")
    return f"{head}{'' if head.endswith(('noise', 'blocks')) else ' noise'}{comma}{rest}"


def uneven_note(query: Any, utility: Any) -> str | None:
    """What to say if the smaller numbers would drown in the noise that the largest decides; None if they would not.

    Rule: errors to the power p that are added up without weights count most for the number that moves furthest; a
    weight of 1 / extent^p counts each against how far it can move. Where one number moves at a time (a disjoint set)
    they share no noise, and weights change nothing. Weights that are given, equal ones too, are meant.
    [theory#what-one-person-can-change]
    """
    if not isinstance(query, Vector) or isinstance(query.sensitivity, Disjoint):
        return None
    if utility.power is None or utility.weights is not None:
        return None
    moving = {extent for extent in query.extents if extent}
    if not moving or max(moving) < UNEVEN * min(moving):
        return None
    return (
        f"One person moves these numbers by {show(min(moving))} to {show(max(moving))}, and all errors count alike: the"
        " largest decides, and the noise may drown the others. To count each error against how far its number can"
        f" move, give utility=nw.{_suggestion(query.extents, utility)}; equal weights say that this is meant."
    )


def _suggestion(extents: tuple[Fraction, ...], utility: Any) -> str:
    """The utility with weights, to be copied."""
    power, name = utility.power, type(utility).__name__
    first = f"{show(power)}, " if name == "PowerError" else ""
    if len(extents) <= _LISTED:
        weights = ", ".join(f"{float(extent) ** -float(power):.6g}" if extent else "1" for extent in extents)
    else:
        weights = f"1 / x**{show(power)} if x else 1 for x in query.extents"
    return f"{name}({first}weights=[{weights}])"
