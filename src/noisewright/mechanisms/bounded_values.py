"""What a bounded mechanism costs: its squared error over all answers, rounding and mixing included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from noisewright.mechanisms.worst_cases import highest
from noisewright.numerics.balls import Ball, ball, hull, lower, precision, upper
from noisewright.numerics.fields import BALLS

_BITS = 128


@dataclass(frozen=True, slots=True)
class Profile:
    """Bias and mean squared error at every grid input, each between two rationals."""

    inputs: tuple[Fraction, ...]
    bias: tuple[tuple[Fraction, Fraction], ...]
    error: tuple[tuple[Fraction, Fraction], ...]

    @property
    def largest_bias(self) -> float:
        """The bias that is farthest from zero, with its sign; 0 where none can be told from zero."""
        middles = [float(low + high) / 2 for low, high in self.bias if low > 0 or high < 0]
        return max(middles, key=abs, default=0.0)

    def at(self, x: Fraction, side: int) -> Fraction:
        """Lower (0) or upper (1) end of the mean squared error at any answer."""
        i = max(k for k in range(len(self.inputs) - 1) if self.inputs[k] <= x)
        share = (x - self.inputs[i]) / (self.inputs[i + 1] - self.inputs[i])
        a, c, bend = self._cell(i, side)
        return (1 - share) * a + share * c + share * (1 - share) * bend

    def worst(self, side: int) -> Fraction:
        """Lower or upper end of the largest mean squared error over all answers."""
        return max(highest(*self._cell(i, side)) for i in range(len(self.inputs) - 1))

    def average(self, side: int) -> Fraction:
        """Lower or upper end of the mean squared error averaged evenly over the input range."""
        total = Fraction(0)
        for i in range(len(self.inputs) - 1):
            a, c, bend = self._cell(i, side)
            total += (self.inputs[i + 1] - self.inputs[i]) * ((a + c) / 2 + bend / 6)
        return total / (self.inputs[-1] - self.inputs[0])

    def between(self, end: Callable[[int], Fraction]) -> Ball:
        """A ball around what lies between a lower (0) and an upper (1) end."""
        with precision(_BITS):
            return hull(ball(end(0)), ball(end(1)))

    def _cell(self, i: int, side: int) -> tuple[Fraction, Fraction, Fraction]:
        """Errors at both ends of cell i and what mixing adds: share (1 - share) times the last."""
        d = self.inputs[i + 1] - self.inputs[i]
        rise = self.bias[i + 1][side] - self.bias[i][1 - side]
        return self.error[i][side], self.error[i + 1][side], d * d + 2 * d * rise


@lru_cache(maxsize=64)
def profile_of(mechanism: Any) -> Profile:
    """The error of every row, in balls; remembered for mechanisms that were asked for lately."""
    bias, error = [], []
    with precision(_BITS):
        for i in range(mechanism.grid.last + 1):
            b, e = mechanism.moments(i, BALLS)
            bias.append((lower(b), upper(b)))
            error.append((lower(e), upper(e)))
    return Profile(mechanism.grid.points, tuple(bias), tuple(error))
