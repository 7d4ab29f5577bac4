"""Pictures of the d_X reproduction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from noisewright.drawing.legends import COLOURS
from noisewright.drawing.style import WIDTH, new_figure, save, wrapped
from noisewright.numerics.fields import Floats

_STRATEGIES = ("Strategy 1", "Strategy 2", "Strategy 3", "convex")
_FACTOR = "times less noise"
_QUERIES = "random queries"
_WIDE = 5
"""A longest factor so many times the middle one would squeeze the others on a linear axis."""


def strategy_picture(path: Path, points: Floats, single: Floats, tables: dict[str, list[Any]]) -> Path:
    """Figure 2: the universe, improvement factors of single queries, and of several queries by strategy."""
    figure = new_figure(WIDTH, 8)
    axes = figure.subplots(2, 2)
    axes[0, 0].scatter(*points.T, s=14, color=COLOURS[0])
    axes[0, 0].set(title=f"the universe: {len(points)} points", xlabel="first coordinate", ylabel="second coordinate")
    _histogram(axes[0, 1], single, f"one query: {len(single)} random ones")
    top = max(value for rows in tables.values() for r in rows for value in r.factors)
    for place, (kind, rows) in zip(axes[1], tables.items(), strict=True):
        for k, name in enumerate(_STRATEGIES):
            place.plot([r.dimension for r in rows], [r.factors[k] for r in rows], label=name)
        place.set(title=f"several queries, {kind} coefficients", xlabel="queries K", ylabel=_FACTOR)
        place.set_ylim(0, 1.05 * top)
    figure.suptitle("Metric privacy on random points: noise saved against ordinary Laplace noise")
    return _saved(figure, path)


def city_picture(path: Path, found: list[Any]) -> Path:
    """Figure 3: a map, and improvement factors on the data as they are and with close places left out."""
    figure = new_figure(WIDTH, 4.4)
    axes = figure.subplots(1, 1 + len(found))
    places = found[0][0]
    shown = axes[0].scatter(*places.points.T, s=6, c=places.elevation, cmap="viridis")
    figure.colorbar(shown, ax=axes[0], label="elevation (m)", location="bottom", aspect=40)
    axes[0].set(title=wrapped(places.source, 3), xlabel="longitude (degrees)", ylabel="latitude (degrees)")
    for place, (variant, spread, elevation, closest) in zip(axes[1:], found, strict=True):
        title = f"{len(variant.points)} places, closest {closest:.2g}° apart; mean elevation: {elevation:.4g} times"
        _histogram(place, spread, wrapped(title, 3))
    _same_axes(axes[1:])
    figure.suptitle("Metric privacy on a map: noise saved in random queries against ordinary Laplace noise")
    return _saved(figure, path)


def threshold_picture(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Figure 4: average error by threshold under both policies."""
    figure = new_figure(WIDTH, 4.4)
    axis = figure.subplots()
    for name in ("hard", "smooth"):
        errors = [2**0.5 * float(row[name].mean()) for row in rows]
        axis.plot([row["T"] for row in rows], errors, label=f"{name} threshold")
    axis.set(xlabel="threshold T (distance)", ylabel="root mean square error, mean of the queries")
    axis.set_title("Error of Blowfish policies with a threshold at epsilon = 1")
    return _saved(figure, path)


def factor_picture(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Figure 5: improvement factors under both policies; what no pair protects needs no noise and is left out."""
    figure = new_figure(WIDTH, 4.4)
    axes = figure.subplots(1, 2)
    spreads = {}
    for name in ("hard", "smooth"):
        for row in rows:
            with np.errstate(divide="ignore"):
                factor = row["plain"] / row[name]
            if np.isfinite(factor).all():
                spreads[name, row["T"]] = factor
    bins = np.geomspace(1, max((float(v.max()) for v in spreads.values()), default=2.0), 41)
    for place, name in zip(axes, ("hard", "smooth"), strict=True):
        for row in rows:
            if (name, row["T"]) in spreads:
                place.hist(spreads[name, row["T"]], bins=bins, histtype="step", linewidth=1.6, label=f"T = {row['T']}")
        place.set(title=f"{name} threshold", xlabel=_FACTOR, ylabel=_QUERIES)
        _by_ratio(place)
    _same_axes(axes)
    figure.suptitle("Noise saved under Blowfish policies with a threshold, by query")
    return _saved(figure, path)


def _histogram(axes: Any, values: Floats, title: str) -> None:
    wide = float(values.max()) > _WIDE * float(np.median(values))
    axes.hist(values, bins=np.geomspace(values.min(), values.max(), 41) if wide else 40, color=COLOURS[0])
    if wide:
        _by_ratio(axes)
    axes.axvline(values.mean(), color="black", linewidth=1)
    axes.set(title=f"{title}\n(line: mean {values.mean():.3g})", xlabel=_FACTOR, ylabel=_QUERIES)


def _by_ratio(axes: Any) -> None:
    """A logarithmic axis with plain numbers."""
    axes.set_xscale("log")
    axes.set_xticks([n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n < axes.get_xlim()[1] * 1.01])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def _same_axes(axes: Any) -> None:
    """The same counts on the y axis of panels beside each other."""
    top = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, top)


def _saved(figure: Any, path: Path) -> Path:
    save(figure, path)
    return path
