"""Labels that name a plan, written by somebody else while the command line releases it: not believed, not counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.app.spec import dataset_of, read_spec
from noisewright.ledger import checkpoints
from tests.e2e.command import Cli, assert_succeeded
from tests.e2e.spec_files import write


def own(ledger: nw.Ledger) -> list[int]:
    """The places of the charges of an account."""
    return [row["place"] for row in ledger.rows() if row["event"] == "charge" and row["account"] == ledger.name]


@contextmanager
def meanwhile(monkeypatch: pytest.MonkeyPatch, does: Callable[[], None]) -> Iterator[None]:
    """What somebody else does between the charge of a release and its draw."""
    done: list[int] = []

    def reach(point: str) -> None:
        if point == "aggregated" and not done:
            done.append(1)
            does()

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "passed", reach)
        yield


def test_the_command_line_believes_and_counts_no_labels(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path)
    whole = nw.Ledger.create(tmp_path / "visits.ledger", budget=nw.PureDP(30), neighbours="add-remove")
    bob = whole.sub("bob", budget=nw.PureDP(1))
    noise = nw.design(nw.Scalar(1, integer=True), privacy=nw.PureDP("0.001"), utility=nw.SquaredError()).best
    assert_succeeded(cli("plan", "visits.toml", "--save", "plan.json"))
    label = f"plan {nw.Plan.load(tmp_path / 'plan.json').key}"

    def plant() -> None:
        with bob.charge(noise, reason=label) as charge:
            charge.answered(["123456"] * 12)

    plant()
    with meanwhile(monkeypatch, plant):
        first = cli("release", "visits.toml", "--output", "a.csv")
    assert_succeeded(first)
    place = own(nw.Ledger.open(tmp_path / "visits.ledger"))
    assert f"Spent: pure differential privacy, epsilon = 10 (charge {place[0]} of" in first.out
    assert "123456" not in (tmp_path / "a.csv").read_text()
    with meanwhile(monkeypatch, plant):
        second = cli("release", "visits.toml", "--output", "b.csv")
    plant()
    assert f"Nothing was spent: these are the answers of charge {place[0]} of" in second.out
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_after_a_failure_the_command_line_names_the_charge_of_the_plan(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path)
    assert_succeeded(cli("plan", "visits.toml", "--save", "plan.json"))
    label = f"plan {nw.Plan.load(tmp_path / 'plan.json').key}"
    noise = nw.design(nw.Scalar(1, integer=True), privacy=nw.PureDP("0.001"), utility=nw.SquaredError()).best

    def failing(*_: object, **__: object) -> None:
        nw.Ledger.open(tmp_path / "visits.ledger").charge(noise, reason=label)
        raise ValueError

    monkeypatch.setattr("noisewright.release.run.checked_table.CheckedTable.true_aggregates", failing)
    failed = cli("release", "visits.toml")
    assert "Charge 1 of" in failed.err
    assert [row["event"] for row in nw.Ledger.open(tmp_path / "visits.ledger").rows()][1:3] == ["charge", "charge"]


def test_where_no_group_is_published_the_command_line_names_the_charge_of_the_plan(cli: Cli, tmp_path: Path):
    (tmp_path / "few.csv").write_text("id,ward\n1,A\n2,B\n")
    (tmp_path / "few.toml").write_text(
        '[dataset]\nsource = "few.csv"\nunit = "id"\nledger = "few.ledger"\nbudget = { epsilon = 3, delta = 0.01 }\n'
        '[privacy]\nepsilon = 1\ndelta = 1e-6\n[keys.ward]\ncolumns = "ward"\nprivate = true\n'
        '[[ask]]\nkind = "persons"\nby = "ward"\n'
    )
    assert_succeeded(cli("plan", "few.toml", "--save", "plan.json"))
    assert "Spent" in cli("release", "few.toml").out
    whole = nw.Ledger.open(tmp_path / "few.ledger")
    plan = nw.Plan.load(tmp_path / "plan.json")
    noise = nw.design(nw.Scalar(1, integer=True), privacy=nw.PureDP("0.001"), utility=nw.SquaredError()).best
    whole.charge(noise, reason=f"plan {plan.key}")
    again = cli("release", "few.toml")
    assert "No group had enough persons" in again.out
    assert "Nothing was spent: these are the answers of charge 1 of" in again.out


def test_an_answer_of_a_sub_budget_is_given_for_nothing_and_said_to_be(cli: Cli, tmp_path: Path):
    write(tmp_path)
    whole = nw.Ledger.create(tmp_path / "visits.ledger", budget=nw.PureDP(30), neighbours="add-remove")
    asked = read_spec(tmp_path / "visits.toml")
    given = {**asked.dataset, "budget": None, "ledger": whole.sub("bob", budget=nw.PureDP(20))}
    dataset_of(asked, given).plan(*asked.questions, **asked.plan).release()
    place = own(whole.sub("bob"))[0]
    for _ in range(2):
        found = cli("release", "visits.toml")
        assert_succeeded(found)
        assert f"Nothing was spent: these are the answers of charge {place} of" in found.out
    assert nw.Ledger.open(tmp_path / "visits.ledger").spent == 10
