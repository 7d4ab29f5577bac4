"""Noise in a range, purely private: both the inside and the atoms at the ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction

from noisewright.mechanisms.ranged import RangedNoise
from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import PureDP
from noisewright.proof.additive import above

_BITS = 128


def pure_ranged(mechanism: RangedNoise, requirement: PureDP) -> tuple[Fraction, str]:
    """Largest log-ratio over all pairs of grid points within the sensitivity.

    Rule: for a log-concave law and s < s' the ratio f_s / f_s' of densities falls in the released value, so it is
    largest at the low end; mirrored for the other ratio at the high end, and the grid is its own mirror image.
    Each largest ratio is a difference B(s') - B(s) of one function on the grid. Cells of the range are post-processing.
    """
    bound, where = ranged_bound(mechanism)
    if bound > requirement.epsilon:
        raise UncertifiedError(
            f"refused: the likelihood ratio reaches e^{above(bound)} {where}, but epsilon ="
            f" {float(requirement.epsilon):.6g} was claimed. Use a larger scale, or claim epsilon >= {above(bound)}.",
            bound=bound,
            requirement=requirement,
        )
    return bound, f"pure/ranged-{mechanism.kind}"


def ranged_bound(mechanism: RangedNoise) -> tuple[Fraction, str]:
    """The largest log-ratio from above, and where it is."""
    points = [mechanism.edge(i) for i in range(mechanism.cells + 1)]
    reach = mechanism.reach
    low, law = mechanism.query.low, mechanism.law
    if mechanism.kind == "truncated":

        def inside(s: Fraction) -> Ball:
            return law.reduced(s - low, BALLS) + mechanism.inside(s, BALLS).log()

        return _largest_rise(inside, points, reach), "inside the range"

    def density(s: Fraction) -> Ball:
        return law.reduced(s - low, BALLS)

    def atom(s: Fraction) -> Ball:
        return -law.sf(s - low, BALLS).log()

    interior, end = _largest_rise(density, points, reach), _largest_rise(atom, points, reach)
    return (end, "at the ends of the range") if end >= interior else (interior, "inside the range")


def _largest_rise(function: Callable[[Fraction], Ball], points: list[Fraction], reach: int) -> Fraction:
    """Upper bound of function(t) - function(s) over points s, t at most `reach` places apart, in either order."""
    with precision(_BITS):
        values = [function(s) for s in points]
        ends = [(lower(v), upper(v)) for v in values]
    forward = _rise(ends, reach)
    return max(Fraction(0), forward, _rise(ends[::-1], reach))


def _rise(ends: list[tuple[Fraction, Fraction]], reach: int) -> Fraction:
    smallest: deque[int] = deque()
    best = Fraction(0)
    for j, (low, high) in enumerate(ends):
        while smallest and ends[smallest[-1]][0] >= low:
            smallest.pop()
        smallest.append(j)
        while smallest[0] < j - reach:
            smallest.popleft()
        best = max(best, high - ends[smallest[0]][0])
    return best
