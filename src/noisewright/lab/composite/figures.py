"""Figures of the composite paper: densities, the way of an answer, the search (1 to 6); errors and losses (7 to 12)."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.drawing.style import WIDTH, new_figure, save, styled, wrapped
from noisewright.lab.composite.data import Asked
from noisewright.lab.composite.errors import COMPOSITES, DESIGNED, Errors, Table, composite_of, quartic_for
from noisewright.lab.composite.parameters import enumeration
from noisewright.lab.sheets import Panel, write_panels, write_table
from noisewright.laws.bumps import FLAT, Part, Plateau, Sine, Tent
from noisewright.mechanisms.bounded.composite import Composite
from noisewright.numerics.fields import FLOATS

_EPSILON = Fraction(1)
_HALF = Fraction(1, 2)
_POINTS = 401
_STEPS = (0.1, 0.01, 0.001)
_WAY = (
    "true answer f(D)\nin [l, u]",
    "mapped to C_p\nin [-L, L]",
    "drawn from\nactivation + base",
    "mapped back\nto [l, u]",
    "released:\nbounded,\nunbiased",
)
_SEARCH = ("start\n(k, m, y)", "variance\nat C_p = 0,\nno data", "smaller?\nkeep it", "next step,\nthen finer", "best")


def drawings(out: Path) -> list[Path]:
    """All six, each with the numbers behind it where it has any."""
    return [*_neighbours(out), *_parts(out), *_functions(out), _way(out), *_search(out)]


def _neighbours(out: Path) -> list[Path]:
    """Figure 1: neighbouring answers 0 and 1 with bounded additive noise, Laplace noise, and A1B1."""
    xs = np.linspace(-4, 5, _POINTS)
    shifted = {f"answer {a}": [max(0.0, 0.5 - abs(x - a) / 4) for x in xs.tolist()] for a in (0, 1)}
    laplace = {f"answer {a}": [0.5 * math.exp(-abs(x - a)) for x in xs.tolist()] for a in (0, 1)}
    mechanism = composite_of("A1B1", _EPSILON).mechanism
    same = {f"answer {a}": released_density(mechanism, Fraction(a), xs.tolist()) for a in (0, 1)}
    panels = [
        Panel("bounded additive noise: outputs tell answers apart", xs.tolist(), shifted),
        Panel("Laplace noise: unbounded outputs", xs.tolist(), laplace),
        Panel("A1B1, epsilon 1: the same bounds for both", xs.tolist(), same),
    ]
    title = "Two neighbouring answers under three kinds of noise"
    return write_panels(out, "figure-01", panels, "released answer", "density", title=title)


def released_density(mechanism: Composite, answer: Fraction, places: list[float]) -> list[float]:
    """The density of the release at places in the unit of the answer; 0 outside of its bounds."""
    scale, offset = float(mechanism.scale), float(mechanism.offset)
    found = []
    for x in places:
        z = (x - offset) / scale
        found.append(float(mechanism.density(answer, z, FLOATS)) / scale if abs(z) <= 1 else 0.0)
    return found


def _parts(out: Path) -> list[Path]:
    """Figures 2 and 3: the activations, and the bases."""
    activations = {"A1": Plateau(_HALF), "A2": Sine(_HALF), "A3": Tent(_HALF)}
    bases = {"B1": FLAT, "B2": quartic_for(_EPSILON, _HALF)}
    place = "place in [-L, L], L = 1"
    made = write_panels(
        out, "figure-02", _part_panels(activations, "activation"), place, "density", title="The activation functions"
    )
    return made + write_panels(
        out, "figure-03", _part_panels(bases, "base"), place, "density", title="The base functions"
    )


def _part_panels(parts: dict[str, Any], kind: str) -> list[Panel]:
    xs = np.linspace(-1, 1, _POINTS).tolist()

    def heights(part: Part) -> list[float]:
        return [float(part.density(x, FLOATS)) for x in xs]

    return [Panel(f"{kind} {name}", xs, {name: heights(part)}) for name, part in parts.items()]


def _functions(out: Path) -> list[Path]:
    """Figure 4: the six certified densities at epsilon 1, for three answers."""
    panels = []
    for name in COMPOSITES:
        mechanism = composite_of(name, _EPSILON).mechanism
        low, high = float(mechanism.value(0)), float(mechanism.value(mechanism.last))
        xs = np.linspace(low, high, _POINTS).tolist()
        curves = {f"answer {float(a):g}": released_density(mechanism, a, xs) for a in (Fraction(0), _HALF, Fraction(1))}
        panels.append(Panel(f"{name}, epsilon 1", xs, curves))
    title = "The six composite densities for three answers between 0 and 1"
    return write_panels(out, "figure-04", panels, "released answer", "density", title=title)


def _way(out: Path) -> Path:
    """Figure 5: the way of an answer."""
    figure = new_figure(10, 2.4)
    figure.suptitle("The way of an answer through a composite mechanism")
    _chain(figure.subplots(), _WAY)
    save(figure, out / "figure-05.png")
    return out / "figure-05.png"


def _search(out: Path) -> list[Path]:
    """Figure 6: the loop of Algorithm 1, and how good its best setting is after each step size."""
    figure = new_figure(10, 5)
    figure.suptitle("Algorithm 1: the search for the parameters, and what finer steps gain")
    top, below = figure.subplots(2, 1, gridspec_kw={"height_ratios": [1, 2]})
    _chain(top, _SEARCH)
    rows: list[list[float | str]] = []
    for epsilon in (0.5, 1.0):
        best = [enumeration("A1", "B1", epsilon, steps=_STEPS[: i + 1]) for i in range(len(_STEPS))]
        values = [math.nan if s is None else s.released_variance() for s in best]
        below.plot(range(len(_STEPS)), [v / values[-1] for v in values], marker="o", label=f"epsilon {epsilon:g}")
        rows += [[epsilon, step, value] for step, value in zip(_STEPS, values, strict=True)]
    below.set_xticks(range(len(_STEPS)), [f"step {s:g}" for s in _STEPS])
    below.set(xlabel="step size of the enumeration", ylabel="variance over the last")
    below.legend(frameon=False)
    save(figure, out / "figure-06.png")
    table = write_table(out / "figure-06.csv", ["epsilon", "step", "variance of A1B1 found by Algorithm 1"], rows)
    return [out / "figure-06.png", table]


def _chain(axes: Any, texts: tuple[str, ...]) -> None:
    """Boxes in a row with arrows between them."""
    axes.set_axis_off()
    axes.set(xlim=(-0.5, len(texts) - 0.5), ylim=(-0.5, 0.5))
    for i, text in enumerate(texts):
        if i:
            axes.annotate("", (i - 0.36, 0), (i - 0.64, 0), arrowprops={"arrowstyle": "->"})
        axes.text(i, 0, text, ha="center", va="center", bbox={"boxstyle": "round", "facecolor": "white"})


# Figures 7 to 12 of the composite paper: errors and accuracy losses at the real answers.


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
