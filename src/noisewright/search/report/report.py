"""What `design` returns: ranked candidates, the bound, and why the winner won."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.problem.divergences import ErrorEntropy, Numerical
from noisewright.problem.utilities import Expected
from noisewright.sample.certified import Certified
from noisewright.search.report.tables import html_table, number, percent, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TIE = 1e-6
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism of the report: its certified form, its expected utility, its distance to the bound.

    `error` is the half-width of the ball around the value: its numerical error.
    """

    name: str
    certified: Certified
    value: float
    gap: float | None
    bias: float
    error: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the mechanism included."""
        return {
            "name": self.name,
            "value": None if isinf(self.value) else self.value,
            "gap": None if self.gap is None or isinf(self.gap) else self.gap,
            "bias": self.bias,
            "error": self.error,
            "certified": self.certified.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Candidates best first, and `bound`: what no mechanism can beat (None where none is known).

    For whole-number answers the bound is over mechanisms that release whole numbers (`bound_over`).
    Guarantees: every candidate is certified. `value` is the expected utility of released minus true
    answer, rounding included; `gap` is an upper bound of its relative distance to `bound`, both ends
    taken from balls. `notes` are remarks on the candidates, such as what a whole family can reach.
    """

    query: Any
    privacy: Any
    utility: Any
    candidates: tuple[Candidate, ...]
    bound: float | None
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Certified:
        """The winner, ready to release answers."""
        return self.candidates[0].certified

    @property
    def bound_over(self) -> str:
        """Which mechanisms the bound is proven for."""
        return "mechanisms that release whole numbers" if over(self.query) else "all mechanisms"

    @property
    def why(self) -> str:
        """One line that says why the winner won."""
        if self.reason:
            return self.reason
        winner = self.candidates[0]
        usual = next((c for c in self.candidates if "Laplace" in c.name and c is not winner), None)
        limit = limit_text(winner.gap, self.query)
        if usual is None or abs(usual.value - winner.value) <= _TIE * abs(winner.value):
            return f"{winner.name} is the best for this question: {limit}."
        if isinstance(self.utility, ErrorEntropy):
            drop = usual.value - winner.value
            return f"{winner.name} wins: its entropy is {drop:.4g} nats below that of {usual.name} noise; {limit}."
        larger = self.utility.larger_is_better
        top, bottom = (winner.value, usual.value) if larger else (usual.value, winner.value)
        if not bottom:
            return (
                f"{winner.name} wins: {number(winner.value)} against {number(usual.value)} with {usual.name}; {limit}."
            )
        ratio = f"{top / bottom:.4g}"
        gain = (
            f"its answers are useful {ratio} times as often as with {usual.name} noise"
            if larger
            else f"its error is {ratio} times smaller than that of {usual.name} noise"
        )
        return f"{winner.name} wins: {gain}; {limit}."

    def __str__(self) -> str:
        lines = [
            f"Question: {self.query}",
            f"Privacy:  {self.privacy}",
            f"Utility:  {self._goal()}",
            "",
            self._table(),
            "",
            self.why,
        ]
        if any(c.bias for c in self.candidates):
            lines.append(
                "The loss is not symmetric, so the best answers lean to the cheaper side; the bias column says how far."
            )
        return "\n".join([*lines, *self.notes])

    def _table(self) -> str:
        return text_table(self._header(), self._rows())

    def _repr_html_(self) -> str:
        caption = f"{self.query}; {self.privacy}; {self._goal()}"
        return html_table(caption, self._header(), self._rows(), " ".join([self.why, *self.notes]))

    def plot(self, path: str | Path | None = None) -> Figure:
        """Densities of the candidates' errors beside their values; saved to `path` if one is given."""
        from noisewright.search.report.plots import plot_report

        return plot_report(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain data. A user's own loss is named, not stored."""
        utility = {"kind": "expected-loss"} if isinstance(self.utility, Expected) else self.utility.to_dict()
        return {
            "query": self.query.to_dict(),
            "privacy": self.privacy.to_dict(),
            "utility": utility,
            "bound": self.bound,
            "bound_over": self.bound_over,
            "why": self.why,
            "notes": list(self.notes),
            "candidates": [c.to_dict() for c in self.candidates],
        }

    def _goal(self) -> str:
        return f"{self.utility} ({'larger' if self.utility.larger_is_better else 'smaller'} is better)"

    def _header(self) -> list[str]:
        columns = ["mechanism", str(self.utility), "gap to best possible"]
        return [*columns, "bias"] if any(c.bias for c in self.candidates) else columns

    def _rows(self) -> list[list[str]]:
        biased = any(c.bias for c in self.candidates)
        rows = []
        for c in self.candidates:
            row = [
                c.name,
                _value_text(c, shown=isinstance(self.utility, Numerical)),
                "unbounded" if isinf(c.value) else _gap_text(c.gap),
            ]
            rows.append([*row, f"{c.bias:+.4g}" if c.bias else "0"] if biased else row)
        limit = ["best possible", "none known" if self.bound is None else number(self.bound), ""]
        rows.append([*limit, ""] if biased else limit)
        return rows


def _value_text(candidate: Candidate, *, shown: bool) -> str:
    if not shown or not math.isfinite(candidate.value):
        return number(candidate.value)
    return f"{number(candidate.value)} ± {candidate.error:.1g}"


def _gap_text(gap: float | None) -> str:
    if gap is None:
        return "not known"
    if isinf(gap):
        return "best possible is 0"
    return f"at most {percent(gap)}" if gap >= _NOTHING else "none"


def over(query: Any) -> str:
    """What a bound for this question is over, as a clause to put behind the word mechanism."""
    return " that releases whole numbers" if getattr(query, "integer", False) else ""


def limit_text(gap: float | None, query: Any) -> str:
    """How much better a mechanism could be, in words."""
    if gap is None:
        return f"how much better a mechanism{over(query)} could be is not known"
    if gap < _NOTHING:
        return f"no mechanism{over(query)} can do better"
    return f"no mechanism{over(query)} is more than {percent(gap)} better"
