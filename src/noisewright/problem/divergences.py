"""Utilities that compare a whole histogram, or a whole degree sequence, with its noisy release.

Every bin gets independent noise of the designed law; counts below `floor` are raised to it and the
result is normalised. These utilities have no closed form in general: their values are computed
numerically and carry an error.
"""

from __future__ import annotations

from typing import Any, ClassVar

from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import Rational, Rationals, Whole, rational, rationals, whole
from noisewright.problem.numbers import show
from noisewright.problem.records import record
from noisewright.problem.utilities import UTILITIES, Utility

_MOST_BINS = 10_000
_POSITIVE = ": counts must be kept positive"


class HistogramMetric(Utility):
    """What the metrics of a histogram share: its counts, and the least count that is released."""

    __slots__ = ()
    prior: Rationals
    floor: Rational
    numerical: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not any(self.prior):
            raise InvalidUtilityError("the counts of a prior must be at least 0, and not all 0.")

    def under(self, errors: Any, field: Any) -> Any:
        return errors.histogram(self, field)


@record("kullback-leibler", UTILITIES, error=InvalidUtilityError)
class KullbackLeibler(HistogramMetric):
    """Mean divergence D(p || q) of the true histogram p from the released one q, in nats.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> round(float(noise.expected(nw.KullbackLeibler([6, 4]))), 4)
    0.0257
    """

    prior: Rationals = rationals(at_least=0, each="count", least=2, most=_MOST_BINS)
    floor: Rational = rational(above=0, default=1, hint=_POSITIVE)

    def __str__(self) -> str:
        return f"mean Kullback-Leibler divergence over {len(self.prior)} bins"


@record("histogram-entropy", UTILITIES, error=InvalidUtilityError)
class HistogramEntropy(HistogramMetric):
    """Mean absolute difference of the entropies of the true and of the released histogram, in nats.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> round(float(noise.expected(nw.HistogramEntropy([6, 4]))), 4)
    0.0362
    """

    prior: Rationals = rationals(at_least=0, each="count", least=2, most=_MOST_BINS)
    floor: Rational = rational(above=0, default=1, hint=_POSITIVE)

    def __str__(self) -> str:
        return f"mean entropy error over {len(self.prior)} bins"


@record("renyi", UTILITIES, error=InvalidUtilityError)
class Renyi(HistogramMetric):
    """Mean Renyi divergence of the given order of the true histogram from the released one, in nats.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> round(float(noise.expected(nw.Renyi([6, 4], order=2))), 4)
    0.0522
    """

    prior: Rationals = rationals(at_least=0, each="count", least=2, most=_MOST_BINS)
    order: Rational = rational(above=0, at_most=100, other_than=1, hint=" (which is KullbackLeibler)")
    floor: Rational = rational(above=0, default=1, hint=_POSITIVE)

    def __str__(self) -> str:
        return f"mean Renyi divergence of order {show(self.order)} over {len(self.prior)} bins"


@record("mallows", UTILITIES, error=InvalidUtilityError)
class Mallows(Utility):
    """Mallows distance of order `power` between a sequence of `nodes` numbers and its noisy release.

    The mean over the noise of (sum of |error|^power / nodes)^(1/power).

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> round(float(noise.expected(nw.Mallows(1, nodes=4))), 3)
    1.0
    """

    power: Rational = rational(at_least=1, at_most=8, hint=" in a Mallows distance")
    nodes: Whole = whole(at_least=1, hint=": how many numbers the sequence has")
    numerical: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"Mallows({show(self.power)}) distance of {self.nodes} numbers"

    def under(self, errors: Any, field: Any) -> Any:
        return errors.mallows(self, field)


@record("error-entropy", UTILITIES, error=InvalidUtilityError)
class ErrorEntropy(Utility):
    """Differential entropy of the error, in nats: how uncertain the truth stays, given the answer.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> round(float(noise.expected(nw.ErrorEntropy())), 3)  # 1 + ln 2
    1.693
    """

    numerical: ClassVar[bool] = True
    unit: ClassVar[str] = "nats"

    def __str__(self) -> str:
        return "entropy of the error"

    def under(self, errors: Any, field: Any) -> Any:
        return errors.entropy(field)
