"""Ledgers that are put in another's place, copied charges, forged rows, failing commits: nothing is granted by it."""

from __future__ import annotations

import os
import pickle
import sqlite3
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger.ledger import store_for
from noisewright.ledger.stores import VERSION
from noisewright.numerics.distances import lower_squared, root_below, upper_distance
from tests.ledger import menu
from tests.ledger.many import forked, outcome
from tests.postgres_server import Server

TENTH = Fraction(1, 10)


def _removed(url: str, request: pytest.FixtureRequest) -> None:
    """Take a ledger away, as somebody with full rights can."""
    if url.startswith("postgresql"):
        name = url.rpartition("=")[2]
        for table in ("noisewright_rows", "noisewright_heads"):
            request.getfixturevalue("server").execute(f"DELETE FROM {table} WHERE ledger = %s", name)
    else:
        for end in ("", ".head"):
            Path(url + end).unlink()


def test_a_smaller_budget_in_the_place_of_a_larger_one_binds(url: str, request: pytest.FixtureRequest):
    before = nw.Ledger.create(url, budget=nw.PureDP(10))
    charge = before.charge(menu.laplace("0.1"), reason="first")
    _removed(url, request)
    nw.Ledger.create(url, budget=nw.PureDP("0.1"))
    assert before.budget == nw.PureDP("0.1")
    before.charge(menu.laplace("0.1"), reason="all of it")
    with pytest.raises(nw.errors.BudgetExceeded):
        before.charge(menu.laplace("0.1"), reason="by the old budget")
    with pytest.raises(nw.errors.LedgerError, match="another charge"):
        charge.answered(3)
    assert before.verify().charges == 1


def test_another_universe_in_its_place_is_charged_by_its_own_metric(path: Path):
    before = nw.Ledger.create(path, budget=nw.MetricPrivacy(nw.metrics.Hamming(3, 1)))
    assert before.spent == 0
    for end in ("", ".head"):
        Path(str(path) + end).unlink()
    nw.Ledger.create(path, budget=nw.MetricPrivacy(menu.PEOPLE))
    before.charge(menu.on_a_metric("0.1"), reason="four people")
    assert before.spent == TENTH


def test_copies_of_a_charge_write_one_answer(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    first = ledger.charge(menu.laplace("0.1"), reason="first")
    second = ledger.charge(menu.laplace("0.1"), reason="second")
    copy = type(first)(first.place, first.digest, first.label, first.rules, first._note)
    first.answered(1)
    with pytest.raises(nw.errors.LedgerError, match="already"):
        copy.answered(2)
    second.answered(3)
    assert [row["answer"] for row in ledger.rows() if row["event"] == "answer"] == ["1", "3"]
    assert ledger.verify().charges == 2


def test_threads_that_answer_at_once_write_one_answer(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    charge = ledger.charge(menu.laplace("0.1"), reason="x")
    told: list[str] = []

    def answer(value: int) -> None:
        try:
            charge.answered(value)
        except nw.errors.LedgerError:
            told.append("refused")

    threads = [threading.Thread(target=answer, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == ["refused"] * 5
    assert ledger.verify().rows == 3


def test_a_child_that_leaves_the_body_says_nothing_of_the_charge(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with ledger.charge(menu.laplace("0.1"), reason="x") as charge:

        def leave() -> None:
            with pytest.raises(KeyError), charge:
                raise KeyError

        assert outcome(*forked(leave))[0] == 0
        charge.answered(5)
    assert [row["event"] for row in ledger.rows()] == ["create", "charge", "answer"]
    assert ledger.verify().charges == 1


def test_an_answer_is_written_beside_a_charge_of_the_account_alone(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ann = ledger.sub("ann", budget=nw.PureDP("0.5"))
    hers, whole = ann.charge(menu.laplace("0.1"), reason="hers"), ledger.charge(menu.laplace("0.1"), reason="x")
    hers.place, hers.digest = whole.place, whole.digest
    with pytest.raises(nw.errors.LedgerError, match="another charge"):
        hers.answered(3)
    whole.place, whole.digest = 0, next(ledger.rows())["digest"]
    with pytest.raises(nw.errors.LedgerError, match="another charge"):
        whole.answered(3)
    assert ledger.verify().charges == 2


def test_a_file_that_became_newer_is_neither_charged_nor_taken_back(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    assert ledger.spent == 0
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    for found in (ledger, pickle.loads(pickle.dumps(ledger))):  # noqa: S301 -- its own
        _is_newer(found)
    store_for(path).migrate()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
    connection.close()


def test_a_database_that_became_newer_is_not_charged(server: Server):
    ledger = nw.Ledger.create(f"{server.url}?ledger=became-newer", budget=nw.PureDP(1))
    assert ledger.spent == 0
    server.execute(f"UPDATE noisewright_layout SET version = {VERSION + 1}")
    try:
        _is_newer(ledger)
    finally:
        server.execute(f"UPDATE noisewright_layout SET version = {VERSION}")
    assert ledger.spent == 0


def _is_newer(ledger: nw.Ledger) -> None:
    for attempt in (lambda: ledger.charge(menu.laplace("0.1"), reason="x"), lambda: ledger.spent):
        with pytest.raises(nw.errors.LedgerError, match="newer noisewright"):
            attempt()


def test_a_ledger_stays_the_same_wherever_the_process_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        ledger = nw.Ledger.create("kept.ledger", budget=nw.PureDP(1))
    monkeypatch.chdir(tmp_path / "here")
    ledger.charge(menu.laplace("0.1"), reason="there")
    pickle.loads(pickle.dumps(ledger)).charge(menu.laplace("0.1"), reason="there too")  # noqa: S301 -- its own
    spent = [nw.Ledger.open(tmp_path / name / "kept.ledger").spent for name in ("here", "there")]
    assert spent == [0, 2 * TENTH]


def test_links_lead_to_the_one_ledger(path: Path, tmp_path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP("0.4"))
    (tmp_path / "link").symlink_to(path)
    linked = nw.Ledger.open(tmp_path / "link")
    for i in range(2):
        linked.charge(menu.laplace("0.1"), reason=f"linked {i}")
        ledger.charge(menu.laplace("0.1"), reason=f"itself {i}")
    with pytest.raises(nw.errors.BudgetExceeded):
        linked.charge(menu.laplace("0.1"), reason="too much")
    assert not (tmp_path / "link.head").exists()
    for end in ("", ".head"):
        os.link(str(path) + end, str(tmp_path / "hard") + end)
    with pytest.raises(nw.errors.LedgerError, match="hard link"):
        nw.Ledger.open(tmp_path / "hard").charge(menu.laplace("0.1"), reason="x")
    assert ledger.verify().charges == 4


def test_a_link_in_the_way_of_the_head_is_not_followed(path: Path, tmp_path: Path):
    ledger, victim = nw.Ledger.create(path, budget=nw.PureDP(1)), tmp_path / "letter"
    victim.write_text("dear reader")
    Path(f"{path}.head.new").symlink_to(victim)
    ledger.charge(menu.laplace("0.1"), reason="x")
    assert victim.read_text() == "dear reader"
    assert ledger.verify().charges == 1


@pytest.mark.parametrize("name", ["kept.ledger.head", "kept.ledger.head.new", "kept.ledger-journal", "a\0b", "\ud800"])
def test_names_that_no_ledger_can_have_are_refused(tmp_path: Path, name: str):
    nw.Ledger.create(tmp_path / "kept.ledger", budget=nw.PureDP(1))
    with pytest.raises(nw.errors.InvalidInputError):
        nw.Ledger.create(f"{tmp_path}/{name}", budget=nw.PureDP(1))
    assert {file.name for file in tmp_path.iterdir()} == {"kept.ledger", "kept.ledger.head"}


def test_a_name_that_is_too_long_is_refused_in_words(tmp_path: Path):
    for attempt in (nw.Ledger.open, lambda url: nw.Ledger.create(url, budget=nw.PureDP(1))):
        for length in (250, 300):
            with pytest.raises(nw.errors.LedgerError):
                attempt(tmp_path / ("x" * length))
    assert not list(tmp_path.iterdir())


def test_a_distance_that_is_known_from_below_is_charged_from_above():
    globe = nw.metrics.GreatCircle([[0, 0], [1, 2], [50, 60]], "1/100")
    absent = nw.metrics.WithAbsent(globe, 1000)
    below = root_below(lower_squared(globe, 1, 2))
    assert upper_distance(absent, 1, 2) == upper_distance(globe, 1, 2) > below
    assert upper_distance(absent, 3, 2) == upper_distance(absent, 0, 3) == 1000
    assert upper_distance(nw.metrics.WithAbsent(globe, "1/100"), 1, 2) == Fraction(1, 50)


def test_what_was_changed_since_it_was_certified_is_not_charged(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.ZeroConcentratedDP(1))
    for what in ("mechanism", "certified in a plan", "noise in a plan"):
        noise = nw.mechanisms.Additive(menu.COUNT, nw.laws.DiscreteGaussian(2), nw.laws.Lattice.integers())
        certified = nw.Certified(noise, nw.certify(noise, nw.ZeroConcentratedDP(1)))
        certified.release(5)
        plan = nw.compose(["gaussian(sigma=2)", (certified, 2)], neighbours="add-remove")
        changed = plan.parts[0][0] if what.startswith("noise") else noise
        object.__setattr__(changed, "law", nw.laws.Gaussian(1000) if changed is not noise else _WIDE)
        with pytest.raises(nw.errors.UncertifiedError, match="Nothing was charged"):
            ledger.charge(certified if what == "mechanism" else plan, reason=what)
    assert ledger.head.count == 1


_WIDE = nw.laws.DiscreteGaussian(1000)


def test_what_is_looked_at_is_what_is_charged(path: Path):
    class Twice(list[Any]):
        """Shows something else the second time."""

        looked = 0

        def __iter__(self) -> Iterator[Any]:
            self.looked += 1
            return iter([menu.laplace("0.5")] if self.looked == 1 else [])

    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.charge(Twice([menu.laplace("0.5")]), reason="x")
    assert ledger.spent == Fraction(1, 2)


def test_very_small_and_very_large_losses_are_charged_or_refused(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP(1, "1e-6"))
    law = nw.laws.DiscreteLaplace(10**20)
    noise = nw.mechanisms.Additive(menu.COUNT, law, nw.laws.Lattice.integers())
    ledger.charge(nw.Certified(noise, nw.certify(noise, nw.PureDP("1e-5"))), reason="almost nothing")
    assert 0 < ledger.spent["gaussian"][0] < Fraction(1, 10**39)
    with pytest.raises(nw.errors.BudgetExceeded):
        ledger.charge(nw.compose([(menu.discrete_gaussian("1"), 2000)]), reason="almost everything")
