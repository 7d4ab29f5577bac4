"""Every reference number for one number under (epsilon, delta)."""

from __future__ import annotations

from typing import Any

import pytest

import noisewright as nw
from noisewright.lab.generalized_gaussian.named_rules import gaussian_classical_std, gaussian_printed_std
from noisewright.numerics.fields import FLOATS
from noisewright.search.families.approximate import truncated_laplace
from tests.golden.approximate_numbers import FAMILY_MSE, GAUSSIAN_STD, OPTIMUM_MAE, OPTIMUM_MSE

SETTINGS = [(e, d) for e in ("0.1", "0.5", "1", "2") for d in ("1e-6", "0.001", "0.01")]


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")


@pytest.mark.parametrize(("epsilon", "delta", "approximate", "probabilistic", "printed", "classical"), GAUSSIAN_STD)
def test_gaussian_standard_deviations(epsilon, delta, approximate, probabilistic, printed, classical):
    found = nw.laws.calibrated(nw.laws.GAUSSIAN, 1, nw.ApproxDP(epsilon, delta)).std
    assert float(found) == pytest.approx(approximate, rel=1e-9)
    found = nw.laws.calibrated(nw.laws.GAUSSIAN, 1, nw.ProbabilisticDP(epsilon, delta)).std
    assert float(found) == pytest.approx(probabilistic, rel=1e-9)
    assert gaussian_printed_std(1, epsilon, delta) == pytest.approx(printed, rel=1e-9)
    assert gaussian_classical_std(1, epsilon, delta) == pytest.approx(classical, rel=1e-9)


@pytest.mark.parametrize(("family", "epsilon", "delta", "value"), FAMILY_MSE)
def test_families_reach_their_reference_error(family, epsilon, delta, value):
    privacy = nw.ApproxDP(epsilon, delta)
    if family == "truncated-laplace":
        law: Any = truncated_laplace(nw.Scalar(1), privacy, nw.SquaredError()).law
    else:
        kind = (
            nw.laws.GAUSSIAN
            if family == "gaussian"
            else nw.laws.generalized_gaussians(1 if family == "laplace" else family)
        )
        law = nw.laws.calibrated(kind, 1, privacy)
    assert law.moment(2, FLOATS) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize(("epsilon", "delta", "value", "tolerance", "floor"), OPTIMUM_MSE)
def test_the_winner_is_within_tolerance_of_the_reference_optimum(epsilon, delta, value, tolerance, floor):
    report = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(epsilon, delta), utility=nw.SquaredError())
    best = report.candidates[0]
    assert best.value == pytest.approx(value, rel=tolerance)
    assert best.value >= floor * (1 - 1e-5)
    assert report.bound is not None
    assert report.bound <= value * (1 + 1e-9)
    assert report.bound == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize(("epsilon", "delta", "value"), OPTIMUM_MAE)
def test_absolute_error(epsilon, delta, value):
    report = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(epsilon, delta), utility=nw.AbsoluteError())
    assert report.candidates[0].value == pytest.approx(value, rel=5e-3)
    assert report.bound <= value


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_the_winner_is_within_half_a_percent_of_the_optimum_and_never_behind_the_usual_ones(epsilon, delta):
    report = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(epsilon, delta), utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    best = report.candidates[0]
    assert best.gap is not None
    assert best.gap < 0.005  # to the proven bound, which is at most the optimum
    assert best.value <= min(values["Gaussian"], values["truncated Laplace"], values["staircase"])


def test_one_number_at_one_and_a_millionth_says_why_with_computed_numbers():
    report = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(1, "1e-6"), utility=nw.SquaredError())
    assert "its error is 9.306 times smaller than that of Gaussian noise" in report.why
    assert "Gaussian noise beats Laplace and staircase noise from 9 equal releases on" in report.why


def test_a_hundred_laplace_releases_cost_what_is_known_of_them():
    plan = nw.compose(["laplace(epsilon=0.1) x 100"])
    assert float(plan.epsilon("1e-6")) == pytest.approx(4.69, abs=0.01)


def test_the_gaussian_of_the_paper_and_the_exact_one():
    # epsilon = 1, delta = 0.01: Proposition 11 gives 2.7572, exactly it takes 2.6213, approximate privacy 1.8779.
    assert gaussian_printed_std(1, 1, 0.01) == pytest.approx(2.7572, abs=5e-5)
    assert float(nw.laws.calibrated(nw.laws.GAUSSIAN, 1, nw.ProbabilisticDP(1, 0.01)).std) == pytest.approx(
        2.6213, abs=5e-5
    )
    assert float(nw.laws.calibrated(nw.laws.GAUSSIAN, 1, nw.ApproxDP(1, 0.01)).std) == pytest.approx(1.8779, abs=5e-5)
