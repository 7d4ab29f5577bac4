"""What is calibrated is proven at the end that is returned; what the verifier refuses is left out, and said."""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from fractions import Fraction
from html import escape

import pytest

import noisewright as nw
from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.proof.pure import pure_bound
from noisewright.search.design import DESIGNERS
from noisewright.search.designer import Designer, Proposal, check_bound, designed, restored
from noisewright.search.designers.plan import _proven
from noisewright.search.families.calibration import pure_scale, rounded_up
from noisewright.search.families.planned import Candidate, Plan
from noisewright.search.report.progress import quiet

EPSILONS = [Fraction(i, 10) for i in (1, 3, 5, 8, 10, 17, 20, 30, 47, 80, 100, 199)]
POWERS = [Fraction(i, 20) for i in range(6, 20)]
QUERY, LOSS = nw.Scalar(1), nw.AbsoluteError()


@pytest.mark.parametrize("reach", [Fraction(1), Fraction(3, 7)])
def test_a_pure_scale_of_any_power_is_proven_at_the_scale_that_is_returned(reach: Fraction):
    for epsilon in EPSILONS:
        for power in POWERS:
            scale = pure_scale(power, reach, epsilon)
            assert pure_bound(GeneralizedGaussian(power, scale), reach)[0] <= epsilon
            assert float(scale) == pytest.approx(float(reach) * float(epsilon) ** float(-1 / power), rel=1e-14)


def test_a_root_that_is_rational_is_not_enlarged():
    assert pure_scale(Fraction(1, 2), Fraction(1), Fraction(2)) == Fraction(1, 4)


@pytest.mark.parametrize(
    ("epsilon", "utility"), [("10", LOSS), ("8", nw.Usefulness("0.1")), ("6", nw.Usefulness("0.1"))]
)
def test_at_a_large_epsilon_every_family_is_certified_and_none_left_out(epsilon: str, utility: object):
    report = nw.design(QUERY, privacy=nw.ApproxDP(epsilon, "1e-6"), utility=utility)
    assert any(c.name.startswith("generalized Gaussian, power 0.") for c in report.candidates)
    assert report.left_out == ()


@pytest.mark.parametrize("value", [Fraction(1) + Fraction(1, 2**60), Fraction(3, 4) + Fraction(1, 2**80)])
def test_a_number_hardly_above_a_short_fraction_is_rounded_up_nevertheless(value: Fraction):
    assert float(value) < value
    assert value <= rounded_up(value) <= value * (1 + Fraction(2, 10**13))


def test_one_release_of_a_plan_claims_no_less_than_its_own_delta():
    # The delta of one release is the mass of the last cell, which is above 1/16 by less than floats tell.
    law = Tabulated(Fraction(1), (*[2**70] * 7, 2**70 + 1), Fraction(0))
    plan = Plan(QUERY, nw.ApproxDP(1, "1e-6"), nw.SquaredError(), 100)
    mechanism = Additive(QUERY, law, Lattice.cells(Fraction(1, 10)))
    requirement = Candidate("flat", 0, 1.0, lambda _: mechanism).requirement(mechanism, plan)
    assert nw.certify(mechanism, requirement).bound > Fraction(1, 16)


def _designer() -> Designer:
    return DESIGNERS[nw.Scalar, nw.PureDP]


def _laplace(scale: str) -> Additive:
    return Additive(QUERY, Laplace(Fraction(scale)), Lattice.cells(Fraction(1, 1000)))


def _offering(*scales: str) -> Designer:
    offered = [Proposal(f"of scale {scale}", _laplace(scale), i) for i, scale in enumerate(scales)]
    return replace(_designer(), propose=lambda *_: iter(offered))


def test_a_refused_candidate_is_left_out_with_its_reason_and_the_report_stands(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING):
        report = designed(_offering("1/2", "1", "2"), QUERY, nw.PureDP(1), LOSS, quiet)
    assert [c.name for c in report.candidates] == ["of scale 1", "of scale 2"]
    assert "of scale 1/2 is left out: refused: over the differences" in caplog.text
    (told,) = report.left_out
    assert "of scale 1/2" in told
    assert "the likelihood ratio reaches e^2" in told
    assert told in str(report)
    assert escape(told) in report._repr_html_()
    assert told in report.to_dict()["notes"]
    assert copy.copy(report).left_out == report.left_out


def test_where_nothing_is_proven_the_refusal_is_an_error():
    with pytest.raises(nw.errors.UncertifiedError, match=r"likelihood ratio reaches e\^4"):
        designed(_offering("1/4", "1/2"), QUERY, nw.PureDP(1), LOSS, quiet)


def test_a_report_that_is_made_again_leaves_nothing_out():
    held = tuple(Proposal(f"of scale {scale}", _laplace(scale)) for scale in ("1/2", "1"))
    with pytest.raises(nw.errors.UncertifiedError, match=r"likelihood ratio reaches e\^2"):
        restored(_designer(), QUERY, nw.PureDP(1), LOSS, held)


def test_a_family_of_a_plan_that_is_refused_at_every_rate_is_left_out(caplog: pytest.LogCaptureFixture):
    plan = Plan(QUERY, nw.ApproxDP(1, "1e-6"), nw.SquaredError(), 100)
    # It says that it is pure at a rate of which its noise knows nothing.
    narrow = Candidate("narrow", 0, 0.01, lambda _: _laplace("1/2"), pure=True)
    with caplog.at_level(logging.WARNING):
        assert _proven(narrow, plan) is None
    assert "narrow is left out: refused" in caplog.text


@pytest.mark.parametrize(
    ("utility", "bound"), [(LOSS, Fraction(11, 10)), (nw.Usefulness(1), Fraction(1, 2))], ids=["cost", "useful"]
)
@pytest.mark.parametrize("remade", [False, True], ids=["designed", "made-again"])
def test_a_value_better_than_the_best_possible_is_an_error_for_every_question(
    utility: object, bound: Fraction, remade: bool
):
    wrong = replace(_offering("1"), bound=lambda *_: bound)
    asked, held = (QUERY, nw.PureDP(1), utility), (Proposal("of scale 1", _laplace("1")),)
    made = (lambda: restored(wrong, *asked, held)) if remade else (lambda: designed(wrong, *asked, quiet))
    with pytest.raises(nw.errors.InconsistentError, match="better than the best possible") as told:
        made()
    assert told.value.bound == pytest.approx(float(bound))


def test_a_value_at_the_bound_is_told():
    check_bound("any", (0.1, Fraction(1, 10)), Fraction(1, 10), larger=False)
    check_bound("any", (0.1, Fraction(1, 10)), Fraction(1, 10), larger=True)
    check_bound("any", (0.1,), None, larger=True)
