"""Non-identical additive noise: the paper's six figures, its claims, and norm-shaped blocks beside them.

The paper assumes that all numbers may move at once (a box). Curves are the closed forms with a Gaussian
calibration that was checked in balls; at the paper's main setting the certified mechanisms are also drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.drawing.legends import GUIDE, MOST_LINES
from noisewright.drawing.style import finished, grid, save, styled
from noisewright.lab.non_identical.claims import claims
from noisewright.lab.non_identical.curves import (
    DELTA,
    EPSILON,
    PROFILES,
    block_error,
    decibel,
    gaussian_errors,
    gini,
    laplace_errors,
    profile,
    unit_variance,
    with_norm,
)
from noisewright.lab.reproductions import Reproduction
from noisewright.lab.sheets import figure_name, write_table
from noisewright.search.report.progress import Advance


def reproduce(
    out: Path, step: Advance, *, dimensions: Sequence[int] = range(2, 51), draws: int = 50_000
) -> Reproduction:
    """Figures 1 to 6 as PNG and CSV, and the claims; smaller `dimensions` and `draws` for a quick look."""
    out.mkdir(parents=True, exist_ok=True)
    result = Reproduction("Non-identical additive noise")
    result.data.append("no data needed: sensitivity profiles are given by formulas")
    epsilons = [Fraction(round(v * 1000), 1000) for v in np.geomspace(0.1, 5, 18)]
    step("Figures 1 and 4: error against epsilon")
    _against_epsilon(result, out, epsilons, gaussian=True)
    _against_epsilon(result, out, epsilons, gaussian=False)
    step("Figures 2, 3 and 5: error and Gini coefficient against the dimension")
    _against_dimension(result, out, dimensions, gaussian=True)
    _gini_figure(result, out, dimensions)
    _against_dimension(result, out, dimensions, gaussian=False)
    step("Figure 6: Gaussian against Laplace")
    _crossing_figure(result, out, dimensions)
    step("certifying and drawing at K = 20")
    result.claims = claims(draws)
    return result


def _against_epsilon(result: Reproduction, out: Path, epsilons: list[Fraction], *, gaussian: bool) -> None:
    kind, number = ("Gaussian", 1) if gaussian else ("Laplace", 4)
    curves: dict[str, list[float]] = {}
    for name in PROFILES:
        values = with_norm(profile(name, 20), 2 if gaussian else 1)
        pairs = [
            gaussian_errors(values, unit_variance(e, DELTA)) if gaussian else laplace_errors(values, float(e))
            for e in epsilons
        ]
        if name == "uniform":
            curves[f"identical {kind}"] = [decibel(p[0]) for p in pairs]
        curves[f"non-identical, {name}"] = [decibel(p[1]) for p in pairs]
        if not gaussian and name != "one-hot":
            curves[f"norm-shaped blocks, {name}"] = [decibel(block_error(values, float(e))) for e in epsilons]
    title = f"Total squared error of {kind} noise, K = 20" + (", delta = 1e-6" if gaussian else "")
    _drawn(result, out, figure_name(number), [float(e) for e in epsilons], curves, ("epsilon", title))


def _against_dimension(result: Reproduction, out: Path, dimensions: Sequence[int], *, gaussian: bool) -> None:
    kind, number = ("Gaussian", 2) if gaussian else ("Laplace", 5)
    curves: dict[str, list[float]] = {}
    for name in PROFILES:
        scaled = [with_norm(profile(name, k), 2 if gaussian else 1) for k in dimensions]
        variance = unit_variance(EPSILON, DELTA)
        pairs = [gaussian_errors(v, variance) if gaussian else laplace_errors(v, float(EPSILON)) for v in scaled]
        if name == "uniform":
            curves[f"identical {kind}"] = [decibel(p[0]) for p in pairs]
        curves[f"non-identical, {name}"] = [decibel(p[1]) for p in pairs]
        if not gaussian and name != "one-hot":
            curves[f"norm-shaped blocks, {name}"] = [decibel(block_error(v, float(EPSILON))) for v in scaled]
    title = f"Total squared error of {kind} noise, epsilon = 0.5" + (", delta = 1e-6" if gaussian else "")
    _drawn(result, out, figure_name(number), list(dimensions), curves, ("numbers K", title), inset=gaussian)


def _gini_figure(result: Reproduction, out: Path, dimensions: Sequence[int]) -> None:
    curves = {f"non-identical, {name}": [gini(profile(name, k)) for k in dimensions] for name in PROFILES}
    labels = ("numbers K", "How uneven the sensitivity profiles are")
    _drawn(result, out, figure_name(3), list(dimensions), curves, labels, label="Gini coefficient")


def _crossing_figure(result: Reproduction, out: Path, dimensions: Sequence[int]) -> None:
    curves: dict[str, list[float]] = {}
    variance = unit_variance(EPSILON, DELTA)
    for name in ("uniform", "exponential"):
        scaled = [with_norm(profile(name, k), 2) for k in dimensions]
        curves[f"non-identical Gaussian, {name}"] = [decibel(gaussian_errors(v, variance)[1]) for v in scaled]
        curves[f"non-identical Laplace, {name}"] = [decibel(laplace_errors(v, float(EPSILON))[1]) for v in scaled]
        curves[f"norm-shaped blocks, {name}"] = [decibel(block_error(v, float(EPSILON))) for v in scaled]
    title = "Gaussian against Laplace noise: epsilon = 0.5; Gaussian with delta = 1e-6, the others with delta = 0"
    _drawn(result, out, figure_name(6), list(dimensions), curves, ("numbers K", title))


def _drawn(
    result: Reproduction,
    out: Path,
    name: str,
    places: Sequence[float],
    curves: dict[str, list[float]],
    labels: tuple[str, str],
    *,
    label: str = "total squared error (dB)",
    inset: bool = False,
) -> None:
    """One figure and the table behind it."""
    path = out / f"{name}.png"
    result.files += draw_curves(path, places, curves, (labels[0], label), labels[1], inset=inset)


# Pictures of the non-identical-noise reproduction: curves by sensitivity profile.


Curves = Mapping[str, Sequence[float]]
_INSETS = ((0.55, 0.32, 0.42, 0.22), (0.52, 0.1, 0.45, 0.27), (0.08, 0.62, 0.4, 0.25), (0.55, 0.62, 0.4, 0.25))
"""Places for the inset, of which the first free one is taken."""
_LEFT, _BELOW, _RIGHT, _ABOVE = 0.04, 0.07, 0.02, 0.08
_NEAR = 5


def draw_curves(
    path: Path, places: Sequence[float], curves: Curves, labels: tuple[str, str], title: str, *, inset: bool = False
) -> list[Path]:
    """A picture and the table behind it; `inset` enlarges the first few places.

    Identical noise is the guide in black; norm-shaped blocks, noise that numbers share, are dotted and have a panel
    of their own where the lines are too many for one.
    """
    shown = [curves] if len(curves) <= MOST_LINES else _apart(curves)
    figure, axes = grid(len(shown), height=4.2)
    for panel, axis in zip(shown, axes, strict=True):
        _lines(axis, places, panel)
        axis.set(xlabel=labels[0], ylabel=labels[1], xscale="log" if labels[0] == "epsilon" else "linear")
        axis.label_outer()
    for axis, part in zip(axes, ("independent, non-identical noise", "norm-shaped blocks"), strict=False):
        axis.set_title(part if len(shown) > 1 else "")
    figure.suptitle(title)
    finished(figure)
    if inset:
        _enlarged(axes[0], places, curves)
    save(figure, path)
    rows = [[x, *(curve[i] for curve in curves.values())] for i, x in enumerate(places)]
    return [path, write_table(path.with_suffix(".csv"), [labels[0], *curves], rows)]


def _lines(axis: Any, places: Sequence[float], curves: Curves) -> None:
    for name, curve in curves.items():
        style = ":" if "blocks" in name else "--" if "Laplace" in name else "-"
        axis.plot(places, curve, label=name, **(GUIDE if name.startswith("identical") else {"linestyle": style}))


def _apart(curves: Curves) -> list[Curves]:
    """Two panels; a profile has the same name in both, and so the same look."""
    parts: tuple[dict[str, Sequence[float]], ...] = ({}, {})
    for name, curve in curves.items():
        kind, _, profile = name.rpartition(", ")
        parts["blocks" in kind][profile] = curve
    return list(parts)


def _enlarged(axis: Any, places: Sequence[float], curves: Curves) -> None:
    """The beginning of the curves, where they cross, in the colours of the legend."""
    place = next((box for box in _INSETS if _is_free(axis, box)), None)
    if place is None:
        return
    inner = styled(axis.inset_axes, place)
    near = [i for i, x in enumerate(places) if x <= _NEAR]
    for line in axis.get_lines():
        curve = curves[line.get_label()]
        look = {"color": line.get_color(), "marker": line.get_marker()}
        inner.plot([places[i] for i in near], [curve[i] for i in near], **look)
    inner.set(title=f"K up to {_NEAR}", xticks=[places[i] for i in near])


def _is_free(axis: Any, box: tuple[float, float, float, float]) -> bool:
    """Whether no line passes a box of the axes, its numbers and title included."""
    from matplotlib.transforms import Bbox

    x, y, width, height = box
    whole = Bbox.from_extents(x - _LEFT, y - _BELOW, x + width + _RIGHT, y + height + _ABOVE)
    paths = (line.get_path().transformed(axis.transData - axis.transAxes) for line in axis.get_lines())
    return not any(path.intersects_bbox(whole, filled=False) for path in paths)
