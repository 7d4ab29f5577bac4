"""The plan of a spec file: from its columns alone, with no value looked at and nothing spent."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.app.explorer.asked import EntryError, State
from noisewright.app.releasing import planned_of, spec_of
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.numbers import parameter
from noisewright.search.budget import parameter as amount_name


def plan_of(path: str, state: State) -> tuple[Any, Fraction]:
    """The plan, with the amount of privacy of the page in place of the file's where one is given."""
    asked = spec_of(Path(path))
    privacy: Any = asked.plan.get("privacy")
    name = amount_name(type(privacy))
    text = state.get("amount", "").strip()
    if text and privacy is not None:
        try:
            given = {each: getattr(privacy, each) for each in type(privacy).CARD.given}
            privacy = type(privacy)(**{**given, name: parameter(text, name)})
        except NoisewrightError as error:
            raise EntryError(error.message, "amount") from None
        asked = replace(asked, plan={**asked.plan, "privacy": privacy})
    plan = planned_of(asked)
    return plan, getattr(plan.privacy, name)
