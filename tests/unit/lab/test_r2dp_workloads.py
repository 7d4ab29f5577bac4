"""Table 3 of the R2DP paper: strategies with two-fold noise on their rows, against formulas of its own."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.r2dp.tables import measured, rows_of_table_three, table_three, total_error, workloads


def test_the_total_error_is_that_of_least_squares():
    """Two cells and their sum measured, with variances 1, 2 and 3: the weighted estimate by hand."""
    matrix = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    variances = np.array([1.0, 2.0, 3.0])
    # The inverse of [[1 + 1/3, 1/3], [1/3, 1/2 + 1/3]] is [[15, -6], [-6, 24]] / 18.
    assert total_error(np.eye(2), matrix, variances) == pytest.approx((15 + 24) / 18)
    assert total_error(np.array([[1.0, 1.0]]), matrix, variances) == pytest.approx((15 + 24 - 12) / 18)


def test_the_matrix_of_a_strategy_is_what_it_measures():
    report = nw.design(nw.Workload.ranges(6), privacy=nw.PureDP(1), utility=nw.SquaredError())
    for candidate in report.candidates:
        strategy = candidate.certified.mechanism
        matrix, levels = measured(strategy)
        assert len(matrix) == len(levels)
        table = [3, 1, 4, 1, 5, 9]
        sums = np.concatenate([np.ravel(group) for group in strategy.law_given(table)]) / strategy.fineness
        assert sorted(sums[np.abs(sums) > 0]) == pytest.approx(sorted(v for v in matrix @ table if v))
        variances = np.array([2 * float(level) ** 2 for level in levels])
        questions = np.array([[float(v) for v in row] for row in nw.Workload.ranges(6).matrix()])
        # Discrete Laplace noise is a little less than the continuous noise of its scale.
        assert total_error(questions, matrix, variances) == pytest.approx(candidate.value, rel=0.1)


def test_the_workloads_are_every_range_and_every_set_of_cells():
    found = workloads(4)
    assert [workload.dimension for workload in found.values()] == [10, 15]
    assert [workload.size for workload in found.values()] == [4, 4]


def test_a_fold_for_the_whole_sensitivity_overspends_on_several_rows():
    """Gamma rates of shape 2 at sensitivity 4: scale (e^(epsilon/3) - 1) / 4, and four rows cost 12 ln(1 + scale)."""
    rows = [row for row in rows_of_table_three() if row.strategy == "Haar wavelet"]
    assert {row.epsilon for row in rows} == {"1", "2.3", "10", "30"}
    for row in rows:
        assert row.sensitivity == 4
        wanted = 12 * math.log1p((math.exp(float(row.epsilon) / 3) - 1) / 4)
        assert row.spent == pytest.approx(wanted, rel=1e-6)
        assert row.spent > float(row.epsilon)


def test_two_fold_noise_gains_only_where_the_share_of_a_row_is_large():
    """Nothing below epsilon 4.907 a row; at 10 the identity gains what the best fold does for one number."""
    for row in rows_of_table_three():
        share = float(row.epsilon) / float(row.sensitivity)
        assert row.two_fold <= row.laplace * (1 + 1e-12)
        if share < 4.9:
            assert row.gain == pytest.approx(0, abs=1e-9)
    identity = next(r for r in rows_of_table_three() if r.strategy == "identity" and r.epsilon == "10")
    # 0.019523785 for one number against 2 / 100; the report of one number says the same.
    one = nw.design(nw.Scalar(1), privacy=nw.PureDP(10), utility=nw.SquaredError())
    values = {c.name: c.value for c in one.candidates}
    assert 1 - identity.gain == pytest.approx(values["two-fold optimum"] / values["Laplace"], rel=2e-3)


def test_the_table_is_written(tmp_path: Path):
    with table_three(tmp_path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(rows_of_table_three())
    assert {row["workload"] for row in rows} == {"ranges, n = 6", "predicates, n = 6"}
