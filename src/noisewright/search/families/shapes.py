"""Closed forms for bounded questions: composites, piecewise, two-point, hybrid, truncated, central, clamped in levels.

The central piecewise mechanism has nested steps for a sensitivity smaller than the input range. Around the answer's
position heights fall by e^-epsilon with every move that one person can make, until the whole input range is covered;
then the height stays. One person moves the steps by one of their widths, so ratios are at most e^epsilon; the steps are
symmetric, so the mean is linear.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.laws.bumps import FLAT, Part, Plateau, Quartic, Steps
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.mechanisms.bounded.composite import ACTIVATIONS as ACTIVATIONS, Blend, Composite, whole_outputs
from noisewright.mechanisms.bounded.conditional import Grid, Rows, uniform_grid
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLawError, InvalidMechanismError
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import SquaredError
from noisewright.proof.bounded import bounded_ratio, largest_move
from noisewright.search.families.scalar_pure import best_half, best_split
from noisewright.search.golden_section import golden, lowest_share, round_number
from noisewright.search.programmes.bounded import ratio_below, smallest_margin

_CELLS = 1024
_MOST_CELLS = 1 << 12
_SCAN = 400
_DENOMINATOR = 10**9
_FLOOR_BITS = 60
_CORE_SCAN = 200
_BEND = Fraction(1, 10)
_MOST_WHOLE_ROWS = 400


def fitting_cells(query: Bounded, near: int) -> int:
    """A number of grid cells, at least `near`, of which the sensitivity is a whole number where that is possible.

    Whole answers have a row each where that many are allowed.
    """
    if query.integer and query.width <= _MOST_CELLS:
        return int(query.width)
    whole = (query.width / query.sensitivity).numerator
    if whole <= _MOST_CELLS:
        return whole * max(1, -(-near // whole))
    return max(near, min(_MOST_CELLS, 8 * math.ceil(query.width / query.sensitivity)))


def activation_share(activation: Part, base: Part, ratio: Fraction) -> Fraction:
    """The largest share of the mass that the activation may have: then supremum over infimum is `ratio`.

    Rule: (1 - s) top + s peak = ratio (1 - s) floor, with the peak rounded up where it is irrational.
    [theory#answers-in-bounds]
    """
    with precision():
        floor, top = (upper(-value) for value in base.extremes(BALLS))
        peak = upper(activation.extremes(BALLS)[1])
    excess = (top - ratio * floor) / peak
    if excess <= 0:
        raise InvalidLawError("this base is too uneven for epsilon: its own supremum over infimum uses all of it.")
    peak_rounded = excess / (1 + excess)
    return Fraction(math.floor(peak_rounded * 2**80), 2**80)


def composite(query: Bounded, epsilon: Fraction, activation: Part, base: Part = FLAT) -> Composite:
    """The composite mechanism of these two functions that uses all of epsilon.

    Raises InvalidMechanismError where its outputs would leave the bounds.
    """
    return on_a_lattice(query, activation, base, activation_share(activation, base, ratio_below(epsilon)))


def on_a_lattice(query: Bounded, activation: Part, base: Part, share: Fraction) -> Composite:
    """The composite mechanism of this share, or of the next smaller one whose outputs are whole if they must be."""
    cells = fitting_cells(query, _CELLS)
    if not query.integer:
        return Composite(query, activation, base, share, query.covered, cells)
    share, points = whole_outputs(query, activation, share)
    return Composite(query, activation, base, share, query.inputs, cells, points)


def bent_base(epsilon: Fraction) -> Quartic:
    """Base B2 with a tenth of the bend that epsilon allows: t / y from 1 towards e^-epsilon, where nothing is left.

    Rule: the less it is bent, the larger the activation's share; at its best B2 is B1. So it is shown with some bend.
    [theory#answers-in-bounds]
    """
    return Quartic(1 - _BEND * (1 - 1 / ratio_below(epsilon)))


def tuned_half(query: Bounded, epsilon: Fraction, kind: str, base: Part, goal: str) -> Fraction | None:
    """Half the width of the best activation for the goal "worst", "average" or "centre"; None where none fits."""
    low, high = query.covered
    ratio, room = math.exp(float(epsilon)), float((query.margin + query.width / 2) / (high - low))
    floor, top = base.extremes(FLOATS)
    base_square = float(base.second_moment(FLOATS))

    def cost(half: float) -> float:
        part = ACTIVATIONS[kind](Fraction(half))
        excess = (ratio * floor - top) / part.extremes(FLOATS)[1]
        share = excess / (1 + excess)
        scale = 1 / (2 * share * (1 - half))
        if scale > room:
            return math.inf
        far = {"worst": 1.0, "average": 1 / 3, "centre": 0.0}[goal] * (1 - half) ** 2
        square = share * (part.second_moment(FLOATS) + far) + (1 - share) * base_square - share**2 * far
        return float(scale**2 * square)

    return lowest_share(cost, _SCAN)


def goal_of(utility: Any) -> str:
    """Which of the closed forms' goals a utility is: an average over any prior is tuned as an even one."""
    return "average" if utility.averaged else "worst"


def piecewise_half(epsilon: Fraction) -> Fraction:
    """Half the width of the piecewise mechanism's step, (C - 1) / (2 C) with C = coth(epsilon / 4)."""
    return Fraction((1 - math.tanh(float(epsilon) / 4)) / 2).limit_denominator(_DENOMINATOR)


def two_point(query: Bounded, epsilon: Fraction, grid: Grid | None = None) -> Rows:
    """Only two outputs, as near as the guarantee allows; every answer in between by their mixture.

    Rule: the ratio is largest at the ends, where it is (margin + sensitivity) / margin. [theory#answers-in-bounds]
    """
    points = grid or uniform_grid(*query.covered, fitting_cells(query, 1))
    x, (low, high) = points.points, query.covered
    ends = points.reach(query.reach)
    reach = max(x[j] - x[i] for i, j in enumerate(ends))
    slack = query.bias or Fraction(0)
    margin = smallest_margin(Bounded(min(reach, high - low), (low, high), query.outputs, slack, True), epsilon)
    margin = Fraction(math.ceil(margin)) if query.integer else margin
    means = [p + slack * (1 - 2 * (p - low) / (high - low)) for p in x]
    bottom, top = low - margin, high + margin
    shares = [(mean - bottom) / (top - bottom) for mean in means]
    total = math.lcm(*(s.denominator for s in shares))
    weights = tuple((int((1 - s) * total), int(s * total)) for s in shares)
    return Rows(query, points, (bottom, top), weights)


def hybrid(query: Bounded, epsilon: Fraction, goal: str) -> Blend:
    """The piecewise mechanism or the two-point one, by the coin that makes the worst (or average) error least."""
    first = composite(query, epsilon, Plateau(piecewise_half(epsilon)))
    second = two_point(query, epsilon, first.grid)
    picks = (0, first.cells // 4, first.cells // 2)
    ours, theirs = ([m.moments(i, FLOATS)[1] for i in picks] for m in (first, second))

    def cost(share: float) -> float:
        mixed = [share * a + (1 - share) * b for a, b in zip(ours, theirs, strict=True)]
        # Both errors are parabolas in the answer, so the ends, or Simpson's rule, say all.
        return float(max(mixed[0], mixed[2]) if goal == "worst" else (mixed[0] + 2 * mixed[2]) / 3)

    share = min((0.0, 1.0, golden(cost, 0.0, 1.0)), key=cost)
    return Blend(first, second, Fraction(share).limit_denominator(_DENOMINATOR))


def truncated(query: Bounded, epsilon: Fraction, power: Fraction, ends: str = "cut") -> Truncated:
    """Noise cut at the bounds, or gathered there ("inflated"), with the least scale that the verifier's rule accepts.

    Guarantees: the rule was evaluated at the returned scale, which is least to one part in a million. It makes no
    bound on the bias.
    """
    free = replace(query, bias=None)
    contracted = query.bias is None
    # Where answers may not be drawn together, one cell fewer makes the others wide enough for the reach.
    cells = min(fitting_cells(query, 40), 120) - int(not contracted and query.covered != query.inputs)
    points = 1024
    if query.integer:
        points = int(query.outputs[1] - query.outputs[0])
        cells = int(query.width) if query.width <= _MOST_WHOLE_ROWS else cells
    scale = Fraction(float(query.sensitivity / epsilon)).limit_denominator(10**6) or query.sensitivity

    def made(candidate: Fraction) -> Truncated:
        return Truncated(free, power, candidate, cells, points, ends, contracted)

    def passes(candidate: Fraction) -> bool:
        return bounded_ratio(made(candidate), epsilon)[0] <= epsilon

    low, high = scale / 64, scale
    while not passes(high):
        low, high = high, 2 * high
    return made(first_true(passes, low, high, relative=1e-6, middle=lambda a, b: Fraction(float((a + b) / 2))))


def central(query: Bounded, epsilon: Fraction, core: Fraction) -> Composite:
    """The mechanism whose middle step takes `core` of half the outputs; tails get the rest.

    Guarantees nothing by itself: the verifier checks the steps against the largest move.
    """
    steps, share = nested_steps(query, epsilon, core)
    return on_a_lattice(query, steps, FLAT, share)


def nested_steps(query: Bounded, epsilon: Fraction, core: Fraction) -> tuple[Steps, Fraction]:
    """The activation above its floor, and its share of the mass, in rationals."""
    move, shells = _moves(query)
    width = 2 * move * (1 - core) / (1 + 2 * shells * move)
    # Whole numbers, each at most e^epsilon times the one outside it: exact powers would be endless to write down.
    levels = [1 << _FLOOR_BITS]
    for _ in range(shells + 1):
        levels.append(math.floor(levels[-1] * ratio_below(epsilon)))
    floor = Fraction(levels[0])
    heights = [Fraction(level) - floor for level in reversed(levels[1:])]
    reach = [core + j * width for j in range(shells + 1)]
    edges = (*(-r for r in reversed(reach)), *reach)
    steps = Steps(edges, (*reversed(heights[1:]), heights[0], *heights[1:]))
    return steps, steps.total / (steps.total + 2 * floor)


def tuned_core(query: Bounded, epsilon: Fraction, goal: str) -> Fraction | None:
    """The core with the least worst (or average) variance whose outputs fit the bounds; None where none does."""
    return lowest_share(lambda core: closed_variance(query, epsilon, core, goal), _CORE_SCAN)


def closed_variance(query: Bounded, epsilon: Fraction, core: float, goal: str) -> float:
    """Worst or average variance before anything is rounded, in floats; infinite where outputs leave the bounds."""
    move, shells = _moves(query)
    width = 2 * float(move) * (1 - core) / (1 + 2 * shells * float(move))
    reach = core + width * np.arange(shells + 1)
    levels = np.exp(-float(epsilon) * np.arange(shells + 2))
    drops, floor = levels[:-1] - levels[1:], levels[-1]
    total, square = 2 * np.sum(drops * reach), 2 * np.sum(drops * reach**3) / 3
    share, rest = total / (total + 2 * floor), 1 - reach[-1]
    stretch = 1 / (2 * share * rest)
    low, high = query.covered
    if stretch * float(high - low) > float(query.margin + query.width / 2):
        return math.inf
    far = rest**2 * (1.0 if goal == "worst" else 1 / 3)
    scale = float(query.width) * stretch
    return float(scale**2 * (share * (square / total + far) + (1 - share) / 3 - share**2 * far))


def _moves(query: Bounded) -> tuple[Fraction, int]:
    """The part of the range that one person can move the grid input by, and how many more such moves cover it."""
    cells = fitting_cells(query, _CELLS)
    move = min(Fraction(1), Fraction(math.ceil(query.sensitivity / query.width * cells), cells))
    return move, math.ceil(1 / move) - 1


# Clamped noise in levels: near the best noise without bounds, however wide the range.


_STEPS_PER_SCALE = 1000
_STEPS_PER_SPLIT = 20
_MOST_STEPS = 100_000
_MOST_LEVELS = 60_000
_FADED = 18.0
_FLOOR = 2**40
_ROUNDS = 60
_SHRUNK = Fraction(1, 2**44)
_UNIT = 2**40
_ROOMS = 8


def clamped_noise(query: Bounded, epsilon: Fraction, utility: Any) -> Clamped | None:
    """The clamped staircase for a question; None where the output bounds leave too little room for one.

    The noise that fits the sensitivity is tried first. Near a bound its place moves faster than the answer, so it is
    widened until it fits the largest move, too.
    """
    rate = float(epsilon)
    if query.integer:
        steps, step = int(query.sensitivity), Fraction(1)
    else:
        fine = max(100, math.ceil(_STEPS_PER_SCALE * rate), math.ceil(_STEPS_PER_SPLIT * math.exp(rate / 2)))
        steps = min(round_number(fine), _MOST_STEPS)
        step = query.sensitivity / steps
    span = float((query.outputs[1] - query.outputs[0]) / query.sensitivity)
    count = math.ceil((_FADED + 3 * math.log(max(rate * span, 1.0))) / rate) + 2
    if count > _MOST_LEVELS:
        return None
    move = query.reach / step
    for _ in range(_ROUNDS):
        period, part = _period(move, rate)
        try:
            made = Clamped(query, step, _top(query, epsilon, utility, period), period, _heights(rate, part, count))
        except InvalidMechanismError:
            return None
        needed = largest_move(made)
        if needed <= move:
            return made
        move = Fraction(math.ceil(needed * _UNIT) + 1, _UNIT)
    return None


def stretch(made: Clamped) -> Fraction:
    """How much faster than the answer the place of the noise moves, at most."""
    return largest_move(made) * made.step / made.query.reach


def least_outputs(
    query: Bounded, epsilon: Fraction, utility: Any, most: Fraction | None = None
) -> tuple[Fraction, Fraction]:
    """Output bounds about as near to the inputs as clamped noise can have for this question, alike on both sides.

    With `most` they are those in which its place is stretched by no more than that.
    Guarantees: clamped noise was made for the bounds that are returned.
    """
    low, high = query.inputs

    def outputs(rooms: int) -> tuple[Fraction, Fraction]:
        room = rooms * query.sensitivity if query.integer else rooms * query.sensitivity / epsilon / _ROOMS
        return low - room, high + room

    def fits(rooms: int) -> bool:
        made = clamped_noise(replace(query, outputs=outputs(rooms)), epsilon, utility)
        return made is not None and (most is None or stretch(made) <= most)

    return outputs(first_true(fits, *gallop(fits, 0, 1)))


def _period(move: Fraction, rate: float) -> tuple[int, float]:
    """A whole number of steps for one level, and what a move exceeds it by: rounded down or up, whichever costs less.

    A period that is longer widens the noise; one that is shorter by a part of a step costs that part of a ratio.
    """
    whole = math.floor(move)
    part = float(move - whole)
    if part * math.expm1(rate) / rate <= (1 - part) / float(move):
        return whole, part
    return whole + 1, 0.0


def _heights(rate: float, part: float, count: int) -> list[int]:
    """Heights that fall by a factor r with r (1 + part (r - 1)) at most e^rate, largest first."""
    growth = math.exp(rate)
    linear = 1 - part
    ratio = Fraction(2 * growth / (linear + math.sqrt(linear * linear + 4 * part * growth))) * (1 - _SHRUNK)
    heights = [_FLOOR]
    for _ in range(count):
        heights.append(math.floor(heights[-1] * ratio))
    return heights[::-1]


def _top(query: Bounded, epsilon: Fraction, utility: Any, period: int) -> int:
    """Half of the top level, in steps: that of the best staircase without bounds."""
    charged = SquaredError() if utility.averaged else utility
    if query.integer:
        return best_half(Scalar(period, integer=True), epsilon, charged)
    split = best_split(charged.scaled(query.sensitivity), epsilon)
    return min(max(0, round(split * period - 0.5)), period)
