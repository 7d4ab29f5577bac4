"""A process is forked only while none of its threads has a file of a ledger open.

SQLite remembers in the memory of the process which locks its connections hold. A child that is forked in between takes
over the memory and not the locks: it could never write that file again, and would read it while others write.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 180.0
"""Seconds after which a fork takes place all the same: longer than any charge waits for others."""


class Gate:
    """Counts what this process has open; `os.fork` waits until other threads have closed it."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._open = self._forking = 0
        self._own = threading.local()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Something is open meanwhile."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def before_fork(self) -> None:
        """Wait for other threads, and let none begin; the lock is held over the fork."""
        self._change.acquire()
        self._forking += 1
        self._change.wait_for(lambda: self._open == self._mine(), _PATIENCE)

    def after_in_parent(self) -> None:
        """Let the others go on."""
        self._forking -= 1
        self._change.notify_all()
        self._change.release()

    def after_in_child(self) -> None:
        """The thread that forked is the only one."""
        self._change, self._open, self._forking = threading.Condition(), self._mine(), 0

    def _mine(self) -> int:
        return int(getattr(self._own, "count", 0))

    def _count(self, more: int) -> None:
        with self._change:
            # Whoever is inside already must be able to finish.
            self._change.wait_for(lambda: not self._forking or self._mine())
            self._own.count = self._mine() + more
            self._open += more
            self._change.notify_all()


GATE = Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=GATE.before_fork, after_in_parent=GATE.after_in_parent, after_in_child=GATE.after_in_child
    )
