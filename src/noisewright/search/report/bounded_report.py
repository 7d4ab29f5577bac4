"""The report for a bounded question: bias always shown, promises kept first, and who is best where."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.mechanisms.bounded_values import Profile, profile_of
from noisewright.search.report.report import Candidate, Report, limit_text
from noisewright.search.report.tables import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLACES = 40


@dataclass(frozen=True, slots=True)
class BoundedReport(Report):
    """Candidates that keep the promise about the bias, best first, then the others for comparison."""

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The candidates that answer the question as it was asked."""
        return tuple(c for c in self.candidates if c.certified.mechanism.query == self.query)

    @property
    def why(self) -> str:
        """One line that says why the winner won."""
        winner = self.candidates[0]
        rest = [c for c in self.kept if c is not winner]
        limit = limit_text(winner.gap, self.query)
        if not rest:
            return f"{winner.name} is the only one here that keeps the promise; {limit}."
        second = rest[0]
        gain = percent(1 - winner.value / second.value)
        return f"{winner.name} wins: its {self.utility} is {gain} below that of {second.name}; {limit}."

    def best_where(self) -> list[tuple[Fraction, Fraction, str]]:
        """Stretches of the input range (from, to, mechanism) where that one's error is the smallest."""
        profiles = [(c.name, profile_of(c.certified.mechanism)) for c in self.kept]
        low, high = self.query.inputs
        width = (high - low) / _PLACES
        result: list[tuple[Fraction, Fraction, str]] = []
        for i in range(_PLACES):
            middle = low + width * Fraction(2 * i + 1, 2)
            name = min(profiles, key=lambda pair: pair[1].at(middle, 1))[0]
            start = low + i * width
            if result and result[-1][2] == name:
                start = result.pop()[0]
            result.append((start, low + (i + 1) * width, name))
        return result

    def profile(self, name: str) -> Profile:
        """Bias and error over the input range of a candidate by its name."""
        return next(profile_of(c.certified.mechanism) for c in self.candidates if c.name == name)

    def _notes(self) -> list[str]:
        stretches = self.best_where()
        told = "; ".join(f"{name} from {float(a):.4g} to {float(b):.4g}" for a, b, name in stretches)
        lines = [f"Smallest error at each answer: {told}."]
        if len(self.kept) < len(self.candidates):
            lines.append("Candidates with a bias, below the others, do not keep the promise: they are for comparison.")
        return [*lines, *self.notes]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Question: {self.query}",
                f"Privacy:  {self.privacy}",
                f"Utility:  {self._goal()}",
                "",
                self._table(),
                "",
                self.why,
                *self._notes(),
            ]
        )

    def plot(self, path: str | Path | None = None) -> Figure:
        """Densities of the released answer, bias and standard deviation against the true answer."""
        from noisewright.search.report.bounded_plots import plot_bounded

        return plot_bounded(self, path)
