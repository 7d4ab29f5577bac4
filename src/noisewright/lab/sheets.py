"""Writing the pictures and tables of a reproduction."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: named curves over common x values."""

    title: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]


def write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    """A CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def write_panels(
    out: Path, name: str, panels: Sequence[Panel], x_label: str, y_label: str, *, log: str = ""
) -> list[Path]:
    """A picture of all panels and a CSV file of all their numbers."""
    from matplotlib.figure import Figure

    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4 * columns, 3.2 * lines), layout="constrained")
    axes = np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel()
    rows = []
    for panel, axis in zip(panels, axes, strict=False):
        for label, values in panel.curves.items():
            axis.plot(panel.x, values, label=label, marker="." if len(panel.x) < 12 else None)
            rows += [[panel.title, label, x, value] for x, value in zip(panel.x, values, strict=True)]
        axis.set_title(panel.title, fontsize=9)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        if "x" in log:
            axis.set_xscale("log")
        if "y" in log:
            axis.set_yscale("log")
    axes[0].legend(fontsize=7)
    picture = out / f"{name}.png"
    figure.savefig(picture, dpi=110)
    return [picture, write_table(out / f"{name}.csv", ["panel", "curve", x_label, y_label], rows)]
