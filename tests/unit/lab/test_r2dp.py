"""The reproduction of R2DP, in small: every file is written, every claim is judged, the verdicts are the known ones."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from noisewright.lab import r2dp
from noisewright.lab.r2dp_curves import _staircase_within, laplace_renyi, response_renyi, usefulness_panel
from noisewright.lab.registry import REPRODUCTIONS
from noisewright.laws.piecewise import staircase
from noisewright.numerics.fields import FLOATS

SMALL = r2dp.Sizes(3, 2, 2, 1, 2000, (1.0,))
FIGURES = (3, 4, 5, 6, 7, 8, 9, 11)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    pytest.importorskip("sklearn", reason="figure 9 needs the extra noisewright[learn]")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOISEWRIGHT_DATA", "no such folder")
        steps: list[str] = []
        found = r2dp.reproduce(tmp_path_factory.mktemp("r2dp"), steps.append, SMALL)
    return found, steps


def test_every_figure_and_table_is_written(small):
    found, steps = small
    names = {path.name for path in found.files}
    assert names >= {f"figure-{k}.{kind}" for k in FIGURES for kind in ("png", "csv")}
    assert names >= {f"table-{k}.csv" for k in (1, 2, 3, 4)}
    assert all(path.stat().st_size > 100 for path in found.files)
    assert len(steps) == REPRODUCTIONS["r2dp"].steps


def test_data_the_package_made_are_said_to_be_made(small):
    assert all("made" in source for source in small[0].data)


def test_verdicts(small):
    verdicts = {claim.where: claim.verdict for claim in small[0].claims}
    assert verdicts["Theorem 4.1"] == "holds"
    assert verdicts["Theorem B.2"] == "fails"
    assert verdicts["Section 5.2.1, Figure 3"] == "fails"
    assert verdicts["Section 5.2.2, Figure 4"] == "fails"
    assert verdicts["Section 5.2.3"] == "fails"
    assert verdicts["Theorem F.4"] == "holds"
    assert verdicts["Section 5.1"] == "not reproducible"
    assert len(small[0].claims) >= 15


def test_table_four_has_the_infinite_bound(small):
    path = next(p for p in small[0].files if p.name == "table-4.csv")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    row = next(r for r in rows if r["mechanism"] == "gamma(1, 1)" and r["order"] == "2.5")
    assert row["bound of Theorem F.4"] == "infinite"
    assert float(row["true divergence"]) == pytest.approx(0.651, abs=6e-4)


@pytest.mark.parametrize("within", [0.3, 1.0, 2.7])
def test_the_closed_form_of_the_curves_is_that_of_the_law(within):
    from fractions import Fraction

    law = staircase(epsilon=Fraction(2), sensitivity=Fraction(1), split=Fraction(2, 5))
    expected = 1 - 2 * law.sf(Fraction(str(within)), FLOATS)
    assert _staircase_within(0.4, 2.0, within) == pytest.approx(float(expected), rel=1e-12)


def test_curves_are_in_their_known_order():
    panel = usefulness_panel(1.0, 0.4, np.array([1.0, 10.0]))
    for i in range(2):
        assert panel.curves["staircase for this metric"][i] >= max(curve[i] for curve in panel.curves.values())
        assert panel.curves["two-fold optimum"][i] >= panel.curves["Laplace"][i] - 1e-12
    assert laplace_renyi(1.0, 50.0) < response_renyi(1.0, 50.0) < 1.0
