"""Which profile a law at a shift, and a certified mechanism, has: `law_profile` and `profile_of`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any, TypeVar

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.registry import NoiseLaw
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.base import Mechanism
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, PureDP
from noisewright.proof.approximate import whole_reach
from noisewright.proof.certify import Certificate
from noisewright.proof.profiles import GaussianProfile, PairProfile, Profile
from noisewright.proof.profiles_whole import DiscreteLaplaceProfile
from noisewright.proof.pure import pure_bound

Rule = TypeVar("Rule", bound=Callable[[Any], Profile])

PROFILES: dict[type, Callable[[Any], Profile]] = {}
"""The rule that gives a kind of mechanism its profile."""


def profiled(*mechanisms: type) -> Callable[[Rule], Rule]:
    """Enter the rule below as the one that gives these mechanisms their profile."""

    def enter(rule: Rule) -> Rule:
        PROFILES.update({mechanism: rule for mechanism in mechanisms})
        return rule

    return enter


def profile_of(mechanism: Mechanism, certificate: Certificate) -> Profile:
    """Upper bounds of delta(epsilon) over every ordered pair of neighbours of the certificate.

    A mechanism without a rule of its own, or whose rule refuses it, is known by its certificate alone: by the pair of
    a pure or approximate one. Raises UncertifiedError for a certificate of another mechanism, and where neither a rule
    nor the certificate says anything about delta.
    """
    if certificate.mechanism != mechanism.digest:
        raise UncertifiedError("refused: the certificate belongs to another mechanism; certify this one.")
    rule = PROFILES.get(type(mechanism))
    if rule is not None:
        try:
            return rule(mechanism)
        except UncertifiedError:
            pass
    return _of_requirement(certificate.requirement, certificate.bound)


@singledispatch
def _of_requirement(requirement: Any, bound: Fraction) -> Profile:
    """What the proven bound of a requirement says about delta."""
    raise UncertifiedError(
        f"refused: {requirement} says nothing about delta, and the mechanism has no profile of its own; certify it for"
        " pure or approximate privacy."
    )


@_of_requirement.register
def _(requirement: PureDP, bound: Fraction) -> Profile:
    return PairProfile(bound)


@_of_requirement.register
def _(requirement: ApproxDP, bound: Fraction) -> Profile:
    return PairProfile(requirement.epsilon, bound)


@singledispatch
def law_profile(law: NoiseLaw, reach: Fraction) -> Profile:
    """The profile of noise under all shifts up to `reach`; laws without a rule are known by their pure bound."""
    bound, rule = pure_bound(law, reach)
    return PairProfile(bound, rule=f"profile/{rule}")


@law_profile.register
def _(law: Gaussian, reach: Fraction) -> Profile:
    return GaussianProfile((reach / law.std) ** 2)


@law_profile.register
def _(law: DiscreteLaplace, reach: Fraction) -> Profile:
    return DiscreteLaplaceProfile(1 / law.scale, whole_reach(reach))


@profiled(Additive)
def additive_profile(mechanism: Additive) -> Profile:
    """The profile of the law at the sensitivity.

    Rule: rounding the answer to cells of a step that divides the sensitivity keeps the sensitivity; rounding the noise
    is post-processing.
    """
    return law_profile(mechanism.law, mechanism.query.sensitivity)
