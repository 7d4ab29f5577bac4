"""The falsifier on every engine but DuckDB, where the suite of the release room runs it: many tables in one query."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.loading import load
from tests.release.test_neighbours import check

KINDS = {"id": "whole", "f": "double", "t": "text", "w": "whole", "k": "text", "b": "boolean", "day": "date"}


def tried(engine: Any, text_units: bool, salt: int, count: int) -> None:
    """Leave each person out of each of so many tables."""

    def made(rows: list[dict[str, Any]], *, text_units: bool) -> Any:
        kinds = {**KINDS, "id": "text"} if text_units else KINDS
        return load(engine, kinds, [{name: row[name] for name in kinds} for row in rows])

    check(text_units, 2, 2, salt, count=count, made=made)


def test_leaving_a_person_out_changes_no_more_than_was_declared(engine: Any):
    if engine.name != "duckdb":
        tried(engine, True, 99, 60)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("text_units", [False, True])
def test_a_thousand_tables(engine: Any, text_units: bool):
    tried(engine, text_units, 7, 500)
