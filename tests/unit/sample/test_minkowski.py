"""Noise shaped by an l_p norm is drawn with exactly its masses, by floats and by balls."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.tails import RoundTail
from noisewright.numerics.balls import lower, precision, upper
from noisewright.sample.certified import make_certified
from noisewright.sample.norm_shaped import MinkowskiSampler
from tests.mechanisms_by_hand import FAILS, FITS, fit, shaped_masses
from tests.replay import Replay

# Proposals by sums for the first two, by shells for the others.
CASES = [
    (2, Fraction(1), Fraction(3, 2), 30),
    (3, Fraction(5, 2), Fraction(8, 5), 9),
    (3, Fraction(5, 2), Fraction(3), 9),
    (2, Fraction(1), Fraction(40), 30),
]


def norm(order: Fraction):
    p = float(order)

    def measured(z: tuple[int, ...]) -> float:
        top = max(map(abs, z))
        return top * sum((abs(v) / top) ** p for v in z) ** (1 / p) if top else 0.0

    return measured


@pytest.mark.parametrize("path", ["one", "many"])
@pytest.mark.parametrize(("size", "rate", "order", "reach"), CASES)
def test_shaped_noise_has_mass_by_its_norm_alone(size: int, rate: Fraction, order: Fraction, reach: int, path: str):
    sampler, replay = MinkowskiSampler(size, rate, order), Replay(seed=5)
    if path == "one":
        drawn = [tuple(sampler.one(replay)) for _ in range(1500)]
    else:
        drawn = [tuple(z) for z in sampler.many(20_000, replay).tolist()]
    assert fit(drawn, shaped_masses(size, float(rate), norm(order), reach)) > FITS
    for wrong in (0.8, 1.25):
        assert fit(drawn, shaped_masses(size, float(rate) * wrong, norm(order), reach)) < FAILS
    if path == "many":
        assert fit(drawn, shaped_masses(size, float(rate), norm(Fraction(1)), reach)) < FAILS


@pytest.mark.parametrize(("size", "rate", "order", "reach"), CASES)
def test_balls_alone_keep_shaped_noise_as_floats_do(
    size: int, rate: Fraction, order: Fraction, reach: int, monkeypatch: pytest.MonkeyPatch
):
    """With a margin of one nothing is clear to the floats, and every proposal is decided in balls."""
    monkeypatch.setattr("noisewright.sample.norm_shaped._MARGIN", 1.0)
    sampler, replay = MinkowskiSampler(size, rate, order), Replay(seed=6)
    drawn = [tuple(sampler.one(replay)) for _ in range(500)]
    assert fit(drawn, shaped_masses(size, float(rate), norm(order), reach)) > FITS


def test_a_released_block_has_its_steps_and_its_norm():
    block = NormBlock((1, 0), (Fraction(1, 4), Fraction(3)), Fraction(1), "l3")
    query = nw.Vector(nw.Box([3, "1/4"]), exact=True)
    certified = make_certified(NormShaped(query, (block,)), nw.PureDP(2))
    noise = certified.draw(20_000)
    drawn = [(round(x * 4), round(y / 3)) for y, x in noise.tolist()]
    assert noise[:, 1] * 4 == pytest.approx(np.round(noise[:, 1] * 4))
    assert fit(drawn, shaped_masses(2, 1.0, norm(Fraction(3)), 30)) > FITS
    assert len(certified.release([5, 1])) == 2


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(3), Fraction(9)])
@pytest.mark.parametrize(("size", "reach", "rate"), [(2, 40, Fraction(1, 2)), (3, 14, Fraction(2))])
@pytest.mark.parametrize("t", [0.4, 1.7, 5.0])
def test_tails_of_shaped_blocks_against_all_points(order: Fraction, size: int, reach: int, rate: Fraction, t: float):
    masses = shaped_masses(size, float(rate), norm(order), reach)
    true = sum(m * (1 - max(0.0, min(z[0] + 0.5, t) - max(z[0] - 0.5, -t))) for z, m in masses.items())
    with precision():
        bound = RoundTail(size, rate, order).beyond(Fraction(t))
    assert float(upper(bound)) >= true * (1 - 1e-5)
    assert float(lower(bound)) <= true * math.exp(2 * float(rate) * size ** (1 / float(order))) * 1.15 + 1e-5


def test_fine_steps_leave_next_to_no_slack_in_a_half_width():
    """At a rate of 1/4000 the lattice is nothing, and 95 in 100 of all errors are within the width."""
    report = nw.design(nw.Vector(nw.LpBall(1, 4, 3)), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert report.candidates[0].name == "norm-shaped noise"
    widths = report.best.half_width("0.95")
    noise = np.abs(report.best.draw(20_000))
    for i, width in enumerate(widths):
        # Within five standard errors of 0.95, and a per cent for the pieces that the bound is taken over.
        assert 0.95 - 0.0077 <= float((noise[:, i] <= width).mean()) <= 0.9625
