"""Questions with bounds for their answers."""

from __future__ import annotations

from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.problem.queries import Bounded


def test_a_question_without_bounds_is_what_it_was():
    plain = nw.Scalar(2)
    assert plain.bounded is None
    assert plain.to_dict() == {"kind": "scalar", "sensitivity": "2", "integer": False, "exact": False}
    assert plain == nw.Scalar("2")
    assert str(plain) == "one number, sensitivity 2"


def test_bounds_are_kept_exactly_and_survive_files():
    query = nw.Scalar("0.1", inputs=(0, "1/3"), outputs=("-0.1", 1), bias="0.05").bounded
    assert query is not None
    assert (query.width, query.margin, query.bias) == (Fraction(1, 3), Fraction(1, 10), Fraction(1, 20))
    assert Bounded.from_dict(query.to_dict()) == query
    assert "bias at most 0.05" in str(query)


@pytest.mark.parametrize(
    "options",
    [
        {"inputs": (0, 1)},
        {"outputs": (0, 1)},
        {"unbiased": True},
        {"bias": 1},
        {"inputs": (1, 0), "outputs": (0, 1)},
        {"inputs": (0, 1), "outputs": (1, 1)},
        {"inputs": (0, "0.5"), "outputs": (-1, 2)},
        {"inputs": (0, 1), "outputs": (-1, 2), "unbiased": True, "bias": 0},
        {"inputs": (0, 1), "outputs": (-1, 2), "bias": -1},
        {"inputs": (0, 1), "outputs": (-1, 2), "bias": 2},
        {"inputs": (0, 1), "outputs": (-1, "3/2"), "integer": True},
        {"inputs": (0, 1, 2), "outputs": (-1, 2)},
        {"inputs": 5, "outputs": (-1, 2)},
        {"inputs": (0, 1), "outputs": (-1, 2), "unbiased": 1},
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict):
    with pytest.raises(nw.errors.InvalidQueryError):
        nw.Scalar(1, **options)


def test_additive_noise_is_refused_for_bounded_questions():
    query = nw.Scalar(1, inputs=(0, 1), outputs=(-1, 2), unbiased=True)
    with pytest.raises(nw.errors.InvalidMechanismError, match="bounds"):
        nw.mechanisms.Additive(query, nw.laws.Laplace(Fraction(1)), nw.laws.Lattice.cells(Fraction(1, 10)))


def test_the_prior_is_merged_and_normalised():
    utility = nw.AverageVariance(prior=[("0.5", 1), (0, 2), ("1/2", 1)])
    assert utility.prior == ((Fraction(0), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2)))
    assert utility.to_dict()["prior"] == [["0", "1/2"], ["1/2", "1/2"]]


@pytest.mark.parametrize("prior", [[], [(0, -1)], [(0, 0)], [5], [(i, 1) for i in range(61)]])
def test_an_impossible_prior_is_refused(prior: list):
    with pytest.raises(nw.errors.InvalidUtilityError):
        nw.AverageVariance(prior=prior)
