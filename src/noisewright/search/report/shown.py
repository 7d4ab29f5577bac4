"""What people see of long work: a progress bar while it lasts, small tables of text and HTML after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

Advance = Callable[[str], None]


def number(value: float) -> str:
    """Six significant digits, or a plain word if it is not finite."""
    return "infinite" if value == float("inf") else f"{value:.6g}"


def percent(value: float) -> str:
    """A relative distance as a percentage of two significant digits."""
    if value and value < 1e-6:
        return "0.0001 %"
    return f"{100 * value:.2g} %" if value < 1 else f"{100 * value:.0f} %"


def text_table(header: list[str], rows: list[list[str]]) -> str:
    """Left-aligned first column, right-aligned others, a rule under the header."""
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines)


def html_table(caption: str, header: list[str], rows: list[list[str]], footer: str) -> str:
    """The same for notebooks."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table><p>{escape(footer)}</p>"
    )


def quiet(step: str) -> None:
    """No progress is shown."""


@contextmanager
def progress_bar(title: str, steps: int, *, shown: bool) -> Iterator[Advance]:
    """Yields a function to call with the name of each step as it starts."""
    if not shown:
        yield quiet
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=steps)
        started = False

        def advance(step: str) -> None:
            nonlocal started
            bar.update(task, description=f"{title}: {step}", advance=1 if started else 0)
            started = True

        yield advance
