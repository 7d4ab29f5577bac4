"""Lanes: each a worker process with a short queue before it. What is cancelled, or takes too long, ends its process."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from noisewright.app.explorer.worker import STOP

Said = dict[str, Any]
LONGEST_QUEUE = 6
_PATIENCE = 600.0
"""Seconds for one request."""
_GRACE = 2.0
"""How long work that nobody waits for may go on before its process is ended; a new one takes a second to start."""
_LONGEST_LINE = 256 * 2**20


class BusyError(Exception):
    """Too many requests wait already."""


class CancelledWorkError(Exception):
    """The work was cancelled, or took too long."""


class Lane:
    """One worker process; requests take turns."""

    def __init__(self, spec: str | None) -> None:
        self._spec = spec
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._process: asyncio.subprocess.Process | None = None
        self._ready = False
        self._cancelled = False
        self._closed = False
        self._number = 0

    async def start(self) -> None:
        """Start the process; it is not waited for."""
        words = ["-P", "-m", "noisewright.app.explorer.worker", *([] if self._spec is None else [self._spec])]
        pipe = asyncio.subprocess.PIPE
        self._ready = False
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, *words, stdin=pipe, stdout=pipe, limit=_LONGEST_LINE, start_new_session=True
        )

    async def close(self) -> None:
        """End the process for good."""
        self._closed = True
        await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            process._transport.close()  # type: ignore[attr-defined]  # asyncio closes it late, with a warning

    def cancel(self) -> None:
        """End what is running; the next request gets a new process."""
        self._cancelled = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def ask(self, request: Said) -> AsyncIterator[Said]:
        """What the worker says to a request. Raises BusyError if too many wait, CancelledWorkError if it was ended."""
        if self._waiting >= LONGEST_QUEUE:
            raise BusyError
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        finished = False
        try:
            self._cancelled = False
            async with asyncio.timeout(_PATIENCE):
                await self._send(request)
                while not finished:
                    said = await self._hear()
                    finished = said["event"] in ("done", "refused")
                    yield said
        except TimeoutError:
            raise CancelledWorkError("this took more than ten minutes, and was ended.") from None
        finally:
            if finished:
                self._turn.release()
            else:
                tidy = asyncio.get_running_loop().create_task(self._tidy())
                _KEPT.add(tidy)
                tidy.add_done_callback(_KEPT.discard)

    async def _send(self, request: Said) -> None:
        if self._closed:
            raise CancelledWorkError("the explorer ends.")
        if self._process is None or self._process.returncode is not None:
            await self._end()
            await self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        while not self._ready:
            self._ready = (await self._hear())["event"] == "ready"
        self._number += 1
        self._process.stdin.write(json.dumps({**request, "number": self._number}).encode() + b"\n")
        await self._process.stdin.drain()

    async def _hear(self) -> Said:
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise CancelledWorkError("this was cancelled." if self._cancelled else "the computation ended by itself.")
        found: Said = json.loads(line)
        return found

    async def _stop_work(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(ConnectionError):
                self._process.stdin.write(json.dumps({"task": STOP, "number": self._number}).encode() + b"\n")
                await self._process.stdin.drain()

    async def _tidy(self) -> None:
        """Nobody waits for the rest: the worker is told, and if it does not stop soon, its process is ended."""
        try:
            async with asyncio.timeout(_GRACE):
                await self._stop_work()
                while (await self._hear())["event"] not in ("done", "refused"):
                    pass
        except (TimeoutError, CancelledWorkError):
            await self._end()
            if not self._closed:
                await self.start()
        finally:
            self._turn.release()


_KEPT: set[asyncio.Task[None]] = set()
"""Tasks that nothing else holds."""
