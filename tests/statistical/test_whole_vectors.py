"""Released whole numbers have their law, number by number and in pairs.

False alarms: each p-value is compared with 1e-9, about thirty of them. Each test also rejects noise whose scale is a
few per cent off on either side, and noise that two numbers share.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock
from noisewright.sample.certified import make_certified
from tests.mechanisms_by_hand import fit, geometric_masses, shaped_masses

LEVEL = 1e-9
COUNT = 90_000
OFF = (0.95, 1.05)
F, M, L = Fraction, nw.mechanisms, nw.laws
LOOSE = nw.PureDP(30)
pytestmark = pytest.mark.statistical


def part(rate: Fraction) -> Any:
    return M.Additive(nw.Scalar(1, integer=True), L.DiscreteLaplace(1 / rate), L.Lattice.integers())


def both(first: dict[int, float], second: dict[int, float]) -> dict[tuple[int, int], float]:
    """Masses of two independent numbers; what hardly ever happens is left out."""
    return {(a, b): p * q for (a, p), (b, q) in product(first.items(), second.items()) if p * q > 1e-18}


def pairs(errors: Any) -> list[tuple[int, int]]:
    return list(map(tuple, np.asarray(errors).tolist()))


def test_the_counts_of_a_long_histogram_are_alike_and_apart():
    """Hundreds of thousands of bins in one release: neighbours, and bins half the way apart, are independent."""
    bins = 4 * COUNT
    best = make_certified(M.IdenticalNoise(nw.Histogram(bins), part(F(1, 2))), LOOSE)
    truth = np.arange(bins) * 7 - 10**6
    released = best.release(truth)
    assert released.dtype == np.int64
    errors = released - truth
    assert fit(errors.tolist(), geometric_masses(0.5)) > LEVEL
    for wrong in OFF:
        assert fit(errors.tolist(), geometric_masses(0.5 * wrong)) < LEVEL
    joint = both(geometric_masses(0.5), geometric_masses(0.5))
    for apart in (1, 2, 8, bins // 2):
        cut = errors[: len(errors) - len(errors) % (2 * apart)].reshape(-1, 2, apart)
        two = pairs(np.column_stack([cut[:, 0].ravel(), cut[:, 1].ravel()]))
        assert fit(two, joint) > LEVEL, apart
        assert fit([(a, a) for a, _ in two], joint) < LEVEL


@pytest.mark.parametrize("kind", ["together", "one by one"])
def test_counts_released_again_and_again_do_not_share_draws(kind: str):
    best = make_certified(M.IdenticalNoise(nw.Histogram(["a", "b"]), part(F(1))), LOOSE)
    truth, law = np.array([40, -3]), geometric_masses(1)
    if kind == "together":
        errors = best.release_many(np.tile(truth, (COUNT, 1))) - truth
    else:
        errors = np.array([best.release(truth) for _ in range(COUNT // 10)]) - truth
    assert errors.shape[1] == 2
    assert fit(pairs(errors), both(law, law)) > LEVEL
    one_after_another = np.column_stack([errors[::2, 0], errors[1::2, 0]])
    assert fit(pairs(one_after_another), both(law, law)) > LEVEL
    assert fit([(a, -a) for a, _ in pairs(errors)], both(law, law)) < LEVEL


def test_whole_numbers_with_noise_of_their_own_follow_each_its_law():
    query = nw.Vector(nw.Box([1, 0, 1]), integer=True)
    best = make_certified(M.PerCoordinate(query, (part(F(1, 2)), None, part(F(2)))), LOOSE)
    truth = np.column_stack([np.arange(COUNT), np.full(COUNT, 11), -np.arange(COUNT)])
    released = best.release_many(truth)
    assert released.dtype == np.int64
    errors = released - truth
    assert (errors[:, 1] == 0).all()
    laws = geometric_masses(0.5), geometric_masses(2)
    for place, rate in ((0, 0.5), (2, 2.0)):
        assert fit(errors[:, place].tolist(), geometric_masses(rate)) > LEVEL
        for wrong in OFF:
            assert fit(errors[:, place].tolist(), geometric_masses(rate * wrong)) < LEVEL
    assert fit(pairs(errors[:, [0, 2]]), both(*laws)) > LEVEL


def block_masses(steps: tuple[int, int], rate: float) -> dict[tuple[int, int], float]:
    """Masses of both errors, from those of whole points, around answers whose residues are uniform."""
    found: dict[tuple[int, int], float] = {}
    places = [[step * math.floor(x / step + 0.5) - x for x in range(step)] for step in steps]
    for z, mass in shaped_masses(2, rate, lambda w: max(map(abs, w)), math.ceil(40 / rate)).items():
        for shift in product(*places):
            key = (z[0] * steps[0] + shift[0], z[1] * steps[1] + shift[1])
            found[key] = found.get(key, 0.0) + mass / steps[0] / steps[1]
    return found


@pytest.mark.parametrize("steps", [(1, 1), (2, 3)])
def test_whole_numbers_that_share_a_draw_follow_their_joint_law(steps: tuple[int, int]):
    query = nw.Vector(nw.Box([3, 0, 6]), integer=True)
    mechanism = M.NormShaped(query, (NormBlock((2, 0), steps, F(1)),))
    best = make_certified(mechanism, LOOSE)
    # The answers run through all pairs of residues, each as often as the others.
    residues = np.array(list(product(range(6), range(6))))
    rounds = COUNT // len(residues)
    truth = np.tile(np.column_stack([residues[:, 0], np.full(len(residues), 5), residues[:, 1]]), (rounds, 1))
    released = best.release_many(truth)
    assert released.dtype == np.int64
    errors = released - truth
    assert (errors[:, 1] == 0).all()
    drawn = pairs(errors[:, [2, 0]])
    assert fit(drawn, block_masses(steps, 1)) > LEVEL
    for wrong in OFF:
        assert fit(drawn, block_masses(steps, wrong)) < LEVEL
    if steps[0] != steps[1]:
        assert fit([(b, a) for a, b in drawn], block_masses(steps, 1)) < LEVEL
