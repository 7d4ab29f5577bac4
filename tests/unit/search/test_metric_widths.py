"""Half-widths around all answers of linear questions: the balls hold the truth, the bound holds for every mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.linear.errors import _beyond, _directed
from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace
from noisewright.numerics.balls import ball, lower, precision, upper

COLUMNS = ((0, 1, 2), (1, 0, 3))
QUERY = nw.Linear(COLUMNS)


def round_noise(rate: str, decode: Any) -> LinearElliptical:
    query = nw.Linear(
        [[sum(a * w for a, w in zip(row, c, strict=True)) for c in zip(*COLUMNS, strict=True)] for row in decode]
    )
    return LinearElliptical(query, [Block((0, 1), COLUMNS, Fraction(rate), decode, 1)])


def chance(mechanism: Any, width: float, reach: int) -> float:
    """P(every error <= width), summed over the integer noise itself; these columns have no bias."""
    k = np.arange(-reach, reach + 1, dtype=float)
    first, second = np.meshgrid(k, k, indexing="ij")
    if isinstance(mechanism, LinearLaplace):
        (a, b), (g, h) = [float(r) for r in mechanism.rates], [float(s) for s in mechanism.steps]
        mass, errors = np.exp(-a * np.abs(first) - b * np.abs(second)), (g * first, h * second)
    else:
        block = mechanism.blocks[0]
        mass = np.exp(-float(block.rate) * np.hypot(first, second))
        errors = tuple(float(row[0]) * first + float(row[1]) * second for row in block.decode)
    inside = np.maximum(*map(np.abs, errors)) <= width * (1 + 1e-12)
    return float((mass * inside).sum() / mass.sum())


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
@pytest.mark.parametrize(
    ("mechanism", "reach"),
    [
        (LinearLaplace(QUERY, COLUMNS, (1, 1), (2, 5)), 120),
        (LinearLaplace(nw.Linear([["0", "1/3", "2/3"], [2, 0, 6]]), COLUMNS, ("1/3", 2), (1, 3)), 120),
        (round_noise("1/10", ((1, 0), (0, 1))), 300),
        (round_noise("1/4", ((1, 2), (3, -1))), 150),
        (round_noise("2", ((1, 2), (0, 1))), 30),
        (round_noise("1/10", ((1, 0), (0, Fraction(1, 1000)))), 300),
    ],
    ids=["Laplace", "unequal steps", "round", "leaning", "coarse", "one wide"],
)
def test_the_smallest_half_width_lies_inside_its_ball(mechanism, reach, confidence):
    with precision():
        around = mechanism.expected(nw.ErrorQuantile(confidence))
        low, high = float(lower(around)), float(upper(around))
    assert chance(mechanism, high, reach) >= float(Fraction(confidence)) - 1e-9
    if low > 0:
        assert chance(mechanism, low * (1 - 1e-9) - 1e-9, reach) <= float(Fraction(confidence)) + 1e-9
    shown = mechanism.shown(nw.ErrorQuantile(confidence), around)
    assert low <= shown <= high
    if isinstance(mechanism, LinearLaplace):
        assert high - low <= 1e-6 * high
    # What a certified mechanism says of itself is an upper end of the same.
    from noisewright.mechanisms.half_widths import half_width

    assert half_width(mechanism, confidence, joint=True) >= low


@pytest.mark.parametrize(
    ("size", "tail"),
    [(1, lambda s: 1.0), (3, lambda s: 1 + s / 2), (5, lambda s: (s * s + 5 * s + 8) / 8)],
)
@pytest.mark.parametrize("far", ["1/5", "2", "7"])
def test_one_direction_of_round_noise_has_the_tail_of_a_difference_of_waiting_times(size, tail, far):
    """In K dimensions it is the difference of two Gamma((K + 1) / 2) numbers: polynomials times e^-s for odd K."""
    s = float(Fraction(far))
    with precision():
        pieces = _directed(size)
        low, high = (_beyond(size, ball(Fraction(far)), pieces, most=most) for most in (False, True))
        ends = float(lower(low)), float(upper(high))
    truth = tail(s) * math.exp(-s)
    assert ends[0] <= truth * (1 + 1e-12)
    assert truth <= ends[1] * (1 + 1e-12)
    assert ends[1] - ends[0] <= 0.1 * truth


def test_gaussian_half_widths_hold_correlated_or_not():
    """Against draws: 20,000 of them stay within the upper end as often as they must, within the lower end less."""
    prefixes = nw.Linear([[int(j <= i) for j in range(6)] for i in range(5)])
    report = nw.design(prefixes, privacy=nw.ApproxDP(1, 1e-4), utility=nw.ErrorQuantile("0.9"))
    assert {"Gaussian", "correlated Gaussian"} <= {c.name for c in report.candidates}
    for candidate in (c for c in report.candidates if "Gaussian" in c.name):
        with precision():
            around = candidate.certified.mechanism.expected(nw.ErrorQuantile("0.9"))
            low, high = float(lower(around)), float(upper(around))
        largest = np.abs(candidate.certified.draw(20_000)).max(axis=1)
        # Five deviations of a share of 20,000: a false alarm once in a million.
        slack = 5 * math.sqrt(0.09 / 20_000)
        assert (largest <= high).mean() >= 0.9 - slack
        assert (largest < low * (1 - 1e-9)).mean() <= 0.9 + slack
        assert (largest <= candidate.value).mean() == pytest.approx(0.9, abs=0.02)


def test_designs_for_half_widths_beat_designs_for_squares():
    rng = np.random.default_rng(5)
    query = nw.Linear((rng.integers(0, 50, (4, 9)) * np.array([[1], [1], [1], [9]])).tolist())
    privacy = nw.MetricPrivacy(nw.metrics.Hamming(9, "1/3"))
    wanted = nw.ErrorQuantile("0.95")
    squares = {c.name: c for c in nw.design(query, privacy=privacy, utility=nw.SquaredError()).candidates}
    for candidate in nw.design(query, privacy=privacy, utility=wanted).candidates:
        with precision():
            other = float(squares[candidate.name].certified.mechanism.expected(wanted).mid())
        assert candidate.value <= other * 1.2
    best = nw.design(query, privacy=privacy, utility=wanted)
    assert best.bound is not None
    assert 0 < best.bound <= best.candidates[0].value


@pytest.mark.parametrize("people", [None, 1, 7])
@pytest.mark.parametrize("confidence", ["0.4", "0.6", "0.95"])
def test_the_bound_of_half_widths_is_what_the_packing_says(people, confidence):
    """Two elements 3 apart at distance 1/4: steps of m people, t of them on either side, counted one by one."""
    query = nw.Linear([[0, 3]], people=people)
    report = nw.design(
        query, privacy=nw.MetricPrivacy(nw.metrics.Hamming(2, "1/4")), utility=nw.ErrorQuantile(confidence)
    )
    best = 0.0
    for m in range(1, people or 60):
        steps = 400 if people is None else people // m
        left, right = (steps, steps) if people is None else (steps // 2, steps - steps // 2)
        total = 1 + sum(math.exp(-t * m / 4) for side in (left, right) for t in range(1, side + 1))
        if float(Fraction(confidence)) * total > 1 + 1e-12:
            best = max(best, m * 3 / 2)
    if people:
        best = max(best, people * 3 / 2 if float(Fraction(confidence)) * (1 + math.exp(-people / 4)) > 1 else 0.0)
    assert report.bound == pytest.approx(best)


def geometric(difference: float, distance: float) -> float:
    """Variance of two-sided geometric noise on multiples of a difference."""
    fade = math.exp(-distance)
    return difference**2 * 2 * fade / (1 - fade) ** 2


def test_for_one_query_the_bound_is_attained_where_steps_are_whole():
    query = nw.Linear([[0, 3]])
    for epsilon in ("0.1", "1", "4"):
        privacy = nw.MetricPrivacy(nw.metrics.Hamming(2, epsilon))
        report = nw.design(query, privacy=privacy, utility=nw.SquaredError())
        assert report.bound == pytest.approx(geometric(3, float(epsilon)), rel=1e-9)
        assert report.candidates[0].value == pytest.approx(report.bound, rel=1e-6)
        absolute = nw.design(query, privacy=privacy, utility=nw.AbsoluteError())
        fade = math.exp(-float(epsilon))
        assert absolute.bound == pytest.approx(3 * 2 * fade / (1 - fade**2), rel=1e-9)
        assert absolute.candidates[0].value == pytest.approx(absolute.bound, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_noise_on_a_grid_beats_the_bound_of_several_queries(seed):
    """The best noise on a grid by a linear programme: its total squared error is at least the bound.

    Two queries over three elements; released are answers with offsets on a grid, private for every single change.
    """
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    columns = rng.integers(-1, 2, (2, 3))
    columns[:, 0] = 0
    columns[0, 1], columns[1, 2] = 1, 1
    budgets = rng.uniform(1.5, 2.5, 3)
    budgets[2] = min(max(budgets[2], abs(budgets[0] - budgets[1])), budgets[0] + budgets[1])
    distances = [[0, budgets[0], budgets[1]], [budgets[0], 0, budgets[2]], [budgets[1], budgets[2], 0]]
    metric = nw.metrics.Matrix([[Fraction(float(v)) for v in row] for row in distances])
    report = nw.design(nw.Linear(columns.tolist()), privacy=nw.MetricPrivacy(metric), utility=nw.SquaredError())
    side = 12
    points = list(product(range(-side, side + 1), repeat=2))
    place = {p: k for k, p in enumerate(points)}
    rows, limits = [], []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        move = columns[:, i] - columns[:, j]
        for sign in (1, -1):
            for p in points:
                q = (p[0] + sign * move[0], p[1] + sign * move[1])
                if q in place:
                    row = np.zeros(len(points))
                    row[place[p]], row[place[q]] = 1, -math.exp(distances[i][j])
                    rows.append(row)
                    limits.append(0.0)
    cost = np.array([p[0] ** 2 + p[1] ** 2 for p in points], dtype=float)
    best = linprog(cost, A_ub=np.array(rows), b_ub=limits, A_eq=np.ones((1, len(points))), b_eq=[1.0])
    # What lies beyond the grid has a mass of about e^-18: leaving it out changes nothing that is seen here.
    assert report.bound is not None
    assert report.bound <= best.fun * (1 + 1e-5)
    assert report.bound >= 0.2 * best.fun


def test_the_gap_of_elliptical_noise_is_at_most_half_of_one_more_than_the_queries():
    """For small budgets the bound is the same programme but for the factor (K + 1) / 2."""
    rng = np.random.default_rng(2)
    for count in (2, 5, 8):
        points, matrix = np.round(rng.uniform(0, 9, (20, 2)), 2), np.round(rng.uniform(0, 1, (count, 20)), 3)
        privacy = nw.MetricPrivacy(nw.metrics.Euclidean(points.tolist(), "1/1000"))
        report = nw.design(nw.Linear(matrix.tolist()), privacy=privacy, utility=nw.SquaredError())
        value = {c.name: c.value for c in report.candidates}["elliptical"]
        assert report.bound is not None
        assert value / report.bound == pytest.approx((count + 1) / 2, rel=1e-3)


def test_a_report_of_a_large_universe_is_proven_again_with_the_same_bound(tmp_path):
    rng = np.random.default_rng(3)
    points, matrix = np.round(rng.uniform(0, 9, (230, 2)), 2), np.round(rng.uniform(0, 1, (3, 230)), 2)
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(points.tolist(), "1/10"))
    report = nw.design(nw.Linear(matrix.tolist()), privacy=privacy, utility=nw.SquaredError())
    report.save(tmp_path / "report.json")
    nw.design(nw.Linear([[0, 1]]), privacy=nw.MetricPrivacy(nw.metrics.Hamming(2, 1)), utility=nw.SquaredError())
    again = nw.Report.load(tmp_path / "report.json")
    assert again.bound == report.bound
    assert report.bound is not None
    assert report.candidates[0].value / report.bound < 4
