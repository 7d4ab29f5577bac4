"""Profiles that follow from Renyi divergences, for mechanisms that are known by nothing else."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.proof.conversions import concentrated_to_approximate, renyi_to_approximate
from noisewright.proof.profiles.base import NOTHING, Profile


class _DivergenceProfile(Profile):
    """A mechanism of whose divergences a bound is known, at one order or at all."""

    __slots__ = ()

    @property
    @abstractmethod
    def per_order(self) -> Fraction:
        """The divergence over its order."""

    @abstractmethod
    def delta(self, epsilon: Fraction) -> Fraction:
        """The delta that the divergence implies."""

    @property
    def spread(self) -> float:
        return math.sqrt(2 * self.per_order)

    @property
    def largest(self) -> Fraction | None:
        return None if self.per_order else NOTHING

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        if not self.per_order:
            return [0] * len(epsilons)
        return [math.ceil(self.delta(e) * (1 << bits)) for e in epsilons]


@dataclass(frozen=True, slots=True)
class RenyiProfile(_DivergenceProfile):
    """A divergence of one order between neighbours of at most `divergence`.

    Rule: see `conversions.renyi_to_approximate`; one order holds for every epsilon. [CanonneKamathSteinke20]
    """

    order: Fraction
    divergence: Fraction
    rule: str = "profile/renyi"

    @property
    def per_order(self) -> Fraction:
        return self.divergence / self.order

    def delta(self, epsilon: Fraction) -> Fraction:
        return renyi_to_approximate(self.order, self.divergence, epsilon)


@dataclass(frozen=True, slots=True)
class ConcentratedProfile(_DivergenceProfile):
    """A divergence of every order a between neighbours of at most `rho` a.

    Rule: that of one order, at the order that a float search finds best for each epsilon; any order is a proof.
    [CanonneKamathSteinke20]
    """

    rho: Fraction
    rule: str = "profile/concentrated"

    @property
    def per_order(self) -> Fraction:
        return self.rho

    def delta(self, epsilon: Fraction) -> Fraction:
        return concentrated_to_approximate(self.rho, epsilon)
