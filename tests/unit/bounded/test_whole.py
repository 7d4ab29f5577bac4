"""Whole numbers in bounds: designed, certified, drawn and saved, against programmes and sums made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import noisewright as nw
from noisewright.laws.bumps import FLAT, Plateau
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.mechanisms.bounded.composite import Composite, whole_outputs
from noisewright.mechanisms.bounded.conditional import Rows, uniform_grid
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import FLOATS
from noisewright.problem.queries import Bounded
from noisewright.sample.bounded import ConditionalDrawer
from noisewright.search.cache import Cache
from noisewright.search.families.bounded_optimum import solved
from noisewright.search.families.shapes import composite, hybrid, two_point
from noisewright.search.programmes.bounded import Programme
from noisewright.search.programmes.layout import (
    BITS,
    Size,
    bound_programme,
    charges_below,
    default_size,
    design_programme,
)
from tests.replay import Replay

F = Fraction
ONE = Fraction(1)


def whole(sensitivity: int, inputs: tuple[int, int], margin: int, **promise: Any) -> Bounded:
    low, high = inputs
    outputs = (low - margin, high + margin)
    found = nw.Scalar(sensitivity, integer=True, inputs=inputs, outputs=outputs, **promise).bounded
    assert found is not None
    return found


def loss(utility: Any, sizes: np.ndarray) -> np.ndarray:
    return (sizes > float(utility.edges[0])) * 1.0 if utility.edges else sizes ** float(utility.power)


def optimum_by_hand(query: Bounded, epsilon: float, utility: Any) -> float:
    """The least worst-case loss of any private law on whole numbers: every pair of neighbours, every output."""
    x = np.arange(int(query.inputs[0]), int(query.inputs[1]) + 1)
    y = np.arange(int(query.outputs[0]), int(query.outputs[1]) + 1)
    rows, columns = len(x), len(y)
    equal, wanted, below = [], [], []
    for i in range(rows):
        line = np.zeros((rows, columns))
        line[i] = 1
        equal.append(np.append(line.ravel(), 0))
        wanted.append(1.0)
        line[i] = y - x[i]
        if query.bias == 0:
            equal.append(np.append(line.ravel(), 0))
            wanted.append(0.0)
        line[i] = loss(utility, np.abs(y - x[i]))
        below.append(np.append(line.ravel(), -1))
        for j in range(rows):
            if 0 < abs(x[i] - x[j]) <= query.sensitivity:
                for k in range(columns):
                    pair = np.zeros((rows, columns))
                    pair[i, k], pair[j, k] = 1, -math.exp(epsilon)
                    below.append(np.append(pair.ravel(), 0))
    cost = np.append(np.zeros(rows * columns), 1.0)
    found = linprog(cost, np.array(below), np.zeros(len(below)), np.array(equal), wanted)
    assert found.success
    return float(found.fun)


CASES = [
    (whole(1, (0, 4), 2, unbiased=True), nw.SquaredError()),
    (whole(2, (-1, 3), 3, unbiased=True), nw.AbsoluteError()),
    (whole(3, (0, 3), 4, unbiased=True), nw.Usefulness(1)),
    (whole(1, (0, 4), 0), nw.AbsoluteError()),
    (whole(1, (0, 5), 1), nw.Usefulness(1)),
    (whole(2, (0, 4), 1), nw.PowerError("3/2")),
]


@pytest.mark.parametrize(("query", "utility"), CASES, ids=lambda thing: str(thing))
def test_the_programme_reaches_the_optimum_over_every_law_on_whole_numbers(query: Bounded, utility: Any):
    best = solved(query, ONE, utility, default_size(query, ONE), lambda _: None, Cache(None))
    assert best.mechanism is not None
    assert best.bound is not None
    with precision():
        value = best.mechanism.expected(utility)
        low, high = float(lower(value)), float(upper(value))
    truth, bound = optimum_by_hand(query, 1.0, utility), float(best.bound)
    if utility.larger_is_better:
        truth = 1 - truth
        assert low <= truth + 1e-7 <= bound + 2e-7
        assert bound - low < 2e-4
    else:
        assert bound - 1e-7 <= truth <= high + 1e-7
        assert high - bound < 2e-4 * truth


@pytest.fixture(scope="module")
def small() -> Any:
    asked = nw.Scalar(2, integer=True, inputs=(0, 6), outputs=(-24, 30), unbiased=True)
    return nw.design(asked, privacy=nw.PureDP(1), utility=nw.WorstVariance())


def test_every_ranked_mechanism_is_private_unbiased_and_whole(small: Any):
    """Masses of every row from the law that is drawn: neighbours within e, means at the answer, outputs whole."""
    names = {c.name for c in small.candidates}
    assert {"two-point", "A1B1", "A1B2", "linear programme", "truncated Laplace"} <= names
    for candidate in small.candidates:
        mechanism = candidate.certified.mechanism
        masses = by_answer(mechanism)
        for a in range(7):
            for b in range(a + 1, min(7, a + 3)):
                for y in range(-24, 31):
                    one, other = masses[a].get(y, 0.0), masses[b].get(y, 0.0)
                    assert one <= math.e * other + 1e-9
                    assert other <= math.e * one + 1e-9
            if mechanism.query.bias == 0:
                assert sum(y * p for y, p in masses[a].items()) == pytest.approx(a, abs=1e-9)


def clamped_masses(mechanism: Clamped, answer: int) -> dict[int, float]:
    """The same of noise that is clamped, which has no rows; its lattice is that of the whole numbers."""
    law, (first, last) = mechanism.law_given(answer), mechanism.ends
    return {k: float(law.cdf(k) - law.cdf(k - 1)) for k in range(first, last + 1)}


def in_rows(report: Any) -> list[Any]:
    """The candidates whose laws are rows of a grid; clamped noise has tests of its own."""
    return [c for c in report.candidates if not isinstance(c.certified.mechanism, Clamped)]


def by_answer(mechanism: Any) -> list[dict[int, float]]:
    """For each whole answer the probability of each output, mixing between grid inputs included."""
    low, high = (int(end) for end in mechanism.query.inputs)
    found = []
    for answer in range(low, high + 1):
        if isinstance(mechanism, Clamped):
            found.append(clamped_masses(mechanism, answer))
            continue
        i, share = mechanism.grid.locate(answer, exact=True)
        masses: dict[int, float] = {}
        for row, part in ((i, 1 - share), (i + 1, share)):
            if part:
                law, before = mechanism.row(row), 0.0
                for k in range(mechanism.last + 1):
                    level = float(law.cdf(k, FLOATS))
                    value = mechanism.value(k)
                    assert value.denominator == 1
                    masses[int(value)] = masses.get(int(value), 0.0) + float(part) * (level - before)
                    before = level
        assert sum(masses.values()) == pytest.approx(1)
        found.append(masses)
    return found


UTILITIES = [nw.SquaredError(), nw.AbsoluteError(), nw.PowerError(3), nw.Usefulness(2), nw.ErrorQuantile("0.83")]


AVERAGES = [nw.AverageVariance(), nw.AverageVariance(prior=[(1, 2), (5, 1)])]


@pytest.mark.parametrize("utility", [*UTILITIES, *AVERAGES], ids=str)
def test_values_are_worst_cases_or_averages_over_whole_answers_alone(small: Any, utility: Any):
    for candidate in in_rows(small):
        mechanism = candidate.certified.mechanism
        assert mechanism.alone
        with precision():
            value = mechanism.expected(utility)
            low, high = float(lower(value)), float(upper(value))
        truth = value_by_hand(by_answer(mechanism), utility)
        slack = 1e-3 if candidate.name.startswith("truncated") else 1e-6
        assert low - 1e-9 <= truth <= high + 1e-9
        assert high - low <= slack * max(1.0, truth)


def value_by_hand(masses: list[dict[int, float]], utility: Any) -> float:
    def mean(of: Any) -> list[float]:
        return [sum(p * of(abs(y - a)) for y, p in row.items()) for a, row in enumerate(masses)]

    if utility.confidence is not None:
        shares = [np.array(mean(lambda size, k=k: size <= k)) for k in range(40)]
        return next(float(k) for k, row in enumerate(shares) if row.min() >= float(utility.confidence) - 1e-12)
    if utility.averaged:
        squares = mean(lambda size: size**2)
        weights = dict(utility.prior or [(F(a), F(1, 7)) for a in range(7)])
        return sum(float(w) * squares[int(a)] for a, w in weights.items())
    if utility.edges:
        return min(mean(lambda size: size <= utility.edges[0]))
    return max(mean(lambda size: size ** float(utility.power)))


def test_whole_numbers_are_released_one_by_one_and_many_at_once(small: Any):
    best = small.best
    assert all(type(best.release(3)) is int for _ in range(20))
    many = best.release_many([0, 1.0, F(6), 3] * 300)
    assert many.dtype == np.int64
    assert many.min() >= -24
    assert many.max() <= 30
    for certified in (c.certified for c in in_rows(small)):
        drawer = ConditionalDrawer(certified.mechanism)
        one = [drawer.release(a, Replay(seed=a)) for a in (0, 3, 6)]
        same = [drawer.release_many([a], Replay(seed=a)).tolist()[0] for a in (0, 3, 6)]
        assert one == same


@pytest.mark.parametrize("answer", [2.5, F(7, 3), "2.5", 7, -1, 10**30, float("nan")])
def test_answers_that_are_not_whole_or_not_in_range_are_refused_and_not_repeated(small: Any, answer: Any):
    release, many = small.best.release, small.best.release_many
    for ask in (release, lambda a: many([a]), lambda a: many([1, a, 2])):
        with pytest.raises((nw.errors.InvalidAnswerError, nw.errors.InvalidNumberError)) as refused:
            ask(answer)
        assert str(answer) not in str(refused.value).replace("1e", "")


def test_arrays_with_a_fraction_in_them_are_refused(small: Any):
    with pytest.raises(nw.errors.InvalidAnswerError, match="whole"):
        small.best.release_many(np.array([1.0, 2.0, 2.5] * 400))


def test_whole_questions_and_their_reports_survive_files(small: Any):
    asked = small.query
    assert Bounded.from_dict(asked.to_dict()) == asked
    assert asked.integer
    assert asked.exact
    assert "integer" not in whole_free().to_dict()
    assert Bounded(1, (0, 3), (-1, 4), None, False, True).exact
    again = nw.Certified.from_dict(small.best.to_dict())
    assert again.mechanism == small.best.mechanism
    assert again.certificate == small.best.certificate
    assert "whole number" in small.best.describe()
    assert "whole number" in small.best.explain()


def whole_free() -> Bounded:
    found = nw.Scalar(1, inputs=(0, 1), outputs=(-1, 2)).bounded
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"sensitivity": "1/2", "inputs": (0, 3), "outputs": (-1, 4)}, "sensitivity"),
        ({"sensitivity": 1, "inputs": (0, "7/2"), "outputs": (-1, 5)}, "inputs"),
        ({"sensitivity": 1, "inputs": (0, 3), "outputs": ("-1/2", 4)}, "outputs"),
        ({"sensitivity": 1, "inputs": (0, 10**13), "outputs": (0, 10**13)}, "inputs"),
    ],
)
def test_bounds_that_are_not_whole_are_refused(given: dict[str, Any], name: str):
    with pytest.raises(nw.errors.InvalidQueryError, match=name):
        nw.Scalar(given.pop("sensitivity"), integer=True, **given)


def test_rows_with_a_fractional_output_answer_no_whole_question(small: Any):
    rows = small.best.mechanism
    assert type(rows) is Rows
    with pytest.raises(nw.errors.InvalidMechanismError, match="whole"):
        Rows(rows.query, rows.grid, (F(-47, 2), *rows.values[1:]), rows.weights)
    form = next(c.certified.mechanism for c in small.candidates if c.name == "A1B1")
    assert type(form) is Composite
    with pytest.raises(nw.errors.InvalidMechanismError, match="whole"):
        Composite(form.query, form.activation, form.base, form.share, form.window, form.cells, form.points + 1)


def test_what_is_refused_names_whole_bounds_that_suffice():
    asked = nw.Scalar(3, integer=True, inputs=(0, 9), outputs=(-1, 10), unbiased=True)
    with pytest.raises(nw.errors.InfeasibleError) as refused:
        nw.design(asked, privacy=nw.PureDP(1), utility=nw.WorstVariance())
    assert refused.value.outputs == (-2, 11)
    wider = nw.Scalar(3, integer=True, inputs=(0, 9), outputs=refused.value.outputs, unbiased=True)
    assert nw.design(wider, privacy=nw.PureDP(1), utility=nw.WorstVariance()).best.release(4) in range(-2, 12)


@pytest.mark.parametrize("query", [whole(30, (0, 100), 80, unbiased=True), whole(50, (-50, 400), 100)], ids=str)
def test_ranges_too_wide_for_a_row_each_have_whole_outputs_all_the_same(query: Bounded):
    rows = solved(query, ONE, nw.AbsoluteError(), Size(8, 30), lambda _: None, Cache(None)).mechanism
    assert rows is not None
    assert all(v.denominator == 1 for v in rows.values)
    assert not rows.alone
    if query.bias == 0:
        assert all(rows.exact_moments(i)[0] == 0 for i in range(rows.grid.last + 1))
    for form in (
        two_point(query, ONE),
        composite(wider(query), ONE, Plateau(F(1, 3))),
        hybrid(wider(query), ONE, "worst"),
    ):
        assert form.value(0).denominator == form.value(1).denominator == form.value(form.last).denominator == 1


@pytest.mark.parametrize("width", [1, 2, 3, 10, 37, 9001, 10**6])
def test_whole_outputs_never_raise_the_share(width: int):
    """Both ends are whole and centred on the inputs, and a share above the one that was allowed would cost privacy."""
    query = whole(width, (3, 3 + width), 50 * width)
    for half, most in ((F(1, 3), F(2, 5)), (F(5, 7), F(1, 10)), (F(1, 100), F(99, 100))):
        share, cells = whole_outputs(query, Plateau(half), most)
        assert 0 < share <= most
        form = Composite(query, Plateau(half), FLAT, share, query.inputs, 1, cells)
        assert form.value(0) + form.value(cells) == sum(query.inputs)
        assert form.value(0).denominator == form.value(1).denominator == 1
        assert share >= most * (1 - F(4, 1 + width) - F(1, 1000))


@pytest.mark.parametrize(
    "utility", [nw.SquaredError(), nw.AbsoluteError(), nw.PowerError("1/2"), nw.Usefulness(2)], ids=str
)
def test_what_is_charged_for_sure_holds_at_whole_outputs_between_those_of_the_programme(utility: Any):
    query = whole(2, (0, 6), 20)
    values = tuple(F(v) for v in (-20, -11, -5, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 9, 26))
    programme = Programme(query, ONE, uniform_grid(*query.inputs, 6), values, (2, 3, 4, 5, 6, 6, 6), None)
    between = np.arange(-20, 27)
    for point, costs in zip(range(7), charges_below(programme, utility).costs, strict=True):
        line = np.interp(between, [float(v) for v in values], [c / 2**BITS for c in costs])
        # Powers of errors are charged in units of the sensitivity.
        paid = loss(utility, np.abs(between - point) / (1 if utility.edges else 2))
        assert (line <= paid + 1e-9).all()
        near = (between > 0) & (between < 6)
        assert line[near] == pytest.approx(paid[near], abs=1e-5)


def wider(query: Bounded) -> Bounded:
    return replace(query, outputs=(query.outputs[0] - 1000, query.outputs[1] + 1000))


@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.AbsoluteError(), nw.Usefulness(1)], ids=str)
def test_the_middle_of_a_wide_range_bounds_all_of_it(utility: Any):
    """Discrete Laplace noise, the best for whole numbers without bounds, pays no less, and hardly more."""
    query = whole(1, (0, 200), 100, unbiased=True)
    programme = design_programme(query, ONE, utility, Size(40, 160))
    relaxed, _ = bound_programme(programme, utility)
    assert relaxed.query.inputs == relaxed.query.outputs == (F(85), F(114))
    found = solved(query, ONE, utility, Size(4, 8), lambda _: None, Cache(None)).bound
    assert found is not None
    sizes = np.arange(-200, 201)
    masses = np.tanh(0.5) * np.exp(-np.abs(sizes))
    paid = float(masses @ loss(utility, np.abs(sizes)))
    reached, bound = (1 - paid, float(found)) if utility.larger_is_better else (float(found), paid)
    assert reached <= bound + 1e-6
    assert bound <= reached * 1.02


def test_the_sums_of_real_and_of_whole_questions_differ_by_the_mixing():
    """A whole question pays nothing for answers between whole numbers; a real one does."""
    asked = whole(1, (0, 4), 3, unbiased=True)
    counted = solved(asked, ONE, nw.SquaredError(), Size(8, 40), lambda _: None, Cache(None)).mechanism
    assert counted is not None
    real = Rows(whole_as_real(asked), counted.grid, counted.values, counted.weights)
    ours, theirs = (float(m.expected(nw.SquaredError()).mid()) for m in (counted, real))
    assert theirs > ours + 0.1


def whole_as_real(query: Bounded) -> Bounded:
    return Bounded(query.sensitivity, query.inputs, query.outputs, query.bias, True)
