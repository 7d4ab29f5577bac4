"""Designs for several numbers: rankings, bounds, one number, zero sensitivities, files, pictures."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.search.bounds.vector import vector_bound

UTILITIES = [
    (nw.SquaredError(), nw.SquaredError()),
    (nw.AbsoluteError(), nw.AbsoluteError()),
    (nw.LargestError(), nw.AbsoluteError()),
    (nw.ErrorQuantile("0.9"), nw.ErrorQuantile("0.9")),
    (nw.Usefulness("1/2"), nw.Usefulness("1/2")),
]
SINGLE: Any = [nw.Box([2]), nw.Disjoint([2]), nw.Sparse(1, [2]), nw.Replace([2]), nw.L1Ball(2, 1), nw.L2Ball(2, 1)]


@pytest.mark.parametrize(("several", "scalar"), UTILITIES, ids=str)
def test_one_number_is_the_scalar_design(several, scalar):
    plain = nw.design(nw.Scalar(2), privacy=nw.PureDP(1), utility=scalar)
    for chosen in SINGLE:
        report = nw.design(nw.Vector(chosen), privacy=nw.PureDP(1), utility=several)
        assert [(c.name, c.value, c.gap) for c in report.candidates] == [
            (c.name, c.value, c.gap) for c in plain.candidates
        ]
        assert report.bound == plain.bound
        laws = [c.certified.mechanism.parts[0] for c in report.candidates]
        assert laws == [c.certified.mechanism for c in plain.candidates]


def test_one_number_counts_its_weight():
    plain = nw.design(nw.Scalar(2), privacy=nw.PureDP(1), utility=nw.SquaredError())
    report = nw.design(nw.Vector(nw.Box([2])), privacy=nw.PureDP(1), utility=nw.SquaredError([3]))
    assert report.candidates[0].value == pytest.approx(3 * plain.candidates[0].value, rel=1e-15)
    assert plain.bound is not None
    assert report.bound == pytest.approx(3 * plain.bound, rel=1e-15)


def test_a_zero_sensitivity_needs_no_noise_and_the_report_says_so():
    report: Any = nw.design(nw.Vector(nw.Box([1, 0, 2])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    without = nw.design(nw.Vector(nw.Box([1, 2])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert [c.value for c in report.candidates] == [c.value for c in without.candidates]
    assert any("number 2" in note and "without noise" in note for note in report.notes)
    assert all(parts[1] == 0 for parts in report.parts)
    for candidate in report.candidates:
        assert candidate.certified.release([5, 41.25, 5])[1] == 41.25
    assert "without noise" in report.best.describe()


@pytest.mark.parametrize("utility", [u for u, _ in UTILITIES], ids=str)
@pytest.mark.parametrize(
    "chosen",
    [nw.Box([1, 3]), nw.Disjoint([1, 3]), nw.Sparse(2, [1, 2, 3]), nw.L1Ball(1, 3), nw.L2Ball(1, 3)],
    ids=lambda chosen: chosen.kind,
)
def test_no_candidate_beats_the_bound(chosen, utility):
    report = nw.design(nw.Vector(chosen), privacy=nw.PureDP("1/2"), utility=utility)
    assert report.bound is not None
    for candidate in report.candidates:
        if utility.larger_is_better:
            assert candidate.value <= report.bound * (1 + 1e-9)
        else:
            assert candidate.value >= report.bound * (1 - 1e-9)
        assert candidate.gap is not None
    assert "gap" in str(report)


def test_bounds_are_close_where_the_optimum_is_known_to_be():
    disjoint = nw.design(nw.Vector(nw.Disjoint([1, 3])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert disjoint.candidates[0].gap is not None
    assert disjoint.candidates[0].gap < 1e-6
    largest = nw.design(nw.Vector(nw.Box([1] * 8)), privacy=nw.PureDP(1), utility=nw.LargestError())
    assert largest.candidates[0].name == "norm-shaped blocks"
    assert largest.candidates[0].gap is not None
    assert largest.candidates[0].gap < 0.01
    ball = nw.design(nw.Vector(nw.L2Ball(1, 6)), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert ball.candidates[0].name == "round noise"
    assert ball.candidates[0].gap is not None
    assert ball.candidates[0].gap < 0.01


def test_the_volume_bound_of_one_number_is_the_staircase():
    from noisewright.search.bounds.vector import least_radius_moment

    with precision():
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
            b = math.exp(-epsilon)
            best = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
            assert float(lower(least_radius_moment(1, epsilon, 2))) == pytest.approx(best, rel=2e-3)
            assert float(lower(least_radius_moment(1, epsilon, 2))) <= best


@pytest.mark.parametrize("privacy", [nw.PureDP(1), nw.ApproxDP(1, "1e-6")], ids=str)
def test_listed_differences_that_fall_between_the_steps_are_met_by_every_candidate(privacy):
    """The row of length 4 is rounded up in two numbers at once, so one scale for all must grow by a hair."""
    query = nw.Vector(nw.Points([[1, 2, 0], [0, 3, 1], [2, 1, 1]]))
    report = nw.design(query, privacy=privacy, utility=nw.SquaredError())
    bounds = {c.name: c.certified.certificate.bound for c in report.candidates}
    assert {"identical Laplace", "non-identical Laplace"} <= set(bounds)
    assert bounds["identical Laplace"] <= 1


def test_no_bound_is_invented_where_none_is_known():
    query = nw.Vector(nw.Points([[1, 2], [2, -1]]))
    assert vector_bound(query, Fraction(1), nw.SquaredError()) is None
    report = nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert report.bound is None
    assert "no bound proven" in str(report)
    approximate = nw.design(nw.Vector(nw.Box([1, 2])), privacy=nw.ApproxDP(1, 1e-6), utility=nw.SquaredError())
    assert approximate.bound is None


def test_correlated_noise_is_best_among_gaussians_for_listed_differences():
    query = nw.Vector(nw.Points([[1, 1, 1], [1, 1, "0.9"]]))
    report = nw.design(query, privacy=nw.ApproxDP("1/2", "1e-6"), utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    assert values["correlated Gaussian"] < values["non-identical Gaussian"] < values["identical Gaussian"] * 1.001
    # Nearly one direction: the variance of a single number spread over three, about a third of independent noise.
    assert values["correlated Gaussian"] < 0.5 * values["non-identical Gaussian"]


def test_the_covariance_programme_finds_the_closed_form_for_axes():
    query = nw.Vector(nw.Points([[1, 0], [0, 2]]))
    report = nw.design(query, privacy=nw.ApproxDP(1, "1e-6"), utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    assert values["correlated Gaussian"] == pytest.approx(values["non-identical Gaussian"], rel=5e-3)


def test_weights_move_noise_away_from_heavy_numbers():
    query, privacy = nw.Vector(nw.Box([1, 1, 1, 1])), nw.PureDP(1)
    heavy: Any = nw.design(query, privacy=privacy, utility=nw.SquaredError([100, 1, 1, 1]))
    parts = next(c.parts for c in heavy.candidates if c.name == "non-identical Laplace")
    assert parts[0] < parts[1] == pytest.approx(parts[2])


def test_scalar_utilities_mean_all_numbers():
    query = nw.Vector(nw.Box([1, 2]))
    for scalar, several in (
        (nw.SquaredError(), nw.SquaredError()),
        (nw.AbsoluteError(), nw.AbsoluteError()),
        (nw.Usefulness(1), nw.Usefulness(1)),
    ):
        first = nw.design(query, privacy=nw.PureDP(1), utility=scalar)
        assert first.candidates[0].value == nw.design(query, privacy=nw.PureDP(1), utility=several).candidates[0].value


def test_the_report_prints_plots_and_becomes_data(tmp_path):
    query, alike = nw.Vector(nw.Box([1, 120, "1e6"])), nw.SquaredError([1, 1, 1])  # equal weights: meant, so no warning
    report = nw.design(query, privacy=nw.PureDP(1), utility=alike)
    text = str(report)
    assert "Each number" in text
    assert "1000000" in text
    assert "<table>" in report._repr_html_()
    report.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    data = json.loads(json.dumps(report.to_dict()))
    assert [len(c["parts"]) for c in data["candidates"]] == [3] * len(report.candidates)
    assert data["notes"] == list(report.notes)


def test_closed_forms_of_parts_agree_with_the_general_rule():
    report = nw.design(nw.Vector(nw.Box([1, 7])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    for candidate in report.candidates:
        mechanism = candidate.certified.mechanism
        if isinstance(mechanism, nw.mechanisms.PerCoordinate):
            with precision():
                for utility, power in ((nw.SquaredError(), 2), (nw.AbsoluteError(), 1)):
                    for value, part in zip(utility.each(mechanism.errors, BALLS), mechanism.parts, strict=True):
                        assert part is not None
                        general = part.expected(nw.PowerError(power), BALLS)
                        assert float(value.mid()) == pytest.approx(float(general.mid()), rel=1e-12)


def test_block_errors_agree_with_sums_over_the_lattice():
    from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped

    rate = 0.9
    block = NormBlock((0, 1), (Fraction(1), Fraction(2)), Fraction(9, 10))
    mechanism = NormShaped(nw.Vector(nw.Box([1, 2]), exact=True), (block,))
    z = np.arange(-60, 61)
    top = np.maximum(np.abs(z)[:, None], np.abs(z)[None, :])
    mass = np.exp(-rate * top)
    mass /= mass.sum()
    marginal = mass.sum(axis=1)
    second = float(np.sum(marginal * z**2)) + 1 / 12
    first = float(np.sum(marginal * np.abs(z))) + float(marginal[60]) / 4
    with precision():
        squares = nw.SquaredError().each(mechanism.errors, BALLS)
        absolute = nw.AbsoluteError().each(mechanism.errors, BALLS)
        near = nw.Usefulness("3/2").each(mechanism.errors, BALLS)
        assert float(squares[0].mid()) == pytest.approx(second, rel=1e-10)
        assert float(squares[1].mid()) == pytest.approx(4 * second, rel=1e-10)
        assert float(absolute[1].mid()) == pytest.approx(2 * first, rel=1e-10)
        # |z + u| <= 3/2 for |z| <= 1 surely; the second number is measured in steps of 2.
        assert float(near[0].mid()) == pytest.approx(float(marginal[59:62].sum()), rel=1e-10)
        assert float(near[1].mid()) == pytest.approx(marginal[60] + 2 * marginal[61] * 0.25, rel=1e-10)


def test_the_largest_error_of_identical_laplace_noise_is_the_harmonic_number():
    report = nw.design(nw.Vector(nw.L1Ball(1, 5)), privacy=nw.PureDP(1), utility=nw.LargestError())
    scale = float(report.candidates[0].certified.mechanism.parts[0].law.scale)
    harmonic = scale * sum(1 / k for k in range(1, 6))
    assert harmonic <= report.candidates[0].value <= harmonic * (1 + 2e-4)  # the end that is proven
    with precision():
        value = report.candidates[0].certified.mechanism.expected(nw.ErrorQuantile("0.9"))
        exact = -scale * math.log(1 - 0.9 ** (1 / 5))
        assert float(lower(value)) <= exact * (1 + 1e-5)
        assert float(upper(value)) >= exact * (1 - 1e-5)


def test_a_disjoint_set_under_delta_takes_any_law_of_one_number():
    report = nw.design(nw.Vector(nw.Disjoint([1, 2])), privacy=nw.ApproxDP("1/10", "1e-3"), utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    assert report.candidates[0].name == "tailored for each"
    assert report.best.certificate.rule == "approximate/one-at-a-time"
    assert report.bound is not None
    assert report.bound <= values["tailored for each"] <= values["truncated Laplace"] < values["identical Gaussian"]
    single = nw.design(nw.Scalar(1), privacy=nw.ApproxDP("1/10", "1e-3"), utility=nw.SquaredError())
    assert values["tailored for each"] == pytest.approx(5 * single.candidates[0].value, rel=1e-3)


@pytest.mark.parametrize("privacy", [nw.PureDP(1), nw.ApproxDP(1, "1e-6"), nw.ZeroConcentratedDP("0.1")])
def test_whole_and_real_numbers_declared_exact_are_answered_together(privacy: object):
    query = nw.Vector(nw.Groups([nw.Box([1, 50])] * 2, 1), integer=[True, False] * 2, exact=True)
    report = nw.design(query, privacy=privacy, utility=nw.SquaredError(weights=[1, "1/2500"] * 2))
    released = report.best.release([3, Fraction(5, 2), 7, Fraction(9, 4)])
    assert report.best.mechanism.query == query
    assert all(value == int(value) for value in (released[0], released[2]))
