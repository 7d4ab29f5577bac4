"""A progress bar only when asked for, and never on standard output."""

from __future__ import annotations

from noisewright.search.report.shown import progress_bar


def test_a_hidden_bar_prints_nothing(capsys):
    with progress_bar("design", 2, shown=False) as step:
        step("one")
        step("two")
    assert capsys.readouterr() == ("", "")


def test_a_shown_bar_writes_to_standard_error_alone(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if standard error were a terminal
    with progress_bar("design", 2, shown=True) as step:
        step("solving")
        step("proving")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "proving" in printed.err
