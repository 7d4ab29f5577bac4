"""Plain data out of JSON that others wrote: no more text, values and levels than anything here is saved with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from noisewright.problem.deadlines import require_time

LARGEST_FILE = 64
"""How many MiB of text are read at most."""
_MOST_VALUES = 2_000_000
_MOST_LEVELS = 100


def text_in(path: str | Path, largest: int = LARGEST_FILE) -> str:
    """The text of a file of at most so many MiB, whatever its size is said to be.

    Raises OSError, or ValueError where it is larger or no UTF-8.
    """
    with Path(path).open("rb") as file:
        found = file.read(largest * 2**20 + 1)
    if len(found) > largest * 2**20:
        raise ValueError(f"it is larger than {largest} MiB, which is what is read at most")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not text (UTF-8)") from None


def plain_of(text: str) -> Any:
    """What JSON says; ValueError where it is none, or one that nothing here writes.

    Refused are keys that are named twice (readers differ in which one they believe), NaN and Infinity, more than two
    million values and more than a hundred levels, and to go on once a deadline is over.
    """
    if sum(map(text.count, ",[{")) > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES} values, which is what is read at most")
    try:
        found = json.loads(text, object_pairs_hook=_named_once, parse_constant=_no_number)
    except (RecursionError, MemoryError):
        raise ValueError(f"it is too deep or too large; at most {_MOST_LEVELS} levels are read") from None
    require_time()
    level, levels = [found], 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        levels += 1
        if levels > _MOST_LEVELS:
            raise ValueError(f"it has more than {_MOST_LEVELS} levels, which is what is read at most")
        level = [value for one in level for value in (one.values() if isinstance(one, dict) else one)]
    return found


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require_time()
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it names a key twice in one object")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"it holds {word}, which is no number")
