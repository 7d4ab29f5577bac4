"""The exponential mechanism over an enumerated set: its true privacy."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.exponential import MinkowskiExponential
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import PureDP

_BITS = 128


def pure_exponential(mechanism: MinkowskiExponential, requirement: PureDP) -> tuple[Fraction, str]:
    """The largest log-ratio of any candidate over all neighbouring answers, normalising constants included."""
    if next(mechanism.neighbours(), None) is None:
        raise UncertifiedError("refused: no two answers are within the reach, so nobody would be protected.")
    return exponential_bound(mechanism), "pure/enumerated-exponential"


def exponential_bound(mechanism: MinkowskiExponential) -> Fraction:
    """The true epsilon from above."""
    worst = Fraction(0)
    with precision(_BITS):
        rate = ball(mechanism.rate)
        logs = {s: [-rate * mechanism.distance(c, s, BALLS) for c in mechanism.candidates] for s in mechanism.answers}
        totals = {s: sum((v.exp() for v in values), ball(0)).log() for s, values in logs.items()}
        for a, b in mechanism.neighbours():
            offset = totals[b] - totals[a]
            worst = max(worst, *(upper(x - y + offset) for x, y in zip(logs[a], logs[b], strict=True)))
    return worst


def utility_sensitivity(mechanism: MinkowskiExponential) -> Fraction:
    """The largest change of the utility over all candidates and neighbouring answers, from above."""
    pairs = [(c, a, b) for a, b in mechanism.neighbours() for c in mechanism.candidates]
    with precision(_BITS):
        changes = [upper(mechanism.distance(c, a, BALLS) - mechanism.distance(c, b, BALLS)) for c, a, b in pairs]
    return max(Fraction(0), *changes)
