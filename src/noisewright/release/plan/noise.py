"""Drawing the noise of a plan around its true numbers, and how far each released number is from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.release.plan.design import Block
from noisewright.release.plan.layout import Layout, Table
from noisewright.sample.entropy import Entropy


def drawn(blocks: Sequence[Block], layout: Layout, vector: Sequence[Any], entropy: Entropy | None = None) -> list[Any]:
    """The released numbers: each block answers its own table, in their order, or all of them."""
    if len(blocks) == 1 and blocks[0].table is None:
        return [int(value) for value in blocks[0].certified.release(list(vector), entropy=entropy)]
    found: list[tuple[Table, list[Any]]] = []
    for block, table, part in zip(blocks, layout.tables, layout.split(vector), strict=True):
        own = table.way.after(table, part, found)
        found.append((table, table.way.drawn(block.certified, table, own, entropy)))
    return [value for _, numbers in found for value in numbers]


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
            each = table.way.widths(blocks[place].certified, table, confidence)
        found.append([Fraction(value) for value in each])
    return found
