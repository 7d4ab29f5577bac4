"""A coarse bound is never above what a mechanism on a finer grid reaches, and a cache never mixes problems up."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import profile_of, uniform_grid
from noisewright.problem.queries import Bounded
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.cache import Cache
from noisewright.search.families.bounded_optimum import problem_digest, solved, variance_floor
from noisewright.search.families.shapes import two_point
from noisewright.search.programmes.bounded import Programme, ratio_above, smallest_margin, solve
from noisewright.search.programmes.layout import Size, bound_programme, design_programme
from tests.bounded import question

ONE = Fraction(1)
WORST, EVEN = nw.WorstVariance(), nw.AverageVariance()


@cache
def _reached(sensitivity: str, margin: str, utility: Any) -> float:
    """What a certified mechanism on a fine grid of outputs reaches at epsilon = 1."""
    found = solved(question(sensitivity, margin), ONE, utility, Size(12, 160), lambda _: None, Cache(None))
    assert found.mechanism is not None
    assert nw.certify(found.mechanism, nw.PureDP(1)).bound <= 1
    return float(found.mechanism.expected(utility).mid())


@pytest.mark.parametrize("outputs", [6, 8, 11])
@pytest.mark.parametrize(("sensitivity", "margin"), [("1", "1.54149"), ("1/2", "1")])
def test_few_outputs_do_not_raise_the_bound(sensitivity: str, margin: str, outputs: int):
    """Rounding to the outputs of the grid costs something: no price of the masses makes up for that."""
    query = question(sensitivity, margin)
    programme, _ = bound_programme(design_programme(query, ONE, WORST, Size(4, outputs)), WORST)
    found = solve(programme, programme.distances**2).multipliers
    bounds = [
        float(certified_lower(programme, replace(found, mass=found.mass + extra * found.counts)))
        for extra in (0.0, 0.05, 0.1, 0.2, 0.4)
    ]
    assert 0 < max(bounds) < _reached(sensitivity, margin, WORST)


def test_outputs_at_uneven_places_do_not_raise_the_bound():
    """Between the two middle outputs there is nothing: what is released there is rounded far away."""
    query = question(margin="2")
    values = (Fraction(-2), Fraction(-199, 100), Fraction(299, 100), Fraction(3))
    programme = Programme(query, ONE, uniform_grid(*query.inputs, 4), values, (4, 4, 4, 4, 4), None)
    multipliers = solve(programme, programme.distances**2).multipliers
    assert float(certified_lower(programme, multipliers)) < _reached("1", "1.54149", WORST)


@pytest.mark.parametrize("sensitivity", ["1", "1/2", "1/4"])
@pytest.mark.parametrize("epsilon", ["1/4", "1/2"])
def test_multipliers_of_a_stronger_promise_do_not_raise_the_bound(sensitivity: str, epsilon: str):
    """They price the ratio of another epsilon, at which every mechanism errs more."""
    query = question(sensitivity, "5")
    fine = solved(query, ONE, WORST, Size(8, 60), lambda _: None, Cache(None)).mechanism
    assert fine is not None
    programme, _ = bound_programme(design_programme(query, ONE, WORST, Size(8, 40)), WORST)
    stronger = solve(replace(programme, epsilon=Fraction(epsilon)), programme.distances**2).multipliers
    assert certified_lower(programme, stronger) <= profile_of(fine).worst(1)


@pytest.mark.parametrize("cells", [4, 5, 7])
def test_few_inputs_do_not_raise_the_averaged_bound(cells: int):
    """With hardly more than the smallest margin only two outputs are left, whose average error is known."""
    margin = smallest_margin(question(), ONE) * Fraction(1001, 1000)
    found = solved(question(margin=str(margin)), ONE, EVEN, Size(cells, 120), lambda _: None, Cache(None))
    reached = float(margin * (1 + margin)) + 1 / 6
    assert found.bound is not None
    assert 0.98 * reached < float(found.bound) < reached


@pytest.mark.parametrize("sensitivity", ["1/2", "37/101", "2/7", "97/100", "3/4"])
@pytest.mark.parametrize("size", [Size(5, 20), Size(8, 20), Size(10, 20)], ids=lambda size: str(size.inputs))
def test_bounds_use_pairs_within_the_sensitivity_alone(sensitivity: str, size: Size):
    query = question(sensitivity, "2")
    plain, spare = bound_programme(design_programme(query, ONE, WORST, size), WORST)
    assert spare == 0
    for i, end in enumerate(plain.reach):
        assert plain.grid.points[end] - plain.grid.points[i] <= query.sensitivity
    averaged, _ = bound_programme(design_programme(query, ONE, EVEN, size), EVEN)
    points = averaged.grid.points
    half = (points[2] - points[1]) / 2
    for i, end in enumerate(averaged.reach):
        for j in range(i + 1, end + 1):
            # The middle of a cell stands for all of it; between two cells every place has its partner.
            one_is_an_end = (i == 0) != (j == len(points) - 1)
            assert points[j] - points[i] + (half if one_is_an_end else 0) <= query.sensitivity


def test_rows_of_the_averaged_bound_stand_for_equal_cells():
    averaged, spare = bound_programme(design_programme(question("1/2", "2"), ONE, EVEN, Size(6, 20)), EVEN)
    points, weights = averaged.grid.points, averaged.weights
    assert weights is not None
    assert weights[0] == weights[-1] == 0
    assert sum(weights) == 1
    inner = {b - a for a, b in pairwise(points[1:-1])}
    assert len(inner) == 1
    assert points[1] - points[0] == points[-1] - points[-2] == inner.pop() / 2
    assert spare == (2 * points[1]) ** 2 / 12


def test_mechanisms_that_do_not_keep_the_promise_have_no_distance_to_its_bound():
    report = nw.mechanisms.design_bounded(
        question(margin="2"), privacy=nw.PureDP(1), utility=WORST, inputs=4, outputs=24
    )
    assert report.bound is not None
    for candidate in report.candidates:
        keeps = candidate.certified.mechanism.query.bias == 0
        assert (candidate.gap is not None) is keeps, candidate.name
    assert {c.name for c in report.candidates if c.gap is None} == {"truncated Laplace", "truncated Gaussian"}


LEAST = ratio_above(ONE) / (ratio_above(ONE) - 1) ** 2


@pytest.mark.parametrize(
    ("sensitivity", "utility", "share"),
    [
        ("3/4", WORST, "1"),
        ("3/4", EVEN, "1/2"),
        ("1/3", EVEN, "1"),
        ("1", EVEN, "0"),
        ("3/4", nw.AverageVariance(prior=[("0", "1/8"), ("1/2", "3/8"), ("7/8", "1/2")]), "5/8"),
        ("3/4", nw.AverageVariance(prior=[("1/4", "1/8"), ("1/2", "7/8")]), "1/8"),
        ("3/4", nw.AverageVariance(prior=[("3/10", "1"), ("7/10", "1")]), "0"),
    ],
)
def test_only_answers_that_have_a_neighbour_count_for_the_floor(sensitivity: str, utility: Any, share: str):
    query = question(sensitivity, "2")
    assert variance_floor(query, ONE, utility) == Fraction(share) * query.sensitivity**2 * LEAST


@pytest.mark.parametrize("bias", ["1/10", None])
def test_answers_that_may_be_biased_have_no_floor(bias: str | None):
    assert variance_floor(question("1/2", "2", bias=bias), ONE, WORST) == 0


@pytest.mark.parametrize("cells", [1, 3, 4])
def test_the_error_of_two_outputs_is_known_at_every_answer(cells: int):
    """Whatever the grid, mixing its rows is the two-point mechanism itself: variance (x + m)(1 + m - x)."""
    mechanism = two_point(question(margin="1"), ONE, uniform_grid(Fraction(0), ONE, cells))
    margin = -mechanism.value(0)
    profile = profile_of(mechanism)
    tiny = Fraction(1, 10**25)
    for x in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(11, 12), ONE):
        assert abs(profile.at(x, 1) - (x + margin) * (1 + margin - x)) < tiny
    assert abs(profile.worst(1) - (margin + Fraction(1, 2)) ** 2) < tiny
    assert abs(profile.average(1) - (margin * (1 + margin) + Fraction(1, 6))) < tiny


def test_the_worst_error_between_uneven_rows_is_found():
    """Three rows half a unit apart with errors 0, 1/100 and 1: mixing two adds share (1 - share) / 4."""
    profile = replace(
        profile_of(two_point(question(), ONE, uniform_grid(Fraction(0), ONE, 2))),
        bias=((Fraction(0), Fraction(0)),) * 3,
        error=((Fraction(0), Fraction(0)), (Fraction(1, 100), Fraction(1, 100)), (ONE, ONE)),
    )
    assert profile.worst(1) == 1
    assert profile.at(Fraction(1, 4), 1) == Fraction(1, 200) + Fraction(1, 16)
    assert profile.at(Fraction(5, 8), 1) == Fraction(3, 400) + Fraction(1, 4) + Fraction(3, 64)


OTHERS: dict[str, tuple[Bounded, Fraction, Any, Size]] = {
    "as it is": (question(), ONE, WORST, Size(8, 40)),
    "sensitivity": (question("1/2"), ONE, WORST, Size(8, 40)),
    "outputs": (question(margin="2"), ONE, WORST, Size(8, 40)),
    "inputs": (question(inputs=(0, 2)), ONE, WORST, Size(8, 40)),
    "bias": (question(bias="1/10"), ONE, WORST, Size(8, 40)),
    "no promise": (question(bias=None), ONE, WORST, Size(8, 40)),
    "epsilon": (question(), Fraction(2), WORST, Size(8, 40)),
    "utility": (question(), ONE, EVEN, Size(8, 40)),
    "prior": (question(), ONE, nw.AverageVariance(prior=[("1/3", 1)]), Size(8, 40)),
    "cells of inputs": (question(), ONE, WORST, Size(9, 40)),
    "cells of outputs": (question(), ONE, WORST, Size(8, 41)),
    "cells swapped": (question(), ONE, WORST, Size(40, 8)),
}


def test_problems_that_differ_in_anything_are_kept_apart():
    names = {problem_digest(*problem): name for name, problem in OTHERS.items()}
    assert len(names) == len(OTHERS)
    assert all(problem_digest(*problem) == problem_digest(*problem) for problem in OTHERS.values())
