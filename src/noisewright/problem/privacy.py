"""What must be protected: privacy requirements, frozen and validated at birth."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.fields import Rational, rational
from noisewright.problem.metric_privacy import MetricPrivacy
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record, record


@runtime_checkable
class Requirement(Protocol):
    """What must hold for every pair of neighbouring answers."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text; `requirement_from_dict` inverts it."""
        ...

    def promise(self) -> str:
        """What is promised, in words that follow "whatever one person's data are, …"."""
        ...


SMALLEST_EPSILON = Fraction(1, 100_000)
LARGEST_EPSILON = Fraction(32)
SMALLEST_DELTA = Fraction(1, 10**15)
LARGEST_ORDER = Fraction(10_000)
SMALLEST_DIVERGENCE = Fraction(1, 10**10)
LARGEST_DIVERGENCE = Fraction(1000)


REQUIREMENTS: Family[Requirement] = Family("a requirement such as PureDP(epsilon)", InvalidPrivacyError)
"""Every kind of requirement by the name it has in files."""

REQUIREMENTS.add(MetricPrivacy, "metric")


def _check_epsilon(value: Fraction, name: str) -> None:
    if value <= 0:
        raise InvalidPrivacyError(
            f"epsilon is {show(value)}; it must be positive (typical values: 0.1 to 3).", epsilon=value
        )
    if not SMALLEST_EPSILON <= value <= LARGEST_EPSILON:
        reason = (
            "noise would exceed the sensitivity a hundred thousand times"
            if value < SMALLEST_EPSILON
            else "likelihood ratios of e^32 protect nobody"
        )
        raise InvalidPrivacyError(
            f"epsilon is {show(value)}; allowed is 1e-05 to 32 ({reason}). Choose an epsilon in that range.",
            epsilon=value,
        )


def _check_delta(value: Fraction, name: str) -> None:
    if value == 0:
        raise InvalidPrivacyError("delta is 0; that is pure differential privacy: use PureDP(epsilon).", delta=value)
    if not SMALLEST_DELTA <= value < 1:
        raise InvalidPrivacyError(
            f"delta is {float(value):.6g}; allowed is {float(SMALLEST_DELTA):.0e} to below 1. Choose a delta well below"
            " one over the number of people, such as 1e-6.",
            delta=value,
        )


def _check_divergence(value: Fraction, name: str) -> None:
    if not SMALLEST_DIVERGENCE <= value <= LARGEST_DIVERGENCE:
        raise InvalidPrivacyError(
            f"{name} is {float(value):.6g}; allowed is {float(SMALLEST_DIVERGENCE):.0e} to"
            f" {show(LARGEST_DIVERGENCE)} (typical values: 0.01 to 5).",
            **{name: value},
        )


@record("pure", REQUIREMENTS, error=InvalidPrivacyError)
class PureDP(Record):
    """Pure epsilon-differential privacy: no outcome becomes more than e^epsilon times likelier.

    Valid for: epsilon from 1e-5 to 32; raises InvalidPrivacyError outside.
    """

    epsilon: Rational = rational(check=_check_epsilon)

    def __str__(self) -> str:
        return f"pure differential privacy, epsilon = {show(self.epsilon)}"

    def promise(self) -> str:
        """In words."""
        return f"the probability of any released value changes by a factor of at most e^{show(self.epsilon)}"


@record("approximate", REQUIREMENTS, error=InvalidPrivacyError)
class ApproxDP(Record):
    """(epsilon, delta)-differential privacy: P(S) <= e^epsilon P'(S) + delta for every set S of outcomes.

    Valid for: epsilon from 1e-5 to 32 and delta from 1e-15 to below 1; raises InvalidPrivacyError outside.
    """

    epsilon: Rational = rational(check=_check_epsilon)
    delta: Rational = rational(check=_check_delta)

    def __str__(self) -> str:
        return f"approximate differential privacy, epsilon = {show(self.epsilon)}, delta = {show(self.delta)}"

    def promise(self) -> str:
        """In words."""
        return (
            f"the probability of any set of released values changes by a factor of at most e^{show(self.epsilon)},"
            f" up to an additional {show(self.delta)}"
        )


@record("probabilistic", REQUIREMENTS, error=InvalidPrivacyError)
class ProbabilisticDP(Record):
    """(epsilon, delta)-probabilistic differential privacy.

    Except with probability delta the released value is one that is neither e^epsilon times likelier
    nor e^epsilon times less likely for a neighbour. Implies `ApproxDP` with the same numbers, but unlike it is
    not closed under post-processing: it is a statement about the values that are released.

    Valid for: epsilon from 1e-5 to 32 and delta from 1e-15 to below 1; raises InvalidPrivacyError outside.
    """

    epsilon: Rational = rational(check=_check_epsilon)
    delta: Rational = rational(check=_check_delta)

    def __str__(self) -> str:
        return f"probabilistic differential privacy, epsilon = {show(self.epsilon)}, delta = {show(self.delta)}"

    def promise(self) -> str:
        """In words."""
        return (
            f"with probability at least 1 - {show(self.delta)} the released value is one whose own probability changes"
            f" by a factor of at most e^{show(self.epsilon)}"
        )


def _check_order(value: Fraction, name: str) -> None:
    if not 1 < value <= LARGEST_ORDER:
        raise InvalidPrivacyError(
            f"alpha is {show(value)}; the order of a Renyi divergence must be above 1 and at most"
            f" {show(LARGEST_ORDER)}.",
            alpha=value,
        )


@record("renyi", REQUIREMENTS, error=InvalidPrivacyError)
class RenyiDP(Record):
    """Renyi differential privacy of one order: the divergence of order alpha between neighbours is at most epsilon.

    Valid for: alpha above 1 and at most 10,000, epsilon from 1e-10 to 1,000; raises InvalidPrivacyError outside.
    """

    alpha: Rational = rational(check=_check_order)
    epsilon: Rational = rational(check=_check_divergence)

    def __str__(self) -> str:
        return f"Renyi differential privacy, order {show(self.alpha)}, epsilon = {show(self.epsilon)}"

    def promise(self) -> str:
        """In words."""
        return (
            f"the released values' Renyi divergence of order {show(self.alpha)} from those without them is at most"
            f" {show(self.epsilon)}"
        )


@record("zero-concentrated", REQUIREMENTS, error=InvalidPrivacyError)
class ZeroConcentratedDP(Record):
    """Zero-concentrated differential privacy: the Renyi divergence of every order alpha > 1 is at most rho * alpha.

    Valid for: rho from 1e-10 to 1,000; raises InvalidPrivacyError outside.
    """

    rho: Rational = rational(check=_check_divergence)

    def __str__(self) -> str:
        return f"zero-concentrated differential privacy, rho = {show(self.rho)}"

    def promise(self) -> str:
        """In words."""
        return (
            "the released values' Renyi divergence of each order from those without them is at most"
            f" {show(self.rho)} times the order"
        )


def requirement_from_dict(data: Mapping[str, Any]) -> Requirement:
    """The requirement that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    found: Requirement = REQUIREMENTS.from_dict(data)
    return found
