"""Groups by listed keys of every kind, where every row counts: the same numbers on every engine, and one reading."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.engines.loading import load
from tests.release.tables import FLOATS

COLUMNS = {"id": "whole", "f": "double", "w": "whole", "k": "text", "b": "boolean", "day": "date"}
TEXTS = ["A", "a", "A ", "", "ß", "\\", '{"\\,}', "'", "%s", "NULL", "日本", "no\nline", "e\u0301", "é"]
FAR = [-(2**63), -1, 0, 1, 7, 2**31, 2**62, 2**63 - 1]
FIRST = date(2026, 1, 1)
KEYS = {
    "texts": nw.keys("k", [*TEXTS[:11], "nobody"]),
    "two texts": nw.keys("k", ["a", "é"]),
    "whole numbers side by side": nw.keys("w", range(-2, 9)),
    "whole numbers far apart": nw.keys("w", [*FAR, 12345, *range(100, 130, 3)]),
    "one whole number": nw.keys("w", [2**63 - 1]),
    "truth values": nw.keys("b", [True]),
    "days": nw.keys("day", [FIRST + timedelta(days=step) for step in range(0, 40, 3)]),
    "several columns": nw.keys({"w": [0, 1, 2**62], "b": [False, True], "k": ["A", "ß", "\\"]}),
}


def table() -> list[dict[str, Any]]:
    """Rows of listed keys, of others and of none; some belong to nobody."""
    return [
        {
            "id": None if place % 11 == 0 else place,
            "f": FLOATS[place % len(FLOATS)],
            "w": None if place % 29 == 0 else FAR[place % len(FAR)] if place % 3 else place % 140 - 5,
            "k": None if place % 31 == 0 else TEXTS[place % len(TEXTS)],
            "b": [True, False, None][place % 3],
            "day": None if place % 37 == 0 else (FIRST - date(1970, 1, 1)).days + place % 50,
        }
        for place in range(2000)
    ]


@pytest.fixture(scope="module")
def loaded(engine: Any) -> Any:
    return load(engine, COLUMNS, table())


def in_python(row: dict[str, Any], column: str) -> Any:
    return row[column] if column != "day" or row["day"] is None else date(1970, 1, 1) + timedelta(days=row["day"])


@pytest.mark.parametrize("name", KEYS)
def test_every_row_of_a_listed_key_counts_and_no_other(loaded: Any, name: str):
    keys = KEYS[name]
    data = nw.Dataset(loaded, "id", name="x", one_row_per_person=True)
    bins = nw.ask.histogram("f", edges=[0, 1, 2, 200], by=keys)
    found = data._checked.true_aggregates(layout_of([nw.count(by=keys), bins], data.limits), 1)
    rows = [row for row in table() if row["id"] is not None]
    wanted, binned = [], []
    for key in keys.rows:
        own = [row["f"] for row in rows if tuple(in_python(row, column) for column in keys.columns) == key]
        wanted.append(len(own))
        values = [f for f in own if f is not None]
        binned += [sum(low <= f < high for f in values) for low, high in ((0, 1), (1, 2), (2, 200))]
    assert found == [*wanted, *binned]
    assert any(wanted)


def test_whole_numbers_are_clamped(loaded: Any):
    data = nw.Dataset(loaded, "id", name="x")
    engine = data._source.engine
    whole = data._table.w
    asked = data._table.filter(whole.notnull()).select(w=whole, z=engine.clamped(whole, -1, 2**31))
    found = engine.fetch(asked).to_pydict()
    assert found["z"] == [min(max(w, -1), 2**31) for w in found["w"]]
    assert {-1, 7, 2**31} <= set(found["z"])
