"""How often a release is made, and how large a plan may be."""

from __future__ import annotations

from typing import Any

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import whole_number

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
