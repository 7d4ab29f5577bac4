"""Every function of a row gives on each engine what it gives on DuckDB, bit for bit, or is refused at once."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ibis
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from ibis.common.annotations import ValidationError

import noisewright as nw
from tests.engines.loading import ENGINES, load
from tests.release.tables import FLOATS, TEXTS, WHOLES

KINDS = {"id": "whole", "f": "double", "g": "double", "w": "whole", "t": "text", "b": "boolean", "day": "date"} | {
    "at": "time"
}
EXTREME = [*FLOATS, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**1023, 2.0**-1022, 2.0**-537, 9e15, 9.1e15]
EXTREME += [1e-290, -3e-310, 0.5, -0.5, 1.5, -2.5, 2.0**53 + 2, 1e19, -9.3e18, 127.5, 3.5e38, 1e-46, 7.1e-46]
SAME: dict[str, Callable[[Any], Any]] = {
    "times": lambda t: t.f * 1.8 + 32,
    "times a tiny number": lambda t: t.f * 1e-300,
    "times a huge number": lambda t: t.f * -1e300,
    "by a constant": lambda t: t.f / 7,
    "by a tiny number": lambda t: t.f / 5e-324,
    "a constant by it": lambda t: 1e-300 / t.f,
    "a large constant by it": lambda t: -1e300 / t.f,
    "plus and minus": lambda t: (t.f - 273.15) + 1e200,
    "whole numbers": lambda t: (t.w * t.w + t.w) / (t.w - 3) - t.id**8,
    "whole quotient and rest": lambda t: t.w // 7 + t.w % 7 + t.f % 3,
    "rounded to a step": lambda t: (t.f * 100).round() / 100 * t.w,
    "floor, ceil and size": lambda t: t.f.floor() + t.f.ceil() - t.w.abs(),
    "root and logarithm": lambda t: t.f.sqrt() + 1,
    "to whole": lambda t: t.f.cast("int64"),
    "to small whole": lambda t: t.f.cast("int8"),
    "whole to small": lambda t: t.w.cast("int16"),
    "to single": lambda t: t.f.cast("float32"),
    "text to number": lambda t: t.t.cast("float64"),
    "text to whole": lambda t: t.t.cast("int32"),
    "text to number with commas": lambda t: t.t.translate(",.", ".,").cast("float64"),
    "text to day": lambda t: t.t.cast("date").year() * 400 + t.t.cast("date").day(),
    "text to time": lambda t: t.t.cast("timestamp").hour() + t.t.cast("timestamp").year(),
    "truth": lambda t: t.b.cast("int64") + t.w.cast("boolean").cast("int8"),
    "least and greatest": lambda t: ibis.least(ibis.greatest(t.f, 0.5), t.g, 120),
    "comparisons": lambda t: ((t.f > t.g) | (t.f == t.g)).ifelse(t.f, t.g),
    "not a number": lambda t: t.f.isnan().ifelse(1, 2) + t.f.isinf().ifelse(10, 20),
    "missing": lambda t: ibis.coalesce(t.f, t.g, -1.5).nullif(0.5),
    "days": lambda t: t.day.year() + t.day.month() * 20_000 + t.day.day_of_week.index() * 1_000_000 + t.day.quarter(),
    "times of day": lambda t: t.at.hour() * 60 + t.at.minute() + t.at.date().day() * 10_000,
    "texts": lambda t: t.t.length() + t.t.substr(1, 2).length() * 100 + t.t.strip().length() * 10_000,
    "parts of texts": lambda t: (
        t.t.startswith("1").ifelse(1, 0)
        + t.t.endswith("5").ifelse(2, 0)
        + t.t.contains("e").ifelse(4, 0)
        + (t.t + "x").length() * 8
    ),
    "whole as text": lambda t: t.w.cast("string").length() + t.b.cast("string").length(),
    "cases": lambda t: ibis.cases((t.w > 5, t.f), (t.b, t.w), else_=0.5),
}
REFUSED: dict[str, tuple[set[str], Callable[[Any], Any]]] = {
    "a product of doubles": ({"postgres"}, lambda t: t.f * t.g),
    "a quotient of doubles": ({"postgres"}, lambda t: t.f / t.g),
    "a sum of doubles": ({"postgres"}, lambda t: t.f + t.g),
    "a power of doubles": ({"postgres"}, lambda t: t.f**2),
    "natural logarithm": ({"pyspark"}, lambda t: t.w.abs().ln() + t.w.abs().log10()),
    "the logarithm to base 2": ({"postgres", "pyspark"}, lambda t: t.w.log2()),
    "capitals": ({"postgres", "pyspark"}, lambda t: t.t.upper().length()),
    "the order of texts": ({"postgres"}, lambda t: (t.t < "b").ifelse(1, 0)),
    "a length below 0": ({"postgres", "pyspark"}, lambda t: t.t.substr(0, -1).length()),
    "a decimal": ({"postgres", "pyspark"}, lambda t: t.f.cast("decimal(9, 2)")),
}
"""What some engines refuse, and the others do as DuckDB does."""
DAYS = ["2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-04-31", "0001-01-01", "2024-12-31T23:59:59.5"]
DAYS += [
    "2024-02-29 23:59:59.123456789+05:30",
    " 2024-03-01T00:00Z ",
    "2023-02-29 10:30",
    "2024-03-01 24:00",
    "2024-03-01 1",
]
COMMAS = ["1,5", "-12,25", "1.234,56", "1,234.5", ",5", "7"]
ROWS = [
    {
        "id": place,
        "f": f,
        "g": EXTREME[place * 7 % len(EXTREME)],
        "w": WHOLES[place % len(WHOLES)],
        "t": [*TEXTS, *DAYS, *COMMAS][place % (len(TEXTS) + len(DAYS) + len(COMMAS))],
        "b": [True, False, None][place % 3],
        "day": [None, 0, 20_000, 2**31 - 1][place % 4],
        "at": [None, 0, 1_774_746_000_000_000, 2**63 - 1][place % 4],
    }
    for place, f in enumerate(EXTREME * 2)
]


def results(table: Any, expression: Callable[[Any], Any]) -> list[Any]:
    """The values as bits, by the order of rows; no zero has a sign, and not-a-number is one value."""
    data = nw.Dataset(table, "id", name="x").mutate(z=expression)
    found = data._source.engine.fetch(data._table.select("id", "z")).to_pydict()
    return [bits(value) for _, value in sorted(zip(found["id"], found["z"], strict=True))]


def bits(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return struct.pack("<d", math.nan if math.isnan(value) else value + 0.0).hex()


@pytest.fixture(scope="module")
def pair(engine: Any) -> tuple[Any, Any]:
    return load(ENGINES["duckdb"](None), KINDS, ROWS), load(engine, KINDS, ROWS)


@pytest.mark.parametrize("name", SAME)
def test_functions_of_a_row_are_the_same(pair: tuple[Any, Any], name: str):
    wanted, found = (results(table, SAME[name]) for table in pair)
    assert found == wanted
    assert any(value is not None for value in found)


@pytest.mark.parametrize(
    "lists", [("ab", "c"), ("aa", "bc"), ("", ""), ("'", "x"), ("\\", "x"), ("ä", "a"), ("a", None)]
)
def test_letters_become_others_only_by_two_lists_that_every_engine_reads_alike(
    pair: tuple[Any, Any], lists: tuple[str, str | None]
):
    first, second = lists
    with pytest.raises(nw.errors.NotPersonLocalError, match="two lists of ASCII letters"):
        nw.Dataset(pair[1], "id", name="x").mutate(
            z=lambda t: t.t.translate(first, t.t if second is None else second).length()
        )


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_differ_or_raise_is_refused(pair: tuple[Any, Any], name: str):
    engines, expression = REFUSED[name]
    if pair[1].get_backend().name not in engines:
        if name not in ("a decimal", "a length below 0"):
            assert results(pair[1], expression) == results(pair[0], expression)
        return
    with pytest.raises(nw.errors.NotPersonLocalError, match="Nothing was spent"):
        nw.Dataset(pair[1], "id", name="x").mutate(z=expression)


def test_any_constant_is_the_same(pair: tuple[Any, Any]):
    if pair[1].get_backend().name == "duckdb":
        return

    @settings(max_examples=8, suppress_health_check=list(HealthCheck))
    @given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["times", "by", "under"]))
    def tried(factor: float, how: str) -> None:
        made = {"times": lambda t: t.f * factor, "by": lambda t: t.f / factor, "under": lambda t: factor / t.f}[how]
        wanted, found = (results(table, made) for table in pair)
        assert found == wanted

    tried()


CONSTANTS = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, -1e308, 5e-324, -(2.0**-1030), 1.0, -1.0, 2**53 + 1, True]
CONSTANTS += [2.0**899, -(2.0**905), 2.0**969, 2.0**970, -(2.0**1000), 2.0**1023, 2**63 - 1, -(2**63), 0]
BETWEEN: dict[str, Callable[[Any, Any], Any]] = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "times": lambda a, b: a * b,
    "by": lambda a, b: a / b,
    "whole quotient": lambda a, b: a // b,
    "rest": lambda a, b: a % b,
    "power": lambda a, b: a**b,
    "less": lambda a, b: (a < b).ifelse(1, 0),
    "at least": lambda a, b: (a >= b).ifelse(1, 0),
    "equal": lambda a, b: (a == b).ifelse(1, 0),
    "least": lambda a, b: ibis.least(a, b),
    "greatest": lambda a, b: ibis.greatest(a, b),
    "missing": lambda a, b: ibis.coalesce(a, b),
    "none": lambda a, b: a.nullif(b),
    "twice": lambda a, b: (a * b) / b,
    "more": lambda a, b: (a + b) + 1.5,
}


def accepted(table: Any, how: str, constants: list[Any]) -> dict[str, list[Any]]:
    """By column, constant and order, the values of all operations of one kind that are not refused; in one query."""
    data, made = nw.Dataset(table, "id", name="x"), dict[str, Any]()
    for place, constant in enumerate(constants):
        for column in ("f", "w", "b"):
            for turned in (False, True):
                ends = (data._source.table[column], ibis.literal(constant))
                with suppress(TypeError, AttributeError, ValueError, ValidationError, ArithmeticError):  # no query
                    made[f"{column} {place} {turned:d}"] = BETWEEN[how](*(reversed(ends) if turned else ends))
    for name, one in list(made.items()):
        try:
            data.mutate(z=one)
        except nw.errors.NotPersonLocalError:
            del made[name]
    found = data.mutate(**made)
    rows = found._source.engine.fetch(found._table.select("id", *made)).to_pydict()
    order = sorted(range(len(rows["id"])), key=rows["id"].__getitem__)
    return {name: [bits(rows[name][i]) for i in order] for name in made}


@pytest.mark.parametrize("how", BETWEEN)
def test_what_is_done_with_any_constant_is_the_same_or_refused_at_once(pair: tuple[Any, Any], how: str):
    tried = CONSTANTS if pair[1].get_backend().name != "pyspark" else CONSTANTS[::2]
    wanted, found = (accepted(table, how, tried) for table in pair)
    assert found
    assert found == {name: wanted[name] for name in found}
