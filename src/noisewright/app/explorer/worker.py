"""A process that designs for the page: requests come in as lines of JSON, what it says goes out the same way.

It is started by the server, `python -m noisewright.app.explorer.worker`, so that a long computation neither stops the
page nor outlives its cancelling: the server ends the process and starts another.
"""

from __future__ import annotations

import gc
import json
import math
import os
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

from noisewright.app.cli.output import explain
from noisewright.app.explorer.form import TABLE, EntryError, clean
from noisewright.app.explorer.looking import Progress, looked, more, planned
from noisewright.problem.errors import NoisewrightError

Said = dict[str, Any]
WIDTHS = (240, 1200)
STOP = "stop"
"""The task that says that nobody waits for the answers up to a number any more."""
_USUAL: Said = {"task": "look", "state": {}, "known": [], "widths": [600, 600]}
"""What is done once at the start, so that everything is loaded before a person waits for it."""


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


def answered(request: Said, spec: str | None, tell: Progress) -> Iterator[Said]:
    """What is said to one request, event by event; the last one is "done" or says what went wrong."""
    try:
        yield from _answered(request, spec, tell)
        yield {"event": "done"}
    except AbandonedError:
        yield {"event": "done"}
    except EntryError as error:
        yield {"event": "refused", "entry": error.entry, "message": _sentence(error.message)}
    except NoisewrightError as error:
        yield {"event": "refused", "entry": "", "message": _sentence(str(error))}
    except Exception as error:  # noqa: BLE001 -- a page is never shown a traceback
        yield {"event": "refused", "entry": "", "message": _sentence(explain(error)[1])}


def _answered(request: Said, spec: str | None, tell: Progress) -> Iterator[Said]:
    state, known = clean(request["state"]), request["known"]
    narrow, wide = (min(max(int(width), WIDTHS[0]), WIDTHS[1]) for width in request["widths"])
    if state.get("question") == TABLE:
        if spec is None:
            raise EntryError("no spec file was named; start with: noisewright explore --spec spec.toml.", "question")
        return planned(spec, state, (narrow, wide))
    if request["task"] == "more":
        return more(state, known, (narrow, wide), request["amount"], bool(request["slow"]), tell)
    return looked(state, known, (narrow, wide), tell, request.get("settled"))


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _finite(data: Any) -> Any:
    """Plain data without infinity, which JSON does not have."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


class Inbox:
    """What the server writes, read also while something is computed; without a server there is nothing to do."""

    def __init__(self) -> None:
        self.requests: SimpleQueue[Said] = SimpleQueue()
        self.stopped = 0
        """Up to which number nobody waits for an answer any more."""
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            if request["task"] == STOP:
                self.stopped = request["number"]
            else:
                self.requests.put(request)
        os._exit(0)


def main() -> None:
    """Answer line by line for as long as the server is there."""
    spec = sys.argv[1] if len(sys.argv) > 1 else None
    channel, inbox, current = sys.stdout, Inbox(), 0
    sys.stdout = sys.stderr  # nothing else may write where answers go

    def say(said: Said) -> None:
        channel.write(json.dumps(_finite(said), allow_nan=False) + "\n")
        channel.flush()

    def tell(step: str, done: int, steps: int) -> None:
        if inbox.stopped >= current:
            raise AbandonedError
        say({"event": "progress", "step": step, "done": max(done, 0), "steps": steps})

    for _ in answered(_USUAL, None, lambda *_: None):
        pass
    gc.freeze()  # what is loaded by now stays: looking through it again would stop the page for a moment
    say({"event": "ready"})
    while True:
        request = inbox.requests.get()
        current = request["number"]
        for said in answered(request, spec, tell):
            say(said)


if __name__ == "__main__":
    main()
