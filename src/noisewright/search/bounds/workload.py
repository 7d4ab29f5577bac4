"""What no strategy can beat for a workload: a proof that takes whole numbers and adds them up.

Nothing here knows how the numbers were found. For positive weights s of the cells and any matrices K and Q the squared
nuclear norm of W diag(s) is at least tr(diag(s) G K Q^T)^2 / (|W K|^2 |Q|^2), because the nuclear norm is the dual of
the operator norm, and |W K|^2 and |Q|^2 are at most the largest row sums of |K^T G K| and |Q^T Q|.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.numerics.balls import ball, lower, precision
from noisewright.numerics.whole_matrices import Wholes, product
from noisewright.problem.privacy import PureDP, RenyiDP, ZeroConcentratedDP

_BITS = 128


@dataclass(frozen=True, slots=True)
class Witness:
    """Whole numbers that prove a lower bound: weights of the cells, and two matrices with a row for each cell.

    Any will do; good ones are near s, diag(s) V D^-1 and V in the decomposition V D^2 V^T of diag(s) G diag(s).
    """

    cells: Wholes
    left: Wholes
    right: Wholes


def least_total(gram: Wholes, below: int, witness: Witness) -> Fraction:
    """A proven lower bound of tr(G X^-1) over all strategies X whose diagonal is at most 1, where G = gram / below.

    Guarantees: holds whatever the witness is, which decides how sharp it is.
    Rule: the total error of X is at least |W diag(s)|_*^2 / sum s^2 for every s, by Cauchy and Schwarz.
    """
    middle = product(gram, witness.left)
    turned = np.ascontiguousarray(witness.right.T)
    trace = sum(int(s) * int(v) for s, v in zip(witness.cells, _paired(middle, witness.right), strict=True))
    operator = _largest_row(product(np.ascontiguousarray(witness.left.T), middle))
    spread = sum(int(s) ** 2 for s in witness.cells) * _largest_row(product(turned, witness.right))
    if trace <= 0 or not operator or not spread:
        return Fraction(0)
    return Fraction(trace**2, below * operator * spread)


def _paired(left: Wholes, right: Wholes) -> Wholes:
    """The diagonal of left right^T."""
    return np.asarray((left.astype(object) * right.astype(object)).sum(axis=1))


def _largest_row(matrix: Wholes) -> int:
    return max(int(v) for v in np.abs(matrix).astype(object).sum(axis=1))


def least_worst(gram: Wholes, below: int, witness: Witness, total: Fraction) -> Fraction:
    """The same for the largest variance, where `gram` adds up the questions with weights whose sum is `total`.

    Rule: a weighted mean of variances is at most the largest of them.
    """
    return least_total(gram, below, witness) / total


def least_unbiased(optimum: Fraction, privacy: object) -> Fraction | None:
    """What every unbiased method costs at every table, where the best strategy of sensitivity 1 and noise 1 costs this.

    Rule: the variance of an unbiased answer is at least its squared difference over the chi-squared divergence
    (Hammersley, Chapman and Robbins), which is at most e^(2 rho) - 1 under rho-zCDP and (e^epsilon - 1)^2 / e^epsilon
    under pure epsilon; under Renyi privacy it is at most e^epsilon - 1, since divergences grow with their order, if
    that is at least 2. With the covariance in place of the variance this is a strategy, and costs its optimum.
    """
    with precision(_BITS):
        if isinstance(privacy, ZeroConcentratedDP):
            return lower(ball(optimum) / ball(2 * privacy.rho).expm1())
        if isinstance(privacy, RenyiDP) and privacy.alpha >= 2:
            return lower(ball(optimum) / ball(privacy.epsilon).expm1())
        if isinstance(privacy, PureDP):
            return lower(ball(optimum) * ball(privacy.epsilon).exp() / ball(privacy.epsilon).expm1() ** 2)
    return None
