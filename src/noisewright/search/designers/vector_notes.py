"""Remarks in a report: numbers that need no noise, and what another set of differences would be worth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from noisewright.problem.privacy import ApproxDP, PureDP
from noisewright.problem.sensitivity import Box, Disjoint
from noisewright.problem.utility import Utility
from noisewright.problem.vector import Vector
from noisewright.search.families.vector_approximate import approximate_mechanisms
from noisewright.search.families.vector_parts import active
from noisewright.search.families.vector_pure import Mechanisms, mid, pure_mechanisms
from noisewright.search.report.report import Report

_FEW = 8
_MOST_COMPARED = 2_000


def notes(report: Report) -> Iterator[str]:
    """What a reader of the report should know besides the table."""
    query = report.query
    still = [i + 1 for i, extent in enumerate(query.extents) if not extent]
    if still:
        names = ", ".join(map(str, still[:_FEW])) + (" …" if len(still) > _FEW else "")
        verb = "is" if len(still) == 1 else "are"
        yield f"Sensitivity 0: no person can change number {names}; {verb} released as it is, without noise."
    if isinstance(query.sensitivity, Box) and len(active(query)) > 1 and query.dimension <= _MOST_COMPARED:
        yield _disjoint_note(query, report.privacy, report.utility, {c.name: c.value for c in report.candidates})


def _disjoint_note(query: Vector, privacy: PureDP | ApproxDP, utility: Utility, values: dict[str, float]) -> str:
    """How much better the same question would do as a disjoint set, computed mechanism by mechanism."""
    twin = Vector(Disjoint(query.extents))
    others = {name: mid(mechanism, utility) for name, mechanism in _candidates(twin, privacy, utility).items()}
    larger = utility.larger_is_better
    kinds = [("identical Laplace", "Laplace"), ("identical Gaussian", "Gaussian")]
    gains = [
        f"{_gain(values[name], others[name], larger=larger)} for {short} noise"
        for name, short in kinds
        if name in values and name in others
    ]
    best = max if larger else min
    gains.append(f"{_gain(best(values.values()), best(others.values()), larger=larger)} for the best noise")
    word = "utility" if larger else "error"
    return (
        f"Declared as a box, all {len(active(query))} numbers may move at once. If one person can move only one of them"
        " at a time (a histogram of which each person is in one bin, when people are added or removed), declare"
        f" Disjoint: the {word} would be better by a factor of {', '.join(gains)}."
    )


def _candidates(query: Vector, privacy: Any, utility: Utility) -> Mechanisms:
    epsilon: Fraction = privacy.epsilon
    if isinstance(privacy, ApproxDP):
        return approximate_mechanisms(query, epsilon, privacy.delta, utility)
    return pure_mechanisms(query, epsilon, utility)


def _gain(value: float, other: float, *, larger: bool) -> str:
    top, bottom = (other, value) if larger else (value, other)
    return f"{top / bottom:.4g}" if bottom else "infinity"
