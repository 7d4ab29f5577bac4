"""Privately chosen keys from a spec file: planned, released, drawn, and said where nothing can be published."""

from __future__ import annotations

import csv
from pathlib import Path

from noisewright.ledger.ledger import Ledger
from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.e2e.spec_files import VISITS, write

RARE = VISITS + "p1,2025-02-01,<i>rare,40,1.5\np2,2025-02-01,,40,1.5\n"
PRIVATE = ('values = ["A", "B", "C", "<b>$D"]', "private = true")
BUDGET = ("budget = { epsilon = 30 }", 'budget = { epsilon = 30, delta = "1e-3" }')
PRIVACY = ("[privacy]\nepsilon = 10", '[privacy]\nepsilon = 10\ndelta = "1e-5"')


def test_a_spec_with_private_keys_is_planned_released_and_given_back(cli: Cli, tmp_path: Path):
    write(tmp_path, PRIVATE, BUDGET, PRIVACY, table=RARE)
    planned = cli("plan", "visits.toml", "--save", "plan.json")
    assert_succeeded(planned)
    assert "groups are chosen privately; a group of" in planned.plain
    assert_succeeded(cli("verify", "plan.json"))
    assert not (tmp_path / "visits.ledger").exists()
    first = cli("release", "visits.toml", "--output", "a.csv", "--report", "r.html", "--plot", "a.svg")
    assert_succeeded(first)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["question"], row["ward"]) for row in rows] == [
        (question, ward) for question in ("count", "mean of age") for ward in "ABC"
    ]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "chosen privately" in page
    assert "rare" not in page + first.out + (tmp_path / "a.svg").read_text(encoding="utf-8")
    again = cli("release", "visits.toml", "--output", "b.csv")
    assert "Nothing was spent: these are the answers of charge 1 of" in again.out
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_where_no_group_is_large_enough_that_is_said(cli: Cli, tmp_path: Path):
    changes = (PRIVATE, BUDGET, (PRIVACY[0], PRIVACY[1].replace("10", "0.1")))
    write(tmp_path, *changes, table="\n".join(VISITS.split("\n")[:3]) + "\n")
    told = cli("release", "visits.toml", "--output", "a.csv", "--report", "r.html")
    assert_succeeded(told)
    assert "No group had enough persons to be published." in told.out
    assert "Spent: approximate differential privacy, epsilon = 0.1" in told.out
    assert "No group had enough persons" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Nothing was spent" in cli("release", "visits.toml").out
    assert Ledger.open(tmp_path / "visits.ledger").verify().charges == 1


def test_private_keys_without_a_delta_or_with_values_are_refused(cli: Cli, tmp_path: Path):
    write(tmp_path, PRIVATE)
    assert_failed(cli("release", "visits.toml"), 2, "need a delta")
    write(tmp_path, ('columns = "ward"', 'columns = "ward"\nprivate = true'), BUDGET, PRIVACY)
    assert_failed(cli("release", "visits.toml"), 2, "keys.ward: keys that are chosen privately have no values")
    assert not (tmp_path / "visits.ledger").exists()
