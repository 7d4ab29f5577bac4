"""How finely released values are spaced: a round number of steps to the sensitivity."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility

STEPS_PER_SCALE = 1000
_LARGEST_ALIGNED = 20_000


def on_cells(
    query: Scalar, law: Any, spread: Fraction | float, utility: Utility | None = None, per_spread: int = STEPS_PER_SCALE
) -> Additive:
    """The law on a lattice of about so many steps to its spread; a jump of the loss falls on an edge where it can."""
    steps = round_number(per_spread * query.sensitivity / spread)
    for edge in utility.edges if utility else ():
        steps = aligned(steps, edge / query.sensitivity)
    return Additive(query, law, Lattice.cells(query.sensitivity / steps))


def aligned(steps: int, within: Fraction, most: int = _LARGEST_ALIGNED) -> int:
    """At least so many steps, of which `within` is a whole number where that takes no giant lattice."""
    unit = within.denominator
    return unit * -(-steps // unit) if unit <= most else steps


def round_number(least: Fraction | float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`."""
    size = 1
    while True:
        for digit in (1, 2, 5):
            if digit * size >= least:
                return digit * size
        size *= 10
