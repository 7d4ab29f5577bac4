"""Other tables than the shipped ones serve the R2DP reproduction: found by what is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noisewright.lab.r2dp.claims import graph_claim
from noisewright.lab.r2dp.data import degrees, motion_counts, motion_histogram


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_rows_with_times_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Three sensors at 80 times; those that say 0 are not counted."""
    rows: list[list[object]] = [
        [f"2024-01-01 {t // 60:02d}:{t % 60:02d}", s, int(s <= t % 3)] for t in range(80) for s in range(3)
    ]
    _write(tmp_path / "street" / "lamps.csv", ["Time", "lamp", "active"], rows)
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    counts, source = motion_counts()
    assert counts.tolist() == [1 + t % 3 for t in range(80)]
    assert "lamps.csv" in source
    prior = motion_histogram(counts)
    assert len(prior) == 50
    assert sum(prior) == 75


def test_without_times_any_long_column_of_numbers_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _write(tmp_path / "a.csv", ["name", "height"], [[f"n{i}", 150 + i % 40] for i in range(90)])
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    counts, source = motion_counts()
    assert counts.tolist() == [150 + i % 40 for i in range(90)]
    assert "a.csv" in source


def test_any_list_of_edges_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A wheel: 70 nodes around, joined in a ring and to the hub, named by texts in columns of other names."""
    edges: list[list[object]] = [[f"n{i}", f"n{(i + 1) % 70}"] for i in range(70)]
    edges += [["hub", f"n{i}"] for i in range(70)]
    _write(tmp_path / "roads" / "links.csv", ["Source", "Target"], edges)
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    sequence, source = degrees()
    assert sequence.tolist() == [3.0] * 70 + [70.0]
    assert "71 nodes and 140 edges" in source
    claim = graph_claim(sequence)
    assert claim.verdict == "not reproducible"
    assert "71 nodes and 140 edges" in claim.found


def test_two_columns_of_whole_numbers_are_edges_and_other_tables_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    _write(tmp_path / "a_numbers.csv", ["x", "y"], [[i / 3, i] for i in range(90)])
    _write(tmp_path / "b_pairs.csv", ["one", "two"], [[i, i + 1] for i in range(90)])
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    sequence, source = degrees()
    assert sequence.tolist() == [1.0, 1.0] + [2.0] * 89
    assert "b_pairs.csv" in source


def test_without_any_table_data_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path))
    assert "made" in motion_counts()[1]
    assert "made" in degrees()[1]


def test_the_papers_graph_is_known_by_its_counts():
    sequence = np.full(47_538, 9.0)
    sequence[: 2 * 222_887 - 9 * 47_538] += 1
    assert int(sequence.sum()) == 2 * 222_887
    assert graph_claim(sequence).verdict == "fails"
