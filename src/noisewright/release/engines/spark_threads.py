"""Work on Spark in a thread of its own, so that Ctrl-C neither waits for it nor breaks the connection to the JVM.

Python speaks with the JVM over one connection for each thread, one question and one answer at a time. An interruption
between the two leaves the answer there for the next question: PySpark's own handler of Ctrl-C, which asks the JVM to
cancel every job, then asks over a connection that is in use, and fails. A thread that only waits has nothing under way.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import InheritableThread

Result = TypeVar("Result")
_GROUPS = (f"noisewright-{place}" for place in count())
_PATIENCE = 60
"""Seconds that cancelled jobs are waited for."""


def apart(context: Any, work: Callable[[], Result]) -> Result:
    """What the work gives or raises, done in another thread.

    Whatever ends the waiting cancels the jobs of the work, and only those.
    """
    found: Future[Result] = Future()
    group = next(_GROUPS)

    def done() -> None:
        try:
            context.setJobGroup(group, "a release of noisewright")
            found.set_result(work())
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            found.set_exception(error)

    InheritableThread(target=done, daemon=True).start()
    try:
        return found.result()
    except BaseException:
        if not found.done():
            with suppress(Py4JError, OSError):  # a driver that is gone has no jobs
                context.cancelJobGroup(group)
                wait([found], _PATIENCE)
        raise
