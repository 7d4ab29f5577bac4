"""`noisewright budget`."""

from __future__ import annotations

from typing import Annotated

from noisewright.app.options import UTILITY, Confidence, Integer, Json, Power, Save, Sensitivity, Within, number
from noisewright.app.output import check_places, keep, on_a_terminal, say_either
from noisewright.app.questions import make_goal, typed
from noisewright.problem.queries import Scalar


def budget(
    sensitivity: Sensitivity,
    half_width: Annotated[str | None, number("The error to stay within; goes with --confidence.")] = None,
    confidence: Confidence = None,
    utility: Annotated[str | None, UTILITY] = None,
    target: Annotated[str | None, number("The value that --utility must reach.")] = None,
    power: Power = None,
    within: Within = None,
    integer: Integer = False,
    json: Json = False,
    save: Save = None,
) -> None:
    """Find the smallest epsilon that reaches an accuracy.

    Say how accurate with --half-width and --confidence, or with any --utility and its --target.
    """
    query = Scalar(sensitivity, integer=integer)
    given = typed(power=power, within=within, confidence=confidence)
    wanted, value = make_goal(utility, given, target, half_width)
    check_places(save=save)
    from noisewright.search.budget import budget_for

    found = budget_for(query, utility=wanted, target=value, progress=on_a_terminal())
    say_either(found, json=json)
    keep(found.best, save, f"mechanism ({found.rows[0].name})")
