"""The optimum of two-fold noise, its dual certificate, and the ranking of every fold below it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.lab.r2dp.claims import smallest_epsilon_that_helps
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidInputError, InvalidUtilityError, SolverError, UncertifiedError
from noisewright.proof.approximate import approximate_delta
from noisewright.search.designer import Proposal, _candidate
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.approximate import float_value
from noisewright.search.families.two_fold import (
    best_mixture,
    calibrated,
    check_inequality,
    proven_cost,
    two_fold_optimum,
)

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
    assert "proven: dual certificate" in str(small)
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
    with pytest.raises(InvalidInputError, match="give nothing"):
        nw.design(nw.Scalar(1), privacy=nw.RenyiDP(2, 1), utility=nw.SquaredError(), explore="two-fold")
    whole = nw.Scalar(1, integer=True)
    with pytest.raises(InvalidUtilityError, match="whole numbers"):
        nw.design(whole, privacy=nw.PureDP(1), utility=nw.KullbackLeibler([5, 9]), explore="two-fold")
    with pytest.raises(nw.errors.InvalidQueryError, match="not for balls"):
        nw.design(nw.Vector(nw.L2Ball(1, 2)), privacy=nw.PureDP(1), utility=nw.SquaredError(), explore="two-fold")
    several = nw.Vector(nw.Box([1, 1]))
    with pytest.raises(InvalidUtilityError, match="several numbers"):
        nw.design(several, privacy=nw.PureDP(1), utility=nw.Usefulness(1), explore="two-fold")


def test_under_a_delta_every_fold_is_narrowed_and_a_gaussian_mixture_beats_gaussian_noise():
    privacy = nw.ApproxDP(6, "1/1000")
    report = nw.design(nw.Scalar(1), privacy=privacy, utility=nw.AbsoluteError(), explore="two-fold")
    values = {c.name: c.value for c in report.candidates}
    assert values.keys() >= {*FOLD_NAMES, "two-fold optimum", "Gaussian mixture"}
    assert values["Gaussian mixture"] < values["two-fold optimum"] < values["Laplace"] < values["Gaussian"]
    pure = nw.design(nw.Scalar(1), privacy=nw.PureDP(6), utility=nw.AbsoluteError())
    alone = {c.name: c.value for c in pure.candidates}
    assert values["two-fold optimum"] < alone["two-fold optimum"]
    for candidate in report.candidates:
        assert candidate.certified.certificate.bound <= privacy.delta
    rules = {c.name: c.certified.certificate.rule for c in report.candidates}
    assert rules["Gaussian mixture"] == "approximate/gaussian-mixture"
    assert rules["two-fold optimum"] == "approximate/two-fold"


def test_the_mixture_is_as_small_as_its_delta_allows():
    """A thousandth less is refused; the mean of the parts' deltas would refuse it altogether."""
    privacy = nw.ApproxDP(1, "1e-6")
    law = best_mixture(nw.Scalar(1), privacy, nw.SquaredError())
    assert float_value(law, nw.SquaredError()) == pytest.approx(4.1133, rel=1e-2)
    assert approximate_delta(law, privacy.epsilon, Fraction(1))[0] > 1000 * privacy.delta
    lattice = nw.laws.Lattice.cells(Fraction(1, 100))
    assert nw.certify(nw.mechanisms.Additive(nw.Scalar(1), law, lattice), privacy).bound <= privacy.delta
    smaller = nw.mechanisms.Additive(nw.Scalar(1), law.scaled(Fraction(999, 1000)), lattice)
    with pytest.raises(UncertifiedError, match="delta reaches"):
        nw.certify(smaller, privacy)


@pytest.mark.parametrize("utility", [nw.AbsoluteError(), nw.SquaredError(), nw.Usefulness(1)], ids=str)
def test_two_fold_noise_for_whole_numbers_is_rounded_and_valued_by_its_masses(utility):
    report = nw.design(nw.Scalar(3, integer=True), privacy=nw.PureDP(8), utility=utility, explore="two-fold")
    found = next(c for c in report.candidates if c.name == "two-fold optimum")
    noise = found.certified.mechanism.noise
    masses = {k: float(noise.mass(k, FLOATS)) for k in range(-80, 81)}
    assert sum(masses.values()) == pytest.approx(1)
    if utility.larger_is_better:
        value = sum(masses[k] for k in (-1, 0, 1))
    else:
        value = sum(p * abs(k) ** int(utility.power) for k, p in masses.items())
    assert found.value == pytest.approx(value, rel=1e-9)
    drawn = found.certified.draw(1000)
    assert drawn.dtype.kind == "i"
    assert isinstance(found.certified.release(5), int)


def test_folds_without_finitely_many_rates_are_for_real_answers():
    law = nw.laws.TwoFold(nw.folds.GammaFold(2, 1))
    with pytest.raises(nw.errors.InvalidMechanismError, match="finitely many rates"):
        nw.mechanisms.Additive(nw.Scalar(1, integer=True), law, nw.laws.Lattice.integers())


@pytest.mark.parametrize("privacy", [nw.PureDP(8), nw.ApproxDP(8, "1e-6")], ids=str)
def test_several_numbers_get_the_best_two_fold_noise_each(privacy):
    report = nw.design(nw.Vector(nw.Disjoint([1, 3])), privacy=privacy, utility=nw.AbsoluteError(), explore="two-fold")
    found = next(c for c in report.candidates if c.name == "two-fold for each")
    alone = [nw.design(nw.Scalar(s), privacy=nw.PureDP(8), utility=nw.AbsoluteError()) for s in (1, 3)]
    best = [next(c for c in one.candidates if c.name == "two-fold optimum").value for one in alone]
    assert found.value == pytest.approx(sum(best), rel=1e-3)


def test_the_threshold_of_a_wide_usefulness_lies_beyond_the_range_asked():
    assert smallest_epsilon_that_helps(nw.Usefulness("0.9")) is None
    assert smallest_epsilon_that_helps(nw.Usefulness("0.9"), highest=20) is not None


def test_a_tiny_width_still_gains_and_an_enormous_one_is_not_searched():
    tiny = nw.design(nw.Scalar(1), privacy=nw.PureDP(4), utility=nw.Usefulness("1e-9"))
    values = {c.name: c.value for c in tiny.candidates}
    assert values["Laplace"] < values["two-fold optimum"] < values["staircase"]
    enormous = nw.design(nw.Scalar(1), privacy=nw.PureDP(4), utility=nw.Usefulness(1000))
    assert "was not searched" in enormous.notes[0]


def test_some_of_several_numbers_may_be_whole():
    query = nw.Vector(nw.Disjoint([1, 2]), integer=[True, False])
    report = nw.design(query, privacy=nw.PureDP(8), utility=nw.AbsoluteError(), explore="two-fold")
    found = next(c for c in report.candidates if c.name == "two-fold for each")
    assert [part.query.integer for part in found.certified.mechanism.parts] == [True, False]
    assert found.certified.certificate.bound <= 8
