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
from typing import Any, Protocol, TypeAlias, TypeGuard

from noisewright.accounting.certificate import Bracket
from noisewright.accounting.curves import Curve
from noisewright.accounting.grids import Leaf
from noisewright.accounting.releases import LowerPairs, Release
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import whole_number
from noisewright.problem.privacy import ADD_REMOVE, DECLARED, WORDS
from noisewright.proof.costs import Costs
from noisewright.proof.profiles.base import Profile, most
from noisewright.proof.profiles.joint import factors_of

MOST_TIMES = 10**6
"""How often one release may be made in one plan, and how many people's groups it may have."""
MOST_RELEASES = 10**8
"""How many releases a plan may have in all, those of plans in it counted as often as they are made."""
LARGEST_LOSS = 10**6
"""The largest privacy loss of one release, or deviation of it, that is added up: e^(10^6) hides nothing."""
MOST_PARTS = 100_000
"""How many different releases may be listed."""
DEEPEST = 8
"""How deep lists may hold lists, and plans plans."""


class Plan(Release, Protocol):
    """A composition as what renders it, charges it or composes it further knows it."""

    @property
    def parts(self) -> Parts:
        """Releases or plans, and how often each."""
        ...

    @property
    def groups(self) -> int | None:
        """In how many of its parts, which are disjoint groups, a person is at most; None where all add up."""
        ...

    @property
    def end(self) -> tuple[Fraction | None, Fraction]:
        """The sum of the largest losses, None where there is none, and what may be lost beyond it."""
        ...

    def leaves(self, depth_index: int) -> list[Leaf]:
        """The profiles that are composed, and how often each, on the grid of a depth."""
        ...

    def curve(self, depth_index: int) -> Curve:
        """The proven curve delta(epsilon) on the grid of a depth."""
        ...

    def epsilon(self, delta: Fraction) -> Fraction:
        """Upper bound of epsilon at a delta."""
        ...

    def bracket(self, *, epsilon: Fraction | None = None, delta: Fraction | None = None) -> Bracket:
        """Between what and what the delta at an epsilon lies, or the epsilon at a delta."""
        ...

    def costs(self) -> Costs:
        """What it costs in each sum that a ledger may keep."""
        ...


Parts: TypeAlias = tuple[tuple[Release, int], ...]
"""Releases or plans, and how often each; a plan is a release too."""


def is_plan(thing: Release) -> TypeGuard[Plan]:
    """Whether a part of a plan is itself a plan."""
    return hasattr(thing, "parts")


@dataclass(frozen=True, slots=True)
class PlanProfile(Profile):
    """The profile of a whole plan as one release of a larger one, on the grid of a depth."""

    plan: Plan
    depth_index: int
    rule: str = "composed/connect-the-dots"

    @property
    def spread(self) -> float:
        """About the standard deviation of the sum of the losses."""
        return math.sqrt(sum(times * profile.spread**2 for profile, times in self.plan.leaves(self.depth_index)))

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

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        """Whole numbers at or above 2^bits delta."""
        curve, largest, one = self.plan.curve(self.depth_index), self.largest, 1 << bits
        least = math.ceil(self.lost * one)
        return [least if largest is not None and e >= largest else math.ceil(curve.delta(e) * one) for e in epsilons]


def leaves_of(parts: Parts, groups: int | None, depth_index: int) -> list[Leaf]:
    """The profiles to be composed, and how often each; equal ones counted, those that lose nothing left out."""
    if groups is not None:
        members: list[Profile] = []
        for thing, _ in parts:
            members.append(PlanProfile(thing, depth_index) if is_plan(thing) else thing.profile())
        return counted([(most(*members), groups)])
    leaves: list[Leaf] = []
    for thing, times in parts:
        own = thing.leaves(depth_index) if is_plan(thing) else [(thing.profile(), 1)]
        leaves += [(profile, count * times) for profile, count in own]
    return counted(leaves)


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
    sizes = [times * (size_of(thing.parts, thing.groups) if is_plan(thing) else 1) for thing, times in parts]
    return sum(sizes) if groups is None else groups * max(sizes, default=0)


def depth_of(parts: Parts) -> int:
    """How many plans are inside each other."""
    return max((1 + depth_of(thing.parts) for thing, _ in parts if is_plan(thing)), default=0)


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


def pairs_of(parts: Parts, groups: int | None) -> LowerPairs | None:
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
        for pair, profile, count in pairs or ():
            found[pair, profile] = found.get((pair, profile), 0) + count * times
    return tuple((pair, profile, times) for (pair, profile), times in found.items())


def total_of(bounds: Sequence[tuple[Fraction, int]], groups: int | None) -> Fraction:
    """Bounds that add up, such as Renyi divergences: all of them, or so many times the largest group's."""
    each = [bound * times for bound, times in bounds]
    return sum(each, Fraction(0)) if groups is None else groups * max(each)


def times_of(given: Any, name: str = "times", before: int = 1) -> int:
    """A number of times, by as often as what holds it is made: each factor is at least 1, the product bounded."""
    count = whole_number(given, name)
    if not 1 <= count <= MOST_TIMES:
        raise InvalidInputError(
            f"{name} is {str(count)[:40]}; give a whole number from 1 to {MOST_TIMES}.", given=count
        )
    if before * count > MOST_TIMES:
        raise InvalidInputError(
            f"{name} is {count}, of what is made {before} times: one release is made at most {MOST_TIMES} times.",
            given=count,
        )
    return before * count


def too_many_parts() -> InvalidInputError:
    """What is said of an endless list."""
    return InvalidInputError(
        f"more than {MOST_PARTS} releases are listed, one by one; give equal ones once, with how often they are made."
    )


def too_deep() -> InvalidInputError:
    """What is said of a list that holds itself."""
    return InvalidInputError(
        f"these releases are in lists (or events) more than {DEEPEST} deep, or in one that holds itself; give one list."
    )


def require_bearable(thing: Release) -> None:
    """Refuse a release whose losses are beyond what anyone can mean."""
    if is_plan(thing):
        return
    profile = thing.profile()
    try:
        size = max(profile.spread, float(profile.largest or 0))
    except OverflowError:
        size = math.inf
    if size > LARGEST_LOSS:
        raise InvalidInputError(
            f"{thing.label}: its privacy loss is about {size:.3g}, which hides nothing; give noise whose loss is at"
            f" most {LARGEST_LOSS}, in the same unit as the sensitivity."
        )


def require_size(parts: Parts, groups: int | None) -> None:
    """Refuse more releases than can be meant, and plans in plans in plans that no file could hold."""
    if (depth := depth_of(parts)) > DEEPEST:
        raise InvalidInputError(
            f"this plan holds plans in plans {depth} deep; at most {DEEPEST}: compose their releases."
        )
    if (size := size_of(parts, groups)) > MOST_RELEASES:
        raise InvalidInputError(
            f"this plan has {size} releases, those of the plans in it included; at most {MOST_RELEASES} are added up.",
            releases=size,
        )


def groups_of(groups: Any) -> int:
    """In how many groups one person is at most, checked."""
    count = whole_number(groups, "groups")
    if not 1 <= count <= MOST_TIMES:
        raise InvalidInputError(
            f"groups is {count}; give in how many of the groups one person can be, at least 1.", groups=count
        )
    return count


def one_adjacency(parts: Parts, groups: int | None, told: str | None) -> str:
    """The one kind of neighbours that all parts are about."""
    if told is not None and told not in WORDS:
        raise InvalidInputError(f"neighbours is {told!r}; give one of {', '.join(WORDS)}.", neighbours=told)
    kinds = {thing.neighbours for thing, _ in parts}
    if told is not None:
        kinds = (kinds - {DECLARED}) | {told}
    if len(kinds) > 1:
        raise InvalidInputError(
            f"these releases have different kinds of adjacency: {', '.join(sorted(kinds))}. Compose those of one kind;"
            ' say with neighbours="add-remove" or "replace" what declared sensitivities are about.',
            neighbours=sorted(kinds),
        )
    kind: str = kinds.pop()
    if groups is None:
        return kind
    if kind not in (ADD_REMOVE, DECLARED) or told == DECLARED:
        raise InvalidInputError(
            f"disjoint groups are for people who come or go (add-remove); these releases are about {kind} adjacency,"
            ' where one person can leave one group for another. Leave neighbours out, or say "add-remove".',
            neighbours=kind,
        )
    # What is said of groups holds for people who come or go alone, so no larger plan may declare anything else.
    return ADD_REMOVE
