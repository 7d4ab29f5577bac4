"""`compose`, the only maker of compositions."""

from __future__ import annotations

from typing import Any

from noisewright.accounting.certificate import MAKER
from noisewright.accounting.composition import Composition
from noisewright.accounting.lattice import Grid
from noisewright.accounting.reading import read_parts
from noisewright.accounting.structure import Parts
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.neighbours import ADD_REMOVE, DECLARED, WORDS
from noisewright.problem.numbers import whole_number

MOST_TIMES = 10**6


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
    return Composition(MAKER, parts, groups, _one_kind(parts, groups, neighbours), grids)


def longer(plan: Composition, release: Any, times: int) -> tuple[Composition, Parts]:
    """A plan with more releases on the same grids, and those releases."""
    if plan.groups is not None:
        raise InvalidInputError("this plan is about disjoint groups; compose it again with one group more.")
    more = _checked([(thing, count * times) for thing, count in read_parts(release)])
    told = None if plan.neighbours == DECLARED else plan.neighbours
    return made((*plan.parts, *more), None, told, plan.certificate.grids), more


def _checked(parts: Any) -> Parts:
    found = []
    for thing, times in parts:
        count = whole_number(times, "times")
        if not 1 <= count <= MOST_TIMES:
            raise InvalidInputError(f"times is {count}; give a whole number from 1 to {MOST_TIMES}.", times=count)
        found.append((thing, count))
    if not found:
        raise InvalidInputError("there is nothing to compose; give at least one release.")
    return tuple(found)


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
