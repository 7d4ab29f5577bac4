"""Pictures of the non-identical-noise reproduction: curves by sensitivity profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from noisewright.drawing.legends import GUIDE, MOST_LINES
from noisewright.drawing.style import finished, grid, save, styled
from noisewright.lab.pictures import write_table

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
