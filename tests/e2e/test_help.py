"""Help that helps: a sentence about the product, examples that work, a version, completion."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import noisewright
from tests.e2e.command import COMMANDS, Cli, assert_succeeded
from tests.e2e.spec_files import SPEC, VISITS


def _example(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    after = [line for line in lines[lines.index("Example:") + 1 :] if line]
    assert len(after) == 1, "the example is the last line, and one line"
    return shlex.split(after[0])


@pytest.mark.parametrize("words", [("--help",), ("-h",), ()], ids=["long", "short", "nothing"])
def test_the_help_says_what_this_is_and_lists_every_command(cli: Cli, words: tuple[str, ...]):
    outcome = cli(*words)
    assert_succeeded(outcome)
    text = " ".join(outcome.plain.split())
    assert "Designs the noise that is best for your question, proves its privacy and draws it exactly." in text
    for command in COMMANDS:
        assert f"│ {command} " in outcome.plain
    assert "--install-completion" in text
    assert "--show-completion" in text


ENDLESS = ("explore",)
"""It serves until it is interrupted: tests/explorer starts it in a process of its own."""


@pytest.mark.parametrize("command", [None, *(command for command in COMMANDS if command not in ENDLESS)])
def test_the_example_in_every_help_works(cli: Cli, mechanism: Path, command: str | None):
    words = () if command is None else (command,)
    help_text = cli(*words, "--help")
    assert_succeeded(help_text)
    program, *example = _example(help_text.plain)
    Path("queries.csv").write_text("0,1,2\n1,0,4\n", encoding="utf-8")
    Path("points.csv").write_text("0,0\n1,0\n3,4\n", encoding="utf-8")
    Path("visits.csv").write_text(VISITS, encoding="utf-8")
    if command in ("plan", "release", "bounds", "selfcheck"):
        Path("visits.toml").write_text(SPEC, encoding="utf-8")
    assert program == "noisewright"
    assert example[0] == (command or "design")
    assert_succeeded(cli(*example))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(cli: Cli, command: str):
    for line in cli(command, "--help").plain.splitlines():
        if line.startswith("│") and " --" in line[:8]:
            assert len(line.strip("│ ").split()) > 3, line


def test_the_version(cli: Cli):
    outcome = cli("--version")
    assert_succeeded(outcome)
    assert outcome.out == f"noisewright {noisewright.__version__}\n"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("noisewright ", set(COMMANDS)),
        (
            "noisewright design --utility ",
            {
                "squared-error",
                "absolute-error",
                "power-error",
                "usefulness",
                "error-quantile",
                "largest-error",
                "worst-variance",
                "average-variance",
            },
        ),
        ("noisewright budget --utility us", {"usefulness"}),
    ],
)
def test_bash_completes_commands_and_utilities(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, typed: str, offered: set[str]
):
    monkeypatch.setenv("_NOISEWRIGHT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    assert set(cli().out.split()) == offered
