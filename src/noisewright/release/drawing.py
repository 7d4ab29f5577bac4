"""Drawing the noise of a plan around its true numbers, and how far each released number is from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.release.design import Block
from noisewright.release.layout import Layout
from noisewright.sample.uniform import Entropy


def drawn(blocks: Sequence[Block], layout: Layout, vector: Sequence[int], entropy: Entropy | None = None) -> list[int]:
    """The released numbers: each block answers its own, groups of a table independently of one another."""
    if len(blocks) == 1 and blocks[0].table is None:
        return [int(value) for value in blocks[0].certified.release(list(vector), entropy=entropy)]
    parts = layout.split(vector)
    found: list[int] = []
    for block in blocks:
        table, own = layout.tables[block.table or 0], parts[block.table or 0]
        width = len(table.numbers)
        if width == 1:
            answers: Any = block.certified.release_many(list(own), entropy=entropy)
            found += [int(value) for value in answers]
        else:
            rows = [list(own[start : start + width]) for start in range(0, len(own), width)]
            for row in block.certified.release_many(rows, entropy=entropy):
                found += [int(value) for value in row]
    return found


def widths(blocks: Sequence[Block], layout: Layout, confidence: Fraction) -> list[list[Fraction]]:
    """By table, how far each number of a group is from the truth with a confidence, checked by `half_width`."""
    found = []
    joint = blocks[0].certified.half_width(confidence) if blocks[0].table is None else None
    start = 0
    for place, table in enumerate(layout.tables):
        width = len(table.numbers)
        if joint is not None:
            group = joint[start : start + table.count]
            # Every group of a table has the same set and weights, but a search may treat them apart.
            each = [max(group[i::width]) for i in range(width)]
            start += table.count
        else:
            own = blocks[place].certified.half_width(confidence)
            each = list(own) if isinstance(own, tuple) else [own]
        found.append([Fraction(value) for value in each])
    return found
