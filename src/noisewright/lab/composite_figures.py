"""Figures 7 to 12 of the composite paper: errors and accuracy losses at the real answers."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from noisewright.drawing.style import WIDTH, new_figure, save, styled
from noisewright.drawing.words import wrapped
from noisewright.lab.composite_data import Asked
from noisewright.lab.composite_errors import DESIGNED, Errors, Table
from noisewright.lab.pictures import write_table
from noisewright.lab.sheets import Panel, write_panels

LINES = ("A1B1", "A2B1", "A3B1", "two-point", "Laplace", "truncated Laplace", "Gaussian", DESIGNED)
"""What the error figures show; base B2 lies on B1 to the eye, and Table 2 tells them apart."""
_FIGURES = {7: ("Maximum", "Variance", "Mode"), 11: ("Minimum", "Mean")}
_FIRST = ("Laplace", "truncated Laplace", "Gaussian", "A1B1", "A2B1", "A3B1", DESIGNED)
_SECOND = ("discrete Laplace", "A1B2", "A2B2", "A3B2", DESIGNED)
_LARGEST_EPSILON = 3


def shown_for(query: str) -> tuple[str, ...]:
    """The mechanisms whose errors are drawn for a query."""
    return tuple(dict.fromkeys((*_FIRST, *_SECOND))) if query == "Count" else LINES


def error_figures(out: Path, errors: Table, questions: list[Asked], epsilons: tuple[Fraction, ...]) -> list[Path]:
    """Figures 7 and 11: mean absolute and squared error of every query on every column, against epsilon."""
    files = []
    for number, queries in _FIGURES.items():
        shown = [q for query in queries for q in questions if q.query == query]
        for kind in ("absolute", "squared"):
            panels = [_panel(errors, q, epsilons, kind) for q in shown]
            name, label = f"figure-{number:02d}-{kind}", f"mean {kind} error (1,000 releases)"
            title = f"{kind.capitalize()} error of {', '.join(queries)} in the unit of the column"
            files += write_panels(out, name, panels, "epsilon", label, log="xy", title=title)
    header = ["query and data", "answer", "sensitivity", "range", "mechanism", "epsilon", "RE", "MSE"]
    known = {q.key: q for q in questions}
    rows = [
        [key, float(known[key].answer), float(known[key].sensitivity), float(known[key].width), name, float(e)]
        + [found.absolute, found.squared]
        for (name, key, e), found in errors.items()
    ]
    return [*files, write_table(out / "errors.csv", header, rows)]


def _panel(errors: Table, question: Asked, epsilons: tuple[Fraction, ...], kind: str) -> Panel:
    curves = {}
    for name in LINES:
        found = [errors.get((name, question.key, e)) for e in epsilons]
        if any(found):
            curves[name] = [math.nan if f is None else float(getattr(f, kind)) for f in found]
    title = f"{question.query} of {question.column.name}: {float(question.answer):.4g}"
    return Panel(title, [float(e) for e in epsilons], curves)


def loss_figures(out: Path, errors: Table, questions: list[Asked], epsilons: tuple[Fraction, ...]) -> list[Path]:
    """Figures 8 to 10 and 12: the error of the count of rows over the count."""
    counts = [q for q in questions if q.query == "Count"]
    shown = tuple(e for e in epsilons if e <= _LARGEST_EPSILON)
    # The paper's order: hospital, running, diabetes; ours begins with diabetes.
    order = [*counts[1:], counts[0]]
    files = [_boxes(out / f"figure-{8 + i:02d}.png", errors, [q], _FIRST, shown) for i, q in enumerate(order)]
    return [*files, _boxes(out / "figure-12.png", errors, order, _SECOND, shown)]


def _boxes(
    path: Path, errors: Table, questions: list[Asked], names: tuple[str, ...], epsilons: tuple[Fraction, ...]
) -> Path:
    figure = new_figure(WIDTH, 3.2 * len(questions) + 0.6)
    axes = figure.subplots(len(questions), len(names), squeeze=False, sharey="row")
    for row, question in zip(axes, questions, strict=True):
        for axis, name in zip(row, names, strict=True):
            drawn = [(e, errors.get((name, question.key, e))) for e in epsilons]
            _box(axis, [(e, found) for e, found in drawn if found is not None], float(question.answer))
            axis.set_title(wrapped(name, len(names)))
            axis.set_xlabel("epsilon")
        row[0].set_ylim(bottom=0)
        row[0].set_ylabel(f"accuracy loss of a count of {int(question.answer):,}\n({question.column.name})")
    tables = ", ".join(question.column.name for question in questions)
    figure.suptitle(wrapped(f"Error of a count of rows over the count, by mechanism: {tables}"))
    save(figure, path)
    return path


def _box(axis: object, drawn: list[tuple[Fraction, Errors]], answer: float) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axis, Axes)
    # Errors of about one person and less, among them none at all, lie on a linear piece at the bottom.
    axis.set_yscale("symlog", linthresh=10 ** math.ceil(-math.log10(max(answer, 1.0))))
    if not drawn:
        axis.set_xticks([])
        axis.text(0.5, 0.5, "refused", ha="center", va="center", transform=axis.transAxes)
        return
    boxes = [np.abs(found.values) / answer for _, found in drawn]
    styled(axis.boxplot, boxes, tick_labels=[f"{float(e):g}" for e, _ in drawn], sym=".")
