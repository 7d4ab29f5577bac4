"""Pictures of the d_X reproduction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from noisewright.numerics.arrays import Floats

_STRATEGIES = ("Strategy 1", "Strategy 2", "Strategy 3", "convex")


def strategy_picture(path: Path, points: Floats, single: Floats, tables: dict[str, list[Any]]) -> Path:
    """Figure 2: the universe, improvement factors of single queries, and of several queries by strategy."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    axes[0, 0].scatter(*points.T, s=14)
    axes[0, 0].set_title("universe")
    _histogram(axes[0, 1], single, f"improvement factor of {len(single)} single queries")
    for place, (kind, rows) in zip(axes[1], tables.items(), strict=True):
        for k, name in enumerate(_STRATEGIES):
            place.plot([r.dimension for r in rows], [r.factors[k] for r in rows], marker="o", label=name)
        place.set_title(f"{kind} coefficients")
        place.set_xlabel("queries K")
        place.set_ylabel("improvement factor")
        place.legend()
    return _saved(figure, path)


def city_picture(path: Path, found: list[Any]) -> Path:
    """Figure 3: a map, and improvement factors on the data as they are and with close places left out."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    axes = figure.subplots(1, 3)
    places = found[0][0]
    shown = axes[0].scatter(*places.points.T, s=6, c=places.elevation, cmap="viridis")
    figure.colorbar(shown, ax=axes[0], label="elevation (m)")
    axes[0].set_title(places.source)
    for place, (variant, spread, elevation, closest) in zip(axes[1:], found, strict=True):
        _histogram(place, spread, f"{len(variant.points)} places, closest {closest:.2g}°; elevation {elevation:.4g}")
    return _saved(figure, path)


def blowfish_picture(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Figures 4 and 5: average error by threshold, and improvement factors under both policies."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    axes = figure.subplots(1, 3)
    limits = [row["T"] for row in rows]
    for name in ("hard", "smooth"):
        axes[0].plot(limits, [2**0.5 * float(row[name].mean()) for row in rows], marker="o", label=name)
    axes[0].set_xlabel("threshold T")
    axes[0].set_ylabel("average root mean square error, epsilon = 1")
    axes[0].legend()
    for place, name in zip(axes[1:], ("hard", "smooth"), strict=True):
        for row in rows:
            with np.errstate(divide="ignore"):
                factor = row["plain"] / row[name]
            if np.isfinite(factor).all():
                place.hist(factor, bins=40, histtype="step", label=f"T = {row['T']}")
        place.set_title(f"improvement factor, {name} threshold")
        if place.get_legend_handles_labels()[0]:
            place.legend()
    return _saved(figure, path)


def _histogram(axes: Any, values: Floats, title: str) -> None:
    axes.hist(values, bins=40)
    axes.axvline(values.mean(), color="black", linewidth=1)
    axes.set_title(title)


def _saved(figure: Figure, path: Path) -> Path:
    figure.savefig(path, dpi=130)
    return path
