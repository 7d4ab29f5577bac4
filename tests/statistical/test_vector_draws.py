"""Draws for several numbers have their law: coordinates, maxima and whole shells, two-sided.

False alarms: each p-value is compared with 1e-9, about twenty of them; every test also rejects a scale
that is wrong by a few per cent.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special

import noisewright as nw
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.sample.certified import make_certified
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.norm_shaped import ShellSampler

LEVEL = 1e-9
COUNT = 1_000_000
pytestmark = pytest.mark.statistical


def _p_value(counts: np.ndarray, expected: np.ndarray) -> float:
    """Chi-squared test with cells merged until each expects at least 20."""
    merged: list[tuple[float, float]] = []
    seen, want = 0.0, 0.0
    for c, e in zip(counts, expected, strict=True):
        seen, want = seen + c, want + e
        if want >= 20:
            merged.append((seen, want))
            seen, want = 0.0, 0.0
    merged[-1] = (merged[-1][0] + seen, merged[-1][1] + want)
    statistic = sum((c - e) ** 2 / e for c, e in merged)
    return float(special.chdtrc(len(merged) - 1, statistic))


def _masses(size: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Masses of max|z| = j and of a coordinate z = -n..n, from the radius law (dimension, rate)."""
    law = ShellRadius(size, Fraction(rate).limit_denominator(10**6)).masses()
    r = np.arange(len(law))
    inside = np.array([np.sum(law[r >= j] * ((2 * j + 1) / (2 * r[r >= j] + 1)) ** size) + law[r < j].sum() for j in r])
    coordinate = np.cumsum((law / (2 * r + 1))[::-1])[::-1]
    return np.diff(inside, prepend=0.0), coordinate


@pytest.mark.parametrize(
    ("size", "rate"), [(1, Fraction(1, 5)), (3, Fraction(1, 4)), (20, Fraction(2, 5)), (40, Fraction(1, 2))]
)
def test_block_draws_have_their_law(size, rate):
    count = COUNT if size <= 3 else COUNT // 4
    z = ShellSampler(size, rate).many(count, SystemEntropy().stream())
    assert z.shape == (count, size)
    for wrong in (1.0, 0.98, 1.02):
        shells, coordinate = _masses(size, float(rate) * wrong)
        top = np.abs(z).max(axis=1)
        seen = np.bincount(np.minimum(top, len(shells) - 1), minlength=len(shells))
        p_shell = _p_value(seen, shells * count)
        first = np.abs(z[:, size // 2])
        folded = coordinate * np.where(np.arange(len(coordinate)) == 0, 1, 2)
        p_coordinate = _p_value(np.bincount(first, minlength=len(folded))[: len(folded)], folded * count)
        if wrong == 1.0:
            assert p_shell > LEVEL
            assert p_coordinate > LEVEL
        else:
            assert p_shell < LEVEL


def test_joint_shells_of_two_numbers_are_uniform():
    """On each shell every lattice point of a small block is equally likely."""
    z = ShellSampler(2, Fraction(7, 10)).many(COUNT, SystemEntropy().stream())
    for shell in (0, 1, 2, 3):
        on = z[np.abs(z).max(axis=1) == shell]
        codes = (on[:, 0] + shell) * (2 * shell + 1) + on[:, 1] + shell
        points = [
            c
            for c in range((2 * shell + 1) ** 2)
            if max(abs(c // (2 * shell + 1) - shell), abs(c % (2 * shell + 1) - shell)) == shell
        ]
        seen = np.bincount(codes, minlength=(2 * shell + 1) ** 2)[points]
        assert seen.sum() == len(on)
        if shell:
            assert _p_value(seen, np.full(len(points), len(on) / len(points))) > LEVEL
            skewed = seen * np.where(np.arange(len(points)) < len(points) // 2, 1.05, 0.95)
            assert _p_value(skewed, np.full(len(points), len(on) / len(points))) < LEVEL


def test_single_draws_have_the_same_law_as_many():
    sampler, stream = ShellSampler(3, Fraction(1, 2)), SystemEntropy().stream()
    shells, _ = _masses(3, 0.5)
    drawn = np.array([max(map(abs, sampler.one(stream))) for _ in range(4000)])
    assert _p_value(np.bincount(drawn, minlength=len(shells))[: len(shells)], shells * len(drawn)) > LEVEL


@pytest.mark.parametrize("wrong", [1.0, 0.95, 1.05])
def test_round_draws_have_a_gamma_radius(wrong):
    query = nw.Vector(nw.L2Ball(1, 4))
    report = nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError())
    block = report.best.mechanism.blocks[0]
    assert block.norm == "l2"
    noise = report.best.draw(60_000)
    radius = np.linalg.norm(noise, axis=1) / float(block.steps[0]) * float(block.rate) * wrong
    edges = np.linspace(0, 16, 60)
    expected = np.diff(special.gammainc(4, np.append(edges, np.inf))) * len(noise)
    p = _p_value(np.histogram(radius, np.append(edges, np.inf))[0], expected)
    assert (p > LEVEL) == (wrong == 1.0)
    direction = noise / np.linalg.norm(noise, axis=1)[:, None]
    assert np.abs(direction.mean(axis=0)).max() < 0.02
    assert direction.T @ direction / len(noise) == pytest.approx(np.eye(4) / 4, abs=0.01)


def test_releases_of_every_kind_are_centred_and_have_the_stated_error():
    for chosen, privacy in (
        (nw.Box([1, 2, 9]), nw.PureDP(1)),
        (nw.Box([1, 2, 9]), nw.ApproxDP(1, 1e-6)),
        (nw.Points([[1, 1, 0], [0, 2, -1], [3, 0, 1]]), nw.ApproxDP(1, 1e-6)),
    ):
        report: Any = nw.design(nw.Vector(chosen), privacy=privacy, utility=nw.SquaredError())
        for candidate in report.candidates:
            noise = candidate.certified.draw(40_000)
            root = np.sqrt((noise**2).mean(axis=0))
            assert root == pytest.approx(np.sqrt(candidate.parts), rel=0.06)
            assert np.abs(noise.mean(axis=0) / root).max() < 6.5 / 200
        released = np.array([report.best.release([10, 20, 30]) for _ in range(30)])
        assert np.abs(released.mean(axis=0) - [10, 20, 30]) == pytest.approx(
            np.zeros(3), abs=6.5 * max(report.parts[0]) ** 0.5 / 30**0.5
        )


def test_a_forced_refinement_leaves_the_law_unchanged():
    """Bits that do not decide go to balls: cut the guide so that they often do not."""
    law = ShellRadius(2, Fraction(1, 2))
    from noisewright.sample.inversion import CdfTable

    table = CdfTable(law, -1, 6, bits=8)
    stream = SystemEntropy().stream()
    words = stream.words(6000) >> np.uint64(56)
    drawn = table.places(words).astype(np.int64) + table.first
    open_draws = np.flatnonzero(drawn == table.size + table.first)
    assert len(open_draws) > 60
    drawn[open_draws] = table.settle(words[open_draws], stream)
    masses = law.masses()
    assert _p_value(np.bincount(drawn, minlength=len(masses))[: len(masses)], masses * len(drawn)) > LEVEL


def test_an_unknown_block_is_proven_before_it_is_drawn():
    query = nw.Vector(nw.Box([1, 1]))
    mechanism = NormShaped(query, (NormBlock((0, 1), (Fraction(1, 10),) * 2, Fraction(1, 10)),))
    assert make_certified(mechanism, nw.PureDP(1)).draw(10).shape == (10, 2)
    with pytest.raises(nw.errors.UncertifiedError):
        make_certified(mechanism, nw.PureDP("0.99"))
