"""Bounds that nobody knows: a charged release over powers of two, which no value breaks."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import designed
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.run.bounds import EDGES, bounds_of, question

KEEP = Fraction(98, 100)
LAYOUT = layout_of([question("x")], ContributionBounds(1, 1, False))
NOISE = designed(LAYOUT, nw.PureDP(1), nw.SquaredError(), {})
PLAN: Any = SimpleNamespace(blocks=NOISE.blocks, layout=LAYOUT)


def read(counts: list[float], keep: Fraction = KEEP) -> Any:
    return bounds_of(PLAN, pa.table({"value": counts, "charge": [7] * len(counts)}), keep)


def counts_of(**persons: int) -> list[float]:
    found = [0.0] * (len(EDGES) - 1)
    for name, count in persons.items():
        found[EDGES.index(Fraction(name.replace("minus", "-").replace("at", "")))] = float(count)
    return found


def test_bins_begin_at_zero_and_at_powers_of_two():
    assert {EDGES[i] for i in (0, -1)} == {-(2**50), 2**50}
    assert 0 in EDGES
    assert all(math.log2(abs(edge)).is_integer() for edge in EDGES if edge)
    assert LAYOUT.tables[0].sensitivities == (1,), "a person counts once in a bin"
    assert layout_of([question("x")], ContributionBounds(9, 1, False)).tables[0].sensitivities == (1,)


def test_what_stands_out_of_the_noise_is_kept_and_tails_are_cut():
    assert tuple(read(counts_of(at0=50, at1=500, at64=500))) == (0, 128)
    assert tuple(read(counts_of(minus8=500, at64=500))) == (-8, 128)
    assert tuple(read(counts_of(at1=40, at64=9_000, at4096=40))) == (64, 128), "less than 1 % at each end"
    assert tuple(read(counts_of(at1=100, at64=9_000, at4096=100))) == (1, 8192)
    assert tuple(read(counts_of(at64=9_000, at4096=9))) == (64, 128), "nine are noise"
    few = read(counts_of(at64=9))
    assert (tuple(few), bool(few), repr(few), few.charge) == ((), False, "too few to say", 7)
    assert "at most" in str(few)
    with pytest.raises(nw.errors.InvalidQueryError, match="bounds is too few to say"):
        nw.mean("x", bounds=few)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=len(EDGES) - 1, max_size=len(EDGES) - 1), st.integers(50, 99))
def test_any_counts_give_bounds_that_keep_what_was_aimed_at_or_say_nothing(counts: list[int], percent: int):
    found = read([float(count) for count in counts], Fraction(percent, 100))
    seen = [count if count > found.unseen / 2 else 0 for count in counts]
    if not any(seen):
        assert not found
        return
    low, high = found
    assert low < high
    inside = sum(c for c, a, b in zip(seen, EDGES, EDGES[1:], strict=False) if low <= a and b <= high)
    assert inside * 100 >= percent * sum(seen)
    assert nw.mean("x", bounds=found).range.bounds == (low, high)


@pytest.fixture
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty powers stand out of the noise less than once in 10^9, not in 10^3: a false alarm of these tests."""
    monkeypatch.setattr("noisewright.release.run.bounds._CHANCE", Fraction(1, 10**9))


def ends(found: Any) -> Any:
    return tuple(found)


def rows(**more: Any) -> pa.Table:
    generator = np.random.default_rng(3)
    values = list(generator.uniform(70, 500, 3000)) + [math.nan, math.inf, -math.inf, 1e300, None]
    text = [str(value) for value in values[:-5]] + ["abc", "", "nan", "1e199", None]
    return pa.table({"id": [*range(3005)], "x": values, "t": text, **more})


@pytest.mark.usefixtures("sure")
def test_bounds_are_a_release_of_their_own_and_are_stored(tmp_path: Path):
    data = nw.Dataset(rows(), "id", name="x", budget=nw.PureDP(2), ledger=tmp_path / "x.ledger", types={"t": "number"})
    found = data.estimate_bounds("x", privacy=nw.PureDP("0.5"), reason="bounds")
    assert ends(found) == (64, 512)
    assert (found.charge, data.ledger and data.ledger.spent) == (1, Fraction(1, 2))
    assert data.ledger is not None
    assert [row["label"].split()[-1] for row in data.ledger.rows() if row["event"] == "charge"] == ["bounds"]
    again = data.estimate_bounds("x", privacy=nw.PureDP("0.5"), keep=0.9)
    assert (again.charge, data.ledger.spent) == (1, Fraction(1, 2))
    assert data.estimate_bounds("x", privacy=nw.PureDP("0.5"), fresh=True).charge > 1
    assert ends(data.estimate_bounds("t", privacy=nw.PureDP(1))) == (64, 512), "text is read like numbers"
    with pytest.raises(nw.errors.BudgetExceeded):
        data.estimate_bounds("x", privacy=nw.PureDP(3))


@pytest.mark.usefixtures("sure")
def test_one_person_far_away_does_not_show(tmp_path: Path):
    for value in (1.0, 1e12):
        table = pa.table({"id": [*range(2000), *[5000] * 900], "x": [100.0] * 2000 + [value] * 900})
        data = nw.Dataset(table, "id", name="x", budget=nw.PureDP(2), ledger=tmp_path / f"{value}", rows_per_group=1000)
        assert ends(data.estimate_bounds("x", privacy=nw.PureDP(1))) == (64, 128)


@pytest.mark.usefixtures("sure")
def test_what_is_wrong_is_refused_before_anything_is_spent(tmp_path: Path):
    days = pa.array([0] * 3005, pa.date32())
    data = nw.Dataset(rows(day=days), "id", name="x", budget=nw.PureDP(2), ledger=tmp_path / "x.ledger")
    for column, keep, words in (("y", "0.98", "no column 'y'"), ("day", "0.98", "holds date"), ("x", 1, "keep is 1")):
        with pytest.raises(nw.errors.InvalidInputError, match=words):
            data.estimate_bounds(column, privacy=nw.PureDP(1), keep=keep)
    assert data.ledger is not None
    assert data.ledger.spent == 0
    empty = nw.Dataset(rows().slice(0, 0), "id", name="x", budget=nw.PureDP(2), ledger=tmp_path / "e.ledger")
    assert not empty.estimate_bounds("x", privacy=nw.PureDP(1))
