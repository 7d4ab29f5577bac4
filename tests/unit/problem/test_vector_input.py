"""Sets of differences and utilities for several numbers: what is refused, and with which words."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.problem.sensitivity import SETS

MAKERS = {
    "box": lambda each: nw.Box(each),
    "disjoint": lambda each: nw.Disjoint(each),
    "replace": lambda each: nw.Replace(each),
    "sparse": lambda each: nw.Sparse(1, each),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("each", "kind", "words"),
    [
        ([], nw.errors.InvalidQueryError, "is empty"),
        ([1, -2], nw.errors.InvalidQueryError, "sensitivity 2 is -2"),
        ([1, math.nan], nw.errors.InvalidNumberError, "sensitivity 2 is nan"),
        ([math.inf], nw.errors.InvalidNumberError, "finite"),
        ([0, 0.0], nw.errors.InvalidQueryError, "every sensitivity is 0"),
        ([1, "two"], nw.errors.InvalidNumberError, "sensitivity 2"),
        ([1, True], nw.errors.InvalidNumberError, "truth value"),
        ([1e-200], nw.errors.InvalidQueryError, "another unit"),
        ("12", nw.errors.InvalidQueryError, "type str; give a list"),
        (3, nw.errors.InvalidQueryError, "type int; give a list"),
    ],
)
def test_impossible_sensitivities_are_refused(make, each, kind, words):
    with pytest.raises(kind, match=words):
        make(each)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [(0, nw.errors.InvalidQueryError), (3, nw.errors.InvalidQueryError), (-1, nw.errors.InvalidQueryError)]
    + [(other, nw.errors.InvalidNumberError) for other in (1.5, True, None)],
)
def test_sparse_needs_a_possible_count(changes, kind):
    with pytest.raises(kind, match="changes is"):
        nw.Sparse(changes, [1, 2])


@pytest.mark.parametrize("ball", [nw.L1Ball, nw.L2Ball])
@pytest.mark.parametrize(("radius", "dimension"), [(0, 2), (-1, 2), (math.nan, 2), (1, 0), (1, 2.5), (1, 10**7)])
def test_balls_need_a_radius_and_a_dimension(ball, radius, dimension):
    with pytest.raises(nw.errors.InvalidInputError):
        ball(radius, dimension)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([], "rows has 0 items; give at least 1"),
        ([[]], "empty"),
        ([[1, 2], [1]], "differ in length"),
        ([[0, 0]], "every entry"),
        ([1, 2], "row"),
    ],
)
def test_points_need_equal_rows_that_move_something(matrix, words):
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        nw.Points(matrix)


def test_sensitivities_of_wildly_different_size_are_refused():
    with pytest.raises(nw.errors.InvalidQueryError, match="other units"):
        nw.Vector(nw.Box([1e-90, 1e90]))
    with pytest.warns(nw.errors.UnevenNumbersWarning):
        report = nw.design(nw.Vector(nw.Box([1e-20, 1e20])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert all(c.certified.certificate.bound <= 1 for c in report.candidates)


@pytest.mark.parametrize("chosen", [nw.Box([1, 0]), nw.Sparse(2, [0, 3, 0])], ids=["box", "sparse"])
def test_a_single_number_that_moves_among_still_ones_is_certified_under_delta(chosen):
    report = nw.design(nw.Vector(chosen), privacy=nw.ApproxDP(1, 1e-6), utility=nw.SquaredError())
    assert "truncated Laplace" in [c.name for c in report.candidates]


def test_a_number_is_no_set():
    with pytest.raises(nw.errors.InvalidQueryError, match="Disjoint"):
        nw.Vector(1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "chosen",
    [
        nw.Box([1, "1/3", 0]),
        nw.Disjoint([0.1, 2]),
        nw.Sparse(2, [1, 2, 3]),
        nw.Replace([1, 1]),
        nw.L1Ball(2, 3),
        nw.L2Ball("1/7", 2),
        nw.Points([[1, 0], [0.5, -0.5]]),
    ],
    ids=lambda chosen: chosen.kind,
)
def test_a_set_survives_its_plain_form(chosen):
    assert SETS.from_dict(chosen.to_dict()) == chosen
    query = nw.Vector(chosen)
    assert nw.Vector.from_dict(query.to_dict()) == query
    assert len(query.extents) == query.dimension
    assert str(query.dimension) in str(query)


def test_parameters_mean_their_decimals():
    assert nw.Box([0.1, "1/3"]).each == (Fraction(1, 10), Fraction(1, 3))


@pytest.mark.parametrize("weights", [[], [1, 0], [1, -1], [1, math.nan], "12", 5])
@pytest.mark.parametrize("utility", [nw.SquaredError, nw.AbsoluteError])
def test_impossible_weights_are_refused(utility, weights):
    with pytest.raises(nw.errors.InvalidInputError):
        utility(weights)


@pytest.mark.parametrize("within", [0, -1, [], [1, 0], math.nan])
def test_impossible_limits_are_refused(within):
    with pytest.raises(nw.errors.InvalidInputError):
        nw.Usefulness(within).check_count(2)


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        (nw.SquaredError([1, 2]), "2 weights for 3 numbers"),
        (nw.AbsoluteError([1, 2, 3, 4]), "4 weights for 3 numbers"),
        (nw.Usefulness([1, 2]), "2 limits for 3 numbers"),
        (nw.PowerError(3, [1, 2]), "2 weights for 3 numbers"),
        (nw.ErrorEntropy(), "for a Vector question"),
        ("squared", "for a Vector question"),
    ],
)
@pytest.mark.parametrize("privacy", [nw.PureDP(1), nw.ApproxDP(1, 1e-6)])
def test_what_does_not_fit_the_question_is_refused_before_any_work(utility, words, privacy):
    with pytest.raises(nw.errors.InvalidUtilityError, match=words):
        nw.design(nw.Vector(nw.Box([1, 2, 3])), privacy=privacy, utility=utility)


def test_an_answer_of_the_wrong_shape_is_refused():
    best = nw.design(nw.Vector(nw.Box([1, 2])), privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    for answer in ([1], [1, 2, 3], 5, "12", [1, math.nan], [1, "x"]):
        with pytest.raises(nw.errors.InvalidInputError):
            best.release(answer)
