"""Optimal strategies have the known errors, and the proven bounds lie just below them.

Known values: root mean square error per question at noise deviation 1 and sensitivity 1, from float primal and dual
solutions; marginals from the closed form, which agrees with ResidualPlanner's own code to six digits.
"""

from __future__ import annotations

from itertools import combinations

import pytest

import noisewright as nw
from noisewright.mechanisms.strategies.values import LARGEST_DENSE
from noisewright.problem.utilities import Utility
from noisewright.search.bounds.line import least_line
from noisewright.search.families.strategies import best_residuals, optimum_of, worst_residuals

W = nw.Workload
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (50, 100, 7, 4, 2)
UNIT = nw.ZeroConcentratedDP("0.5")
"""Where mu = 1."""

TOTALS = [
    (W.ranges(128), 2.5989908),
    (W.prefixes(128), 2.3110012),
    (W.ranges(256), 2.9014355),
    (W.prefixes(256), 2.5244144),
]
LARGEST = [(W.prefixes(16), 1.70448, 1e-6), (W.prefixes(256), 2.5327275, 1.2e-5)]
MARGINALS = [
    (CPS, (1,), 1.74394464),
    (CPS, (2,), 2.03458624),
    (CPS, (3,), 2.0476612),
    (CPS, (0, 1, 2, 3), 2.27587303),
    (ADULT, (1,), 3.04682322),
    (ADULT, (2,), 6.35872013),
    (ADULT, (3,), 10.5152695),
    (ADULT, (0, 1, 2, 3), 10.6650081),
]


def _marginals(sizes: tuple[int, ...], ways: tuple[int, ...]) -> nw.Workload:
    return W.marginals(sizes, [axes for k in ways for axes in combinations(range(len(sizes)), k)])


def _gaussian(query: nw.Workload, utility: Utility, name: str) -> nw.Candidate:
    report = nw.design(query, privacy=UNIT, utility=utility)
    return next(c for c in report.candidates if c.name == f"{name}, Gaussian")


@pytest.mark.parametrize(("query", "known"), TOTALS, ids=[str(q) for q, _ in TOTALS])
def test_the_best_strategy_has_the_known_error_and_is_proven_to_be_the_best(query: nw.Workload, known: float):
    bound = float(optimum_of(query, worst=False).bound)
    assert (bound / query.dimension) ** 0.5 == pytest.approx(known, abs=1e-6)
    found = _gaussian(query, nw.SquaredError(), "optimal")
    assert bound <= found.value + found.error <= bound * (1 + 1e-6)


@pytest.mark.parametrize(("query", "known", "tolerance"), LARGEST, ids=[str(q) for q, *_ in LARGEST])
def test_the_least_largest_error_of_prefix_sums_is_the_known_one(query: nw.Workload, known: float, tolerance: float):
    bound = float(optimum_of(query, worst=True).bound)
    assert bound**0.5 == pytest.approx(known, abs=tolerance)
    found = _gaussian(query, nw.WorstVariance(), "optimal")
    assert bound <= found.value + found.error <= bound * (1 + 1e-5)


@pytest.mark.parametrize(("sizes", "ways", "known"), MARGINALS)
def test_marginals_have_the_known_error(sizes: tuple[int, ...], ways: tuple[int, ...], known: float):
    query = _marginals(sizes, ways)
    report = nw.design(query, privacy=UNIT, utility=nw.SquaredError())
    assert (report.candidates[0].value / query.dimension) ** 0.5 == pytest.approx(known, rel=2e-8)
    assert float(best_residuals(query, sizes)[2] / query.dimension) ** 0.5 == pytest.approx(known, rel=1e-8)
    assert report.best.certificate.bound == UNIT.rho


@pytest.mark.parametrize(("ways", "known"), [((1,), 4.346419), ((2,), 7.897033)])
def test_marginals_have_the_known_largest_variance(ways: tuple[int, ...], known: float):
    query = _marginals(CPS, ways)
    found = _gaussian(query, nw.WorstVariance(), "residuals")
    assert found.value == pytest.approx(known, abs=1e-6)
    assert float(worst_residuals(query, CPS)[2]) == pytest.approx(known, abs=1e-6)


def test_searched_rows_reach_the_best_known_error_under_pure_privacy():
    query = W.ranges(64)
    report = nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert report.candidates[0].name == "searched rows, Laplace"
    assert (report.candidates[0].value / query.dimension) ** 0.5 <= 5.5524 * (1 + 1e-3)


def test_at_a_small_delta_the_pure_strategy_wins_by_the_known_factor():
    report = nw.design(W.ranges(64), privacy=nw.ApproxDP(1, "1e-6"), utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    assert values["optimal, Gaussian"] / values["searched rows, Laplace"] == pytest.approx(3.1, abs=0.05)
    assert report.best is report.candidates[0].certified
    assert "searched rows, Laplace wins" in report.why
    assert "times its error" in report.why


LINES = [("ranges", 256, 2.9014355), ("prefixes", 1024, 2.955452), ("ranges", 4096, None)]


@pytest.mark.parametrize(("form", "size", "known"), LINES)
def test_the_bound_along_a_line_is_just_below_the_optimum(form: str, size: int, known: float | None):
    query = getattr(W, form)(size)
    bound = least_line(query)
    assert bound is not None
    root = float(bound / query.dimension) ** 0.5
    if known is not None:
        assert known * (1 - 1e-4) <= root <= known
    assert least_line(query * 3) == 3 * bound
    if size > LARGEST_DENSE:
        report = nw.design(query, privacy=UNIT, utility=nw.SquaredError())
        names = [c.name for c in report.candidates]
        assert names[:2] == ["filter for ranges, Gaussian", "Haar wavelet, Gaussian"]
        assert bound <= report.candidates[0].value <= 1.005 * bound
        assert bound <= report.candidates[1].value <= 1.6 * bound


def test_a_product_of_workloads_has_the_product_of_their_optima():
    first, second = W.ranges(5), W.prefixes(7)
    parts = [float(optimum_of(q, worst=False).bound) for q in (first, second)]
    whole = float(optimum_of(first.product(second), worst=False).bound)
    assert whole == pytest.approx(parts[0] * parts[1], rel=1e-7)
