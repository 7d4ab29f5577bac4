"""What others wrote, read within limits: no more text, values and levels than anything here is saved with, in time.

Work is not interrupted from outside, which could leave a lock or a precision behind. Instead whatever long work is made
of (records that are constructed, rationals that become balls) asks here whether a deadline is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from noisewright.problem.errors import InvalidNumberError, MechanismFileError
from noisewright.problem.numbers import Number, parameter

READING_SECONDS = 60
"""How long reading and proving one file takes at most, unless whoever reads it says otherwise."""
_LONGEST = 10**6
_END: ContextVar[tuple[float, float] | None] = ContextVar("_END", default=None)
"""When the time is over, and how long it was; None where nobody waits."""


@contextmanager
def within(seconds: Number) -> Iterator[None]:
    """Inside, `require_time` refuses after so many seconds; inside another deadline that one holds."""
    allowed = parameter(seconds, "seconds")
    if not 0 < allowed <= _LONGEST:
        raise InvalidNumberError(f"seconds is {seconds!s:.40}; give a positive number of seconds, at most {_LONGEST}.")
    if _END.get() is not None:
        yield
        return
    token = _END.set((monotonic() + float(allowed), float(allowed)))
    try:
        yield
    finally:
        _END.reset(token)


def require_time() -> None:
    """Refuse to go on where a deadline is over; where there is none, nothing."""
    found = _END.get()
    if found is not None and monotonic() > found[0]:
        raise MechanismFileError(
            f"reading the file and proving what it claims takes longer than {found[1]:g} seconds, which is what is"
            " allowed; if you trust whoever made it, allow more: seconds=..., or --seconds at the command line."
        )


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
