"""What the holder of one sub-budget can write of another's plan: no answer and no block without the price of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.ledger import checkpoints
from noisewright.ledger.charge import Charge
from noisewright.release.plan.strategies.selection import written
from noisewright.release.run import idempotence as holding
from tests.release.charges import events

TABLE = pa.table(
    {
        "id": [i // 2 for i in range(120)],
        "ward": ["A", "B", "B", "C"] * 30,
        "cost": [float(i % 7) for i in range(120)],
        "far": [1000.0] * 120,
    }
)
"""Sixty persons with two rows each."""
WARDS = nw.keys("ward", ["A", "B"])
Maker = Callable[[nw.Dataset], Any]


def table(ledger: Any, **more: Any) -> nw.Dataset:
    return nw.Dataset(TABLE, "id", ledger=ledger, **{"name": "visits", "rows_per_group": 2, **more})


def both(path: Path, budget: Any = None) -> tuple[nw.Ledger, nw.Ledger]:
    """The sub-budgets of two analysts."""
    each = budget or nw.PureDP(30)
    whole = nw.Ledger.create(path, budget=each, neighbours="add-remove")
    return whole.sub("ann", budget=each), whole.sub("bob", budget=each)


def count(data: nw.Dataset) -> Any:
    return data.plan(nw.count(), privacy=nw.PureDP(2))


def released(plan: Any, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = plan.release(frame="pyarrow", **more).to_pydict()
    return found


def planted(charge: Charge, answer: Any) -> None:
    """Draw and answer as a release does."""
    charge.drawing()
    charge.answered(answer)


def own(ledger: nw.Ledger) -> list[int]:
    """The places of the charges of an account."""
    return [row["place"] for row in ledger.rows() if row["event"] == "charge" and row["account"] == ledger.name]


@pytest.mark.parametrize("says", [False, True], ids=["label", "digest"])
def test_a_cheap_answer_under_the_name_of_a_plan_is_not_believed(tmp_path: Path, says: bool):
    ann, bob = both(tmp_path / "x.ledger")
    plan = count(table(ann))
    cheap = table(bob).plan(nw.count(), privacy=nw.PureDP("0.001")).price
    charge = bob.charge(cheap, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan) if says else None)
    if says:
        charge.drawing()
    charge.answered(["123456"])
    assert bob.spent == Fraction(1, 1000)
    answer = released(plan)
    assert abs(answer["value"][0] - 120) < 60  # off by more less than once in 10^24
    assert answer["charge"] == own(ann)
    assert ann.spent == 2
    assert released(plan) == answer


OTHERS: dict[str, Maker] = {
    "filter": lambda data: count(data.filter(lambda t: t.ward == "A")),
    "column": lambda data: count(data.mutate(more=lambda t: t.cost + 1)),
    "version": lambda data: count(table(data.ledger, version=2)),
    "dataset": lambda data: count(table(data.ledger, name="visitors")),
    "question": lambda data: data.plan(nw.count(name="rows"), privacy=nw.PureDP(2)),
    "column of a sum": lambda data: data.plan(nw.ask.sum("far", bounds=(0, 2), step=2), privacy=nw.PureDP(2)),
    "requirement": lambda data: data.plan(nw.count(), privacy=nw.PureDP("1.99")),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("account", ["ann", "bob"])
def test_a_charge_of_the_same_noise_for_another_plan_answers_nothing(tmp_path: Path, kind: str, account: str):
    ann, bob = both(tmp_path / "x.ledger")
    plan, payer = count(table(ann)), ann if account == "ann" else bob
    other = OTHERS[kind](table(payer))
    assert (other.price.certificate.to_dict() == plan.price.certificate.to_dict()) == (kind != "requirement")
    for undrawn in (None, holding.undrawn(other)):
        charge = payer.charge(other.price, reason=f"plan {plan.key}", undrawn=undrawn)
        if undrawn is not None:
            charge.drawing()
        charge.answered(["123456"])
        payer.charge(other.price, reason=f"plan {plan.key}", undrawn=undrawn)
    before = ann.spent
    answer = released(plan, reason=f"plan {plan.key}")
    assert ann.spent == before + 2
    assert abs(answer["value"][0] - 120) < 60
    assert answer["charge"] == [own(ann)[-1]]
    assert released(other)["value"] == ([123456] if kind != "column of a sum" else [246912])


def test_an_answer_of_the_same_plan_is_shared_and_the_own_one_comes_first(tmp_path: Path):
    ann, bob = both(tmp_path / "x.ledger")
    first = released(count(table(ann)))
    assert released(count(table(bob))) == first
    assert bob.spent == 0
    second = released(count(table(bob)), fresh=True)
    assert second["charge"] == own(bob)
    assert released(count(table(bob))) == second
    assert released(count(table(ann))) == first, "not what somebody else drew afterwards"
    assert released(count(table(nw.Ledger.open(tmp_path / "x.ledger")))) == second
    assert (ann.spent, bob.spent) == (2, 2)


@pytest.mark.parametrize("how", ["undrawn", "failed", "drawing"])
@pytest.mark.parametrize("price", ["0.001", "2"])
def test_charges_of_another_account_are_not_resumed_and_block_nothing(tmp_path: Path, how: str, price: str):
    ann, bob = both(tmp_path / "x.ledger")
    plan = count(table(ann))
    paid = table(bob).plan(nw.count(), privacy=nw.PureDP(price)).price
    charge = bob.charge(paid, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan))
    place = charge.place
    if how == "failed":
        charge.failed("Away")
    if how == "drawing":
        charge.drawing()
    assert holding.standing_of(plan, ann) == {}
    assert holding.same_of(plan, ann).resumed(place) is None
    answer = released(plan)
    assert answer["charge"] == own(ann)
    assert ann.spent == 2
    if how == "undrawn":
        charge.drawing()  # it is still its holder's


def test_a_charge_of_another_account_at_the_same_instant_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ann, bob = both(tmp_path / "x.ledger")
    plan, other, done = count(table(ann)), count(table(bob)), list[int]()

    def reach(point: str) -> None:
        if point == "validated" and not done:
            done.append(1)
            bob.charge(other.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(other))

    monkeypatch.setattr(checkpoints, "passed", reach)
    assert released(plan)["charge"] == own(ann)
    assert len(own(bob)) == 1


GARBAGE = {
    "nothing": None,
    "a text": "123456",
    "an empty list": [],
    "one too few": ["7"] * 5,
    "one too many": ["7"] * 7,
    "as long as it may be": ["7"] * 60_000,
    "not a number": ["7", "nan", "7", "7", "7", "7"],
    "infinite": ["7", "7", "7", "7", "7", "-inf"],
    "a float": ["7", "7", "7.5", "7", "7", "7"],
    "beyond Python": ["9" * 5000, "7", "7", "7", "7", "7"],
    "other digits": ["\u0667", "7", "7", "7", "7", "7"],
    "a list of lists": [["7"]] * 6,
    "missing": [None] * 6,
    "halves of characters": ["\ud800"] * 6,
    "beyond doubles": ["9" * 400, "7", "7", "7", "7", "7"],
}


@pytest.mark.parametrize("account", ["ann", "bob"])
def test_what_no_release_stores_is_not_given_back_and_ends_nothing(tmp_path: Path, account: str):
    ann, bob = both(tmp_path / "x.ledger")
    payer = ann if account == "ann" else bob
    questions = nw.count(by=WARDS), nw.mean("cost", bounds=(0, 6)), nw.ask.sum("cost", bounds=(0, 6), by=WARDS)
    plan = table(ann).plan(*questions, privacy=nw.PureDP(1))
    assert plan.layout.released == 6
    for garbage in GARBAGE.values():
        charge = payer.charge(plan.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan))
        planted(charge, garbage)
    before = ann.spent
    answer = released(plan, post=["non-negative"])
    assert ann.spent == before + 1
    assert set(answer["charge"]) == {own(ann)[-1]}
    assert released(plan, post=["non-negative"]) == answer


@pytest.mark.parametrize("account", ["ann", "bob"])
def test_an_answer_too_long_to_be_kept_is_charged_again_only_where_somebody_else_drew_it(tmp_path: Path, account: str):
    ann, bob = both(tmp_path / "x.ledger")
    plan, payer = count(table(ann)), ann if account == "ann" else bob
    charge = payer.charge(plan.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan))
    planted(charge, ["7"] * 400_000)
    if account == "ann":
        with pytest.raises(nw.errors.InvalidInputError, match="too long to be kept whole"):
            plan.release()
        plan.release(fresh=True)
    assert released(plan)["charge"] == [own(ann)[-1]]
    assert ann.spent == (4 if account == "ann" else 2)


def test_garbage_after_an_answer_does_not_take_it_away(tmp_path: Path):
    ann, bob = both(tmp_path / "x.ledger")
    first = released(count(table(bob)))
    plan = count(table(ann))
    for payer in (bob, ann):
        planted(payer.charge(plan.price, reason="x", undrawn=holding.undrawn(plan)), ["nan"])
        assert released(plan) == first
    second = released(plan, fresh=True)
    planted(ann.charge(plan.price, reason="x", undrawn=holding.undrawn(plan)), ["nan"])
    assert released(plan) == second


KEYS = nw.keys("ward", private=True)
PUBLISHED = ((("A",), (30, 29, 31)), (("B",), (60, 59, 61)))
UNKEYED: dict[str, Any] = {
    "a text": "AB",
    "no numbers": [[["tA"], []]],
    "two columns": [[["tA", "tB"], ["30", "29", "31"]]],
    "another kind": [[["xA"], ["30", "29", "31"]]],
    "no kind": [[[""], ["30", "29", "31"]]],
    "a number": [[[7], ["30", "29", "31"]]],
    "no day": [[["d2025-02-30"], ["30", "29", "31"]]],
    "no truth value": [[["b2"], ["30", "29", "31"]]],
    "twice": [[["tA"], ["30", "29", "31"]], [["tA"], ["30", "29", "31"]]],
    "backwards": [[["tB"], ["30", "29", "31"]], [["tA"], ["30", "29", "31"]]],
    "two kinds": [[["i1"], ["30", "29", "31"]], [["tA"], ["30", "29", "31"]]],
    "truths and numbers": [[["b0"], ["30", "29", "31"]], [["i1"], ["30", "29", "31"]]],
    "signed beyond 64 bits": [[["i-1"], ["30", "29", "31"]], [["i" + str(2**63)], ["30", "29", "31"]]],
    "half a character": [[["t\udc00"], ["30", "29", "31"]]],
    "beyond doubles": [[["tA"], ["9" * 400, "29", "31"]]],
    "not a number": [[["tA"], ["nan", "29", "31"]]],
    "beyond 64 bits": [[["i" + "9" * 25], ["30", "29", "31"]]],
}


@pytest.mark.parametrize("kinds", [["right"], list(UNKEYED)], ids=["right", "wrong"])
def test_groups_that_no_release_publishes_are_not_given_back(tmp_path: Path, kinds: list[str]):
    ann, bob = both(tmp_path / "x.ledger", nw.ApproxDP(30, "1e-2"))
    plan = table(ann).plan(nw.ask.persons(by=KEYS), privacy=nw.ApproxDP("1.5", "1e-5"))
    for kind in kinds:
        charge = bob.charge(plan.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan))
        planted(charge, [UNKEYED.get(kind, written(PUBLISHED))])
    answer = released(plan)
    if kinds == ["right"]:
        assert (answer["ward"], answer["value"], answer["low"]) == (["A", "B"], [30, 60], [29, 59])
    else:
        # Each ward has thirty persons, of which one in 10^14 is not published.
        assert answer["ward"] == ["A", "B", "C"]
        assert set(answer["charge"]) == set(own(ann))


def test_planted_bounds_are_not_believed(tmp_path: Path):
    ann, bob = both(tmp_path / "x.ledger")
    data, privacy = table(ann), nw.PureDP(5)
    from noisewright.release.run.bounds import question

    plan = data.plan(question("far"), privacy=privacy)
    cheap = table(bob).plan(nw.count(), privacy=nw.PureDP("0.001")).price
    counts = ["0"] * (plan.layout.released - 1) + ["99999"]
    for undrawn in (None, holding.undrawn(plan)):
        charge = bob.charge(cheap, reason=f"plan {plan.key}", undrawn=undrawn)
        if undrawn is not None:
            charge.drawing()
        charge.answered(counts)
    planted(bob.charge(plan.price, reason="x", undrawn=holding.undrawn(plan)), ["nan"] * len(counts))
    found = data.estimate_bounds("far", privacy=privacy)
    assert list(found) == [512, 1024]
    assert [found.charge] == own(ann)
    assert ann.spent == 5


def deep(levels: int) -> Any:
    answer: Any = "7"
    for _ in range(levels):
        answer = [answer]
    return answer


def test_nobody_writes_a_row_that_others_cannot_read(tmp_path: Path):
    ann, bob = both(tmp_path / "x.ledger")
    plan = count(table(bob))
    for undrawn in (7, "x", "", "f" * 65, "F" * 64, ["f" * 64], {"f": 64}, float("nan"), 10**300):
        with pytest.raises(nw.errors.InvalidInputError, match="undrawn is no digest"):
            bob.charge(plan.price, reason="x", undrawn=undrawn)  # type: ignore[arg-type]
    assert bob.spent == 0
    charge = bob.charge(plan.price, reason="x", undrawn=holding.undrawn(plan))
    charge.drawing()
    for answer in (deep(33), deep(900), deep(100_000), [{"a": deep(40)}]):
        with pytest.raises(nw.errors.InvalidInputError, match="nested more than 32 deep"):
            charge.answered(answer)
    charge.answered(deep(32))
    assert released(count(table(ann)))["charge"] == own(ann)
    assert events(bob).count("answer") == 2
