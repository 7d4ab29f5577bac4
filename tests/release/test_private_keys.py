"""Privately chosen keys from the table to the frame: what is counted, limited, stored, saved and refused."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.app.cli.saved import verify
from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.records import digest
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import designed
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.plan.noise import drawn, price_of, price_within
from noisewright.release.plan.splitting import Splitter
from noisewright.release.plan.strategies.selection import FOLLOWING, SELECTING, end_of, persons_for
from noisewright.release.stage.vector import Unlisted
from noisewright.sample.certified import make_certified
from tests.release.tables import arrow, hostile
from tests.statistical.tests_of_fit import sf

KEYS = nw.keys("k", private=True)
PRIVACY = nw.ApproxDP(4, "1e-4")


def table(large: int = 300) -> pa.Table:
    """Two large groups, one of three persons, NULL keys, and a person with a hundred rows."""
    rows = [(i, "Ä" if i % 2 else "Z") for i in range(large)]
    rows += [(i, "rare illness") for i in range(3)] + [(i, None) for i in range(large)] + [(large, "Z")] * 100
    return pa.table({"id": [i for i, _ in rows], "k": [k for _, k in rows], "x": [float(i % 9) for i, _ in rows]})


def dataset(folder: Path, source: Any = None, **more: Any) -> nw.Dataset:
    chosen = {"groups_per_person": 2, **more}
    data = table() if source is None else source
    return nw.Dataset(data, "id", name="x", budget=nw.ApproxDP(20, "1e-3"), ledger=folder / "x.ledger", **chosen)


def rows(data: nw.Dataset) -> list[Any]:
    """Everything that stands in the ledger."""
    assert data.ledger is not None
    return list(data.ledger.rows())


def charges(data: nw.Dataset) -> list[Any]:
    return [row for row in rows(data) if row["event"] == "charge"]


@pytest.mark.parametrize(("text_units", "most"), [(False, 1), (True, 2)])
def test_persons_rows_and_sums_by_key_equal_those_by_hand(text_units: bool, most: int):
    """Nobody has more groups than count, and rows are limited: persons are exact, rows are the smaller of two."""
    listed = hostile(300, 12, 3, text_units=text_units)
    own = nw.Dataset(arrow(listed, text_units=text_units), "id", rows_per_group=most, groups_per_person=20)
    keys = nw.keys(["k", "b"], private=True)
    edges = nw.ask.histogram("f", edges=[0, 50, 150], by=keys)
    layout = layout_of([nw.ask.persons(by=keys), nw.ask.variance("f", bounds=(0, 9), by=keys), edges], own.limits)
    persons, sums, bins = own._checked.true_aggregates(layout, 7)
    by_hand: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in listed:
        if row["id"] is not None and row["k"] is not None and row["b"] is not None:
            by_hand[row["k"], row["b"]][row["id"]] += 1
    assert persons == {key: (len(own),) for key, own in by_hand.items()}
    assert ("", True) in persons
    assert sums.keys() == by_hand.keys()
    assert all(numbers[0] <= sum(min(n, most) for n in by_hand[key].values()) for key, numbers in sums.items())
    assert set(bins) <= set(by_hand)
    assert all(len(numbers) == 2 for numbers in bins.values())


@pytest.mark.parametrize(("text_units", "rows", "groups"), [(False, 1, 1), (True, 2, 2)], ids=["one", "two"])
def test_leaving_a_person_out_changes_no_more_than_was_declared(text_units: bool, rows: int, groups: int):
    """Many tables at once, each with keys of its own; one person of each is left out."""
    count, people, random = 80, 4, Random(rows + 2 * groups)
    listed = []
    for place in range(count):
        for row in hostile(random.randrange(1, 14), people, random.randrange(10**9)):
            person = random.randrange(people)
            unit = f"{place}/{person}" if text_units else place * people + person
            listed.append({**row, "w": place, "id": unit, "person": person, "k": random.choice(["A", "a", "B", None])})
    keys = nw.keys(["w", "k"], private=True)
    asked = [nw.ask.persons(by=keys), nw.mean("f", bounds=(3, 120), step=1, by=keys), nw.count(by=keys)]
    asked.append(nw.ask.histogram("t", edges=[-10, 0, 200], by=keys))
    asked.append(nw.ask.sum("f", bounds=(0, 50), step=1, person_bounds=(0, 60), by=keys))

    def vector(without: int | None) -> tuple[Any, list[Any]]:
        own = arrow([row for row in listed if row["person"] != without], text_units=text_units)
        data = nw.Dataset(own, "id", rows_per_group=rows, groups_per_person=groups)
        layout = layout_of(asked, data.limits)
        return layout, data._checked.true_aggregates(layout, 5)

    layout, everybody = vector(None)
    changed, full = 0, 0
    for person in range(2):
        for part, whole, rest in zip(layout.tables, everybody, vector(person)[1], strict=True):
            difference = whole - rest
            for place in range(count):
                own = Unlisted({key: numbers for key, numbers in difference.items() if key[0] == place})
                assert part.holds([own]), (part.grouping, own)
                changed += bool(own)
                full += not replace(part, groups=part.groups - 1).holds([own])
    assert changed > 200
    assert full > 80, "a person is in as many groups as were declared"


def test_what_is_published_is_stored_and_nothing_else_is(tmp_path: Path):
    data = dataset(tmp_path)
    plan = data.plan(nw.ask.persons(by=KEYS), nw.ask.sum("x", bounds=(0, 9), step=1, by=KEYS), privacy=PRIVACY)
    first = plan.release().to_pandas()
    assert list(first["k"]) == ["Z", "Ä"] * 2, "by bytes, and neither NULL nor three persons"
    assert abs(first["value"][0] - 151) <= end_of(plan.blocks[0].certified), "a hundred rows are one person"
    assert (first["low"] <= first["value"]).all()
    assert (first["value"] <= first["high"]).all()
    assert plan.release().to_pandas().equals(first)
    assert dataset(tmp_path).plan(*plan.questions, privacy=PRIVACY).release().to_pandas().equals(first)
    (charge,) = charges(data)
    assert charge["place"] == first["charge"][0]
    kept = json.dumps(rows(data), ensure_ascii=False) + "".join(
        path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()
    )
    assert "tÄ" in kept
    assert "rare illness" not in kept
    assert plan.selfcheck(1).startswith("held for 1 persons")


def test_answers_about_private_groups_are_made_tidy(tmp_path: Path):
    """Bins that nobody is in have noise around zero; published numbers of persons are positive as they are."""
    asked = [nw.ask.persons(by=KEYS), nw.ask.histogram("x", edges=[0, 9, *range(20, 60)], by=KEYS)]
    plan = dataset(tmp_path).plan(*asked, privacy=nw.ApproxDP(1, "1e-4"))
    rows = plan.release(post=["non-negative"]).to_pylist()
    bins = [row for row in rows if row["question"] == "histogram of x"]
    assert len(bins) == 2 * 41
    assert min(row["value"] for row in bins) < 0 <= min(row["post_value"] for row in bins)
    assert all(row["post_low"] <= row["post_value"] <= row["post_high"] for row in rows)
    assert all(row["post_value"] == row["value"] for row in rows if row["question"] == "persons")
    with pytest.raises(nw.errors.InvalidQueryError, match="no totals"):
        plan.release(post=["totals"])


def test_what_a_ledger_holds_instead_of_groups_is_not_believed(tmp_path: Path):
    data = dataset(tmp_path)
    plan = data.plan(nw.ask.persons(by=KEYS), privacy=PRIVACY)
    part = plan.layout.tables[0]
    assert SELECTING.restored(part, [[[["tA"], ["5", "4", "6"]]]]) == [((("A",), (5, 4, 6)),)]
    for wrong in ("x", [[["A"], ["5", "4", "6"]]], [[["tA"], ["5"]]], [[["tA", "tB"], ["5", "4", "6"]]], [["5"]], 3):
        with pytest.raises((TypeError, ValueError)):
            SELECTING.restored(part, [wrong])
    assert data.ledger is not None
    with data.ledger.charge(plan.blocks[0].certified, reason=f"plan {plan.key}") as charge:
        charge.answered([[["forged", ["5", "4", "6"]]]])
    assert "forged" not in list(plan.release().to_pandas()["k"])


def test_keys_of_every_kind_come_back_as_they_are(tmp_path: Path):
    days = pa.array([date(2024, 2, 29)] * 60 + [date(1, 1, 1)] * 60)
    kinds = pa.table({"id": range(120), "d": days, "n": [-5, 7] * 60, "b": [True] * 120, "t": ["", "x,y\n"] * 60})
    asked = [nw.count(by=nw.keys(column, private=True), name=column) for column in "dnbt"]
    asked.append(nw.count(by=nw.keys(["b", "n", "t"], private=True), name="all"))
    plan = dataset(tmp_path, kinds).plan(*asked, privacy=nw.ApproxDP(10, "4e-4"))
    first = plan.release().to_pylist()
    for column in "dnbt":
        own = [row[column] for row in first if row["question"] == column]
        assert own == sorted(set(kinds[column].to_pylist()))
    whole = [tuple(row[name] for name in "bnt") for row in first if row["question"] == "all"]
    assert whole == [(True, -5, ""), (True, 7, "x,y\n")]
    assert plan.release().to_pylist() == first, "as the ledger keeps them"


def test_no_day_breaks_a_release(tmp_path: Path):
    """Days that Python has no date for are no key: an error after the charge would tell that they are there."""
    import duckdb

    base = tmp_path / "x.duckdb"
    with duckdb.connect(str(base)) as made:
        made.execute("CREATE TABLE v AS SELECT i AS id, DATE '2024-01-01' AS d FROM range(60) t(i)")
        for place, day in enumerate(["infinity", "-infinity", "44-03-15 (BC)", "12024-01-01"]):
            made.execute("INSERT INTO v VALUES (?, CAST(? AS DATE))", [90 + place, day])
    data = dataset(tmp_path, f"{base}::v")
    plan = data.plan(nw.count(by=nw.keys("d", private=True)), privacy=PRIVACY)
    (found,) = data._checked.true_aggregates(plan.layout, 1)
    assert found == {(date(2024, 1, 1),): (60,)}
    assert len(plan.release(frame="pyarrow")) == 1


def test_rows_are_the_persons_where_each_has_one(tmp_path: Path):
    one = layout_of([nw.count(by=KEYS), nw.ask.persons(by=KEYS)], ContributionBounds(1, 3, False))
    assert [(part.strategy, part.groups) for part in one.tables] == [(SELECTING, 3)]
    two = layout_of([nw.count(by=KEYS), nw.ask.persons(by=KEYS)], ContributionBounds(2, 3, False))
    assert [(part.strategy, part.groups) for part in two.tables] == [(SELECTING, 3), (FOLLOWING, 3)]
    assert [part.sensitivities for part in two.tables] == [(1,), (2,)]
    bins = layout_of([nw.ask.histogram("x", edges=[0, 1, 2], by=KEYS)], ContributionBounds(1, 1, False))
    assert [part.strategy for part in bins.tables] == [SELECTING, FOLLOWING]
    single = dataset(tmp_path, table(200).slice(0, 200), groups_per_person=1, one_row_per_person=True)
    answers = single.plan(nw.count(by=KEYS), privacy=PRIVACY).release().to_pylist()
    assert [row["k"] for row in answers] == ["Z", "Ä"]


def test_other_answers_are_drawn_for_the_published_groups_alone():
    layout = layout_of(
        [nw.ask.persons(by=KEYS), nw.ask.sum("x", bounds=(0, 9), step=1, by=KEYS)], ContributionBounds(1, 1, False)
    )
    noise = designed(layout, PRIVACY, nw.SquaredError(), {})
    persons = Unlisted({("c",): (700,), ("a",): (500,), ("b",): (1,)})
    first, second = drawn(noise.blocks, layout, [persons, Unlisted({("a",): (10**6,), ("b",): (10**6,)})])
    assert [key for key, _ in first] == [key for key, _ in second] == [("a",), ("c",)]
    assert second[0][1][0] > 10**5 > abs(second[1][1][0]), "a published group without a row has noise around zero"
    assert drawn(noise.blocks, layout, [Unlisted(), Unlisted()]) == [(), ()]
    with pytest.raises(nw.errors.UncertifiedError, match="groups are chosen once"):
        FOLLOWING.after(layout.tables[1], [Unlisted()], [])


def test_the_choice_and_the_rest_are_proven_together():
    privacy, many = nw.ApproxDP(2, "1e-5"), 12
    layout = layout_of(
        [nw.ask.persons(by=KEYS), nw.count(by=KEYS), nw.count(name="all")], ContributionBounds(2, many, False)
    )
    splitter = Splitter(layout, privacy, nw.SquaredError(), {})
    added, *composed = splitter.tried()
    assert len(composed) == 2
    for noise in (added, *composed):
        charge = price_of(noise.blocks, layout)
        assert charge.delta(2) <= privacy.delta
        assert [part.groups for part, _ in charge.parts] == [many, many, 1]
    assert min(map(splitter.merit, composed)) < splitter.merit(added) - 0.2, "composed, every draw gets more"
    few = layout_of([nw.ask.persons(by=KEYS)], ContributionBounds(1, 2, False))
    blocks = designed(few, privacy, nw.SquaredError(), {}).blocks
    chosen = price_of(blocks, few)
    assert chosen.groups == 2
    assert chosen.delta(2) <= privacy.delta
    with pytest.raises(nw.errors.UncertifiedError, match="not proven to keep"):
        price_within(blocks, few, nw.ApproxDP("1.99", "1e-5"))
    with pytest.raises(nw.errors.UncertifiedError, match="not proven to keep"):
        price_within(blocks, few, nw.ApproxDP(2, "1e-6"))


def test_weights_move_the_split():
    layout = layout_of(
        [nw.ask.persons(by=KEYS), nw.ask.sum("x", bounds=(0, 9), by=KEYS)], ContributionBounds(1, 1, False)
    )

    def found(weights: dict[str, Any]) -> tuple[int, float]:
        noise = designed(layout, nw.ApproxDP(1, "1e-5"), nw.SquaredError(), weights)
        return persons_for(noise.blocks[0].certified.mechanism.law, Fraction(1, 2)), noise.errors[1]

    even, persons = found({}), found({"persons": 5})
    assert persons[0] < even[0] <= 24
    assert persons[1] > even[1]
    assert found({"sum of x": 5})[0] > even[0]


def test_the_choice_with_another_answer_keeps_the_requirement_exactly():
    """Noise of the choice and of the rows of one group, enumerated together through the code that releases."""
    privacy = nw.ApproxDP(2, "0.02")
    layout = layout_of([nw.ask.persons(by=KEYS), nw.count(by=KEYS)], ContributionBounds(2, 1, False))
    blocks = designed(layout, privacy, nw.SquaredError(), {}).blocks
    first, second = (block.certified.mechanism for block in blocks)
    most, far = end_of(blocks[0].certified), 60
    mass = {k: sf(second.noise, k - 1) - sf(second.noise, k) for k in range(-far, far + 1)}
    assert math.fsum(mass.values()) == pytest.approx(1, abs=1e-9)

    def law(persons: int, rows: int) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for x in range(-most, most + 1):
            weight = first.law.weight(x) / first.law.total
            truth = [Unlisted({("a",): (persons,)}), Unlisted({("a",): (rows,)})] if persons else [Unlisted()] * 2
            for z in mass if persons + x > most else [0]:
                fixed = [_fixed(block, move) for block, move in zip(blocks, (x, z), strict=True)]
                out = tuple(drawn(fixed, layout, truth))
                found[out] += weight * (mass[z] if persons + x > most else 1.0)
        return found

    largest = 0.0
    for persons, rows, more in ((0, 0, 1), (0, 0, 2), (1, 2, 2), (2, 3, 2), (5, 8, 1)):
        one, other = law(persons, rows), law(persons + 1, rows + more)
        for a, b in ((one, other), (other, one)):
            found = math.fsum(max(0.0, p - math.exp(2) * b[o]) for o, p in a.items())
            assert found <= 0.02 + 1e-9
            largest = max(largest, found)
    assert largest > 0.004


def _fixed(block: Any, noise: int) -> Any:
    certified = SimpleNamespace(
        mechanism=block.certified.mechanism, release_many=lambda answers, entropy: [a + noise for a in answers]
    )
    return replace(block, certified=certified)


def test_a_plan_is_saved_proven_again_and_no_other_noise_is_taken(tmp_path: Path, capsys):
    data = dataset(tmp_path)
    plan = data.plan(nw.ask.persons(by=KEYS), nw.ask.sum("x", bounds=(0, 9), step=1, by=KEYS), privacy=PRIVACY)
    path = tmp_path / "plan.json"
    plan.save(path)
    assert str(data.load_plan(path)) == str(plan)
    verify(path)
    assert "approximate differential privacy, epsilon = 4" in capsys.readouterr().out
    content = json.loads(path.read_text())
    content["dataset"]["limits"]["groups_per_person"] = 3
    content["digest"] = digest({name: value for name, value in content.items() if name != "digest"})
    path.write_text(json.dumps(content))
    with pytest.raises(nw.errors.MechanismFileError, match="not proven to keep the requirement"):
        nw.Plan.load(path)
    query = plan.blocks[0].certified.mechanism.query
    endless = Additive(query, DiscreteGaussian(8), Lattice.integers())
    wrong = replace(plan.blocks[0], certified=make_certified(endless, nw.ApproxDP(1, "1e-6")))
    forged = replace(plan, blocks=(wrong, *plan.blocks[1:]))
    with pytest.raises(nw.errors.MechanismFileError, match="answers another question"):
        forged.release()
    assert not charges(data)
    with pytest.raises(nw.errors.UncertifiedError, match="noise that ends"):
        SELECTING.drawn(wrong.certified, plan.layout.tables[0], [Unlisted({("a",): (1,)})], None)


def test_the_plan_says_how_many_persons_a_group_needs(tmp_path: Path):
    data = dataset(tmp_path, groups_per_person=1)
    plan = data.plan(nw.ask.sum("x", bounds=(0, 9), step=1, by=KEYS), privacy=nw.ApproxDP(1, "1e-5"))
    alone = data.plan(nw.count(by=KEYS), privacy=nw.ApproxDP(1, "1e-5"))
    told = "groups are chosen privately; a group of 12 persons is published with a chance of at least 50 %, of 14"
    assert told in str(alone)
    assert "sum of x  private" in str(plan)
    assert "which groups, k (chosen privately)" in str(plan)
    assert "chosen privately" in plan._repr_html_()


REFUSED = [
    (lambda data: data.plan(nw.count(by=KEYS), privacy=nw.PureDP(1)), "need a delta.*nw.ApproxDP.*list the keys"),
    (lambda data: data.plan(nw.count(by=KEYS), privacy=nw.ZeroConcentratedDP(1)), "need a delta"),
    (lambda data: data.plan(nw.count(by=KEYS), privacy=nw.RenyiDP(2, 1)), "need a delta"),
    (lambda data: data.plan(nw.count(by=KEYS), privacy=nw.ApproxDP("1e-4", "1e-5")), "fewer groups_per_person"),
    (lambda data: data.plan(nw.count(by=KEYS), targets={"count": 5}, delta="1e-5"), "for listed keys"),
    (lambda data: data.plan(nw.count(by=KEYS), budgets={"count": PRIVACY}), "for listed keys"),
    (lambda data: data.plan(nw.count(by=nw.keys("x", private=True)), privacy=PRIVACY), "'x' holds float64"),
    (lambda data: data.plan(nw.count(by=nw.keys("y", private=True)), privacy=PRIVACY), "no column 'y'"),
    (lambda data: nw.keys("k", ["a"], private=True), "have no values"),
    (lambda data: nw.keys({"k": ["a"]}, private=True), "have no values"),
    (lambda data: nw.keys("k", private=1), "private is 1; give True or False"),
    (lambda data: nw.keys(["k", "k"], private=True), "twice"),
]


@pytest.mark.parametrize(("ask", "told"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_meant_is_refused_before_anything_is_spent(tmp_path: Path, ask: Any, told: str):
    data = dataset(tmp_path)
    with pytest.raises((nw.errors.InvalidInputError, nw.errors.InvalidTableError), match=told):
        ask(data)
    assert not charges(data)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_numbers_of_listed_groups_stay_in_their_places_around_those_that_are_chosen(order: tuple[int, ...]):
    frame = pa.table({"id": [1, 2, 3, 4, 5], "k": ["x", "x", "y", "y", "y"], "w": ["A", "B", "B", "B", "B"]})
    data = nw.Dataset(frame, "id", name="x", rows_per_group=1)
    wards, kinds = nw.keys("w", ["A", "B"]), nw.keys("k", private=True)
    asked = [nw.count(by=wards, name="wards"), nw.count(by=kinds, name="kinds"), nw.count()]
    found = data._checked.true_aggregates(layout_of([asked[i] for i in order], data.limits), 1)
    places = [place for place, one in enumerate(found) if not isinstance(one, int)]
    before = order[: order.index(1)]
    assert places == [sum(2 if i == 0 else 1 for i in before)]
    numbers = {0: [1, 4], 2: [5]}
    assert [one for one in found if isinstance(one, int)] == [n for i in order if i != 1 for n in numbers[i]]
