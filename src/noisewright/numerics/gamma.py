"""The upper incomplete gamma function in floats, for searches; proofs ask for it in balls."""

from __future__ import annotations

import math

import numpy as np

from noisewright.numerics.arrays import Floats

_FEW, _TURN, _DEPTH, _FAR = 1024, 1.5, 120.0, 800.0


def gamma_tail(a: Floats, x: Floats) -> Floats:
    """The upper regularised incomplete gamma function Q(a, x) for x >= 0, in floats, to about twelve digits.

    Few places with a <= 1 do without scipy, whose import takes longer than they do.
    """
    if np.size(x) > _FEW or np.any(np.asarray(a) > 1):
        from scipy.special import gammaincc

        return np.asarray(gammaincc(a, x))
    return np.asarray(np.vectorize(one_gamma_tail, otypes=[np.float64])(a, x))


def one_gamma_tail(a: float, x: float) -> float:
    """At one place: near zero by the lower function, a series of positive terms, else by a continued fraction.

    Its n-th step leaves about e^(-4 sqrt(n x)), so that fewer are needed further out. Orders above 1 are left to scipy.
    """
    if a > 1:
        return float(gamma_tail(np.asarray(a), np.asarray(x)))
    if x <= 0 or x > _FAR:
        return float(x <= 0)
    if a == 0.5:
        return math.erfc(math.sqrt(x))
    front = math.exp(a * math.log(x) - x) / math.gamma(a)
    if x < _TURN:
        total = term = 1 / a
        n = 0
        while term > total * 2.0**-54:
            n += 1
            term *= x / (a + n)
            total += term
        return 1 - front * total
    steps = math.ceil(_DEPTH / x) + 2
    fraction = x + (2 * steps + 1) - a
    for n in range(steps, 0, -1):
        fraction = x + (2 * n - 1) - a - n * (n - a) / fraction
    return front / fraction
