"""Running several reproductions at once, each in a process of its own, with one progress bar for all."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from noisewright.problem.errors import NoisewrightError
from noisewright.search.report.progress import Advance, progress_bar

if TYPE_CHECKING:
    from noisewright.lab.claims import Reproduction
    from noisewright.lab.registry import Entry

_WAIT = 0.2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def run_all(entries: Mapping[str, Entry], out: Path, jobs: int, *, apart: bool) -> dict[str, Reproduction]:
    """Every reproduction, `jobs` at a time, into `out` or, with `apart`, into a folder of its own below it.

    With one job all run in this process. What one of them raises ends the whole, naming the paper.
    """
    places = {name: out / name if apart else out for name in entries}
    steps = sum(entry.steps for entry in entries.values())
    with progress_bar("reproducing", steps) as step:
        if jobs == 1 or len(entries) == 1:
            return {name: _run(name, entry, places[name], step) for name, entry in entries.items()}
        return _side_by_side(entries, places, jobs, step)


def _side_by_side(
    entries: Mapping[str, Entry], places: dict[str, Path], jobs: int, step: Advance
) -> dict[str, Reproduction]:
    # A fresh process shares no locks or threads with this one.
    fresh = multiprocessing.get_context("spawn")
    # The longest first, so that no core waits for a late one.
    order = sorted(entries, key=lambda name: -entries[name].steps)
    with _one_thread_each(), fresh.Manager() as manager, ProcessPoolExecutor(jobs, mp_context=fresh) as pool:
        told = manager.Queue()
        running: dict[str, Future[Reproduction]] = {
            name: pool.submit(_run_and_tell, name, entries[name], places[name], told) for name in order
        }
        try:
            while not all(future.done() for future in running.values()):
                try:
                    step(told.get(timeout=_WAIT))
                except Empty:
                    continue
                finally:
                    for future in running.values():
                        if future.done():
                            future.result()
            return {name: running[name].result() for name in entries}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that share the cores do not also split their matrix products."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update({name: value or "1" for name, value in before.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)


def _run_and_tell(name: str, entry: Entry, out: Path, told: Any) -> Reproduction:
    return _run(name, entry, out, told.put)


def _run(name: str, entry: Entry, out: Path, step: Advance) -> Reproduction:
    out.mkdir(parents=True, exist_ok=True)
    try:
        return entry.run(out, lambda what: step(f"{name}: {what}"))
    except NoisewrightError as error:
        raise NoisewrightError(f"the reproduction {name} stopped: {error}") from None
