"""Linear questions under ordinary privacy: one person is replaced by another, whatever the two are.

The number of people stays. A question over a universe with an element "absent" (`Linear.with_absent`) also covers
people who come and go.
"""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.linear.noise import ColumnGaussian, LinearElliptical, LinearLaplace
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.pairs import Cost, largest_ratio, violation
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.metrics import Hamming
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP
from noisewright.proof.metric import Proven, metric_elliptical, metric_laplace
from noisewright.proof.provers import proves
from noisewright.proof.vector_gaussian import gaussian_delta

_ABOVE = 1 + Fraction(1, 2**30)
"""A hair above the longest difference that floats found, so that they can clear the many that are equally long."""


@proves(PureDP, LinearLaplace, LinearElliptical)
def pure_linear(mechanism: LinearLaplace | LinearElliptical, requirement: PureDP) -> Proven:
    """Epsilon, if telling any two elements apart costs at most that.

    Rule: a person who is replaced changes from some element to some other, so that metric privacy with the same
    distance for every pair is pure privacy under replacement. [ChatzikokolakisEtAl13, theory#metric-privacy]
    """
    same = MetricPrivacy(Hamming(mechanism.query.size, requirement.epsilon))
    if isinstance(mechanism, LinearLaplace):
        metric_laplace(mechanism, same)
        return requirement.epsilon, "pure/linear-laplace-every-pair"
    metric_elliptical(mechanism, same)
    return requirement.epsilon, "pure/linear-elliptical-every-pair"


@proves(ApproxDP, LinearLaplace, LinearElliptical)
def approximate_linear(mechanism: LinearLaplace | LinearElliptical, requirement: ApproxDP) -> Proven:
    """Pure differential privacy implies the approximate one with delta = 0."""
    _, rule = pure_linear(mechanism, PureDP(requirement.epsilon))
    return Fraction(0), rule.replace("pure/", "approximate/pure-", 1)


@proves(ApproxDP, ColumnGaussian)
def approximate_columns(mechanism: ColumnGaussian, requirement: ApproxDP) -> Proven:
    """Delta of Gaussian noise for the longest difference of two columns, rounding included.

    Rule: if one person is replaced, the integer sums move by the difference of two columns. Their cells move by that
    difference, in cells, rounded up in each coordinate, which is less than one cell longer in each: |cells| <=
    |difference| / cell + sqrt(K), and no longer where a cell is a single step. The noise is rounded Gaussian noise,
    a function of Gaussian noise, and delta grows with the length; the way back is post-processing.
    [theory#metric-privacy]
    """
    squared = column_squared_sensitivity(mechanism) / mechanism.std**2
    return (gaussian_delta(requirement.epsilon, squared) if squared else Fraction(0)), "approximate/gaussian-columns"


def column_squared_sensitivity(mechanism: ColumnGaussian) -> Fraction:
    """At least the largest squared length, in cells, by which replacing one person moves the cells of the sums.

    Guarantees: the longest difference of two columns is found in floats and proven for every pair, in rationals
    where floats do not clear it.
    """
    size, cost = mechanism.query.size, Cost.l2(mechanism.columns, Fraction(1))
    longest = largest_ratio(Hamming(size, 1), cost)[0] * _ABOVE
    # Columns that differ are at least one apart.
    if (pair := violation(Hamming(size, longest or Fraction(1, 2)), cost)) is not None:
        raise UncertifiedError(
            f"refused: elements {pair[0]} and {pair[1]} are farther apart than floats found; report this problem.",
            pair=pair,
        )
    if mechanism.cell == 1:
        return longest**2
    with precision():
        return upper((ball(longest / mechanism.cell) + ball(mechanism.query.dimension).sqrt()) ** 2)
