"""One of finitely many choices with exactly given weights."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, precision
from noisewright.sample.entropy import WordStream

_WORD = 64
_GUARD = 96


def choose(log_weights: Sequence[Fraction], stream: WordStream) -> int:
    """An index drawn with probability proportional to e^log_weight, exactly."""
    bits, u = _WORD, int(stream.words(1)[0])
    while True:
        lows, highs = _scaled_sums(log_weights, bits)
        k = bisect_left(lows, u + 1)
        if k == 0 or highs[k - 1] <= u:
            return k
        u = (u << _WORD) | int(stream.words(1)[0])
        bits += _WORD


def _scaled_sums(log_weights: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
    """Integers below and above 2^bits times the distribution function."""
    with precision(bits + _GUARD):
        top = max(log_weights)
        sums = list(accumulate(ball(value - top).exp() for value in log_weights))
        shares = [value / sums[-1] for value in sums[:-1]]
        # Rounding may make lower ends of nearly equal sums decrease by a unit; searching needs them in order.
        lows = list(accumulate((min(1 << bits, floor_scaled(s, bits)) for s in shares), max))
        highs = [ceil_scaled(s, bits) for s in shares]
    return [*lows, 1 << bits], [*highs, 1 << bits]
