"""Noise for several numbers that move together: scales, and where a power between 1 and 2 is offered."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.proof.composed import joint_delta, move_of
from noisewright.search.families.calibration import float_joint_delta, largest_shift

F = Fraction
PRIVACY = nw.ApproxDP(1, "1e-6")


@pytest.mark.parametrize("power", ["1", "5/4", "3/2", "2", "3"])
@pytest.mark.parametrize(("shifts", "epsilon"), [((0.2, 0.2, 0.2), "1/2"), ((0.5, 0.1), "1/4"), ((1.5, 2.0), "1")])
def test_the_float_search_agrees_with_the_verifier(power, shifts, epsilon):
    law = nw.laws.GeneralizedGaussian(power, 1)
    proven = float(joint_delta([move_of(law, F(str(s))) for s in shifts], F(epsilon)))
    found = float_joint_delta(float(F(power)), np.array(shifts), float(F(epsilon)))
    assert found == pytest.approx(proven, rel=5e-3, abs=1e-12)


@pytest.mark.parametrize("family", [nw.laws.LOGISTIC, nw.laws.GAUSSIAN, nw.laws.generalized_gaussians("1.5")])
def test_scales_are_in_proportion_certified_and_hardly_larger_than_needed(family):
    extents = [1, 2, F(1, 2)]
    laws = nw.laws.calibrated_together(family, extents, PRIVACY)
    name = laws[0].lengths[0]
    assert [getattr(law, name) / extent for law, extent in zip(laws, extents, strict=True)] == [
        getattr(laws[0], name)
    ] * 3

    def certify(factor: Fraction) -> nw.Certificate:
        parts = [
            nw.mechanisms.Additive(nw.Scalar(e), law.scaled(factor), nw.laws.Lattice.cells(F(1, 100)))
            for e, law in zip(extents, laws, strict=True)
        ]
        return nw.certify(nw.mechanisms.PerCoordinate(nw.Vector(nw.Box(extents)), tuple(parts)), PRIVACY)

    assert certify(F(1)).bound <= PRIVACY.delta
    with pytest.raises(nw.errors.UncertifiedError, match="delta reaches"):
        certify(F(999, 1000))


def test_what_cannot_be_calibrated_together_is_refused():
    family = nw.laws.generalized_gaussians(3)
    with pytest.raises(nw.errors.InvalidQueryError, match="1 to 256"):
        nw.laws.calibrated_together(family, [], PRIVACY)
    with pytest.raises(nw.errors.InvalidQueryError, match="positive"):
        nw.laws.calibrated_together(family, [1, 0], PRIVACY)
    with pytest.raises(nw.errors.InvalidQueryError, match="ApproxDP"):
        nw.laws.calibrated_together(family, [1, 1], nw.ProbabilisticDP(1, "1e-6"))  # type: ignore[arg-type]


def test_the_largest_shift_is_where_delta_is_met():
    for power in ("1", "1.5", "3"):
        size = largest_shift(F(power), np.array([0.6, 0.8]), PRIVACY)
        for factor, met in ((0.9999, True), (1.0001, False)):
            found = float_joint_delta(float(F(power)), np.array([0.6, 0.8]) * size * factor, 1.0)
            assert (found <= float(PRIVACY.delta)) is met


def test_a_power_between_laplace_and_gaussian_leads_where_ten_of_forty_numbers_move():
    report = nw.design(nw.Vector(nw.Sparse(10, [1] * 40)), privacy=PRIVACY, utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    best = report.candidates[0]
    assert best.name == "generalized Gaussian, power 1.5"
    assert best.value < 0.9 * values["identical Gaussian"] < values["Laplace, losses composed"]
    assert best.certified.certificate.rule == "approximate/composed-sparse"


def test_it_is_not_tried_where_other_noise_leads():
    report = nw.design(nw.Vector(nw.Box([1] * 8)), privacy=PRIVACY, utility=nw.SquaredError())
    assert report.candidates[0].name == "norm-shaped blocks"
    assert not any("generalized" in c.name for c in report.candidates)
