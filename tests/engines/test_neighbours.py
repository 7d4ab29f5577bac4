"""The falsifier on every engine but DuckDB, where the suite of `release` runs it: many tables in one query."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.loading import load
from tests.release.test_neighbours import check, more_questions, questions

KINDS = {"id": "whole", "f": "double", "t": "text", "w": "whole", "k": "text", "b": "boolean", "day": "date"}


def some_questions(count: int) -> list[Any]:
    """One of each way to limit and to add: a query of Spark takes a part of a second, however small the tables are."""
    all_of, more = questions(count), more_questions(count)
    return [all_of[1], all_of[2], all_of[6], all_of[9], all_of[11], more[1]]


def tried(engine: Any, text_units: bool, salt: int, count: int, **some: Any) -> None:
    """Leave each person out of each of so many tables."""

    def made(rows: list[dict[str, Any]], *, text_units: bool) -> Any:
        kinds = {**KINDS, "id": "text"} if text_units else KINDS
        return load(engine, kinds, [{name: row[name] for name in kinds} for row in rows])

    check(text_units, 2, 2, salt, count=count, made=made, **some)


def test_leaving_a_person_out_changes_no_more_than_was_declared(engine: Any):
    if engine.name == "postgres":
        tried(engine, True, 99, 60)
    if engine.name == "pyspark":  # as many neighbours, in more tables of which one person is left out
        tried(engine, True, 99, 240, persons=1, asked=some_questions)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("text_units", [False, True])
def test_a_thousand_tables(engine: Any, text_units: bool):
    tried(engine, text_units, 7, 500)
