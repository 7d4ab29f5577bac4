"""The report for several numbers: ranked candidates, the error of each number, and remarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.problem.numbers import show
from noisewright.problem.vector_utilities import CoordinateUsefulness, TotalAbsoluteError
from noisewright.search.report.report import Report
from noisewright.search.report.tables import html_table, number, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class VectorReport(Report):
    """Candidates best first; `errors[j][i]` is the error of number i with candidate j.

    The error of a number is its mean absolute error for a total absolute error, the chance to be within
    its limit for usefulness, and the root of its mean squared error otherwise.
    """

    errors: tuple[tuple[float, ...], ...] = ()

    @property
    def measure(self) -> str:
        """What `errors` holds, in words."""
        if isinstance(self.utility, CoordinateUsefulness):
            return "chance to be within its limit"
        return "mean absolute error" if isinstance(self.utility, TotalAbsoluteError) else "root mean square error"

    def __str__(self) -> str:
        lines = [Report.__str__(self), "", f"Each number ({self.measure}):"]
        lines.append(text_table(self._coordinate_header(), self._coordinate_rows()))
        if self.query.dimension > _SHOWN:
            lines.append(f"… {self.query.dimension - _SHOWN} more numbers; report.errors has all.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        each = html_table(f"Each number ({self.measure})", self._coordinate_header(), self._coordinate_rows(), "")
        return Report._repr_html_(self) + each

    def plot(self, path: str | Path | None = None) -> Figure:
        """The error of each number against its sensitivity, beside the ranking; saved to `path` if one is given."""
        from noisewright.search.report.vector_plots import plot_vector_report

        return plot_vector_report(self, path)

    @property
    def bound_over(self) -> str:
        """Which mechanisms the bound is proven for."""
        return "additive noise"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the error of each number."""
        return {**Report.to_dict(self), "errors": [list(e) for e in self.errors]}

    def _coordinate_header(self) -> list[str]:
        return ["number", "can move by", *(c.name for c in self.candidates)]

    def _coordinate_rows(self) -> list[list[str]]:
        shown = min(_SHOWN, self.query.dimension)
        extents = self.query.extents
        return [[str(i + 1), show(extents[i]), *(number(e[i]) for e in self.errors)] for i in range(shown)]
