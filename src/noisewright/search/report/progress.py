"""A progress bar for long work, on standard error, only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[str], None]


def quiet(step: str) -> None:
    """No progress is shown."""


@contextmanager
def progress_bar(title: str, steps: int, *, shown: bool) -> Iterator[Advance]:
    """Yields a function to call with the name of each step as it starts."""
    if not shown:
        yield quiet
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=steps)
        started = False

        def advance(step: str) -> None:
            nonlocal started
            bar.update(task, description=f"{title}: {step}", advance=1 if started else 0)
            started = True

        yield advance
