"""The linear programme of (epsilon, delta)-private noise for one number: the best symmetric, falling law on cells.

Unknown are the heights p_i of equal cells outward from zero; a slack for each cell takes what exceeds
e^epsilon times the height one sensitivity further, and the slacks sum to at most delta. Heights
are solved as q_i = p_i e^(epsilon x_i / sensitivity) and slacks in units of delta, so that a solver
tolerance of 1e-10 stays small against delta. What the solver returns is not private: it is
rounded to whole numbers and every shift is summed exactly before it is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.numerics.fields import Floats
from noisewright.numerics.lp import minimise
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.proof.approximate import approximate_delta
from noisewright.search.golden_section import aligned

Row = tuple[NDArray[np.int32], Floats, float, float]

MOST_CELLS = 8_000
_MOST_STEPS, _SHORTEST, _CLOSE = 60, 1e-6, 1e-9
_RIDGE, _LEAST = 1e-9, 1e-300
_WEIGHT_BITS = 96
_FIRST_TIGHTENING, _LAST_TIGHTENING, _FURTHER = 1e-6, 1e-2, 4.0
_LARGEST_FACTOR = 100.0
_LEAST_ALIGNED = 96


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal cells: `per` of them to a sensitivity, `count` on each side, laid out as in `Tabulated`."""

    per: int
    count: int
    edge: Fraction

    def side(self, k: int) -> int:
        """The outward index of cell k of the whole line."""
        if k >= 0:
            return k
        return -k if self.edge else -1 - k

    def multiplicity(self) -> Floats:
        """How many cells of the line share each outward index."""
        copies = np.full(self.count, 2.0)
        if self.edge:
            copies[0] = 1.0
        return copies

    def outward(self, shift: int) -> list[tuple[int, int]]:
        """Pairs (side of k, side of k + shift) for every k whose shifted cell lies further out."""
        pairs = [(self.side(k), self.side(k + shift)) for k in range(-shift, self.count)]
        return [(a, b) for a, b in pairs if b > a]


def cells_per_sensitivity(
    query: Scalar, epsilon: Fraction, utility: Utility, per: int = 80, fewest: int = 4, most: int = 200
) -> int:
    """How fine the cells are: a fixed share of the noise scale, aligned with the utility's edges where it can be."""
    if query.integer:
        return int(query.sensitivity)
    wanted = min(max(math.ceil(per * epsilon), fewest), most)
    for edge in utility.edges:
        wanted = aligned(wanted, edge / query.sensitivity, max(most, _LEAST_ALIGNED))
    return wanted


def support(privacy: ApproxDP, beyond: float) -> float:
    """Where the truncated Laplace law of the same privacy ends, and a bit, in sensitivities."""
    epsilon, delta = float(privacy.epsilon), float(privacy.delta)
    return math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon + beyond


def solved_law(query: Scalar, privacy: ApproxDP, utility: Utility) -> Tabulated | None:
    """The programme's law, repaired to whole-number weights; None where it would have too many cells.

    Guarantees: the law was checked against the requirement at every shift in exact arithmetic.
    """
    per = cells_per_sensitivity(query, privacy.epsilon, utility)
    count = math.ceil(support(privacy, 1.0) * per) + 1
    if count > MOST_CELLS:
        return None
    grid = Grid(per, count, HALF if query.integer else Fraction(0))
    cost = cell_costs(grid, query, utility)
    tightening = _FIRST_TIGHTENING
    while tightening <= _LAST_TIGHTENING:
        heights = _solve(grid, privacy, cost, float(privacy.delta) * (1 - tightening))
        law = _repaired(grid, query, heights)
        found = approximate_delta(law, privacy.epsilon, query.sensitivity)[0]
        if found <= privacy.delta:
            return law
        tightening = _FURTHER * (tightening + float(found / privacy.delta - 1))
    raise SolverError("the linear programme's law could not be repaired.")


def cell_costs(grid: Grid, query: Scalar, utility: Utility) -> Floats:
    """Mean loss over each cell; powers of the error in sensitivities."""
    i = np.arange(grid.count, dtype=np.float64)
    width = 1.0 / grid.per
    if utility.edges:
        within = float(utility.edges[0] / query.sensitivity) * grid.per
        return np.asarray(i > within + 1e-9, dtype=np.float64) if grid.edge else np.clip(i + 1 - within, 0.0, 1.0)
    power = float(utility.power)
    if grid.edge:
        return np.asarray((i * width) ** power)
    return np.asarray(((i + 1) ** (power + 1) - i ** (power + 1)) / (power + 1) * width**power)


def _solve(grid: Grid, privacy: ApproxDP, cost: Floats, delta: float) -> Floats:
    """Heights of the best law. Rows whose slack has a small coefficient are enlarged: a miss costs less of delta."""
    rows, names, fade = private_rows(grid, float(privacy.epsilon), delta, [grid.per], ends=True)
    for k, (_, near, _) in names.items():
        columns, values, low, high = rows[k]
        rows[k] = columns, values * max(1.0, min(_LARGEST_FACTOR, fade[near] / delta)), low, high
    for i in range(grid.count - 1):
        rows.append(_row([i, i + 1], [1.0, -fade[i + 1] / fade[i]], 0.0, math.inf))
    objective = np.concatenate([cost * grid.multiplicity() * fade, np.zeros(len(names))])
    return np.asarray(np.maximum(minimise(objective, rows).x[: grid.count], 0.0) * fade)


def private_rows(
    grid: Grid, epsilon: float, delta: float, shifts: Sequence[int], *, ends: bool
) -> tuple[list[Row], dict[int, tuple[int, int, int]], Floats]:
    """Rows that make heights a law of mass one whose slacks at each shift sum to at most delta.

    Also the rows of single pairs (shift, side of k, side of k + shift), each with a slack of its own after the heights,
    and e^(-epsilon x_i / sensitivity). With `ends` there are rows for what is shifted off the grid.
    """
    factor = math.exp(epsilon)
    fade = np.exp(-epsilon * np.arange(grid.count) / grid.per)
    rows = [_row(range(grid.count), grid.multiplicity() * fade, 1.0, 1.0)]
    names: dict[int, tuple[int, int, int]] = {}
    for shift in shifts:
        start = grid.count + len(names)
        for a, b in grid.outward(shift):
            inside = [b] if b < grid.count else []
            if inside or ends:
                columns = [a, *inside, grid.count + len(names)]
                values = [1.0, *(-factor * fade[j] / fade[a] for j in inside), -delta / fade[a]]
                names[len(rows)] = shift, a, b
                rows.append(_row(columns, values, -math.inf, 0.0))
        slacks = range(start, grid.count + len(names))
        rows.append(_row(slacks, np.ones(len(slacks)), -math.inf, 1.0))
    return rows, names, fade


def _row(indices: range | list[int], values: list[float] | Floats, low: float, high: float) -> Row:
    """One row of the programme: low <= values . x[indices] <= high."""
    return np.array(indices, dtype=np.int32), np.asarray(values, dtype=np.float64), low, high


def _repaired(grid: Grid, query: Scalar, heights: Floats) -> Tabulated:
    """Whole-number weights that fall outward, without the solver's dust beyond the support."""
    falling = np.minimum.accumulate(heights)
    share = np.cumsum((falling * grid.multiplicity())[::-1])[::-1] / float(np.sum(falling * grid.multiplicity()))
    kept = falling[: int(np.sum(share > 1e-16))]
    unit = Fraction(float(kept[0])) / 2**_WEIGHT_BITS
    weights = [int(Fraction(float(height)) / unit) for height in kept]
    while weights[-1] == 0:
        weights.pop()
    width = Fraction(1) if query.integer else query.sensitivity / grid.per
    return Tabulated(width, tuple(weights), grid.edge)


def cheapest_at_tilt(masses: Floats, costs: Floats, shift: int, tilt: float, price: float) -> Floats:
    """The masses p on a line of cells for which sum costs p + price (R + R') is least.

    R = sum p_k^(1 + tilt) p_(k + shift)^(-tilt) is the mean of e^(tilt * loss) at that shift, R' that the other way.
    Both are convex in the masses, so Newton's method finds the least sum from any start, such as `masses`; steps are
    taken in logarithms, and none multiplies a mass by more than e. In floats: a proposal, good or not.
    """
    from scipy.linalg import solveh_banded

    def total(logs: Floats) -> tuple[float, Floats, Floats]:
        drops = logs[:-shift] - logs[shift:]
        with np.errstate(over="ignore"):
            out = price * np.exp(logs[:-shift] + tilt * drops)
            back = price * np.exp(logs[shift:] - tilt * drops)
        return float(np.exp(logs) @ costs + out.sum() + back.sum()), out, back

    logs = np.log(masses)
    value, out, back = total(logs)
    for _ in range(_MOST_STEPS):
        now = np.exp(logs)
        slope = now * costs
        slope[:-shift] += (1 + tilt) * out - tilt * back
        slope[shift:] += (1 + tilt) * back - tilt * out
        bend = (1 + tilt) * tilt * (out + back)
        bands = np.zeros((shift + 1, len(now)))
        bands[shift, :-shift] += bend
        bands[shift, shift:] += bend
        bands[shift] = bands[shift] * (1 + _RIDGE) + _RIDGE * now * costs.mean() + _LEAST
        scale = 1 / np.sqrt(bands[shift])
        bands[0, shift:] = -bend * scale[shift:] * scale[:-shift]
        bands[shift] = 1.0
        solved = solveh_banded(bands, np.stack([slope * scale, now * scale], 1)) * scale[:, None]
        step = np.clip((now @ solved[:, 0]) / (now @ solved[:, 1]) * solved[:, 1] - solved[:, 0], -1.0, 1.0)
        expected, size = -float(slope @ step), 1.0
        while size > _SHORTEST:
            tried = logs + size * step
            tried = tried - math.log(float(np.exp(tried).sum()))
            found = total(tried)
            if found[0] <= value:
                break
            size /= 2
        else:
            break
        logs, (value, out, back) = tried, found
        if abs(expected) < _CLOSE * abs(value):
            break
    return np.asarray(np.exp(logs))
