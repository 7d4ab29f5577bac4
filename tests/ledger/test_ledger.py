"""A ledger as people use it, on both stores."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import pytest

import noisewright as nw
from noisewright.ledger import stores
from noisewright.ledger.stores import every_row
from noisewright.sample.certified import make_certified
from tests.ledger import menu

TENTH = Fraction(1, 10)


def _pure(epsilon: Fraction) -> nw.Certified:
    law = nw.laws.DiscreteLaplace(1 / epsilon)
    mechanism = nw.mechanisms.Additive(menu.COUNT, law, nw.laws.Lattice.integers())
    return make_certified(mechanism, nw.PureDP(max(epsilon, Fraction(1, 100_000))))


def test_ten_tenths_are_one(url: str):
    ledger, mechanism = nw.Ledger.create(url, budget=nw.PureDP(1)), menu.laplace("0.1")
    for i in range(10):
        assert ledger.spent == i * TENTH
        assert ledger.remaining == 1 - i * TENTH
        ledger.charge(mechanism, reason=f"tenth {i}")
    assert (ledger.spent, ledger.remaining) == (1, 0)
    with pytest.raises(nw.errors.BudgetExceeded) as told:
        ledger.charge(mechanism, reason="the eleventh")
    assert (told.value.requested, told.value.remaining, told.value.largest_epsilon) == (TENTH, 0, 0)
    assert isinstance(told.value, ValueError)


def test_a_refused_charge_leaves_a_row_that_says_so_and_nothing_else(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP("0.25"))
    ledger.charge(menu.laplace("0.2"), reason="granted")
    with pytest.raises(
        nw.errors.BudgetExceeded, match=r"0\.2 requested, 0\.05 of 0\.25 remaining.*up to 0\.05 would fit"
    ):
        ledger.charge(menu.laplace("0.2"), reason="refused")
    row = list(ledger.rows())[-1]
    assert (row["event"], row["label"]) == ("refused", "refused")
    assert ledger.spent == Fraction("0.2")
    ledger.charge(menu.laplace("0.05"), reason="less is granted")
    assert ledger.verify().charges == 2


BUDGETS = [
    nw.PureDP("0.7"),
    nw.ZeroConcentratedDP("0.03"),
    nw.RenyiDP(5, "0.2"),
    nw.ApproxDP("0.7", "1e-6"),
]


@pytest.mark.parametrize("budget", BUDGETS, ids=lambda budget: type(budget).__name__)
def test_the_largest_epsilon_fits_and_a_larger_one_does_not(path: Path, budget: Any):
    ledger = nw.Ledger.create(path, budget=budget)
    ledger.charge(menu.laplace("0.1"), reason="before")
    largest = ledger.largest_epsilon
    assert largest > TENTH
    with pytest.raises(nw.errors.BudgetExceeded) as told:
        ledger.charge(_pure(largest * Fraction(100_001, 100_000)), reason="too much")
    assert told.value.largest_epsilon == largest
    ledger.charge(_pure(largest), reason="just enough")
    assert ledger.verify().charges == 2


def test_a_charge_is_durable_before_the_body_and_stays_if_it_raises(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    charge = ledger.charge(menu.laplace("0.1"), reason="x")

    def body() -> NoReturn:
        with charge:
            assert nw.Ledger.open(url).spent == TENTH
            raise RuntimeError("private words")

    with pytest.raises(RuntimeError, match="private words"):
        body()
    assert ledger.spent == TENTH
    failed = list(ledger.rows())[-1]
    assert (failed["event"], failed["charge"], failed["failure"]) == ("failure", charge.place, "RuntimeError")
    assert "private words" not in json.dumps(list(ledger.rows()))


def test_a_release_is_charged_and_its_answer_kept(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    released = ledger.release(menu.laplace("0.1"), 42, reason="visits")
    _, charge, answer = ledger.rows()
    assert (charge["event"], charge["label"]) == ("charge", "visits")
    assert charge["question"] == menu.COUNT.digest
    assert charge["certificate"] == menu.laplace("0.1").certificate.to_dict()
    assert charge["rules"] == {"": ["pure"]}
    assert (answer["event"], answer["charge"], answer["answer"]) == ("answer", 1, str(released))


@pytest.mark.parametrize("answer", [None, "many", float("nan"), [1, 2], 1.5])
def test_an_answer_that_cannot_be_released_is_not_charged(path: Path, answer: Any):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with pytest.raises(nw.errors.InvalidAnswerError):
        ledger.release(menu.laplace("0.1"), answer, reason="x")
    assert ledger.head.count == 1


def test_an_answer_is_written_once(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    charge = ledger.charge(menu.laplace("0.1"), reason="x")
    charge.answered({"a": [1, 2.5], "b": Fraction(1, 3)})
    with pytest.raises(nw.errors.LedgerError, match="never changed"):
        charge.answered(3)
    assert list(ledger.rows())[-1]["answer"] == [["a", ["1", "2.5"]], ["b", "1/3"]]


def test_a_very_long_answer_is_kept_by_its_digest(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason="x").answered(list(range(200_000)))
    assert set(list(ledger.rows())[-1]["answer"]) == {"digest", "characters"}
    assert ledger.verify().charges == 1


def test_no_row_holds_a_float(url: str):
    ledger = nw.Ledger.create(url, budget=nw.ApproxDP(1, "1e-6"))
    ledger.release(menu.gaussian("30", nw.ApproxDP("0.2", "1e-7")), 1.5, reason="x")
    ledger.raise_budget(nw.ApproxDP(2, "1e-6"), reason="y")

    def refuse(text: str) -> NoReturn:
        raise AssertionError(f"{text} is a float")

    for row in every_row(ledger._store):
        json.loads(row.body, parse_float=refuse)


def test_whoever_reads_rows_slowly_stops_nobody(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stores, "_AT_A_TIME", 2)
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    for i in range(3):
        ledger.charge(menu.laplace("0.1"), reason=f"before {i}")
    seen = []
    for row in ledger.rows():
        seen.append(row["place"])
        if len(seen) <= 5:
            ledger.charge(menu.laplace("0.1"), reason=f"while reading row {row['place']}")
    assert ledger.verify().charges == 8
    assert seen == list(range(9))


def test_several_releases_can_be_one_charge(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    parts = [menu.laplace("0.1"), menu.laplace("0.2"), menu.laplace("0.2")]
    charge = ledger.charge(parts, reason="a fit")
    assert ledger.spent == Fraction(1, 2)
    assert list(ledger.rows())[charge.place]["certificate"] == [part.certificate.to_dict() for part in parts]
    with pytest.raises(nw.errors.BudgetExceeded):
        ledger.charge([*parts, menu.laplace("0.1")], reason="all or nothing")
    assert ledger.spent == Fraction(1, 2)


@pytest.mark.parametrize(
    "given", [None, 0.1, nw.PureDP(1), [], [menu.laplace("0.1"), 3], menu.laplace("0.1").mechanism]
)
def test_what_has_no_certificate_is_not_charged(path: Path, given: Any):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with pytest.raises(nw.errors.UncertifiedError):
        ledger.charge(given, reason="x")
    assert ledger.head.count == 1


def test_what_lies_about_its_costs_is_not_charged(path: Path):
    class Cheap:
        certificate = menu.laplace("0.1").certificate

        def costs(self) -> Any:
            return self

        def pure(self) -> Fraction:
            return Fraction(0)

    with pytest.raises(nw.errors.UncertifiedError):
        nw.Ledger.create(path, budget=nw.PureDP(1)).charge(Cheap(), reason="x")


@pytest.mark.parametrize(
    ("budget", "mechanism"),
    [
        (nw.PureDP(1), menu.gaussian("30", nw.ApproxDP(1, "1e-6"))),
        (nw.PureDP(1), menu.gaussian("30")),
        (nw.MetricPrivacy(menu.PEOPLE), menu.laplace("0.1")),
        (nw.PureDP(1), menu.on_a_metric("0.1")),
        (nw.ApproxDP(1, "1e-6"), menu.on_a_metric("0.1")),
        (nw.PureDP(1), [menu.laplace("0.1"), menu.gaussian("30")]),
        (nw.ZeroConcentratedDP(1), menu.truncated("0.5", "1e-4")),
        (nw.RenyiDP(2, 1), menu.truncated("0.5", "1e-4")),
    ],
)
def test_what_a_budget_cannot_add_is_refused(path: Path, budget: Any, mechanism: Any):
    ledger = nw.Ledger.create(path, budget=budget)
    with pytest.raises((nw.errors.UncertifiedError, nw.errors.InvalidInputError), match=r"[Nn]othing was charged"):
        ledger.charge(mechanism, reason="x")
    assert ledger.head.count == 1


def test_sub_budgets_are_under_the_total(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ann, bob = (ledger.sub(name, budget=nw.PureDP("0.7")) for name in ("ann", "bob"))
    ann.charge(menu.laplace("0.5"), reason="a")
    assert (ann.spent, bob.spent, ledger.spent) == (Fraction("0.5"), 0, Fraction("0.5"))
    with pytest.raises(nw.errors.BudgetExceeded, match="'ann'"):
        ann.charge(menu.laplace("0.3"), reason="more than hers")
    bob.charge(menu.laplace("0.3"), reason="b")
    with pytest.raises(nw.errors.BudgetExceeded) as told:
        bob.charge(menu.laplace("0.3"), reason="his, but more than the total")
    assert told.value.account == ""
    assert told.value.largest_epsilon == Fraction("0.2")
    ledger.charge(menu.laplace("0.2"), reason="whoever")
    assert (ann.remaining, bob.remaining, ledger.remaining) == (Fraction("0.2"), Fraction("0.4"), 0)
    assert nw.Ledger.open(url).sub("ann").spent == Fraction("0.5")
    assert ledger.verify().charges == 3
    with pytest.raises(nw.errors.InvalidInputError, match="no sub-budgets of its own"):
        ann.sub("carl", budget=nw.PureDP("0.1"))
    with pytest.raises(nw.errors.InvalidPrivacyError, match="same kind"):
        ledger.sub("dora", budget=nw.ZeroConcentratedDP("0.1"))


@pytest.mark.parametrize("lowered", [("2", "1e-7"), ("1/2", "1e-5"), ("1/2", "1e-7")])
def test_no_part_of_a_budget_is_lowered_while_another_one_rises(path: Path, lowered: tuple[str, str]):
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP(1, "1e-6"))
    with pytest.raises(nw.errors.InvalidInputError, match="not lowered"):
        ledger.raise_budget(nw.ApproxDP(*lowered), reason="less of one")
    assert ledger.budget == nw.ApproxDP(1, "1e-6")
    for more in (nw.ApproxDP(2, "1e-6"), nw.ApproxDP(2, "1e-5")):
        ledger.raise_budget(more, reason="more of one")
        assert ledger.budget == more


def test_raising_and_closing_are_chained_events(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP("0.1"))
    ledger.charge(menu.laplace("0.1"), reason="all")
    with pytest.raises(nw.errors.InvalidInputError, match="not lowered"):
        ledger.raise_budget(nw.PureDP("0.05"), reason="less")
    ledger.raise_budget(nw.PureDP("0.3"), reason="more")
    assert (ledger.budget, ledger.remaining) == (nw.PureDP("0.3"), Fraction("0.2"))
    ledger.charge(menu.laplace("0.1"), reason="again")
    ledger.close_budget(reason="the study has ended")
    for attempt in (
        lambda: ledger.charge(menu.laplace("0.01"), reason="late"),
        lambda: ledger.raise_budget(nw.PureDP(1), reason="late"),
        lambda: ledger.sub("ann", budget=nw.PureDP("0.1")),
    ):
        with pytest.raises(nw.errors.LedgerError, match="closed"):
            attempt()
    assert [row["event"] for row in ledger.rows()] == ["create", "charge", "raise", "charge", "close"]
    assert ledger.largest_epsilon == 0
    assert ledger.verify().charges == 2


def test_a_raised_metric_budget_keeps_what_was_spent(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.MetricPrivacy(menu.PEOPLE))
    ledger.charge(menu.on_a_metric("0.5"), reason="half")
    ledger.raise_budget(nw.MetricPrivacy(menu.PEOPLE).share(2), reason="twice")
    assert ledger.spent == Fraction(1, 4)
    ledger.charge(menu.on_a_metric("1"), reason="half of twice")
    assert ledger.spent == Fraction(3, 4)
    assert ledger.verify().charges == 2


def test_metrics_are_compared_pair_by_pair(path: Path):
    line = nw.metrics.Matrix([[abs(i - j) for j in range(4)] for i in range(4)])
    ledger = nw.Ledger.create(path, budget=nw.MetricPrivacy(line))
    # All pairs at 1/10: neighbours on the line, which may be told apart least, decide.
    ledger.charge(menu.on_a_metric("0.1"), reason="even")
    assert ledger.spent == TENTH
    blind = nw.metrics.Matrix([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    other = nw.Ledger.create(path.with_name("other"), budget=nw.MetricPrivacy(blind))
    with pytest.raises(nw.errors.UncertifiedError):
        other.charge(menu.on_a_metric("0.1"), reason="tells apart what must not be")
    small = nw.Ledger.create(path.with_name("small"), budget=nw.MetricPrivacy(nw.metrics.Hamming(3, 1)))
    with pytest.raises(nw.errors.InvalidInputError, match="one universe"):
        small.charge(menu.on_a_metric("0.1"), reason="other people")


def test_approximate_budgets_have_three_rules_and_one_that_holds_is_enough(url: str):
    ledger = nw.Ledger.create(url, budget=nw.ApproxDP(1, "1e-6"))
    assert set(ledger.spent) == set(ledger.remaining) == {"basic", "gaussian", "concentrated"}
    assert ledger.remaining["basic"] == (0, 1)
    many = menu.gaussian("60", nw.ApproxDP("0.1", "1e-9"))
    for i in range(11):
        charge = ledger.charge(many, reason=str(i))
    assert ledger.spent["basic"][0] > 1, "eleven tenths: the basic rule is passed"
    assert charge.rules == ("gaussian", "concentrated")
    assert ledger.spent["gaussian"][0] == 11 * Fraction(1, 3600)
    # A certificate of rho alone brings no pair: the basic rule is off for good, the others go on.
    ledger.charge(menu.gaussian("200"), reason="rho")
    assert "basic" not in ledger.spent
    assert "basic" not in str(ledger).split("Rule gaussian")[0].replace("Rule basic: off", "")
    assert ledger.verify().charges == 12
    assert all(limit == Fraction(1, 8 * 10**6) for _, limit in ledger.now().deltas().values())


def test_the_delta_can_be_divided_otherwise(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP(1, "1e-6"), rules={"basic": "0.9", "gaussian": "0.1"})
    assert set(ledger.spent) == {"basic", "gaussian"}
    assert ledger.now().deltas()["basic"][1] == Fraction(9, 10**7)
    assert set(ledger.sub("ann", budget=nw.ApproxDP("0.5", "1e-7")).spent) == {"basic", "gaussian"}
    for rules in ({}, {"basic": "0.9", "gaussian": "0.2"}, {"magic": 1}, {"basic": 0}):
        with pytest.raises(nw.errors.InvalidInputError, match="divides delta"):
            nw.Ledger.create(path.with_name("x"), budget=nw.ApproxDP(1, "1e-6"), rules=rules)
    with pytest.raises(nw.errors.InvalidInputError, match="one rule each"):
        nw.Ledger.create(path.with_name("x"), budget=nw.PureDP(1), rules={"basic": 1})
    assert not path.with_name("x").exists(), "nothing is made of what is refused"


def test_one_kind_of_neighbours(path: Path, monkeypatch: pytest.MonkeyPatch):
    from noisewright.ledger import costed

    kinds = {menu.laplace("0.1"): "add-remove", menu.laplace("0.2"): "replace", menu.laplace("0.05"): "declared"}
    monkeypatch.setattr(costed, "_relation", lambda part: kinds[part])
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.05"), reason="declared: the first that names them decides")
    ledger.charge(menu.laplace("0.1"), reason="add or remove")
    assert ledger.now().state.neighbours == "add-remove"
    with pytest.raises(nw.errors.InvalidInputError, match="one kind"):
        ledger.charge(menu.laplace("0.2"), reason="replace")
    ledger.charge(menu.laplace("0.05"), reason="declared")
    with pytest.raises(nw.errors.InvalidInputError, match="at once"):
        ledger.charge([menu.laplace("0.1"), menu.laplace("0.2")], reason="both")
    assert ledger.spent == Fraction("0.2")
    assert ledger.verify().charges == 3
    fixed = nw.Ledger.create(path.with_name("fixed"), budget=nw.PureDP(1), neighbours="replace")
    with pytest.raises(nw.errors.InvalidInputError, match="one kind"):
        fixed.charge(menu.laplace("0.1"), reason="add or remove")


def test_what_the_remainder_buys_is_said_in_words(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(10))
    # P(|discrete Laplace at 1/4| > 12) is 4.2 %, P(... > 11) 5.4 %.
    assert ledger.buys(40) == "Remaining: 10 of 10 epsilon (for example 40 more counts within ±12)."
    gaussian = nw.Ledger.create(path.with_name("z"), budget=nw.ZeroConcentratedDP("0.5"))
    assert gaussian.buys(1) == "Remaining: 0.5 of 0.5 rho (for example 1 more count within ±2)."
    divided = nw.Ledger.create(path.with_name("d"), budget=nw.ApproxDP(1, "1e-6"))
    assert divided.buys().startswith("Remaining: 1 of 1 epsilon (rule basic) or ")
    shared = nw.Ledger.create(path.with_name("m"), budget=nw.MetricPrivacy(menu.PEOPLE))
    assert shared.buys(10) == "Remaining: 1 of the budget's distances (for example 10 more releases of 0.1 each)."
    ann = ledger.sub("ann", budget=nw.PureDP(3))
    assert ann.buys().startswith("Remaining: 3 of 3 epsilon, and in the whole ledger 10 of 10 epsilon (")
    with pytest.raises(nw.errors.InvalidInputError):
        ledger.buys(0)
    ledger.close_budget(reason="x")
    assert ledger.buys() == "The budget is closed."


@pytest.mark.parametrize("counts", [1, 7])
@pytest.mark.parametrize(
    ("budget", "rules", "variance"),
    [
        (nw.ZeroConcentratedDP("0.005"), None, lambda rho: 1 / (2 * rho)),
        (nw.RenyiDP(8, "0.01"), None, lambda divergence: 8 / (2 * divergence)),
        (nw.RenyiDP("3/2", "0.01"), None, lambda divergence: 1.5 / (2 * divergence)),
        (nw.ApproxDP("0.5", "1e-6"), {"gaussian": 1}, lambda squared: 1 / squared),
        (nw.ApproxDP("0.5", "1e-6"), {"concentrated": 1}, lambda rho: 1 / (2 * rho)),
    ],
    ids=["concentrated", "order 8", "order 3/2", "by lengths", "by concentration"],
)
def test_counts_that_the_remainder_buys_are_as_near_as_gaussian_noise_of_their_share(
    path: Path, budget: Any, rules: Any, variance: Callable[[float], float], counts: int
):
    ledger = nw.Ledger.create(path, budget=budget, rules=rules)
    (rule,) = ledger.now().budget.rules
    width = 1.959964 * math.sqrt(variance(float(rule.limits[rule.main]) / counts))
    assert f"within ±{math.ceil(width)})" in ledger.buys(counts)


def test_copies_are_the_same_ledger(url: str, tmp_path: Path):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    assert copy.deepcopy(ledger) is ledger
    if "://" not in url:  # a pickle holds no password, which the test server asks for
        again = pickle.loads(pickle.dumps(ledger.sub("ann", budget=nw.PureDP("0.5"))))  # noqa: S301 -- our own bytes
        again.charge(menu.laplace("0.1"), reason="x")
        assert ledger.spent == TENTH


def test_the_burn_down_starts_at_one_and_ends_at_what_is_left(path: Path):
    from noisewright.ledger.render import burned

    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    for i in range(3):
        ledger.charge(menu.laplace("0.2"), reason=str(i))
    assert burned(ledger) == {"pure": [(0, 1.0), (1, 0.8), (2, 0.6), (3, pytest.approx(0.4))]}
    ledger.plot(path.with_name("burn.png"))
    assert path.with_name("burn.png").read_bytes().startswith(b"\x89PNG")


def test_the_export_holds_everything(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ledger.release(menu.laplace("0.1"), 3, reason="x")
    data = json.loads(json.dumps(ledger.to_dict()))
    assert [row["event"] for row in data["rows"]] == ["create", "charge", "answer"]
    assert data["head"] == ledger.head.to_dict()
    ledger.verify(data["head"])
    with pytest.raises(nw.errors.InvalidInputError, match="a head has"):
        ledger.verify({"count": "3"})


def test_probabilistic_budgets_are_refused(path: Path):
    with pytest.raises(nw.errors.InvalidPrivacyError, match="does not add up"):
        nw.Ledger.create(path, budget=nw.ProbabilisticDP(1, "1e-6"))
    assert not path.exists()
