"""Ctrl-C at a point of the command line, or at a moment that nobody chose."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noisewright.problem.errors import NoisewrightError
from tests.release.failing import (
    DURING,
    PATIENCE,
    Harms,
    Trigger,
    reached,
    require_finished,
    require_ledger,
    seen,
    triggered,
)

UNHEARD = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Ctrl-C while something is let go is not raised: Python says that it was ignored."""

CLIENT = """
import signal
import sys
from noisewright.app.cli import main
from noisewright.ledger import checkpoints

def reach(name, point=sys.argv[1]):
    if name == point:
        print("here", flush=True)
        sys.stdin.readline()

checkpoints.passed = reach
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(["release", "visits.toml"]))
"""


def pressed(harms: Harms, folder: Path, point: str) -> str:
    """Press Ctrl-C at a point of `noisewright release visits.toml` in a process of its own: what it says."""
    held = {inside: name for name, inside in DURING.items()}.get(point, point)
    words = [sys.executable, "-c", CLIENT, held]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=folder, text=True, **pipes) as client:  # type: ignore[call-overload]
        assert client.stdout.readline() == "here\n"
        if held != point:
            with harms.locked():
                client.stdin.write("\n")
                client.stdin.flush()
                harms.until_blocked()
                client.send_signal(signal.SIGINT)
                _, told = client.communicate(timeout=PATIENCE)
        else:
            client.send_signal(signal.SIGINT)
            _, told = client.communicate(timeout=PATIENCE)
    assert client.returncode == 130, told
    assert "Traceback" not in told
    return " ".join(told.split())


def hurried(release: Callable[[], Any], wait: float) -> bool:
    """Press Ctrl-C a while after a release began, wherever it is by then: whether it was still at work."""
    begun, pressed, ended = threading.Event(), threading.Event(), threading.Event()

    def once(*_: object) -> None:
        pressed.set()
        if not ended.is_set():
            ended.set()
            raise KeyboardInterrupt

    def press() -> None:
        begun.wait()
        time.sleep(wait)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, once)
    try:
        threading.Thread(target=press, daemon=True).start()
        try:
            begun.set()
            release()
        except (NoisewrightError, KeyboardInterrupt):
            return True
        ended.set()
        return False
    finally:
        assert pressed.wait(PATIENCE)
        signal.signal(signal.SIGINT, before)


def at_any_moment(
    made: Callable[[str], Any],
    folder: Path,
    times: int,
    quiet: Callable[[], None] = lambda: None,
    expected: list[int] | None = None,
) -> int:
    """Press Ctrl-C in releases of the plan `made` for a ledger, and finish them; how many were still at work.

    `quiet` comes back when the engine has let go of what was asked.
    """
    first = made(str(folder / "first.ledger"))
    first.release()
    begun = time.monotonic()
    first.release(fresh=True)  # warm, as all that come
    longest, moments, heard = time.monotonic() - begun, random.Random(times), 0
    for number in range(times):
        own = folder / str(number)
        own.mkdir()
        draws, kept = own / "draws", str(own / "visits.ledger")
        draws.write_text("")
        plan = made(kept)
        with triggered(Trigger.never(), draws, expected):
            failed = hurried(plan.release, moments.random() * longest)
            quiet()
            point = reached(seen(kept)[0])
            require_ledger(kept, point, failed=failed)
            require_finished(made(kept), kept, draws, point, failed=failed)
        heard += failed
    return heard
