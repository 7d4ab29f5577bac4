"""The result of a sweep: one row for each epsilon, one column for each mechanism."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.search.design import design
from noisewright.search.report.report import Report
from noisewright.search.report.shown import number, progress_bar, text_table

LIMIT = "best possible"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Reports for the same question at several epsilons."""

    query: Scalar
    utility: Utility
    reports: tuple[Report, ...]

    @property
    def names(self) -> list[str]:
        """The mechanisms, in the order of their columns."""
        return sorted({candidate.name for report in self.reports for candidate in report.candidates})

    def values(self, report: Report) -> list[float | None]:
        """What each mechanism reaches at the report's epsilon and, last, the best possible if it is known."""
        reached = {candidate.name: candidate.value for candidate in report.candidates}
        return [*(reached.get(name) for name in self.names), report.bound]

    def __str__(self) -> str:
        cells = [["not known" if v is None else number(v) for v in self.values(r)] for r in self.reports]
        rows = [[show(r.privacy.epsilon), *row] for r, row in zip(self.reports, cells, strict=True)]
        better = "larger" if self.utility.larger_is_better else "smaller"
        lines = [
            f"Question: {self.query}",
            f"Utility:  {self.utility} ({better} is better)",
            "",
            text_table(["epsilon", *self.names, LIMIT], rows),
        ]
        return "\n".join(lines)

    def to_csv(self) -> str:
        """The table with every digit, for other programs."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["epsilon", *self.names, LIMIT])
        for report in self.reports:
            writer.writerow([float(report.privacy.epsilon), *self.values(report)])
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Plain data; epsilons as exact text."""
        rows = [
            {
                "epsilon": str(report.privacy.epsilon),
                "values": {candidate.name: candidate.value for candidate in report.candidates},
                "bound": report.bound,
            }
            for report in self.reports
        ]
        return {"query": self.query.to_dict(), "utility": self.utility.to_dict(), "rows": rows}


def run(query: Scalar, requirements: list[PureDP], utility: Utility, *, progress: bool) -> Sweep:
    """Ask the same question at each epsilon."""
    reports = []
    with progress_bar("sweep", len(requirements), shown=progress) as step:
        for requirement in requirements:
            step(f"epsilon = {show(requirement.epsilon)}")
            reports.append(design(query, privacy=requirement, utility=utility))
    return Sweep(query, utility, tuple(reports))
