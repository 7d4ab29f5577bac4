"""Each exit code, from the command line run on what it is for."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import noisewright as nw
from noisewright.app.cli import output
from tests.e2e.command import Cli, assert_failed, assert_succeeded, process
from tests.e2e.spec_files import write
from tests.tree import ROOT

_CODES = {
    name: value for name, value in vars(output).items() if name.isupper() and type(value) is int and name[0] != "_"
}


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address of PostgreSQL at which nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"postgresql://reader@127.0.0.1:{taken.getsockname()[1]}/clinic"


def test_the_table_in_the_docs_has_every_code():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = page.partition("| exit code |")[2].partition("\n\n")[0]
    assert _CODES["AWAY"] == 5
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.M)] == sorted(_CODES.values())


def test_the_codes_reach_the_shell(tmp_path: Path, nobody: str):
    write(tmp_path, ("epsilon = 30", "epsilon = 3"))
    assert_succeeded(process("plan", "visits.toml", folder=tmp_path))
    assert_failed(process("verify", "visits.toml", folder=tmp_path), 1, "is not JSON")
    assert_failed(process("plan", "nothing.toml", folder=tmp_path), 2, "nothing.toml")
    assert_failed(process("release", "visits.toml", folder=tmp_path), 3, "the charge would pass the budget")
    assert_failed(process("ledger", "show", nobody, folder=tmp_path), 5, "Connection refused")


def test_a_file_that_was_edited_is_another_failure(cli: Cli, mechanism: Path):
    mechanism.write_text(mechanism.read_text(encoding="utf-8").replace('"epsilon": "1"', '"epsilon": "1/2"'))
    assert_failed(cli("verify", "mechanism.json"), 1, "digest")


def test_a_ledger_that_is_there_already_is_bad_input(cli: Cli):
    assert_succeeded(cli("ledger", "create", "clinic.ledger", "--epsilon", "1"))
    assert_failed(cli("ledger", "create", "clinic.ledger", "--epsilon", "1"), 2, "already")


def test_a_budget_that_was_closed_refuses(cli: Cli, mechanism: Path, tmp_path: Path):
    assert_succeeded(cli("ledger", "create", "clinic.ledger", "--epsilon", "30"))
    nw.Ledger.open(tmp_path / "clinic.ledger").close_budget(reason="the study has ended")
    charge = ("ledger", "charge", "clinic.ledger", mechanism.name, "--reason", "late")
    assert_failed(cli(*charge), 3, "is closed; nothing was charged")


def test_a_missing_ledger_or_folder_is_away(cli: Cli, mechanism: Path, tmp_path: Path):
    (tmp_path / "mounted").mkdir()
    place = "mounted/clinic.ledger"
    assert_succeeded(cli("ledger", "create", place, "--epsilon", "30"))
    shutil.rmtree(tmp_path / "mounted")
    for words in (("show", place), ("verify", place), ("charge", place, mechanism.name, "--reason", "x")):
        assert_failed(cli("ledger", *words), 5, "there is no ledger")
    write(tmp_path, ('"visits.ledger"', f'"{place}"'))
    assert_failed(cli("release", "visits.toml"), 5, "the ledger was not made")


def test_a_server_without_an_answer_is_away(cli: Cli, tmp_path: Path, nobody: str):
    write(tmp_path, ('"visits.csv"', f'"{nobody}/visits"'))
    assert_failed(cli("plan", "visits.toml"), 5, "cannot be opened (OperationalError)", "Nothing was spent")
    write(tmp_path, ('"visits.ledger"', f'"{nobody}?ledger=visits"'))
    assert_failed(cli("release", "visits.toml"), 5, "Connection refused")


@pytest.mark.parametrize(
    ("error", "code"), [(psycopg.OperationalError, 5), (psycopg.errors.QueryCanceled, 1), (nw.errors.LedgerError, 5)]
)
def test_what_ends_a_release_after_its_charge_says_whether_it_is_away(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], code: int
):
    def gone(*_: object) -> None:
        raise error("secret")

    write(tmp_path)
    monkeypatch.setattr("noisewright.release.run.checked_table.CheckedTable.true_aggregates", gone)
    assert_failed(cli("release", "visits.toml"), code, "Charge 1 of", "Nothing was drawn")
