"""Whether a bounded question can be answered at all, what is nearest if not, and weights that keep every promise.

The solver's masses break each constraint by about a billionth. They are lifted until ratios hold,
mixed with a trace of a mechanism that has room in every constraint, corrected to the exact sum and
mean with what that room allows, and read as integers. The verifier has the last word.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from noisewright.mechanisms.bounded.conditional import Rows
from noisewright.numerics.arrays import Floats
from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.problem.errors import InfeasibleError, SolverError, UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, PureDP
from noisewright.problem.queries import Bounded
from noisewright.proof.certify import certify
from noisewright.search.programmes.bounded import Programme

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
    promise = f"with a bias of at most {show(query.bias)}" if query.bias else "without bias"
    raise InfeasibleError(
        f"inputs in [{show(query.inputs[0])}, {show(query.inputs[1])}] with sensitivity {show(query.sensitivity)}"
        f" cannot be answered {promise} inside [{show(query.outputs[0])}, {show(query.outputs[1])}] at"
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
    """Weights with one total for all rows and the exact mean where it is promised; None if one is negative."""
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
