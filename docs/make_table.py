"""Writes the table of what can be designed into its page, from the library's own table: python docs/make_table.py."""

from __future__ import annotations

from pathlib import Path

from noisewright.search.design import DESIGNERS

PAGE = Path(__file__).resolve().parent / "questions.md"
HEADER = "| question | privacy | what counts as good |\n|---|---|---|\n"
WRITTEN = {"Bounded": "`Scalar` with `inputs` and `outputs`, real or `integer`"}
"""Questions that a person writes in another way than by the name of their class."""


def table() -> str:
    """One row for each question and the requirements under which the same utilities are served."""
    rows: dict[tuple[str, str], list[str]] = {}
    for (question, privacy), designer in DESIGNERS.items():
        utilities = ", ".join(f"`{utility.__name__}`" for utility in designer.utilities)
        name = WRITTEN.get(question.__name__, f"`{question.__name__}`")
        rows.setdefault((name, utilities), []).append(f"`{privacy.__name__}`")
    return HEADER + "".join(f"| {q} | {', '.join(privacies)} | {u} |\n" for (q, u), privacies in rows.items())


def with_table(page: str) -> str:
    """The page with its table written anew."""
    before, _, rest = page.partition(HEADER)
    after = rest[rest.index("\n\n") :] if "\n\n" in rest else "\n"
    return before + table().rstrip("\n") + after


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
