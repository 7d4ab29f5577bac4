"""What people see of long work while it lasts: a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer

Advance = Callable[[str], None]
PATIENCE = 2.0
"""How many seconds of work go by before a bar appears by itself."""
_AROUND: ContextVar[bool] = ContextVar("_AROUND", default=False)
"""Whether there is a bar around what is running."""
_LISTENER: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("_LISTENER", default=None)
"""Who is told of steps instead of a bar."""


def quiet(step: str) -> None:
    """No progress is shown."""


def watched() -> bool:
    """Whether a person is watching standard error: a terminal, or a notebook."""
    return in_a_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_a_notebook() -> bool:
    """Whether this is the kernel of a notebook, told without loading anything of it."""
    return "ipykernel" in sys.modules


def _later(action: Callable[[], None]) -> Callable[[], None]:
    """Do something after two seconds; what is returned calls it off, or waits for it to end if it has begun."""
    timer = Timer(PATIENCE, action)
    timer.daemon = True
    timer.start()

    def call_off() -> None:
        timer.cancel()
        timer.join()

    return call_off


def _at_once(action: Callable[[], None]) -> Callable[[], None]:
    action()
    return lambda: None


@contextmanager
def progress_bar(
    title: str,
    steps: int,
    *,
    shown: bool | None = None,
    later: Callable[[Callable[[], None]], Callable[[], None]] = _later,
) -> Iterator[Advance]:
    """Yields a function to call with the name of each step as it starts.

    With `shown` None the bar appears after two seconds, where somebody watches standard error; True shows it at once
    and anywhere, False never. Inside another bar there is none. `later` says what waiting means.
    """
    listener = _LISTENER.get()
    if listener is None and (shown is False or _AROUND.get() or (shown is None and not watched())):
        yield quiet
        return
    bar = _Bar(title, steps)
    if listener is not None:
        yield _telling(bar, listener)
        return
    token = _AROUND.set(True)
    call_off = (_at_once if shown else later)(bar.show)
    try:
        yield bar.advance
    finally:
        _AROUND.reset(token)
        call_off()
        bar.hide()


@contextmanager
def heard(listener: Callable[[str, int, int], None]) -> Iterator[None]:
    """Inside, no bar is shown: the listener is told each step as it starts, how many are done, and of how many."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def _telling(bar: _Bar, listener: Callable[[str, int, int], None]) -> Advance:
    def advance(step: str) -> None:
        bar.advance(step)
        listener(str(bar), bar.done, bar.steps)

    return advance


class _Bar:
    """Work in steps: nothing is loaded or written before `show`, nothing stays after `hide`."""

    def __init__(self, title: str, steps: int) -> None:
        self.title, self.steps, self.done, self.step = title, steps, -1, ""
        self.drawn: _Line | _Rich | None = None

    def advance(self, step: str) -> None:
        self.step, self.done = step, self.done + 1
        if self.drawn is not None:
            self.drawn.update(self)

    def show(self) -> None:
        drawn = _Line() if in_a_notebook() else _Rich(self)
        drawn.update(self)
        self.drawn = drawn

    def hide(self) -> None:
        if self.drawn is not None:
            self.drawn.close()

    def __str__(self) -> str:
        return f"{self.title}: {self.step}" if self.step else self.title


class _Line:
    """One line of plain text, written over: notebooks know no other movement of the cursor."""

    width = 0

    def update(self, bar: _Bar) -> None:
        text = f"{bar} ({max(bar.done, 0)} of {bar.steps} done)"
        self._write(text.ljust(self.width))
        self.width = len(text)

    def close(self) -> None:
        self._write(" " * self.width)
        self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text}")
        sys.stderr.flush()


class _Rich:
    """A moving bar on a terminal."""

    def __init__(self, bar: _Bar) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task(str(bar), total=bar.steps)
        self.progress.start()

    def update(self, bar: _Bar) -> None:
        self.progress.update(self.task, description=str(bar), completed=max(bar.done, 0))

    def close(self) -> None:
        self.progress.stop()
