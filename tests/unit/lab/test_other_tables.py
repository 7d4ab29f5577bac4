"""Other tables than the shipped ones: other names, other columns, other sizes."""

from __future__ import annotations

import csv
import gzip
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from noisewright.lab.composite import data as composite_data
from noisewright.lab.generalized_gaussian import counts as contingency
from noisewright.lab.generalized_gaussian.adult import accuracies, people
from noisewright.lab.generalized_gaussian.counts import DELTAS, EPSILONS
from noisewright.lab.metric import data as dx_data
from noisewright.lab.r2dp.classification import task_of, tasks
from noisewright.lab.tables import Table, label_of, positive, read_table, table_paths
from noisewright.problem.errors import InvalidInputError


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = StringIO()
    csv.writer(text).writerows([header, *rows])
    raw = text.getvalue().encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four tables of a village: people, towns, households by kind, and one with nothing but texts."""
    rng = np.random.default_rng(3)
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    kinds = ["red", "green", "blue"]
    rows: list[list[object]] = []
    for i in range(601):
        steps = int(rng.integers(0, 40))
        tall = steps + 6 * rng.normal() > 25
        rows.append([i, steps, kinds[i % 3], "" if i % 97 == 0 else int(rng.integers(5)), "tall" if tall else "short"])
    _write(tmp_path / "village" / "folk.csv", ["number", "steps", "colour", "room", "size of person"], rows)
    towns = [[f"t{i}", 3 * rng.normal(), 50 + rng.normal(), i % 7, 200 * rng.normal()] for i in range(37)]
    _write(tmp_path / "z" / "towns.csv.gz", ["name", "Lon", "LAT", "Pop", "Altitude"], towns)
    cells = [[a, b, int(rng.integers(0, 5))] for a in "pqrst" for b in "xyz"]
    _write(tmp_path / "households.csv", ["a", "b", "Freq"], list(cells))
    _write(tmp_path / "texts.csv", ["word"], [["a"], ["b"]])
    return tmp_path


def test_columns_of_any_tables_are_asked_about(folder: Path):
    found = composite_data.columns()
    assert len(found) == 3
    assert {c.name for c in found} <= {"number", "steps", "Lon", "LAT", "Altitude"}
    for column in found:
        low, high = column.bounds
        assert low <= min(column.values) <= max(column.values) <= high
        for query in composite_data.QUERIES:
            question = composite_data.asked(query, column)
            assert 0 <= question.place <= 1
            assert question.ratio >= 1


def test_a_shipped_name_with_other_columns_is_read_like_any_other(folder: Path):
    _write(folder / "pima_diabetes" / "diabetes.csv", ["pressure"], [[60.5 + i] for i in range(33)])
    found = composite_data.columns()
    assert "pressure" in {c.name for c in found}
    assert next(c for c in found if c.name == "pressure").bounds == (60.0, 93.0)


def test_counts_and_places_and_people_are_found_by_what_they_are(folder: Path):
    assert {len(counts) for _, counts in contingency.cell_tables()} == {15, 64}
    places = dx_data.places_of(20)
    assert len(places.points) == 20
    assert "towns" in places.source
    assert places.elevation.std() > 50
    chosen = people(seed=1)
    assert "folk" in chosen.source
    assert "size of person" in chosen.source
    assert chosen.numbers == 2
    assert len(chosen.rows[0]) == 4
    scores = accuracies(chosen, 3, EPSILONS[1:2], DELTAS[:1])
    assert scores[0][3] > 0.7
    assert len(scores) >= 5


def test_classes_are_guessed_from_any_table(folder: Path):
    (task,) = tasks(300)
    assert task.name == "village/folk.csv"
    assert len(task.train[1]) + len(task.test[1]) == 301
    assert set(np.unique(task.train[1])) == {0, 1}
    assert len(task.categorical) == 1
    assert len(task.bounds) == 3


def test_tables_without_classes_or_rows_are_passed_over(folder: Path):
    (path,) = [p for p in table_paths() if p.name == "households.csv"]
    assert label_of(read_table(path)) is None
    assert task_of(read_table(path), 100) is None
    assert label_of(Table("t", {"split": np.array(["a", "b"], dtype=object)})) is None


def test_two_classes_come_from_any_number_of_kinds():
    assert positive(np.array(["normal.", "smurf.", "smurf.", "back."], dtype=object)).tolist() == [0, 1, 1, 1]
    assert positive(np.array([" <=50K", ">50K", "<=50K."], dtype=object)).tolist() == [0, 1, 0]


def test_a_table_that_cannot_be_read_is_named(folder: Path):
    bad = folder / "bad.csv"
    bad.write_text("a,b\n1,2,3\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"bad\.csv cannot be read .* 2 fields"):
        read_table(bad)


def test_a_folder_without_tables_leaves_the_packages_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    assert all("made by the package" in c.source for c in composite_data.columns())
    assert [len(counts) for _, counts in contingency.cell_tables()] == [64, 64]
    assert "made-up" in dx_data.places_of(9).source
    assert tasks(100) == []
