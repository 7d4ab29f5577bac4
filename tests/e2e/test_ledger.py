"""A ledger at the command line: made, charged, shown, verified, exported; and what goes wrong."""

from __future__ import annotations

import json
import shlex
import sqlite3
from pathlib import Path

import pytest

from tests.e2e.command import Cli, assert_failed, assert_succeeded

SUBCOMMANDS = ("create", "show", "charge", "verify", "export")


@pytest.fixture
def ledger(cli: Cli, tmp_path: Path) -> Path:
    assert_succeeded(cli("ledger", "create", "clinic.ledger", "--epsilon", "3"))
    return tmp_path / "clinic.ledger"


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_the_example_in_every_help_works(cli: Cli, mechanism: Path, ledger: Path, command: str):
    text = cli("ledger", command, "--help")
    assert_succeeded(text)
    lines = [line.strip() for line in text.plain.splitlines() if line.strip()]
    words = shlex.split(lines[lines.index("Example:") + 1])
    assert words[:3] == ["noisewright", "ledger", command]
    if command == "create":
        ledger.unlink()
        ledger.with_name(ledger.name + ".head").unlink()
    assert_succeeded(cli(*words[1:]))


def test_a_release_is_charged_and_shown(cli: Cli, sure_integer: Path, ledger: Path):
    words = ("ledger", "charge", "clinic.ledger", str(sure_integer), "--reason", "count [bold]of\n<b>all</b>")
    assert_failed(cli(*words, "--value", "42"), 3, "the charge would pass the budget", "up to 3 would fit")
    made = cli("ledger", "create", "large.ledger", "--epsilon", "32")
    assert_succeeded(made)
    released = cli(*(word.replace("clinic", "large") for word in words), "--value", "42")
    assert_succeeded(released)
    assert released.out == "42\n"
    shown = cli("ledger", "show", "large.ledger", "--plot", "burn.svg")
    assert_succeeded(shown)
    assert "count [bold]of " in shown.plain, "what people write is no markup"
    assert "<b>all</b>" in shown.plain
    assert "Rule pure: epsilon 32 of 32" in shown.plain
    assert "<svg" in Path("burn.svg").read_text(encoding="utf-8")
    data = cli("ledger", "show", "large.ledger", "--json").data
    assert data["rules"] == [{"name": "pure", "sums": {"epsilon": "32"}, "limits": {"epsilon": "32"}, "holds": True}]
    assert data["left"] == "The budget is spent."


def test_a_charge_alone_says_what_is_left(cli: Cli, mechanism: Path, ledger: Path):
    charged = cli("ledger", "charge", "clinic.ledger", "mechanism.json", "--reason", "x")
    assert_succeeded(charged)
    remaining = "Remaining: 2 of 3 epsilon (for example 40 more counts within ±60)."
    assert charged.out == f"Charged as row 1 (rule pure). {remaining}\n"
    export = cli("ledger", "export", "clinic.ledger").data
    assert [row["event"] for row in export["rows"]] == ["create", "charge"]
    assert export["rows"][1]["brings"] == {"": {"pure": {"epsilon": "1"}}}
    assert export["head"] == cli("ledger", "export", "clinic.ledger", "--head").data


def test_an_answer_that_cannot_be_released_is_not_charged(cli: Cli, mechanism: Path, ledger: Path):
    words = ("ledger", "charge", "clinic.ledger", "mechanism.json", "--reason", "x", "--value", "many")
    assert_failed(cli(*words), 2, "not a finite number")
    assert cli("ledger", "export", "clinic.ledger", "--head").data["count"] == 1


def test_an_exported_head_shows_a_copy_that_was_put_back(cli: Cli, mechanism: Path, ledger: Path):
    both = (ledger, ledger.with_name(ledger.name + ".head"))
    before = [file.read_bytes() for file in both]
    assert_succeeded(cli("ledger", "charge", "clinic.ledger", "mechanism.json", "--reason", "x"))
    assert_succeeded(cli("ledger", "export", "clinic.ledger", "--head", "--output", "head.json"))
    assert_succeeded(cli("ledger", "verify", "clinic.ledger", "--head", "head.json"))
    for file, content in zip(both, before, strict=True):
        file.write_bytes(content)
    assert_succeeded(cli("ledger", "verify", "clinic.ledger"))
    assert_failed(cli("ledger", "verify", "clinic.ledger", "--head", "head.json"), 1, "rolled back")


def test_an_edit_is_found(cli: Cli, mechanism: Path, ledger: Path):
    assert_succeeded(cli("ledger", "charge", "clinic.ledger", "mechanism.json", "--reason", "x"))
    with sqlite3.connect(ledger) as connection:
        connection.execute("""UPDATE rows SET body = replace(body, '"label":"x"', '"label":"y"')""")
    connection.close()
    for command in ("verify", "show"):
        assert_failed(cli("ledger", command, "clinic.ledger"), 1, "row 1 of the ledger is damaged")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("create", "a.ledger"), 2, "needs --epsilon"),
        (
            ("create", "a.ledger", "--epsilon", "1", "--notion", "probabilistic", "--delta", "1e-6"),
            2,
            "does not add up",
        ),
        (("create", "a.ledger", "--epsilon", "1", "--neighbours", "friends"), 2, "add-remove or replace"),
        (("create", "clinic.ledger", "--epsilon", "1"), 2, "already"),
        (("show", "nothing.ledger"), 5, "there is no ledger"),
        (("show", "clinic.ledger", "--sub", "ann"), 2, "no sub-budget 'ann'"),
        (("charge", "clinic.ledger", "nothing.json", "--reason", "x"), 1, "nothing.json"),
        (("verify", "clinic.ledger", "--head", "clinic.ledger"), 2, "--head"),
        (("show", "mysql://host/x"), 2, "postgresql"),
        (("export", "clinic.ledger", "--output", "no/such/folder.json"), 2, "no folder"),
    ],
)
def test_what_cannot_be_is_one_line(cli: Cli, ledger: Path, words: tuple[str, ...], code: int, says: str):
    assert_failed(cli("ledger", *words), code, says)


@pytest.mark.parametrize(
    ("words", "requirement"),
    [
        (("--epsilon", "1", "--delta", "1e-6"), {"kind": "approximate", "epsilon": "1", "delta": "1/1000000"}),
        (("--rho", "0.5", "--notion", "zero-concentrated"), {"kind": "zero-concentrated", "rho": "1/2"}),
        (("--alpha", "3", "--epsilon", "1", "--notion", "renyi"), {"kind": "renyi", "alpha": "3", "epsilon": "1"}),
    ],
)
def test_budgets_of_every_kind_can_be_made(cli: Cli, tmp_path: Path, words: tuple[str, ...], requirement: object):
    assert_succeeded(cli("ledger", "create", "a.ledger", *words, "--neighbours", "replace"))
    data = cli("ledger", "show", "a.ledger", "--json").data
    assert data["budget"] == requirement
    assert data["neighbours"] == "replace"
    assert json.loads(json.dumps(data["head"]))["count"] == 1


def test_a_terminal_of_no_width_is_no_trouble(cli: Cli, ledger: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "many")
    assert_succeeded(cli("ledger", "show", "clinic.ledger"))
