"""Many processes at once: forked, each with something to do, each reporting plain data through a pipe."""

from __future__ import annotations

import json
import os
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import Any


def forked(task: Callable[[], Any], patience: int = 250) -> tuple[int, int]:
    """Start a process that does the task within so many seconds: its id, and where its result can be read."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries are idle here
        child = os.fork()
    if child:
        os.close(write)
        return child, read
    os.close(read)
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # not one that waits until a library returns
        signal.alarm(patience)
        with os.fdopen(write, "w") as out:
            json.dump(task(), out)
        code = 0
    except BaseException:  # noqa: BLE001 -- whatever it is, the parent must hear of it, and pytest must not run here
        traceback.print_exc()
    finally:
        os._exit(code)


def outcome(child: int, read: int) -> tuple[int, Any]:
    """How the process ended (0, or minus the signal), and its result if it has one."""
    with os.fdopen(read) as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(text) if text else None


def together(tasks: list[Callable[[], Any]], patience: int = 250) -> list[Any]:
    """Do all tasks at once; every one must succeed."""
    started = [forked(task, patience) for task in tasks]
    ended = [outcome(*one) for one in started]
    assert [code for code, _ in ended] == [0] * len(tasks)
    return [result for _, result in ended]


def killed_at(deadly_point: str, task: Callable[[], Any], *, after: int = 0) -> int:
    """Do the task in a process that kills itself at a marked point, reached so many times before."""
    from noisewright.ledger import checkpoints

    def deadly() -> Any:
        seen = [0]

        def reach(point: str) -> None:
            if point == deadly_point:
                seen[0] += 1
                if seen[0] > after:
                    os.kill(os.getpid(), signal.SIGKILL)

        checkpoints.passed = reach
        return task()

    return outcome(*forked(deadly))[0]
