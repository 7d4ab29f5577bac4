"""What a plan is made of: a certified mechanism, noise of which only the law is known, or a pair (epsilon, delta)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from noisewright.laws.base import LAWS
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.registry import NoiseLaw
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.fields import Flag, Rational, flag, one_of, rational
from noisewright.problem.numbers import show
from noisewright.problem.privacy import DECLARED, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.records import Family, Record, digest, record
from noisewright.proof.conversions import implied_bound
from noisewright.proof.profiles.base import LowerPair, PairProfile, Profile
from noisewright.proof.profiles.certified import lower_pairs_of, profile_of
from noisewright.proof.profiles.joint import factors_of
from noisewright.proof.profiles.laws import law_profile, lower_pair
from noisewright.proof.profiles.lower import GaussianLosses, ResponseLosses, SymmetricPair
from noisewright.proof.provers import PROVERS, first_rule
from noisewright.proof.renyi import concentrated_rho, pure_to_renyi, renyi_divergence
from noisewright.sample.certified import Certified, verified

LowerPairs = tuple[tuple[Any, Profile, int], ...]
"""Pairs of neighbours, the profile of each, which says how fine its cells must be, and how often."""
LARGEST_EPSILON = 64

RELEASES: Family[Any] = Family("a release", InvalidPrivacyError)
"""Releases by their law alone, by the names they have in files."""


class Release(Protocol):
    """One release of a plan."""

    @property
    def label(self) -> str:
        """What it is, for people."""
        ...

    @property
    def neighbours(self) -> str:
        """Which change of the data its privacy is about; `declared` where only a sensitivity was given."""
        ...

    def profile(self) -> Profile:
        """Upper bounds of its profile, over all pairs of neighbours."""
        ...

    def pairs(self) -> LowerPairs | None:
        """One pair of neighbours that all releases may share; None where none is known."""
        ...

    def renyi(self, alpha: Fraction) -> Fraction:
        """Upper bound of its Renyi divergence of an order."""
        ...

    def rho(self) -> Fraction:
        """Upper bound of its Renyi divergence over the order, for every order above 1."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        ...


@record("noise", RELEASES, error=InvalidPrivacyError)
class DeclaredNoise(Record):
    """Noise from a law on a number that one person changes by the sensitivity at most."""

    law: NoiseLaw = one_of(LAWS)
    sensitivity: Rational = rational(above=0)

    @property
    def label(self) -> str:
        """The law and the sensitivity."""
        return f"{named(self.law)}, sensitivity {show(self.sensitivity)}"

    @property
    def neighbours(self) -> str:
        """A bare sensitivity does not say of what."""
        return DECLARED

    def profile(self) -> Profile:
        """That of the law at every shift up to the sensitivity."""
        return law_profile(self.law, self.sensitivity)

    def pairs(self) -> LowerPairs | None:
        """The noise against itself, moved by the whole sensitivity."""
        if isinstance(self.law, Gaussian):
            found: LowerPair | None = SymmetricPair(GaussianLosses((self.sensitivity / self.law.std) ** 2))
        else:
            found = lower_pair(self.law, self.sensitivity)
        return None if found is None else ((found, self.profile(), 1),)

    def renyi(self, alpha: Fraction) -> Fraction:
        """By the rule of the law."""
        return renyi_divergence(self.law, alpha, self.sensitivity)[0]

    def rho(self) -> Fraction:
        """By the rule of the law."""
        return concentrated_rho(self.law, self.sensitivity)[0]


@record("pair", RELEASES, error=InvalidPrivacyError)
class DeclaredPair(Record):
    """Any release that is (epsilon, delta)-private; `attained` if it is randomised response itself."""

    epsilon: Rational = rational(at_least=0, at_most=LARGEST_EPSILON)
    delta: Rational = rational(at_least=0, below=1, default=Fraction(0))
    attained: Flag = flag(default=False)

    def __post_init__(self) -> None:
        if self.attained and self.delta:
            raise InvalidPrivacyError("randomised response has no delta; leave it out.", delta=self.delta)

    @property
    def label(self) -> str:
        """The two numbers."""
        if self.attained:
            return f"randomised response, epsilon {show(self.epsilon)}"
        return f"any ({show(self.epsilon)}, {show(self.delta)})-private release"

    @property
    def neighbours(self) -> str:
        """A bare pair does not say of whom."""
        return DECLARED

    def profile(self) -> Profile:
        """That of four points, than which none is worse."""
        return PairProfile(self.epsilon, self.delta)

    def pairs(self) -> LowerPairs | None:
        """The true and the false answer of randomised response; nothing is known of another release."""
        return ((SymmetricPair(ResponseLosses(self.epsilon)), self.profile(), 1),) if self.attained else None

    def renyi(self, alpha: Fraction) -> Fraction:
        """That of randomised response."""
        self._refuse_delta()
        return pure_to_renyi(self.epsilon, alpha) if self.epsilon else Fraction(0)

    def rho(self) -> Fraction:
        """Half the square of a pure epsilon."""
        self._refuse_delta()
        return self.epsilon**2 / 2

    def _refuse_delta(self) -> None:
        if self.delta:
            raise UncertifiedError(f"refused: {self.label} may have an infinite Renyi divergence.")


@dataclass(frozen=True, slots=True)
class CertifiedRelease:
    """A certified mechanism."""

    certified: Certified

    @property
    def label(self) -> str:
        """The mechanism, and what was certified."""
        mechanism = self.certified.mechanism
        law = getattr(mechanism, "law", None)
        what = type(mechanism).__name__ if law is None else named(law)
        return f"{what}, certified for {self.certified.certificate.requirement}"

    @property
    def neighbours(self) -> str:
        """As the certificate names them."""
        return self.certified.certificate.neighbours

    def profile(self) -> Profile:
        """By the mechanism's own rule, or what its certificate implies."""
        return profile_of(self.certified.mechanism, self.certified.certificate)

    def pairs(self) -> LowerPairs | None:
        """Every answer larger by its sensitivity."""
        found = lower_pairs_of(self.certified.mechanism)
        if found is None:
            return None
        factors = factors_of(self.profile())
        return tuple((pair, factors[min(i, len(factors) - 1)][0], count) for i, (pair, count) in enumerate(found))

    def renyi(self, alpha: Fraction) -> Fraction:
        """By the mechanism's own rule, or what its certificate implies."""
        return self._bound(RenyiDP(alpha, 1000))

    def rho(self) -> Fraction:
        """By the mechanism's own rule, or what its certificate implies."""
        return self._bound(ZeroConcentratedDP(1000))

    def _bound(self, wanted: Any) -> Fraction:
        mechanism, certificate = self.certified.mechanism, self.certified.certificate
        rule = PROVERS.get((type(mechanism), type(wanted)))
        try:
            if rule is not None:
                return rule(mechanism, wanted)[0]
        except UncertifiedError:
            if not isinstance(certificate.requirement, PureDP | type(wanted)):
                raise
        return implied_bound(certificate.requirement, wanted)[0]

    def to_dict(self) -> dict[str, Any]:
        """The saved mechanism."""
        return {"kind": "certified", "certified": self.certified.to_dict()}

    @property
    def digest(self) -> str:
        """That of the saved mechanism as it was at first, so that charged plans are known whatever rules are called."""
        plain = self.certified.to_dict()
        said = {**plain["certificate"], "rule": first_rule(plain["certificate"]["rule"])}
        content = {"format": plain["format"], "mechanism": plain["mechanism"], "certificate": said}
        return digest({"kind": "certified", "certified": {**content, "digest": digest(content)}})


def named(law: Any) -> str:
    """The kind of a law with those of its parameters that are single numbers."""
    values = [(name, getattr(law, name)) for name in law.CARD.given]
    shown = [f"{name} {show(value)}" for name, value in values if isinstance(value, Fraction)]
    return ", ".join([f"{law.CARD.kind} noise".replace("-", " "), *shown])


def release_from_dict(data: Mapping[str, Any]) -> Release:
    """The release that `to_dict` described; a certified mechanism is proven again."""
    if data["kind"] == "certified":
        return CertifiedRelease(verified(data["certified"]))
    found: Release = RELEASES.from_dict(data)
    return found
