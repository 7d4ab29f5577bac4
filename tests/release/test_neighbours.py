"""The falsifier: whoever is left out, the true numbers change by an element of the declared set.

Hundreds of random tables are evaluated at once: each has persons and groups of its own, so that leaving one person out
of every table is one query. The limits are those of each person in each table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.release.ask.registry import QUESTIONS
from noisewright.release.ask.weighted import Weighted
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import AnswerTable
from noisewright.release.plan.strategies.in_bounds import InBounds
from noisewright.release.stage import contribution_bounding as limiting, vector as aggregate
from tests.release.tables import arrow, hostile

PERSONS = 4


def tables(count: int, seed: int, *, text_units: bool) -> list[dict[str, Any]]:
    """Small tables one after the other: `place` says which, and units begin with it."""
    random = Random(seed)
    rows = []
    for place in range(count):
        for row in hostile(random.randrange(1, 14), PERSONS, random.randrange(10**9)):
            person = random.randrange(PERSONS)
            unit = place * PERSONS + person
            day = random.choice([None, 2**31 - 1, random.randrange(20_450, 20_580)])
            own = {"w": place, "id": f"{place}/{person}" if text_units else unit, "k": random.choice("AaB"), "day": day}
            rows.append({**row, **own})
    return rows


def questions(count: int) -> list[Any]:
    places = nw.keys("w", range(count))
    both = nw.keys({"w": range(count), "k": ["A", "a"]})
    only_a = nw.keys({"w": range(count), "k": ["a"]})
    return [
        nw.count(by=places),
        nw.ask.persons(by=places),
        nw.ask.variance("f", bounds=(-10, 100), step="0.5", by=places),
        nw.ask.sum("t", bounds=(-3, 50), step=1, by=both),
        nw.mean("f", bounds=(3, 120), step=1, by=both),
        nw.ask.persons(by=both, name="persons by both"),
        nw.ask.sum("f", bounds=(-10, 100), step=1, by=both, person_bounds=(-4, 3), name="by person"),
        nw.ask.sum("t", bounds=(-3, 50), step=1, by=only_a, person_bounds=(0, 60), name="alone by person"),
        nw.ask.histogram("t", edges=[-10, 0, 10, 200], by=places),
        nw.ask.proportion("k", ["a", "b"], by=places),
        nw.count(by=places, name="in bounds", outputs=(-20, 30), inputs=(1, 3)),
        nw.ask.sum("t", bounds=(-3, 50), step=2, by=both, name="sum in bounds", outputs=(-300, 400), inputs=(10, 120)),
        nw.ask.quantiles("f", ["0.5"], bounds=(0, 120), step=40, by=both),
        nw.ask.workload("ranges", keys=nw.keys("k", ["A", "a", "B"]), by=places),
    ]


def more_questions(count: int) -> list[Any]:
    """Questions about bins: of time, of persons, over powers of two."""
    places = nw.keys("w", range(count))
    powers = [-(2**9), -(2**4), -1, 0, 1, 2**4, 2**9]
    return [
        nw.ask.histogram("day", every="month", start="2026-01-01", end="2026-05-01", by=places),
        nw.ask.histogram(
            "day", every="week", start="2026-01-05", end="2026-02-02", persons=True, by=places, name="weeks"
        ),
        nw.ask.histogram("f", edges=powers, persons=True, by=places, name="bounds"),
        nw.ask.sum("f", bounds=(-10, 100), step=3, centred=True, by=places, name="centred"),
        nw.ask.top("w", 1, by=places),
    ]


TRIED_ELSEWHERE = {
    Weighted.CARD.kind: "test_weighed.py::test_a_person_who_changes_moves_the_histogram_from_one_element_to_another"
}
"""Kinds of questions that the tables below cannot ask, and the test that tries their sensitivity."""


def test_every_kind_of_question_is_tried():
    asked = {question.CARD.kind for question in [*questions(3), *more_questions(3)]}
    assert asked | set(TRIED_ELSEWHERE) == set(QUESTIONS.kinds)


def with_days(rows: list[dict[str, Any]], *, text_units: bool) -> Any:
    """The rows as an Arrow table, with a day for each."""
    days = pa.array([row["day"] for row in rows], pa.int32()).cast(pa.date32())
    return arrow(rows, text_units=text_units).append_column("day", days)


def blocks(part: AnswerTable, vector: Any, count: int) -> Iterator[list[int]]:
    """The numbers of each of the small tables."""
    each = len(vector) // count
    for place in range(count):
        yield list(vector[place * each : (place + 1) * each])


@pytest.mark.parametrize(
    ("text_units", "rows", "groups", "local"),
    [(False, 1, 1, True), (True, 2, 2, True), (True, 2, 1, False)],
    ids=["one", "more", "by windows"],
)
def test_leaving_a_person_out_changes_no_more_than_was_declared(
    text_units: bool, rows: int, groups: int, local: bool, monkeypatch
):
    monkeypatch.setattr(DuckDB, "in_process", local)
    check(text_units, rows, groups, 99, count=60)


@pytest.mark.soak
def test_questions_with_budgets_of_their_own_change_no_more_than_was_declared():
    check(False, 2, 2, 5, count=20, apart=True)


def check(
    text_units: bool,
    rows: int,
    groups: int,
    salt: int,
    *,
    count: int,
    apart: bool = False,
    persons: int = PERSONS,
    made: Callable[..., Any] = with_days,
    asked: Callable[[int], list[Any]] = lambda count: [*questions(count), *more_questions(count)],
) -> None:
    """Of so many random tables, leave each of the first `persons` out of each; `made` makes a source of rows."""
    listed = tables(count, 7 + rows + groups + salt, text_units=text_units)

    def vector(without: int | None) -> list[Any]:
        own = [row for row in listed if without is None or _person(row) != without]
        table = made(own, text_units=text_units)
        data = nw.Dataset(table, "id", rows_per_group=rows, groups_per_person=groups)
        limited = layout_of(asked(count), data.limits, apart=apart)
        return [limited, *limited.split(data._checked.true_aggregates(limited, salt))]

    everybody = vector(None)
    changed, full, clamped = 0, 0, 0
    for person in range(persons):
        left = vector(person)
        for part, all_of, rest in zip(everybody[0].tables, everybody[1:], left[1:], strict=True):
            pairs = zip(blocks(part, all_of, count), blocks(part, rest, count), strict=True)
            for whole, without in pairs:
                difference = [a - b for a, b in zip(whole, without, strict=True)]
                assert part.holds(difference), (part.grouping, difference)
                if isinstance(part.strategy, InBounds):
                    moved = [
                        part.strategy.clamped(a) - part.strategy.clamped(b) for a, b in zip(whole, without, strict=True)
                    ]
                    assert max(map(abs, moved)) <= part.strategy.query(part).sensitivity
                    clamped += moved != difference
                changed += any(difference)
                full += not _smaller(part).holds(difference)
    assert changed > 300
    assert clamped > 10, "clamping to the inputs changed something"
    assert full > 60, "a set with one unit less in every number would not hold: the declared one is not far too large"


def _person(row: dict[str, Any]) -> int:
    return int(row["id"].partition("/")[2]) if isinstance(row["id"], str) else row["id"] % PERSONS


def _smaller(part: AnswerTable) -> Any:
    """The same table with a set that is a little too small: counts may change by one less."""

    class Smaller:
        def holds(self, difference: list[int]) -> bool:
            each = part.together
            if each > 1:
                groups = [difference[start : start + each] for start in range(0, len(difference), each)]
                return all(sum(map(abs, group)) < part.rows for group in groups)
            width = len(part.aggregates)
            return all(abs(d) < part.sensitivities[i % width] for i, d in enumerate(difference))

    return Smaller()


def test_the_falsifier_finds_a_limit_that_is_not_kept(monkeypatch):
    data = nw.Dataset(arrow([{**row, "id": 1} for row in hostile(40, 1, 5)]), "id", name="x")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert plan.selfcheck(3).startswith("held for 1 persons")
    kept = limiting.kept_rows
    monkeypatch.setattr(aggregate, "kept_rows", lambda u, k, c, s, rows, *rest: kept(u, k, c, s, rows + 1, *rest))
    with pytest.raises(nw.errors.UncertifiedError, match="changed the numbers by more than the plan allows"):
        plan.selfcheck(3)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(6))
def test_a_thousand_tables(seed: int):
    for text_units, rows, groups in ((False, 1 + seed % 3, 1 + seed % 2), (True, 1 + seed % 2, 1 + seed % 3)):
        check(text_units, rows, groups, 1000 + seed, count=100)
