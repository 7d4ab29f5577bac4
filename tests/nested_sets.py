"""Lopsided questions about several numbers, and what one person can do to their answers, told from the definitions.

A case is a set of differences, often groups of points, balls and boxes inside each other, with unlike noise on every
number: some of them whole, some real, and the dearest of them anywhere. Its moves are whole steps of the lattice; its
losses are sums over masses of cells, whose formulas are written here a second time. Where a ball has too many moves
some are left out, and losses are rounded down, so that a truth found here is never above the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import gammaincc

import noisewright as nw
from tests import brute

F, L, M = Fraction, nw.laws, nw.mechanisms
Steps = tuple[int, ...]
_LEAST = 1e-290
_MOST_MOVES = 400
HAIR = 1 - 1e-9


@dataclass(frozen=True)
class Part:
    """The noise of one number: a law, and the step of the lattice on which it is drawn."""

    law: Any
    step: Fraction

    @property
    def whole(self) -> bool:
        return isinstance(self.law, L.DiscreteLaplace | L.DiscreteGaussian)

    @property
    def slope(self) -> float:
        """About what a unit costs."""
        return 1 / float(self.law.period if isinstance(self.law, L.Piecewise) else _width(self.law))

    def steps(self, distance: float | Fraction) -> int:
        """The most steps between two answers that far apart; whole answers move by whole numbers."""
        return math.floor(distance) if self.whole else math.ceil(F(distance) / self.step)

    def made(self, exact: bool) -> Any:
        lattice = L.Lattice.integers() if self.whole else L.Lattice.cells(self.step)
        asked = nw.Scalar(self.step, integer=self.whole, exact=exact and not self.whole)
        return M.Additive(asked, self.law, lattice)


@dataclass(frozen=True)
class Case:
    """A set, and the noise of each of its numbers."""

    chosen: Any
    parts: tuple[Part, ...]

    def mechanism(self, *, exact: bool = False) -> Any:
        query = nw.Vector(self.chosen, integer=[part.whole for part in self.parts], exact=exact)
        return M.PerCoordinate(query, [part.made(query.exact) for part in self.parts])

    @property
    def moves(self) -> list[Steps]:
        """The moves, in steps, that no other move listed exceeds in every number."""
        return farthest(moves(self.chosen, self.parts))

    @property
    def has_ball(self) -> bool:
        return _has_ball(self.chosen)

    @property
    def most(self) -> int:
        """How many numbers one move changes."""
        return max(sum(map(bool, move)) for move in self.moves)


def _has_ball(chosen: Any) -> bool:
    if isinstance(chosen, nw.Groups):
        return any(map(_has_ball, chosen.sets))
    return isinstance(chosen, nw.L1Ball | nw.L2Ball | nw.LpBall)


def _width(law: Any) -> Fraction:
    return F(getattr(law, "std", None) or law.scale)


# The moves of a set.


def moves(chosen: Any, parts: Sequence[Part]) -> Iterator[Steps]:
    """Moves of the numbers of a set, by what the set means; not one move in a ball, but its far ones."""
    if isinstance(chosen, nw.Groups):
        yield from _moves_of_groups(chosen, parts)
    elif isinstance(chosen, nw.Points):
        for row in chosen.rows:
            yield tuple(part.steps(abs(d)) for part, d in zip(parts, row, strict=True))
    elif isinstance(chosen, nw.L1Ball | nw.L2Ball | nw.LpBall):
        yield from _moves_in_a_ball(chosen, parts)
    else:
        count = {nw.Box: len(parts), nw.Disjoint: 1, nw.Replace: 2}.get(type(chosen)) or chosen.changes
        far = [part.steps(d) for part, d in zip(parts, chosen.each, strict=True)]
        for moving in combinations(range(len(parts)), min(count, len(parts))):
            yield tuple(k if i in moving else 0 for i, k in enumerate(far))


def _moves_of_groups(chosen: Any, parts: Sequence[Part]) -> Iterator[Steps]:
    inside, start = list[list[Steps]](), 0
    for part in chosen.sets:
        end = start + len(part.extents)
        inside.append(farthest(moves(part, parts[start:end])))
        start = end
    for moving in combinations(range(len(inside)), chosen.at_most):
        options = [found if i in moving else [(0,) * len(found[0])] for i, found in enumerate(inside)]
        yield from (tuple(chain.from_iterable(joined)) for joined in product(*options))


def _moves_in_a_ball(chosen: Any, parts: Sequence[Part]) -> Iterator[Steps]:
    radius, order = float(chosen.radius), float(chosen.order)
    whole = [i for i, part in enumerate(parts) if part.whole]
    real = [i for i, part in enumerate(parts) if not part.whole]
    for landed in product(range(math.floor(radius) + 1), repeat=len(whole)):
        left = radius**order - math.fsum(float(k) ** order for k in landed)
        if left < -1e-9:
            continue
        found = dict(zip(whole, landed, strict=True))
        rest = max(0.0, left) ** (1 / order)
        for direction in _directions([parts[i].slope for i in real], order) if rest > 1e-6 else [[0.0] * len(real)]:
            # A number that moves by next to nothing may cross an edge of its lattice.
            steps = [parts[i].steps(HAIR * rest * u) for i, u in zip(real, direction, strict=True)]
            found.update(zip(real, steps, strict=True))
            yield tuple(found[i] for i in range(len(parts)))


def _directions(slopes: Sequence[float], order: float) -> Iterator[list[float]]:
    """Along each number, along some of them alike, and where costs of these slopes are largest; none of them 0."""
    count = len(slopes)
    rays = [[float(i in moving) for i in range(count)] for n in range(1, count + 1) for moving in _some(count, n)]
    for power in (1.0, 2.0, 0.5):
        rays.append([slope ** (power / max(order - 1, 0.2)) for slope in slopes])
    for ray in rays:
        size = math.fsum(v**order for v in ray) ** (1 / order) if count else 1.0
        yield [max(v / size * HAIR, 1e-12) for v in ray]


def _some(count: int, n: int) -> Iterable[tuple[int, ...]]:
    return combinations(range(count), n)


def farthest(found: Iterable[Steps]) -> list[Steps]:
    """Without the moves that another one exceeds or meets in every number."""
    kept: list[Steps] = []
    for move in sorted(set(found), key=lambda m: (-sum(m), m)):
        if not any(all(a >= b for a, b in zip(other, move, strict=True)) for other in kept):
            kept.append(move)
        assert len(kept) <= _MOST_MOVES
    return kept


# Losses of one number.


def _tail(law: Any) -> Callable[[np.ndarray], np.ndarray]:
    """P(noise > x) for x >= 0, by its textbook formula."""
    s = 1.0 if isinstance(law, L.Piecewise) else float(_width(law))
    match law:
        case L.Laplace():
            return lambda x: np.exp(-x / s) / 2
        case L.Gaussian():
            return lambda x: gammaincc(0.5, x**2 / (2 * s * s)) / 2
        case L.GeneralizedGaussian():
            return lambda x: gammaincc(1 / float(law.power), (x / s) ** float(law.power)) / 2
        case L.Logistic():
            return lambda x: 1 / (1 + np.exp(x / s))
        case L.HyperbolicSecant():
            return lambda x: 2 / math.pi * np.arctan(np.exp(-x / s))
        case L.TruncatedLaplace():
            end = float(law.bound)
            return lambda x: np.maximum(0, np.exp(-x / s) - math.exp(-end / s)) / (2 * -math.expm1(-end / s))
        case L.Piecewise():
            return _levels_tail(law)
    raise AssertionError(f"no second formula for {law!r}")


def _levels_tail(law: Any) -> Callable[[np.ndarray], np.ndarray]:
    start, end, height = brute.heights(law, brute.enough_turns(law))
    return lambda x: np.sum(height * np.clip(end - np.maximum(start, x[:, None]), 0, None), axis=1)


@lru_cache(maxsize=4096)
def masses(part: Part) -> np.ndarray:
    """Masses of the cells of a lattice, symmetric about the middle of the list."""
    if part.whole:
        s = float(_width(part.law))
        k = np.arange(0, math.ceil(60 * max(1.0, s)))
        half = np.exp(-k / s) if isinstance(part.law, L.DiscreteLaplace) else np.exp(-(k**2) / (2 * s * s))
        half = half[half > _LEAST]
        line = np.concatenate([half[:0:-1], half])
    else:
        width = float(part.step)
        cells = math.ceil(60 * max(1 / part.slope, float(getattr(part.law, "bound", 0))) / width)
        tail = _tail(part.law)(width * np.arange(cells + 1))
        half = tail[:-1] - tail[1:]
        half = half[half > (1e-13 if isinstance(part.law, L.Piecewise) else _LEAST)]
        line = np.concatenate([half[::-1], half])
    return line / math.fsum(line)


@lru_cache(maxsize=4096)
def pairs(part: Part, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """Chances of the cells, and of the same cells when the answer moved by so many steps; 0 beyond the list."""
    line, nothing = masses(part), np.zeros(shift)
    return np.concatenate([line, nothing]), np.concatenate([nothing, line])


def infinite(part: Part) -> bool:
    """Whether noise ends somewhere, so that a cell beyond its end tells everything."""
    return isinstance(part.law, L.TruncatedLaplace)


@lru_cache(maxsize=4096)
def losses(part: Part, shift: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Privacy losses, their chances, and the chance of an infinite one; cells in doubt are left out."""
    p, q = pairs(part, shift)
    both = (p > 0) & (q > 0)
    lost = math.fsum(p[q == 0]) if infinite(part) else 0.0
    return np.log(p[both] / q[both]), p[both], lost


@lru_cache(maxsize=4096)
def largest(part: Part, shift: int) -> float:
    """The largest loss."""
    values, _, _ = losses(part, shift)
    return float(np.max(np.abs(values)))


@lru_cache(maxsize=4096)
def divergence(part: Part, shift: int, alpha: float) -> float:
    """Of Renyi, of an order above 1."""
    values, chances, _ = losses(part, shift)
    logs = np.log(chances) + (alpha - 1) * values
    top = float(np.max(logs))
    return (top + math.log(math.fsum(np.exp(logs - top)))) / (alpha - 1)


# Losses of several numbers.


def together(parts: Sequence[Part], move: Steps, cell: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Values, chances and the chance of infinity of the sum of losses, each rounded down to a grid."""
    line, first, kept = np.ones(1), 0, 1.0
    for part, shift in zip(parts, move, strict=True):
        if not shift:
            continue
        values, chances, lost = losses(part, shift)
        clear = np.abs(values) < 80
        places = np.floor(values[clear] / cell + 1e-9).astype(int)
        lowest = int(places.min())
        line = np.maximum(0, fftconvolve(line, np.bincount(places - lowest, weights=chances[clear])))
        first, kept = first + lowest, kept * (1 - lost)
    return cell * (first + np.arange(len(line))), line, 1 - kept


def delta(parts: Sequence[Part], move: Steps, epsilon: float, cell: float) -> float:
    """The mean of (1 - e^(epsilon - loss))+, from below."""
    values, chances, lost = together(parts, move, cell)
    above = values > epsilon
    return lost + float(np.sum(chances[above] * -np.expm1(epsilon - values[above])))


def chance_above(parts: Sequence[Part], move: Steps, epsilon: float, cell: float) -> float:
    """The chance that the size of the loss exceeds epsilon, from below."""
    values, chances, lost = together(parts, move, cell)
    slack = cell * sum(map(bool, move))
    return lost + float(np.sum(chances[(values > epsilon) | (values < -epsilon - slack)]))
