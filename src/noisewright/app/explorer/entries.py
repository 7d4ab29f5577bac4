"""The form of the explorer as data: what can be asked, promised and wanted, and what each field allows."""

from __future__ import annotations

from dataclasses import dataclass

from noisewright.problem.queries import Bounded, Histogram, Scalar, Vector
from noisewright.problem.utilities import UTILITIES
from noisewright.problem.workload import Workload
from noisewright.search.budget import NOTIONS
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
"""What can be promised."""

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
    """What the amount of a promise is called: epsilon or rho."""
    return "rho" if notion == "zero-concentrated" else "epsilon"


def served() -> dict[str, dict[str, list[str]]]:
    """For each question and promise the utilities that are designed for, from the table of designers."""
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
