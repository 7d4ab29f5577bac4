"""The report for linear questions: ranked candidates, the error of each query, and how each programme ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.search.report.report import Report
from noisewright.search.report.tables import html_table, number, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class LinearReport(Report):
    """`errors[j][k]` is the root mean square error of query k with candidate j; `gaps` the relative duality gap
    of each convex programme by candidate name.
    """

    errors: tuple[tuple[float, ...], ...] = ()
    gaps: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [Report.__str__(self), "", "Root mean square error of each query:"]
        lines.append(text_table(self._query_header(), self._query_rows()))
        if self.query.dimension > _SHOWN:
            lines.append(f"… {self.query.dimension - _SHOWN} more queries; report.errors has all.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        each = html_table("Root mean square error of each query", self._query_header(), self._query_rows(), "")
        return Report._repr_html_(self) + each

    def plot(self, path: str | Path | None = None) -> Figure:
        """The error of each query with each candidate; saved to `path` if one is given."""
        from noisewright.search.report.linear_plots import plot_linear_report

        return plot_linear_report(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the error of each query and the duality gaps."""
        return {**Report.to_dict(self), "errors": [list(e) for e in self.errors], "gaps": dict(self.gaps)}

    def _query_header(self) -> list[str]:
        return ["query", *(c.name for c in self.candidates)]

    def _query_rows(self) -> list[list[str]]:
        shown = min(_SHOWN, self.query.dimension)
        return [[self.query.names[k], *(number(e[k]) for e in self.errors)] for k in range(shown)]
