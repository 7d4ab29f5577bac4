"""Writing the pictures and tables of a reproduction."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

_LETTERS_HIGH = 26
"""What stands beside a panel of usual height in one line."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: named curves over common x values."""

    title: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]


def figure_name(number: int, part: str = "") -> str:
    """The name, without its ending, of a picture and of the numbers behind it: figure-07, figure-07-mean."""
    return f"figure-{number:02d}" + (f"-{part}" if part else "")


def write_panels(
    out: Path,
    name: str,
    panels: Sequence[Panel],
    x_label: str,
    y_label: str,
    *,
    log: str = "",
    title: str = "",
    share: str = "rows",
) -> list[Path]:
    """A picture of all panels and a CSV file of all their numbers, named by the figure's number in two digits."""
    from noisewright.drawing.legends import legend_rows
    from noisewright.drawing.style import grid, save, shape_of, wrapped

    stem = re.sub(r"figure-(\d)(?!\d)", r"figure-0\1", name)
    names = {label for panel in panels for label in panel.curves}
    figure, axes = grid(len(panels), share=share, legend=legend_rows(names))
    columns = shape_of(len(panels), 4)[1]
    rows: list[Sequence[object]] = []
    for panel, axis in zip(panels, axes, strict=True):
        for label, values in panel.curves.items():
            axis.plot(panel.x, values, label=label)
            rows += [[panel.title, label, x, value] for x, value in zip(panel.x, values, strict=True)]
        axis.set_title(wrapped(panel.title, columns))
        axis.set(xlabel=x_label, ylabel=fill(y_label, _LETTERS_HIGH))
        axis.set(xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
        if "x" not in log:
            # Numbers of panels that stand close beside each other would run together.
            axis.locator_params(axis="x", nbins=4 if columns > 2 else 8)
        if share != "none":
            axis.label_outer()
    figure.suptitle(wrapped(title or f"{y_label} against {x_label}"))
    picture = out / f"{stem}.png"
    save(figure, picture)
    return [picture, write_table(out / f"{stem}.csv", ["panel", "curve", x_label, y_label], rows)]


# Tables of reproductions as files.


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write a CSV file and return where it is."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path
