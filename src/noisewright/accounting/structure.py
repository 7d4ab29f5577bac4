"""How the parts of a plan add up: all of them together, or a person in at most so many of disjoint groups.

*Disjoint groups* (people come or go). A person is in at most g of them, and the releases of other groups do not depend
on the person. Each release that does has a profile of at most the pointwise maximum of the groups' profiles, which is
convex in e^epsilon as they are; g copies of it are composed. Which groups they are may depend on answers, which the g
worst groups' own profiles would not cover.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.accounting.grids import Leaf
from noisewright.accounting.releases import Pairs
from noisewright.proof.profiles import Profile, most
from noisewright.proof.profiles_joint import factors_of

Parts = tuple[tuple[Any, int], ...]
"""Releases or plans, and how often each."""


@dataclass(frozen=True, slots=True)
class Composed:
    """The profile of a whole plan as one release of a larger one, on the grid of a depth."""

    plan: Any
    place: int
    rule: str = "composed/dots-in-whole-numbers"

    @property
    def spread(self) -> float:
        """About the standard deviation of the sum of the losses."""
        return math.sqrt(sum(times * profile.spread**2 for profile, times in self.plan.leaves(self.place)))

    @property
    def largest(self) -> Fraction | None:
        """The sum of the largest losses."""
        end: Fraction | None = self.plan.end[0]
        return end

    @property
    def lost(self) -> Fraction:
        """What may be lost beyond it."""
        end, lost = self.plan.end
        return Fraction(0) if end is None else lost

    @property
    def lattice(self) -> Fraction | None:
        """Its cells need not be those of the larger plan."""
        return None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        """Whole numbers at or above 2^bits delta."""
        curve, largest, one = self.plan.curve(self.place), self.largest, 1 << bits
        least = math.ceil(self.lost * one)
        return [least if largest is not None and e >= largest else math.ceil(curve.delta(e) * one) for e in epsilons]


def leaves_of(parts: Parts, groups: int | None, place: int) -> list[Leaf]:
    """The profiles to be composed, and how often each; equal ones counted, those that lose nothing left out."""
    if groups is None:
        return counted([leaf for thing, times in parts for leaf in _expanded(thing, times, place)])
    members = [Composed(thing, place) if hasattr(thing, "parts") else thing.profile() for thing, _ in parts]
    return counted([(most(*members), groups)])


def _expanded(thing: Any, times: int, place: int) -> list[Leaf]:
    if hasattr(thing, "parts"):
        return [(profile, count * times) for profile, count in thing.leaves(place)]
    return [(thing.profile(), times)]


def counted(leaves: Sequence[Leaf]) -> list[Leaf]:
    """The same releases with equal profiles counted, joint ones taken apart, and those that lose nothing left out."""
    found: dict[Profile, int] = {}
    for profile, times in leaves:
        for part, each in factors_of(profile):
            if part.largest != 0 or part.lost:
                found[part] = found.get(part, 0) + times * each
    return list(found.items())


def size_of(parts: Parts, groups: int | None) -> int:
    """How many releases are added up, those of plans counted as often as they are made; of groups the largest."""
    sizes = [times * (size_of(thing.parts, thing.groups) if hasattr(thing, "parts") else 1) for thing, times in parts]
    return sum(sizes) if groups is None else groups * max(sizes, default=0)


def depth_of(parts: Parts) -> int:
    """How many plans are inside each other."""
    return max((1 + depth_of(thing.parts) for thing, _ in parts if hasattr(thing, "parts")), default=0)


def end_of(leaves: Sequence[Leaf]) -> tuple[Fraction | None, Fraction]:
    """The sum of the largest losses, None where there is none, and what may be lost beyond it.

    Rule: adding epsilons and deltas up (basic composition). [DworkRoth14]
    """
    lost = min(Fraction(1), sum((times * profile.lost for profile, times in leaves), Fraction(0)))
    total = Fraction(0)
    for profile, times in leaves:
        if profile.largest is None:
            return None, lost
        total += times * profile.largest
    return total, lost


def pairs_of(parts: Parts, groups: int | None) -> Pairs | None:
    """One pair of neighbours that all releases share; None where a release has none.

    Of groups, those whose losses spread most among those with a pair: a person may be in any of them.
    """
    known = [(thing, times, thing.pairs()) for thing, times in parts]
    if groups is None:
        if any(pairs is None for _, _, pairs in known):
            return None
    else:
        known = sorted((one for one in known if one[2] is not None), key=lambda one: -one[0].profile().spread)[:groups]
        if not known:
            return None
    found: dict[Any, int] = {}
    for _, times, pairs in known:
        for pair, profile, count in pairs:
            found[pair, profile] = found.get((pair, profile), 0) + count * times
    return tuple((pair, profile, times) for (pair, profile), times in found.items())


def total_of(bounds: Sequence[tuple[Fraction, int]], groups: int | None) -> Fraction:
    """Bounds that add up, such as Renyi divergences: all of them, or so many times the largest group's."""
    each = [bound * times for bound, times in bounds]
    return sum(each, Fraction(0)) if groups is None else groups * max(each)
