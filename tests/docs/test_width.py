"""Code on a page is read without scrolling sideways, and the pages build without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
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


def test_the_pages_build_without_a_warning(tmp_path: Path):
    """A quiet build counts no warnings, so this one is not quiet."""
    mkdocs = shutil.which("mkdocs", path=sysconfig.get_path("scripts"))
    if mkdocs is None:
        pytest.skip("needs the extra noisewright[docs]")
    command = [mkdocs, "build", "--strict", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING -" not in built.stderr
