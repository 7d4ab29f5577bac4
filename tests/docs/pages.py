"""The documentation as data: pages, their fenced blocks, their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```\s*$", re.S | re.M)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line of the page its text starts on."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    """The README, the other top-level pages, and everything below docs."""
    return sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a page, in order."""
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        yield Block(match["language"], dedent(match["body"]), line)


def commands(block: Block) -> Iterator[str]:
    """The commands of a console block: lines after `$ `, joined where a backslash continues them."""
    joined = block.text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.startswith("$ "):
            yield line.removeprefix("$ ")
