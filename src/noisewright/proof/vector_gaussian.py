"""(epsilon, delta) for several numbers: Gaussian noise exactly, all other noise by composing privacy losses.

The Gaussian rule: for independent or correlated Gaussian noise the privacy loss of a difference d is itself
Gaussian and depends on d only through the length M of d in units of the noise, so
delta = Q(epsilon/M - M/2) - e^epsilon Q(epsilon/M + M/2), which increases with M.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear_gaussian import LinearGaussian, Matrix, apply
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.balls import Ball, ball, ceil_scaled, mass_product, precision, upper
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import ROUNDING, Vector
from noisewright.problem.sensitivity import NormBall, Points
from noisewright.proof.approximate import additive_delta
from noisewright.proof.composed import Move, hockey_stick, joint_delta, move_of, squared_length
from noisewright.proof.provers import proves
from noisewright.proof.vectors import (
    counted,
    most_moving,
    moved,
    part_costs,
    per_coordinate_bound,
    refuse_uncovered,
    root_above,
    whole_steps,
    widening,
    worst_cost,
    worst_moves,
)

_MASS_BITS = 128
_WORKING_BITS = 256
_SLACK = Fraction(1, 500)
_MOST_CELLS = 4_000_000
_BITS = 192


def composed_delta(shifts: Sequence[Fraction], epsilon: Fraction) -> Fraction:
    """A rational at or above delta(epsilon) of independent Laplace noises shifted by so many scales each.

    Rule: for a shift of a scales the loss ln p(x)/q(x) of x ~ p is a with probability 1/2, -a with probability
    e^-a / 2, and a - 2t with density e^-t / 2 for 0 < t < a. Losses are rounded up to a grid and masses up to
    multiples of 2^-128; neither can lower delta = sum of mass * (1 - e^(epsilon - loss)) over losses above epsilon.
    Sums of losses are products of polynomials with integer coefficients, rounded up again.
    [theory#several-noises-under]
    """
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
        return hockey_stick(mass_product(factors, _MASS_BITS), offset, cell, epsilon, _MASS_BITS)


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


@proves(ApproxDP, PerCoordinate)
def approximate_per_coordinate(mechanism: PerCoordinate, requirement: ApproxDP) -> tuple[Fraction, str]:
    """Gaussian parts by their exact rule, purely private ones with delta = 0, all others by composing their losses."""
    laws = [part.law for part in mechanism.parts if part is not None]
    if laws and all(isinstance(law, Gaussian) for law in laws):
        squared = vector_squared_sensitivity(mechanism)
        return gaussian_delta(requirement.epsilon, squared), "approximate/gaussian-vector"
    query = mechanism.query
    if most_moving(query.sensitivity, query.whole) == 1:
        return _one_at_a_time(mechanism, requirement), "approximate/one-at-a-time"
    refuse_uncovered(query, [part is not None for part in mechanism.parts])
    plain = counted(query)
    found = _from_pure(mechanism, requirement.epsilon)
    if found is None and plain is not None and all(isinstance(law, Laplace) for law in laws):
        found = _laplace_composed(mechanism, plain.each, plain.together, requirement)
    return found or _losses_composed(mechanism, requirement.epsilon)


def _from_pure(mechanism: PerCoordinate, epsilon: Fraction) -> tuple[Fraction, str] | None:
    """Delta 0 where the pure bounds of the parts add up to at most epsilon; None where not, or where there is none."""
    try:
        bound, rule = per_coordinate_bound(mechanism)
    except UncertifiedError:
        return None
    return (Fraction(0), rule.replace("pure/", "approximate/pure-", 1)) if bound <= epsilon else None


def _laplace_composed(
    mechanism: PerCoordinate, each: tuple[Fraction, ...], together: int, requirement: ApproxDP
) -> tuple[Fraction, str] | None:
    """The rule for Laplace noise alone, which saved certificates name; None where it does not reach the claim."""
    shifts = []
    for part, extent in zip(mechanism.parts, each, strict=True):
        if part is not None and extent:
            assert isinstance(part.law, Laplace)
            shifts.append(whole_steps(extent, part.lattice.step) * part.lattice.step / part.law.scale)
    # A larger shift in units of the scale dominates a smaller one, so the largest ones are the worst to move.
    worst = sorted(shifts, reverse=True)[:together]
    try:
        delta = composed_delta(worst, requirement.epsilon)
    except UncertifiedError:
        return None
    return (delta, "approximate/laplace-composed") if delta <= requirement.delta else None


def _losses_composed(mechanism: PerCoordinate, epsilon: Fraction) -> tuple[Fraction, str]:
    """The largest delta over the worst differences of the set, losses composed (`composed`), rounding included.

    Rule: over sets that say how many numbers move, the choices that no other dominates; over listed points every one
    that none dominates; a ball lies within the box of its radius; over groups the choices of so many of them.
    [theory#several-noises-under]
    """
    chosen = mechanism.query.sensitivity
    plain = counted(mechanism.query)
    kind = chosen.kind if plain is None else plain.kind
    choices = worst_moves(mechanism, chosen, move_of)
    name = "enclosing-box" if isinstance(chosen, NormBall) and plain is None else kind
    # Whole numbers that could move by less than one do not move at all.
    delta = max((_of_choice(choice, epsilon) for choice in choices if choice), default=Fraction(0))
    return delta, f"approximate/composed-{name}"


def _of_choice(moves: Sequence[Move], epsilon: Fraction) -> Fraction:
    """Delta of one difference; that of Gaussian noise, however it is written, by its exact rule."""
    squares = [squared_length(*move) for move in moves]
    known = [square for square in squares if square is not None]
    return (
        joint_delta(moves, epsilon) if len(known) < len(squares) else gaussian_delta(epsilon, sum(known, Fraction(0)))
    )


def _one_at_a_time(mechanism: PerCoordinate, requirement: ApproxDP) -> Fraction:
    """Only one number moves, so the largest delta of a single part is that of all."""
    cost = part_costs(mechanism, lambda part, far: additive_delta(part.law, requirement, moved(part, far))[0])

    def in_ball(chosen: NormBall, start: int) -> Fraction:
        return max(cost(i, chosen.radius) for i in range(start, start + chosen.dimension))

    return worst_cost(mechanism.query.sensitivity, cost, in_ball)


@proves(ApproxDP, LinearGaussian)
def approximate_linear_gaussian(mechanism: LinearGaussian, requirement: ApproxDP) -> tuple[Fraction, str]:
    """Correlated Gaussian noise for listed differences: the longest image of one in the frame, in whole steps."""
    longest = frame_squared_sensitivity(mechanism.query, mechanism.matrix, mechanism.step)
    squared = longest * (mechanism.step / mechanism.std) ** 2
    return gaussian_delta(requirement.epsilon, squared), "approximate/gaussian-frame"


def frame_squared_sensitivity(query: Vector, matrix: Matrix, step: Fraction) -> int:
    """Largest squared length, in steps, of a listed difference mapped to the frame and rounded up to whole steps.

    Answers computed in floats may be read 2^-24 of the smallest difference farther apart, each, which the frame
    adds up; numbers that do not move are read the same.
    """
    listed = query.sensitivity
    if not isinstance(listed, Points):
        raise UncertifiedError("correlated Gaussian noise is certified for listed differences (Points) alone.")
    rounding = Fraction(0) if query.exact else ROUNDING
    worst = 0
    for row in listed.rows:
        sway = [rounding * move if d else Fraction(0) for d, move in zip(row, query.sensitivity.smallest, strict=True)]
        total = 0
        for frame, y in zip(matrix, apply(matrix, row), strict=True):
            more = sum((abs(a) * e for a, e in zip(frame, sway, strict=True)), Fraction(0))
            total += whole_steps(abs(y) + more, step) ** 2
        worst = max(worst, total)
    return worst


def vector_squared_sensitivity(mechanism: PerCoordinate) -> Fraction:
    """Largest squared length of a difference in units of each number's deviation, rounding included.

    Rule: squared lengths of different numbers add up; balls have a rule of their own. [theory#several-noises-under]
    """

    def squared(part: Any, distance: Fraction) -> Fraction:
        return Fraction((moved(part, distance) / part.law.std) ** 2)

    def in_ball(chosen: NormBall, start: int) -> Fraction:
        found = gaussian_in_ball(mechanism.parts[start : start + chosen.dimension], chosen)
        if found is None:
            raise UncertifiedError("the length of a difference is known for Gaussian noise alone.")
        return found

    return worst_cost(mechanism.query.sensitivity, part_costs(mechanism, squared), in_ball)


def gaussian_in_ball(parts: Sequence[Additive | None], chosen: NormBall) -> Fraction | None:
    """The squared length of the longest difference in units of Gaussian noise, rounding included; None for other laws.

    Rule: an l_p ball lies in the l2 ball of its radius, or of `widening` times it for p above 2. The length is at most
    the radius over the smallest deviation; real answers may cross one more edge each, which adds the length of
    (step_i / std_i). [theory#noise-shaped-by-a-norm]
    """
    deviations, squares = [], Fraction(0)
    for part in parts:
        law = None if part is None else part.law
        if part is None or not isinstance(law, Gaussian | DiscreteGaussian):
            return None
        deviations.append(law.std)
        squares += Fraction(0) if part.query.integer else (part.lattice.step / law.std) ** 2
    wider = widening(chosen.dimension, Fraction(2), chosen.order)
    return (chosen.radius / min(deviations) * wider + root_above(squares)) ** 2


def gaussian_delta(epsilon: Fraction, squared_length: Fraction) -> Fraction:
    """A rational at or above delta for differences of this squared length in units of the noise."""
    if not squared_length:
        return Fraction(0)
    with precision(_BITS):
        return max(Fraction(0), upper(_delta_ball(epsilon, ball(squared_length).sqrt())))


def _delta_ball(epsilon: Fraction, length: Ball) -> Ball:
    e = ball(epsilon)
    root = ball(2).sqrt()
    first = ((e / length - length / 2) / root).erfc() / 2
    second = ((e / length + length / 2) / root).erfc() / 2
    return first - e.exp() * second
