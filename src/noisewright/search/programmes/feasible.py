"""Whether a bounded question can be answered at all, and what is nearest if not."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.problem.errors import InfeasibleError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON
from noisewright.problem.queries import Bounded

_BITS = 192
_DIGITS = 12


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
    """
    bias = query.bias
    if bias is None or 2 * bias >= query.width:
        return -query.width
    slope = 1 - 2 * bias / query.width
    exact = query.reach * slope / (ratio_below(epsilon, 160) - 1) - bias
    return _up(exact + query.covered[1] - query.inputs[1])


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
