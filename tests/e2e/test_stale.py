"""A stored answer that is older than the files: a line on standard error, a field of JSON, an exit code of its own."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded

SPEC = """
[dataset]
source = "visits.csv"
unit = "patient"
rows_per_group = 1
modified_is_public = true
budget = { epsilon = 3 }
ledger = "visits.ledger"

[privacy]
epsilon = 1

[[ask]]
kind = "count"
"""


@pytest.fixture
def visits(cli: Cli) -> Path:
    path = Path("visits.csv")
    path.write_text("patient,ward\n1,A\n2,A\n3,B\n", encoding="utf-8")
    written(path, -3600)
    return path


def written(path: Path, seconds: float) -> None:
    """Let a file have been written so many seconds from now."""
    os.utime(path, (time.time() + seconds,) * 2)


def test_at_the_command_line_a_line_says_so_and_refusing_ends_with_4(cli: Cli, visits: Path):
    Path("visits.toml").write_text(SPEC, encoding="utf-8")
    assert_succeeded(cli("release", "visits.toml", "--refuse-stale"))
    again = cli("release", "visits.toml", "--json")
    assert_succeeded(again)
    assert all("stale" not in one for one in again.data)
    assert "these are the answers of charge 1" in again.err
    assert ", drawn 20" in again.err
    written(visits, 60)
    old = cli("release", "visits.toml", "--json")
    assert_succeeded(old)
    assert old.data == [{**one, "stale": True} for one in again.data]
    assert len([line for line in old.err.splitlines() if "were modified since" in line]) == 1
    assert_failed(cli("release", "visits.toml", "--refuse-stale"), 4, "were modified since")
    assert_succeeded(cli("release", "visits.toml", "--refuse-stale", "--fresh"))


def test_another_version_is_another_question(cli: Cli, visits: Path):
    for version, charge in (("1", 1), ("2", 4), ("1", 1)):
        text = SPEC.replace('unit = "patient"', f'unit = "patient"\nversion = "{version}"')
        Path("visits.toml").write_text(text, encoding="utf-8")
        outcome = cli("release", "visits.toml", "--json")
        assert_succeeded(outcome)
        assert {one["charge"] for one in outcome.data} == {charge}


def test_refusing_what_cannot_be_told_is_bad_input(cli: Cli, visits: Path):
    Path("visits.toml").write_text(SPEC.replace("modified_is_public = true\n", ""), encoding="utf-8")
    assert_failed(cli("release", "visits.toml", "--refuse-stale"), 2, "cannot be told here")
    assert [row["event"] for row in nw.Ledger.open("visits.ledger").rows()] == ["create"]
