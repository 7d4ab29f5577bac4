"""From fields to the library's words: a question, a promise, what counts as good, and which of two ends is moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.app.explorer.entries import (
    MOST_BINS,
    MOST_CELLS,
    MOST_NUMBERS,
    MOVES,
    NAMES,
    PRIVACY,
    QUESTIONS,
    TABLE,
    TRUTH,
    UTILITY,
    Choice,
    amount_of,
    served,
)
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.numbers import parameter, show
from noisewright.problem.queries import Histogram, Scalar, Vector
from noisewright.problem.sensitivity import SETS
from noisewright.problem.utilities import UTILITIES, Utility
from noisewright.problem.workload import Workload
from noisewright.search.budget import NOTIONS
from noisewright.search.report.budget import limits

LONGEST = 400
"""Letters in a field."""
_FARTHEST = 10**9
State = dict[str, str]


class EntryError(Exception):
    """What is wrong, with the name of the field it is wrong in; an empty name where it is wrong elsewhere."""

    def __init__(self, message: str, entry: str = "") -> None:
        super().__init__(message)
        self.message, self.entry = message, entry


@dataclass(frozen=True, slots=True)
class Asked:
    """What the fields say, read and checked; `values` are the texts of the fields that count."""

    question: str
    notion: str
    utility_name: str
    move: str
    query: Any
    utility: Utility
    fixed: Mapping[str, Fraction]
    amount: Fraction | None
    target: Fraction | None
    truth: Fraction
    values: State

    @property
    def amount_name(self) -> str:
        """What the amount is called: epsilon or rho."""
        return amount_of(self.notion)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest amount that is allowed."""
        return limits(NOTIONS[self.notion][0])

    def requirement(self, amount: Fraction) -> Any:
        """The promise with an amount."""
        return NOTIONS[self.notion][0](**self.fixed, **{self.amount_name: amount})

    @property
    def key(self) -> str:
        """What the error depends on besides the amount."""
        kept = {name: text for name, text in self.values.items() if name not in ("amount", "target", "truth", "move")}
        return "&".join(f"{name}={text}" for name, text in sorted(kept.items()))


def clean(given: Any) -> State:
    """The fields of a request: texts of known names that are not too long; anything else is refused."""
    if not isinstance(given, Mapping):
        raise EntryError("the fields are a table of names and texts.")
    for name, text in given.items():
        if name not in NAMES:
            raise EntryError("there is a field that this page does not know; load the page again.")
        if not isinstance(text, str) or len(text) > LONGEST or not text.isprintable():
            raise EntryError(f"give a line of text of at most {LONGEST} letters.", name)
    return dict(given)


def read(state: State) -> Asked:
    """What the fields say; raises EntryError, which names the field and what is allowed there."""
    question = _among(state, "question", [name for name in QUESTIONS if name != TABLE], "number")
    rows = served()[question]
    notion = _among(state, "privacy", list(rows), next(iter(rows)))
    utility_name = _among(state, "utility", rows[notion], rows[notion][0])
    move = _among(state, "move", list(MOVES), "accuracy")
    values = _texts(state, QUESTIONS[question], PRIVACY[notion], UTILITY[utility_name])
    query = _MAKERS[question](values)
    fixed = {name: _number(values, name) for name in NOTIONS[notion][1]}
    kind: Any = UTILITIES.kinds[utility_name]
    wanted = {entry.name: _number(values, entry.name) for entry in UTILITY[utility_name].entries}
    with _about(*wanted, "utility"):
        utility: Utility = kind(**wanted)
    amount, target = _optional(state, "amount"), _optional(state, "target")
    chosen = {"question": question, "privacy": notion, "utility": utility_name, "move": move, **values}
    found = Asked(
        question, notion, utility_name, move, query, utility, fixed, amount, target, _truth(state, query), chosen
    )
    _check_amounts(found)
    return found


def _check_amounts(asked: Asked) -> None:
    low, high = asked.ends
    name, amount, target = asked.amount_name, asked.amount, asked.target
    if amount is not None and not low <= amount <= high:
        raise EntryError(f"{name} is from {show(low)} to {show(high)}.", "amount")
    with _about(*asked.fixed, "amount"):
        asked.requirement(Fraction(1) if amount is None else amount)
    if target is not None and (target <= 0 or (asked.utility.larger_is_better and target >= 1)):
        raise EntryError("give a chance between 0 and 1." if asked.utility.larger_is_better else "above 0.", "target")


def _truth(state: State, query: Any) -> Fraction:
    bounds = getattr(query, "inputs", None)
    text = state.get("truth", "").strip()
    if bounds is not None:
        truth = sum(bounds, Fraction(0)) / 2 if text in ("", TRUTH.default) else _number(state, "truth")
        if not bounds[0] <= truth <= bounds[1]:
            raise EntryError(f"give a number from {show(bounds[0])} to {show(bounds[1])}, the inputs.", "truth")
        return Fraction(truth)
    truth = _number({"truth": text or TRUTH.default}, "truth")
    if abs(truth) > _FARTHEST:
        raise EntryError("give a number of at most a billion.", "truth")
    whole = getattr(query, "integer", False) or not isinstance(query, Scalar | Vector)
    return Fraction(round(truth)) if whole else truth


def _texts(state: State, *choices: Choice) -> State:
    """The fields that belong to what was chosen; an empty one has its default."""
    entries = [entry for choice in choices for entry in choice.entries]
    return {
        entry.name: state.get(entry.name, "").strip() or ("" if entry.ticked else entry.default) for entry in entries
    }


def _among(state: State, name: str, allowed: list[str], usual: str) -> str:
    found = state.get(name) or usual
    if found not in allowed:
        raise EntryError(f"give one of {', '.join(allowed)}.", name)
    return found


def _number(values: Mapping[str, str], name: str) -> Fraction:
    with _about(name):
        return parameter(values[name], name)


def _optional(state: State, name: str) -> Fraction | None:
    return _number(state, name) if state.get(name, "").strip() else None


def _whole(values: State, name: str, most: int) -> int:
    found = _number(values, name)
    if found.denominator != 1 or not 1 <= found <= most:
        raise EntryError(f"give a whole number from 1 to {most:,}.", name)
    return int(found)


def _listed(values: State, name: str, most: int) -> list[Fraction]:
    words = values[name].replace(",", " ").split()
    if not 1 <= len(words) <= most:
        raise EntryError(f"give 1 to {most} numbers with commas between.", name)
    return [_number({name: word}, name) for word in words]


def _pair(values: State, name: str) -> tuple[Fraction, Fraction]:
    found = _listed(values, name, 2)
    if len(found) != 2 or found[0] >= found[1]:
        raise EntryError("give two numbers with a comma, the smaller first: 0, 10.", name)
    return found[0], found[1]


def _ticked(values: State, name: str) -> bool:
    return values.get(name) == "on"


def _scalar(values: State) -> Any:
    with _about("sensitivity"):
        return Scalar(_number(values, "sensitivity"), integer=_ticked(values, "integer"))


def _histogram(values: State) -> Any:
    bins = _whole(values, "bins", MOST_BINS)
    with _about("bins_per_person", "bins"):
        return Histogram(
            bins, bins_per_person=_whole(values, "bins_per_person", bins), replace=_ticked(values, "replace")
        )


def _vector(values: State) -> Any:
    each = _listed(values, "sensitivities", MOST_NUMBERS)
    chosen = _among(values, "set", ["box", "disjoint", "sparse"], "box")
    with _about("sensitivities"):
        kind: Any = SETS.kinds[chosen]
        moves = kind(_whole(values, "changes", len(each)), each) if chosen == "sparse" else kind(each)
        return Vector(moves, integer=_ticked(values, "integer"))


def _bounded(values: State) -> Any:
    inputs, outputs = _pair(values, "inputs"), _pair(values, "outputs")
    if outputs[0] > inputs[0] or outputs[1] < inputs[1]:
        raise EntryError("give bounds that hold all inputs.", "outputs")
    unbiased = {"unbiased": True} if _ticked(values, "unbiased") else {}
    with _about("sensitivity", "inputs", "outputs", "unbiased"):
        found = Scalar(_number(values, "sensitivity"), inputs=inputs, outputs=outputs, **unbiased)
        return found.bounded


def _workload(values: State) -> Any:
    cells, form = _whole(values, "cells", MOST_CELLS), values["form"]
    made = {"identity": Workload.identity, "total": Workload.total, "prefixes": Workload.prefixes}
    _among(values, "form", [*made, "ranges"], "ranges")
    with _about("cells", "form"):
        return made.get(form, Workload.ranges)(cells)


_MAKERS: dict[str, Callable[[State], Any]] = {
    "number": _scalar,
    "histogram": _histogram,
    "several": _vector,
    "bounded": _bounded,
    "workload": _workload,
}


@contextmanager
def _about(*names: str) -> Iterator[None]:
    """Say in which field an error is: the one that it names, else the first."""
    told: EntryError | None = None
    try:
        yield
    except EntryError:
        raise
    except NoisewrightError as error:
        named = next((name for name in names if name in error.fields), names[0])
        told = EntryError(error.message, named)
    if told is not None:
        raise told
