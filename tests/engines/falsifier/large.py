"""CSV files larger than the blocks that a reader takes at once, with fields of line ends over every border."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds

MEGABYTE = 10**6
_TEXTS = ['x""y', "a\n4,A,30,b", 'said ""so""\n', "\r\n", "1,A,5\n2,a,6\n", '\n"",""\n', "\n\n", ",,,"]
"""What a field in quotation marks may hold: line ends, marks, and what looks like the rows of others."""


def written(path: Path, random: Random, size: int, whose: Callable[[int], bool]) -> None:
    """A well-formed file of about so many bytes: rows of everybody, and over each border a long field of person 0.

    Only the rows of those persons for whom `whose` holds are written, so that the file of all is the union of the files
    of some. Borders are the multiples of a million bytes and of 2^20 of the file of all.
    """
    length, parts = 0, ["id,k,x,s\n"]
    borders = sorted({*range(MEGABYTE, size, MEGABYTE), *range(2**20, size, 2**20)})
    number = 0
    while length < size:
        number += 1
        border = borders[0] if borders else size + MEGABYTE
        if length > border - 300:
            text = "".join(random.choice(_TEXTS) for _ in range(random.randrange(80, 200)))
            row, person = f'0,A,{number % 7},"{text}"\n', 0
            borders = borders[1:]
        else:
            person = 1 + number % 5000
            prose = "prose with an end\nof a line" if number % 11 == 0 else "a plain text"
            row = f'{person},{random.choice("AaB")},{number % 100},"{prose}"\n'
        length += len(row)
        if whose(person):
            parts.append(row)
    path.write_text("".join(parts), encoding="utf-8", newline="")


def numbers(path: Path) -> list[int]:
    """What the last stage gives for a file: rows, persons, and sums by key."""
    data = nw.Dataset(str(path), "id", types={"id": "integer", "x": "number"})
    keys = nw.keys("k", ["A", "a", "B"])
    asked: list[Any] = [nw.count(), nw.ask.persons(), nw.ask.sum("x", bounds=(0, 100), step=1, by=keys)]
    asked.append(nw.ask.count(by=nw.keys("s", ["a plain text", "prose with an end\nof a line"]), name="texts"))
    layout = layout_of(asked, ContributionBounds(10**6, 2, False))
    return data._checked.true_aggregates(layout, 7)
