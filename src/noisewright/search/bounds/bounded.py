"""A certified bound from below, from the multipliers of a linear programme, in exact integers.

Any private mechanism, restricted to the grid inputs and with its output rounded at random to the
output points, satisfies the programme's constraints, and pays at least what `charges_below` says. So
with each output costed that, the Lagrangian at *any* multipliers is below what every mechanism pays. The
multipliers come from the solver; what is claimed for them is evaluated here, rounded down.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

from noisewright.numerics.balls import ball, lower, precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import SquaredError, Usefulness
from noisewright.search.bounds.approximate import find_dual, proven_bound
from noisewright.search.programmes.bounded import Multipliers, Programme, ratio_above
from noisewright.search.programmes.layout import BITS, charges_below, exponent

SQUARED = SquaredError()
_BLURRED = Fraction(1001, 1000)


def certified_lower(programme: Programme, multipliers: Multipliers, utility: Any = SQUARED) -> Fraction:
    """What no mechanism can beat: the worst (or weighted) mean loss over the grid inputs; a miss costs one.

    Guarantees: a lower bound for every mechanism with outputs inside the bounds, on any outputs and
    for any refinement of the inputs, whatever the multipliers are.
    """
    scale = programme.query.sensitivity
    x, y = list(programme.grid.points), list(programme.values)
    size = lcm(*((p / scale).denominator for p in (*x, *y)))
    places, outs = ([int(p / scale * size) for p in points] for points in (x, y))
    charged = charges_below(programme, utility)
    counts = _counts(programme, multipliers)
    # Everything below is an integer count of 2^-60.
    mass = [_dyadic(v) - -(-w * s >> BITS) for v, w, s in zip(multipliers.mass, counts, charged.spare, strict=True)]
    mean = [_dyadic(v) if programme.query.bias is not None else 0 for v in multipliers.mean]
    costs = [
        [(w * cost >> BITS) - m + (-t * (b - a) // size) for b, cost in zip(outs, row, strict=True)]
        for w, m, t, a, row in zip(counts, mass, mean, places, charged.costs, strict=True)
    ]
    slack = programme.query.bias or Fraction(0)
    total: Fraction = sum(mass) - slack / scale * sum(abs(t) for t in mean)
    total += _floor_term(programme, costs) if programme.full else _pair_term(programme, multipliers, costs)
    return max(Fraction(0), total / (1 << BITS)) * _unit(scale, exponent(utility))


def _unit(scale: Fraction, power: Fraction | None) -> Fraction:
    """A rational at or below scale^power."""
    if power is None:
        return Fraction(1)
    with precision():
        least: Fraction = lower(BALLS.power(ball(scale), power))
        return least


def _floor_term(programme: Programme, costs: list[list[int]]) -> Fraction:
    """Least of sum_i c_i(y) p_i over masses between 1 and e^epsilon, over all outputs y, if negative.

    The smallest mass of each output sums to at most one, so this least value bounds the whole sum.
    """
    growth = ratio_above(programme.epsilon) - 1
    worst = Fraction(0)
    for column in zip(*costs, strict=True):
        gain = sum(c for c in column if c < 0)
        worst = min(worst, sum(column) + growth * gain)
    return worst


def _pair_term(programme: Programme, multipliers: Multipliers, costs: list[list[int]]) -> Fraction:
    """Sum over the rows, each of mass one, of its least reduced cost, if negative."""
    first, second, values = multipliers.pairs
    last, reach = programme.grid.last, programme.reach
    ratio = ratio_above(programme.epsilon, 40)
    ratio_top, ratio_bottom = ratio.numerator, ratio.denominator
    reduced = [[c * ratio_bottom for c in row] for row in costs]
    for i, k, row in zip(first.tolist(), second.tolist(), values.tolist(), strict=True):
        if not (0 <= min(i, k) < max(i, k) <= last and max(i, k) <= reach[min(i, k)]):
            continue  # Nothing is guaranteed for inputs that nobody can turn into one another.
        ours, theirs = reduced[i], reduced[k]
        for place, value in enumerate(row):
            if value > 0:
                steps = _dyadic(value)
                ours[place] += steps * ratio_bottom
                theirs[place] -= steps * ratio_top
    return sum((Fraction(min(0, min(row)), ratio_bottom) for row in reduced), Fraction(0))


def _counts(programme: Programme, multipliers: Multipliers) -> list[int]:
    """What each row counts, as integers that sum to at most 2^60 (exactly the prior's where one is given)."""
    if programme.weights is not None:
        return [int(w * 2**BITS) for w in programme.weights]
    counts = [max(0, _dyadic(float(v))) for v in multipliers.counts]
    total = sum(counts) or 1
    return [c * 2**BITS // total for c in counts]


def _dyadic(value: float) -> int:
    return round(value * 2.0**BITS)


def wide_bound(query: Bounded, epsilon: Fraction, utility: Any) -> Fraction | None:
    """A bound for ranges of many sensitivities; None where none is known.

    Rule: the error averaged over all answers in the range is that of one noise law. Shifting that law by at most the
    sensitivity is the same as moving every answer, but for those that would leave the range: a share of at most
    sensitivity / range (or, of whole numbers, sensitivity / how many there are). So the law is private with that delta,
    its mean loss is at least what no such noise can beat, and the worst loss is at least the average. For a usefulness
    the law must have a density: blurred evenly by a little it has one, stays as private, and counts as useful as often
    if the limit is as much wider. [theory#answers-in-bounds]
    """
    if utility.power is None and not utility.edges and not (utility.averaged and utility.prior is None):
        return None
    asked = Scalar(query.sensitivity, integer=query.integer)
    privacy = ApproxDP(epsilon, query.sensitivity / (query.width + query.integer))
    charged: Any = SquaredError() if utility.averaged else utility
    if utility.edges and not query.integer:
        charged = Usefulness(utility.edges[0] * _BLURRED)
    dual = find_dual(asked, privacy, charged)
    return None if dual is None else proven_bound(asked, privacy, charged, dual)
