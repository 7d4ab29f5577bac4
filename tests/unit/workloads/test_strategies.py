"""Strategies measure, cost and protect what their rows, written out one by one, measure, cost and protect."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.gaussian import RoundedNormal
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.numerics.integer_matrices import near_inverse, product as whole_product
from noisewright.proof import strategies
from noisewright.proof.strategies import strategy_l1_sensitivity, strategy_squared_sensitivity
from noisewright.sample.strategy import WorkloadAnswer
from noisewright.search.families.strategies import gaussian_strategy
from tests.workloads import (
    STRATEGIES,
    M,
    W,
    among,
    covariance,
    exact_reach,
    explicit,
    measured_reach,
    measured_rows,
    several_rows,
    variances_of_rows,
    weights,
)

UNIT = nw.ZeroConcentratedDP("0.5")
each_strategy = pytest.mark.parametrize("name", STRATEGIES)


def _reach(strategy: Any) -> Fraction:
    return (
        strategy_squared_sensitivity(strategy)
        if isinstance(strategy, M.GaussianStrategy)
        else strategy_l1_sensitivity(strategy)
    )


@each_strategy
def test_rows_measure_what_is_written_out(name: str):
    strategy = STRATEGIES[name]
    rows, groups, factors = measured_rows(strategy.rows)
    table = [(5 * i * i + i) % 13 for i in range(strategy.query.size)]
    found = strategy.law_given(table)
    assert len(found) == strategy.rows.groups
    wanted = rows @ np.array(table, dtype=object) * strategy.fineness
    for group, values in enumerate(found):
        # Blocks of empty cells beyond the table are measured too.
        mine = wanted[groups == group]
        assert list(map(int, values[: len(mine)])) == list(map(int, mine))
        assert not values[len(mine) :].any()
        if isinstance(strategy, M.GaussianStrategy):
            given = strategy.rows.factors(group)
            assert list(np.ones(len(mine)) if given is None else given[: len(mine)]) == list(factors[groups == group])


@each_strategy
def test_one_person_moves_the_rows_no_farther_than_proven(name: str):
    strategy = STRATEGIES[name]
    assert _reach(strategy) == exact_reach(strategy)


@pytest.mark.parametrize("name", [name for name, strategy in STRATEGIES.items() if strategy.query.size < 10])
@pytest.mark.parametrize(("cells", "moved"), [(2, False), (3, False), (1, True), (2, True)])
def test_people_in_several_cells_or_replaced_move_them_no_farther_than_proven(name: str, cells: int, moved: bool):
    strategy = STRATEGIES[name]
    other = replace(strategy, query=among(strategy.query, cells, moved))
    assert (
        exact_reach(other)
        <= _reach(other)
        <= _reach(strategy) * (cells * (1 + moved)) ** (2 if isinstance(strategy, M.GaussianStrategy) else 1)
    )


@pytest.mark.parametrize(
    ("name", "cells", "moved"),
    [
        *((name, 3, False) for name in ("blocks", "cells", "Laplace blocks")),
        *((name, 1, True) for name in ("blocks", "cells", "Laplace wavelet", "Laplace blocks", "Laplace dense")),
    ],
)
def test_what_several_cells_or_a_move_cost_is_known_exactly(name: str, cells: int, moved: bool):
    strategy = replace(STRATEGIES[name], query=among(STRATEGIES[name].query, cells, moved))
    assert _reach(strategy) == exact_reach(strategy)


@pytest.mark.parametrize("most", [20_000, 0])
@pytest.mark.parametrize("name", ["residuals", "Laplace marginals"])
def test_moving_in_a_table_of_attributes_costs_no_more_than_the_farthest_pair(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int
):
    monkeypatch.setattr(strategies, "_MOST_PATTERNS", most)
    strategy = replace(STRATEGIES[name], query=among(STRATEGIES[name].query, 1, True))
    if most or name != "residuals":
        assert _reach(strategy) == exact_reach(strategy)
    else:
        assert exact_reach(strategy) < _reach(strategy) < exact_reach(strategy) * Fraction(3, 2)


@pytest.mark.parametrize("sizes", [(2, 5), (5, 2), (4, 7, 3), (3, 2, 9, 5)])
def test_two_cells_are_farthest_apart_where_they_differ_in_what_has_the_fewest_values(sizes: tuple[int, ...]):
    """Over every choice of the attributes in which they differ, for every set of attributes."""
    places = range(len(sizes))
    for axes in (axes for count in places for axes in combinations(places, count + 1)):
        factors = [(1 - Fraction(1, sizes[i]), -Fraction(1, sizes[i])) for i in axes]
        assert strategies._least_product(sizes, axes) == min(map(math.prod, product(*factors)))


@pytest.mark.parametrize("branching", [2, 3])
@pytest.mark.parametrize("levels", [[1, 1, 1, 1], [1, 9, 2, 40], [40, 9, 1, 1], [1, 2, 4, 8], [9, 1, 30, 1]])
@pytest.mark.parametrize(("cells", "moved"), [(2, False), (3, False), (1, True), (2, True)])
def test_differences_of_any_levels_move_no_farther_than_proven(
    branching: int, levels: list[int], cells: int, moved: bool
):
    size, height = (7, 3) if branching == 2 else (8, 2)
    query = W.ranges(size, cells_per_person=cells, replace=moved)
    strategy = M.GaussianStrategy(query, M.ContrastRows(size, branching), levels[: height + 1], 1000)
    assert exact_reach(strategy) <= strategy_squared_sensitivity(strategy) <= exact_reach(strategy) * 4


@pytest.mark.parametrize(
    ("rows", "levels", "kind"),
    [
        (M.BlockRows(4, 2, [0, 2]), [10**6, 1], M.GaussianStrategy),
        (M.BlockRows(4, 2, [0, 2]), [10**6, 1], M.LaplaceStrategy),
        (M.ContrastRows(4, 2), [10**6, 10**6, 1], M.GaussianStrategy),
        (M.ContrastRows(4, 2), [10**6, 10**6, 1], M.LaplaceStrategy),
    ],
)
def test_whoever_moves_may_be_in_fewer_cells_afterwards(rows: Any, levels: list[int], kind: Any):
    strategy = kind(W.ranges(4, cells_per_person=3, replace=True), rows, levels, 1000)
    assert exact_reach(strategy) <= _reach(strategy) <= exact_reach(strategy) * Fraction(1001, 1000)


@pytest.mark.parametrize("name", [name for name, strategy in STRATEGIES.items() if strategy.query.size < 10])
def test_several_rows_of_a_person_cost_no_more_than_proven_and_no_less(name: str):
    strategy = STRATEGIES[name]
    other = replace(strategy, query=strategy.query.with_rows(3))
    gaussian = isinstance(strategy, M.GaussianStrategy)
    assert several_rows(other) == _reach(other) == _reach(strategy) * (9 if gaussian else 3)
    moved = replace(strategy, query=among(strategy.query, 1, True).with_rows(2))
    assert several_rows(moved) <= _reach(moved)


def test_whoever_is_replaced_may_have_fewer_rows_afterwards():
    rows = M.BlockRows(9, 9, [0, 1])
    nobody = replace(
        M.GaussianStrategy(W.identity(9, replace=True), rows, [100, 1]), query=W.identity(9, replace=True).with_rows(3)
    )
    # Three rows in one cell, then one in another: 3^2 / 100 and 1 / 100 by cells, and the total falls by two.
    assert strategy_squared_sensitivity(nobody) >= Fraction(9 + 1, 100) + 4 == several_rows(nobody)
    assert strategy_squared_sensitivity(nobody) <= several_rows(nobody) * Fraction(5, 4)
    total = M.LaplaceStrategy(W.identity(9, replace=True).with_rows(3), rows, [100, 1])
    assert strategy_l1_sensitivity(total) >= Fraction(4, 100) + 2 == several_rows(total)
    assert strategy_l1_sensitivity(total) <= several_rows(total) * Fraction(101, 100)


def _asked(form: str, **who: Any) -> nw.Workload:
    """A small question of each way to make one."""
    asked: dict[str, Callable[[], nw.Workload]] = {
        "identity": lambda: W.identity(4, **who),
        "total": lambda: W.total(3, **who),
        "prefixes": lambda: W.prefixes(4, **who),
        "ranges": lambda: W.ranges(5, **who),
        "marginals": lambda: W.marginals([3, 2], [(0,), (1,), ()], **who),
        "matrix": lambda: W([[1, "1/2", 0, -2], [0, 3, 1, 1]], **who),
        "empty and equal columns": lambda: W([[1, 0, 0, 1], [1, 0, 0, 1]], **who),
        "constant rows": lambda: W([[2, 2, 2]], **who),
        "product": lambda: W.prefixes(2, **who).product(W.ranges(2, **who)),
        "union": lambda: W.ranges(3, **who) * 3 | W.total(3, **who) * "1/7",
    }
    return asked[form]()


FORMS = ("identity", "total", "prefixes", "ranges", "marginals", "matrix", "empty and equal columns")


@pytest.mark.parametrize("form", [*FORMS, "constant rows", "product", "union"])
def test_whatever_is_asked_no_replaced_person_moves_a_design_farther_than_proven(form: str):
    """Persons before and after are listed, and the difference of what is measured of both is looked at."""
    for cells, rows in ((1, 1), (1, 3), (2, 1), (2, 2)):
        query = _asked(form, cells_per_person=cells, replace=True).with_rows(rows)
        if query.still:
            assert (cells, rows, form in ("total", "constant rows")) == (1, 1, True), "one cell before and after"
            continue
        for privacy in (nw.ZeroConcentratedDP("0.5"), nw.PureDP(1)):
            for candidate in nw.design(query, privacy=privacy, utility=nw.SquaredError()).candidates:
                mechanism = candidate.certified.mechanism
                reach = _reach(mechanism)
                assert measured_reach(mechanism) <= reach
                assert reach <= (1 if isinstance(privacy, nw.PureDP) else 2 * privacy.rho)
                if (cells, rows) == (1, 1):
                    assert reach <= measured_reach(mechanism) * Fraction(1001, 1000)


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_noise_for_replaced_people_with_several_rows_is_calibrated_to_a_checked_end(cells: int):
    for size, branching, levels in ((3, 3, [0, 1]), (5, 2, [0, 1, 3]), (9, 3, [0, 2])):
        query = W.identity(size, cells_per_person=cells, replace=True)
        for rows in (2, 3, 5):
            for share in (0.1, 0.7, 2.7):
                shares = [share, *[1.0] * (len(levels) - 1)]
                asked = query.with_rows(rows)
                made = gaussian_strategy(asked, UNIT, M.BlockRows(size, branching, levels), shares)
                assert 1 - Fraction(1, 2**40) <= strategy_squared_sensitivity(made) <= 1


def test_replacing_in_a_filter_costs_two_columns_and_not_four():
    for form in ("ranges", "prefixes"):
        for starts, each in (([0, 2], [5, 3]), ([0], [4])):
            rows = M.FilterRows(form, 7, starts, each)
            alone = M.GaussianStrategy(W.prefixes(7), rows, [10**12])
            for cells in (1, 2):
                moved = replace(alone, query=among(alone.query, cells, True))
                column = exact_reach(alone)
                assert (
                    exact_reach(moved)
                    <= strategy_squared_sensitivity(moved)
                    <= 2 * cells**2 * column * Fraction(1001, 1000)
                )
            assert strategy_squared_sensitivity(replace(alone, query=among(alone.query, 2, False))) == 4 * column


def test_rows_that_nobody_moves_cost_nothing_under_every_notion():
    query = W.total(2, replace=True)
    gaussian = M.GaussianStrategy(query, M.DenseRows([[1, 1]], [1, 2]), [9], 5)
    for privacy in (UNIT, nw.ApproxDP(1, "1e-6"), nw.RenyiDP(3, 1)):
        assert nw.certify(gaussian, privacy).bound == 0
    laplace = M.LaplaceStrategy(query, gaussian.rows, [9], 5)
    assert nw.certify(laplace, nw.PureDP(1)).bound == 0


def test_rows_of_a_person_stay_with_the_questions():
    several = W.ranges(4).with_rows(3)
    assert not several.single
    assert "up to 3 rows a person" in str(several)
    assert W.from_dict(several.to_dict()) == several != W.ranges(4)
    assert [
        (several * 2).rows_per_person,
        several.product(several).rows_per_person,
        (several | several).rows_per_person,
    ] == [3] * 3
    assert "rows_per_person" not in W.ranges(4).to_dict(), "files of before stay as they were"
    with pytest.raises(nw.errors.InvalidQueryError, match="make them alike"):
        several | W.ranges(4)


def test_replacing_in_a_dense_strategy_costs_exactly_the_farthest_pair():
    rows = M.DenseRows([[3, -1, 2], [0, 2, 2], [1, 1, -4]], [1, 2, 3])
    alike = M.DenseRows([[5, 4], [1, 2]], [1, 2])
    for dense, places in ((rows, [1, 2, 3]), (rows, [1, 2, 3, 0]), (alike, [1, 2]), (alike, [1, 0, 2])):
        query = W([list(range(1, len(places) + 1))], replace=True)
        strategy = M.GaussianStrategy(query, replace(dense, places=places), [3])
        assert strategy_squared_sensitivity(strategy) == exact_reach(strategy)


@each_strategy
def test_a_claim_a_hair_below_what_is_proven_is_refused(name: str):
    strategy = STRATEGIES[name]
    gaussian = isinstance(strategy, M.GaussianStrategy)
    bound = _reach(strategy) / 2 if gaussian else _reach(strategy)
    claim = nw.ZeroConcentratedDP if gaussian else nw.PureDP
    assert nw.certify(strategy, claim(bound)).bound == bound
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(strategy, claim(bound * (1 - Fraction(1, 10**12))))


def test_a_delta_is_that_of_one_gaussian_of_the_same_reach():
    strategy = STRATEGIES["three branches"]
    reach = float(strategy_squared_sensitivity(strategy)) ** 0.5
    certificate = nw.certify(strategy, nw.ApproxDP(1, "0.5"))
    phi = lambda x: __import__("math").erfc(-x / 2**0.5) / 2  # noqa: E731  # a formula
    wanted = phi(reach / 2 - 1 / reach) - np.e * phi(-reach / 2 - 1 / reach)
    assert float(certificate.bound) == pytest.approx(wanted, rel=1e-12)


def test_a_divergence_is_the_order_times_that_of_order_one():
    strategy = STRATEGIES["residuals"]
    reach = strategy_squared_sensitivity(strategy)
    assert nw.certify(strategy, nw.RenyiDP(3, 30)).bound == 3 * reach / 2
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(strategy, nw.RenyiDP(3, 3 * reach / 2 * Fraction(999, 1000)))


@each_strategy
def test_probabilistic_privacy_is_refused(name: str):
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(STRATEGIES[name], nw.ProbabilisticDP(8, "0.9"))


@each_strategy
def test_a_pure_strategy_is_approximately_private_from_its_own_epsilon_on(name: str):
    strategy = STRATEGIES[name]
    if isinstance(strategy, M.GaussianStrategy):
        return
    bound = strategy_l1_sensitivity(strategy)
    assert nw.certify(strategy, nw.ApproxDP(bound, "0.001")).bound == 0
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(strategy, nw.ApproxDP(bound * Fraction(999, 1000), "0.001"))


@each_strategy
def test_stated_variances_are_those_of_least_squares(name: str):
    strategy = STRATEGIES[name]
    each = np.array([float(v) for v in strategy.power_means(Fraction(2), BALLS)])
    counted = weights(strategy.query).astype(float)
    if not isinstance(strategy.rows, M.MarginalRows):  # which answer each marginal from itself alone
        # Wavelets and residuals state an interval that holds all their rows, a hair wide.
        assert each == pytest.approx(np.diag(covariance(strategy)), rel=1e-6, abs=0)
    assert float(strategy.expected(nw.SquaredError())) == pytest.approx(float((each * counted).sum()), rel=1e-9, abs=0)
    assert float(strategy.expected(nw.WorstVariance())) == pytest.approx(float((each * counted).max()), rel=1e-9, abs=0)
    ones = nw.SquaredError(weights=range(1, len(each) + 1))
    assert float(strategy.expected(ones)) == pytest.approx(
        float((each * counted) @ range(1, len(each) + 1)), rel=1e-9, abs=0
    )
    with pytest.raises(nw.errors.InvalidUtilityError):
        strategy.expected(nw.AbsoluteError())


@each_strategy
def test_without_noise_the_answers_are_true_and_belong_to_one_table(name: str):
    strategy = STRATEGIES[name]
    table = np.array([(5 * i * i + i) % 13 for i in range(strategy.query.size)])
    released = WorkloadAnswer(strategy, strategy.law_given(table))
    true = explicit(strategy.query).astype(float) @ table
    assert released.answers == pytest.approx(true, abs=1e-9)
    if not isinstance(strategy.rows, M.MarginalRows):
        assert explicit(strategy.query).astype(float) @ released.estimate == pytest.approx(true, abs=1e-9)


@each_strategy
def test_answers_are_weighted_least_squares_of_what_was_measured(name: str):
    strategy = STRATEGIES[name]
    if isinstance(strategy.rows, M.MarginalRows):
        return
    measured = [
        np.array([(7 * i * i + g) % 23 - 9 for i in range(len(v))]) for g, v in enumerate(strategy.law_given({}))
    ]
    rows, _, _ = measured_rows(strategy.rows)
    scale = 1 / np.sqrt(variances_of_rows(strategy))
    values = np.concatenate(measured) / strategy.fineness
    table = np.linalg.lstsq(rows.astype(float) * scale[:, None], values * scale, rcond=None)[0]
    assert WorkloadAnswer(strategy, measured).answers == pytest.approx(
        explicit(strategy.query).astype(float) @ table, abs=1e-8
    )


@pytest.mark.parametrize("variance", ["1/16", "1/4", "1/2", 1, "7/3", 50])
def test_the_variance_of_rounded_noise_is_the_sum_over_its_masses(variance: Any):
    law = RoundedNormal(Fraction(variance))
    with precision():
        stated = law.second_moment(BALLS)
        masses = {k: law.cdf(k, BALLS) - law.cdf(k - 1, BALLS) for k in range(-90, 91)}
        summed = sum((k * k * p for k, p in masses.items()), BALLS.real(0))
        assert lower(stated) <= upper(summed) + Fraction(1, 2**60)
        assert upper(stated) >= lower(summed) - Fraction(1, 2**60)
        assert float(stated.rad()) < 0.03


def test_stated_noise_is_that_of_the_released_numbers_in_units_of_the_rows():
    cells = M.BlockRows(2, 2, [0])
    fine, coarse = (M.GaussianStrategy(W.identity(2), cells, [5], fineness) for fineness in (4, 1))
    laplace = M.LaplaceStrategy(W.identity(2), cells, [3], 2)
    assert float(fine.expected(nw.WorstVariance())) == pytest.approx(5 + 1 / (12 * 16), rel=1e-9)
    assert float(coarse.expected(nw.WorstVariance())) == pytest.approx(5 + 1 / 12, rel=1e-9)
    fade = np.exp(-1 / 6)
    assert float(laplace.expected(nw.WorstVariance())) == pytest.approx(2 * fade / (1 - fade) ** 2 / 4, rel=1e-9)


def test_a_known_variance_of_rounded_noise():
    with precision():
        assert float(RoundedNormal(Fraction(1, 4)).second_moment(BALLS).mid()) == pytest.approx(0.3254, abs=5e-5)


def test_products_of_whole_matrices_are_exact_whatever_their_size():
    for left_bits, right_bits in product((3, 40, 62, 90), repeat=2):
        left = np.array([[(-1) ** j * (2**left_bits - i - j) for j in range(7)] for i in range(3)], dtype=object)
        right = np.array([[(-1) ** i * (2**right_bits - 3 * i + j) for j in range(2)] for i in range(7)], dtype=object)
        assert (whole_product(left, right) == left @ right).all()
    extreme = np.array([[-(2**63), 2**63 - 1], [3, -(2**63)]])
    assert (whole_product(extreme, extreme) == extreme.astype(object) @ extreme.astype(object)).all()


def test_an_inverse_is_near_and_says_how_near():
    matrix = np.array([[(i * j + 3 * i + j) % 17 - 8 for j in range(5)] for i in range(9)])
    inner = matrix.T @ matrix
    near = near_inverse(inner)
    true = np.linalg.inv(inner.astype(float))
    for i in range(5):
        low, high = near.ends(Fraction(int(near.squares[i, i])))
        assert low < high
        assert near.miss > Fraction(1, 2**60)
        assert float(low) == pytest.approx(true[i, i], rel=1e-10, abs=0)
    with pytest.raises(nw.errors.SolverError):
        near_inverse(np.array([[4, 2], [2, 1]]))


BAD = {
    "another size": lambda: M.GaussianStrategy(W.ranges(5), M.BlockRows(4, 2, [0]), [1]),
    "too few levels": lambda: M.GaussianStrategy(W.ranges(4), M.BlockRows(4, 2, [0, 1]), [1]),
    "a level of zero": lambda: M.GaussianStrategy(W.ranges(4), M.BlockRows(4, 2, [0]), [0]),
    "noise that rounding hides": lambda: M.GaussianStrategy(W.ranges(4), M.BlockRows(4, 2, [0]), ["1/5"]),
    "no cells": lambda: M.BlockRows(4, 2, [1]),
    "levels out of order": lambda: M.BlockRows(4, 2, [0, 2, 1]),
    "a level above the root": lambda: M.BlockRows(4, 2, [0, 3]),
    "a column of no cell": lambda: M.DenseRows([[1, 2]], [1, 1]),
    "a place beyond the columns": lambda: M.DenseRows([[1, 2]], [1, 2, 3]),
    "a set of attributes twice": lambda: M.ResidualRows([2, 2], [(0,), (0,)]),
    "a set out of order": lambda: M.ResidualRows([2, 2], [(1, 0)]),
    "a missing set": lambda: M.GaussianStrategy(W.marginals([2, 2], [(0,)]), M.ResidualRows([2, 2], [(0,)]), [1]),
    "residuals of no marginals": lambda: M.GaussianStrategy(W.ranges(4), M.ResidualRows([2, 2], [()]), [1]),
    "runs that begin late": lambda: M.FilterRows("ranges", 4, [1, 2], [3, 3]),
    "runs out of order": lambda: M.FilterRows("ranges", 4, [0, 3, 2], [3, 3, 3]),
    "a run beyond the line": lambda: M.FilterRows("ranges", 4, [0, 4], [3, 3]),
    "a run without a weight": lambda: M.FilterRows("ranges", 4, [0, 2], [3]),
    "a weight of zero": lambda: M.FilterRows("ranges", 4, [0, 2], [3, 0]),
    "too many runs": lambda: M.FilterRows("ranges", 5000, range(3000), [1] * 3000),
    "a filter of no known form": lambda: M.FilterRows("identity", 4, [0], [1]),
    "a Laplace filter": lambda: M.LaplaceStrategy(W.ranges(4), M.FilterRows("ranges", 4, [0], [1]), [1]),
    "Laplace residuals": lambda: M.LaplaceStrategy(W.marginals([2, 2], [()]), M.ResidualRows([2, 2], [()]), [1]),
    "Laplace differences of three": lambda: M.LaplaceStrategy(W.ranges(3), M.ContrastRows(3, 3), [1, 1]),
    "Gaussian marginals": lambda: M.GaussianStrategy(W.marginals([2, 2], [()]), M.MarginalRows([2, 2], [()]), [1]),
}


@pytest.mark.parametrize("case", BAD)
def test_strategies_that_do_not_fit_are_refused(case: str):
    with pytest.raises(nw.errors.InvalidInputError):
        BAD[case]()


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        ([[1, 2]], [1, 1]),
        ([[2, 1]], [1, 1]),
        ([[1, 1], [0, 1]], [1, 1]),
        ([[1, 1], [1, 0]], [1, 1]),
        ([[1, 0], [0, 1]], [1, 1]),
        ([[1, 2]], [1, 0]),
        ([[2, 1]], [0, 1]),
    ],
    ids=str,
)
def test_cells_that_are_asked_about_differently_cannot_share_a_column(rows: list[list[int]], places: list[int]):
    """Whether one has more of a question, another one of it, or a question of its own; in either order."""
    strategy = M.GaussianStrategy(W(rows), M.DenseRows([[1]], places), [9])
    with pytest.raises(nw.errors.InvalidMechanismError, match="asked about"):
        strategy.expected(nw.SquaredError())
