"""The page itself: the form, filled in from the address, and empty panels that the script fills."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath

from noisewright.app.explorer.form import (
    MOVES,
    PRIVACY,
    QUESTIONS,
    TABLE,
    TRUTH,
    UTILITY,
    State,
    served,
)
from noisewright.drawing.pages import rendered

PANELS = (
    ("density", "The noise"),
    ("curve", "Error against privacy"),
    ("answers", "Twenty possible answers"),
    ("ranking", "Ranking, with gaps"),
    ("odds", "What an attacker can learn"),
    ("hundred", "A hundred such releases"),
    ("recipes", "The same, to copy"),
)


def page(state: State, *, spec: str | None) -> str:
    """The whole page for a state of its fields."""
    questions = {name: choice for name, choice in QUESTIONS.items() if spec is not None or name != TABLE}
    question = _chosen(state, "question", questions, "number")
    known = served()
    privacy = _chosen(state, "privacy", known[question])
    utility = _chosen(state, "utility", known[question].get(privacy, []))
    return rendered(
        "noisewright.app.explorer",
        "page.html.j2",
        state=state,
        served=json.dumps(known),
        spec=None if spec is None else PurePath(spec).name,
        move=_chosen(state, "move", MOVES, "accuracy"),
        moves=MOVES,
        question=question,
        questions=questions,
        privacy=privacy,
        notions=PRIVACY,
        utility=utility,
        utilities=UTILITY,
        truth=TRUTH,
        table=TABLE,
        panels=PANELS,
    )


def _chosen(state: State, name: str, allowed: Iterable[str], usual: str = "") -> str:
    """What a field says, if that is allowed; else the usual, or the first that is."""
    names = list(allowed)
    return next((one for one in (state.get(name, ""), usual, *names) if one in names), "")
