"""Candidates measured against the bound, and put in order."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.privacy import PureDP, Requirement
from noisewright.problem.utilities import Utility
from noisewright.sample.certified import make_certified
from noisewright.search.report.report import Candidate

TIE = 1e-6
"""Values this near are equals: the room for rounding errors of real answers makes differences of about 1e-7."""


def measured(
    name: str,
    mechanism: Any,
    privacy: Requirement,
    value: Ball,
    bound: Fraction | None,
    utility: Any,
    bias: float = 0.0,
) -> Candidate:
    """Certify a mechanism and measure its value, a ball, against the bound (None where none is known)."""
    certified = make_certified(mechanism, privacy)
    if not value.is_finite():
        return Candidate(name, certified, math.inf, None if bound is None else math.inf, bias)
    with precision():
        worst = lower(value) if utility.larger_is_better else upper(value)
        middle, error = float(value.mid()), float(value.rad())
    gap = relative_gap(worst, bound, larger=utility.larger_is_better)
    return Candidate(name, certified, middle, gap, bias, error)


def relative_gap(worst: Fraction, bound: Fraction | None, *, larger: bool) -> float | None:
    """Upper bound of the relative distance between a value's worst end and the bound."""
    if bound is None:
        return None
    distance = max(Fraction(0), bound - worst if larger else worst - bound)
    if not bound:
        return 0.0 if not distance else math.inf
    return float(distance / bound)


def ranked(candidates: list[Candidate], utility: Any, simpler_first: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Best first; among equals the simpler one, in the given order of names."""
    sign = -1 if utility.larger_is_better else 1
    ordered = sorted(candidates, key=lambda c: sign * c.value)
    best = ordered[0].value
    ties = [c for c in ordered if abs(c.value - best) <= TIE * abs(best)]
    rest = [c for c in ordered if c not in ties]
    place = {name: i for i, name in enumerate(simpler_first)}
    return (*sorted(ties, key=lambda c: place.get(c.name, len(place))), *rest)


def outward(bound: Fraction, *, larger: bool) -> float:
    """The bound as a float that still is one."""
    shown = float(bound)
    if larger:
        return shown if shown >= bound else math.nextafter(shown, math.inf)
    return shown if shown <= bound else math.nextafter(shown, -math.inf)


def additive_candidate(
    name: str, mechanism: Additive, privacy: PureDP, utility: Utility, bound: Fraction | None
) -> Candidate:
    """Certify additive noise, with its bias where there is one."""
    with precision():
        bias = mechanism.bias(BALLS)
        offset = 0.0 if bias.contains(0) else float(bias.mid())
    return measured(name, mechanism, privacy, value_ball(mechanism, utility), bound, utility, offset)


def value_ball(mechanism: Additive, utility: Utility) -> Ball:
    """Expected utility of a mechanism, enclosed."""
    with precision():
        return mechanism.expected(utility, BALLS)
