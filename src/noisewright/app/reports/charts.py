"""Pictures of pages as SVG: they follow the colours of the page, stay readable on a phone, and say what they show.

Coordinates are those of a phone; a wider page scales them up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from markupsafe import Markup

_WIDTH = 480.0
_DASHES = ("", "7 4", "2 4", "10 4 2 4", "4 2", "12 5")
_LETTER = 7.6
MOST_LINES = len(_DASHES)

Point = tuple[float, float]


def picture(title: str, told: str, height: float, body: str) -> Markup:
    """An SVG with its title and description for those who do not see it; `body` is SVG, its texts escaped."""
    name = f"p{abs(_fingerprint(title + told + body)):x}"
    return Markup(
        f'<svg viewBox="0 0 {_WIDTH:g} {height:g}" role="img" aria-labelledby="{name}t {name}d">'
        f'<title id="{name}t">{escape(title)}</title><desc id="{name}d">{escape(told)}</desc>{body}</svg>'
    )


def _fingerprint(text: str) -> int:
    """The same for the same text in every process."""
    found = 0
    for character in text:
        found = (found * 131 + ord(character)) % (1 << 61)
    return found


Bar = tuple[str, float, str]


def bars(title: str, items: Sequence[Bar], unit: str, limit: Bar | None = None) -> Markup:
    """One bar for each (name, value, what is shown beside it), the first one stressed; bars begin at zero.

    `limit` is what none of them can pass: its bar is hollow.
    """
    listed = [*items, *([] if limit is None else [limit])]
    finite = [value for _, value, _ in listed if math.isfinite(value)]
    most = max(finite, default=1.0) or 1.0
    body, y = "", 0.0
    for place, (name, value, shown) in enumerate(listed):
        look = "track" if limit is not None and place == len(items) else "b0" if place == 0 else "b5"
        length = (_WIDTH - 110) * min(value, most) / most if math.isfinite(value) else _WIDTH - 110
        strong = ' class="strong"' if place == 0 else ""
        body += f'<text x="0" y="{y + 14:g}"{strong}>{escape(_cut(name, 60))}</text>'
        body += f'<rect class="{look}" x="0.5" y="{y + 20:g}" width="{max(length, 1.5):.1f}" height="15" rx="2"/>'
        body += f'<text x="{max(length, 1.5) + 6:.1f}" y="{y + 32:g}">{escape(shown)}</text>'
        y += 46
    told = f"{unit}: " + "; ".join(f"{name} {shown}" for name, _, shown in listed)
    return picture(title, told, y + 2, body)


def lines(
    title: str, series: Sequence[tuple[str, Sequence[Point]]], across: str, upwards: str, *, counts: bool = False
) -> Markup:
    """Curves over common axes; colour and dashes tell them apart, and a legend below names them.

    With `counts` they are steps from whole number to whole number.
    """
    drawn = series[:MOST_LINES]
    xs, ys = [x for _, points in drawn for x, _ in points], [y for _, points in drawn for _, y in points]
    x_ticks, y_ticks = ticks(min(xs), max(xs)), ticks(min(0.0, *ys), max(ys))
    x_ticks = [tick for tick in x_ticks if not counts or tick == int(tick)]
    left = 14 + _LETTER * max(len(_tick(tick)) for tick in y_ticks)
    right, top, bottom = _WIDTH - 8, 24.0, 236.0
    place_x = _scale(min(xs), max(xs), left, right)
    place_y = _scale(min(y_ticks[0], *ys), max(y_ticks[-1], *ys), bottom, top)
    body = f'<text class="faint" x="0" y="12">{escape(upwards)}</text>'
    for tick in y_ticks:
        y = place_y(tick)
        body += f'<line class="axis" x1="{left:.1f}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
        body += f'<text class="faint" x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{_tick(tick)}</text>'
    for tick in x_ticks:
        body += (
            f'<text class="faint" x="{place_x(tick):.1f}" y="{bottom + 18:g}" text-anchor="middle">{_tick(tick)}</text>'
        )
    middle = (left + right) / 2
    body += f'<text class="faint" x="{middle:.1f}" y="{bottom + 38:g}" text-anchor="middle">{escape(across)}</text>'
    # The first is drawn last, so that it lies above the others.
    for i, (_, points) in reversed(list(enumerate(drawn))):
        body += (
            f'<path class="line l{i}" stroke-dasharray="{_DASHES[i]}" d="{_path(points, place_x, place_y, counts)}"/>'
        )
    legend, height = _legend([name for name, _ in drawn], bottom + 60)
    told = f"{upwards} against {across}, for: {'; '.join(name for name, _ in drawn)}."
    return picture(title, told, height, body + legend)


def intervals(title: str, rows: Sequence[tuple[str, float, float, float]], across: str) -> Markup:
    """For each (name, low, value, high) a point in its interval."""
    low, high = min(row[1] for row in rows), max(row[3] for row in rows)
    marks = ticks(low, high)
    left, right = 6.0, _WIDTH - 6
    place = _scale(min(low, marks[0]), max(high, marks[-1]), left, right)
    body, y = "", 0.0
    bottom = 42.0 * len(rows) + 6
    for tick in marks:
        body += f'<line class="axis" x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="0" y2="{bottom:g}"/>'
        anchor = "start" if place(tick) < 30 else "end" if place(tick) > _WIDTH - 30 else "middle"
        body += (
            f'<text class="faint" x="{place(tick):.1f}" y="{bottom + 16:g}" text-anchor="{anchor}">{_tick(tick)}</text>'
        )
    for name, begin, value, end in rows:
        body += f'<text x="0" y="{y + 14:g}">{escape(_cut(name, 56))}</text>'
        body += f'<path class="line l0" d="M{place(begin):.1f} {y + 28:g}H{place(end):.1f}"/>'
        body += f'<circle class="b0" cx="{place(value):.1f}" cy="{y + 28:g}" r="5"/>'
        y += 42
    body += f'<text class="faint" x="{_WIDTH / 2:g}" y="{bottom + 36:g}" text-anchor="middle">{escape(across)}</text>'
    told = "; ".join(f"{name}: {value:,.6g}, from {begin:,.6g} to {end:,.6g}" for name, begin, value, end in rows)
    return picture(title, told, bottom + 42, body)


def beliefs(title: str, rows: Sequence[tuple[str, float, float, float, str]]) -> Markup:
    """For each (words, lowest, before, highest, told) where a belief can go, and where it was, from 0 to 100 %."""
    place = _scale(0.0, 1.0, 0.5, _WIDTH - 0.5)
    body, y = "", 0.0
    for words, low, before, high, _ in rows:
        body += f'<text x="0" y="{y + 14:g}">{escape(words)}</text>'
        body += (
            f'<rect class="track" x="{place(0):g}" y="{y + 22:g}" width="{place(1) - place(0):g}" height="14" rx="3"/>'
        )
        body += (
            f'<rect class="b0" x="{place(low):.1f}" y="{y + 22:g}" width="{max(place(high) - place(low), 2):.1f}"'
            ' height="14" rx="3"/>'
        )
        body += f'<rect class="mark" x="{place(before) - 1.5:.1f}" y="{y + 18:g}" width="3" height="22"/>'
        y += 50
    for tick, anchor in ((0, "start"), (25, "middle"), (50, "middle"), (75, "middle"), (100, "end")):
        body += f'<text class="faint" x="{place(tick / 100):g}" y="{y + 12:g}" text-anchor="{anchor}">{tick} %</text>'
    return picture(title, "; ".join(told for *_, told in rows), y + 18, body)


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers from at most `low` to at least the last below `high`."""
    span = high - low or abs(high) or 1.0
    raw = span / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    found = [float(f"{i * step:.12g}") for i in range(first, last + 1)]
    return found or [low]


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def _path(points: Sequence[Point], across: Callable[[float], float], up: Callable[[float], float], steps: bool) -> str:
    found = ""
    for i, (x, y) in enumerate(points):
        if steps and i:
            found += f"H{across(x):.1f}V{up(y):.1f}"
        else:
            found += f"{'L' if i else 'M'}{across(x):.1f} {up(y):.1f}"
    return found


def _legend(names: Sequence[str], y: float) -> tuple[str, float]:
    """Names beside a piece of their line, as many in a row as fit."""
    body, x = "", 0.0
    for i, name in enumerate(names):
        shown = _cut(name, 44)
        width = 38 + _LETTER * len(shown) + 14
        if x and x + width > _WIDTH:
            x, y = 0.0, y + 22
        body += f'<path class="line l{i}" stroke-dasharray="{_DASHES[i]}" d="M{x:.1f} {y - 4:.1f}h28"/>'
        body += f'<text x="{x + 34:.1f}" y="{y:.1f}">{escape(shown)}</text>'
        x += width
    return body, y + 8


def _tick(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 10**9 else f"{value:g}"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
