"""Splitting a budget over numbers: closed forms for power laws, Lagrange multipliers for curves.

The constraint is that the `together` largest shares add up to at most the budget: all of them for a box, one
for a disjoint set. Where fewer move together than there are numbers, no share need be below a common level, so the
best shares are max(level, multiplier rule), and the level is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.bisection import first_true, geometric, turn
from noisewright.search.tools.golden import golden

Floats = NDArray[np.float64]

_LEVELS = 18
_GRID_LEVELS = 9
_UNIT = 2**44


def power_shares(costs: Floats, exponent: float, together: int) -> Floats:
    """Shares t of a budget of 1 that minimise sum of cost / t^exponent."""
    roots = costs ** (1 / (exponent + 1))

    def rule(multiplier: float) -> Floats:
        return np.asarray(multiplier * roots)

    def loss(shares: Floats) -> float:
        return float(np.sum(costs / shares**exponent))

    return best_level(rule, loss, len(costs), together)


def curve_shares(costs: Floats, grid: Floats, values: Floats, together: int) -> Floats:
    """Shares of the budget grid[-1] that minimise sum of cost * value(t), value convex and falling.

    `values` are those of the curve on the increasing grid; between grid points its logarithm is
    taken as linear in that of t.
    """
    slopes = -np.diff(values) / np.diff(grid)
    middles = np.sqrt(grid[1:] * grid[:-1])
    # Rounding may wrinkle a flat curve; the rule needs slopes that fall.
    log_slopes = np.log(np.minimum.accumulate(np.maximum(slopes, 1e-300)))
    log_middles, log_costs = np.log(middles), np.log(costs)

    def rule(multiplier: float) -> Floats:
        wanted = -np.log(multiplier) - log_costs
        return np.asarray(np.exp(np.interp(wanted, log_slopes[::-1], log_middles[::-1])))

    log_grid, log_values = np.log(grid), np.log(values)

    def loss(shares: Floats) -> float:
        return float(np.sum(costs * np.exp(np.interp(np.log(shares), log_grid, log_values))))

    budget = float(grid[-1])
    return best_level(lambda m: rule(m) / budget, lambda s: loss(s * budget), len(costs), together) * budget


def best_level(rule: Callable[[float], Floats], loss: Callable[[Floats], float], count: int, together: int) -> Floats:
    """Shares max(level, rule(multiplier)) of a budget of 1 with the smallest loss."""
    if together == 1:
        return np.ones(count)
    if together == count:
        return _filled(rule, 0.0, count, together)

    def at(level: float) -> float:
        return loss(_filled(rule, level, count, together))

    level = golden(at, 0.0, 1 / together, _LEVELS)
    tried = [_filled(rule, level, count, together), np.full(count, 1 / together)]
    return min(tried, key=loss)


def _filled(rule: Callable[[float], Floats], level: float, count: int, together: int) -> Floats:
    """The largest multiplier whose shares still fit, by bisection on its logarithm."""

    def shares(log_multiplier: float) -> Floats:
        return np.maximum(level, rule(float(np.exp(log_multiplier))))

    def spent(values: Floats) -> float:
        # The largest shares are those above the level; the rest of the places are filled at it.
        return float(together * level + np.sum(values - level))

    with np.errstate(over="ignore"):
        return shares(first_true(lambda m: spent(shares(m)) <= 1, 700.0, -700.0, within=1e-10))


def grid_shares(gains: Floats, grid: Floats, budget: float, together: int) -> Floats:
    """Shares from a grid (its first entry 0) that maximise the sum of gains; row i belongs to number i.

    For curves that are not concave: a Lagrange multiplier picks the best grid point of each number at or above the
    common level, and what is left goes to all in proportion.
    """
    count = len(gains)
    if together == 1:
        return np.full(count, budget)
    levels = [0.0] if together == count else list(np.linspace(0, budget / together, _GRID_LEVELS))
    best: tuple[float, Floats] | None = None
    for level in levels:
        shares = _priced(gains, grid, budget, together, float(level))
        nearest = np.searchsorted(grid, shares * (1 + 1e-12), side="right") - 1
        total = float(np.sum(gains[np.arange(count), nearest]))
        if best is None or total > best[0]:
            best = (total, shares)
    assert best is not None
    return best[1]


def _priced(gains: Floats, grid: Floats, budget: float, together: int, level: float) -> Floats:
    start = int(np.searchsorted(grid, level, side="right")) - 1
    charge = np.maximum(grid[start:] - level, 0.0)

    def chosen(price: float) -> Floats:
        return np.asarray(np.maximum(grid[start + np.argmax(gains[:, start:] - price * charge, axis=1)], level))

    def spent(shares: Floats) -> float:
        return float(together * level + np.sum(shares - level))

    prices = turn(lambda p: spent(chosen(p)) <= budget, 1e-12, 1e12, relative=1e-10, middle=geometric)
    dear, cheap = map(chosen, prices)
    shares = _topped_up(gains, grid, cheap, dear, budget - spent(cheap))
    shares = np.maximum(shares, budget * 1e-6 / together)
    largest = np.partition(shares, len(shares) - together)[-together:]
    return np.asarray(shares * (budget / float(np.sum(largest))))


def _topped_up(gains: Floats, grid: Floats, cheap: Floats, dear: Floats, rest: float) -> Floats:
    """Numbers that jump at the same price, served one after the other while the rest of the budget lasts."""
    places = np.arange(len(gains))

    def gain(shares: Floats) -> Floats:
        return np.asarray(gains[places, np.searchsorted(grid, shares * (1 + 1e-12), side="right") - 1])

    extra = dear - cheap
    order = np.argsort(-(gain(dear) - gain(cheap)) / np.maximum(extra, 1e-300), kind="stable")
    order = order[extra[order] > 0]
    served = order[np.cumsum(extra[order]) <= rest * (1 + 1e-12)]
    shares = cheap.copy()
    shares[served] = dear[served]
    return shares


def exact_shares(shares: Floats, budget: Fraction, together: int, power: int = 1) -> list[Fraction]:
    """Rationals at or just below shares * budget, the `together` largest of which fit exactly.

    They have one common denominator, so that sums of thousands stay short. With power 2 it is the squares
    that add up to at most the square of the budget.
    """
    units = [max(1, round(float(s) * _UNIT)) for s in shares]
    while sum(n**power for n in sorted(units, reverse=True)[:together]) > _UNIT**power:
        # Ten times the accumulated rounding; a share of the whole budget stays whole.
        units = [max(1, n - 1 - int(n * 1e-13 * together)) for n in units]
    return [budget * n / _UNIT for n in units]
