"""What one look at the page needs, computed in a worker: the design, its pictures, its words, and the same to copy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.app.cli.release import planned_of, spec_of
from noisewright.app.explorer import fragments
from noisewright.app.explorer.finding import (
    Known,
    completed,
    known_from,
    missing_amounts,
    report_for,
)
from noisewright.app.explorer.form import Asked, EntryError, State, read
from noisewright.app.explorer.noise import noise_of
from noisewright.app.explorer.recipes import number
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.numbers import parameter
from noisewright.search.budget import budget_for, parameter as amount_name
from noisewright.search.report.progress import heard

HUNDRED = 100
_SLOW = 0.6
"""Seconds of computing for one look from which on more designs wait until they are asked for."""
Said = dict[str, Any]
Widths = tuple[int, int]
"""In pixels: of a panel that shares its row, and of one that has it for itself."""
Progress = Callable[[str, int, int], None]


def looked(
    state: State, known: list[list[Any]], widths: Widths, tell: Progress, settled: str | None = None
) -> Iterator[Said]:
    """One look: everything that the page shows at once, as fragments of HTML by the panel they belong in."""
    asked = read(state)
    found = known_from(asked, known)
    began = time.process_time()
    with heard(tell):
        report, amount, target = report_for(asked, found, None if settled is None else Fraction(settled))
        noise = noise_of(report, asked)
    slow = time.process_time() - began > _SLOW
    value = found.best(amount)
    yield {
        "event": "look",
        "amount": number(amount),
        "target": number(target),
        "panels": {
            "summary": fragments.summary(asked, report, amount, target, noise),
            "density": fragments.density(noise, report, widths[0]),
            "answers": fragments.answers(noise, widths[1]),
            "ranking": fragments.ranking(report),
            "curve": fragments.curve(asked, found, amount, value, widths[0]),
            "odds": fragments.learnt(report, widths[0]),
            "hundred": fragments.hundred(report, HUNDRED),
            "recipes": fragments.recipes(asked, amount, target),
        },
        "measure": report.title,
        "digest": report.best.to_dict()["digest"],
        "mechanism": report.best.to_dict(),
        "points": found.plain(),
        "key": asked.key,
        "slow": slow,
        "more": bool(missing_amounts(asked, found, slow=slow)) or asked.move == "accuracy",
        "reach": _reach(asked, found),
    }


def _reach(asked: Asked, known: Known) -> list[float]:
    """Between which values the slider of accuracy moves: what the best mechanism reaches at the ends of the picture."""
    if asked.utility.larger_is_better:
        return [0.01, 0.999]
    values = [known.best(amount) for amount in known.points]
    finite = [value for value in values if 0 < value < math.inf] or [1.0]
    return [min(finite) / 2, max(finite) * 2] if len(finite) > 3 else [min(finite) / 30, max(finite) * 30]


def more(
    state: State, known: list[list[Any]], widths: Widths, amount: str, slow: bool, tell: Progress
) -> Iterator[Said]:
    """What takes longer: the rest of the curve, point by point, and what the accuracy costs with every mechanism."""
    asked = read(state)
    found = known_from(asked, known)
    here = Fraction(amount)
    if here not in found.points:
        found.design(here)
    for done, count in completed(asked, found, slow=slow):
        tell("error against privacy", done, count)
        yield _drawn(asked, found, here, widths[0])
    if asked.move == "accuracy" and asked.target is not None:
        with heard(tell):
            yield {"event": "budget", "panels": {"budget": _budget(asked, asked.target)}}


def _drawn(asked: Asked, known: Known, here: Fraction, width: int) -> Said:
    return {
        "event": "curve",
        "panels": {"curve": fragments.curve(asked, known, here, known.best(here), width)},
        "points": known.plain(),
        "key": asked.key,
        "reach": _reach(asked, known),
    }


def _budget(asked: Asked, target: Fraction) -> str:
    guarantee: dict[str, Any] = {"notion": asked.notion, **asked.fixed}
    try:
        return fragments.budget(budget_for(asked.query, utility=asked.utility, target=target, **guarantee))
    except NoisewrightError as error:
        return fragments.remark(str(error))


def planned(path: str, state: State, widths: Widths) -> Iterator[Said]:
    """The plan of the spec file that was named at the start, with another amount of privacy where one is given."""

    plan, amount = plan_of(path, state)
    yield {
        "event": "look",
        "amount": number(amount),
        "target": "",
        "panels": {
            "summary": fragments.planned(plan),
            "ranking": fragments.plan_table(plan),
            "odds": fragments.plan_odds(plan, widths[0]),
            "recipes": fragments.plan_recipes(plan, path, amount),
        },
        "measure": "",
        "digest": plan.to_dict()["digest"],
        "mechanism": plan.to_dict(),
        "points": [],
        "key": "",
        "slow": True,
        "more": False,
        "reach": [],
    }


# The plan of a spec file: from its columns alone, with no value looked at and nothing spent.


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
