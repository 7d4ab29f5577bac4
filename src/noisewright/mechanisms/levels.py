"""Symmetric weights on the whole numbers that fall in levels, with their sums in closed form.

The weights are a stack of slabs: slab i holds `heights[i] - heights[i + 1]` at every j with |j| <= top + i period.
Every sum over the weights is a sum over slabs, of which those that end before a place and those that pass it are added
up once. So nothing here takes longer for wide levels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise


@dataclass(frozen=True)
class Levels:
    """Weight `heights[0]` up to |j| = top, then one level lower after every `period`; the last height is not counted.

    `heights` fall and there are at least two; each weight is counted above the last of them.
    """

    heights: tuple[int, ...]
    top: int
    period: int

    @cached_property
    def ends(self) -> list[int]:
        """The largest j of each slab."""
        return [self.top + i * self.period for i in range(len(self.heights) - 1)]

    @cached_property
    def slabs(self) -> list[int]:
        """What each slab adds to every weight it covers."""
        return [high - low for high, low in pairwise(self.heights)]

    @property
    def reach(self) -> int:
        """Beyond it there is no weight."""
        return self.ends[-1]

    @cached_property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(slab * (2 * end + 1) for slab, end in zip(self.slabs, self.ends, strict=True))

    @cached_property
    def _passing(self) -> list[tuple[int, int, int]]:
        """From slab i on: the sums of slab, slab * end and slab * end^2."""
        parts = [(slab, slab * end, slab * end * end) for slab, end in zip(self.slabs, self.ends, strict=True)]
        return list(zip(*(_from_each(column) for column in zip(*parts, strict=True)), strict=True))

    @cached_property
    def _pyramids(self) -> list[int]:
        """Before slab i: the sum of slab * (1^2 + … + end^2)."""
        return list(accumulate((s * pyramid(end) for s, end in zip(self.slabs, self.ends, strict=True)), initial=0))

    def height(self, j: int) -> int:
        """The whole height at j, the last one included."""
        return self.heights[min(max(0, -((self.top - abs(j)) // self.period)), len(self.heights) - 1)]

    def beyond(self, d: int) -> int:
        """The sum of the weights of all j > d, for d >= 0."""
        slab, first, _ = self._passing[bisect_right(self.ends, d)]
        return first - d * slab

    def excess(self, d: int) -> int:
        """The sum of (j - d) times the weight of j over all j > d, for d >= 0."""
        slab, first, second = self._passing[bisect_right(self.ends, d)]
        return (second + first * (1 - 2 * d) + slab * d * (d - 1)) // 2

    def squares(self, d: int) -> int:
        """The sum of min(j, d)^2 times the weight of j over all j > 0, for d >= 0."""
        i = bisect_right(self.ends, d)
        slab, first, _ = self._passing[i]
        return self._pyramids[i] + slab * pyramid(d) + d * d * (first - d * slab)


def pyramid(n: int) -> int:
    """1^2 + … + n^2."""
    return n * (n + 1) * (2 * n + 1) // 6


def _from_each(column: Iterable[int]) -> list[int]:
    """The sums of a column from each of its places on, and 0 after the last."""
    return list(accumulate(reversed(list(column)), initial=0))[::-1]
