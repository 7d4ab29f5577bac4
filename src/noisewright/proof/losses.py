"""Composition of Laplace privacy losses, every rounding to the safe side.

For Laplace noise and a shift of a scales, the loss ln p(x)/q(x) of x ~ p is a with probability 1/2, -a with
probability e^-a / 2, and a - 2t with density e^-t / 2 for 0 < t < a. Losses are rounded up to a grid and masses up
to multiples of 2^-128; neither can lower delta = sum of mass * (1 - e^(epsilon - loss)) over losses above
epsilon. Sums of losses are products of polynomials with integer coefficients, rounded up again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from noisewright.numerics.balls import ball, ceil_scaled, mass_product, precision, upper
from noisewright.problem.errors import UncertifiedError

_MASS_BITS = 128
_WORKING_BITS = 256
_SLACK = Fraction(1, 500)
_MOST_CELLS = 4_000_000


def composed_delta(shifts: Sequence[Fraction], epsilon: Fraction) -> Fraction:
    """A rational at or above delta(epsilon) of independent Laplace noises shifted by so many scales each."""
    if sum(shifts, Fraction(0)) <= epsilon:
        return Fraction(0)
    # The average rounding of one loss is half a cell; all together they move the sum by _SLACK epsilon.
    cell = 2 * _SLACK * epsilon / len(shifts)
    cells = sum(math.ceil(a / cell) for a in shifts) * 2
    if cells > _MOST_CELLS:
        raise UncertifiedError(
            f"composing {len(shifts)} noises needs {cells} cells; at most {_MOST_CELLS} are allowed."
        )
    with precision(_WORKING_BITS):
        found = {a: _loss_masses(a, cell) for a in set(shifts)}
        factors, offset = [found[a][0] for a in shifts], sum(found[a][1] for a in shifts)
        return _hockey_stick(mass_product(factors, _MASS_BITS), offset, cell, epsilon)


def _loss_masses(shift: Fraction, cell: Fraction) -> tuple[list[int], int]:
    """Masses of the rounded-up loss, as whole multiples of 2^-128, and the grid index of the first."""
    lowest, highest = math.ceil(-shift / cell), math.ceil(shift / cell)
    masses = [0] * (highest - lowest + 1)
    half, growth = ball(Fraction(1, 2)), ball(cell / 2).exp()
    # Losses up to l come from t >= (a - l)/2 and have mass e^(-(a - l)/2) / 2; all of -a and more from t >= a.
    previous = ball(-shift).exp() * half
    current = ball((lowest * cell - shift) / 2).exp() * half
    masses[0] = ceil_scaled(previous, _MASS_BITS)
    for place in range(highest - lowest):
        masses[place] += ceil_scaled(current - previous, _MASS_BITS)
        previous, current = current, current * growth
    masses[-1] += ceil_scaled(half - previous, _MASS_BITS) + ceil_scaled(half, _MASS_BITS)
    return masses, lowest


def _hockey_stick(masses: list[int], offset: int, cell: Fraction, epsilon: Fraction) -> Fraction:
    first = max(0, math.floor(epsilon / cell) + 1 - offset)
    fade, total = ball(-cell).exp(), ball(0)
    weight = ball(epsilon - (first + offset) * cell).exp()
    for mass in masses[first:]:
        total = total + ball(mass) * (1 - weight)
        weight = weight * fade
    return upper(total / ball(1 << _MASS_BITS))
