"""The optimum of two-fold noise, its dual certificate, and the ranking of every fold below it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.lab.r2dp_claims import smallest_epsilon_that_helps
from noisewright.problem.errors import InvalidInputError, InvalidUtilityError, SolverError
from noisewright.search.bounds.two_fold import check_inequality, proven_cost
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.two_fold import two_fold_optimum
from noisewright.search.families.two_fold_laws import calibrated
from noisewright.search.report.designer import Proposal, _candidate

UTILITIES = [
    nw.AbsoluteError(),
    nw.SquaredError(),
    nw.PowerError("0.5"),
    nw.Usefulness("0.1"),
    nw.Usefulness("0.9"),
    nw.ErrorQuantile("0.95"),
]
FOLD_NAMES = {
    "gamma fold",
    "uniform fold",
    "truncated normal fold",
    "noncentral chi-squared fold",
    "Rayleigh fold",
    "ensemble of folds",
}


@pytest.mark.parametrize("utility", UTILITIES, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(5), Fraction(12)], ids=float)
def test_the_optimum_is_proven_from_both_sides(utility, epsilon):
    optimum = two_fold_optimum(utility, epsilon)
    floor = proven_cost(optimum)
    assert floor <= optimum.cost <= float(floor) * (1 + 2e-9)
    with pytest.raises(SolverError):
        check_inequality(
            optimum.utility, epsilon, Fraction(optimum.multiplier), Fraction(optimum.cost) * (1 + Fraction(1, 10**6))
        )
    assert len(optimum.fold.rates) <= 2


def test_a_wrong_multiplier_proves_nothing():
    optimum = two_fold_optimum(nw.AbsoluteError(), Fraction(10))
    with pytest.raises(SolverError):
        check_inequality(
            nw.AbsoluteError(), Fraction(10), Fraction(optimum.multiplier) * Fraction(11, 10), Fraction(optimum.cost)
        )
    with pytest.raises(SolverError):
        check_inequality(nw.AbsoluteError(), Fraction(10), Fraction(-1), Fraction(optimum.cost))


def test_reports_say_whether_two_fold_noise_helps():
    small = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert "cannot help here" in str(small)
    assert "proven by a dual certificate" in str(small)
    large = nw.design(nw.Scalar(3), privacy=nw.PureDP(10), utility=nw.AbsoluteError())
    assert "two rates (2.03732, 111.215 per sensitivity)" in str(large)
    values = {c.name: c.value for c in large.candidates}
    assert values["two-fold optimum"] == pytest.approx(3 * 0.0179832, rel=1e-4)
    assert values["tailored"] < values["two-fold optimum"] < values["Laplace"]
    assert large.to_dict()["notes"]


@pytest.mark.parametrize(
    ("utility", "epsilon"),
    [(nw.AbsoluteError(), 1), (nw.SquaredError(), 6), (nw.Usefulness("0.4"), 1), (nw.Usefulness("0.4"), 6)],
    ids=str,
)
def test_no_fold_beats_the_optimum_and_rayleigh_is_shown_as_it_is(utility, epsilon):
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(epsilon), utility=utility, explore="two-fold")
    values = {c.name: c.value for c in report.candidates}
    assert values.keys() >= FOLD_NAMES
    best = values["two-fold optimum"]
    for name in FOLD_NAMES:
        worse = values[name] <= best * (1 + 1e-4) if utility.larger_is_better else values[name] >= best * (1 - 1e-4)
        assert worse, name
    if epsilon == 1:
        rayleigh, laplace = values["Rayleigh fold"], values["Laplace"]
        assert rayleigh < laplace if utility.larger_is_better else rayleigh > laplace
    for candidate in report.candidates:
        assert candidate.certified.certificate.bound <= epsilon


def test_infinite_errors_are_said():
    query, privacy, utility = nw.Scalar(1), nw.PureDP(1), nw.SquaredError()
    report = nw.design(query, privacy=privacy, utility=utility)
    fold = calibrated(nw.folds.RayleighFold(Fraction(1)), Fraction(1))
    mechanism = two_fold_mechanism(query, fold, Fraction(1), utility)
    rayleigh = _candidate(Proposal("Rayleigh fold", mechanism), query, privacy, utility, Fraction(str(report.bound)))
    shown = replace(report, candidates=(*report.candidates, rayleigh))
    assert "infinite" in str(shown)
    assert "unbounded" in str(shown)
    assert rayleigh.to_dict()["value"] is None
    assert "infinite" in rayleigh.certified.describe()


def test_explorations_that_do_not_exist_are_refused():
    with pytest.raises(InvalidInputError, match="two-fold"):
        nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError(), explore="three-fold")
    query = nw.Scalar(1, integer=True)
    with pytest.raises(InvalidUtilityError):
        nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError(), explore="two-fold")


def test_the_threshold_of_a_wide_usefulness_lies_beyond_the_range_asked():
    assert smallest_epsilon_that_helps(nw.Usefulness("0.9")) is None
    assert smallest_epsilon_that_helps(nw.Usefulness("0.9"), highest=20) is not None


def test_a_tiny_width_still_gains_and_an_enormous_one_is_not_searched():
    tiny = nw.design(nw.Scalar(1), privacy=nw.PureDP(4), utility=nw.Usefulness("1e-9"))
    values = {c.name: c.value for c in tiny.candidates}
    assert values["Laplace"] < values["two-fold optimum"] < values["staircase"]
    enormous = nw.design(nw.Scalar(1), privacy=nw.PureDP(4), utility=nw.Usefulness(1000))
    assert "was not searched" in enormous.notes[0]
