"""The composite paper: Figures 7 to 12, Tables 1 to 4, and its claims."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from noisewright.lab.claims import Reproduction
from noisewright.lab.composite_claims import claims
from noisewright.lab.composite_data import QUERIES, Column, columns, sensitivity
from noisewright.lab.composite_errors import BASELINES, BETTER, COMPOSITES, Errors, draws
from noisewright.lab.composite_tables import bias_table, formula_table, rate_table
from noisewright.search.report.plots import new_figure, save
from noisewright.search.report.shown import Advance

EPSILONS = tuple(Fraction(e) for e in ("1/5", "1/2", "1", "2", "3", "5"))
DRAWS = 1000
STEPS = 4
_BOXES = (
    ("Laplace", "truncated Laplace", "Gaussian", "A1B1", "A2B1", "A3B1"),
    ("discrete Laplace", "A1B2", "A2B2", "A3B2"),
)
_FIRST, _APPENDIX = ("Maximum", "Variance", "Mode"), ("Minimum", "Mean")


def reproduce(out: Path, step: Advance) -> Reproduction:
    """Write the figures and tables into a folder, and say which claims hold."""
    out.mkdir(parents=True, exist_ok=True)
    result = Reproduction("Bounded and unbiased composite differential privacy")
    step("drawing errors")
    names = (*COMPOSITES, *BASELINES, *BETTER)
    errors = {(name, e): draws(name, e, DRAWS) for name in names for e in EPSILONS}
    data = columns()
    result.data = [f"{c.source}: {c.name}, {len(c.values)} rows" for c in data]
    step("drawing the figures")
    result.files += _error_figures(out, errors, data)
    result.files += _loss_figures(out, errors, data)
    step("computing the tables")
    result.files.append(_write(out / "table1_and_4_formulas.csv", formula_table()))
    rates = rate_table()
    result.files.append(_write(out / "table2_rates.csv", rates))
    result.files.append(_write(out / "table3_bias.csv", bias_table(EPSILONS)))
    step("checking the claims")
    result.claims = claims(errors, EPSILONS)
    return result


def _error_figures(out: Path, errors: dict[tuple[str, Fraction], Errors], data: list[Column]) -> list[Path]:
    """Figures 7 and 11: mean absolute and squared error of every query on every dataset, against epsilon."""
    rows: list[list[object]] = [["dataset", "query", "answer", "sensitivity", "mechanism", "epsilon", "RE", "MSE"]]
    names = sorted({name for name, _ in errors})
    files = []
    for number, queries in ((7, _FIRST), (11, _APPENDIX)):
        figure = new_figure(4 * len(data), 3 * 2 * len(queries))
        axes = figure.subplots(2 * len(queries), len(data), squeeze=False)
        for r, query in enumerate(queries):
            for c, column in enumerate(data):
                size, answer = sensitivity(query, column), QUERIES[query](column.values)
                for name in names:
                    absolute = [size * errors[name, e].absolute for e in EPSILONS]
                    squared = [size**2 * errors[name, e].squared for e in EPSILONS]
                    for axis, series in ((axes[2 * r][c], absolute), (axes[2 * r + 1][c], squared)):
                        axis.plot([float(e) for e in EPSILONS], series, marker=".", label=name, linewidth=1)
                        axis.set_yscale("log")
                    for e, a, s in zip(EPSILONS, absolute, squared, strict=True):
                        rows.append([column.source, query, answer, size, name, float(e), a, s])
                axes[2 * r][c].set_title(f"{query}, {column.name}\nabsolute error", fontsize=8)
                axes[2 * r + 1][c].set_title("squared error", fontsize=8)
        axes[0][0].legend(fontsize=5)
        path = out / f"figure{number}.png"
        save(figure, path)
        files.append(path)
    return [*files, _write(out / "figure7_and_11.csv", rows)]


def _loss_figures(out: Path, errors: dict[tuple[str, Fraction], Errors], data: list[Column]) -> list[Path]:
    """Figures 8 to 10 and 12: relative error of the count of rows."""
    files = []
    shown = [e for e in EPSILONS if e <= 3]
    panels = [(8 + i, _BOXES[0], [column]) for i, column in enumerate(reversed(data))] + [(12, _BOXES[1], data)]
    for number, names, wanted in panels:
        figure = new_figure(4 * len(names), 3 * len(wanted))
        axes = figure.subplots(len(wanted), len(names), squeeze=False)
        for row, column in zip(axes, wanted, strict=True):
            for axis, name in zip(row, names, strict=True):
                boxes = [abs(errors[name, e].values) / len(column.values) for e in shown]
                axis.boxplot(boxes, tick_labels=[f"{float(e):g}" for e in shown], showfliers=True, sym=".")
                axis.set_title(f"{name}, {column.name}", fontsize=8)
                axis.set_xlabel("epsilon", fontsize=8)
        path = out / f"figure{number}.png"
        save(figure, path)
        files.append(path)
    return files


def _write(path: Path, rows: Iterable[Iterable[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path
