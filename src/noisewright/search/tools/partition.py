"""Which numbers share norm-shaped noise: the best partition into blocks, in floats.

A block g of k numbers with budget e_g has total error c_g / e_g^q: for squared error q = 2 and
c_g = (k+1)(k+2)/3 * sum of w λ², for absolute error q = 1 and c_g = (k+1)/2 * sum of w λ. The best budgets are
proportional to c_g^(1/(q+1)), and then the whole error is (sum of c_g^(1/(q+1)))^(q+1) / epsilon^q. Numbers are
sorted by what they add to a block, and blocks are runs of that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.numerics.arrays import Floats


@dataclass(frozen=True, slots=True)
class Partition:
    """Blocks of places, the share of the budget that each gets, and the error at epsilon = 1."""

    blocks: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    error: float


def best_partition(sensitivities: Floats, weights: Floats, power: int) -> Partition:
    """The best runs of the numbers sorted by w λ^power; power is 2 (squared) or 1 (absolute error).

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
