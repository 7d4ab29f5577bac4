"""Numbers of very different extent whose errors are added up as they are: what to say, and which weights would help."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.problem.numbers import show
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Disjoint

UNEVEN = 30
"""From which ratio of extents on numbers are very different."""
_LISTED = 12


def uneven_note(query: Any, utility: Any) -> str | None:
    """What to say if the smaller numbers would drown in the noise that the largest decides; None if they would not.

    Rule: errors to the power p that are added up without weights count most for the number that moves furthest; a
    weight of 1 / extent^p counts each against how far it can move. Where one number moves at a time (a disjoint set)
    they share no noise, and weights change nothing. Weights that are given, equal ones too, are meant.
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
