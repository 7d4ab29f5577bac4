"""An empty folder to work in, the command line called inside this process, and saved mechanisms."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from noisewright.app.cli import main
from tests.e2e.command import Cli, Outcome


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the entry point in an empty folder; `typed` is what standard input holds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str, typed: str = "") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as stop:  # how the parser ends after printing a completion script
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture
def mechanism(cli: Cli, tmp_path: Path) -> Path:
    """A staircase for real answers, epsilon 1, as `design --save` writes it."""
    question = ("--epsilon", "1", "--sensitivity", "1", "--utility", "usefulness", "--within", "0.5")
    assert cli("design", *question, "--save", "mechanism.json").code == 0
    return tmp_path / "mechanism.json"


@pytest.fixture
def sure_integer(cli: Cli, tmp_path: Path) -> Path:
    """Integer noise so small that it is zero but for once in 10^13 draws: answers can be compared."""
    question = ("--epsilon", "32", "--sensitivity", "1", "--utility", "absolute-error", "--integer")
    assert cli("design", *question, "--save", "integer.json").code == 0
    return tmp_path / "integer.json"
