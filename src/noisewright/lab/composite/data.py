"""Columns for the composite paper's experiments, and what its queries ask of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from noisewright.lab.tables import MADE, numeric_columns

_MADE_ROWS = 500
_COLUMNS = 3
WANTED = (
    ("pima_diabetes/diabetes.csv", "BloodPressure", (0.0, 130.0), "Pima diabetes"),
    ("support2_icu/support2.parquet", "age", (0.0, 120.0), "SUPPORT2, stands in for the ICU table"),
    (
        "running_heart_rate/s1_heart_data.csv.gz",
        "altitude_start",
        (150.0, 250.0),
        "an early version of the running data",
    ),
)
"""File, column, range known without looking, and what it is; where they are missing any columns of numbers do."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: where it is from, its values, and its range."""

    source: str
    name: str
    values: tuple[float, ...]
    bounds: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Asked:
    """One query of one column: its answer, what one person can change of it, and the range of all answers."""

    query: str
    column: Column
    answer: Fraction
    sensitivity: Fraction
    inputs: tuple[Fraction, Fraction]

    @property
    def key(self) -> str:
        """Query, column and table in words."""
        return f"{self.query} of {self.column.name} ({self.column.source})"

    @property
    def width(self) -> Fraction:
        """The length of the range of answers."""
        return self.inputs[1] - self.inputs[0]

    @property
    def place(self) -> Fraction:
        """Where the answer lies in its range: 0 at the lower end, 1 at the upper one."""
        return (self.answer - self.inputs[0]) / self.width

    @property
    def ratio(self) -> int:
        """How many whole sensitivities the range is wide; 1 where one person can change everything."""
        return max(1, math.floor(self.width / self.sensitivity))

    @property
    def whole(self) -> bool:
        """Whether one person can move the answer over its whole range."""
        return self.sensitivity >= self.width


def mode(values: tuple[float, ...]) -> float:
    """The most frequent value, the smallest of several."""
    counts = Counter(values)
    top = max(counts.values())
    return min(v for v, n in counts.items() if n == top)


def variance(values: tuple[float, ...]) -> float:
    """Mean squared distance to the mean."""
    centre = math.fsum(values) / len(values)
    return math.fsum((v - centre) ** 2 for v in values) / len(values)


QUERIES: dict[str, Callable[[tuple[float, ...]], float]] = {
    "Maximum": max,
    "Variance": variance,
    "Mode": mode,
    "Minimum": min,
    "Mean": lambda values: math.fsum(values) / len(values),
    "Count": lambda values: float(len(values)),
}
"""What the paper asks, by its names."""


def sensitivity(query: str, column: Column) -> float:
    """What one person can change: a mode or an extreme over the whole range, a count by 1, the others by replacing."""
    width, n = column.bounds[1] - column.bounds[0], len(column.values)
    if query == "Mean":
        return width / n
    if query == "Variance":
        return width**2 * (n - 1) / n**2
    return 1.0 if query == "Count" else width


def asked(query: str, column: Column) -> Asked:
    """The query with its real answer and the range of all answers.

    A variance is at most a quarter of the squared range; a count is taken to be known to a power of ten.
    """
    low, high = column.bounds
    ends = (low, high)
    if query == "Variance":
        ends = (0.0, (high - low) ** 2 / 4)
    elif query == "Count":
        ends = (0.0, 10.0 ** math.ceil(math.log10(len(column.values) + 1)))
    inputs = (Fraction(ends[0]), Fraction(ends[1]))
    answer = min(max(Fraction(QUERIES[query](column.values)), inputs[0]), inputs[1])
    return Asked(query, column, answer, min(Fraction(sensitivity(query, column)), inputs[1] - inputs[0]), inputs)


def columns() -> list[Column]:
    """Three columns, of three tables where there are three: the paper's, else any, else columns the package makes."""
    found = []
    for path, table, name, values, known in numeric_columns([w[:2] for w in WANTED], _COLUMNS):
        wanted = next((w for w in WANTED if w[:2] == (path, name)), None)
        if wanted is not None and known:
            found.append(Column(f"{wanted[3]} ({path})", name, _clamped(values, wanted[2]), wanted[2]))
            continue
        bounds = rounded_range(values)
        found.append(Column(f"{table}, range read off the data: {bounds[0]:g} to {bounds[1]:g}", name, values, bounds))
    for place, (_, name, bounds, _) in enumerate(WANTED):
        if len(found) == _COLUMNS:
            break
        found.append(_made(f"column {place + 1}", name, bounds))
    return found


def rounded_range(values: tuple[float, ...]) -> tuple[float, float]:
    """A range around the values, its ends multiples of a tenth of the power of ten that the spread fills."""
    low, high = min(values), max(values)
    step = 10.0 ** (math.floor(math.log10(high - low)) - 1) if high > low else 1.0
    return math.floor(low / step) * step, math.ceil(high / step + (high == low)) * step


def _clamped(values: tuple[float, ...], bounds: tuple[float, float]) -> tuple[float, ...]:
    return tuple(min(max(v, bounds[0]), bounds[1]) for v in values)


def _made(label: str, name: str, bounds: tuple[float, float]) -> Column:
    """Values spread over the middle of the range, the same on every machine."""
    low, high = bounds
    values = tuple(low + (high - low) * (0.3 + 0.4 * ((i * 0.6180339887498949) % 1)) for i in range(_MADE_ROWS))
    return Column(f"{label} ({MADE})", name, values, bounds)
