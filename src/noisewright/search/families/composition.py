"""What many equal releases cost together, in floats: where a search looks, never evidence (that is `accounting`).

The losses are those of a shift by one sensitivity, which is the worst one for symmetric noise that falls outward. Many
of them are added up by one Fourier transform. The law of a loss is tilted first, so that the sum comes out near the
epsilon that is asked about: a delta of 1e-15 then has as many digits as one of 1e-3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.numerics.arrays import Floats
from noisewright.numerics.bisection import first_true, geometric
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.search.families.calibration import power_tail

_TINY = 1e-18
_MOST_POINTS = 1_000_000
_FAR, _LEAST = 45.0, 1e-280
_POINTS_PER_SPREAD = 40
_POINTS_PER_SHIFT = 4
_BETWEEN = 64
_MOST_VALUES = 4096
_FEWEST_CELLS, _MOST_CELLS = 13, 20
_CELLS_PER_DEVIATION = 24
_DEVIATIONS = 24.0
_STEEPEST = 1e4
_SMALLEST_RATE = 1e-9


@dataclass(frozen=True, slots=True)
class Losses:
    """The privacy losses of one release with their masses, and the mass of an infinite loss."""

    values: Floats
    masses: Floats
    infinite: float = 0.0


def composed(losses: Losses, count: int, epsilon: float) -> float:
    """About the delta of so many releases at this epsilon."""
    lost = -math.expm1(count * math.log1p(-min(losses.infinite, 1 - _TINY)))
    if not len(losses.values) or count * float(losses.values.max()) <= epsilon:
        return lost
    tilt = mean_tilt(losses, epsilon / count)
    exponents = tilt * losses.values
    top = float(exponents.max())
    weights = losses.masses * np.exp(exponents - top)
    total = float(weights.sum())
    weights = weights / total
    mean = float(weights @ losses.values)
    spread = math.sqrt(max(float(weights @ (losses.values - mean) ** 2), 1e-300))
    seen = losses.values[weights > _TINY]
    window = max(_DEVIATIONS * math.sqrt(count) * spread, 2 * float(seen.max() - seen.min())) or 1.0
    wanted = math.ceil(math.log2(_CELLS_PER_DEVIATION * _DEVIATIONS * math.sqrt(count)))
    cells = 1 << min(max(wanted, _FEWEST_CELLS), _MOST_CELLS)
    excess = count * mean - epsilon + _grid(cells, window)
    sums = _summed((losses.values - mean) / (window / cells), weights, count, cells)
    above = excess > 0
    gains = sums[above] * np.exp(-tilt * excess[above]) * -np.expm1(-excess[above])
    scale = count * (math.log(total) + top) - tilt * epsilon
    return min(1.0, lost + math.exp(min(scale, 700.0)) * float(np.maximum(gains, 0.0).sum()))


def _grid(cells: int, window: float) -> Floats:
    places = np.arange(cells)
    return np.asarray(np.where(places < cells // 2, places, places - cells) * (window / cells))


def _summed(places: Floats, weights: Floats, count: int, cells: int) -> Floats:
    """Masses of the sum of so many of them; each is divided between two cells so that its mean stays."""
    low = np.floor(places)
    share = places - low
    index = low.astype(np.int64)
    line = np.bincount(index % cells, weights * (1 - share), cells) + np.bincount(
        (index + 1) % cells, weights * share, cells
    )
    return np.asarray(np.fft.irfft(np.fft.rfft(line) ** count, cells))


def mean_tilt(losses: Losses, target: float) -> float:
    """The tilt at which the mean loss is the target; none where it is above already."""

    def reached(tilt: float) -> bool:
        exponents = tilt * losses.values
        weights = losses.masses * np.exp(exponents - exponents.max())
        return float(weights @ losses.values) >= target * float(weights.sum())

    if reached(0.0):
        return 0.0
    high = 1.0
    while not reached(high) and high < _STEEPEST / max(target, 1e-9):
        high *= 2
    return first_true(reached, 0.0, high, relative=1e-6)


def pair(epsilon: float, delta: float = 0.0) -> Losses:
    """The losses of a release of which nothing is known but that it is (epsilon, delta)-private."""
    odds = math.exp(-epsilon)
    return Losses(np.array([epsilon, -epsilon]), (1 - delta) * np.array([1.0, odds]) / (1 + odds), delta)


def laplace_losses(epsilon: float) -> Losses:
    """Those of Laplace noise of scale 1 / epsilon: two atoms and what lies between them."""
    edges = np.linspace(-epsilon, epsilon, _BETWEEN + 1)
    between = np.diff(np.exp((edges - epsilon) / 2)) / 2
    values = np.concatenate([[epsilon, -epsilon], (edges[1:] + edges[:-1]) / 2])
    return Losses(values, np.concatenate([[0.5, math.exp(-epsilon) / 2], between]))


def stairs(epsilon: float, split: float) -> Losses:
    """Those of a staircase with this split: they have three values only."""
    b = math.exp(-epsilon)
    top = (1 - b) / (2 * (split + b * (1 - split)))
    up = 0.5 + min(split, 1 - split) * top
    even = abs(1 - 2 * split) * top * (b if split < 0.5 else 1.0)
    return Losses(np.array([epsilon, 0.0, -epsilon]), np.array([up, even, max(0.0, 1 - up - even)]))


def of_table(masses: Floats, shift: int) -> Losses:
    """Those of noise with these masses on consecutive points, shifted by so many of them."""
    moved = np.concatenate([masses[shift:], np.zeros(min(shift, len(masses)))])[: len(masses)]
    impossible = float(np.sum(masses[moved <= 0])) + max(0.0, 1 - float(np.sum(masses)))
    possible = (masses > 0) & (moved > 0)
    found = masses[possible]
    return _drawn_together(np.log(found) - np.log(moved[possible]), found, impossible if impossible > _TINY else 0.0)


def _drawn_together(values: Floats, masses: Floats, infinite: float) -> Losses:
    """The losses, those of a small cell at their mean where there are many."""
    if len(values) <= _MOST_VALUES:
        return Losses(values, masses, infinite)
    low, high = float(values.min()), float(values.max())
    cells = np.minimum((values - low) * (_MOST_VALUES / max(high - low, _TINY)), _MOST_VALUES - 1).astype(np.int64)
    weights: Floats = np.asarray(np.bincount(cells, masses, _MOST_VALUES), dtype=np.float64)
    seen = weights > 0
    means = np.bincount(cells, masses * values, _MOST_VALUES)[seen] / weights[seen]
    return Losses(np.asarray(means), weights[seen], infinite)


def of_law(law: Any, reach: float, spread: float) -> Losses:
    """Those of smooth noise of about this spread, shifted by the reach."""
    wide = spread > _POINTS_PER_SPREAD * reach
    per = max(_POINTS_PER_SHIFT, math.ceil(_POINTS_PER_SPREAD * reach / spread))
    step = spread / _POINTS_PER_SPREAD if wide else reach / per
    points = 64
    while points < _MOST_POINTS and float(law.sf(points * step, FLOATS)) > _TINY:
        points *= 2
    tails = tail_array(law, np.arange(points + 1, dtype=np.float64) * step)
    side = tails[:-1] - tails[1:]
    line = np.concatenate([side[::-1], side])
    return _between(line, reach / step) if wide else of_table(line, per)


def on_integers(falls: Callable[[Floats], Floats], rate: float, shift: int) -> Losses:
    """Those of noise whose mass at k and at -k is e^-falls(k) of that at 0, for falls of about rate k or faster."""
    k = np.arange(min(_MOST_POINTS, math.ceil(_FAR / rate)) + shift, dtype=np.float64)
    side = np.exp(-falls(k))
    line = np.concatenate([side[:0:-1], side])
    return of_table(line[line > _LEAST] / line.sum(), shift)


def _between(masses: Floats, shift: float) -> Losses:
    """Those of a shift by less than a point, from two derivatives of the logarithms of the masses."""
    found = masses[masses > 0]
    slopes = np.gradient(np.log(found))
    return Losses(-shift * (slopes + shift / 2 * np.gradient(slopes)), found)


@singledispatch
def tail_array(law: Any, x: Floats) -> Floats:
    """P(X > x) for each x >= 0, in floats."""
    return np.array([float(law.sf(float(v), FLOATS)) for v in x])


@tail_array.register
def _(law: Gaussian, x: Floats) -> Floats:
    return power_tail(x / (float(law.std) * math.sqrt(2)), np.asarray(2.0))


@tail_array.register
def _(law: GeneralizedGaussian, x: Floats) -> Floats:
    return power_tail(x / float(law.scale), np.asarray(float(law.power)))


@tail_array.register
def _(law: Logistic, x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.minimum(x / float(law.scale), 700.0))))


def largest_rate(fits: Callable[[float], bool], guess: float, tolerance: float) -> float:
    """The largest rate that fits, to a relative tolerance; the returned one was tried."""
    low, high = guess, guess
    while not fits(low):
        low, high = low / 2, low
        if low < _SMALLEST_RATE:
            raise InvalidPrivacyError("no noise of this family fits so many releases into the total.")
    while high <= low:
        high = low * 2
        if fits(high):
            low = high
    return first_true(fits, high, low, relative=tolerance, middle=geometric)


def first_guess(epsilon: float, delta: float, count: int) -> float:
    """About the epsilon of one release."""
    return epsilon / math.sqrt(count * (1 + 2 * math.log(1 / delta) * (count > 1)))


def pair_rate(epsilon: float, delta: float, count: int, tolerance: float = 1e-5) -> float:
    """The largest epsilon of each of so many purely private releases that fits the total, whatever they are."""
    guess = first_guess(epsilon, delta, count)
    found = largest_rate(lambda rate: composed(pair(rate), count, epsilon) <= delta, guess, tolerance)
    return max(found, epsilon / count)
