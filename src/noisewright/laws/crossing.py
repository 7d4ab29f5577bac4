"""Where the log-ratio of a log-concave law passes epsilon, between two rationals checked in balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.laws.base import Crossing
from noisewright.numerics.balls import certainly_at_most, precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError

_BITS = 112
_FIRST_WIDTH = Fraction(1, 2**46)
_WIDENINGS = 40


def bracket_crossing(law: Any, epsilon: Fraction, shift: Fraction, guess: float) -> Crossing:
    """Rationals t1 <= t <= t2 around the point where ln f(x) - ln f(x + shift) passes epsilon.

    `guess` comes from floats; the width grows until both ends are proven. Guarantees: the log-ratio
    is at most epsilon at t1 and above it at t2.
    Valid for: log-concave laws whose log-ratio does pass epsilon; raises UncertifiedError otherwise.
    """
    centre = Fraction(guess)
    width = _FIRST_WIDTH * (abs(centre) + shift)
    with precision(_BITS):
        target = BALLS.real(epsilon)
        low = _first(width, lambda w: certainly_at_most(law.drop(centre - w, shift, BALLS), target))
        high = _first(width, lambda w: bool(law.drop(centre + w, shift, BALLS) > target))
    if low is None or high is None:
        raise UncertifiedError(f"where the likelihood ratio passes e^epsilon could not be enclosed near {guess:.6g}.")
    return centre - low, centre + high


def _first(width: Fraction, holds: Any) -> Fraction | None:
    for _ in range(_WIDENINGS):
        if holds(width):
            return width
        width *= 2
    return None
