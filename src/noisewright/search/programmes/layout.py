"""Which inputs and outputs a linear programme for a bounded question works on, and what it charges for each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.bounded.conditional import Grid, uniform_grid
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.queries import Bounded
from noisewright.problem.utilities import AverageVariance
from noisewright.search.programmes.bounded import Programme, smallest_margin

BITS = 60
"""Certified charges are whole numbers of 2^-60."""
_GROWTH = 1.3
_MOST_MULTIPLE = 4
_MOST_WHOLE, _MOST_PAIRS, _WHOLE_IF_FULL = 120, 400, 60
_ROUNDING = 2.0**-44


@dataclass(frozen=True, slots=True)
class Size:
    """How many cells of inputs and of outputs a programme has."""

    inputs: int
    outputs: int


Places = tuple[Fraction, ...]
_NARROW = Size(40, 240)
_WIDEST, _FADED = 80, 29


def default_size(query: Bounded, epsilon: Fraction) -> Size:
    """A grid that is solved in seconds; where masses fade far, closed forms win and a coarser one does."""
    if query.sensitivity == query.width:
        return Size(40, 400)
    return Size(40, 300) if epsilon * query.width < 20 * query.sensitivity else Size(40, 160)


def _input_grid(query: Bounded, cells: int) -> Grid:
    """Equal cells of which what one person can reach is a whole number, the last one shorter if it must be.

    A sensitivity much smaller than a cell counts as one cell: private all the same, and not the best. Whole answers
    have a row each as long as there are few.
    """
    most = _WHOLE_IF_FULL if query.sensitivity == query.width else min(_MOST_WHOLE, _MOST_PAIRS // query.sensitivity)
    if query.integer and query.width <= most:
        return uniform_grid(*query.inputs, int(query.width))
    whole = (query.width / query.sensitivity).numerator
    low, high = query.covered
    if whole <= _MOST_MULTIPLE * cells:
        return uniform_grid(low, high, whole * max(1, round(cells / whole)))
    if query.width > 2 * cells * query.sensitivity:
        return uniform_grid(*query.inputs, cells)
    step = query.reach / max(1, round(query.sensitivity * cells / query.width))
    points = [low + i * step for i in range(math.ceil((high - low) / step))]
    return Grid((*points, high))


def output_values(query: Bounded, epsilon: Fraction, cells: int) -> tuple[Fraction, ...]:
    """Equal cells as far as outputs are of use, growing ones from there to the bounds."""
    low, high = query.outputs
    useful = max(2 * query.sensitivity / epsilon, smallest_margin(query, epsilon) * Fraction(11, 10))
    inner = max(low, query.inputs[0] - useful), min(high, query.inputs[1] + useful)
    if query.integer:
        return _whole_values(query.outputs, inner, cells)
    if inner == (low, high):
        return tuple(low + (high - low) * Fraction(k, cells) for k in range(cells + 1))
    count = math.ceil((high - low) * cells / (inner[1] - inner[0]))
    step = (high - low) / count
    below, above = math.floor((inner[0] - low) / step), math.floor((high - inner[1]) / step)
    places = {*range(below, count - above + 1), *_outward(below), *(count - k for k in _outward(above))}
    return tuple(low + k * step for k in sorted(places))


def _whole_values(ends: Places, inner: Places, cells: int) -> Places:
    """Whole outputs a whole step apart as far as they are of use, and growing multiples of it from there."""
    step = max(1, math.ceil((inner[1] - inner[0]) / cells))
    count = int(ends[1] - ends[0]) // step
    low = ends[0] + (int(ends[1] - ends[0]) % step) // 2
    below = min(count, max(0, math.floor((inner[0] - low) / step)))
    above = min(count - below, max(0, math.floor((low + count * step - inner[1]) / step)))
    places = {*range(below, count - above + 1), *_outward(below), *(count - k for k in _outward(above))}
    return tuple(low + k * step for k in sorted(places))


def _outward(places: int) -> list[int]:
    """Whole numbers from `places` down to 0 with growing gaps."""
    result, gap = [], 1.0
    while places > 0:
        result.append(places)
        gap *= _GROWTH
        places -= max(1, math.floor(gap))
    return [*result, 0]


def design_programme(query: Bounded, epsilon: Fraction, utility: Any, size: Size) -> Programme:
    """The programme whose rows become the mechanism."""
    grid = _input_grid(query, size.inputs)
    values = output_values(query, epsilon, size.outputs)
    weights = None
    if utility.averaged and utility.prior is not None:
        grid = Grid(tuple(sorted({*grid.points, *_atoms(query, utility)})))
        weights = _prior_weights(grid.points, utility)
    elif utility.averaged and query.integer and grid.every_whole:
        weights = (Fraction(1, len(grid.points)),) * len(grid.points)
    elif utility.averaged:
        # Half of each cell beside a row.
        x = grid.points
        ends = zip((*x[1:], x[-1]), (x[0], *x[:-1]), strict=True)
        weights = tuple((after - before) / (2 * (x[-1] - x[0])) for after, before in ends)
    return Programme(query, epsilon, grid, values, tuple(grid.reach(query.reach)), weights)


def bound_programme(design: Programme, utility: Any) -> tuple[Programme, Fraction]:
    """The programme whose value bounds every mechanism, and what must be taken off it.

    Rule: any choice of inputs and of pairs within the sensitivity gives a relaxation. Where masses fade far, answers
    in the middle of the range stand for all: a mechanism for the whole range is one for them.
    [theory#answers-in-bounds]
    """
    if design.steep and not utility.averaged:
        design = design_programme(_middle(design.query, design.epsilon), design.epsilon, utility, _NARROW)
    query = design.query
    if query.integer and (not utility.averaged or utility.prior is None):
        return _whole_answers(design, utility.averaged), Fraction(0)
    if not utility.averaged:
        # Drawn together to the inputs themselves, points that fit the reach fit the sensitivity.
        low, high = query.inputs
        start, end = design.grid.points[0], design.grid.points[-1]
        points = tuple(low + (p - start) * (high - low) / (end - start) for p in design.grid.points)
        return _relaxed(design, points, None), Fraction(0)
    if utility.prior is None:
        return _averaged(design)
    points = tuple(sorted({*query.inputs, *_atoms(query, utility)}))
    return _relaxed(design, points, _prior_weights(points, utility)), Fraction(0)


def _middle(query: Bounded, epsilon: Fraction) -> Bounded:
    """A lighter question: answers in the middle of the range, and outputs no farther, with any bias.

    Rule: an output beyond the middle, moved to its nearer end, is no farther from any answer in it, and moving
    outputs keeps privacy. It takes as many sensitivities as a programme solves well. [theory#answers-in-bounds]
    """
    width = min(_WIDEST, math.floor(_FADED / epsilon) or 1) * query.sensitivity
    below = (query.width - width) / 2
    low = query.inputs[0] + (math.floor(below) if query.integer else below)
    return replace(query, inputs=(low, low + width), outputs=(low, low + width), bias=None)


def _relaxed(design: Programme, points: tuple[Fraction, ...], weights: tuple[Fraction, ...] | None) -> Programme:
    """The same question at some inputs, with the pairs that are within the sensitivity for sure."""
    delta, count = design.query.sensitivity, len(points)
    values = tuple(sorted({*design.values, *design.query.outputs}))
    reach = tuple(max(j for j in range(i, count) if points[j] - points[i] <= delta) for i in range(count))
    return Programme(design.query, design.epsilon, Grid(points), values, reach, weights)


def _whole_answers(design: Programme, averaged: bool) -> Programme:
    """Rows for whole answers near those of the grid; in an average over all of them the others count nothing."""
    points = tuple(sorted({Fraction(round(p)) for p in design.grid.points}))
    weights = (1 / (design.query.width + 1),) * len(points) if averaged else None
    return _relaxed(design, points, weights)


def _averaged(design: Programme) -> tuple[Programme, Fraction]:
    """Rows for the ends of the range and for the middles of its cells.

    Rule: averaging a mechanism over each cell keeps its privacy and its mean, and adds the variance
    of a uniform place in the cell. An end is a neighbour of a cell if it is one of all its answers.
    [theory#answers-in-bounds]
    """
    query, (low, high) = design.query, design.query.inputs
    cells = len(design.grid.points) - 1
    width = query.width / cells
    points = (low, *(low + width * Fraction(2 * i + 1, 2) for i in range(cells)), high)
    weights = (Fraction(0), *(Fraction(1, cells) for _ in range(cells)), Fraction(0))
    half = width / 2

    def near(i: int, j: int) -> bool:
        beyond = half if (i == 0) != (j == cells + 1) else 0
        return points[j] - points[i] + beyond <= query.sensitivity

    reach = tuple(max(j for j in range(i, cells + 2) if i == j or near(i, j)) for i in range(cells + 2))
    spare = width**2 / 12 + half * (query.bias or Fraction(0))
    return Programme(query, design.epsilon, Grid(points), design.values, reach, weights), spare


def _atoms(query: Bounded, utility: AverageVariance) -> list[Fraction]:
    atoms = [x for x, _ in utility.prior or ()]
    if atoms[0] < query.inputs[0] or atoms[-1] > query.inputs[1]:
        raise InvalidUtilityError("the prior has answers outside the inputs of the question; leave them out.")
    if query.integer and any(x.denominator != 1 for x in atoms):
        raise InvalidUtilityError("the prior has answers that are not whole numbers; leave them out.")
    return atoms


def _prior_weights(points: tuple[Fraction, ...], utility: AverageVariance) -> tuple[Fraction, ...]:
    prior = dict(utility.prior or ())
    return tuple(prior.get(p, Fraction(0)) for p in points)


@dataclass(frozen=True, slots=True)
class Charges:
    """Whole numbers whose line from output to output stays at or below the loss at every input.

    Each cost is at most the loss minus `spare`; the least spare of a row is what its price must allow for.
    """

    costs: list[list[int]]
    spare: list[int]


def exponent(utility: Any) -> Fraction | None:
    """The power of |error| that is charged; None where missing a limit is."""
    if utility.edges:
        return None
    return Fraction(2) if utility.averaged else Fraction(utility.power)


def charges(programme: Programme, utility: Any) -> Floats:
    """What a design pays for each output: |error|^power, or one for a miss."""
    distances, power = programme.distances, exponent(utility)
    if power is not None:
        return np.asarray(distances**2 if power == 2 else np.abs(distances) ** float(power))
    return np.asarray(np.abs(distances) > _limit(programme, utility), dtype=np.float64)


def charges_below(programme: Programme, utility: Any) -> Charges:
    """What every mechanism pays for sure, wherever its outputs are: costs from below, in whole numbers.

    Rule: a release is rounded at random to the outputs of the programme, which keeps its mean and its privacy.
    That may add to the loss no more than a chord lies above it in the cells beside an output. Missing is
    charged only where the next output towards the input has missed as well. Between two whole numbers that follow
    one another there is no whole output, so nothing is rounded there. [theory#answers-in-bounds]
    """
    distances, power = programme.distances, exponent(utility)
    doubt = _doubt(distances)
    if power is None:
        costs = [[int(c) << BITS for c in row] for row in missed(programme, utility).tolist()]
        return Charges(costs, [0] * len(costs))
    gaps = np.pad(np.where(_next_to(programme), 0.0, _chord_gaps(distances, float(power), doubt)), ((0, 0), (1, 1)))
    spare = np.maximum(gaps[:, :-1], gaps[:, 1:]) * (1 + _ROUNDING)
    paid = np.maximum(np.abs(distances) - doubt, 0.0) ** float(power) * (1 - _ROUNDING)
    costs = [[math.floor(c * 2.0**BITS) for c in row] for row in (paid - spare).tolist()]
    return Charges(costs, [math.ceil(s * 2.0**BITS) for s in spare.min(axis=1).tolist()])


def missed(programme: Programme, utility: Any) -> Floats:
    """One where an output misses the limit for sure, and those beside it as well; else zero."""
    distances = programme.distances
    limit = _limit(programme, utility) + _doubt(distances)
    sides = np.where(distances >= limit, 1.0, np.where(distances <= -limit, -1.0, 0.0))
    agree = np.pad((sides[:, 1:] == sides[:, :-1]) | _next_to(programme), ((0, 0), (1, 1)), constant_values=True)
    return np.asarray(np.abs(np.where(agree[:, :-1] & agree[:, 1:], sides, 0.0)))


def _limit(programme: Programme, utility: Any) -> float:
    """The largest error that does not miss, in sensitivities; half-way to the next one where errors are whole."""
    within = utility.edges[0]
    if programme.query.integer and all(p.denominator == 1 for p in programme.grid.points):
        within = math.floor(within) + Fraction(1, 2)
    return float(within / programme.query.sensitivity)


def _next_to(programme: Programme) -> NDArray[np.bool_]:
    """Between which outputs there is no other that the question allows."""
    return np.array([programme.query.integer and b - a == 1 for a, b in pairwise(programme.values)])


def _doubt(distances: Floats) -> float:
    """How far a distance in floats may be from the truth, and more."""
    return _ROUNDING * (1 + float(np.abs(distances).max()))


def _chord_gaps(distances: Floats, power: float, doubt: float) -> Floats:
    """How far a chord of |distance|^power may lie above it, in every cell of outputs and at every input.

    Rule: below power 1 only where the cell holds the input. From 1 to 2 a quarter of the width times what the slope
    gains, from 2 on an eighth of the squared width times the largest second derivative. [theory#answers-in-bounds]
    """
    start, end = distances[:, :-1], distances[:, 1:]
    width, holds = end - start + doubt, (start < -doubt) & (end > doubt)
    far = np.maximum(np.abs(start), np.abs(end)) + doubt
    if power >= 2:
        return np.asarray(width**2 / 8 * power * (power - 1) * far ** (power - 2))
    if power < 1:
        return np.asarray(np.where(holds, far**power, doubt**power))
    near = np.minimum(np.abs(start), np.abs(end))
    inner = np.where(holds, (near + doubt) ** (power - 1), -(np.maximum(near - doubt, 0.0) ** (power - 1)))
    return np.asarray(width / 4 * power * (far ** (power - 1) + inner) + 2 * doubt**power)
