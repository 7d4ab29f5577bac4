"""The manual shows genuine output: a text block after a console block is what its last command printed."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

from tests.docs.pages import ROOT, blocks, commands
from tests.e2e.command import Cli, assert_succeeded

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
MANUAL = ROOT / "docs" / "command-line.md"


def test_every_output_in_the_manual_is_genuine(cli: Cli):
    page = [*blocks(MANUAL.read_text(encoding="utf-8"))]
    compared = 0
    for block, following in pairwise(page):
        if block.language == "toml":
            Path(block.text.partition("\n")[0].removeprefix("# ")).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            exec(compile(block.text, str(MANUAL), "exec"), {})
        if block.language != "console":
            continue
        for command in commands(block):
            outcome = cli(*shlex.split(command)[1:])
            assert_succeeded(outcome)
        if following.language == "text":
            # A digest fingerprints the last bit of a search in floats, which may differ between machines.
            assert _DIGEST.sub("digest", outcome.out) == _DIGEST.sub("digest", following.text), f"line {following.line}"
            compared += 1
    assert compared >= 7


def test_the_error_in_the_manual_is_genuine(cli: Cli):
    words = ("design", "--epsilon", "-1", "--sensitivity", "1", "--utility", "squared-error")
    assert cli(*words).err in MANUAL.read_text(encoding="utf-8")
