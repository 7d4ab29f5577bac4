"""What must be protected: privacy requirements, validated on construction, and between which datasets they hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.fields import Rational, one_of, rational
from noisewright.problem.metrics import METRICS, Scaled, Sum
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.records import Family, Record, record


class Notion(Record):
    """What every requirement answers for itself, so that no algorithm has to ask which one it is."""

    __slots__ = ()
    pure: ClassVar[bool] = False
    """Whether it bounds the likelihood ratio of every outcome."""
    approximate: ClassVar[bool] = False
    """Whether it bounds probabilities up to an additional delta."""
    pointwise: ClassVar[bool] = False
    """Whether it is a statement about the values that are released, which post-processing may break."""
    amounts: ClassVar[tuple[str, ...]] = ("epsilon",)
    """What adds up over several releases."""
    alpha: Any = None
    """The one order of divergence that it is about."""

    @property
    def gaussian_rho(self) -> Fraction | None:
        """The concentration of Gaussian noise that meets it; None where it is about no divergences."""
        return None

    def share(self, part: Number) -> Self:
        """The requirement with everything that adds up multiplied by `part`."""
        given = {name: getattr(self, name) for name in self.CARD.given}
        shares = {name: given[name] * parameter(part, "part") for name in self.amounts}
        return type(self)._rebuilt({**given, **shares})


@record("metric", error=InvalidPrivacyError)
class MetricPrivacy(Notion):
    """If one person's element changes from i to j, no outcome becomes more than e^d(i, j) times likelier.

    Guarantees: budgets of several releases add up pair by pair (`compose`), and several people's
    changes add up along their pairs. With `Hamming` this is ordinary pure differential privacy.

    >>> print(nw.MetricPrivacy(nw.metrics.Hamming(3, 1)))
    metric privacy: the same budget 1 for every pair of 3 elements
    """

    metric: Any = one_of(METRICS)

    def __str__(self) -> str:
        return f"metric privacy: {self.metric}"

    def compose(self, *others: MetricPrivacy) -> MetricPrivacy:
        """What holds for this release and the others together: budgets add pair by pair."""
        return MetricPrivacy(Sum([self.metric, *(o.metric for o in others)])) if others else self

    def share(self, part: Number) -> MetricPrivacy:
        """The requirement with every budget multiplied by `part`."""
        return MetricPrivacy(Scaled(self.metric, part))

    def promise(self) -> str:
        return (
            "changing it from element i to element j changes the probability of any released value by a factor of at"
            f" most e^d(i, j), where d is the {self.metric}"
        )


@runtime_checkable
class Requirement(Protocol):
    """What must hold for every pair of neighbouring answers."""

    pointwise: ClassVar[bool]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text; `REQUIREMENTS.from_dict` inverts it."""

    def promise(self) -> str:
        """What is guaranteed, in words that follow "whatever one person's data are, …"."""


SMALLEST_EPSILON = Fraction(1, 100_000)
LARGEST_EPSILON = Fraction(32)
SMALLEST_DELTA = Fraction(1, 10**15)
LARGEST_ORDER = Fraction(10_000)
SMALLEST_DIVERGENCE = Fraction(1, 10**10)
LARGEST_DIVERGENCE = Fraction(1000)


REQUIREMENTS: Family[Requirement] = Family("a requirement such as PureDP(epsilon)", InvalidPrivacyError)
"""Every kind of requirement by the name it has in files."""

REQUIREMENTS.add(MetricPrivacy, "metric")


_EPSILON = (
    " (typical values: 0.1 to 3; below, noise exceeds the sensitivity a hundred thousand times, and above, likelihood"
    " ratios of e^32 protect nobody)"
)
_DELTA = ": well below one over the number of people, such as 1e-6 (without any delta use PureDP(epsilon))"
_DIVERGENCE = " (typical values: 0.01 to 5)"


@record("pure", REQUIREMENTS, error=InvalidPrivacyError)
class PureDP(Notion):
    """Pure epsilon-differential privacy: no outcome becomes more than e^epsilon times likelier.

    Valid for: epsilon from 1e-5 to 32; raises InvalidPrivacyError outside.

    >>> print(nw.PureDP("0.1"))
    pure differential privacy, epsilon = 0.1
    >>> nw.PureDP("0.1").epsilon  # exact: a text is read as the decimal it shows
    Fraction(1, 10)
    >>> nw.PureDP(0)
    Traceback (most recent call last):
        ...
    InvalidPrivacyError: epsilon is 0; it must be at least 1e-05 and at most 32 (typical ...
    """

    epsilon: Rational = rational(at_least=SMALLEST_EPSILON, at_most=LARGEST_EPSILON, hint=_EPSILON)
    pure: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"pure differential privacy, epsilon = {show(self.epsilon)}"

    def promise(self) -> str:
        return f"the probability of any released value changes by a factor of at most e^{show(self.epsilon)}"


@record("approximate", REQUIREMENTS, error=InvalidPrivacyError)
class ApproxDP(Notion):
    """(epsilon, delta)-differential privacy: P(S) <= e^epsilon P'(S) + delta for every set S of outcomes.

    Valid for: epsilon from 1e-5 to 32 and delta from 1e-15 to below 1; raises InvalidPrivacyError outside.

    >>> print(nw.ApproxDP(1, delta="1e-6"))
    approximate differential privacy, epsilon = 1, delta = 1e-06
    >>> nw.ApproxDP(1, delta=0)
    Traceback (most recent call last):
        ...
    InvalidPrivacyError: delta is 0; it must be at least 1e-15 and below 1: well below one over ...
    """

    epsilon: Rational = rational(at_least=SMALLEST_EPSILON, at_most=LARGEST_EPSILON, hint=_EPSILON)
    delta: Rational = rational(at_least=SMALLEST_DELTA, below=1, hint=_DELTA)
    approximate: ClassVar[bool] = True
    amounts: ClassVar[tuple[str, ...]] = ("epsilon", "delta")

    def __str__(self) -> str:
        return f"approximate differential privacy, epsilon = {show(self.epsilon)}, delta = {show(self.delta)}"

    def promise(self) -> str:
        return (
            f"the probability of any set of released values changes by a factor of at most e^{show(self.epsilon)},"
            f" up to an additional {show(self.delta)}"
        )


@record("probabilistic", REQUIREMENTS, error=InvalidPrivacyError)
class ProbabilisticDP(Notion):
    """(epsilon, delta)-probabilistic differential privacy.

    Except with probability delta the released value is one that is neither e^epsilon times likelier
    nor e^epsilon times less likely for a neighbour. Implies `ApproxDP` with the same numbers, but unlike it is
    not closed under post-processing: it is a statement about the values that are released, which `pointwise` says.

    Valid for: epsilon from 1e-5 to 32 and delta from 1e-15 to below 1; raises InvalidPrivacyError outside.

    >>> print(nw.ProbabilisticDP(1, delta="0.01"))
    probabilistic differential privacy, epsilon = 1, delta = 0.01
    >>> nw.ProbabilisticDP(1, delta="0.01").pointwise, nw.ApproxDP(1, delta="0.01").pointwise
    (True, False)
    """

    epsilon: Rational = rational(at_least=SMALLEST_EPSILON, at_most=LARGEST_EPSILON, hint=_EPSILON)
    delta: Rational = rational(at_least=SMALLEST_DELTA, below=1, hint=_DELTA)
    pointwise: ClassVar[bool] = True
    amounts: ClassVar[tuple[str, ...]] = ("epsilon", "delta")

    def __str__(self) -> str:
        return f"probabilistic differential privacy, epsilon = {show(self.epsilon)}, delta = {show(self.delta)}"

    def promise(self) -> str:
        return (
            f"with probability at least 1 - {show(self.delta)} the released value is one whose own probability changes"
            f" by a factor of at most e^{show(self.epsilon)}"
        )


@record("renyi", REQUIREMENTS, error=InvalidPrivacyError)
class RenyiDP(Notion):
    """Renyi differential privacy of one order: the divergence of order alpha between neighbours is at most epsilon.

    Valid for: alpha above 1 and at most 10,000, epsilon from 1e-10 to 1,000; raises InvalidPrivacyError outside.

    >>> print(nw.RenyiDP(alpha=2, epsilon=1))
    Renyi differential privacy, order 2, epsilon = 1
    >>> nw.RenyiDP(alpha=1, epsilon=1)
    Traceback (most recent call last):
        ...
    InvalidPrivacyError: alpha is 1; it must be above 1 and at most 10000.
    """

    alpha: Rational = rational(above=1, at_most=LARGEST_ORDER)
    epsilon: Rational = rational(at_least=SMALLEST_DIVERGENCE, at_most=LARGEST_DIVERGENCE, hint=_DIVERGENCE)

    @property
    def gaussian_rho(self) -> Fraction:
        return self.epsilon / self.alpha

    def __str__(self) -> str:
        return f"Renyi differential privacy, order {show(self.alpha)}, epsilon = {show(self.epsilon)}"

    def promise(self) -> str:
        return (
            f"the released values' Renyi divergence of order {show(self.alpha)} from those without them is at most"
            f" {show(self.epsilon)}"
        )


@record("zero-concentrated", REQUIREMENTS, error=InvalidPrivacyError)
class ZeroConcentratedDP(Notion):
    """Zero-concentrated differential privacy: the Renyi divergence of every order alpha > 1 is at most rho * alpha.

    Valid for: rho from 1e-10 to 1,000; raises InvalidPrivacyError outside.

    >>> print(nw.ZeroConcentratedDP(rho="0.5"))
    zero-concentrated differential privacy, rho = 0.5
    """

    rho: Rational = rational(at_least=SMALLEST_DIVERGENCE, at_most=LARGEST_DIVERGENCE, hint=_DIVERGENCE)
    amounts: ClassVar[tuple[str, ...]] = ("rho",)

    @property
    def gaussian_rho(self) -> Fraction:
        return self.rho

    def __str__(self) -> str:
        return f"zero-concentrated differential privacy, rho = {show(self.rho)}"

    def promise(self) -> str:
        return (
            "the released values' Renyi divergence of each order from those without them is at most"
            f" {show(self.rho)} times the order"
        )


# Adjacency: what a certificate is about, and what a sum of certificates must share.


ADD_REMOVE = "add-remove"
REPLACE = "replace"
METRIC = "metric"
DECLARED = "declared"

WORDS = {
    ADD_REMOVE: "one person comes or goes",
    REPLACE: "one person is replaced by another",
    METRIC: "the element of one person changes",
    DECLARED: "one person moves the answer by at most the sensitivity",
}
"""What makes a neighbour of a dataset, in words."""


def adjacency(kind: str) -> str:
    """A kind of adjacency with what it means, for a line of a text."""
    return f"{'as declared' if kind == DECLARED else kind}: {WORDS[kind]}"
