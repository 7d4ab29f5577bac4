"""A release that ended after its charge and before anything was drawn is finished without another charge, once."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger.chain import Row
from noisewright.ledger.deciding import event
from noisewright.ledger.idempotence import ANSWERED, FAILED as HAS_FAILED, Same
from noisewright.release.engines.registry import in_words
from noisewright.release.plan.noise import drawn
from noisewright.release.run import idempotence as holding, transaction
from noisewright.release.run.checked_table import CheckedTable
from tests.ledger.many import killed_at
from tests.release.charges import charged, clinic, events, taken

FAILED, LEDGER = nw.errors.ReleaseFailedError, nw.errors.LedgerError


class AwayError(Exception):
    """How an engine fails in these tests."""


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where releases fail: "aggregate", "draw" or "store", each as often as it is listed."""
    listed: list[str] = []

    def failing(name: str, work: Any) -> Any:
        def done(*given: Any, **named: Any) -> Any:
            if name in listed:
                listed.remove(name)
                raise AwayError("its words hold a secret")
            return work(*given, **named)

        return done

    monkeypatch.setattr(CheckedTable, "true_aggregates", failing("aggregate", CheckedTable.true_aggregates))
    monkeypatch.setattr(transaction, "drawn", failing("draw", drawn))
    monkeypatch.setattr(transaction, "stored_form", failing("store", holding.stored_form))
    return listed


def test_the_same_plan_is_finished_without_a_second_charge(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking += ["aggregate", "aggregate"]
    for _ in range(2):
        with pytest.raises(FAILED, match=r"Charge 1 .* is spent.*without another charge") as caught:
            plan.release()
        assert "secret" not in str(caught.value)
    answer = plan.release(frame="pyarrow").to_pydict()
    assert answer["charge"] == [1]
    assert plan.release(frame="pyarrow").to_pydict() == answer
    assert events(data.ledger) == ["create", "charge", "failure", "resumed", "failure", "resumed", "drawing", "answer"]
    assert data.ledger is not None
    assert data.ledger.spent == 1
    plan.release(fresh=True)
    assert data.ledger.spent == 2


@pytest.mark.parametrize("where", ["draw", "store"])
def test_what_may_have_been_drawn_is_refused_until_it_is_asked_afresh(tmp_path: Path, breaking: list[str], where: str):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append(where)
    with pytest.raises(FAILED, match=r"Charge 1 .* is spent.*may have been drawn.*fresh=True") as caught:
        plan.release()
    assert "without another charge" not in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(nw.errors.InvalidInputError, match=r"charge 1 .*may have been drawn.*Nothing was spent now"):
        plan.release()
    assert events(data.ledger) == ["create", "charge", "drawing", "failure"]
    assert plan.release(fresh=True, frame="pyarrow")["charge"].to_pylist() == [4]
    assert plan.release(frame="pyarrow")["charge"].to_pylist() == [4]
    assert events(data.ledger) == ["create", "charge", "drawing", "failure", "charge", "drawing", "answer"]


def test_another_plan_finishes_nothing(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        data.plan(nw.count(), privacy=nw.PureDP(1)).release()
    data.plan(nw.ask.persons(), privacy=nw.PureDP(1)).release()
    # The same question with other noise: what was charged is not what would be drawn.
    data.plan(nw.count(), privacy=nw.PureDP(1), utility=nw.AbsoluteError()).release()
    assert events(data.ledger) == ["create", "charge", "failure", *["charge", "drawing", "answer"] * 2]


def test_other_noise_for_the_same_key_finishes_nothing(tmp_path: Path, breaking: list[str]):
    ledger = clinic(tmp_path / "x.ledger").ledger
    plan = clinic(ledger).plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()
    assert ledger is not None
    assert holding.standing_of(plan, ledger) == {1: HAS_FAILED}
    other = Same(ledger, "f" * 64, plan.price, lambda answer: answer)
    assert other.look().standing == {}
    assert other.resumed(1) is None
    assert holding.same_of(plan, ledger).resumed(0) is None


def test_a_cheap_charge_under_the_name_of_a_plan_finishes_nothing(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    cheap = data.plan(nw.count(), privacy=nw.PureDP("0.001"))
    assert data.ledger is not None
    data.ledger.charge(cheap.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan)).failed("Away")
    assert holding.standing_of(plan, data.ledger) == {}
    assert taken(data, plan) is None
    plan.release()
    assert holding.standing_of(plan, data.ledger) == {3: ANSWERED}
    assert data.ledger.spent == 1 + Fraction(1, 1000)


def test_of_many_that_hold_a_charge_the_last_one_draws(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    first, second = charged(data, plan), taken(data, plan)
    last = taken(data, plan)
    assert second is not None
    assert last is not None
    for late in (first, second):
        with pytest.raises(LEDGER, match="was resumed by somebody else"):
            late.drawing()
        late.failed("Away")  # which is not written
    last.drawing()
    assert taken(data, plan) is None
    last.answered(["7"])
    with pytest.raises(LEDGER, match="its answer or failure already"):
        last._note(last, "answer", {"answer": ["8"]})
    assert taken(data, plan) is None
    assert events(data.ledger) == ["create", "charge", "resumed", "resumed", "drawing", "answer"]


def test_whoever_failed_draws_nothing_afterwards(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    charge = charged(data, plan)
    charge.failed("Away")
    with pytest.raises(LEDGER, match="its answer or failure already"):
        charge.drawing()
    second = taken(data, plan)
    assert second is not None
    with pytest.raises(LEDGER, match="its answer or failure already"):
        charge._note(charge, "answer", {"answer": ["7"]})
    with pytest.raises(LEDGER, match="a row `drawing` comes before its answer"):
        second.answered(["8"])
    second.drawing()
    with pytest.raises(LEDGER, match="once"):
        second.drawing()
    second.failed("Away")
    assert taken(data, plan) is None
    assert events(data.ledger) == ["create", "charge", "failure", "resumed", "drawing", "failure"]


def test_a_charge_that_says_nothing_of_its_draw_is_of_no_plan(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert data.ledger is not None
    charge = data.ledger.charge(plan.price, reason=f"plan {plan.key}")
    assert taken(data, plan) is None
    with pytest.raises(LEDGER, match="a row `drawing` comes before"):
        charge.drawing()
    charge.answered(["777"])
    answer = plan.release(frame="pyarrow").to_pydict()
    assert answer["charge"] == [3]
    assert abs(answer["value"][0] - 1) < 100  # off by more less than once in 10^42
    assert plan.release(frame="pyarrow").to_pydict() == answer


def test_a_killed_release_that_was_asked_afresh_is_finished_when_it_is_asked_afresh_again(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    first = plan.release(frame="pyarrow").to_pydict()

    def afresh() -> None:
        clinic(data.ledger).plan(nw.count(), privacy=nw.PureDP(1)).release(fresh=True)

    assert killed_at("charged", afresh) == -signal.SIGKILL
    assert plan.release(frame="pyarrow").to_pydict() == first
    assert plan.release(fresh=True, frame="pyarrow")["charge"].to_pylist() == [4]
    assert plan.release(frame="pyarrow")["charge"].to_pylist() == [4]
    assert events(data.ledger) == [
        "create",
        *["charge", "drawing", "answer"],
        *["charge", "resumed", "drawing", "answer"],
    ]
    assert data.ledger is not None
    assert data.ledger.spent == 2


def test_afresh_finishes_first_what_failed_for_certain(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    held = charged(data, plan)
    charged(data, plan).failed("Away")
    assert plan.release(fresh=True, frame="pyarrow")["charge"].to_pylist() == [2]
    held.drawing()  # nobody took it
    assert events(data.ledger) == ["create", "charge", "charge", "failure", "resumed", "drawing", "answer", "drawing"]


def test_what_failed_afresh_says_how_it_is_finished(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    plan.release()
    breaking.append("aggregate")
    with pytest.raises(
        FAILED, match=r"Charge 4 .*again with fresh=True, --fresh .*to finish it, without another charge"
    ):
        plan.release(fresh=True)
    assert plan.release(fresh=True, frame="pyarrow")["charge"].to_pylist() == [4]


def test_threads_that_ask_the_same_plan_get_one_answer_of_one_charge(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: plan.release(frame="pyarrow").to_pydict(), range(4)))
    assert found == [found[0]] * 4
    assert events(data.ledger) == ["create", "charge", "drawing", "answer"]


def test_a_release_reads_its_ledger_twice_and_writes_three_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert data.ledger is not None
    assert data.ledger.spent == 0  # the budget is known from here on
    store, done = data.ledger._store, list[str]()

    def counted(name: str, work: Any) -> Any:
        def done_so(*given: Any) -> Any:
            done.append(name)
            return work(*given)

        return done_so

    for name in ("look", "change"):
        monkeypatch.setattr(store, name, counted(name, getattr(store, name)))
    plan.release()
    assert done == ["look", "look", "change", "change", "change"]
    done.clear()
    plan.release()
    assert done == ["look"]


def test_the_words_of_a_failed_job_of_spark_are_true_of_any():
    told = in_words("Py4JJavaError")
    assert all(word in told for word in ("cancelled", "executors were lost", "a file", "or the like", "log says why"))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ((True, "drawing", "resumed"), "something may have been drawn"),
        ((True, "drawing", "answer", "resumed"), "something may have been drawn"),
        ((True, "drawing", "failure", "resumed"), "something may have been drawn"),
        ((False, "resumed"), "something may have been drawn"),
        ((False, "failure", "resumed"), "something may have been drawn"),
        ((True, "answer"), "of which nothing was drawn"),
        ((True, "failure", "drawing"), "has ended or was drawn from already"),
        ((True, "drawing", "drawing"), "has ended or was drawn from already"),
        ((False, "drawing"), "has ended or was drawn from already"),
        ((True, "failure", "failure"), "has its answer already"),
    ],
)
def test_the_check_of_a_ledger_refuses_rows_by_which_two_could_draw(tmp_path: Path, rows: Any, told: str):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    marked, *kinds = rows
    ledger = data.ledger
    assert ledger is not None
    ledger.charge(plan.price, reason="x", undrawn=holding.undrawn(plan) if marked else None)
    for kind in kinds:
        ledger.verify()
        with ledger._store.change("nothing") as store:
            states = {account.name: account.state for account in ledger._accounts(store)}
            facts = event(kind, states, {"charge": 1}, "2099-01-01T00:00:00")
            store.append(Row.after(store.last().head, "", facts))
    with pytest.raises(nw.errors.LedgerDamagedError, match=told):
        ledger.verify()
