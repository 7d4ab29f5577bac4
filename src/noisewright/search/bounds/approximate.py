"""What no (epsilon, delta)-private noise can beat, proven in interval arithmetic from a linear programme's dual.

Any noise X, rounded at random to the multiples of h (up with the fractional part), is as private under
shifts by multiples of h as X itself, and its mean loss is that of the piecewise linear interpolation of the
loss. So for lattice costs whose interpolation stays at or below the loss, the least cost of a private
lattice law bounds the loss of every private noise law. A usefulness needs no such detour: the cells between
multiples of h carry masses with the same shifts, and whether an error counts is the same all over a
cell (for errors with a density, as those of real answers have). Multipliers v >= 0 of
sum over cells of (p_k - e^epsilon p_(k+j))+ <= delta give, whatever they are, the bound
min_i (cost_i + flow_i) - delta * sum over shifts of max v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.laws.tabulated import HALF
from noisewright.numerics.balls import Ball, ball, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.numerics.lp import minimise
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.search.programmes.approximate import MOST_CELLS, Grid, cells_per_sensitivity, private_rows, support

_MOST_ROWS = 7_000
_BITS = 128


@dataclass(frozen=True, slots=True)
class Dual:
    """A grid of lattice points and multipliers on it: together they prove a bound, whoever made them.

    A multiplier is (shift, side of k, side of k + shift, value).
    """

    per: int
    count: int
    edge: Fraction
    multipliers: list[tuple[int, int, int, float]]


def find_dual(query: Scalar, privacy: ApproxDP, utility: Utility) -> Dual | None:
    """Multipliers from the solver, in floats; None where the programme would be too large."""
    per = cells_per_sensitivity(query, privacy.epsilon, utility, per=20, fewest=3, most=24)
    reach = support(privacy, 1.0 + 3.0 / min(1.0, float(privacy.epsilon)))
    count = math.ceil(reach * per) + 1
    # Dropping shifts only loosens the bound; shorter ones than half a sensitivity carry next to nothing of it.
    shifts = range((per + 1) // 2, per + 1)
    if count > MOST_CELLS:
        return None
    if count * len(shifts) > _MOST_ROWS:
        shifts = range(max(1, per - _MOST_ROWS // count), per + 1)
    grid = Grid(per, count, _edge(query, utility))
    cost = np.array([float(c) for c in _costs_from_below(query, utility, per, count)])
    rows, names, fade = private_rows(grid, float(privacy.epsilon), float(privacy.delta), shifts, ends=False)
    objective = np.concatenate([cost * grid.multiplicity() * fade, np.zeros(len(names))])
    duals = minimise(objective, rows).duals
    found = [(*name, float(-duals[i] / fade[name[1]])) for i, name in names.items() if duals[i] < 0]
    return Dual(per, count, grid.edge, found)


def _edge(query: Scalar, utility: Utility) -> Fraction:
    """Cells for the usefulness of real answers, points otherwise."""
    return Fraction(0) if utility.edges and not query.integer else HALF


def proven_bound(query: Scalar, privacy: ApproxDP, utility: Utility, dual: Dual) -> Fraction:
    """A lower bound of a cost, or an upper bound of a usefulness, for every private noise law; in the query's unit.

    Guarantees: holds for any multipliers, repeated ones included; a bad dual only makes it weaker.
    Valid for: grids of at most 8,000 points that fit the question; raises ValueError otherwise.
    """
    with precision(_BITS):
        if dual.edge != _edge(query, utility) or (query.integer and dual.per != query.sensitivity):
            raise ValueError("these multipliers were made for another question")
        if not (1 <= dual.per <= MOST_CELLS and 1 <= dual.count <= MOST_CELLS):
            raise ValueError("these multipliers are for more points than a programme has")
        costs = [ball(c) for c in _costs_from_below(query, utility, dual.per, dual.count + 1)]
        flow = [ball(0)] * (dual.count + 1)
        factor = BALLS.exp(ball(privacy.epsilon))
        largest: dict[int, Fraction] = {}
        for (shift, a, b), exact in _per_pair(dual).items():
            flow[a] = flow[a] + ball(exact)
            flow[b] = flow[b] - factor * ball(exact)
            largest[shift] = max(largest.get(shift, Fraction(0)), exact)
        # Points beyond the table have no flow and cost at least as much as the last one here.
        single = 1 if dual.edge else 2
        ends = [lower(c + f / (2 if i else single)) for i, (c, f) in enumerate(zip(costs, flow, strict=True))]
        bound = min(ends) - privacy.delta * sum(largest.values(), Fraction(0))
        return _in_query_unit(query, utility, bound)


def _per_pair(dual: Dual) -> dict[tuple[int, int, int], Fraction]:
    """One multiplier for each pair of cells: delta is charged with the largest, so repeated ones count together."""
    totals: dict[tuple[int, int, int], Fraction] = {}
    for shift, a, b, value in dual.multipliers:
        exact = Fraction(value)
        if exact > 0 and _is_pair(shift, a, b, dual):
            totals[shift, a, b] = totals.get((shift, a, b), Fraction(0)) + exact
    return totals


def _is_pair(shift: int, a: int, b: int, dual: Dual) -> bool:
    """Whether some cell k with outward index a has index b when shifted."""
    mirrored = shift - a if dual.edge else shift - 1 - a
    return 1 <= shift <= dual.per and 0 <= a < b < dual.count and b in (a + shift, mirrored)


def _costs_from_below(query: Scalar, utility: Utility, per: int, count: int) -> list[Fraction]:
    """Costs at k/per sensitivities whose interpolation is at most the loss (for integers: the loss itself)."""
    if utility.edges:
        within = utility.edges[0] / query.sensitivity * per
        return [Fraction(k > within) if query.integer else Fraction(k >= within) for k in range(count)]
    with precision(_BITS):
        values = [lower(BALLS.power(ball(Fraction(k, per)), utility.power)) for k in range(count)]
        if query.integer or utility.power <= 1:
            return [max(Fraction(0), v) for v in values]
        excess = [upper(_chord_excess(k, per, utility.power)) for k in range(count)]
    return [values[k] - max(excess[k], excess[k - 1] if k else Fraction(0)) for k in range(count)]


def _chord_excess(k: int, per: int, power: Fraction) -> Ball:
    """How far a chord of |x|^power can lie above it on the cell from k/per to (k+1)/per, power > 1."""
    width = ball(Fraction(1, per))
    if power < 2 and k == 0:
        return BALLS.power(width, power)
    end = Fraction(k + 1 if power >= 2 else k, per)
    return width * width / 8 * ball(power * (power - 1)) * BALLS.power(ball(end), power - 2)


def _in_query_unit(query: Scalar, utility: Utility, bound: Fraction) -> Fraction:
    if utility.larger_is_better:
        return min(Fraction(1), 1 - bound)
    if bound <= 0:
        return Fraction(0)
    return max(Fraction(0), lower(ball(bound) * BALLS.power(ball(query.sensitivity), utility.power)))
