"""Tables for people, in a terminal and on a page."""

from __future__ import annotations

from pathlib import Path

Table = list[list[str]]

_HERE = Path(__file__).parent
_PAGE = _HERE.parent / "docs" / "benchmarks.md"
_MARK = "<!-- written by benchmarks/run: everything below this line -->"


def as_markdown(rows: Table) -> str:
    """The rows, the first of which is the head, in columns of even width."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def write(parts: list[str]) -> None:
    """Write results.md, and the same below the mark in the page of the documentation."""
    text = "\n\n".join(parts) + "\n"
    (_HERE / "results.md").write_text(f"# Results of benchmarks/run\n\n{text}", encoding="utf-8")
    head, mark, _ = _PAGE.read_text(encoding="utf-8").partition(_MARK)
    if not mark:
        raise SystemExit(f"{_PAGE.name} has lost the line that says where the results go: {_MARK}")
    _PAGE.write_text(f"{head}{mark}\n\n{text}", encoding="utf-8")
