"""The parts of a plan added up on one grid, from above and from below."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from noisewright.accounting.above import ABOVE, dots, fitting
from noisewright.accounting.below import BELOW, SLACK, bins
from noisewright.accounting.grids import Leaf, level_of
from noisewright.accounting.lattice import Grid, Losses, power, product, together
from noisewright.accounting.releases import Pairs

_LARGEST_BELOW = 512
"""Losses beyond it take too many digits: masses as small as e^-loss are kept apart from below."""


def losses_above(leaves: Sequence[Leaf], grid: Grid) -> Losses:
    """Losses that are nowhere below the plan."""
    if not leaves:
        return Losses(0, 0, [1 << grid.mass_bits], 0, 0.0)
    return together([_power_above(profile, times, grid) for profile, times in leaves], grid, ABOVE)


@lru_cache(maxsize=512)
def _power_above(profile: Any, times: int, grid: Grid) -> Losses:
    one = dots(profile, grid, level_of(profile, grid), 16 ** -(-(times.bit_length()) // 4))
    return power(one, times, grid, ABOVE, 1)


def with_one_more(losses: Losses, leaves: Sequence[Leaf], grid: Grid) -> Losses:
    """Losses of a plan and more releases, by one product for each kind of them."""
    for profile, times in leaves:
        losses = product(losses, _power_above(profile, times, grid), grid, ABOVE, 1)
    return losses


def losses_below(pairs: Pairs, grid: Grid) -> Losses | None:
    """Losses that, each lowered by SLACK, are nowhere above the pair of neighbours; None where bounds are too rough."""
    if not pairs:
        return Losses(0, 0, [1 << grid.mass_bits], 0, 0.0)
    found = []
    for pair, profile, times in pairs:
        level, reached = fitting(profile, grid, level_of(profile, grid), grid.tail_bits + times.bit_length())
        cells = max(1, reached)
        if cells * grid.step(level) > _LARGEST_BELOW:
            return None
        one = bins(pair, grid, level, cells, profile.spread**2, profile.largest)
        if one is None:
            return None
        found.append(power(one, times, grid, BELOW, 1))
    return together(found, grid, BELOW)


def slack(times: int) -> Fraction:
    """By how much the losses of so many releases together have to be lowered."""
    return times * SLACK
