"""Exact draws of rounded Gaussian noise of many different variances, without a table for each.

One uniform number U decides k = floor(std Z + 1/2) by Phi((k - 1/2) / std) <= U < Phi((k + 1/2) / std). Floats guess k
and check both sides with a margin that is proven; what they leave open, more bits and balls decide.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.rounded_normal import RoundedNormal
from noisewright.numerics.balls import ball, precision
from noisewright.numerics.fields import BALLS, Floats
from noisewright.sample.refine import Inverter
from noisewright.sample.table import Indices, put
from noisewright.sample.uniform import WordStream

_STEPS = 512
_REACH = 8
_WORD_BITS, _FLOAT_BITS = 64, 53
_MARGIN = 2.0**-50
_CHUNK = 1 << 18
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
    for begin in range(0, count, _CHUNK):
        end = min(count, begin + _CHUNK)
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
