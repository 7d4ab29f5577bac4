"""`compose`, the only maker of compositions."""

from __future__ import annotations

import math
from typing import Any

from noisewright.accounting.certificate import MAKER
from noisewright.accounting.composition import Composition, read_parts
from noisewright.accounting.grids import Grid
from noisewright.accounting.structure import (
    DEEPEST,
    LARGEST_LOSS,
    MOST_RELEASES,
    MOST_TIMES,
    Parts,
    depth_of,
    size_of,
    times_of,
)
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import whole_number
from noisewright.problem.privacy import ADD_REMOVE, DECLARED, WORDS


def compose(releases: Any, *, groups: int | None = None, neighbours: str | None = None) -> Composition:
    """What many releases together give away about one person, proven.

    `releases` lists certified mechanisms, each alone or as (mechanism, times); also plans, events of `dp_accounting`,
    and words such as "gaussian(sigma=40) x 1000". With `groups=g` they are about disjoint groups of people, of which
    one person is in at most g; such a plan is about people who come or go (add-remove), whatever holds it.
    `neighbours` says what releases that only declare a sensitivity are about (`add-remove` or `replace`), where others
    are certified for that.
    Guarantees: every number of the composition is at or above the truth, whatever order the releases come in and
    whatever is asked because of earlier answers, as long as each release is one of the plan.
    Raises InvalidInputError for what is no release and for releases about different neighbours.

    >>> plan = nw.compose(["gaussian(sigma=40) x 1000", "laplace(epsilon=0.1) x 20"])
    >>> round(float(plan.epsilon(delta=1e-6)), 3)
    4.338
    """
    parts = _checked(read_parts(releases))
    if groups is not None:
        groups = _groups(groups)
        parts = tuple((thing if times == 1 else made(((thing, times),), None, neighbours), 1) for thing, times in parts)
    return made(parts, groups, neighbours)


def made(
    parts: Parts, groups: int | None, neighbours: str | None, grids: tuple[Grid, ...] | None = None
) -> Composition:
    """The composition of parts that were read."""
    _require_size(parts, groups)
    return Composition(MAKER, parts, groups, _one_kind(parts, groups, neighbours), grids)


def longer(plan: Composition, release: Any, times: int) -> tuple[Composition, Parts]:
    """A plan with more releases on the same grids, and those releases."""
    if plan.groups is not None:
        raise InvalidInputError("this plan is about disjoint groups; compose it again with one group more.")
    more = _checked(read_parts(release, times_of(times)))
    told = None if plan.neighbours == DECLARED else plan.neighbours
    return made((*plan.parts, *more), None, told, plan.certificate.grids), more


def _checked(parts: Any) -> Parts:
    if not parts:
        raise InvalidInputError("there is nothing to compose; give at least one release.")
    for thing, _ in parts:
        require_bearable(thing)
    return tuple(parts)


def require_bearable(thing: Any) -> None:
    """Refuse a release whose losses are beyond what anyone can mean."""
    if isinstance(thing, Composition):
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


def _require_size(parts: Parts, groups: int | None) -> None:
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


def _groups(groups: Any) -> int:
    count = whole_number(groups, "groups")
    if not 1 <= count <= MOST_TIMES:
        raise InvalidInputError(
            f"groups is {count}; give in how many of the groups one person can be, at least 1.", groups=count
        )
    return count


def _one_kind(parts: Parts, groups: int | None, told: str | None) -> str:
    """The one kind of neighbours that all parts are about."""
    if told is not None and told not in WORDS:
        raise InvalidInputError(f"neighbours is {told!r}; give one of {', '.join(WORDS)}.", neighbours=told)
    kinds = {thing.neighbours for thing, _ in parts}
    if told is not None:
        kinds = (kinds - {DECLARED}) | {told}
    if len(kinds) > 1:
        raise InvalidInputError(
            f"these releases are about different neighbours: {', '.join(sorted(kinds))}. Compose those of one kind;"
            ' say with neighbours="add-remove" or "replace" what declared sensitivities are about.',
            neighbours=sorted(kinds),
        )
    kind: str = kinds.pop()
    if groups is None:
        return kind
    if kind not in (ADD_REMOVE, DECLARED) or told == DECLARED:
        raise InvalidInputError(
            f"disjoint groups are for people who come or go (add-remove); these releases are about {kind} neighbours,"
            ' where one person can leave one group for another. Leave neighbours out, or say "add-remove".',
            neighbours=kind,
        )
    # What is said of groups holds for people who come or go alone, so no larger plan may declare anything else.
    return ADD_REMOVE
