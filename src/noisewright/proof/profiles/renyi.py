"""Profiles that follow from Renyi divergences, for mechanisms that are known by nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.proof.conversions import concentrated_to_approximate, renyi_to_approximate
from noisewright.proof.profiles.base import NOTHING


@dataclass(frozen=True, slots=True)
class RenyiProfile:
    """A divergence of one order between neighbours of at most `divergence`.

    Rule: see `conversions.renyi_to_approximate`; one order holds for every epsilon. [CanonneKamathSteinke20]
    """

    order: Fraction
    divergence: Fraction
    rule: str = "profile/renyi"

    @property
    def spread(self) -> float:
        return math.sqrt(2 * self.divergence / self.order)

    @property
    def largest(self) -> Fraction | None:
        return None if self.divergence else NOTHING

    @property
    def lost(self) -> Fraction:
        return NOTHING

    @property
    def lattice(self) -> Fraction | None:
        return None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        if not self.divergence:
            return [0] * len(epsilons)
        return [math.ceil(renyi_to_approximate(self.order, self.divergence, e) * (1 << bits)) for e in epsilons]


@dataclass(frozen=True, slots=True)
class ConcentratedProfile:
    """A divergence of every order a between neighbours of at most `rho` a.

    Rule: that of one order, at the order that a float search finds best for each epsilon; any order is a proof.
    [CanonneKamathSteinke20]
    """

    rho: Fraction
    rule: str = "profile/concentrated"

    @property
    def spread(self) -> float:
        return math.sqrt(2 * self.rho)

    @property
    def largest(self) -> Fraction | None:
        return None if self.rho else NOTHING

    @property
    def lost(self) -> Fraction:
        return NOTHING

    @property
    def lattice(self) -> Fraction | None:
        return None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        if not self.rho:
            return [0] * len(epsilons)
        return [math.ceil(concentrated_to_approximate(self.rho, e) * (1 << bits)) for e in epsilons]
