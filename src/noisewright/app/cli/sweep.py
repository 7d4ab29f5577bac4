"""The result of a sweep: one row for each epsilon, one column for each mechanism."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from noisewright.app.cli import options
from noisewright.app.cli.output import check_places, draw, remark, say_either, writing
from noisewright.app.cli.questions import Typed, make_utility, typed, whole
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.search.report.progress import progress_bar
from noisewright.search.report.render import number, text_table

if TYPE_CHECKING:
    from noisewright.search.report.report import Report

LIMIT = "best possible"
_MOST_POINTS = 1000
_POINTS = range(2, _MOST_POINTS + 1)


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
        cells = [["none proven" if v is None else number(v) for v in self.values(r)] for r in self.reports]
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


def run(query: Scalar, requirements: list[PureDP], utility: Utility) -> Sweep:
    """Ask the same question at each epsilon."""
    from noisewright.search.design import design

    reports = []
    with progress_bar("sweep", len(requirements)) as step:
        for requirement in requirements:
            step(f"epsilon = {show(requirement.epsilon)}")
            reports.append(design(query, privacy=requirement, utility=utility))
    return Sweep(query, utility, tuple(reports))


def plot_sweep(sweep: Sweep, path: Path) -> None:
    """A line for each mechanism and a dotted one for the best possible.

    Costs span orders of magnitude and get a logarithmic axis, unless one is zero; a probability does not.
    """
    from noisewright.drawing.legends import GUIDE
    from noisewright.drawing.style import WIDTH, new_figure, save, wrapped

    reports = sorted(sweep.reports, key=lambda report: report.privacy.epsilon)
    epsilons = [float(report.privacy.epsilon) for report in reports]
    columns = list(zip(*(sweep.values(report) for report in reports), strict=True))
    figure = new_figure(WIDTH, 4.6)
    axes = figure.subplots()
    for i, (name, values) in enumerate(zip([*sweep.names, LIMIT], columns, strict=True)):
        shown = [math.nan if value is None else value for value in values]
        # Lines that lie on each other stay visible: each is thinner than the one before it, and the limit is dotted.
        style: dict[str, Any] = {"linewidth": max(1.5, 4.5 - 1.5 * i)}
        axes.plot(epsilons, shown, label=name, **(GUIDE if name == LIMIT else style))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    larger = sweep.utility.larger_is_better
    if not larger and all(value is None or value > 0 for values in columns for value in values):
        axes.set_yscale("log")
    better = "larger" if larger else "smaller"
    axes.set(xlabel="epsilon", ylabel=f"{sweep.utility} ({better} is better)", title=wrapped(str(sweep.query)))
    save(figure, path)


def sweep(
    sensitivity: options.Sensitivity,
    utility: options.UtilityChoice,
    power: options.Power = None,
    within: options.Within = None,
    confidence: options.Confidence = None,
    epsilons: Annotated[
        str | None, options.option("LIST", "The epsilons, with commas between them: 0.1,0.5,1.")
    ] = None,
    start: Annotated[str | None, options.number("The smallest epsilon; 0.1 unless given.", "--from")] = None,
    end: Annotated[str | None, options.number("The largest epsilon; 10 unless given.", "--to")] = None,
    points: Annotated[
        str | None, options.option("COUNT", "How many epsilons, evenly by ratio; 9 unless given.")
    ] = None,
    integer: options.Integer = False,
    csv: Annotated[Path | None, options.option("FILE", "Write the table as CSV, all digits.")] = None,
    plot: options.Plot = None,
    json: options.Json = False,
) -> None:
    """Compare every mechanism over a range of epsilons.

    Name the epsilons with --epsilons, or a range with --from, --to and --points.
    """
    query = Scalar(sensitivity, integer=integer)
    wanted = make_utility(utility, typed(power=power, within=within, confidence=confidence))
    requirements = _requirements(epsilons, typed(**{"from": start, "to": end, "points": points}))
    check_places(csv=csv, plot=plot)

    result = run(query, requirements, wanted)
    say_either(result, json=json)
    if csv is not None:
        with writing(csv):
            csv.write_text(result.to_csv(), encoding="utf-8", newline="")
        remark(f"The table is in {csv}.")
    if plot is not None:
        draw(lambda path: plot_sweep(result, path), plot)


def _requirements(epsilons: str | None, given: Typed) -> list[PureDP]:
    """The epsilons of a list or a range, each once and in the order they were typed."""
    if epsilons is None:
        count = whole(given.get("points", "9"), "--points", f"a whole number from 2 to {_MOST_POINTS}", among=_POINTS)
        return spaced(given.get("from", "0.1"), given.get("to", "10"), count)
    for other in given:
        raise InvalidInputError(f"--epsilons and --{other} exclude each other; give a list or a range.")
    words = epsilons.split(",")
    if len(words) > _MOST_POINTS:
        raise InvalidInputError(f"--epsilons lists {len(words)} values; at most {_MOST_POINTS} are allowed.")
    return list(dict.fromkeys(PureDP(word) for word in words))


def spaced(start: str, end: str, points: int) -> list[PureDP]:
    """From start to end, each the same factor above the last, rounded to three digits; the ends stay as typed."""
    low, high = PureDP(start), PureDP(end)
    if low.epsilon >= high.epsilon:
        raise InvalidInputError(f"--from is {start} and --to is {end}; --from must be the smaller one.")
    first, ratio = float(low.epsilon), float(high.epsilon / low.epsilon)
    inner = [PureDP(f"{first * ratio ** (i / (points - 1)):.3g}") for i in range(1, points - 1)]
    return list(dict.fromkeys([low, *(each for each in inner if low.epsilon < each.epsilon < high.epsilon), high]))
