"""The reproduction runs in a quick mode and its verdicts are those of the corrected paper."""

from __future__ import annotations

import csv

from noisewright.lab.non_identical.curves import gini, profile
from noisewright.lab.non_identical.reproduction import reproduce
from noisewright.lab.reproductions import REPRODUCTIONS


def test_a_quick_reproduction_writes_every_figure_and_judges_every_claim(tmp_path):
    steps: list[str] = []
    result = reproduce(tmp_path, steps.append, dimensions=[2, 3, 9, 20], draws=100)
    assert len(steps) == REPRODUCTIONS["non-identical-noise"].steps
    assert {p.name for p in result.files} == {f"figure-0{i}.{kind}" for i in range(1, 7) for kind in ("png", "csv")}
    assert all(p.stat().st_size > 100 for p in result.files)
    assert sum(c.verdict == "fails" for c in result.claims) == 2
    errata = [c.says for c in result.claims if c.verdict == "erratum"]
    assert len(errata) == 2
    assert any("14.243" in says for says in errata)
    assert sum(c.verdict == "holds" for c in result.claims) == 9
    with (tmp_path / "figure-06.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["numbers K"] for row in rows] == ["2", "3", "9", "20"]
    crossing = [float(r["non-identical Gaussian, uniform"]) < float(r["non-identical Laplace, uniform"]) for r in rows]
    assert crossing == [False, False, True, True]
    assert all(float(r["norm-shaped blocks, uniform"]) <= float(r["non-identical Laplace, uniform"]) for r in rows)


def test_gini_coefficients():
    assert gini(profile("uniform", 7)) == 0
    assert gini(profile("one-hot", 4)) == 0.75
    assert gini(profile("quadratic", 2)) > gini(profile("exponential", 2))
    assert gini(profile("quadratic", 3)) < gini(profile("exponential", 3))
