"""Code on a page is read without scrolling sideways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks, pages

WIDEST = 88
_TABLE = re.compile(r"[^\s:]  +\S|─{3}")


def _must_fit(block: Block, line: str) -> bool:
    """Whether a line is code or a row of a table; sentences that the programme prints are wrapped by the page."""
    return block.language != "text" or _TABLE.search(line) is not None


def too_wide(text: str) -> list[int]:
    """The lines of a page, counted from 1, whose code does not fit."""
    return [
        block.line + i
        for block in blocks(text)
        for i, line in enumerate(block.text.splitlines())
        if len(line) > WIDEST and _must_fit(block, line)
    ]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_code_fits_the_page(page: Path):
    assert too_wide(page.read_text(encoding="utf-8")) == []


def test_a_line_that_does_not_fit_is_found():
    wide = "x" * (WIDEST + 1)
    assert too_wide(f"a\n```python\n{'x' * WIDEST}\n{wide}\n```\n") == [4]
    assert too_wide(f"```text\n{wide}\nname  {wide}\n```\n") == [3]
