"""What a person may give as releases, read into the parts of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noisewright.accounting.composition import Composition
from noisewright.accounting.counts import DEEPEST, MOST_PARTS, times_of, too_deep, too_many_parts
from noisewright.accounting.events import is_event, parts_of_event
from noisewright.accounting.releases import RELEASES, Proven
from noisewright.accounting.words import parts_of_words
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.fields import is_list
from noisewright.sample.certified import Certified

_WANTED = (
    'a certified mechanism, (mechanism, times), a composition, words such as "gaussian(sigma=40) x 1000", or an event'
    " of dp_accounting"
)


def read_parts(given: Any, times: int = 1, depth: int = 0) -> list[tuple[Any, int]]:
    """The releases in what was given, and how often each, if all of it is made so many times."""
    if _is_counted(given):
        return read_parts(given[0], times_of(given[1], before=times), _deeper(depth))
    if not _is_one(given) and is_list(given) and not isinstance(given, Mapping | Path):
        found: list[tuple[Any, int]] = []
        for one in given:
            found.extend(read_parts(one, times, _deeper(depth)))
            if len(found) > MOST_PARTS:
                raise too_many_parts()
        return found
    return [(thing, times_of(count, before=times)) for thing, count in _read_one(given)]


def _is_one(given: Any) -> bool:
    return isinstance(given, Certified | Composition | Proven | str) or given in RELEASES or is_event(given)


def _deeper(depth: int) -> int:
    if depth >= DEEPEST:
        raise too_deep()
    return depth + 1


def _read_one(given: Any) -> list[tuple[Any, int]]:
    """What is no list."""
    if isinstance(given, Certified):
        return [(Proven(given), 1)]
    if isinstance(given, Composition | Proven) or given in RELEASES:
        return [(given, 1)]
    if isinstance(given, str):
        return parts_of_words(given)
    if is_event(given):
        return parts_of_event(given)
    raise InvalidInputError(f"a release is of type {type(given).__name__}; give {_WANTED}.")


def _is_counted(given: Any) -> bool:
    """Whether it is a release with the number of times."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    return pair and not isinstance(given[1], str) and not is_list(given[1]) and hasattr(given[1], "__index__")
