"""One number under pure privacy, in floats: Laplace noise, the best staircase, and tailored noise.

Tailored noise is the answer of a linear programme over densities that are constant on cells. The solver's answer is not
private; it only suggests levels. They are read as rationals, repaired until every pair of cells within the sensitivity
differs by at most one level, and then certified like any other law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.bisection import first_true, gallop, turn
from noisewright.numerics.fields import FLOATS, Floats
from noisewright.numerics.lp import Solution, minimise
from noisewright.numerics.special import geometric_power_sum
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Usefulness, Utility
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.golden_section import STEPS_PER_SCALE, on_cells, round_number

_SMALL = Fraction(1, 200)
_STEPS_PER_SPLIT = 200
_STEPS_PER_SHARP_SPLIT = 10_000
_FINE_STEPS = 10**6
_MOST_STEPS = 2**58
_TOLD_APART = 10**6
"""Up to so many noise scales, in whole numbers, floats tell the losses of neighbouring half-sizes apart."""


def laplace_name(query: Scalar) -> str:
    """What the usual noise is called for this kind of answer."""
    return "discrete Laplace" if query.integer else "Laplace"


def laplace(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """Laplace noise of scale sensitivity / epsilon, or its two-sided geometric form for integers."""
    scale = query.sensitivity / epsilon
    if query.integer:
        return Additive(query, DiscreteLaplace(scale), Lattice.integers())
    return on_cells(query, Laplace(scale), scale, utility)


def with_split(query: Scalar, epsilon: Fraction, split: float) -> Additive:
    """The staircase with about this split, on a lattice fine enough for its top step."""
    steps = round_number(max(100, float(STEPS_PER_SCALE * epsilon), _STEPS_PER_SPLIT / split))
    return _on_steps(query, epsilon, Fraction(min(max(1, round(split * steps)), steps), steps), steps)


def _on_steps(query: Scalar, epsilon: Fraction, split: Fraction, steps: int) -> Additive:
    law = staircase(epsilon=epsilon, sensitivity=query.sensitivity, split=split)
    return Additive(query, law, Lattice.cells(query.sensitivity / steps))


def tuned_staircase(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """The symmetric staircase whose top step is best for the utility."""
    if utility.tabulated:
        return from_grid(loss_grid(query, epsilon, utility), symmetric=True)
    if query.integer:
        return integer_staircase(query, epsilon, best_half(query, epsilon, utility))
    return _on_steps(query, epsilon, *aligned_split(utility.scaled(query.sensitivity), epsilon))


def from_grid(grid: LossGrid, *, symmetric: bool) -> Additive:
    """The staircase with the grid's best top step."""
    top = grid.best(symmetric=symmetric)
    query = grid.query
    left, right = (grid.width * (end - HALF if query.integer else end) for end in (top.left, top.right))
    law = skewed_staircase(epsilon=grid.epsilon, sensitivity=query.sensitivity, left=left, right=right)
    return Additive(query, law, Lattice.integers() if query.integer else Lattice.cells(grid.width))


def aligned_split(utility: Utility, epsilon: Fraction) -> tuple[Fraction, int]:
    """A rational split and a number of steps per sensitivity that it is a multiple of (errors in sensitivities)."""
    least = max(100, math.ceil(STEPS_PER_SCALE * epsilon))
    ideal = best_split(utility, epsilon)
    if utility.power is not None:
        needed = max(least, math.ceil(_STEPS_PER_SPLIT / ideal))
    else:
        needed = max(_FINE_STEPS, math.ceil(_STEPS_PER_SHARP_SPLIT / ideal))
    steps = min(round_number(needed), _MOST_STEPS)
    for edge in utility.edges:
        split = edge % 1 or Fraction(1)
        fine = max(least, math.ceil(_STEPS_PER_SPLIT / split))
        exact = split.denominator * math.ceil(Fraction(fine, split.denominator))
        # A limit of many digits is not worth a step so fine that large answers no longer fit the lattice.
        if exact <= steps:
            return split, exact
    # A top step that ends just inside a quantile leaves the last bit of confidence to the far lower next step.
    whole = math.ceil(ideal * steps) if utility.confidence else round(ideal * steps)
    return Fraction(min(max(1, whole), steps), steps), steps


def integer_staircase(query: Scalar, epsilon: Fraction, half: int) -> Additive:
    """Integer noise with top step {-half, …, half}."""
    law = skewed_staircase(epsilon=epsilon, sensitivity=query.sensitivity, left=-half - HALF, right=half + HALF)
    return Additive(query, law, Lattice.integers())


def best_half(query: Scalar, epsilon: Fraction, utility: Utility) -> int:
    """Half-size of the best top step for integers: the minimum of a function that falls, then rises.

    Where whole numbers are so fine that floats cannot tell neighbours apart, the one next to the best split of reals.
    """
    per = int(query.sensitivity)
    if utility.edges:
        return math.floor(utility.edges[0]) % per
    if utility.confidence is not None:
        return smallest_integer_width(query, epsilon, utility.confidence) % per

    if per > _TOLD_APART * min(epsilon, Fraction(1)):
        return min(max(0, round(best_split(utility, epsilon) * per - 0.5)), per - 1)

    def rises(half: int) -> bool:
        here, further = integer_staircase(query, epsilon, half), integer_staircase(query, epsilon, half + 1)
        return bool(here.expected(utility, FLOATS) <= further.expected(utility, FLOATS))

    return turn(rises, -1, per - 1)[1]


def smallest_integer_width(query: Scalar, epsilon: Fraction, confidence: Fraction) -> int:
    """Smallest whole w that some integer noise stays within, with the confidence (in floats)."""
    per = int(query.sensitivity)

    def reached(width: int) -> bool:
        mechanism = integer_staircase(query, epsilon, width % per)
        return bool(mechanism.expected(Usefulness(width), FLOATS) >= float(confidence))

    return first_true(reached, *gallop(reached, -1, per + 1))


def best_split(utility: Utility, epsilon: Fraction) -> float:
    """The split of the staircase that is best for the utility, for real answers and sensitivity 1.

    For usefulness and quantiles the closed form; for powers the zero of an increasing function. At
    very small epsilon the split hardly matters and the one for absolute error is used.
    """
    rate = float(epsilon)
    if utility.edges:
        return float(utility.edges[0] % 1) or 1.0
    if utility.confidence is not None:
        return best_quantile(utility.confidence, epsilon)[1] or 1.0
    if utility.power == 1 or epsilon < _SMALL:
        return 1 / (1 + math.exp(rate / 2))
    return _power_split(utility.power, epsilon)


def best_quantile(confidence: Fraction, epsilon: Fraction) -> tuple[int, float]:
    """Whole part and fraction of the smallest half-width at a confidence, in sensitivities."""
    rate = float(epsilon)
    outside = 1 - float(confidence)
    whole = math.floor(-math.log(outside) / rate)
    b = math.exp(-rate)
    fraction = (math.exp(-rate * (whole + 1)) / outside - b) / -math.expm1(-rate)
    return whole, min(max(fraction, 0.0), 1.0)


def _power_split(power: Fraction, epsilon: Fraction) -> float:
    """Where the derivative of the loss with respect to the split changes sign.

    With A(g) = sum_j b^j ((j+g)^(p+1) - j^(p+1)) / (p+1), the sign of the derivative is that of
    A'(g) (g + b(1-g)) - b A(1) - (1-b) A(g), which increases with g.
    """
    b = math.exp(-float(epsilon))

    def series(start: float, exponent: Fraction) -> float:
        return float(geometric_power_sum(FLOATS, epsilon, Fraction(start), Fraction(1), exponent))

    origin = series(0.0, power + 1)

    def area(split: float) -> float:
        return (series(split, power + 1) - origin) / float(power + 1)

    whole = area(1.0)

    def slope(split: float) -> float:
        return series(split, power) * (split + b * (1 - split)) - b * whole - (1 - b) * area(split)

    return math.exp(first_true(lambda log: slope(math.exp(log)) >= 0, math.log(1e-14), 0.0, within=1e-16))


# Tailored noise.


Primitive = Callable[[Floats], Floats]

_PERIODS = 2
_EXTRA_CELLS = 6
_MOST_INTEGER_CELLS = 24
_NEAR_WHOLE = 1e-4
_FAR = 60.0
_TIE_BREAK = 1e-7


@dataclass(frozen=True, slots=True)
class Programme:
    """The cells of the programme and what each costs, tails folded into the outermost periods."""

    edges: tuple[Fraction, ...]
    per_period: int
    period: Fraction
    epsilon: Fraction

    @property
    def cells(self) -> int:
        return len(self.edges) - 1

    def turn(self, i: int) -> int:
        """How many whole periods cell i lies from the middle: the scale of its variable."""
        middle = self.cells // 2
        return (i - middle) // self.per_period if i >= middle else (middle - 1 - i) // self.per_period


def tailored(query: Scalar, epsilon: Fraction, utility: Utility, start: Additive) -> Additive | None:
    """The programme's best law, on cells that contain the jumps of `start`; None where it would be too large.

    Guarantees: every constraint holds exactly in rationals (and is certified later all the same).
    """
    if epsilon < Fraction(1, 500) or (query.integer and query.sensitivity > _MOST_INTEGER_CELLS):
        return None
    programme = _cells(query, epsilon, start)
    cost_of = primitive(query, epsilon, utility)
    solution = solve(programme, cost_of if utility.tabulated else _leaning_to_zero(cost_of, start))
    levels = repaired_levels(programme, read_levels(programme, solution))
    law = _law(programme, levels)
    symmetric = law.levels == law.levels[::-1] and law.breaks == tuple(-b for b in reversed(law.breaks))
    if not utility.tabulated and not symmetric:
        # Among equally good vertices the solver may pick a lopsided one; a symmetric loss asks for no bias.
        return start
    return Additive(query, law, start.lattice)


def solve(programme: Programme, cost_of: Primitive) -> Solution:
    """Scaled programme in q = height * e^(epsilon * turn): minimise the loss of a unit of mass."""
    b = math.exp(-float(programme.epsilon))
    edges = np.array([float(e) for e in programme.edges])
    widths, costs = np.diff(edges), np.diff(cost_of(edges))
    n, per = programme.cells, programme.per_period
    turns = math.ceil(_FAR / float(programme.epsilon))
    away = np.arange(1, turns + 1) * float(programme.period)
    fades = b ** np.arange(1, turns + 1)
    for i in (*range(per), *range(n - per, n)):
        side = -1 if i < per else 1
        tail = cost_of(edges[i + 1] + side * away) - cost_of(edges[i] + side * away)
        costs[i] += float(np.sum(fades * tail))
        widths[i] += widths[i] * b / (1 - b)
    scale = b ** np.array([programme.turn(i) for i in range(n)])
    rows = [(np.arange(n, dtype=np.int32), widths * scale, 1.0, 1.0)]
    for i, j, shift in neighbours(programme):
        # height_i <= e^epsilon * e^(-epsilon shift) * height_j, divided by the larger coefficient.
        log_ratio = float(programme.epsilon) * (1 - shift + programme.turn(i) - programme.turn(j))
        left, right = (1.0, math.exp(log_ratio)) if log_ratio <= 0 else (math.exp(-log_ratio), 1.0)
        if i != j:
            rows.append((np.array([i, j], dtype=np.int32), np.array([left, -right]), -math.inf, 0.0))
    return minimise(costs * scale, rows)


def neighbours(programme: Programme) -> list[tuple[int, int, int]]:
    """Triples (i, j, shift): level_j + shift - level_i <= 1 must hold, tails included.

    A cell one period beyond the last repeats the cell a period before it, one level down, which is
    what a shift of 1 says.
    """
    n, per = programme.cells, programme.per_period
    period, edges = programme.period, programme.edges
    unrolled = [(edges[i], edges[i + 1], i, 0) for i in range(n)]
    unrolled += [(edges[i] + period, edges[i + 1] + period, i, 1) for i in range(n - per, n)]
    unrolled += [(edges[i] - period, edges[i + 1] - period, i, 1) for i in range(per)]
    unrolled.sort()
    found = set()
    for a, (_, end, i, down_i) in enumerate(unrolled):
        for start, _, j, down_j in unrolled[a:]:
            if start - end >= period:
                break
            found.add((i, j, down_j - down_i))
            found.add((j, i, down_i - down_j))
    return sorted(found)


def read_levels(programme: Programme, solution: Solution) -> list[Fraction]:
    """Levels as rationals: whole numbers where the solver is that close, as vertices of the programme are."""
    epsilon = float(programme.epsilon)
    tiny = math.exp(-200)
    logs = [-math.log(max(q, tiny)) / epsilon + programme.turn(i) for i, q in enumerate(solution.x)]
    top = min(logs)
    levels = []
    for value in logs:
        whole = round(value - top)
        near = abs(value - top - whole) <= _NEAR_WHOLE / min(1.0, epsilon)
        levels.append(Fraction(whole) if near else Fraction(value - top).limit_denominator(10**6))
    return levels


def repaired_levels(programme: Programme, levels: list[Fraction]) -> list[Fraction]:
    """Lower levels (raise heights) until level_j + shift - level_i <= 1 holds for every pair, exactly."""
    pairs = neighbours(programme)
    fixed = list(levels)
    for _ in range(4 * len(fixed)):
        before = list(fixed)
        for i, j, shift in pairs:
            fixed[j] = min(fixed[j], fixed[i] + 1 - shift)
        if fixed == before:
            break
    return fixed


def _law(programme: Programme, levels: list[Fraction]) -> Piecewise:
    """The law with equal neighbours merged; each tail period starts where the level changes."""
    per, period = programme.per_period, programme.period
    law = Piecewise(programme.epsilon, period, programme.edges, tuple(levels), per, per)
    merged: list[tuple[Fraction, Fraction, Fraction]] = []
    for start, end, level in law.unrolled(Fraction(0)):
        if merged and merged[-1][2] == level:
            merged[-1] = (merged[-1][0], end, level)
        else:
            merged.append((start, end, level))
    right = max(start for start, _, _ in merged if start <= law.breaks[-1])
    left = min(end for _, end, _ in merged if end >= law.breaks[0])
    low, high = left - period, right + period
    kept = [(max(a, low), min(b, high), level) for a, b, level in merged if a < high and b > low]
    left_cells = sum(1 for _, end, _ in kept if end <= left)
    right_cells = sum(1 for start, _, _ in kept if start >= right)
    while _repeats(kept, right_cells, period):
        kept = kept[:-right_cells]
    while _repeats([(-b, -a, level) for a, b, level in reversed(kept)], left_cells, period):
        kept = kept[left_cells:]
    breaks, heights = (kept[0][0], *(end for _, end, _ in kept)), tuple(level for _, _, level in kept)
    return Piecewise(programme.epsilon, period, breaks, heights, left_cells, right_cells)


def _repeats(cells: list[tuple[Fraction, Fraction, Fraction]], count: int, period: Fraction) -> bool:
    """Whether the last `count` cells only repeat the ones before them, so that those can be the tail."""
    if len(cells) < 2 * count + 1:
        return False
    moved = [(a + period, b + period, level + 1) for a, b, level in cells[-2 * count : -count]]
    return moved == cells[-count:] and cells[-2 * count][0] >= 0


def _leaning_to_zero(cost_of: Primitive, start: Additive) -> Primitive:
    """The same cost plus a ten-millionth of squared error, so that among equals a symmetric law is chosen."""
    spread = float(start.error_density.moment(2, FLOATS))
    usual = float(np.sum(np.diff(cost_of(np.array([-1.0, 1.0]) * 4 * spread**0.5)))) / (8 * spread**0.5)
    share = _TIE_BREAK * usual / spread
    return lambda x: np.asarray(cost_of(x) + share * x**3 / 3)


def _cells(query: Scalar, epsilon: Fraction, start: Additive) -> Programme:
    """Whole periods of cells around the top step of the starting law, reaching beyond zero on both sides."""
    period = query.sensitivity
    law: Any = start.lattice_density
    top = law.levels.index(min(law.levels))
    middle = (law.breaks[top] + law.breaks[top + 1]) / 2
    if query.integer:
        centre = Fraction(math.floor(middle + HALF)) + HALF
        residues = [Fraction(k) for k in range(int(period))]
    else:
        centre = math.floor(middle / start.lattice.step) * start.lattice.step
        steps = period / start.lattice.step
        spread = [Fraction(round(i * steps / _EXTRA_CELLS)) * start.lattice.step for i in range(_EXTRA_CELLS)]
        residues = sorted({(x - centre) % period for x in (*law.breaks, *(centre + s for s in spread))})
    turns = _PERIODS + math.ceil(abs(centre) / period)
    edges = [centre + t * period + r for t in range(-turns, turns) for r in residues]
    edges.append(centre + turns * period)
    return Programme(tuple(edges), len(residues), period, epsilon)


def primitive(query: Scalar, epsilon: Fraction, utility: Utility) -> Primitive:
    """A function P of edges with P(b) - P(a) the loss charged for the cell from a to b.

    Real answers: the integral of the loss. Integers: the sum over the whole numbers between the
    two edges. Usefulness is charged as the probability of missing; a quantile as the usefulness
    at the best half-width.
    """
    if utility.tabulated:
        return _tabulated(loss_grid(query, epsilon, utility))
    if utility.confidence is not None:
        if query.integer:
            width = Fraction(smallest_integer_width(query, epsilon, utility.confidence))
        else:
            whole, part = best_quantile(utility.confidence, epsilon)
            width = query.sensitivity * (whole + Fraction(part))
        return primitive(query, epsilon, Usefulness(width))
    if utility.edges:
        edge = utility.edges[0]
        within = math.floor(edge) + 0.5 if query.integer else float(edge)
        return lambda x: np.sign(x) * np.maximum(np.abs(x) - within, 0.0)
    if not query.integer:
        exponent = float(utility.power) + 1
        return lambda x: np.sign(x) * np.abs(x) ** exponent / exponent
    return _power_sums(float(utility.power))


def _power_sums(power: float) -> Primitive:
    def total(x: Floats) -> Floats:
        top = int(np.max(np.abs(x)) + 1)
        sums = np.concatenate([[0.0], np.cumsum(np.arange(1, top + 1, dtype=np.float64) ** power)])
        return np.asarray(np.sign(x) * sums[np.floor(np.abs(x)).astype(np.intp)])

    return total


def _tabulated(grid: LossGrid) -> Primitive:
    right, left = grid.middle
    width, offset = (1.0, 0.5) if grid.query.integer else (float(grid.width), 0.0)
    running = np.concatenate([-np.cumsum(left)[::-1], [0.0], np.cumsum(right)]) * width
    edges = (np.arange(-grid.count, grid.count + 1) - offset) * width
    return lambda x: np.asarray(np.interp(x, edges, running))
