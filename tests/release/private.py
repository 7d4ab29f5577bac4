"""What is refused of a private table under another name, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

import noisewright as nw

REFUSED = nw.errors.InvalidInputError
ITSELF = "this is the private table itself"
LISTED = "were listed from the private table itself"
ROWS = {"id": [1, 2, 3, 4, 5], "ward": ["A", "B", "B", "C", "Q"]}


def refused_as_public(data: nw.Dataset, table: Any) -> None:
    """As a table to join and as the source of keys; the refusal tells nothing of how many keys there are."""
    with pytest.raises(REFUSED, match=ITSELF) as caught:
        data.join_public(table, "ward")
    keys = nw.keys("ward", table)
    questions: list[Any] = [
        nw.count(by=keys),
        nw.ask.top(keys, 1),
        nw.ask.workload("total", keys=keys),
        nw.ask.workload("total", keys=nw.keys("sex", ["f", "m"]), by=keys),
        nw.count(by=nw.keys({"sex": ["f", "m"], "ward": table})),
        nw.count(by=nw.keys(["ward"], table)),
    ]
    for question in questions:
        with pytest.raises(REFUSED, match=LISTED) as caught:
            data.plan(nw.ask.persons(), question, privacy=nw.PureDP(1))
        assert not set("0123456789") & set(str(caught.value))
