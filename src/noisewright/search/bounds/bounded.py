"""A certified bound from below, from the multipliers of a linear programme, in exact integers.

Any private mechanism, restricted to the grid inputs and with its output rounded at random to the
output points, satisfies the programme's constraints; rounding adds at most a quarter of a squared
cell to its squared error. So with each output costed that much less, the Lagrangian at *any*
multipliers is below what every mechanism pays. The multipliers come from the solver; what is
claimed for them is evaluated here without rounding.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import lcm

from noisewright.search.programmes.bounded import Multipliers, Programme
from noisewright.search.programmes.feasible import ratio_above

_BITS = 60


def certified_lower(programme: Programme, multipliers: Multipliers) -> Fraction:
    """What no mechanism can beat: the worst (or weighted) mean squared error over the grid inputs.

    Guarantees: a lower bound for every mechanism with outputs inside the bounds, on any outputs and
    for any refinement of the inputs, whatever the multipliers are. Valid for squared error.
    """
    scale = programme.query.sensitivity
    x, y = list(programme.grid.points), list(programme.values)
    unit = Fraction(1, _common_denominator([p / scale for p in (*x, *y)]))
    places, outs = ([int(p / scale / unit) for p in points] for points in (x, y))
    spare = _rounding_cost(outs)
    counts = _counts(programme, multipliers)
    size = int(1 / unit)
    # Everything below is an integer count of 2^-60 unit^2.
    mass = [_dyadic(v) - -(-w * min(spare) // (4 * size * size)) for v, w in zip(multipliers.mass, counts, strict=True)]
    mean = [_dyadic(v) if programme.query.bias is not None else 0 for v in multipliers.mean]
    costs = [
        [
            4 * (w * ((b - a) * (b - a)) - m * size * size - t * (b - a) * size) - w * s
            for b, s in zip(outs, spare, strict=True)
        ]
        for w, m, t, a in zip(counts, mass, mean, places, strict=True)
    ]
    rounding = Fraction(1, 4 * size * size * 2**_BITS)
    slack = programme.query.bias or Fraction(0)
    total = Fraction(sum(mass), 2**_BITS) - slack / scale * Fraction(sum(abs(t) for t in mean), 2**_BITS)
    if programme.full:
        total += rounding * _floor_term(programme, costs)
    else:
        total += rounding * _pair_term(programme, multipliers, costs, 4 * size * size)
    return max(Fraction(0), total) * scale**2


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


def _pair_term(programme: Programme, multipliers: Multipliers, costs: list[list[int]], units: int) -> Fraction:
    """Sum over the rows, each of mass one, of its least reduced cost, if negative."""
    first, second, values = multipliers.pairs
    last, reach = programme.grid.last, programme.reach
    ratio = ratio_above(programme.epsilon, 40)
    ratio_top, ratio_bottom = ratio.numerator, ratio.denominator
    reduced = [[c * ratio_bottom for c in row] for row in costs]
    for i, k, row in zip(first.tolist(), second.tolist(), values.tolist(), strict=True):
        if not (0 <= min(i, k) < max(i, k) <= last and max(i, k) <= reach[min(i, k)]):
            continue  # Nothing is promised for inputs that nobody can turn into one another.
        ours, theirs = reduced[i], reduced[k]
        for place, value in enumerate(row):
            if value > 0:
                steps = _dyadic(value) * units
                ours[place] += steps * ratio_bottom
                theirs[place] -= steps * ratio_top
    return sum((Fraction(min(0, min(row)), ratio_bottom) for row in reduced), Fraction(0))


def _counts(programme: Programme, multipliers: Multipliers) -> list[int]:
    """What each row counts, as integers that sum to at most 2^60 (exactly the prior's where one is given)."""
    if programme.weights is not None:
        return [int(w * 2**_BITS) for w in programme.weights]
    counts = [max(0, _dyadic(float(v))) for v in multipliers.counts]
    total = sum(counts) or 1
    return [c * 2**_BITS // total for c in counts]


def _rounding_cost(outs: list[int]) -> list[int]:
    """Square of the wider of the two cells beside each output: four times what rounding to it can add."""
    cells = [b - a for a, b in pairwise(outs)]
    return [max(left, right) ** 2 for left, right in zip([0, *cells], [*cells, 0], strict=True)]


def _dyadic(value: float) -> int:
    return round(value * 2.0**_BITS)


def _common_denominator(numbers: list[Fraction]) -> int:
    return lcm(*(n.denominator for n in numbers))
