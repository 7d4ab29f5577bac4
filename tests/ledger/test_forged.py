"""Rows that somebody wrote anew, chain and head closed again: not believed where they do not add up."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger.chain import Head, Row, digest_of
from noisewright.ledger.rules import Rule, largest_squared_length, require_sound
from tests.ledger import menu


def _rewritten(path: Path, place: int, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the content of a row of a file, and close the chain and the head again."""
    with sqlite3.connect(path) as connection:
        rows = [Row(*row) for row in connection.execute("SELECT place, account, body, digest FROM rows ORDER BY place")]
        last = rows[place - 1].head if place else None
        for row in rows[place:]:
            data = row.read()
            if row.place == place:
                data = change(data) or data
            made = Row.after(last, data["account"], data) if isinstance(data, dict) else _raw(row, data)
            values = (made.account, made.body, made.digest, row.place)
            connection.execute("UPDATE rows SET account = ?, body = ?, digest = ? WHERE place = ?", values)
            last = made.head
    connection.close()
    assert last is not None
    path.with_name(path.name + ".head").write_text(json.dumps(last.to_dict()))


def _raw(row: Row, body: str) -> Row:
    return Row(row.place, row.account, body, digest_of(body))


def _without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        del data[name]

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda data: "no JSON",
        lambda data: "[1, 2]",
        lambda data: "[" * 100_000,
        lambda data: '{"place": 2}',
        lambda data: '{"place": 2, "account": ""}',
        _without("event"),
        _without("time"),
        _without("accounts"),
        lambda data: data.update(event=["charge"]),
        lambda data: data.update(time=5),
        lambda data: data.update(accounts=3),
        lambda data: data.update(certificate=3),
        lambda data: data["certificate"].update(neighbours="replace"),
        lambda data: data["accounts"][""].update(neighbours="replace"),
    ],
)
def test_whatever_a_row_says_verify_ends_in_words(path: Path, change: Callable[[dict[str, Any]], Any]):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1), neighbours="add-remove")
    for i in range(2):
        ledger.charge(menu.laplace("0.1"), reason=str(i))
    _rewritten(path, 2, change)
    with pytest.raises(nw.errors.LedgerDamagedError, match="row 2 of the ledger is damaged"):
        ledger.verify()


def _holds_less(data: dict[str, Any]) -> None:
    data["certificate"]["bound"] = data["certificate"]["requirement"]["epsilon"] = "1/5"


@pytest.mark.parametrize("budget", [nw.PureDP(1), nw.ApproxDP(1, "1e-6")])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_holds_less, "it counts less than its certificate says"),
        (lambda data: data.update(certificate=[data["certificate"]] * 2), "it counts less than its certificate says"),
        (lambda data: data["certificate"].update(bound="1/5"), "it cannot be followed"),
        (lambda data: data["certificate"].update(bound="-1/5"), "it cannot be followed"),
        (lambda data: data["certificate"]["requirement"].update(kind="purer"), "it cannot be followed"),
    ],
)
def test_a_charge_counts_no_less_than_its_certificate_says(
    path: Path, budget: Any, change: Callable[[dict[str, Any]], Any], why: str
):
    ledger = nw.Ledger.create(path, budget=budget, neighbours="add-remove")
    ledger.charge(menu.laplace("0.1"), reason="one")
    assert ledger.verify().charges == 1
    _rewritten(path, 1, change)
    with pytest.raises(nw.errors.LedgerDamagedError, match=f"row 1 of the ledger is damaged: {why}"):
        ledger.verify()


@pytest.mark.parametrize("other", ["replace", "add-removed", None])
def test_a_raised_budget_is_about_the_same_neighbours(path: Path, other: str | None):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1), neighbours="add-remove")
    ledger.raise_budget(nw.PureDP(2), reason="more")
    _rewritten(path, 1, lambda data: data["budget"].update(neighbours=other))
    with pytest.raises(nw.errors.LedgerDamagedError, match=r"row 1 .*changes whom releases compare"):
        ledger.verify()


@pytest.mark.parametrize("version", [0, 3])
def test_a_row_of_a_version_that_nobody_knows_is_not_believed(path: Path, version: int):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    _rewritten(path, 0, lambda data: data.update(version=version))
    with pytest.raises(nw.errors.LedgerDamagedError, match=r"row 0 .*version that is not known"):
        ledger.verify()


def _lower(data: dict[str, Any]) -> None:
    data["budget"]["requirement"]["epsilon"] = "1/2"
    data["budget"]["rules"][0]["limits"]["epsilon"] = "1/2"


def test_rows_that_the_ledger_would_not_write_are_found(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.raise_budget(nw.PureDP(2), reason="more")
    _rewritten(path, 1, _lower)
    with pytest.raises(nw.errors.LedgerDamagedError, match=r"row 1 .*cannot be followed"):
        ledger.verify()
    other = path.with_name("other")
    ledger = nw.Ledger.create(other, budget=nw.PureDP(1))
    ledger.sub("ann", budget=nw.PureDP(1))

    def closed(data: dict[str, Any]) -> None:
        data["accounts"][""]["closed"] = True

    _rewritten(other, 1, closed)
    with pytest.raises(nw.errors.LedgerDamagedError, match="row 1 "):
        ledger.verify()


@pytest.mark.parametrize("totals", [{}, {"pure": {}}, {"pure": {"rho": "0"}}, {"basic": {"epsilon": "0"}}])
def test_sums_of_another_kind_are_not_believed(path: Path, totals: dict[str, Any]):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    _rewritten(path, 0, lambda data: data["accounts"][""].update(totals=totals))
    for attempt in (lambda: ledger.spent, lambda: ledger.charge(menu.laplace("0.1"), reason="x")):
        with pytest.raises(nw.errors.LedgerDamagedError, match="its sums are not those of the budget"):
            attempt()


@pytest.mark.parametrize("limits", [{"rho": "0", "delta": "0"}, {"delta": "0"}, {"mu": "1", "delta": "0"}, 3, None])
def test_limits_that_cannot_be_read_are_not_believed(path: Path, limits: Any):
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP(1, "1e-6"))
    _rewritten(path, 0, lambda data: data["budget"]["rules"][2].update(limits=limits))
    for attempt in (lambda: nw.Ledger.open(path), ledger.verify):
        with pytest.raises(nw.errors.LedgerDamagedError):
            attempt()


def test_a_head_of_nothing_is_no_head(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with pytest.raises(nw.errors.InvalidInputError, match="a head has a count"):
        ledger.verify(Head(0, "0" * 64))


def test_a_limit_below_nothing_pays_for_nothing():
    tenth = Fraction(1, 10)
    basic = Rule("basic", {"epsilon": Fraction(1), "delta": Fraction(-1)})
    gaussian = Rule("gaussian", {"mu_squared": largest_squared_length(Fraction(1), tenth), "delta": tenth})
    with pytest.raises(nw.errors.LedgerDamagedError, match="allow more"):
        require_sound(nw.ApproxDP(1, "1e-6"), (basic, gaussian))
