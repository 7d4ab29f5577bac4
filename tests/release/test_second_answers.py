"""The second probability, bin, query, answer: each with its own widths, limits, state and length."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import ibis
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.release.ask.estimates import NOTHING, Interval
from noisewright.release.ask.linear import FINE
from noisewright.release.ask.quantiles import quantile
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.engines.postgres import arithmetic
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.run.idempotence import numbers_of

WARDS = nw.keys("ward", ["A", "B", "C"])


def test_each_probability_has_half_widths_of_its_own():
    """Widths that are unlike for all probabilities and bins, of groups one after the other."""
    chance = Random(4)
    asked = nw.ask.quantiles("age", ["0.1", "0.5", "0.8"], bounds=(0, 6), step=1, by=WARDS)
    table = layout_of([asked], ContributionBounds(4, 2, False)).tables[0]
    size, given = asked.count, asked.given
    for _ in range(40):
        part = [chance.randint(0, 60) * FINE for _ in range(3 * size)]
        widths = [Fraction(chance.randint(0, 40) * (3 * i + 1), 4) for i in range(given) for _ in range(size)]
        found = list(asked.answers(table, part, range(given * size), widths))
        assert [(named["ward"], named["quantile"]) for named, _ in found] == [
            (ward, float(q)) for ward in "ABC" for q in asked.probabilities
        ]
        for place, (_, estimate) in enumerate(found):
            row, i = divmod(place, given)
            first = list(accumulate(part[row * size : (row + 1) * size]))
            below = [Fraction(n - asked.probabilities[i] * first[-1], FINE) for n in first]
            own = quantile(below, widths[i * size : (i + 1) * size])
            assert estimate == (NOTHING if own is None else Interval(*map(Fraction, own)))


QUESTIONS: dict[str, tuple[Any, int]] = {
    "a count": (nw.count(), 1),
    "keys": (nw.count(by=WARDS), 3),
    "bins": (nw.ask.histogram("age", edges=[0, 1, 2, 3, 4]), 4),
    "bins of keys": (nw.ask.histogram("age", edges=[0, 1, 2, 3, 4], by=WARDS), 12),
    "a quantile": (nw.ask.quantiles("age", ["0.5"], edges=[0, 1, 2, 3, 4]), 1),
    "a quantile of keys": (nw.ask.quantiles("age", ["0.5"], edges=[0, 1, 2, 3, 4], by=WARDS), 3),
    "ranges of keys": (nw.ask.workload("ranges", keys=nw.keys("age", [0, 1, 2, 3]), by=WARDS), 3),
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("most", [1, 2, 5, 12, 40])
def test_a_person_of_every_group_changes_as_many_as_the_limit_allows(name: str, most: int):
    """Groups are keys times bins; those that are answered together are one. The limit is no smaller, and no larger."""
    question, groups = QUESTIONS[name]
    rows = [(person, ward, age) for person in ("a", "b") for ward in "ABC" for age in range(4)]
    frame = pa.table({"u": [u for u, _, _ in rows], "ward": [w for _, w, _ in rows], "age": [a for _, _, a in rows]})
    data = nw.Dataset(frame, "u", name="x", rows_per_group=12, groups_per_person=most)
    layout = layout_of([question], data.limits)
    table = layout.tables[0]
    assert table.groups == min(most, groups)
    everybody, rest = data._checked.true_aggregates(layout, 1), data._checked.true_aggregates(layout, 1, leave_out="a")
    difference = [a - b for a, b in zip(everybody, rest, strict=True)]
    width = len(difference) // groups
    changed = [difference[start : start + width] for start in range(0, len(difference), width)]
    assert sum(map(any, changed)) == min(most, groups)
    assert layout.holds(difference)


@pytest.mark.parametrize("question", [nw.count(), nw.count(by=WARDS), nw.mean("age", bounds=(0, 4), by=WARDS)])
def test_a_stored_answer_of_another_length_is_none(question: Any):
    layout = layout_of([question, nw.ask.persons(name="persons")], ContributionBounds(1, 1, False))
    honest = [str(n) for n in range(layout.released)]
    assert numbers_of(layout, honest) is not None
    for other in (honest[:-1], [*honest, "0"], [], honest * 2, [honest], "0" * layout.released, dict.fromkeys(honest)):
        assert numbers_of(layout, other) is None, other


def test_queries_of_one_release_see_one_state_of_a_table():
    engine = DuckDB.in_memory()
    engine.backend.raw_sql("CREATE TABLE visits AS SELECT range AS u FROM range(10)")
    table = engine.backend.table("visits")
    counted = lambda: engine.fetch(table.agg(n=table.count())).to_pydict()["n"][0]  # noqa: E731
    other = engine.backend.con.cursor()
    with engine.snapshot():
        before = counted()
        other.execute("INSERT INTO visits SELECT range FROM range(5)")
        assert counted() == before == 10
    assert counted() == 15


@pytest.mark.parametrize("exponent", [*range(890, 905), *range(960, 1024)])
@pytest.mark.parametrize("turned", [False, True])
def test_no_sum_that_passes_on_postgres_overflows_for_any_double(exponent: int, turned: bool):
    """By the doubles of this machine: the largest one, and the constant, in both orders and with both signs."""
    x = ibis.table({"x": "float64"}, name="t").x
    for constant in (2.0**exponent, -(2.0**exponent), math.nextafter(2.0**exponent, 0)):
        for name in ("plus", "minus"):
            literal = ibis.literal(constant, "float64")
            left, right = (literal, x) if turned else (x, literal)
            node = (left + right if name == "plus" else left - right).op()
            passes = arithmetic._result(node, arithmetic.size(node.left), arithmetic.size(node.right)) is not None
            ends = [sign * sys.float_info.max for sign in (1, -1)]
            sums = [(constant, e) if turned else (e, constant) for e in ends]
            overflows = any(math.isinf(a + b if name == "plus" else a - b) for a, b in sums)
            assert not (passes and overflows), (constant, name)
            assert passes or exponent >= 900


def test_a_quoted_empty_text_is_a_person_and_a_key_and_nothing_is_neither(tmp_path: Path):
    path = tmp_path / "visits.csv"
    path.write_text('id,ward,age\n"",A,1\n"","",2\na,"",3\na,,4\n,A,5\nb,A,""\n', encoding="utf-8")
    data = nw.Dataset(path, "id", name="x", rows_per_group=5, groups_per_person=5)
    keys = nw.keys("ward", ["", "A"])
    layout = layout_of([nw.count(), nw.ask.persons(), nw.count(by=keys, name="by ward")], data.limits)
    found = data._checked.true_aggregates(layout, 1)
    parts = layout.split(found)
    rows = [("", "A"), ("", ""), ("a", ""), ("a", None), ("b", "A")]
    by_key = [sum(ward == key for _, ward in rows) for key in ("", "A")]
    assert [list(part) for part in parts] == [[len(rows), len({u for u, _ in rows})], by_key]
