"""The explorer as a person starts it: the command in a process of its own, and a Chromium that is installed already."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE = 30


def chromium() -> str | None:
    """Where a Chromium is; None if there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@dataclass(frozen=True)
class Served:
    """A running explorer."""

    address: str
    """As it was printed, with the token behind the hash."""
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        return self.address.partition("#")[0]

    @property
    def token(self) -> str:
        return self.address.partition("#token=")[2]

    def at(self, query: str) -> str:
        """The address of a state of the page."""
        return f"{self.base}?{query}#token={self.token}"


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Served]:
    """Start it on a free port, and end it as Ctrl-C does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "noisewright", "explore", "--no-browser", "--port", "0", *words],
        cwd=folder,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stderr is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), process.stderr.read()
    try:
        yield Served(address, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(_PATIENCE)
        process.stdout.close()
        process.stderr.close()
