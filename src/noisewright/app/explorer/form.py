"""The form of the explorer as data: what can be asked, guaranteed and wanted, and what each field allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import NoisewrightError
from noisewright.problem.numbers import parameter, show
from noisewright.problem.queries import Bounded, Histogram, Scalar, Vector
from noisewright.problem.sensitivity import SETS
from noisewright.problem.utilities import UTILITIES, Utility
from noisewright.problem.workload import Workload
from noisewright.search.budget import NOTIONS, limits
from noisewright.search.design import DESIGNERS

MOST_BINS, MOST_NUMBERS, MOST_CELLS = 10_000, 40, 128
TABLE = "table"
"""The question that a spec file asks; it is offered only where one was named at the start."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One field: its name in the address, what it is called, what is allowed, and what stands there first."""

    name: str
    label: str
    allowed: str
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    ticked: bool = False
    """Whether it is a box to tick, which is "on" or empty."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be chosen, with the fields that belong to it."""

    label: str
    entries: tuple[Entry, ...] = ()
    remark: str = ""


_SENSITIVITY = Entry(
    "sensitivity",
    "One person can change it by at most",
    "A positive number: 1 for a count; 0.5 and 1/3 are exact.",
    "1",
)
_INTEGER = Entry("integer", "Whole numbers, such as counts", "Tick it if answers are whole numbers.", ticked=True)
_REPLACE = Entry("replace", "One person changes, and does not come or go", "Tick it if neighbours differ.", ticked=True)
_SETS = (
    ("box", "all may move at once"),
    ("disjoint", "only one moves"),
    ("sparse", "so many move at once"),
)
_FORMS = (
    ("ranges", "every range of cells"),
    ("prefixes", "every prefix: running sums"),
    ("identity", "every cell by itself"),
    ("total", "the total alone"),
)

QUESTIONS: dict[str, Choice] = {
    "number": Choice("A number", (_SENSITIVITY, _INTEGER), "A count, a sum, anything that is one number."),
    "histogram": Choice(
        "A histogram",
        (
            Entry("bins", "Bins", f"A whole number from 1 to {MOST_BINS:,}.", "12"),
            Entry("bins_per_person", "Bins that one person can be in", "A whole number from 1 up to the bins.", "1"),
            _REPLACE,
        ),
        "Counts of people in bins.",
    ),
    "several": Choice(
        "Several numbers",
        (
            Entry(
                "sensitivities",
                "How far one person can move each",
                f"Up to {MOST_NUMBERS} positive numbers with commas between, such as 1, 2, 5.",
                "1, 2, 5",
            ),
            Entry("set", "How they move together", "One of the list.", "box", _SETS),
            Entry("changes", "How many move at once", "For “so many move at once”: a whole number.", "2"),
            _INTEGER,
        ),
        "Numbers that are released together and share the budget.",
    ),
    "bounded": Choice(
        "A bounded answer",
        (
            Entry("sensitivity", _SENSITIVITY.label, "A positive number, at most the width of the inputs.", "10"),
            Entry("inputs", "The true answer lies in", "Two numbers with a comma, the smaller first.", "0, 10"),
            Entry("outputs", "Releases stay in", "Two numbers with a comma; at least the inputs.", "0, 10"),
            Entry("unbiased", "Right on average", "Tick it for no bias; it needs wide output bounds.", ticked=True),
        ),
        "A number with limits that what is released keeps, too. It takes a linear programme, and some seconds.",
    ),
    "workload": Choice(
        "A workload",
        (
            Entry("form", "Questions", "One of the list.", "ranges", _FORMS),
            Entry("cells", "Cells of the table", f"A whole number from 1 to {MOST_CELLS}.", "16"),
        ),
        "Many linear questions about one table of counts, answered together.",
    ),
    TABLE: Choice(
        "A table’s plan", (), "What the spec file asks of its table. Only the plan is shown; nothing is spent."
    ),
}
"""What can be asked."""

KINDS: dict[str, type] = {
    "number": Scalar,
    "histogram": Histogram,
    "several": Vector,
    "bounded": Bounded,
    "workload": Workload,
}

_DELTA = Entry("delta", "Delta, the chance that epsilon fails", "Above 0, far below 1: 1e-6, for example.", "1e-6")
PRIVACY: dict[str, Choice] = {
    "pure": Choice("Pure", (), "Whatever is released, odds about one person never grow more than e^ε-fold."),
    "approximate": Choice("Approximate (ε, δ)", (_DELTA,), "The same, but for a small chance δ."),
    "zero-concentrated": Choice("Zero-concentrated (zCDP)", (), "For Gaussian noise and long plans; its amount is ρ."),
    "renyi": Choice(
        "Rényi",
        (Entry("alpha", "Order alpha", "Above 1, at most 10,000: 2, for example.", "2"),),
        "A bound on the divergence of one order. Designs take some seconds.",
    ),
    "probabilistic": Choice("Probabilistic", (_DELTA,), "Released values keep to ε but for a chance δ."),
}
"""What can be guaranteed."""

UTILITY: dict[str, Choice] = {
    "error-quantile": Choice(
        "Half-width of an interval",
        (Entry("confidence", "that holds with confidence", "Between 0 and 1: 0.95 for 95 of 100.", "0.95"),),
    ),
    "absolute-error": Choice("Mean absolute error"),
    "squared-error": Choice("Mean squared error"),
    "usefulness": Choice(
        "Chance of a useful answer",
        (Entry("within", "which is off by at most", "A positive number: 0.5, for example.", "0.5"),),
    ),
    "power-error": Choice(
        "Mean of a power of the error", (Entry("power", "to the power", "Positive, at most 64: 3, for example.", "3"),)
    ),
    "largest-error": Choice("Largest of several errors"),
    "worst-variance": Choice("Worst variance"),
    "average-variance": Choice("Average variance"),
    "huber": Choice("Huber’s loss", (Entry("knee", "with its knee at", "A positive number: 1, for example.", "1"),)),
}
"""What can count as good. Losses and priors of one's own are functions and lists: they are said in Python."""

MOVES = {"accuracy": "accuracy wanted", "privacy": "privacy to spend"}

AMOUNT = Entry("amount", "Privacy", "", "")
TARGET = Entry("target", "Accuracy wanted", "", "")
TRUTH = Entry("truth", "An invented true answer", "A number, invented for the picture: never a private one.", "100")
OWN = (AMOUNT, TARGET, TRUTH)

NAMES: frozenset[str] = frozenset(
    ["question", "privacy", "utility", "move", *(entry.name for entry in OWN)]
    + [entry.name for table in (QUESTIONS, PRIVACY, UTILITY) for choice in table.values() for entry in choice.entries]
)
"""Everything that the address may say."""


def amount_of(notion: str) -> str:
    """What the amount of a guarantee is called: epsilon or rho."""
    return "rho" if notion == "zero-concentrated" else "epsilon"


def served() -> dict[str, dict[str, list[str]]]:
    """For each question and guarantee the utilities that are designed for, from the table of designers."""
    found: dict[str, dict[str, list[str]]] = {TABLE: {}}
    for question, kind in KINDS.items():
        rows = {name: DESIGNERS.get((kind, NOTIONS[name][0])) for name in PRIVACY}
        found[question] = {
            name: _offered(question, designer.utilities) for name, designer in rows.items() if designer is not None
        }
    return found


def _offered(question: str, utilities: tuple[type, ...]) -> list[str]:
    """The utilities of a designer, the one to begin with first.

    In tight bounds a constant may well have the best half-width, so that there the mean error comes first.
    """
    found = [name for name in UTILITY if UTILITIES.kinds[name] in utilities]
    return [*found[1:], found[0]] if question == "bounded" else found


# From fields to the library's words: a question, a guarantee, what counts as good, and which of two ends is moved.


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
        """The guarantee with an amount."""
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
