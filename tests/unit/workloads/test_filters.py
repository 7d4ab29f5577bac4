"""Filters along a line are the whole matrices that their definition says, and what they cost is exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import noisewright as nw
from noisewright.mechanisms.strategies.values import LARGEST_DENSE, each_of, total_of
from noisewright.numerics import toeplitz_hankel as mirrored
from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.numerics.toeplitz_hankel import (
    Mirror,
    Runs,
    distance_sum,
    mirrored_inverse,
    pair_sums,
    prefix_squares,
    quarter_filter,
)
from noisewright.numerics.workloads import gram
from noisewright.proof.strategies import strategy_squared_sensitivity
from noisewright.sample.certified import make_certified
from noisewright.sample.strategy import WorkloadAnswer
from noisewright.search.bounds.line import least_line
from noisewright.search.families.strategies import filter_rows, gaussian_strategy
from tests.workloads import M, W, filtered, measured_rows

UNIT = nw.ZeroConcentratedDP("0.5")
each_form = pytest.mark.parametrize("form", ["ranges", "prefixes"])


@st.composite
def runs(draw: Any) -> Runs:
    size = draw(st.integers(1, 12))
    starts = sorted({0, *draw(st.lists(st.integers(0, size - 1), max_size=5))})
    weights = draw(st.lists(st.integers(0, 2**70), min_size=len(starts), max_size=len(starts)))
    return Runs(np.array(starts, dtype=object), np.array(weights, dtype=object), size)


@settings(deadline=None)
@given(runs(), st.data())
def test_sums_over_pairs_of_steps_are_those_over_pairs_of_cells(line: Runs, data: Any):
    n = line.size
    numbers = st.lists(st.integers(-(2**70), 2**70), min_size=2 * n - 1, max_size=2 * n - 1)
    kernel = np.array(data.draw(numbers), dtype=object)
    e, f = line.cells(), line.backwards().cells()
    assert list(f) == list(e[::-1])
    first = data.draw(st.integers(0, n - 1))
    last = data.draw(st.integers(first, n - 1))
    assert list(line.part(first, last).cells()) == list(e[first : last + 1])
    pairs = [(i, j) for i in range(n) for j in range(n)]
    found = pair_sums(kernel, line, line.backwards())
    assert found.plain == sum(kernel[i + j] * e[i] * f[j] for i, j in pairs)
    assert found.first == sum(kernel[i + j] * e[i] * f[j] * i for i, j in pairs)
    assert found.second == sum(kernel[i + j] * e[i] * f[j] * j for i, j in pairs)
    assert found.both == sum(kernel[i + j] * e[i] * f[j] * i * j for i, j in pairs)
    assert distance_sum(kernel, line) == sum(kernel[i + j] * e[i] * e[j] * abs(i - j) for i, j in pairs)


@each_form
@pytest.mark.parametrize("size", [2, 3, 40])
def test_a_filter_is_the_matrix_that_is_written_out(form: str, size: int):
    rows = M.FilterRows(form, size, [0, 1], [3, 2])
    written = np.array(filtered(rows), dtype=object)
    assert rows.mirror.matrix(rows.taps()) * rows.cell_weights() == pytest.approx(written, abs=0)
    table = [(5 * i * i + i) % 13 for i in range(size)]
    (measured,) = M.GaussianStrategy(W.identity(size), rows, [10**16]).law_given(table)
    assert list(measured) == list(written @ np.array(table, dtype=object))
    lengths = (written**2).sum(axis=0)
    assert rows.squared_lengths() == [lengths[0], max(lengths[1:])]
    assert int(np.abs(written).max()) <= rows.growth


@each_form
def test_matrices_of_sequences_multiply_as_these_convolve(form: str):
    mirror = Mirror(7, form == "ranges")
    first = quarter_filter(mirror, 12)
    second = mirror.product(first, first)
    assert (mirror.matrix(second) == mirror.matrix(first) @ mirror.matrix(first)).all()
    assert (mirror.diagonal(second) == np.diagonal(mirror.matrix(second))).all()
    both = mirror.matrix(first) @ mirror.matrix(second)
    assert (both == mirror.matrix(second) @ mirror.matrix(first)).all()


@each_form
@pytest.mark.parametrize("size", [2, 9, 30])
def test_an_inverse_is_as_near_as_it_says(form: str, size: int):
    mirror = Mirror(size, form == "ranges")
    taps = quarter_filter(mirror, 20)
    near = mirrored_inverse(mirror, taps)
    values = np.linalg.eigvalsh(mirror.matrix(taps).astype(float))
    inverse = np.linalg.eigvalsh(mirror.matrix(near.sequence).astype(float)) / 2.0**near.bits
    assert np.sort(1 / values) == pytest.approx(inverse, rel=1e-12, abs=0)
    assert float(near.condition) >= np.abs(values).max() / np.abs(values).min() * (1 - 1e-9)
    assert 0 < near.miss < Fraction(1, 10**12)
    with pytest.raises(nw.errors.SolverError):
        mirrored_inverse(mirror, np.array([1, *[0] * (mirror.period - 1)]) * 0 + 1)


def _inverse(matrix: list[list[int]]) -> list[list[Fraction]]:
    """By elimination, in exact rationals."""
    n = len(matrix)
    rows = [[*map(Fraction, row), *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


@each_form
@pytest.mark.parametrize("query", [W.ranges(7), W.prefixes(7) * 3 | W.ranges(7) * "1/7" | W.total(7) | W.identity(7)])
def test_the_stated_total_encloses_that_of_the_exact_inverse(form: str, query: nw.Workload):
    rows = M.FilterRows(form, 7, [0, 2, 3], [11, 5, 8])
    exact = np.array(_inverse(filtered(rows)), dtype=object)
    whole, below = gram(query)
    wanted = Fraction((whole.astype(object) * (exact @ exact.T)).sum()) / below
    with precision(300):
        stated = total_of(rows, query, [ball(1)])
        assert lower(stated) <= wanted <= upper(stated)
        assert upper(stated) - lower(stated) <= wanted / 10**11
    listed = W([list(map(int, row)) for row in query.matrix()[:3]])
    with precision(300):
        values = next(iter(each_of(rows, listed, [ball(1)])))[1]
    questions = np.array(listed.matrix(), dtype=object)
    assert values == pytest.approx(
        np.diagonal(questions @ (exact @ exact.T) @ questions.T).astype(float), rel=1e-12, abs=0
    )


@each_form
def test_variances_along_a_long_line_are_proven_and_add_up_to_the_total(form: str):
    n = LARGEST_DENSE + 3
    rows = filter_rows(n, form)
    query = W.prefixes(n) * 2 | W.total(n) * n | W.identity(n)
    with precision():
        parts = list(each_of(rows, query, [ball(1)]))
        for part, values, miss in parts:
            assert len(values) == part.questions
            assert miss < Fraction(1, 10**8)
        stated = sum(float(part.weight) * float(values.sum()) for part, values, _ in parts)
        assert stated == pytest.approx(float(total_of(rows, query, [ball(1)])), rel=1e-11, abs=0)
        with pytest.raises(nw.errors.InvalidQueryError):
            list(each_of(rows, W.ranges(n), [ball(1)]))


@each_form
@pytest.mark.parametrize("size", [60, LARGEST_DENSE + 3], ids=["dense", "long"])
def test_variances_grow_with_that_of_the_noise(form: str, size: int):
    rows, query = filter_rows(size, form), W.prefixes(size) | W.total(size) | W.identity(size)
    with precision():
        unit, more = (list(each_of(rows, query, [ball(variance)])) for variance in (1, Fraction(7, 2)))
    for (part, values, _), (same, larger, _) in zip(unit, more, strict=True):
        assert part == same
        assert larger == pytest.approx(3.5 * values, rel=1e-12, abs=0)


@each_form
def test_floats_are_within_their_proven_distance_of_exact_sums(form: str):
    mirror = Mirror(60, form == "ranges")
    line = Runs(np.array([0, 1, 7, 50], dtype=object), np.array([9, 5, 30, 4], dtype=object), 60)
    near = mirrored_inverse(mirror, quarter_filter(mirror, 20))
    sequence = mirror.product(near.sequence, near.sequence)
    whole = mirror.matrix(sequence) * np.multiply.outer(line.cells(), line.cells())
    exact = np.diagonal(np.cumsum(np.cumsum(whole, axis=0), axis=1))
    found, off = prefix_squares(mirror, sequence, line)
    assert 0 < off < Fraction(1, 10**9)
    assert all(abs(Fraction(float(a)) / b - 1) <= off + Fraction(1, 2**50) for a, b in zip(found, exact, strict=True))


@each_form
@pytest.mark.parametrize("size", [256, 2500])
def test_a_filter_is_near_the_proven_optimum(form: str, size: int):
    query = getattr(W, form)(size)
    strategy = gaussian_strategy(query, UNIT, filter_rows(size, form), [1.0])
    bound = least_line(query)
    assert bound is not None
    assert nw.certify(strategy, UNIT).bound <= UNIT.rho
    assert float(bound) <= float(strategy.expected(nw.SquaredError())) <= 1.01 * float(bound)


@each_form
def test_without_noise_a_long_table_comes_back(form: str):
    n = 5000
    query = getattr(W, form)(n)
    strategy = gaussian_strategy(query, UNIT, filter_rows(n, form), [1.0])
    table = np.array([(7 * i * i) % 1009 for i in range(n)])
    released = WorkloadAnswer(strategy, strategy.law_given(table))
    assert released.estimate == pytest.approx(table, abs=1e-9)
    huge = [int(v) * 2**45 for v in table]
    assert WorkloadAnswer(strategy, strategy.law_given(huge)).estimate == pytest.approx(
        table * 2.0**45, rel=1e-15, abs=1e-6
    )


def test_more_answers_than_can_be_listed_are_refused_and_the_table_is_not():
    n = 20_000
    strategy = gaussian_strategy(W.ranges(n), UNIT, filter_rows(n, "ranges"), [1.0])
    released = make_certified(strategy, UNIT).release({3: 5})
    assert released.estimate.shape == (n,)
    with pytest.raises(nw.errors.InvalidAnswerError, match="too many to list"):
        _ = released.answers
    with pytest.raises(nw.errors.InvalidQueryError):
        _ = released.half_widths
    answer, half_width = released.run(3, 19_000)
    assert abs(answer - 5) <= 3 * half_width
    assert 5 < half_width < 30


ROWS = M.FilterRows("prefixes", 9, [0, 2, 7], [3, 5, 4])
EDITED = {
    "a weight": M.FilterRows("prefixes", 9, [0, 2, 7], [3, 6, 4]),
    "a run": M.FilterRows("prefixes", 9, [0, 1, 7], [3, 5, 4]),
    "the first cells": M.FilterRows("prefixes", 9, [0, 2, 7], [30, 5, 4]),
    "the last cells": M.FilterRows("prefixes", 9, [0, 2, 7], [3, 5, 40]),
}


@pytest.mark.parametrize("what", EDITED)
def test_an_edited_filter_is_refused(what: str):
    strategy = gaussian_strategy(W.ranges(9), UNIT, ROWS, [1.0])
    assert make_certified(strategy, UNIT).certificate.bound == UNIT.rho
    lengths = (np.array(filtered(EDITED[what]), dtype=object) ** 2).sum(axis=0)
    longest = max((np.array(filtered(ROWS), dtype=object) ** 2).sum(axis=0))
    edited = replace(strategy, rows=EDITED[what])
    assert max(lengths) > longest
    assert nw.certify(edited, nw.ZeroConcentratedDP(1000)).bound == UNIT.rho * max(lengths) / longest
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(edited, UNIT)


LONG = [("ranges", 16, 5.376696), ("prefixes", 16, 4.263314), ("ranges", 20, 6.621784), ("prefixes", 20, 5.14019)]


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("form", "power", "known"), LONG)
def test_a_million_cells_are_released_within_three_percent_of_the_proven_bound(form: str, power: int, known: float):
    """The errors of measured rows are compared with their law; false alarms: fewer than one in a million."""
    n = 2**power
    query = getattr(W, form)(n)
    bound = least_line(query)
    assert bound is not None
    assert known * (1 - 1e-4) <= float(bound / query.dimension) ** 0.5 <= known * (1 + 1e-6)
    rows = filter_rows(n, form)
    certified = make_certified(gaussian_strategy(query, UNIT, rows, [1.0]), UNIT)
    stated = certified.mechanism.expected(nw.SquaredError())
    assert float(bound) <= float(stated) <= 1.03 * float(bound)
    assert float(stated.rad()) <= 1e-7 * float(stated)

    table = np.array([(7 * i * i + 3 * i) % 101 for i in range(n)])
    released = certified.release(table)
    noise = (released.measured[0] - certified.mechanism.law_given(table)[0]).astype(float)
    with precision():
        (variance,) = (float(v.mid()) for v in certified.mechanism.noises())
    assert (noise**2).mean() / variance == pytest.approx(1, abs=5 * (2 / n) ** 0.5)
    # What the noise becomes in the table, by an inverse in floats alone.
    mirror = rows.mirror
    near = mirrored_inverse(mirror, rows.taps())
    back = np.ldexp(near.sequence.astype(float), -near.bits)
    assert released.estimate - table == pytest.approx(mirror.filtered(back, noise) / rows.cell_weights(), abs=1e-5)
    if form == "prefixes":
        assert float((released.half_widths**2).sum()) == pytest.approx(1.959963984540054**2 * float(stated), rel=1e-6)


@each_form
@pytest.mark.parametrize("size", [2, 3, 8, 40])
def test_products_of_columns_are_nowhere_below_their_bound(form: str, size: int, monkeypatch: pytest.MonkeyPatch):
    rows = M.FilterRows(form, size, [0, 1], [3, 2])
    columns = measured_rows(rows)[0]
    products = columns.T @ columns
    least = min(products[i][j] for i in range(size) for j in range(i))
    assert rows.least_product() <= min(0, least)
    for seed in range(20):
        mirror = Mirror(size, form == "ranges")
        sequence = np.random.default_rng(seed).integers(-50, 90, mirror.period)
        matrix = mirror.matrix(sequence)
        apart = min(int(matrix[i][j]) for i in range(size) for j in range(i))
        assert mirrored._least_apart(mirror, sequence) <= min(0, apart)
    monkeypatch.setattr(M.FilterRows, "least_product", lambda self: -7)
    moved = M.GaussianStrategy(W.identity(size, cells_per_person=1, replace=True), rows, [10**3])
    longest = max(rows.squared_lengths())
    assert strategy_squared_sensitivity(moved) == Fraction(min(4 * longest, 2 * longest + 2 * 7), 10**3)
