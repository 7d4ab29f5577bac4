"""The command line as the tests use it: in a process of its own, or inside this one where only speed differs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

DESIGN = ("design", "--epsilon", "1", "--sensitivity", "1", "--utility", "squared-error")
COMMANDS = (
    *("design", "linear", "compose", "workload", "verify", "describe", "explain", "answer", "budget", "reproduce"),
    *("sweep", "ledger", "init", "plan", "release", "bounds", "selfcheck", "explore"),
)


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def plain(self) -> str:
        """Standard output without colours."""
        return _COLOUR.sub("", self.out)

    @property
    def data(self) -> Any:
        """Standard output as JSON, which has neither NaN nor infinity."""
        return json.loads(self.out, parse_constant=_refuse)


Cli = Callable[..., Outcome]


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def process(*words: str, folder: Path, environment: Mapping[str, str] | None = None) -> Outcome:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "noisewright", *words],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def assert_succeeded(outcome: Outcome) -> None:
    """The command did its job without a complaint."""
    assert outcome.code == 0, outcome.err
    assert "error" not in outcome.err
    assert "Traceback" not in outcome.out + outcome.err


def assert_failed(outcome: Outcome, code: int, *fragments: str) -> None:
    """Nothing on standard output, one line on standard error that says why, and the exit code."""
    assert outcome.code == code, outcome.err
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("error: ")
    assert "Traceback" not in outcome.out + outcome.err
    assert outcome.out == ""
    for fragment in fragments:
        assert fragment in lines[0]
