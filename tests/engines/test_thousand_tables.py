"""The falsifier on every engine with other limits, and where every row is a person: the number of a table is a key.

Whoever is left out, the whole numbers change by an element of the declared set. Each batch is one table of the engine,
and leaving one person out of all tables of a batch is one evaluation of every question.
"""

from __future__ import annotations

from typing import Any

import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.engines.loading import load
from tests.engines.test_neighbours import KINDS
from tests.release.test_neighbours import PERSONS, blocks, check, more_questions, questions, tables


def single(count: int, seed: int) -> list[dict[str, Any]]:
    """Tables in which nobody has a second row."""
    first: dict[int, dict[str, Any]] = {}
    for row in tables(count, seed, text_units=False):
        first.setdefault(row["id"], row)
    return list(first.values())


def every_row_is_a_person(engine: Any, count: int, seed: int) -> None:
    """Leave each person out of each of so many tables where the owner declared one row for each."""
    listed = single(count, seed)
    asked = [*questions(count), *more_questions(count)]

    def numbers(without: int | None) -> list[Any]:
        own = [{name: row[name] for name in KINDS} for row in listed if row["id"] % PERSONS != without]
        data = nw.Dataset(load(engine, KINDS, own), "id", name="x", one_row_per_person=True)
        layout = layout_of(asked, data.limits)
        return [layout, *layout.split(data._checked.true_aggregates(layout, seed))]

    everybody = numbers(None)
    changed, full = 0, 0
    for person in range(PERSONS):
        for part, all_of, rest in zip(everybody[0].tables, everybody[1:], numbers(person)[1:], strict=True):
            for whole, left in zip(blocks(part, all_of, count), blocks(part, rest, count), strict=True):
                difference = [a - b for a, b in zip(whole, left, strict=True)]
                assert part.holds(difference), (part.grouping, difference)
                changed += any(difference)
                full += any(abs(d) == part.sensitivities[i % len(part.aggregates)] for i, d in enumerate(difference))
    assert changed > 10 * count
    assert full > count, "the declared set is not far too large"


def test_leaving_a_row_out_changes_no_more_than_was_declared(engine: Any):
    if engine.name != "pyspark":  # each query of Spark takes a part of a second, however small: below, with the others
        every_row_is_a_person(engine, 40, 3)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(2))
def test_a_thousand_tables_in_which_every_row_is_a_person(engine: Any, seed: int):
    every_row_is_a_person(engine, 500, seed)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("rows", "groups", "text_units"), [(1, 1, False), (3, 2, True), (1, 3, False), (4, 1, True)])
def test_a_thousand_tables_of_other_limits(engine: Any, rows: int, groups: int, text_units: bool):
    def made(rows: list[dict[str, Any]], *, text_units: bool) -> Any:
        kinds = {**KINDS, "id": "text"} if text_units else KINDS
        return load(engine, kinds, [{name: row[name] for name in kinds} for row in rows])

    check(text_units, rows, groups, 11, count=250, made=made)
