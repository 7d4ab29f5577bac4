"""Small tables: of text for terminals and notebooks, and of HTML."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from io import StringIO

Rows = Sequence[Sequence[str]]
_WIDE = 100_000
"""Letters in a line where none is too long."""


def text_table(header: Sequence[str], rows: Rows, *, left: Collection[int] = (0,), width: int | None = None) -> str:
    """A rule under the header, numbers to the right; the columns at the places in `left` are text.

    In a `width` long cells go on in the next line; nothing is cut. What is written is text, never markup.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="")
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    held = StringIO()
    Console(file=held, width=width or _WIDE, color_system=None, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in held.getvalue().rstrip().splitlines())


def html_table(caption: str, header: Sequence[str], rows: Rows, footer: str) -> str:
    """The same for notebooks."""
    from noisewright.drawing.pages import fragment

    return str(fragment("noisewright.drawing", "table.html.j2", "table", caption, header, rows, footer))


def html_below(lines: Sequence[str], header: Sequence[str], rows: Rows) -> str:
    """A paragraph for each line, and a table below them."""
    from noisewright.drawing.pages import fragment

    return str(fragment("noisewright.drawing", "table.html.j2", "below", lines, header, rows))
