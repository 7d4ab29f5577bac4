"""`noisewright selfcheck`: the owner tries the sensitivity on the real table; nothing is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.e2e.spec_files import write

ONE_ROW = ("rows_per_group = 4", "one_row_per_person = true")


def test_limits_that_are_kept_hold_and_no_ledger_is_made(cli: Cli):
    write(Path())
    outcome = cli("selfcheck", "visits.toml", "--persons", "5")
    assert_succeeded(outcome)
    assert "visits.csv: held for" in outcome.plain
    assert "this is no proof, and not private" in outcome.plain
    assert cli("selfcheck", "visits.toml", "--persons", "5", "--json").data["held"] is True
    assert not Path("visits.ledger").exists()


def test_one_row_of_each_person_that_was_declared_and_is_not_so_is_found(cli: Cli):
    write(Path(), ONE_ROW)
    assert_failed(cli("selfcheck", "visits.toml"), 1, "more than one row, although one_row_per_person was declared")


@pytest.mark.parametrize("persons", ["0", "-3", "many", "100000"])
def test_how_many_persons_is_checked_before_the_table_is_read(cli: Cli, persons: str):
    write(Path())
    assert_failed(cli("selfcheck", "visits.toml", f"--persons={persons}"), 2, "persons is")
