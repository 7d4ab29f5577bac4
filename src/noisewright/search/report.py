"""What `design` returns: ranked candidates, the bound, and why the winner won."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Usefulness, Utility
from noisewright.sample.certified import Certified
from noisewright.search.tables import html_table, number, percent, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism of the report: its certified form, its expected utility, its distance to the bound."""

    name: str
    certified: Certified
    value: float
    gap: float
    bias: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the mechanism included."""
        return {
            "name": self.name,
            "value": self.value,
            "gap": self.gap,
            "bias": self.bias,
            "certified": self.certified.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Candidates best first, and `bound`: what no mechanism can beat.

    Guarantees: every candidate is certified. `value` is the expected utility of released minus true
    answer, rounding included; `gap` is an upper bound of its relative distance to `bound`, both ends
    taken from balls.
    """

    query: Scalar
    privacy: PureDP
    utility: Utility
    candidates: tuple[Candidate, ...]
    bound: float

    @property
    def best(self) -> Certified:
        """The winner, ready to release answers."""
        return self.candidates[0].certified

    @property
    def why(self) -> str:
        """One line that says why the winner won."""
        winner = self.candidates[0]
        others = [c for c in self.candidates if "Laplace" in c.name and c is not winner]
        limit = (
            "no mechanism can do better" if winner.gap < _TIE else f"no mechanism is more than {percent(winner.gap)} better"
        )
        if not others or abs(others[0].value - winner.value) <= _TIE * abs(winner.value):
            return f"{winner.name} is already the best for this question: {limit}."
        usual = others[0]
        if isinstance(self.utility, Usefulness):
            ratio = winner.value / usual.value if usual.value else float("inf")
            reason = f"its answers are useful {ratio:.4g} times as often as with {usual.name} noise"
        else:
            ratio = usual.value / winner.value if winner.value else float("inf")
            reason = f"its error is {ratio:.4g} times smaller than that of {usual.name} noise"
        return f"{winner.name} wins: {reason}; {limit}."

    def __str__(self) -> str:
        lines = [
            f"Question: {self.query}",
            f"Privacy:  {self.privacy}",
            f"Utility:  {self._goal()}",
            "",
            text_table(self._header(), self._rows()),
            "",
            self.why,
        ]
        if any(c.bias for c in self.candidates):
            lines.append(
                "The loss is not symmetric, so the best answers lean to the cheaper side; the bias column says how far."
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        caption = f"{self.query}; {self.privacy}; {self._goal()}"
        return html_table(caption, self._header(), self._rows(), self.why)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Densities of the candidates' errors beside their values; saved to `path` if one is given."""
        from noisewright.search.plots import plot_report

        return plot_report(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain data. A user's own loss is named, not stored."""
        utility = {"kind": "expected-loss"} if isinstance(self.utility, Expected) else self.utility.to_dict()
        return {
            "query": self.query.to_dict(),
            "privacy": self.privacy.to_dict(),
            "utility": utility,
            "bound": self.bound,
            "why": self.why,
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
            row = [c.name, number(c.value), f"at most {percent(c.gap)}" if c.gap >= _TIE else "none"]
            rows.append([*row, f"{c.bias:+.4g}" if c.bias else "0"] if biased else row)
        limit = ["best possible", number(self.bound), ""]
        rows.append([*limit, ""] if biased else limit)
        return rows
