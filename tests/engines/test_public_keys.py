"""Keys that a public table of the engine lists are its different values, whatever the engine."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.engines.loading import load

ROWS = [
    {"id": 1, "k": "a", "d": 0},
    {"id": 2, "k": "A", "d": 19_000},
    {"id": 3, "k": "ß'\\", "d": 0},
    {"id": 4, "k": None, "d": -1},
    {"id": 4, "k": "a", "d": None},
]


def test_the_keys_of_a_public_table_are_its_different_values(engine: Any):
    table = load(engine, {"id": "whole", "k": "text", "d": "date"}, ROWS)
    assert nw.keys("k", table).rows == (("A",), ("a",), ("ß'\\",))
    assert nw.keys("d", table).rows == ((date(1969, 12, 31),), (date(1970, 1, 1),), (date(2022, 1, 8),))
    assert nw.keys(["id", "k"], table).rows == ((1, "a"), (2, "A"), (3, "ß'\\"), (4, "a"))
    with pytest.raises(nw.errors.InvalidInputError, match="kk"):
        nw.keys("kk", table)


def test_what_can_be_no_key_is_said(engine: Any):
    table = load(engine, {"id": "whole", "d": "date", "x": "double"}, [{"id": 1, "d": 4_000_000, "x": 0.5}])
    with pytest.raises(nw.errors.InvalidQueryError, match="beyond what keys can be, such as a day after the year 9999"):
        nw.keys("d", table)
    with pytest.raises(nw.errors.InvalidQueryError, match=r"'x' .* of type float64; keys are text, whole numbers"):
        nw.keys("x", table)


@pytest.mark.parametrize(
    "hows", [("semi", "semi"), ("semi", "anti", "semi"), ("anti", "left", "anti", "semi"), ("anti", "semi") * 2]
)
def test_semi_and_anti_joins_one_after_the_other_are_all_asked(engine: Any, hows: tuple[str, ...]):
    rows = [{"id": place, "k": "abcd"[place % 4]} for place in range(24)]
    data = nw.Dataset(
        load(engine, {"id": "whole", "k": "text"}, rows), "id", name="x", rows_per_group=1, groups_per_person=1
    )
    kept = set("abcd")
    for place, how in enumerate(hows):
        listed = "abcd".replace("acbd"[place], "") if how == "semi" else "acbd"[place]
        data = data.join_public(load(engine, {"k": "text"}, [{"k": key} for key in listed]), "k", how=how)
        kept &= {"semi": set(listed), "anti": set("abcd") - set(listed), "left": kept}[how]
    layout = layout_of([nw.count(by=nw.keys("k", list("abcd")))], data.limits)
    assert data._checked.true_aggregates(layout, 1) == [6 if key in kept else 0 for key in "abcd"]
