"""Prefix sums of a stream, one count at a time: each row of a strategy is released once, when its last cell is known.

What is released by the end is one release of the strategy, so that all of it together costs one budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from noisewright.mechanisms.strategies.rows import BlockRows, DenseRows, EndlessRows
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy, prefix_sums
from noisewright.numerics.balls import precision
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, MechanismFileError
from noisewright.problem.fields import exact_text
from noisewright.problem.linear import checked_histogram
from noisewright.problem.numbers import Number
from noisewright.problem.untrusted import require_time
from noisewright.sample.drawers import drawer_for
from noisewright.sample.entropy import Entropy
from noisewright.sample.strategy import StrategyDrawer

_DEVIATIONS = {GaussianStrategy: 1.959963984540054, LaplaceStrategy: math.sqrt(4 / (9 * 0.05))}


class RowStream:
    """The rows of a strategy released as they are completed, and the sum of all counts that those so far tell."""

    def __init__(self, mechanism: Any, entropy: Entropy) -> None:
        if type(mechanism) not in _DEVIATIONS or not _in_time(mechanism):
            raise InvalidMechanismError(
                "a stream needs a strategy for prefix sums whose rows are known in the order of time, such as the"
                ' candidate "optimal, Gaussian" of nw.Workload.prefixes(n) for n up to 2048, or one with'
                " nw.mechanisms.EndlessRows(n) for longer streams."
            )
        self._mechanism, self._entropy = mechanism, entropy
        self._drawer: Any = drawer_for(mechanism)
        assert isinstance(self._drawer, StrategyDrawer)
        self._rows = mechanism.rows.whole() if isinstance(mechanism.rows, DenseRows) else None
        self._counts: list[int] = []
        self._measured: list[tuple[int, ...]] = []
        self._cells: list[float] = []
        self._blocks: list[tuple[int, float]] = []

    @property
    def time(self) -> int:
        """How many counts there were."""
        return len(self._counts)

    def push(self, count: Number) -> float:
        """The private sum of all counts so far, this one included."""
        mechanism = self._mechanism
        if self.time >= mechanism.query.size:
            raise InvalidAnswerError(f"the stream has had its {mechanism.query.size} counts; nothing more is released.")
        (whole,) = checked_histogram([count], 1)
        self._counts.append(whole)
        noisy = [self._noisy(group, value) for group, value in self._completed()]
        self._measured.append(tuple(noisy))
        return self._answer(noisy)

    @property
    def half_width(self) -> float:
        """How far the last answer is from the truth in 95 of 100 streams."""
        mechanism = self._mechanism
        with precision():
            noise = {group: float(mechanism.noise(group).mid()) for group in {0, *(group for group, _ in self._blocks)}}
        if self._rows is None:
            variance = sum(noise[group] for group, _ in self._blocks)
        else:
            last = np.linalg.solve(self._rows[: self.time, : self.time].T.astype(float), np.ones(self.time))
            variance = float(last @ last) * noise[0]
        return float(_DEVIATIONS[type(mechanism)] * math.sqrt(variance))

    @property
    def state(self) -> dict[str, Any]:
        """What was given and what was released, as plain data; private."""
        return {
            "counts": [str(v) for v in self._counts],
            "measured": [[str(v) for v in row] for row in self._measured],
        }

    def restore(self, counts: Sequence[Any], measured: Sequence[Any]) -> None:
        """Go on from a state: nothing is drawn again."""
        for count, released in zip(counts, measured, strict=True):
            require_time()
            self._counts += checked_histogram([exact_text(count)], 1)
            noisy = [_whole(value) for value in released]
            if len(noisy) != len(self._completed()):
                raise MechanismFileError("the stream has released other rows than its counts complete.")
            self._measured.append(tuple(noisy))
            self._answer(noisy)

    def _completed(self) -> list[tuple[int, int]]:
        """The group and the true sum of each row whose last cell came last."""
        now = self.time
        if self._rows is not None:
            row = self._rows[now - 1, :now]
            return [(0, sum(int(a) * x for a, x in zip(row, self._counts, strict=True)))]
        rows = self._mechanism.rows
        groups = (now & -now).bit_length() if isinstance(rows, EndlessRows) else rows.groups
        widths = [(group, self._width(group)) for group in range(groups)]
        return [(group, sum(self._counts[now - width : now])) for group, width in widths if now % width == 0]

    def _width(self, group: int) -> int:
        """How many counts a block of this group holds."""
        rows = self._mechanism.rows
        return int(2**group if isinstance(rows, EndlessRows) else rows.branching ** rows.levels[group])

    def _noisy(self, group: int, value: int) -> int:
        fine = np.array([value * self._mechanism.fineness], dtype=object)
        return int(self._drawer._noisy(group, fine, self._entropy.stream())[0])

    def _answer(self, noisy: list[int]) -> float:
        """The sum that the rows released so far say: cells one after the other, or the fewest blocks."""
        mechanism = self._mechanism
        if self._rows is not None:
            row = self._rows[self.time - 1]
            known = math.fsum(float(a) * x for a, x in zip(row, self._cells, strict=False))
            self._cells.append((noisy[0] / mechanism.fineness - known) / float(row[self.time - 1]))
            return math.fsum(self._cells)
        for (group, _), value in zip(self._completed(), noisy, strict=True):
            # A longer block takes the place of the shorter ones in it.
            left = self._width(group)
            while self._blocks and (last := self._width(self._blocks[-1][0])) <= left:
                left -= last
                self._blocks.pop()
            self._blocks.append((group, value / mechanism.fineness))
        return math.fsum(value for _, value in self._blocks)


def _whole(plain: Any) -> int:
    value = exact_text(plain)
    if value.denominator > 1:
        raise MechanismFileError("a stream releases whole numbers, and the file holds one that is none; refused.")
    return value.numerator


def _in_time(mechanism: GaussianStrategy | LaplaceStrategy) -> bool:
    """Whether the questions are prefix sums and each row looks at no cell after its own."""
    rows, factor = mechanism.rows, prefix_sums(mechanism.query)
    if factor is None:
        return False
    if isinstance(rows, BlockRows | EndlessRows):
        return True
    if not isinstance(rows, DenseRows) or rows.places != tuple(range(1, factor.size + 1)):
        return False
    matrix = rows.whole()
    return matrix.shape == (factor.size,) * 2 and bool(np.diagonal(matrix).all()) and not np.triu(matrix, 1).any()
