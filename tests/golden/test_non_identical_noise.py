"""Numbers of the paper on non-identical noise and of the reference table, with their tolerances."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.non_identical.curves import (
    block_error,
    decibel,
    gaussian_errors,
    laplace_errors,
    profile,
    unit_variance,
    with_norm,
)
from noisewright.proof.vector_gaussian import composed_delta
from noisewright.search.families.vector import largest_length
from noisewright.search.families.vector_parts import best_partition

HALF, MILLIONTH = Fraction(1, 2), Fraction(1, 10**6)

# reference table: "non-identical-noise paper: dB gain ... K=20", tolerance 1e-6.
GAINS = {
    "uniform": (0.0, 0.0),
    "linear": (1.14473302930135, 0.5458588456649859),
    "quadratic": (2.442038247018327, 1.389549965782799),
    "exponential": (9.657820905456301, 7.609027496248746),
}
# reference table: "box sensitivity pure DP: K-norm partition MSE", tolerance 0.001; and theory for Laplace.
BLOCKS = {"uniform": (7.7, 40), "linear": (8.6453, 35.28), "quadratic": (8.0725, 29.05), "exponential": (4.544, 6.94)}


@pytest.mark.parametrize("name", GAINS)
def test_gains_at_twenty_numbers(name):
    gaussian, laplace = GAINS[name]
    same, own = gaussian_errors(with_norm(profile(name, 20), 2), unit_variance(HALF, MILLIONTH))
    assert decibel(same / own) == pytest.approx(gaussian, abs=1e-6)
    same, own = laplace_errors(with_norm(profile(name, 20), 1), 0.5)
    assert decibel(same / own) == pytest.approx(laplace, abs=1e-6)


def _values(name: str, privacy: nw.PureDP | nw.ApproxDP) -> dict[str, float]:
    sensitivities = [Fraction(float(v)).limit_denominator(10**12) for v in with_norm(profile(name, 20), 1)]
    alike = nw.SquaredError([1] * len(sensitivities))  # the paper adds up errors of uneven numbers, and means it
    report = nw.design(nw.Vector(nw.Box(sensitivities)), privacy=privacy, utility=alike)
    return {c.name: c.value for c in report.candidates}


@pytest.mark.parametrize("name", BLOCKS)
def test_the_certified_mechanisms_reach_the_closed_forms(name):
    blocks, laplace = BLOCKS[name]
    values = _values(name, nw.PureDP(1))
    assert values["norm-shaped blocks"] == pytest.approx(blocks, rel=2e-4)
    assert values["non-identical Laplace"] == pytest.approx(laplace, rel=5e-4)
    assert decibel(values["identical Laplace"] / values["non-identical Laplace"]) == pytest.approx(
        GAINS[name][1], abs=1e-3
    )


@pytest.mark.parametrize("name", ["linear", "exponential"])
def test_the_certified_gaussians_have_the_gains_of_the_paper(name):
    values = _values(name, nw.ApproxDP(HALF, MILLIONTH))
    gain = decibel(values["identical Gaussian"] / values["non-identical Gaussian"])
    assert gain == pytest.approx(GAINS[name][0], abs=1e-3)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("uniform", [20]), ("linear", [14, 6]), ("quadratic", [9, 6, 4, 1])],
)
def test_the_best_partitions_of_the_reference_table(name, sizes):
    values = with_norm(profile(name, 20), 1)
    found = best_partition(values, np.ones(20), 2)
    assert sorted(map(len, found.blocks)) == sorted(sizes)
    assert found.error == pytest.approx(BLOCKS[name][0], abs=1e-3)


def test_saturation_and_the_transposed_digits():
    gaussian = gaussian_errors(with_norm(profile("exponential", 200), 2), unit_variance(HALF, MILLIONTH))[1]
    laplace = laplace_errors(with_norm(profile("exponential", 200), 1), 0.5)[1]
    assert decibel(gaussian) == pytest.approx(21.477, abs=5e-4)
    assert decibel(laplace) == pytest.approx(14.432, abs=5e-4)
    assert abs(decibel(laplace) - 14.243) > 0.1


def test_gaussian_is_below_laplace_from_nine_numbers_on():
    variance = unit_variance(HALF, MILLIONTH)

    def below(k: int) -> bool:
        values = with_norm(profile("uniform", k), 2)
        return gaussian_errors(values, variance)[1] < laplace_errors(values, 0.5)[1]

    assert [k for k in range(1, 40) if below(k)] == list(range(9, 40))


def test_a_histogram_declared_as_a_box_costs_what_theory_says():
    privacy = nw.ApproxDP(HALF, MILLIONTH)
    box = nw.design(nw.Vector(nw.Box([1] * 20)), privacy=privacy, utility=nw.SquaredError())
    alone = nw.design(nw.Vector(nw.Disjoint([1] * 20)), privacy=privacy, utility=nw.SquaredError())
    wide = next(c.value for c in box.candidates if c.name == "identical Gaussian")
    narrow = next(c.value for c in alone.candidates if c.name == "identical Gaussian")
    assert wide == pytest.approx(25970, rel=1e-4)
    assert narrow == pytest.approx(1298.5, rel=1e-4)
    assert "20 for Gaussian noise" in " ".join(box.notes)
    pure = nw.design(nw.Vector(nw.Box([1] * 20)), privacy=nw.PureDP(HALF), utility=nw.SquaredError())
    assert "400 for Laplace noise" in " ".join(pure.notes)
    assert "added or removed" in " ".join(pure.notes)
    assert alone.notes == ()


def test_composed_laplace_losses_have_the_true_delta():
    # theory 7: the paper's condition says 0.2212 for two shifts of half a scale, the truth is 0.1239.
    assert float(composed_delta([Fraction(1, 2)] * 2, HALF)) == pytest.approx(0.1239, abs=1e-4)
    assert float(composed_delta([Fraction(1)], HALF)) == pytest.approx(1 - math.exp(-0.25), rel=1e-3)
    assert float(composed_delta([Fraction(1)], HALF)) >= 1 - math.exp(-0.25)


def test_the_gaussian_calibration_is_checked_and_tight():
    length = largest_length(HALF, MILLIONTH)
    assert float(1 / length**2) == pytest.approx(64.925215, rel=1e-7)
    from noisewright.proof.vector_gaussian import gaussian_delta

    assert gaussian_delta(HALF, length**2) <= MILLIONTH < gaussian_delta(HALF, (length * Fraction(1001, 1000)) ** 2)


def test_blocks_beat_non_identical_laplace_on_the_uniform_profile():
    values = with_norm(profile("uniform", 20), 1)
    assert laplace_errors(values, 1.0)[1] / block_error(values, 1.0) == pytest.approx(40 / 7.7, rel=1e-9)
