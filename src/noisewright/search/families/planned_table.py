"""The law of cells that is best for a plan of many releases: a convex programme for the losses near the total.

For delta at epsilon of many releases the mean of e^(tilt * loss) counts, at the tilt for which losses add up to about
epsilon. At a fixed tilt the law that costs least at a price of that mean is a convex programme; the price is the least
that keeps the plan to its total, and the tilt is that of the law that was found before. In floats, as all of `planned`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import Floats
from noisewright.search.families.composition import mean_tilt, of_table
from noisewright.search.families.planned import Candidate, Plan, on_table
from noisewright.search.programmes.approximate import Grid, cell_costs, cheapest_at_tilt

_TOLERANCE = 1e-5
_COARSE = 1e-3
_MOST_CELLS = 4_000
_FEWEST = 4
"""In a shorter plan purely private noise is hard to beat."""
_DEVIATIONS = 9.0
_WEIGHT_BITS = 160
_NEGLIGIBLE = 1e-3
_TILTS, _STEEPEST = 8, 1e3
_PRICE, _MOST_PRICES = 0.5, 20
_STEEPNESS = 25
"""About how much faster delta falls than the noise grows."""


def tailored_for(plan: Plan) -> Iterator[Candidate]:
    """The law of cells that a convex programme finds for the plan itself; a rate below 1 asks for less delta."""
    query, reach = plan.query, plan.query.sensitivity
    if plan.utility.confidence is not None or (query.integer and reach > 1):
        return
    spread = float(plan.std / reach)
    per = 1  # smaller cells would be linked by the whole sensitivity only, and could become a comb
    cells = math.ceil(_DEVIATIONS * spread * per)
    if not 2 <= cells <= _MOST_CELLS or plan.count < _FEWEST:
        return
    grid = Grid(per, cells, HALF if query.integer else Fraction(0))
    start = np.exp(-(((np.arange(cells) + 0.5 - float(grid.edge)) / (per * spread)) ** 2) / 2)
    search = _Tailor(plan, grid, cell_costs(grid, query, plan.utility))
    found = search.best(search.line(start))
    if found is None:
        return
    width = Fraction(1) if query.integer else reach / per
    least = float(plan.privacy.delta) / plan.count * _NEGLIGIBLE

    def made(rate: float) -> Additive:
        line = found[0] if rate == 1 else search.priced(*found, rate**_STEEPNESS)
        law = Tabulated(width, _weights((found[0] if line is None else line)[-cells:], least), grid.edge)
        return on_table(query, law, float(plan.std))

    yield Candidate("tailored for the plan", 6, 1.0, made)


@dataclass(frozen=True, slots=True)
class _Tailor:
    """The search for the masses on a line of cells that cost least in a plan."""

    plan: Plan
    grid: Grid
    costs: Floats

    def line(self, half: Floats) -> Floats:
        """Both sides of it, of mass one where they are masses."""
        return np.asarray(np.concatenate([half[:0:-1] if self.grid.edge else half[::-1], half]))

    def best(self, start: Floats) -> tuple[Floats, float] | None:
        """The cheapest masses found, and their tilt: each is that of the masses before."""
        masses, found, least = start / start.sum(), None, math.inf
        for _ in range(_TILTS):
            tilt = mean_tilt(of_table(masses, self.grid.per), float(self.plan.privacy.epsilon) / self.plan.count)
            if not 0 < tilt < _STEEPEST:
                break
            priced = self.priced(masses, tilt, 1.0)
            cost = math.inf if priced is None else float(priced @ self.line(self.costs))
            if priced is None or cost > least * (1 - _TOLERANCE):
                break
            masses, least, found = priced, cost, (priced, tilt)
        return found

    def priced(self, masses: Floats, tilt: float, share: float) -> Floats | None:
        """The cheapest masses at a tilt whose plan stays within this share of delta: the price of losses decides."""
        costs, shift, target = self.line(self.costs), self.grid.per, share * self.plan.target
        held: list[Floats] = []

        def holds(log_price: float) -> bool:
            tried = cheapest_at_tilt(held[-1] if held else masses, costs, shift, tilt, math.exp(log_price))
            if self.plan.delta(of_table(tried, shift)) > target:
                return False
            held.append(tried)
            return True

        bend = tilt * (1 + tilt) * float(self.plan.query.sensitivity / self.plan.std) ** 2
        price = math.log(2 * float(masses @ costs) / bend) - bend / 2
        passes = next((price + _PRICE * i for i in range(_MOST_PRICES) if holds(price + _PRICE * i)), None)
        if passes is None:
            return None
        fails = passes - _PRICE
        for _ in range(_MOST_PRICES if passes == price else 0):
            if not holds(fails):
                break
            fails, passes = fails - _PRICE, fails
        first_true(holds, fails, passes, within=_COARSE)
        return held[-1]


def _weights(half: Any, least: float) -> tuple[int, ...]:
    """Whole weights that fall outward, without the cells at the end that weigh next to nothing together."""
    beyond = np.cumsum(half[::-1])[::-1]
    kept = np.minimum.accumulate(half[: max(1, int(np.sum(beyond > least)))])
    return tuple(max(1, int(float(v) * 2.0**_WEIGHT_BITS)) for v in kept)
