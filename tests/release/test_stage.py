"""The whole numbers that the engine gives are those of an independent evaluation in plain Python, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import Layout
from noisewright.release.stage import vector as aggregate
from noisewright.release.stage.aggregates import Partial, Persons, Present, Rows, Squares, Total
from noisewright.release.stage.contribution_bounding import numbered, slices_for
from noisewright.release.stage.times import TimeBins
from noisewright.release.stage.vector import clamped_sums, exact_sums
from tests.release import reference
from tests.release.tables import KEYS, arrow, hostile

BOUNDS = {"f": (0, 120), "t": (-10, 100), "w": (-5, 119), "b": (0, 1)}
STEPS: dict[str, Any] = {"f": "0.1", "t": "1/3", "w": 7, "b": 1}
EDGES = [Fraction(0), Fraction("0.05"), Fraction("0.15"), Fraction(100, 3), Fraction(120)]
LISTED = nw.keys("k", KEYS[:8])
BOTH = nw.keys({"k": ["A", "a", "ß"], "b": [True, False]})
QUESTIONS = [
    nw.count(),
    nw.ask.persons(),
    *(nw.ask.variance(c, bounds=BOUNDS[c], step=STEPS[c]) for c in "ftwb"),
    nw.ask.sum("f", bounds=BOUNDS["f"], step=STEPS["f"], by=LISTED),
    nw.ask.persons(by=LISTED, name="persons by key"),
    nw.mean("t", bounds=BOUNDS["t"], step=STEPS["t"], by=LISTED),
    nw.count(by=BOTH, name="count by both"),
    nw.ask.sum("f", bounds=BOUNDS["f"], step=STEPS["f"], by=LISTED, person_bounds=(-1, "150.06"), name="by person"),
    nw.ask.sum("t", bounds=BOUNDS["t"], step=STEPS["t"], by=BOTH, person_bounds=(-7, 4), name="by person and both"),
    nw.ask.sum("w", bounds=BOUNDS["w"], step=STEPS["w"], by=nw.keys("b", [True]), person_bounds=(0, 3000)),
    nw.ask.histogram("f", edges=EDGES),
    nw.ask.histogram("t", edges=EDGES, by=nw.keys("b", [False, True])),
    nw.ask.quantiles("f", ["0.5"], bounds=(0, 120), step="0.5", by=LISTED),
    nw.ask.quantiles("t", ["0.5"], edges=EDGES),
    nw.ask.workload("ranges", keys=nw.keys("b", [False, True]), by=LISTED),
]
SALT = 0x123456789ABCDEF


def by_hand(rows: list[dict[str, Any]], layout: Layout, *, one_row: bool = False, in_process: bool = True) -> list[int]:
    found: list[int] = []
    for table in layout.tables:
        columns: list[Any] = [(n, *_kind(n)) for n in table.aggregates if not isinstance(n, Rows | Persons)]
        listed = []
        for row in rows:
            group = _group(row, table.grouping)
            if row["id"] is not None and group is not None:
                terms = tuple(reference.term(kind, row, n.column, bounds, step) for n, kind, bounds, step in columns)
                cell = group % table.together
                # Cells that are answered together are one group for the limits.
                listed.append((row["id"], group - cell, (cell, *terms) if table.together > 1 else terms))
        limits = (table.rows, table.groups, in_process)
        kept = listed if one_row else reference.limited(listed, SALT, *limits)
        if table.together > 1:
            kept = [(unit, place + terms[0], terms[1:]) for unit, place, terms in kept]
        for group in range(table.grouping.count):
            own = [(unit, terms) for unit, place, terms in kept if place == group]
            for number in table.aggregates:
                place = next((i for i, (n, *_) in enumerate(columns) if n == number), -1)
                if isinstance(number, Partial):
                    of_rows = [[terms[place]] for _, terms in own]
                    of_persons = reference.by_person(listed, group, {unit for unit, _ in own}, place)
                    sums = of_rows if one_row else of_persons
                    found.append(sum(reference.clamped(sum(each), *_ends(number)) for each in sums))
                elif isinstance(number, Persons):
                    found.append(len(own) if one_row else len({unit for unit, _ in own}))
                elif isinstance(number, Rows):
                    found.append(len(own))
                else:
                    found.append(sum(terms[place] for _, terms in own))
    return found


def _kind(number: Any) -> tuple[str, tuple[int, int], Fraction]:
    if isinstance(number, Present):
        return "present", (0, 1), Fraction(1)
    assert isinstance(number, Squares | Total | Partial)
    kind = "squares" if isinstance(number, Squares) else "sum" if not getattr(number, "centred", False) else "centred"
    return kind, BOUNDS[number.column], Fraction(STEPS[number.column])


def _ends(number: Partial) -> tuple[Fraction, Fraction, Fraction]:
    return *number.person_bounds, Fraction(STEPS[number.column])


def _group(row: dict[str, Any], grouping: Any) -> int | None:
    key, place = 0, 0
    if grouping.keys:
        values = tuple(row[column] for column in grouping.keys.columns)
        if values not in grouping.keys.rows:
            return None
        key = grouping.keys.rows.index(values)
    bins = len(grouping.bins.labels) if grouping.bins else 1
    if isinstance(grouping.bins, TimeBins):
        kept = grouping.bins
        label = reference.time_label(row[kept.column], kept.column == "day", kept.every, kept.zone)
        if label not in kept.labels:
            return None
        place = kept.labels.index(label)
    elif grouping.bins:
        found = reference.bin_of(row[grouping.bins.column], list(grouping.bins.edges), endless=grouping.bins.clamped)
        if found is None:
            return None
        place = found
    return key * bins + place


@pytest.mark.parametrize("text_units", [False, True])
@pytest.mark.parametrize(("rows", "groups", "seed"), [(1, 1, 1), (3, 2, 2)])
def test_whole_numbers_equal_those_by_hand(text_units: bool, rows: int, groups: int, seed: int):
    table = hostile(1200, 30, seed, text_units=text_units)
    data = nw.Dataset(
        arrow(table, text_units=text_units), "id", name="x", rows_per_group=rows, groups_per_person=groups
    )
    layout = layout_of(QUESTIONS, data.limits)
    found = data._checked.true_aggregates(layout, SALT)
    assert found == by_hand(table, layout)
    assert any(found)


@pytest.mark.parametrize("text_units", [False, True])
def test_an_engine_that_keeps_its_rows_limits_them_by_windows(text_units: bool, monkeypatch):
    monkeypatch.setattr(DuckDB, "in_process", False)
    monkeypatch.setattr(aggregate, "kept_rows", None)
    table = hostile(1200, 30, 2, text_units=text_units)
    data = nw.Dataset(arrow(table, text_units=text_units), "id", name="x", rows_per_group=3, groups_per_person=2)
    layout = layout_of(QUESTIONS, data.limits)
    assert data._checked.true_aggregates(layout, SALT) == by_hand(table, layout, in_process=False)


def test_without_limits_every_row_counts():
    table = hostile(800, 800, 3)
    data = nw.Dataset(arrow(table), "id", name="x", one_row_per_person=True)
    layout = layout_of(QUESTIONS, data.limits)
    assert data._checked.true_aggregates(layout, SALT) == by_hand(table, layout, one_row=True)


@pytest.mark.parametrize("text_units", [False, True])
def test_slices_of_persons_change_nothing(text_units: bool, monkeypatch):
    table = hostile(1000, 30, 4, text_units=text_units)
    data = nw.Dataset(arrow(table, text_units=text_units), "id", name="x", rows_per_group=2)
    layout = layout_of([*QUESTIONS[:3], QUESTIONS[10]], data.limits)
    steps = []
    fetch = DuckDB.fetch

    def noted(own: DuckDB, query: Any) -> Any:
        steps.append(own.steps)
        return fetch(own, query)

    monkeypatch.setattr(DuckDB, "fetch", noted)
    monkeypatch.setattr("noisewright.release.stage.vector._WORDS_AT_ONCE", 4000)
    assert data._checked.true_aggregates(layout, SALT) == by_hand(table, layout)
    assert steps[0] == (0, 1)
    assert steps[-1][0] == steps[-1][1] - 1 >= 4


@pytest.mark.parametrize(("bits", "slices"), [(0, 1), (3, 1), (3, 3)])
def test_persons_with_one_word_are_still_two(bits: int, slices: int, monkeypatch):
    table = hostile(900, 30, 5, text_units=True)
    monkeypatch.setattr("noisewright.release.engines.duckdb.engine._WORD", 2**bits - 1)
    monkeypatch.setattr(reference, "word", lambda unit, whole=reference.word: whole(unit) % 2**bits)
    monkeypatch.setattr(aggregate, "slices_for", lambda *given, whole: slices)
    told_apart = []

    def noted(rows: Any, engine: Any) -> Any:
        told_apart.append(1)
        return numbered(rows, engine)

    monkeypatch.setattr(aggregate, "numbered", noted)
    for without in (None, "pérson -21", "pérson 35"):
        own = [row for row in table if row["id"] != without]
        data = nw.Dataset(arrow(own, text_units=True), "id", name="x", rows_per_group=2, groups_per_person=3)
        layout = layout_of(QUESTIONS[6:11], data.limits)
        assert data._checked.true_aggregates(layout, SALT) == by_hand(own, layout)
    assert told_apart


def test_words_are_told_apart_without_places_unless_two_are_the_same(monkeypatch):
    monkeypatch.setattr(aggregate, "numbered", None)
    table = hostile(300, 30, 5, text_units=True)
    data = nw.Dataset(arrow(table, text_units=True), "id", name="x")
    layout = layout_of(QUESTIONS[:1], data.limits)
    assert data._checked.true_aggregates(layout, SALT) == by_hand(table, layout)


def test_slices_are_even_for_units_that_are_multiples_of_a_power_of_ten():
    assert [slices_for(rows, 10, whole=True) for rows in (0, 10, 11, 40, 70, 71, 89, 120)] == [
        1,
        1,
        3,
        7,
        7,
        11,
        11,
        13,
    ]
    assert [slices_for(rows, 10, whole=False) for rows in (0, 10, 11, 41, 10**9)] == [1, 1, 2, 5, 10**8]


def test_sums_beyond_64_bits_are_exact():
    values = np.array([2**62, 2**62, 2**62, -(2**62), -7, 5], np.int64)
    group = np.array([0, 0, 0, 1, 1, 2])
    assert exact_sums(values, group, 4) == [3 * 2**62, -(2**62) - 7, 5, 0]


def test_sums_far_below_zero_are_exact_where_no_value_is_large():
    values = np.array([-(2**62), -(2**62), -(2**62), 3, -(2**61), -(2**62), -(2**62) + 1], np.int64)
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    assert exact_sums(values, group, 3) == [3 - 3 * 2**62, 1 - 5 * 2**61, 0]


def test_sums_of_persons_beyond_64_bits_are_clamped_exactly():
    values = np.array([2**62, 2**62, 2**62, -(2**62), -(2**62), -(2**62), 5, -7, 2**61, 9 - 2**61], np.int64)
    starts = np.array([0, 3, 6, 7, 8])
    plain = [3 * 2**62, -3 * 2**62, 5, -7, 9]
    for first, last in ((-(10**12), 10**12), (0, 3), (-(10**9), 0)):
        wanted = [min(max(total, first), last) for total in plain]
        assert clamped_sums(values, starts, first, last).tolist() == wanted


@pytest.mark.parametrize("sign", [1, -1])
def test_what_the_low_halves_of_large_sums_carry_is_not_lost(sign: int):
    runs = [[2**62 + 2**20 - 1, -(2**62), 2**20 - 1, 3], [2**62, 1 - 2**62, 5 * 2**20 - 2, 2**20 - 1, 2**20 - 1], [7]]
    values = np.array([sign * value for run in runs for value in run], np.int64)
    starts = np.array([0, 4, 9])
    wanted = [sign * 2097153, sign * 7340029, sign * 7]
    assert wanted == [sign * sum(run) for run in runs]
    assert clamped_sums(values, starts, -(10**12), 10**12).tolist() == wanted
    group = np.array([0] * 4 + [1] * 5 + [2])
    assert exact_sums(values, group, 3) == wanted


def test_an_empty_table_gives_zeros():
    data = nw.Dataset(arrow([]), "id", name="x")
    layout = layout_of(QUESTIONS, data.limits)
    assert data._checked.true_aggregates(layout, SALT) == [0] * layout.dimension


def test_equal_hashes_are_ordered_by_content(monkeypatch):
    table = hostile(600, 12, 6)
    data = nw.Dataset(arrow(table), "id", name="x", rows_per_group=2, groups_per_person=2)
    layout = layout_of(QUESTIONS[6:9], data.limits)
    monkeypatch.setattr(
        "noisewright.release.stage.contribution_bounding.mixed", lambda salt, words: np.zeros(len(words[0]), np.uint64)
    )
    monkeypatch.setattr(reference, "mixed", lambda salt, words: 0)
    assert data._checked.true_aggregates(layout, SALT) == by_hand(table, layout)
