"""Pictures: a palette for all eyes, the rules of tests/pictures.py, and that those rules can fail."""

from __future__ import annotations

import ast
import struct
import zlib
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from noisewright.drawing.legends import COLOURS, MARKS
from noisewright.drawing.style import (
    WIDTH,
    Picture,
    described,
    finished,
    grid,
    new_figure,
    save,
    shape_of,
    title_of,
    wrapped,
)
from tests.architecture.source import PACKAGE, ROOT, modules
from tests.pictures import FILE_NAME, faults
from tests.tree import tracked

# Machado, Oliveira and Fernandes (2009), full severity, applied to linear light.
_EYES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
}
_D65 = np.array([0.95047, 1.0, 1.08883])
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def _lab(colour: str, eye: str) -> np.ndarray:
    """CIELAB of a colour as an eye sees it."""
    srgb = np.array(to_rgb(colour))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(_EYES[eye]) @ linear, 0, 1)
    ratio = _XYZ @ seen / _D65
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eye", _EYES)
def test_every_eye_tells_the_colours_apart(eye: str):
    for one, other in combinations(COLOURS, 2):
        assert np.linalg.norm(_lab(one, eye) - _lab(other, eye)) > 9, (one, other)


def test_red_and_green_would_not_pass():
    assert np.linalg.norm(_lab("#d62728", "deuteranopia") - _lab("#8c6d1f", "deuteranopia")) < 9


def good() -> tuple[Picture, list[Any]]:
    """Two panels with three lines each, and nothing to complain of."""
    figure, axes = grid(2)
    for axis, title in zip(axes, ("first", "second"), strict=True):
        for i in range(3):
            axis.plot([1, 2, 3], [1 + i, 2 + i, 3 + i], label=f"line {i}")
        axis.set(xlabel="epsilon", ylabel="error", title=title)
        axis.label_outer()
    figure.suptitle("Errors of three lines")
    finished(figure)
    return figure, axes


def test_a_good_picture_has_no_fault():
    assert faults(good()[0]) == []


def _legend_inside(figure: Picture, axes: list[Any]) -> None:
    figure.legends[0].remove()
    axes[0].legend(loc="center")


def _too_many(figure: Picture, axes: list[Any]) -> None:
    for i in range(6):
        axes[0].plot([1, 2], [i, i], label=f"more {i}")


SPOILED: dict[str, tuple[Callable[[Picture, list[Any]], Any], str]] = {
    "no x label": (lambda f, a: [axis.set_xlabel("") for axis in a], "x axis has no label"),
    "no y label": (lambda f, a: [axis.set_ylabel("") for axis in a], "y axis has no label"),
    "no title": (lambda f, a: f.suptitle(""), "no title"),
    "long titles": (lambda f, a: [axis.set_title("w" * 80) for axis in a], "overlap"),
    "cut off": (lambda f, a: a[1].set_title("w" * 90), "are cut off"),
    "too many lines": (_too_many, "too many to tell apart"),
    "same look": (lambda f, a: a[0].get_lines()[1].set_marker(MARKS[0]), "look alike"),
    "no mark": (lambda f, a: a[0].get_lines()[1].set_marker(""), "no mark"),
    "other colour": (lambda f, a: a[0].get_lines()[1].set_color("#ff00ff"), "not in the palette"),
    "legend upon data": (_legend_inside, "legend covers the line"),
    "two legends": (lambda f, a: a[0].legend(), "2 legends"),
    "no legend": (lambda f, a: f.legends[0].remove(), "0 legends for 3 names"),
    "wide": (lambda f, a: f.set_size_inches(14, 4), "14.0 inches wide"),
    "flat": (lambda f, a: f.set_size_inches(WIDTH, 2), "2.0 inches high"),
    "small print": (lambda f, a: a[0].set_title("first", fontsize=5), "has size 5.0"),
    "other font": (lambda f, a: a[0].set_title("first", fontfamily="monospace", fontsize=10), "is in ['monospace']"),
    "crowded": (lambda f, a: a[0].set_xticks([1, 1.01], ["one", "another"]), "run together"),
    "squeezed": (lambda f, a: a[0].get_lines()[0].set_ydata([1, 1, 900]) or a[0].set_ylim(0.9, 900), "squeezes"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_picture_is_noticed(name: str):
    spoil, fault = SPOILED[name]
    figure, axes = good()
    spoil(figure, axes)
    assert any(fault in each for each in faults(figure)), faults(figure)


def test_panels_on_other_axes_are_noticed():
    figure = new_figure(10, 4)
    for axis, high in zip(figure.subplots(1, 2), (1, 100), strict=True):
        axis.plot([0, 1], [0, high])
        axis.set(xlabel="x", ylabel="error", title=f"to {high}")
    figure.suptitle("Errors")
    finished(figure)
    assert any("on other axes" in fault for fault in faults(figure))


def test_a_figure_of_no_style_is_noticed():
    assert faults(Figure()) == ["it is not made by new_figure"]


def test_a_name_has_one_look_in_all_panels_and_stands_once_in_the_legend():
    figure, (left, right) = good()
    for one, other in zip(left.get_lines(), right.get_lines(), strict=True):
        assert (one.get_color(), one.get_marker()) == (other.get_color(), other.get_marker())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["line 0", "line 1", "line 2"]
    finished(figure)
    assert faults(figure) == []


def test_a_guide_stays_black_and_takes_no_look():
    figure = new_figure(10, 4)
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color="black", marker="", label="limit")
    axis.plot([0, 1], [1, 0], label="noise")
    axis.set(xlabel="x", ylabel="y", title="A limit")
    finished(figure)
    guide, line = axis.get_lines()
    assert (guide.get_color(), guide.get_marker()) == ("black", "")
    assert (line.get_color(), line.get_marker()) == (COLOURS[0], MARKS[0])
    assert faults(figure) == []


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (4, (1, 4)), (5, (2, 3)), (8, (2, 4)), (9, (3, 3))])
def test_panels_fill_their_rows(count: int, shape: tuple[int, int]):
    assert shape_of(count, 4) == shape
    assert len(grid(count)[1]) == count


def test_a_file_carries_its_title_and_what_it_shows(tmp_path: Path):
    figure, _ = good()
    save(figure, tmp_path / "figure-01.png")
    texts = _texts(tmp_path / "figure-01.png")
    assert texts["Title"] == title_of(figure) == "Errors of three lines"
    assert texts["Description"] == described(figure)
    assert "error against epsilon" in texts["Description"]
    assert "line 2" in texts["Description"]
    save(figure, tmp_path / "figure-01.pdf")
    save(figure, tmp_path / "figure-01.svg")


def _texts(path: Path) -> dict[str, str]:
    """The text chunks of a PNG file, read by hand."""
    data, at, found = path.read_bytes(), 8, {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        if kind == b"tEXt":
            key, _, text = body.partition(b"\0")
            found[key.decode("latin-1")] = text.decode("latin-1")
        at += 12 + length
    return found


def test_titles_are_wrapped_and_cut():
    assert wrapped("a few words") == "a few words"
    assert all(len(line) <= 30 for line in wrapped("word " * 20, 4).splitlines())
    assert wrapped("word " * 200, 4).endswith(" …")
    assert len(wrapped("word " * 200, 4).splitlines()) == 3


def test_no_other_file_makes_figures():
    """A Figure is made in one place, so that every picture has the style."""
    for path in (*modules(), *tracked(ROOT / "docs", ".py")):
        text = path.read_text(encoding="utf-8")
        assert "pyplot" not in text or path.is_relative_to(PACKAGE / "drawing"), path
        if "matplotlib" in text and not path.is_relative_to(PACKAGE / "drawing"):
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            assert not any(ast.unparse(call.func) == "Figure" for call in calls), path


@pytest.mark.parametrize(
    ("name", "right"), [("figure-07.png", True), ("figure-07-mean.png", True), ("figure7.png", False)]
)
def test_names_of_files(name: str, right: bool):
    assert bool(FILE_NAME.fullmatch(name)) is right
