"""Laws that are constant on runs of lattice points: draw the run, then a point in it."""

from __future__ import annotations

from itertools import pairwise

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.balls import ceil_scaled, floor_scaled, precision
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.sample.uniform import WordStream, whole_below

_GUARD_BITS = 64

Bounds = list[tuple[int, int]]
"""Integers below and above each of a list of scaled probabilities."""


class Segments:
    """The cells of a piecewise law, numbered along the line: a law of integers in its own right.

    Cell 0 is the one that contains zero or the last one before it. Tails repeat for ever, so every
    integer has a cell.
    """

    def __init__(self, law: Piecewise, lattice: Lattice) -> None:
        self.law, self._lattice = law, lattice
        self._origin = sum(1 for b in law.breaks[1:-1] if b <= 0)
        self._edges = [int(b / lattice.step + lattice.edge) for b in law.breaks]
        self.period = int(law.period / lattice.step)
        self.body_cells = len(law.levels)
        self.longest = max(b - a for a, b in pairwise(self._edges))

    def start(self, s: int) -> int:
        """First lattice index of cell s; cell s ends where cell s + 1 begins."""
        return self.start_at(s + self._origin)

    def start_at(self, position: int) -> int:
        """The same by position: 0 is the first cell of the body."""
        last, turns = self.body_cells, 0
        if position > last:
            turns = -((last - position) // self.law.right_cells)
            position -= turns * self.law.right_cells
        elif position < 0:
            turns = position // self.law.left_cells
            position -= turns * self.law.left_cells
        return self._edges[position] + turns * self.period

    def within(self, first: int, last: int, limit: int) -> bool:
        """Whether all lattice indices of the cells `first` to `last` are below `limit` in size."""
        return -limit < self.start(first) and self.start(last + 1) < limit

    def body_within(self, limit: int) -> bool:
        """Whether the body and a period on either side of it are below `limit` in size."""
        return self.period - self._edges[0] < limit and self._edges[-1] + self.period < limit

    def point(self, s: int, stream: WordStream) -> int:
        """A uniform lattice index of cell s."""
        start = self.start(s)
        return start + whole_below(self.start(s + 1) - start, stream)

    def cdf(self, s: int, field: Field) -> Value:
        """P(the noise falls into cell s or below)."""
        return self.law.cdf(self._lattice.lower_edge(self.start(s + 1)), field)

    def sf(self, s: int, field: Field) -> Value:
        """P(the noise falls above cell s)."""
        return self.law.sf(self._lattice.lower_edge(self.start(s + 1)), field)

    def scaled_cdfs(self, first: int, last: int, bits: int) -> Bounds:
        """Integers around 2^bits F(s) for every s from `first` to `last`, by walking along the cells.

        Balls give F on the body. One period further out a tail is e^(-rate) times what it was; that
        is followed in integers of `_GUARD_BITS` more bits, one rounded down and one rounded up.
        """
        wide = bits + _GUARD_BITS
        body, fade = self._body(wide)
        one, cells = 1 << wide, len(body)
        low, high = first + self._origin, last + self._origin
        before = _faded(body[: self.law.left_cells][::-1], -low, fade, wide)[::-1]
        above = [(one - up, one - down) for down, up in body[cells - self.law.right_cells :]]
        after = [(one - up, one - down) for down, up in _faded(above, high - cells + 1, fade, wide)]
        walked = (before + body + after)[max(low, 0) :][: high - low + 1]
        return [(down >> _GUARD_BITS, -(-up >> _GUARD_BITS)) for down, up in walked]

    def _body(self, bits: int) -> tuple[Bounds, tuple[int, int]]:
        """Bounds of 2^bits F at the end of each cell of the body, and of 2^bits e^(-rate)."""
        law = self.law
        with precision(bits + _GUARD_BITS):
            total, below = law.mass_total(BALLS), law.cdf(law.breaks[0], BALLS)
            values = [BALLS.exp(BALLS.real(-law.rate))]
            for (start, end), level in zip(pairwise(law.breaks), law.levels, strict=True):
                below = below + law.weight(level, BALLS) * BALLS.real(end - start) / total
                values.append(below)
            fade, *body = [(floor_scaled(value, bits), ceil_scaled(value, bits)) for value in values]
        return body, fade


def segments_of(noise: Rounded) -> Segments | None:
    """The cells of a law that has them and whose jumps fall on the edges of the lattice's cells, else None."""
    law = noise.law.stepped(noise.lattice.step) if isinstance(noise.law, Laplace) else noise.law
    if isinstance(law, Piecewise) and law.aligned(noise.lattice.step, noise.lattice.edge):
        return Segments(law, noise.lattice)
    return None


def _faded(period: Bounds, count: int, fade: tuple[int, int], bits: int) -> Bounds:
    """The next `count` tails beyond one period of them, going outward."""
    down, up = fade
    walk = list(period)
    for i in range(count):
        low, high = walk[i]
        walk.append((low * down >> bits, -(-high * up >> bits)))
    return walk[len(period) :]
