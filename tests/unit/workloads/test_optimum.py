"""The lower bound holds whatever it is given, and the strategies found are near it, for every shape of workload."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.numerics.workloads import gram
from noisewright.proof.strategies import strategy_squared_sensitivity
from noisewright.search.bounds.line import Witness, least_line, least_total, least_worst, proven_line
from noisewright.search.bounds.unbiased import least_unbiased
from noisewright.search.cache import forget
from noisewright.search.families import strategies as optimal
from noisewright.search.families.strategies import best_residuals, merged, optimum_of, squared_budget, whole
from noisewright.search.programmes.strategy import best_total
from noisewright.search.report.plots import rows_over_noise
from tests.workloads import LISTED, STRATEGIES, WORKLOADS, W

CONCENTRATED = nw.ZeroConcentratedDP("0.5")
RANDOM = [
    W([[(7 * i * i + 3 * i * j + j) % 5 - 2 for j in range(10)] for i in range(4)]),
    W([[(7 * i * i + 3 * i * j + j) % 3 for j in range(6)] for i in range(20)]),
    W([[1, 1, 0], [0, 0, 1]]),
    W([[1, 1, 1, 1]]),
    W([[1, 0, 2, 0], [1, 0, 2, 0]]),
    W([["1/3", 2, 0], [5, "1/7", 0]]),
]


@pytest.mark.parametrize("query", [*WORKLOADS.values(), *RANDOM], ids=str)
@pytest.mark.parametrize("worst", [False, True])
def test_every_workload_has_a_strategy_near_its_proven_optimum(query: nw.Workload, worst: bool):
    utility = nw.WorstVariance() if worst else nw.SquaredError()
    report = nw.design(query, privacy=CONCENTRATED, utility=utility)
    best = report.candidates[0]
    least = optimum_of(query, worst=worst).bound
    assert float(least) <= best.value + best.error
    assert best.value - best.error <= float(least) * (1 + 1e-4)
    assert report.best.certificate.bound <= CONCENTRATED.rho
    assert report.bound is not None
    assert report.bound == pytest.approx(float(least) / np.expm1(1.0))


def test_a_bound_holds_for_every_witness_and_is_sharp_for_a_good_one():
    gram_matrix, below, _ = merged(LISTED)
    optimum = best_total(gram_matrix.astype(float) / below)
    n, r = optimum.left.shape
    good = Witness(whole(optimum.cells, 40), whole(optimum.left, 44), whole(optimum.right, 44))
    assert float(least_total(gram_matrix, below, good)) == pytest.approx(optimum.lower, rel=1e-9)
    for seed in range(40):
        numbers = [(seed * i * i + 3 * i + seed) % 29 - 14 for i in range(n + 2 * n * r)]
        cells = np.array([abs(v) for v in numbers[:n]])
        left, right = (np.array(numbers[n + k * n * r : n + (k + 1) * n * r]).reshape(n, r) for k in (0, 1))
        assert float(least_total(gram_matrix, below, Witness(cells, left, right))) <= optimum.upper * (1 + 1e-12)
        bent = Witness(good.cells + cells * 2**30, good.left + left * 2**33, good.right + right * 2**33)
        assert float(least_total(gram_matrix, below, bent)) <= optimum.upper * (1 + 1e-12)
    zero = np.zeros((n, r), dtype=np.int64)
    assert least_total(gram_matrix, below, Witness(good.cells, zero, zero)) == 0
    assert least_worst(gram_matrix, below, good, Fraction(4)) == least_total(gram_matrix, below, good) / 4


@pytest.mark.parametrize("form", ["ranges", "prefixes"])
def test_the_bound_along_a_line_holds_for_all_weights_and_agrees_with_the_programme(form: str):
    query = getattr(W, form)(40)
    optimum = float(optimum_of(query, worst=False).bound)
    assert float(least_line(query) or 0) == pytest.approx(optimum, rel=3e-5)
    for seed in range(5):
        cells = np.array([1.0 + (seed * i * i + 3 * i) % 7 for i in range(40)])
        roots = np.sqrt(cells)
        inner = roots[:, None] * gram(query)[0].astype(float) * roots
        exact = float(np.sqrt(np.maximum(np.linalg.eigvalsh(inner), 0)).sum() ** 2 / cells.sum())
        found = float(proven_line(form, cells))
        assert exact * (1 - 3e-5) <= found <= exact <= optimum * (1 + 1e-9)


def test_two_forms_of_one_length_have_bounds_of_their_own():
    """Both are kept while the other is asked for; over three cells the nuclear norms are known from their matrices."""
    exact = {}
    for form in ("ranges", "prefixes"):
        values = np.linalg.svd(np.array(getattr(W, form)(3).matrix(), dtype=float), compute_uv=False)
        exact[form] = float(values.sum() ** 2 / 3)
    assert exact["ranges"] > 1.5 * exact["prefixes"]
    for form in ("ranges", "prefixes", "ranges"):
        assert exact[form] * (1 - 3e-5) <= float(least_line(getattr(W, form)(3)) or 0) <= exact[form] * 1.1


def test_only_plain_lines_have_the_bound_of_lines():
    for query in (W.identity(9), W.ranges(9) | W.prefixes(9), W.ranges(3).product(W.ranges(3)), LISTED):
        assert least_line(query) is None


def test_the_dual_bound_of_one_cell_and_of_two_is_known_by_hand():
    # One cell asked twice: W = (1, 1)^T, the optimum is 2. Two cells asked for their sum: 1.
    for matrix, known in (([[1], [1]], 2), ([[1, 1]], 1), ([[1, 0], [0, 1]], 2), ([[3, 0], [0, 4]], 25)):
        assert float(optimum_of(W(matrix), worst=False).bound) == pytest.approx(known, rel=1e-6)


def test_marginals_are_solved_alike_by_their_closed_form_and_by_the_programme():
    query = W.marginals([3, 2, 4], [(0,), (1, 2), (0, 2)]) | W.marginals([3, 2, 4], [(1,)]) * "5/2"
    closed = best_residuals(query, (3, 2, 4))[2]
    solved = best_total(merged(query)[0].astype(float) / gram(query)[1])
    assert float(closed) == pytest.approx(solved.lower, rel=1e-6)


def test_cells_nobody_asks_about_cost_nothing():
    asked, more = W([[1, 2], [3, 1]]), W([[0, 1, 0, 2, 0], [0, 3, 0, 1, 0]])
    bounds = [optimum_of(q, worst=False).bound for q in (asked, more)]
    assert bounds[0] == bounds[1]
    best = nw.design(more, privacy=CONCENTRATED, utility=nw.SquaredError()).best
    assert best.release([5, 6, 7, 8, 9]).estimate[[0, 2, 4]].tolist() == [0, 0, 0]


def test_equal_cells_are_measured_together():
    best = optimum_of(W([[1, 1, 2, 2, 0]]) | W([[0, 0, 1, 1, 0]]), worst=False)
    assert best.rows.places == (1, 1, 2, 2, 0)


@pytest.mark.parametrize(
    ("privacy", "known"),
    [
        (nw.ZeroConcentratedDP("0.01"), 1 / np.expm1(0.02)),
        (nw.PureDP(1), np.e / (np.e - 1) ** 2),
        (nw.RenyiDP(2, 1), 1 / np.expm1(1.0)),
        (nw.RenyiDP(9, 1), 1 / 1.177482348853541),
    ],
)
def test_what_no_unbiased_method_can_beat(privacy: object, known: float):
    assert float(least_unbiased(Fraction(3), privacy) or 0) == pytest.approx(3 * known, rel=1e-12)
    for unknown in (nw.ApproxDP(1, "1e-6"), nw.RenyiDP("3/2", 1)):
        assert least_unbiased(Fraction(3), unknown) is None


def test_the_gaussian_is_within_one_per_cent_of_every_unbiased_method_at_a_small_rho():
    report = nw.design(W.ranges(16), privacy=nw.ZeroConcentratedDP("0.01"), utility=nw.SquaredError())
    assert report.candidates[0].gap is not None
    assert 0.009 < report.candidates[0].gap < 0.0102
    assert "unbiased" in report.why
    assert report.bound_over == "unbiased method"


@pytest.mark.parametrize("size", [1, 2, 5000])
@pytest.mark.parametrize("privacy", [CONCENTRATED, nw.PureDP(1), nw.ApproxDP(1, "1e-6")])
def test_a_total_and_single_cells_are_answered_well_at_every_size(size: int, privacy: Any):
    total = nw.design(W.total(size), privacy=privacy, utility=nw.SquaredError())
    cells = nw.design(W.identity(size), privacy=privacy, utility=nw.WorstVariance())
    both = nw.design(W.total(size) | W.identity(size), privacy=privacy, utility=nw.SquaredError())
    assert total.candidates[0].value == pytest.approx(cells.candidates[0].value, rel=1e-6)
    assert both.candidates[0].value <= (size + 1) * 4 * cells.candidates[0].value
    released = both.best.release({0: 7}).answers
    assert len(released) == size + 1
    assert released[0] == pytest.approx(7, abs=300)


def test_a_tree_for_a_long_line_is_found_though_descent_tries_to_leave_out_its_cells():
    report = nw.design(W.ranges(3000), privacy=nw.ApproxDP(1, "1e-6"), utility=nw.SquaredError())
    names = [c.name for c in report.candidates]
    assert names[0] == "tree of 4 branches, Laplace"
    assert "filter for ranges, Gaussian" in names[:2]


def test_budgets_of_gaussian_noise_are_the_largest_that_hold():
    assert squared_budget(nw.ZeroConcentratedDP("0.3")) == Fraction(3, 5)
    for epsilon, delta in ((1, "1e-6"), ("0.01", "0.4"), (10, "1e-12")):
        privacy = nw.ApproxDP(epsilon, delta)
        found = nw.design(W.identity(2), privacy=privacy, utility=nw.SquaredError())
        certified = next(c.certified for c in found.candidates if c.name == "identity, Gaussian")
        assert float(certified.certificate.bound) == pytest.approx(float(privacy.delta), rel=1e-6)


@pytest.mark.parametrize(("cells", "moved"), [(2, False), (1, True)])
def test_without_a_proof_no_distance_is_printed(cells: int, moved: bool):
    query = W.ranges(6, cells_per_person=cells, replace=moved)
    report = nw.design(query, privacy=CONCENTRATED, utility=nw.SquaredError())
    assert report.bound is None
    assert all(c.gap is None for c in report.candidates)
    assert "not known here" in " ".join(report.notes)
    assert "proven, at most" not in " ".join(report.notes)


def test_solved_strategies_are_kept_and_proven_again_when_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    forget()
    query = W.prefixes(12)
    first = [optimum_of(query, worst=worst) for worst in (False, True)]
    forget()
    monkeypatch.setattr(optimal, "best_total", None)
    monkeypatch.setattr(optimal, "best_worst", None)
    assert [optimum_of(query, worst=worst) for worst in (False, True)] == first
    forget()


@pytest.mark.parametrize(
    "query", [W.ranges(6), W.prefixes(6), W.marginals([2, 3], [(0,), (0, 1)]), W.ranges(3000)], ids=str
)
def test_a_report_is_drawn_as_pictures_of_errors_and_rows(query: nw.Workload, tmp_path: Path):
    report = nw.design(query, privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError())
    figure = report.plot(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 5000
    titles = [" ".join(axes.get_title().split()) for axes in figure.axes]
    assert any("error of each question" in title for title in titles)
    assert "rows that are measured, over their noise" in titles
    if query.size == 6 and query == W.ranges(6):
        shown: Any = figure.axes[0].images[0].get_array()
        assert shown[1, 4] == pytest.approx(report.parts[0][6 + 3] ** 0.5)


def test_pictures_of_rows_have_columns_of_the_reach():
    for name in ("dense", "three branches", "blocks"):
        strategy = STRATEGIES[name]
        lengths = (rows_over_noise(strategy) ** 2).sum(axis=0)
        # Stated variances hold the rounding, which privacy does without.
        assert float(lengths.max()) == pytest.approx(float(strategy_squared_sensitivity(strategy)), rel=0.02)


def test_questions_are_weighted_by_how_often_they_count():
    query = W.identity(3) | W.total(3) * 9
    report = nw.design(query, privacy=CONCENTRATED, utility=nw.SquaredError())
    explicit = W([[1, 0, 0], [0, 1, 0], [0, 0, 1], *([[1, 1, 1]] * 9)])
    assert report.candidates[0].value == pytest.approx(
        nw.design(explicit, privacy=CONCENTRATED, utility=nw.SquaredError()).candidates[0].value, rel=1e-6
    )
