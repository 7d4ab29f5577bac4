"""Conditions are a column, a comparison and a value; everything else is refused, and every one is person-local."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pandas as pd
import pytest

import noisewright as nw
from noisewright.app.expressions import condition
from noisewright.problem.errors import InvalidInputError

FRAME = pd.DataFrame(
    {
        "id": range(6),
        "age": [17, 18, 40, 18, 65, 3],
        "weight": [0.1, 0.2, math.nan, 80.5, -1.0, 0.1],
        "ward": ["A", "B", "A", None, "a", "B"],
        "ill": [True, False, True, False, True, False],
        "day": [date(2025, 1, n) for n in range(1, 7)],
        'a "b" c': [0, 1, 2, 3, 4, 5],
    }
)
HELD: dict[str, list[int]] = {
    "age >= 18": [1, 2, 3, 4],
    "age>18": [2, 4],
    " age == 18 ": [1, 3],
    "age = 18": [1, 3],
    "age != 18": [0, 2, 4, 5],
    "age < 18.5": [0, 1, 3, 5],
    "weight == 0.1": [0, 5],
    "weight <= -1": [4],
    "weight > 1": [3],
    "weight != 0.2": [0, 3, 4, 5],
    "weight not in [0.2]": [0, 3, 4, 5],
    "weight is null": [2],
    "ward is null": [3],
    "weight is  not null": [0, 1, 3, 4, 5],
    "ward == 'A'": [0, 2],
    'ward in ["A", "a"]': [0, 2, 4],
    "ward not in ['A']": [1, 4, 5],
    "ill == true": [0, 2, 4],
    "day >= 2025-01-05": [4, 5],
    '"a ""b"" c" > 3': [4, 5],
}


@pytest.mark.parametrize("text", HELD)
def test_a_condition_keeps_the_rows_that_it_says(text: str):
    data = nw.Dataset(FRAME, "id", one_row_per_person=True)
    read = condition(text)
    kept = data.filter(lambda table: read(table))
    assert sorted(kept._checked.units()) == HELD[text]


@pytest.mark.parametrize(
    "text",
    [
        "age", "age >=", ">= 18", "age >= 18 and ward == 'A'", "age >= 18; drop table x", "age >= weight", "a + 1 > 2",
        "", "ward == A", "age in 18", "ward == ['A']", "age >= nan", "age >= 1e999", "day > 2025-01-01T10:00:00",
        "age >= 99999999999999999999", "age == {}", "age == [[1]]", "random() > 0.5", "age >= 1\nx = 2", "os == 'a'(",
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text: str):
    with pytest.raises(InvalidInputError):
        condition(text)


@pytest.mark.parametrize(
    "text", ["ward >= 18", "age == 'A'", "ill == 1.5", "day == '2025-01-01'", "age in [1, 'A']", "x > 1"]
)
def test_a_value_of_another_kind_than_the_column_is_refused(text: str):
    data, read = nw.Dataset(FRAME, "id", one_row_per_person=True), condition(text)

    def kept(table: Any) -> Any:
        return read(table)

    with pytest.raises(InvalidInputError):
        data.filter(kept)
