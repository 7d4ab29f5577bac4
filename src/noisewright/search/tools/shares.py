"""Splitting a budget over numbers: closed forms for power laws, Lagrange multipliers for curves.

The constraint is that the `together` largest shares add up to at most the budget: all of them for a box, one
for a disjoint set. Where fewer move together than there are numbers, no share need be below a common level, so the
best shares are max(level, multiplier rule), and the level is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.numerics.bisection import first_true, geometric, turn
from noisewright.numerics.fields import Floats
from noisewright.search.tools.golden import golden

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
    budget = float(grid[-1])
    grid = grid / budget
    slopes = -np.diff(values) / np.diff(grid)
    # Rounding may wrinkle a flat curve; the rule needs slopes that fall.
    log_slopes = np.log(np.minimum.accumulate(np.maximum(slopes, 1e-300)))
    log_middles, log_costs = np.log(grid[1:] * grid[:-1]) / 2, np.log(costs)
    log_grid, log_values = np.log(grid), np.log(values)

    def rule(multiplier: float) -> Floats:
        wanted = -np.log(multiplier) - log_costs
        return np.asarray(np.exp(np.interp(wanted, log_slopes[::-1], log_middles[::-1])))

    def loss(shares: Floats) -> float:
        return float(np.sum(costs * np.exp(np.interp(np.log(shares), log_grid, log_values))))

    return best_level(rule, loss, len(costs), together) * budget


def best_level(rule: Callable[[float], Floats], loss: Callable[[Floats], float], count: int, together: int) -> Floats:
    """Shares max(level, rule(multiplier)) of a budget of 1 with the smallest loss."""
    if together == 1:
        return np.ones(count)
    if together == count:
        return _filled(rule, 0.0, together)

    def filled(level: float) -> Floats:
        return _filled(rule, level, together)

    level = golden(lambda level: loss(filled(level)), 0.0, 1 / together, _LEVELS)
    return min(filled(level), np.full(count, 1 / together), key=loss)


def _filled(rule: Callable[[float], Floats], level: float, together: int) -> Floats:
    """The largest multiplier whose shares still fit, by bisection on its logarithm."""

    def shares(log_multiplier: float) -> Floats:
        return np.maximum(level, rule(float(np.exp(log_multiplier))))

    with np.errstate(over="ignore"):
        return shares(first_true(lambda m: _spent(shares(m), level, together) <= 1, 700.0, -700.0, within=1e-10))


def _spent(shares: Floats, level: float, together: int) -> float:
    """The largest shares are those above the level; the rest of the places are filled at it."""
    return float(together * level + np.sum(shares - level))


def grid_shares(gains: Floats, grid: Floats, budget: float, together: int) -> Floats:
    """Shares from a grid (its first entry 0) that maximise the sum of gains; row i belongs to number i.

    For curves that are not concave: a Lagrange multiplier picks the best grid point of each number at or above the
    common level, and what is left goes to all in proportion.
    """
    count = len(gains)
    if together == 1:
        return np.full(count, budget)
    levels = np.zeros(1) if together == count else np.linspace(0, budget / together, _GRID_LEVELS)
    tried = (_priced(gains, grid, budget, together, float(level)) for level in levels)
    return max(tried, key=lambda shares: float(np.sum(_gained(gains, grid, shares))))


def _gained(gains: Floats, grid: Floats, shares: Floats) -> Floats:
    """What each number gains at the last grid point within its share."""
    return np.asarray(gains[np.arange(len(gains)), np.searchsorted(grid, shares * (1 + 1e-12), side="right") - 1])


def _priced(gains: Floats, grid: Floats, budget: float, together: int, level: float) -> Floats:
    start = int(np.searchsorted(grid, level, side="right")) - 1
    charge = np.maximum(grid[start:] - level, 0.0)

    def chosen(price: float) -> Floats:
        return np.asarray(np.maximum(grid[start + np.argmax(gains[:, start:] - price * charge, axis=1)], level))

    def affordable(price: float) -> bool:
        return _spent(chosen(price), level, together) <= budget

    dear, cheap = map(chosen, turn(affordable, 1e-12, 1e12, relative=1e-10, middle=geometric))
    # Numbers that jump at the same price are served one after the other while the rest of the budget lasts.
    extra, rest = dear - cheap, budget - _spent(cheap, level, together)
    worth = (_gained(gains, grid, dear) - _gained(gains, grid, cheap)) / np.maximum(extra, 1e-300)
    order = np.argsort(-worth, kind="stable")
    order = order[extra[order] > 0]
    served = order[np.cumsum(extra[order]) <= rest * (1 + 1e-12)]
    cheap[served] = dear[served]
    shares = np.maximum(cheap, budget * 1e-6 / together)
    largest = np.partition(shares, len(shares) - together)[-together:]
    return np.asarray(shares * (budget / float(np.sum(largest))))


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


@dataclass(frozen=True, slots=True)
class Partition:
    """Blocks of places, the share of the budget that each gets, and the error at epsilon = 1."""

    blocks: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    error: float


def best_partition(sensitivities: Floats, weights: Floats, power: int) -> Partition:
    """The best runs of the numbers sorted by w λ^power; power is 2 (squared) or 1 (absolute error).

    A block g of k numbers with budget e_g has total error c_g / e_g^q: for squared error q = 2 and
    c_g = (k+1)(k+2)/3 * sum of w λ², for absolute error q = 1 and c_g = (k+1)/2 * sum of w λ. The best budgets are
    proportional to c_g^(1/(q+1)), and then the whole error is (sum of c_g^(1/(q+1)))^(q+1) / epsilon^q.
    Valid for: positive sensitivities and weights. Time quadratic, memory linear in how many there are.
    """
    amounts = weights * sensitivities**power
    order = np.argsort(-amounts, kind="stable")
    starts = _runs(amounts[order] / amounts[order[0]], power)
    blocks = tuple(tuple(int(i) for i in order[a:b]) for a, b in zip(starts, [*starts[1:], len(order)], strict=True))
    return measured_partition(sensitivities, weights, power, blocks)


def measured_partition(
    sensitivities: Floats, weights: Floats, power: int, blocks: tuple[tuple[int, ...], ...]
) -> Partition:
    """A given partition with its best shares and its error at epsilon = 1."""
    amounts = weights * sensitivities**power
    roots = np.array([_factor(len(b), power) * amounts[list(b)].sum() for b in blocks]) ** (1 / (power + 1))
    return Partition(blocks, tuple(float(r) for r in roots / roots.sum()), float(roots.sum() ** (power + 1)))


def _factor(size: Any, power: int) -> Any:
    return (size + 1) * (size + 2) / 3 if power == 2 else (size + 1) / 2


def _runs(amounts: Floats, power: int) -> list[int]:
    """Where the best runs start: shortest path over the ends of runs."""
    count = len(amounts)
    sums = np.concatenate([[0.0], np.cumsum(amounts)])
    sizes = np.arange(count, 0, -1)
    root = np.cbrt if power == 2 else np.sqrt
    # lengths[count - j + i] belongs to the run from i to j, so that row j is one slice of it.
    lengths = root(_factor(sizes, power))
    best = np.zeros(count + 1)
    back = np.zeros(count + 1, dtype=np.int64)
    for j in range(1, count + 1):
        costs = root(sums[j] - sums[:j])
        costs *= lengths[count - j :]
        costs += best[:j]
        back[j] = int(costs.argmin())
        best[j] = costs[back[j]]
    starts = []
    j = count
    while j:
        j = int(back[j])
        starts.append(j)
    return starts[::-1]
