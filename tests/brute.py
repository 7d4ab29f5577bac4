"""Slow, obvious second ways of computing what the library computes cleverly. They share no code with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.piecewise import Piecewise

Cell = tuple[Fraction, Fraction, Fraction]


def level(law: Piecewise, x: Fraction) -> Fraction:
    """The level at x: step back period by period until x lies in the body, then look through the cells."""
    added = 0
    while x >= law.breaks[-1]:
        x, added = x - law.period, added + 1
    while x < law.breaks[0]:
        x, added = x + law.period, added + 1
    for i, value in enumerate(law.levels):
        if law.breaks[i] <= x < law.breaks[i + 1]:
            return value + added
    raise AssertionError("a body without gaps contains every point of it")


def jumps(law: Piecewise, low: Fraction, high: Fraction) -> list[Fraction]:
    """Every point strictly between low and high where the level may change."""
    found = {b for b in law.breaks if low < b < high}
    for n in range(1, math.ceil((high - low) / law.period) + abs(math.ceil((high + low) / law.period)) + 2):
        found |= {b + n * law.period for b in law.breaks[-1 - law.right_cells :] if low < b + n * law.period < high}
        found |= {b - n * law.period for b in law.breaks[: law.left_cells + 1] if low < b - n * law.period < high}
    return sorted(found)


def cells(law: Piecewise, low: Fraction, high: Fraction) -> Iterator[Cell]:
    """(start, end, level) between two points."""
    edges = [low, *jumps(law, low, high), high]
    for a, b in pairwise(edges):
        yield a, b, level(law, (a + b) / 2)


def density_of(law: Any) -> Any:
    """A law of real noise; a law of integers as the density that is constant around each whole number."""
    return law.stepped() if isinstance(law, DiscreteLaplace) else law


def privacy_loss(law: Any, reach: Fraction) -> Fraction:
    """Largest log-ratio of the density over shifts up to `reach`: every pair of cells that are closer than it."""
    if isinstance(law, Laplace | DiscreteLaplace):
        return reach / law.scale
    margin = reach + 2 * law.period
    near = list(cells(law, law.breaks[0] - margin, law.breaks[-1] + margin))
    worst = Fraction(0)
    for i, (_, end, value) in enumerate(near):
        for start, _, other in near[i:]:
            if start - end < reach:
                worst = max(worst, abs(value - other))
    return worst * law.rate


def shift_loss(law: Piecewise, shift: Fraction) -> Fraction:
    """Largest log-ratio for one shift: at a point of every piece on which both densities are constant."""
    margin = abs(shift) + 2 * law.period
    low, high = law.breaks[0] - margin, law.breaks[-1] + margin
    edges = sorted({low, high, *jumps(law, low, high), *(x - shift for x in jumps(law, low, high))})
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    return max(level(law, x + shift) - level(law, x) for x in middles) * law.rate


def heights(law: Piecewise, turns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, ends and heights of all cells within `turns` periods of the body, of total mass 1."""
    rate, period = float(law.rate), float(law.period)
    body = np.array([[float(a), float(b), float(v)] for a, b, v in _body(law)])
    parts = [body]
    for n in range(1, turns + 1):
        parts.append(body[-law.right_cells :] + [n * period, n * period, n])
        parts.append(body[: law.left_cells] + [-n * period, -n * period, n])
    start, end, value = np.concatenate(parts).T
    height = np.exp(-rate * value)
    return start, end, height / math.fsum(height * (end - start))


def _body(law: Piecewise) -> Iterator[Cell]:
    yield from zip(law.breaks[:-1], law.breaks[1:], law.levels, strict=True)


def enough_turns(law: Piecewise, power: float = 0.0) -> int:
    """So many periods that what lies beyond cannot be seen in floats."""
    return math.ceil((45 + 8 * power) / float(law.rate)) + 5


def power_mean(law: Piecewise, power: float, *, signed: bool = False) -> float:
    """E |X|^power, or E sign(X) |X|^power, cell by cell."""
    start, end, height = heights(law, enough_turns(law, power))
    q = power + 1

    def primitive(x: np.ndarray) -> np.ndarray:
        return np.abs(x) ** q / q * (1.0 if signed else np.sign(x))

    return math.fsum(height * (primitive(end) - primitive(start)))


def lattice_mean(mass: Callable[[int], float], loss: Callable[[float], float], reach: int) -> float:
    """Sum over whole k of loss(k) times the mass of k."""
    return math.fsum(loss(float(k)) * mass(k) for k in range(-reach, reach + 1))
