"""Exact integer noise of any size without a table for each: discrete Laplace, and rounded Gaussian noise.

The binary digits of a geometric variable are independent: digit j is one with probability
1 / (1 + e^(2^j rate)). So a draw of mass proportional to e^(-rate |k|) is a few dozen coin flips, each decided by 64
random bits, or by more bits and balls where 64 leave it open; a scale of 2^50 costs no more than one of 100.

Of rounded Gaussian noise one uniform number U decides k = floor(std Z + 1/2) by
Phi((k - 1/2) / std) <= U < Phi((k + 1/2) / std). Floats guess k and check both sides with a margin that is proven;
what they leave open, more bits and balls decide.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.gaussian import RoundedNormal
from noisewright.numerics.balls import Ball, ball, ceil_scaled, floor_scaled, precision
from noisewright.numerics.fields import BALLS, Floats
from noisewright.sample.entropy import WordStream
from noisewright.sample.inversion import Indices, Inverter, put

_WORD = 64
_GUARD = 64
_TOP = 48.0
_CHUNK = 1 << 15
_LARGEST_DIGITS = 60


def flip(probability: Callable[[], Ball], u: int, bits: int, stream: WordStream) -> bool:
    """Whether a uniform number that starts with the given bits is below the probability, exactly."""
    while True:
        with precision(bits + _GUARD):
            value = probability()
            low, high = floor_scaled(value, bits), ceil_scaled(value, bits)
        if u + 1 <= low:
            return True
        if u >= high:
            return False
        u = (u << _WORD) | int(stream.words(1)[0])
        bits += _WORD


class TwoSided:
    """Draws of a two-sided geometric law whose rate is a positive real, given as a ball at any precision."""

    def __init__(self, rate: Callable[[], Ball]) -> None:
        self._rate = rate
        with precision(2 * _WORD):
            scale = float(rate().mid())
            self._digits = next(j for j in count() if 2.0**j * scale >= _TOP)
            ones = [self._one(j) for j in range(self._digits)]
            self._ends = [(np.uint64(floor_scaled(p, _WORD)), np.uint64(ceil_scaled(p, _WORD))) for p in ones]

    def draw(self, count: int, stream: WordStream) -> NDArray[np.int64] | NDArray[np.object_]:
        """`count` independent values."""
        parts = [self._part(min(_CHUNK, count - i), stream) for i in range(0, count, _CHUNK)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)  # type: ignore[return-value]

    def _part(self, count: int, stream: WordStream) -> NDArray[np.int64] | NDArray[np.object_]:
        values = self._magnitudes(count, stream)
        negative = stream.words(count) >= np.uint64(1 << 63)
        # Zero has no sign: of its two readings one is thrown away and drawn again.
        again = np.flatnonzero(negative & (values == 0))
        values[negative] = -values[negative]
        if len(again):
            values[again] = self._part(len(again), stream)
        return values

    def _magnitudes(self, count: int, stream: WordStream) -> NDArray[np.int64] | NDArray[np.object_]:
        large = self._digits > _LARGEST_DIGITS
        values = np.zeros(count, dtype=object if large else np.int64)
        for j, (low, high) in enumerate(self._ends):
            words = stream.words(count)
            ones = words < low
            for i in np.flatnonzero((words >= low) & (words < high)):
                ones[i] = flip(lambda j=j: self._one(j), int(words[i]), _WORD, stream)  # type: ignore[misc]
            values[ones] += 1 << j
        beyond = np.flatnonzero(stream.words(count) == 0)
        for i in beyond:
            # The part above all digits is a geometric variable too; it is nearly always zero.
            turns, u = 0, 0
            while flip(self._more, u, _WORD, stream):
                turns, u = turns + 1, int(stream.words(1)[0])
            if turns:
                values = values.astype(object)
                values[i] += turns << self._digits
        return values

    def _one(self, j: int) -> Ball:
        return 1 / (1 + (self._rate() * 2**j).exp())

    def _more(self) -> Ball:
        return (-self._rate() * 2**self._digits).exp()


_STEPS = 512
_REACH = 8
_WORD_BITS, _FLOAT_BITS = 64, 53
_MARGIN = 2.0**-50
_NORMAL_CHUNK = 1 << 18
_LARGEST = 2.0**50
_BITS = 128


@cache
def _table() -> Floats:
    """Phi and its first four derivatives, over factorials, at multiples of 1/512 from -8 to 8: nearest floats."""
    found = []
    with precision(_BITS):
        root = (2 * BALLS.pi()).sqrt()
        for j in range(-_REACH * _STEPS, _REACH * _STEPS + 1):
            x = ball(Fraction(j, _STEPS))
            density = (-x * x / 2).exp() / root
            below = (-x / ball(2).sqrt()).erfc() / 2
            row = (below, density, -x * density / 2, (x * x - 1) * density / 6, (3 * x - x**3) * density / 24)
            found.append([float(v.mid()) for v in row])
    return np.array(found)


def below(x: Floats) -> Floats:
    """Phi(x) in floats, for x within 8 of 0.

    Guarantees: within 2^-52 of Phi(y) for every y with |y - x| <= 2^-51 |x|.
    Rule: the nearest multiple of 1/512 is at most 2^-10 away, and the difference is exact; the fifth derivative is
    at most 1.2, so the series of degree four leaves less than 2^-56. Its first term is rounded by at most 2^-54, the
    other four and their sum, less than 2^-11 in size, by less than 2^-60, the last addition by 2^-54. Moving x by
    2^-51 |x| moves Phi by at most 2^-51 |x| phi(x), less than 2^-53. [theory#floats-that-decide]
    """
    place = np.rint(x * _STEPS)
    h = x - place / _STEPS
    c0, c1, c2, c3, c4 = _table().T.take(place.astype(np.int64) + _REACH * _STEPS, axis=1)
    return np.asarray(c0 + h * (c1 + h * (c2 + h * (c3 + h * c4))))


def normal_rows(level: Fraction, factors: NDArray[np.int64] | None, count: int, stream: WordStream) -> Indices:
    """`count` exact draws of rounded Gaussian noise; the variance of draw i is level * factors[i]."""
    result: Indices = np.empty(count, dtype=np.int64)
    for begin in range(0, count, _NORMAL_CHUNK):
        end = min(count, begin + _NORMAL_CHUNK)
        part = None if factors is None else factors[begin:end]
        result = put(result, slice(begin, end), _part(level, part, end - begin, stream))
    return result


def _part(level: Fraction, factors: NDArray[np.int64] | None, count: int, stream: WordStream) -> Indices:
    from scipy.special import ndtri

    words = stream.words(count)
    uniform = (words >> np.uint64(_WORD_BITS - _FLOAT_BITS)).astype(np.float64) * 2.0**-_FLOAT_BITS
    # Three roundings, of which the root halves two, and one more below: x is within 2^-51 of its true value.
    std = np.sqrt(float(level) * (np.ones(count) if factors is None else factors.astype(np.float64)))
    guess = np.floor(std * np.asarray(ndtri(uniform + 2.0**-54)) + 0.5)
    guess = np.where(np.abs(guess) < _LARGEST, guess, 0.0)
    low, high = (guess - 0.5) / std, (guess + 0.5) / std
    inside = (low > -_REACH) & (high < _REACH)
    low, high = np.where(inside, low, 0.0), np.where(inside, high, 0.0)
    # U lies in [uniform, uniform + 2^-53); the margin is four times what floats can be off, their sums included.
    sure = inside & (uniform - below(low) >= _MARGIN) & (below(high) - uniform >= _MARGIN + 2.0**-_FLOAT_BITS)
    result = guess.astype(np.int64)
    for i in np.flatnonzero(~sure):
        result = put(result, np.array([i]), [_exact(level * _factor(factors, int(i)), int(words[i]), stream)])
    return result


def _factor(factors: NDArray[np.int64] | None, i: int) -> int:
    return 1 if factors is None else int(factors[i])


def _exact(variance: Fraction, word: int, stream: WordStream) -> int:
    law: Any = RoundedNormal(variance)
    return Inverter(law).invert(word, _WORD_BITS, stream)
