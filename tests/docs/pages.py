"""The documentation as data: pages, their fenced blocks, their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.tree import ROOT as ROOT, tracked

OUTPUT = 'title="output"'
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)(?P<about>[^\n]*)\n(?P<body>.*?)^(?P=indent)```\s*$", re.S | re.M
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the line of the page its text starts on, what follows the language."""

    language: str
    text: str
    line: int
    about: str = ""

    @property
    def is_output(self) -> bool:
        """Whether it shows what the block before it prints."""
        return self.about == OUTPUT


def pages() -> list[Path]:
    """The README, the other top-level pages, and everything below docs."""
    top = [page for page in tracked(ROOT, ".md") if page.parent == ROOT]
    return top + tracked(ROOT / "docs", ".md")


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a page, in order."""
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        yield Block(match["language"], dedent(match["body"]), line, match["about"].strip())


def commands(block: Block) -> Iterator[str]:
    """The commands of a console block: lines after `$ `, joined where a backslash continues them."""
    joined = block.text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.startswith("$ "):
            yield line.removeprefix("$ ")


def skeleton(output: str) -> list[str]:
    """The words of an output: numbers, which noise changes, and the widths of columns left out."""
    # Where noise decides whether there is an answer at all, none counts as one.
    told = output.replace("too few to say", "0 0").replace("NaN", "0")
    plain = re.sub(r"[-+−]?\d[\d,.]*(e[-+]?\d+)?", "#", told)
    return re.sub(r"[-─━=|]{2,}", " ", plain).split()
