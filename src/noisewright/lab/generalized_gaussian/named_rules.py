"""Scales by the generalized-Gaussian paper's own rules, as printed and corrected; in floats, for comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.generalized_gaussian.sensitivities import paired
from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidQueryError, UncertifiedError
from noisewright.problem.numbers import Number, parameter
from noisewright.proof.approximate import BITS

_CELLS = 2_000
_TINY = 1e-13
_ROUGH = 1e-4


def corollary_nine_scale(power: int, sensitivity: float, epsilon: float, delta: float, *, printed: bool) -> float:
    """Smallest scale with P(sum_j C(p, j) |e|^(p-j) d^j > b^p epsilon) < delta; as printed d is not raised to j."""

    def excess(size: float) -> float:
        terms = (math.comb(power, j) * size ** (power - j) for j in range(1, power + 1))
        return sum(t * (sensitivity if printed else sensitivity**j) for j, t in enumerate(terms, start=1))

    def chance(scale: float) -> float:
        level = scale**power * epsilon
        if excess(0.0) >= level:
            return 1.0
        edge = _smallest(lambda x: excess(x) > level, scale)
        return _tail(edge / scale, power)

    return _smallest(lambda scale: chance(scale) < delta, sensitivity)


def proposition_eight_delta(power: int, scale: float, sensitivities: Sequence[float], epsilon: float) -> float:
    """P(sum over k, j < p of C(p, j) |e_k|^(p-j) d_k^j > b^p epsilon - sum d_k^p), each part rounded up to a grid.

    The left side of Proposition 8 with Lemma 2's bound for the sensitivity, as a pessimistic convolution.
    """
    level = scale**power * epsilon - sum(d**power for d in sensitivities)
    if level <= 0:
        return 1.0
    width = level / _CELLS
    total: NDArray[np.float64] = np.zeros(_CELLS + 2)
    total[0] = 1.0
    for d in sensitivities:
        total = _convolved(total, _part(power, scale, d, width))
    return float(min(1.0, total[-1]))


def proposition_eight_scale(power: int, sensitivities: Sequence[float], epsilon: float, delta: float) -> float:
    """Smallest scale that Proposition 8 allows."""
    return _smallest(
        lambda scale: proposition_eight_delta(power, scale, sensitivities, epsilon) < delta,
        max(sensitivities),
        _ROUGH,
    )


def gaussian_printed_std(sensitivity: float, epsilon: float, delta: float) -> float:
    """The standard deviation of Equation 17."""
    from scipy.special import ndtri

    quantile = float(ndtri(delta / 2))
    return sensitivity / (2 * epsilon) * (math.sqrt(quantile**2 + 2 * epsilon) - quantile)


def gaussian_classical_std(sensitivity: float, epsilon: float, delta: float) -> float:
    """The standard deviation of Equation 18, stated for epsilon below 1."""
    return sensitivity / epsilon * math.sqrt(2 * math.log(1.25 / delta))


def truncated_printed_scale(
    power: int, widths: Sequence[float], sensitivities: Sequence[float], epsilon: float
) -> float:
    """The scale of Equations 7 and 8 for noise in a range."""
    total = sum(
        math.comb(power, j) * width ** (power - j) * d**j
        for width, d in zip(widths, sensitivities, strict=True)
        for j in range(1, power + 1)
    )
    return float((2 * total / epsilon) ** (1 / power))


def _part(power: int, scale: float, d: float, width: float) -> NDArray[np.float64]:
    """Masses of one coordinate's sum on the grid, rounded up; the last entry is everything beyond."""
    sizes = np.zeros(_CELLS + 1)
    sizes[-1] = _smallest(lambda x: _inner(power, x, d) > width * _CELLS, scale)
    fine = np.linspace(0.0, sizes[-1], 20 * _CELLS)
    values = np.array([math.comb(power, j) * fine ** (power - j) * d**j for j in range(1, power)]).sum(axis=0)
    edges = np.interp(np.arange(_CELLS + 1) * width, values, fine)
    from scipy.special import gammaincc

    tails = gammaincc(1 / power, (edges / scale) ** power)
    masses = np.zeros(_CELLS + 2)
    masses[1:-1] = tails[:-1] - tails[1:]
    masses[-1] = tails[-1]
    return masses


def _inner(power: int, size: float, d: float) -> float:
    return sum(math.comb(power, j) * size ** (power - j) * d**j for j in range(1, power))


def _convolved(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    size = len(a) - 1
    length = 2 * size
    inner = np.fft.irfft(np.fft.rfft(a[:-1], length) * np.fft.rfft(b[:-1], length), length)
    kept = np.maximum(inner[:size], 0.0)
    return np.concatenate([kept, [max(0.0, 1 - float(np.sum(kept)))]])


def lemma_ten_bound(bounds: Sequence[tuple[Number, Number]], sensitivities: Sequence[Number], power: int) -> Fraction:
    """The most that one person changes -||c - s||_p^p, as Lemma 10 prints it; for whole powers."""
    if power < 1 or int(power) != power:
        raise InvalidQueryError(f"power is {power}; Lemma 10 is for whole powers from 1 on.")
    pairs = paired(bounds, sensitivities)
    if power == 1:
        return sum((reach for reach, _ in pairs), Fraction(0))
    if power == 2:
        return 2 * sum((reach * (high - low) for reach, (low, high) in pairs), Fraction(0))
    total = Fraction(0)
    for reach, (low, high) in pairs:
        largest = max(abs(low), abs(high))
        for j in range(1, power + 1):
            rest = largest - reach
            moved = largest**j - (rest**j if j % 2 else max(Fraction(0), rest) ** j)
            total += math.comb(power, j) * largest ** (power - j) * moved
    return total


def _tail(x: float, power: int) -> float:
    from scipy.special import gammaincc

    return float(gammaincc(1 / power, x**power))


def _smallest(holds: Callable[[float], bool], unit: float, tolerance: float = _TINY) -> float:
    """The point from which a property holds, by bisection in floats."""
    high = unit
    while not holds(high):
        high *= 2
    low = high / 2
    while holds(low) and low > unit * 1e-9:
        low /= 2
    return first_true(holds, low, high, relative=tolerance)


def corollary_nine_delta(law: GeneralizedGaussian, epsilon: Number, sensitivity: Number) -> Fraction:
    """Delta of disjoint queries by Corollary 9 with the lost exponent restored, from above.

    Rule: P(sum over j of C(p, j) |e|^(p-j) d^j > b^p epsilon) = P((|e| + d)^p - |e|^p > b^p epsilon), which is
    2 SF(t) with t where the log-ratio passes epsilon. At least the exact delta SF(t) + SF(t + d).
    [Liu19, theory#the-privacy-profile-of-one-number]
    Valid for: whole powers from 2 on; raises UncertifiedError otherwise.
    """
    if law.power < 2 or law.power.denominator != 1:
        raise UncertifiedError("Corollary 9 is for whole powers from 2 on.")
    around = law.crossing(parameter(epsilon, "epsilon"), parameter(sensitivity, "sensitivity"))
    if around is None or around[0] < 0:
        return Fraction(1)
    with precision(BITS):
        return min(Fraction(1), upper(2 * law.sf(around[0], BALLS)))
