"""Deadlines: whoever reads what others wrote works for so long at most, and says so when the time is over.

Work is not interrupted from outside, which could leave a lock or a precision behind. Instead whatever long work is made
of (records that are born, rationals that become balls) asks here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

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
