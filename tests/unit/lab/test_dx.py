"""The d_X reproduction in a small size."""

from __future__ import annotations

import numpy as np

from noisewright.lab.metric import data as dx_data
from noisewright.lab.metric.reproduction import Size, run
from noisewright.lab.reproductions import REPRODUCTIONS

QUICK = Size(queries=60, instances=2, dimensions=(1, 3), cities=60, trials=60)


def test_it_writes_pictures_tables_and_claims(tmp_path, monkeypatch):
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path / "nothing"))
    steps: list[str] = []
    result = run(tmp_path / "out", steps.append, QUICK)
    assert len(steps) == REPRODUCTIONS["dx"].steps
    assert {path.suffix for path in result.files} == {".png", ".csv"}
    assert all(path.stat().st_size > 100 for path in result.files)
    assert "made-up" in result.data[0]
    verdicts = {(claim.where, claim.says.split()[0]): claim.verdict for claim in result.claims}
    assert verdicts["Theorem 4", "the"] == "erratum"
    assert verdicts["Algorithm 3", "the"] == "fails"
    assert verdicts["Proposition 1 (SmallDB)", "the"] == "holds"
    assert verdicts["Theorem 8 (MWEM)", "the"] == "holds"


def test_places_closer_than_a_limit_to_a_larger_one_are_left_out():
    places = dx_data.Places(np.array([[0.0, 0], [0.01, 0], [0.03, 0], [0.035, 0]]), np.arange(4.0), "four")
    assert places.apart(0.02).elevation.tolist() == [0, 2]
