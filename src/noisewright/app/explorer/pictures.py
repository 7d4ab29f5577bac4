"""The pictures of the explorer: small SVG, drawn at the width of the place where it stands.

They are drawn anew with every move of a slider, which leaves no time for a plotting library. Colours are classes that
the page's style sheet fills in, by day and by night. Every picture says in its `desc` what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_FOOT, _TOP, _SIDE = 40, 14, 12
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve with its name; steps where it has jumps."""

    name: str
    points: Points
    steps: bool = False


def picture(name: str, told: str, width: int, height: int, parts: Iterable[str]) -> str:
    """A whole picture: its name, what it shows in words, and its parts."""
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" data-picture="{name}"><title id="{name}-title">{escape(told.partition(". ")[0])}</title>'
        f'<desc id="{name}-desc">{escape(told)}</desc>{"".join(parts)}</svg>'
    )


def density(told: str, width: int, lines: Sequence[Line], band: tuple[float, float], label: str, centre: float) -> str:
    """Densities over one axis; the first is filled, and inside the band it is darker."""
    height = 240
    xs = [x for x, _ in lines[0].points]
    across = Scale(xs[0], xs[-1], _SIDE, width - _SIDE)
    up = Scale(0, 1.06 * max(y for line in lines for _, y in line.points), height - _FOOT, _TOP)
    floor = up(0)
    inside = [(x, y) for x, y in lines[0].points if band[0] <= x <= band[1]] or lines[0].points
    parts = [_area(across, up, lines[0].points, floor, "shade"), _area(across, up, inside, floor, "shade-deep")]
    for i, line in reversed(list(enumerate(lines))):
        parts.append(_path(across, up, line.points, f"line line-{i}"))
    parts += [_tick_line(across(centre), _TOP, floor, "truth"), *_bottom(across, height, label, width)]
    return picture("density", told, width, height, parts)


def answers(
    told: str, width: int, rows: Sequence[tuple[str, float, Sequence[float]]], ends: tuple[float, float]
) -> str:
    """Possible answers as dots around each true value, one row for each number."""
    row = 64
    height = row * len(rows) + _FOOT
    across = Scale(*ends, _SIDE, width - _SIDE)
    parts: list[str] = []
    for i, (name, truth, values) in enumerate(rows):
        base = _TOP / 2 + row * i + row - 8
        parts.append(_tick_line(across(truth), base - row + 14, base + 4, "truth"))
        if name:
            parts.append(f'<text x="{_SIDE}" y="{base - row + 22}" class="small">{escape(name)}</text>')
        parts += _dots(across, values, base, ends)
    return picture("answers", told, width, height, [*parts, *_bottom(across, height, "released answer", width)])


def _dots(across: Scale, values: Sequence[float], base: float, ends: tuple[float, float]) -> list[str]:
    """Dots side by side on a line, stacked where they would cover each other; beyond the ends they become arrows."""
    stacks: dict[int, int] = {}
    found = []
    for value in sorted(values):
        x = across(value)
        column = round(x / 9)
        level = stacks.get(column, 0)
        stacks[column] = level + 1
        y = base - 5 - 9 * min(level, 5)
        beyond = value < ends[0] or value > ends[1]
        kind = "dot beyond" if beyond else "dot"
        found.append(f'<circle cx="{x}" cy="{y}" r="4" class="{kind}"><title>{written(value)}</title></circle>')
    return found


def curve(told: str, width: int, shown: Mapping[str, Any]) -> str:
    """Error against privacy: a line for each mechanism, the impossible shaded, the present place marked."""
    height = 280
    lines: list[Line] = shown["lines"]
    limit: Points = shown["limit"]
    ys = [y for line in lines for _, y in line.points] + [y for _, y in limit] + [shown["here"][1]]
    chance = shown["larger"]
    left = 58
    across = Scale(shown["ends"][0], shown["ends"][1], left, width - _SIDE, ratio=True)
    up = _upward(ys, chance, height)
    edge = up.end if chance else up.start
    parts = _left(up, left, width, chance)
    if limit:
        parts.append(_area(across, up, limit, edge, "impossible"))
    for i, line in reversed(list(enumerate(lines))):
        parts.append(_path(across, up, line.points, f"line line-{i}"))
        if len(line.points) == 1:
            x, y = line.points[0]
            parts.append(f'<circle cx="{across(x)}" cy="{up(y)}" r="2.5" class="fill-{i}"/>')
    x, y = shown["here"]
    parts.append(_tick_line(across(x), up.end, up.start, "here"))
    parts.append(f'<circle cx="{across(x)}" cy="{up(y)}" r="6" class="place"/>')
    parts += _bottom(across, height, shown["label"], width, left)
    return picture("curve", told, width, height, parts)


def _upward(ys: Sequence[float], chance: bool, height: int) -> Scale:
    if chance:
        return Scale(0, 1, height - _FOOT, _TOP)
    finite = [y for y in ys if 0 < y < math.inf] or [1.0]
    low, high = min(finite), max(finite)
    return Scale(low / 1.6, high * 1.25 if high > low else low * 4, height - _FOOT, _TOP, ratio=True)


def guesses(told: str, width: int, shares: Sequence[tuple[str, float, float]]) -> str:
    """For each guess a bar of a hundred: what was believed before, and what it can become at most."""
    row, left = 46, 8
    height = row * len(shares) + 8
    across = Scale(0, 100, left, width - left)
    parts = []
    for i, (name, before, after) in enumerate(shares):
        y = 20 + row * i
        parts += [
            f'<text x="{left}" y="{y - 5}" class="small">{escape(name)}</text>',
            f'<rect x="{left}" y="{y}" width="{across(100) - left}" height="16" rx="3" class="empty"/>',
            f'<rect x="{left}" y="{y}" width="{max(across(after) - left, 1)}" height="16" rx="3" class="fill-1"/>',
            f'<rect x="{left}" y="{y}" width="{max(across(before) - left, 1)}" height="16" rx="3" class="fill-0"/>',
        ]
    return picture("guesses", told, width, height, parts)


def legend(names: Sequence[str], *, limit: bool = False) -> str:
    """The names of lines beside their colours, as a list that wraps."""
    marks = [(name, f'<line x1="0" x2="18" y1="5" y2="5" class="line line-{i}"/>') for i, name in enumerate(names)]
    if limit:
        marks.append(("impossible, proven", '<rect width="18" height="10" class="impossible"/>'))
    items = [
        f'<li><svg aria-hidden="true" width="18" height="10" viewBox="0 0 18 10">{mark}</svg> {escape(name)}</li>'
        for name, mark in marks
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def bar(share: float) -> str:
    """A bar for a cell of a table; the number beside it says the same, so it is hidden from screen readers."""
    size = round(100 * min(max(share, 0.01), 1), 1)
    return (
        '<svg aria-hidden="true" class="bar" viewBox="0 0 100 10" preserveAspectRatio="none">'
        f'<rect width="{size}" height="10" class="fill-0"/></svg>'
    )


def _path(across: Scale, up: Scale, points: Points, kind: str) -> str:
    places = " ".join(f"{across(x)},{up(y)}" for x, y in points if math.isfinite(y))
    return f'<polyline points="{places}" class="{kind}"/>'


def _area(across: Scale, up: Scale, points: Points, floor: float, kind: str) -> str:
    kept = [(x, y) for x, y in points if math.isfinite(y)]
    places = " ".join(f"{across(x)},{up(y)}" for x, y in kept)
    return f'<polygon points="{across(kept[0][0])},{floor} {places} {across(kept[-1][0])},{floor}" class="{kind}"/>'


def _tick_line(x: float, top: float, bottom: float, kind: str) -> str:
    return f'<line x1="{x}" x2="{x}" y1="{round(top, 1)}" y2="{round(bottom, 1)}" class="{kind}"/>'


def _bottom(across: Scale, height: int, label: str, width: int, left: float = _SIDE) -> list[str]:
    base = height - _FOOT
    parts = [f'<line x1="{left}" x2="{width - _SIDE}" y1="{base}" y2="{base}" class="axis"/>']
    for tick in across.ticks(max(3, int((width - left) / 70))):
        x = across(tick)
        at = "start" if x < left + 14 else "end" if x > width - _SIDE - 14 else "middle"
        parts.append(_tick_line(x, base, base + 4, "axis"))
        parts.append(f'<text x="{x}" y="{base + 17}" text-anchor="{at}" class="small">{written(tick)}</text>')
    middle = round((left + width) / 2, 1)
    return [*parts, f'<text x="{middle}" y="{height - 6}" text-anchor="middle" class="small">{escape(label)}</text>']


def _left(up: Scale, left: float, width: int, chance: bool) -> list[str]:
    parts = []
    for tick in up.ticks(6):
        y = up(tick)
        told = f"{100 * tick:.0f} %" if chance else written(tick)
        parts.append(f'<line x1="{left}" x2="{width - _SIDE}" y1="{y}" y2="{y}" class="grid"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" class="small">{told}</text>')
    return parts


# Axes of small pictures: from values to places, and round numbers to write beside them.


_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values between `low` and `high` to places between `start` and `end`, evenly or by ratio."""

    low: float
    high: float
    start: float
    end: float
    ratio: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value, to a tenth; values beyond the ends stay at the end."""
        low, high, inside = self.low, self.high, min(max(value, self.low), self.high)
        share = math.log(inside / low) / math.log(high / low) if self.ratio else (inside - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int) -> list[float]:
        """Round values between the ends, at most about so many."""
        return _ratio_ticks(self.low, self.high, most) if self.ratio else _even_ticks(self.low, self.high, most)


def _even_ticks(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / max(most, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in _STEPS if size * each >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * i for i in range(first, last + 1)]


def _ratio_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**e for e in decades for d in digits if low * (1 - 1e-9) <= d * 10.0**e <= high * (1 + 1e-9)]
        if len(found) <= most:
            return found
    every = -(-len(decades) // max(most, 1))
    return [10.0**e for e in decades if e % every == 0 and low <= 10.0**e <= high]


def written(value: float) -> str:
    """A number as people write it: four digits, no powers of ten for everyday sizes."""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "infinite"
    size = abs(value)
    if 1e-3 <= size < 1e6:
        text = f"{value:,.{max(0, 3 - math.floor(math.log10(size)))}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
    return f"{value:.3g}".replace("-", "−")
