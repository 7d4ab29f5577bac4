"""The linear programme over conditional laws p(output | input), and weights that keep every constraint.

Variables are the masses of each output for each grid input. Rows sum to one and have the required
mean; masses of rows that one person can turn into one another differ by a factor of at most
e^epsilon. A problem that is its own mirror image is solved for one half of its rows.

The solver's masses break each constraint by about a billionth. They are lifted until ratios hold, mixed with a trace of
a mechanism that has room in every constraint, corrected to the exact sum and mean with what that room allows, and read
as integers. The verifier has the last word.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.bounded.conditional import Grid, Rows
from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.numerics.fields import Floats
from noisewright.numerics.lp import SparseRows, minimise_sparse
from noisewright.problem.errors import InfeasibleError, SolverError, UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, PureDP
from noisewright.problem.queries import Bounded
from noisewright.proof.certify import certify

Places = NDArray[np.int64]
Block = tuple[Places, Floats, float, float]
"""Rows of equal length, one for each line of columns: their columns, values, lower and upper ends."""

_SMALL = 40_000
_STEEP = 30.0
_DEEP = 23.0
_DEEP_IF_STEEP = 12.0


@dataclass(frozen=True)
class Programme:
    """Inputs, outputs, how far each row reaches, and what each row counts (None: only the worst row)."""

    query: Bounded
    epsilon: Fraction
    grid: Grid
    values: tuple[Fraction, ...]
    reach: tuple[int, ...]
    weights: tuple[Fraction, ...] | None

    @property
    def full(self) -> bool:
        """Whether every row can be turned into every other."""
        return self.reach[0] == self.grid.last

    @property
    def mirrored(self) -> bool:
        """Whether the problem is its own mirror image."""
        ends, last = sum(self.query.inputs), self.grid.last
        for line in (self.grid.points, self.values):
            if any(a + b != ends for a, b in zip(line, line[::-1], strict=True)):
                return False
        same = all(
            (i <= self.reach[j]) == (last - j <= self.reach[last - i])
            for j in range(last + 1)
            for i in range(j, last + 1)
        )
        return same and (self.weights is None or self.weights == self.weights[::-1])

    @property
    def steep(self) -> bool:
        """Whether masses may fade below what the solver can tell from zero; it is then asked for less."""
        return not self.full and float(self.epsilon * self.query.width / self.query.sensitivity) >= _STEEP

    @property
    def tolerance(self) -> float:
        """How exactly the solver is asked to keep each row."""
        return 1e-7 if self.steep else 1e-9

    @property
    def distances(self) -> Floats:
        """Output minus input, in units of the sensitivity."""
        scale = float(self.query.sensitivity)
        x = np.array([float(p - self.query.inputs[0]) for p in self.grid.points]) / scale
        y = np.array([float(v - self.query.inputs[0]) for v in self.values]) / scale
        return np.asarray(y[None, :] - x[:, None])


@dataclass(frozen=True)
class Multipliers:
    """Duals of every row of the programme, unfolded: what each input counts, its mass, its mean, and the pairs."""

    counts: Floats
    mass: Floats
    mean: Floats
    pairs: tuple[Places, Places, Floats]
    """For each pair of rows (i, k): p_i <= e^epsilon p_k, with one multiplier for each output."""


@dataclass(frozen=True)
class Found:
    """The solver's masses and multipliers, in floats: suggestions, never evidence."""

    masses: Floats
    multipliers: Multipliers


def solve(programme: Programme, losses: Floats) -> Found:
    """Minimise the worst or the weighted loss; `losses[i, k]` is what output k costs at input i.

    Raises SolverError where the solver finds no optimum.
    """
    folded, full = programme.mirrored, programme.full
    last, top = programme.grid.last, len(programme.values) - 1
    rows = (last + 2) // 2 if folded else last + 1
    place = _places(last, top, rows, folded)
    outputs = np.arange(top + 1)
    # One variable for the smallest mass of each output, shared by an output and its mirror image.
    floor = rows * (top + 1) + (np.minimum(outputs, top - outputs) if folded else outputs)
    worst = int(floor.max()) + 1 if full else rows * (top + 1)
    counts = _counts(programme, folded, rows)
    cost = np.zeros(worst + (counts is None))
    cost[worst:] = 1.0
    bias = programme.query.bias
    limit = math.inf if bias is None else float(bias / programme.query.sensitivity)
    distances = programme.distances
    scales = _scales(programme, place[:rows], distances, worst)
    blocks: list[Block] = []
    for i in range(rows):
        columns, repeat = (np.concatenate([place[i], floor]), 2) if full else (place[i], 1)
        columns, far, loss, ones = _merged(columns, np.tile(distances[i], repeat), np.tile(losses[i], repeat))
        shrunk = scales[columns]
        blocks.append((columns[None, :], shrunk * ones, 1.0, 1.0))
        blocks.append((columns[None, :], shrunk * far, -limit, limit))
        if counts is None:
            blocks.append((np.append(columns, worst)[None, :], np.append(shrunk * loss, -1.0), -math.inf, 0.0))
        else:
            cost[columns] += counts[i] * (shrunk * loss)
    row_scales = [np.ones(len(blocks))]
    if full:
        growth = np.array([1.0, -math.expm1(float(programme.epsilon))])
        blocks += [(np.stack([place[i], floor], axis=1), growth, -math.inf, 0.0) for i in range(rows)]
    pairs = _pair_rows(programme, folded)
    for i, k in zip(*pairs, strict=True):
        both, factors = _apart(np.stack([place[i], place[k]], axis=1), math.exp(-float(programme.epsilon)))
        factors *= scales[both]
        row_scales.append(np.abs(factors).max(axis=1))
        blocks.append((both, factors / row_scales[-1][:, None], -math.inf, 0.0))
    matrix = _stacked(blocks)
    crossover = len(matrix.low) < _SMALL
    solution = minimise_sparse(cost, matrix, solver="ipm", crossover=crossover, tolerance=programme.tolerance)
    masses = (solution.x * scales[: len(cost)])[place] + (solution.x[floor] if full else 0.0)
    duals = solution.duals if full else solution.duals / np.concatenate(row_scales)
    return Found(masses, _unfolded(programme, folded, rows, duals, pairs, counts))


def _stacked(blocks: list[Block]) -> SparseRows:
    lengths = np.concatenate([np.full(len(columns), columns.shape[1]) for columns, *_ in blocks])
    return SparseRows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        np.concatenate([columns.ravel() for columns, *_ in blocks]).astype(np.int32),
        np.concatenate([np.broadcast_to(values, columns.shape).ravel() for columns, values, *_ in blocks]),
        np.concatenate([np.full(len(columns), low) for columns, _, low, _ in blocks]),
        np.concatenate([np.full(len(columns), high) for columns, _, _, high in blocks]),
    )


def _places(last: int, top: int, rows: int, folded: bool) -> Places:
    """Which variable stands for output k of row i: mirror images share one, in the middle row too."""
    place = np.arange((last + 1) * (top + 1)).reshape(last + 1, top + 1)
    if folded:
        if last % 2 == 0:
            place[last // 2] = np.minimum(place[last // 2], place[last // 2][::-1])
        place[rows:] = place[last - np.arange(rows, last + 1)][:, ::-1]
    return place


def _scales(programme: Programme, place: Places, distances: Floats, extra: int) -> Floats:
    """What a unit of each variable stands for: masses far from the answer are tiny where they may fade.

    Where every row can be turned into every other they may not, and every unit is one.
    """
    scales = np.ones(extra + 1)
    if not programme.full:
        fades = float(programme.epsilon) * np.maximum(np.abs(distances[: len(place)]) - 1.0, 0.0)
        scales[place] = np.exp(-np.minimum(fades, _DEEP_IF_STEEP if programme.steep else _DEEP))
    return scales


def _apart(both: Places, fade: float) -> tuple[Places, Floats]:
    """Columns and factors of fade * p_i - p_k <= 0; where both are one variable the row says nothing."""
    factors = np.tile([fade, -1.0], (len(both), 1))
    same = both[:, 0] == both[:, 1]
    factors[same] = [fade - 1.0, 0.0]
    columns = both.copy()
    columns[same, 1] = np.where(columns[same, 0] > 0, columns[same, 0] - 1, columns[same, 0] + 1)
    return columns, factors


def _merged(columns: Places, distances: Floats, losses: Floats) -> tuple[Places, Floats, Floats, Floats]:
    """Entries of equal columns summed: a mirrored floor stands in a row twice."""
    unique, inverse = np.unique(columns, return_inverse=True)
    weighted = (distances, losses, np.ones(len(columns)))
    sums = [np.bincount(inverse, weights=w).astype(np.float64) for w in weighted]
    return unique, sums[0], sums[1], sums[2]


def _counts(programme: Programme, folded: bool, rows: int) -> Floats | None:
    """What each row counts, together with its mirror image; None where only the worst row does."""
    if programme.weights is None:
        return None
    counts = np.array([float(w) for w in programme.weights])
    if folded:
        mirrored = np.arange(rows) != programme.grid.last - np.arange(rows)
        return np.asarray(counts[:rows] + counts[::-1][:rows] * mirrored)
    return counts


def _pair_rows(programme: Programme, folded: bool) -> tuple[Places, Places]:
    """Ordered pairs of rows within reach, of a pair and its mirror image only one; none where a floor does."""
    last = programme.grid.last
    found = set()
    for i, end in enumerate(() if programme.full else programme.reach):
        for j in range(i + 1, end + 1):
            for pair in ((i, j), (j, i)):
                found.add(min(pair, (last - pair[0], last - pair[1])) if folded else pair)
    ordered = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    return ordered[:, 0], ordered[:, 1]


def _unfolded(
    programme: Programme, folded: bool, rows: int, duals: Floats, pairs: tuple[Places, Places], counts: Floats | None
) -> Multipliers:
    """Duals of the folded rows, shared out between a row and its mirror image, whose mean moves the other way."""
    last, top = programme.grid.last, len(programme.values) - 1
    each, (first, second) = 3 if counts is None else 2, pairs
    head, tail = duals[: each * rows].reshape(rows, each), duals[each * rows :][: len(first) * (top + 1)]
    own = np.stack([-head[:, 2] if counts is None else counts, head[:, 0], head[:, 1]])
    values = -math.exp(-float(programme.epsilon)) * tail.reshape(len(first), top + 1)
    if folded:
        half, own = own / 2, np.zeros((3, last + 1))
        own[:, :rows] += half
        own[:, last - np.arange(rows)] += half * np.array([[1.0], [1.0], [-1.0]])
        first, second = (np.concatenate([side, last - side]) for side in pairs)
        values = np.concatenate([values, values[:, ::-1]]) / 2
    return Multipliers(own[0], own[1], own[2], (first, second, values))


# Whether a bounded question can be answered at all, what is nearest if not, and the repair.


_BITS = 192
_DIGITS = 12
_SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 1e-4, 1e-5)
_TRACES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
_WEIGHT_BITS = 64


def ratio_below(epsilon: Fraction, bits: int = 64) -> Fraction:
    """A rational at or just below e^epsilon."""
    with precision(_BITS):
        return Fraction(math.floor(lower(ball(epsilon).exp()) * 2**bits), 2**bits)


def ratio_above(epsilon: Fraction, bits: int = 64) -> Fraction:
    """A rational at or just above e^epsilon."""
    with precision(_BITS):
        return Fraction(math.ceil(upper(ball(epsilon).exp()) * 2**bits), 2**bits)


def smallest_margin(query: Bounded, epsilon: Fraction) -> Fraction:
    """The smallest certified rational, of twelve digits, by which outputs must pass the inputs on each side.

    Rule: with bias at most b the mean distance to a bound is at least margin + b - 2 b s at s of the
    way, and e^epsilon times it covers the neighbour's; on a line from lo + b to hi - b that takes
    margin >= sensitivity (1 - 2 b / width) / (e^epsilon - 1) - b. For b = 0 no mechanism does with less. Where
    answers may carry rounding errors the reach stands for the sensitivity, and the grid passes the inputs by a hair.
    Whole outputs pass the inputs by a whole number. [theory#answers-in-bounds]
    """
    bias = query.bias
    if bias is None or 2 * bias >= query.width:
        return -query.width
    slope = 1 - 2 * bias / query.width
    exact = query.reach * slope / (ratio_below(epsilon, 160) - 1) - bias
    return Fraction(math.ceil(exact)) if query.integer else _up(exact + query.covered[1] - query.inputs[1])


def smallest_epsilon(query: Bounded) -> Fraction | None:
    """The smallest certified epsilon, of twelve digits, at which these bounds suffice; None if none does."""
    bias = query.bias or Fraction(0)
    room = query.margin + bias - (query.covered[1] - query.inputs[1])
    if room <= 0:
        return None
    slope = 1 - 2 * bias / query.width
    with precision(_BITS):
        least = _up(upper(ball(1 + query.reach * slope / room).log()))
    while smallest_margin(query, least) > query.margin:
        least += Fraction(1, 10**_DIGITS) * max(least, Fraction(1, 1000))
    return least if least <= LARGEST_EPSILON else None


def check_feasible(query: Bounded, epsilon: Fraction) -> Fraction:
    """The smallest margin, if the outputs leave that much on both sides; else an error that names what would do."""
    needed = smallest_margin(query, epsilon)
    if query.margin >= needed:
        return needed
    low, high = query.inputs[0] - needed, query.inputs[1] + needed
    least = smallest_epsilon(query)
    bounds = f"output bounds of at least [{_text(low)}, {_text(high)}]"
    way_out = (
        f"no epsilon up to {show(LARGEST_EPSILON)} is enough for these bounds: it takes {bounds}"
        if least is None
        else f"it takes epsilon >= {_text(least)} or {bounds}"
    )
    told = f"with a bias of at most {show(query.bias)}" if query.bias else "without bias"
    raise InfeasibleError(
        f"inputs in [{show(query.inputs[0])}, {show(query.inputs[1])}] with sensitivity {show(query.sensitivity)}"
        f" cannot be answered {told} inside [{show(query.outputs[0])}, {show(query.outputs[1])}] at"
        f" epsilon = {show(epsilon)}; {way_out}.",
        outputs=(low, high),
        margin=smallest_margin(replace(query, exact=True), epsilon),
        epsilon=least,
    )


def _up(value: Fraction) -> Fraction:
    """The value rounded up to twelve significant decimal digits."""
    if not value:
        return value
    size = math.floor(math.log10(abs(float(value)))) + 1
    unit = Fraction(10) ** (size - _DIGITS)
    return math.ceil(value / unit) * unit


def _text(value: Fraction) -> str:
    """Every digit of a decimal fraction, so that what is named can be typed back."""
    shown = f"{float(value):.15g}"
    return shown if Fraction(shown) == value else str(value)


def repaired(programme: Programme, masses: Floats) -> Rows:
    """The mechanism nearest to the masses that the verifier accepts; SolverError if none of the traces does."""
    lifted = _lifted(programme, np.maximum(masses, 0.0))
    roomy = _roomy(programme)
    for trace in _TRACES:
        rows = _integers(programme, _corrected(programme, (1 - trace) * lifted + trace * roomy))
        with suppress(UncertifiedError):
            if rows is not None:
                certify(rows, PureDP(programme.epsilon))
                return rows
    raise SolverError("the programme's answer could not be repaired: these bounds leave no room beside the optimum.")


def _lifted(programme: Programme, masses: Floats) -> Floats:
    """Small masses raised to e^-epsilon times the largest within reach."""
    fade = math.exp(-float(programme.epsilon))
    result = masses.copy()
    for _ in range(50):
        raised = np.maximum(result, fade * _window_maximum(result, programme.reach))
        if np.max(raised - result) <= 1e-18:
            return np.asarray(raised)
        result = raised
    return result


def _window_maximum(masses: Floats, reach: tuple[int, ...]) -> Floats:
    """For every row the largest mass of each output among all rows within reach, on both sides."""
    if reach[0] == len(reach) - 1:
        return np.broadcast_to(masses.max(axis=0), masses.shape)
    result = masses.copy()
    for i, end in enumerate(reach):
        np.maximum(result[i], masses[i : end + 1].max(axis=0), out=result[i])
        for j in range(i + 1, end + 1):
            np.maximum(result[j], masses[i], out=result[j])
    return result


def _roomy(programme: Programme) -> Floats:
    """A mechanism with room: a two-point mechanism with an even spread, the larger the better it fits."""
    query = programme.query
    x = np.array([float(p) for p in programme.grid.points])
    y = np.array([float(v) for v in programme.values])
    low, high = y[0], y[-1]
    # Means with the most room: the answers, drawn together where a bias is allowed.
    middle = float(query.inputs[0] + query.inputs[1]) / 2
    drawn = 0.0 if query.bias is None else max(0.0, 1 - 2 * float(query.bias / query.width))
    targets = middle + (x - middle) * drawn
    best: tuple[float, Floats] | None = None
    for share in _SHARES:
        even = np.full(len(y), share / len(y))
        ends = (targets - share * y.mean()) / (1 - share)
        if ends.min() <= low or ends.max() >= high:
            continue
        rows = np.tile(even, (len(x), 1))
        rows[:, -1] += (1 - share) * (ends - low) / (high - low)
        rows[:, 0] += (1 - share) * (high - ends) / (high - low)
        ratio = _window_maximum(rows, programme.reach) / rows
        room = min(float(programme.epsilon) - float(np.log(ratio).max()), 0.1) * share
        if best is None or room > best[0]:
            best = room, rows
    if best is None or best[0] <= 0:
        raise SolverError("these bounds leave no room beside the two-point mechanism.")
    return best[1]


def _corrected(programme: Programme, masses: Floats) -> Floats:
    """Masses with the right sum and mean: a line over the outputs is added to each row."""
    y = np.array([float(v - programme.query.inputs[0]) for v in programme.values])
    x = np.array([float(p - programme.query.inputs[0]) for p in programme.grid.points])
    wanted = masses @ y / masses.sum(axis=1)
    if programme.query.bias is not None:
        limit = float(programme.query.bias) * (1 - 1e-9)
        wanted = np.clip(wanted, x - limit, x + limit)
    centred = y - y.mean()
    sums = 1.0 - masses.sum(axis=1)
    tilt = (wanted - masses @ y - sums * y.mean()) / (centred @ centred)
    return np.asarray(masses + sums[:, None] / len(y) + tilt[:, None] * centred[None, :])


def _share(part: float, total: int) -> int:
    """The whole part of a positive share of the total, exactly."""
    top, bottom = part.as_integer_ratio()
    return top * total // bottom


def _integers(programme: Programme, masses: Floats) -> Rows | None:
    """Weights with one total for all rows and the exact mean where it is required; None if one is negative."""
    query = programme.query
    # The smallest distance of neighbouring outputs divides the others.
    step = min(b - a for a, b in pairwise(programme.values))
    places = [int((v - programme.values[0]) / step) for v in programme.values]
    goals = [(p - programme.values[0]) / step for p in programme.grid.points]
    total = math.lcm(*(g.denominator for g in goals)) << _WEIGHT_BITS
    pivot = next(k for k in range(len(places) // 2, len(places) - 1) if places[k + 1] - places[k] == 1)
    rows = []
    for line, goal in zip(masses.tolist(), goals, strict=True):
        weights = [_share(p, total) if p > 0 else 0 for p in line]
        missing = total - sum(weights)
        here = sum(w * a for w, a in zip(weights, places, strict=True))
        wanted = int(goal * total) if not query.bias and query.bias is not None else here + missing * places[pivot]
        up = wanted - here - missing * places[pivot]
        weights[pivot + 1] += up
        weights[pivot] += missing - up
        if min(weights) < 0:
            return None
        rows.append(tuple(weights))
    return Rows(query, programme.grid, programme.values, tuple(rows))
