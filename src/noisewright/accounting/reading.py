"""What a person may give as releases, read into the parts of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noisewright.accounting.composition import Composition
from noisewright.accounting.events import is_event, parts_of_event
from noisewright.accounting.releases import RELEASES, Proven
from noisewright.accounting.words import parts_of_words
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.fields import is_list
from noisewright.problem.numbers import whole_number
from noisewright.sample.certified import Certified

_WANTED = (
    'a certified mechanism, (mechanism, times), a composition, words such as "gaussian(sigma=40) x 1000", or an event'
    " of dp_accounting"
)


def read_parts(given: Any) -> list[tuple[Any, int]]:
    """The releases in what was given, and how often each."""
    if isinstance(given, Certified):
        return [(Proven(given), 1)]
    if isinstance(given, Composition | Proven) or given in RELEASES:
        return [(given, 1)]
    if isinstance(given, str):
        return parts_of_words(given)
    if is_event(given):
        return parts_of_event(given)
    if _is_counted(given):
        times = whole_number(given[1], "times")
        return [(thing, count * times) for thing, count in read_parts(given[0])]
    if is_list(given) and not isinstance(given, Mapping | Path):
        return [part for one in given for part in read_parts(one)]
    raise InvalidInputError(f"a release is of type {type(given).__name__}; give {_WANTED}.")


def _is_counted(given: Any) -> bool:
    """Whether it is a release with the number of times."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    return pair and not isinstance(given[1], str) and not is_list(given[1]) and hasattr(given[1], "__index__")
