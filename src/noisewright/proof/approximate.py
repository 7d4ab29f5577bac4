"""Exact privacy profiles: the least delta at which a law is (epsilon, delta)-private, bounded from above.

`approximate_delta(law, epsilon, sensitivity)` returns a rational at or above the least delta over all
shifts up to `sensitivity`, and the name of the rule that shows it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from itertools import pairwise

from noisewright.laws.base import LogConcave
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian, GaussianMixture, GeneralizedGaussian
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import TwoFold
from noisewright.numerics.balls import ball, floor_scaled, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.proof.mixtures import mixture_delta, two_fold_delta
from noisewright.proof.pure import pure_bound

BITS = 112
_EXPONENT_BITS = 128
_MOST_COMPARISONS = 20_000_000


@singledispatch
def approximate_delta(law: NoiseLaw, epsilon: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Least proven delta at this epsilon over all shifts up to `sensitivity`, and its rule.

    A half-line is the worst set of a log-concave law; others are known by their pure bound.
    """
    found = from_pure(law, epsilon, sensitivity)
    if found is not None:
        return found
    if isinstance(law, GeneralizedGaussian) and law.power < 1:
        raise UncertifiedError(
            "refused: a generalized Gaussian of power below 1 is proven as pure privacy only, and its pure bound"
            " exceeds the epsilon that was asked for. Use a larger scale.",
        )
    if isinstance(law, LogConcave):
        return log_concave_delta(law, epsilon, sensitivity), "approximate/half-line"
    bound = pure_bound(law, sensitivity)[0]
    raise UncertifiedError(
        f"there is no rule for the delta of {type(law).__name__} noise at an epsilon below its pure bound"
        f" {float(bound):.6g}.",
        bound=bound,
    )


def from_pure(law: NoiseLaw, epsilon: Fraction, sensitivity: Fraction) -> tuple[Fraction, str] | None:
    """Delta 0 where the law is purely private at this epsilon; None where it is not, or no rule says so."""
    try:
        bound, rule = pure_bound(law, sensitivity)
    except UncertifiedError:
        return None
    return (Fraction(0), f"approximate/{rule}") if bound <= epsilon else None


def log_concave_delta(law: LogConcave, epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    """Upper bound of SF(t) - e^epsilon SF(t + sensitivity), with t where the log-ratio passes epsilon.

    Rule: for a symmetric log-concave law the worst set is a half-line, so the least delta
    at a shift s is the supremum over x of SF(x) - e^epsilon SF(x + s); it does not decrease in s and
    is attained where the log-ratio passes epsilon. [theory#the-privacy-profile-of-one-number]
    """
    around = law.crossing(epsilon, sensitivity)
    if around is None:
        return Fraction(0)
    low, high = around
    with precision(BITS):
        value = law.sf(low, BALLS) - BALLS.exp(ball(epsilon)) * law.sf(high + sensitivity, BALLS)
        return min(Fraction(1), max(Fraction(0), upper(value)))


@approximate_delta.register
def _delta_of_gaussian_mixture(law: GaussianMixture, epsilon: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """The mean of the deltas of its parts: the hockey-stick divergence is jointly convex."""
    total = sum(
        (w * log_concave_delta(Gaussian(s), epsilon, sensitivity) for s, w in zip(law.stds, law.weights, strict=True)),
        Fraction(0),
    )
    return total, "approximate/joint-convexity"


@approximate_delta.register
def _delta_of_two_fold(law: TwoFold, epsilon: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Delta 0 where the pure bound allows it; else the loss exceeds epsilon between two places around 0."""
    return from_pure(law, epsilon, sensitivity) or (two_fold_delta(law, epsilon, sensitivity), "approximate/two-fold")


def additive_delta(law: NoiseLaw, wanted: ApproxDP, sensitivity: Fraction) -> tuple[Fraction, str]:
    """The least proven delta; a Gaussian mixture is integrated where the mean of its parts' deltas says too little.

    Saved certificates of mixtures name the mean, which is why it is asked first.
    """
    found = approximate_delta(law, wanted.epsilon, sensitivity)
    if isinstance(law, GaussianMixture) and found[0] > wanted.delta:
        return mixture_delta(law, wanted.epsilon, sensitivity), "approximate/gaussian-mixture"
    return found


@approximate_delta.register(DiscreteGaussian)
def _delta_of_discrete_gaussian(
    law: DiscreteGaussian, epsilon: Fraction, sensitivity: Fraction
) -> tuple[Fraction, str]:
    """The same on the integers: log-concave masses, so a half-line of whole numbers is the worst set."""
    shift = integer_sensitivity(sensitivity)
    first = law.first_above(epsilon, shift)
    with precision(BITS):
        value = law.tail(first, BALLS) - BALLS.exp(ball(epsilon)) * law.tail(first + shift, BALLS)
        return min(Fraction(1), max(Fraction(0), upper(value))), "approximate/half-line-of-integers"


@approximate_delta.register(Tabulated)
def _delta_of_tabulated(law: Tabulated, epsilon: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Shifts of whole cells are summed in integers: the largest if the weights fall outward, else every one.

    Rule: at a shift between j and j + 1 cells the divergence of a law that is constant on equal cells is
    the mixture of those at j and at j + 1, so whole shifts up to the next one beyond `sensitivity` suffice. For
    a symmetric density f that falls outward, f(x) > e^epsilon f(x + s) needs x > -s/2, and there f(x + s) does
    not increase in s: the divergence grows with the shift, and the largest one is the worst.
    [theory#the-privacy-profile-of-one-number]
    """
    scaled, line, largest = scaled_factor(epsilon), line_of(law), cells_within(law, sensitivity)
    falling = all(a >= b for a, b in pairwise(law.weights))
    if not falling:
        refuse_too_many(largest, len(line))
    worst = max(_excess(line, shift, scaled) for shift in ([largest] if falling else range(1, largest + 1)))
    rule = "approximate/largest-shift-of-falling-cells" if falling else "approximate/all-shifts-of-cells"
    return min(Fraction(1), Fraction(worst, law.total << _EXPONENT_BITS)), rule


def _excess(line: list[int], shift: int, scaled: int) -> int:
    """2^128 times the sum of (weight - e^epsilon * shifted weight) over cells where it is positive, from above."""
    moved = line[shift:] + [0] * shift
    return sum(max(0, (a << _EXPONENT_BITS) - scaled * b) for a, b in zip(line, moved, strict=True) if a)


def refuse_too_many(shifts: int, cells: int) -> None:
    """Keep a forged file from costing hours."""
    if shifts * cells > _MOST_COMPARISONS:
        raise UncertifiedError(f"refused: {shifts} shifts of {cells} cells are too many to sum one by one.")


def scaled_factor(epsilon: Fraction) -> int:
    """A whole number at or below 2^128 e^epsilon."""
    with precision(2 * _EXPONENT_BITS):
        return floor_scaled(BALLS.exp(ball(epsilon)), _EXPONENT_BITS)


def line_of(law: Tabulated) -> list[int]:
    """The weights of all cells, from left to right."""
    mirrored = law.weights[1:] if law.edge else law.weights
    return [*reversed(mirrored), *law.weights]


def cells_within(law: Tabulated, sensitivity: Fraction) -> int:
    """How many cells a shift up to `sensitivity` can span, at most the whole support."""
    return min(-int(-sensitivity // law.width), len(line_of(law)))


def integer_sensitivity(sensitivity: Fraction) -> int:
    """The sensitivity of integer answers."""
    if sensitivity.denominator != 1:
        raise UncertifiedError("integer noise is proven for whole sensitivities only.")
    return int(sensitivity)
