"""A bar on the terminal while an engine reads a table, if that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from noisewright.search.report.shown import PATIENCE, watched

_EVERY = 0.2


@contextmanager
def scanning(
    dataset: Any, title: str = "reading the table", *, shown: bool | None = None, patience: float = PATIENCE
) -> Iterator[None]:
    """Show how far the running query is, after two seconds and where somebody watches; nothing of it stays."""
    if not (watched() if shown is None else shown):
        yield
        return
    from noisewright.release.table.sources import progress_of

    over = Event()
    bar = Thread(target=_draw, args=(title, progress_of(dataset), over, patience), daemon=True)
    bar.start()
    try:
        yield
    finally:
        over.set()
        bar.join()


def _draw(title: str, done: Callable[[], float | None], over: Event, patience: float) -> None:
    if over.wait(patience):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(title, total=None)
        while not over.wait(_EVERY):
            hundredths = done()
            progress.update(task, total=None if hundredths is None else 100, completed=hundredths or 0, refresh=True)
