"""A progress bar where somebody watches, of what takes long, and never on standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from noisewright.search.report import progress as words
from noisewright.search.report.progress import progress_bar

Action = Callable[[], None]


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[Action] = []

    def later(self, action: Action) -> Action:
        self.waiting.append(action)
        return self.waiting.clear

    def pass_two_seconds(self) -> None:
        for action in self.waiting:
            action()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error from here on; a fixture would be too early, since pytest puts its own there afterwards."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    return screen


def a_notebook(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    page = io.StringIO()
    monkeypatch.setattr(sys, "stderr", page)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    return page


def test_a_hidden_bar_prints_nothing(monkeypatch: pytest.MonkeyPatch):
    terminal, clock = a_terminal(monkeypatch), Clock()
    with progress_bar("design", 2, shown=False, later=clock.later) as step:
        step("one")
        clock.pass_two_seconds()
    assert terminal.getvalue() == ""


def test_a_shown_bar_writes_to_standard_error_alone(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if standard error were a terminal
    with progress_bar("design", 2, shown=True) as step:
        step("solving")
        step("proving")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "proving" in printed.err


def test_by_default_nothing_is_shown_where_nobody_watches(capsys):
    clock = Clock()
    with progress_bar("design", 2, later=clock.later) as step:
        step("solving")
        clock.pass_two_seconds()
    assert capsys.readouterr() == ("", "")
    assert clock.waiting == []


def test_quick_work_shows_nothing_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    terminal, clock = a_terminal(monkeypatch), Clock()
    with progress_bar("design", 2, later=clock.later) as step:
        step("solving")
        step("proving")
        assert len(clock.waiting) == 1
    assert terminal.getvalue() == ""
    assert clock.waiting == [], "the bar is called off when the work is done"


def test_long_work_shows_the_step_it_is_at(monkeypatch: pytest.MonkeyPatch):
    terminal, clock = a_terminal(monkeypatch), Clock()
    with progress_bar("design", 3, later=clock.later) as step:
        step("solving")
        step("proving")
        clock.pass_two_seconds()
        assert "design: proving" in terminal.getvalue()
        step("certifying")
    assert "design: certifying" in terminal.getvalue()


def test_a_notebook_gets_one_line_that_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch):
    notebook, clock = a_notebook(monkeypatch), Clock()
    with progress_bar("design", 3, later=clock.later) as step:
        step("solving")
        assert notebook.getvalue() == ""
        clock.pass_two_seconds()
        step("proving")
    lines = notebook.getvalue().split("\r")
    assert lines[1:3] == ["design: solving (0 of 3 done)", "design: proving (1 of 3 done)"]
    assert lines[3].strip() == lines[4] == ""
    assert "\n" not in notebook.getvalue()


@pytest.mark.parametrize("shown", [None, True])
def test_there_is_one_bar_at_a_time(shown: bool | None, monkeypatch: pytest.MonkeyPatch):
    terminal, clock = a_terminal(monkeypatch), Clock()
    with progress_bar("sweep", 1, later=clock.later) as outer:
        outer("epsilon = 1")
        with progress_bar("design", 1, shown=shown, later=clock.later) as inner:
            inner("solving")
            assert len(clock.waiting) == 1
    with progress_bar("design", 1, later=clock.later):
        assert len(clock.waiting) == 1, "the next one may be shown again"
    assert terminal.getvalue() == ""


def test_work_that_fails_leaves_no_bar_behind(monkeypatch: pytest.MonkeyPatch):
    a_terminal(monkeypatch)
    clock = Clock()
    with pytest.raises(ZeroDivisionError), progress_bar("design", 1, later=clock.later):
        raise ZeroDivisionError
    assert clock.waiting == []
    with progress_bar("design", 1, later=clock.later):
        assert len(clock.waiting) == 1


def test_waiting_is_called_off_without_waiting():
    done: list[str] = []
    words._later(lambda: done.append("shown"))()
    assert done == []
    assert words.PATIENCE == 2
