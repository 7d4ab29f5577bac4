"""Noise shaped by an l_p norm, and changes bounded by one: against brute force, for powers on both sides of 2."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.proof.vector_gaussian import vector_squared_sensitivity
from noisewright.proof.vectors import most_moving, norm_shaped_bound, per_coordinate_bound, widening
from noisewright.search.bounds.vector import vector_bound
from tests.mechanisms_by_hand import shaped_masses

NORMS = ["l1", "l3/2", "l3", "l11", "max"]


def norm(z: Any, name: str) -> float:
    """The norm of a vector, written out."""
    sizes = [abs(float(v)) for v in z]
    if name == "max":
        return max(sizes)
    p = float(Fraction(name[1:]))
    return sum(v**p for v in sizes) ** (1 / p)


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize(
    ("chosen", "reach"),
    [
        (nw.Box([3, 2]), [(a, b) for a in range(-3, 4) for b in range(-1, 2)]),
        (nw.Disjoint([3, 2]), [(a, 0) for a in range(-3, 4)] + [(0, 1), (0, -1)]),
        # 1 and 3 are one step and two of two; -1 of steps of 2 is none or one.
        (nw.Points([[1, 3], [3, -1]]), [(1, 1), (1, 2), (3, 0), (3, -1)]),
    ],
    ids=["box", "disjoint", "points"],
)
def test_a_block_costs_the_largest_difference_of_norms(name: str, chosen: Any, reach: list[tuple[int, int]]):
    block = NormBlock((0, 1), (Fraction(1), Fraction(2)), Fraction(1, 3), name)
    bound, _ = norm_shaped_bound(NormShaped(nw.Vector(chosen), (block,)))
    worst = max(
        (norm((z[0] + k[0], z[1] + k[1]), name) - norm(z, name)) / 3
        for k in reach
        for z in itertools.product(range(-25, 26), repeat=2)
    )
    assert worst <= float(bound) + 1e-12
    assert worst == pytest.approx(float(bound), rel=1e-9)


def on_the_sphere(count: int, power: float, dimension: int = 3) -> np.ndarray:
    """Directions of l_p norm 1, the axes and the diagonals among them."""
    points = np.random.default_rng(7).normal(size=(count, dimension))
    points[:dimension] = np.eye(dimension)
    points[dimension : dimension + 8] = list(itertools.product((-1.0, 1.0), repeat=dimension))
    return points / (np.abs(points) ** power).sum(axis=1, keepdims=True) ** (1 / power)


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("power", ["1", "4/3", "2", "5"])
def test_a_block_covers_every_pair_of_rounded_answers_in_an_lp_ball(name: str, power: str):
    """Rounded pairs never cost more; without rounding the bound is met."""
    radius, steps, rate = 2.0, np.array([0.25, 0.25, 0.25]), Fraction(1, 5)
    block = NormBlock((0, 1, 2), (Fraction(1, 4),) * 3, rate, name)
    bound = float(norm_shaped_bound(NormShaped(nw.Vector(nw.LpBall(2, 3, power)), (block,)))[0])
    moves = radius * on_the_sphere(3000, float(Fraction(power)))
    answers = np.random.default_rng(8).uniform(-1, 1, size=moves.shape)
    crossed = np.floor((answers + moves) / steps + 0.5) - np.floor(answers / steps + 0.5)
    assert max(norm(k, name) for k in crossed) / 5 <= bound
    farthest = max(norm(k, name) for k in moves / steps) / 5
    assert bound == pytest.approx(farthest + norm((1, 1, 1), name) / 5, rel=1e-9)


@pytest.mark.parametrize("power", ["1", "4/3", "2", "5"])
def test_two_blocks_in_an_lp_ball_cost_the_dual_norm_of_their_slopes(power: str):
    blocks = (
        NormBlock((2, 0), (Fraction(1, 1000),) * 2, Fraction(1, 700), "l3"),
        NormBlock((1,), (Fraction(1, 1000),), Fraction(1, 300), "l3/2"),
    )
    bound = float(norm_shaped_bound(NormShaped(nw.Vector(nw.LpBall(1, 3, power)), blocks))[0])
    moves = 1000 * on_the_sphere(20_000, float(Fraction(power)))
    costs = [norm((d[2], d[0]), "l3") / 700 + abs(d[1]) / 300 for d in moves]
    growth = norm((1, 1), "l3") / 700 + 1 / 300
    assert max(costs) <= bound - growth + 1e-9
    assert max(costs) == pytest.approx(bound - growth, rel=1e-2)


@pytest.mark.parametrize("power", ["1", "4/3", "2", "5"])
def test_independent_noise_in_an_lp_ball_covers_the_longest_difference(power: str):
    step = Fraction(1, 100)
    scales = [Fraction(2), Fraction(3), Fraction(5)]
    query = nw.Vector(nw.LpBall(1, 3, power))
    lattice = nw.laws.Lattice.cells(step)
    moves = on_the_sphere(40_000, float(Fraction(power)))

    laplace = [nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(s), lattice) for s in scales]
    bound = float(per_coordinate_bound(PerCoordinate(query, laplace))[0])
    largest = max(np.abs(moves) @ np.array([1 / float(s) for s in scales]))
    growth = float(sum((step / s for s in scales), Fraction(0)))
    assert largest <= bound - growth + 1e-12
    assert largest == pytest.approx(bound - growth, rel=2e-3)

    same = [nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(Fraction(2)), lattice)] * 3
    reach = float(vector_squared_sensitivity(PerCoordinate(query, same))) ** 0.5
    longest = np.sqrt((moves**2).sum(axis=1)).max() / 2
    assert reach == pytest.approx(longest + math.sqrt(3) / 200, rel=1e-9)


@pytest.mark.parametrize(("order", "among"), [(1, 2), ("3/2", 4), (2, 3), (3, 2), (5, 5)])
def test_widening_is_the_largest_ratio_of_two_norms(order: Any, among: Any):
    moves = on_the_sphere(4000, float(Fraction(among)))
    largest = max(norm(z, f"l{Fraction(order)}") for z in moves)
    assert float(widening(3, Fraction(order), Fraction(among))) == pytest.approx(largest, rel=1e-9)
    assert widening(3, None, Fraction(among)) == 1


def test_whole_numbers_in_an_lp_ball_move_as_few_as_their_powers_allow():
    """Each that moves does so by one at least: 2.5^3 = 15.6 of them, 2.5 of them in an l1 ball."""
    whole = (True,) * 40
    assert most_moving(nw.LpBall("2.5", 40, 3), whole) == 15
    assert most_moving(nw.LpBall("2.5", 40, 1), whole) == most_moving(nw.L1Ball("2.5", 40), whole) == 2
    assert most_moving(nw.LpBall("2.5", 10, 3), whole) == 10


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(("name", "rate"), [("l1", "1/3"), ("l3/2", "1/3"), ("l3", "1/4"), ("l11", "1/4")])
def test_the_error_of_a_shaped_block_is_enclosed_lattice_and_all(name: str, rate: str, power: int):
    exact = Fraction(rate)
    masses = shaped_masses(2, float(exact), lambda z: norm(z, name), 90)
    spread = np.linspace(-0.5, 0.5, 2001)
    first: dict[int, float] = {}
    for z, mass in masses.items():
        first[z[0]] = first.get(z[0], 0.0) + mass
    true = sum(m * float(np.mean(np.abs((k + spread) / 2) ** power)) for k, m in first.items())
    block = NormBlock((0, 1), (Fraction(1, 2),) * 2, exact, name)
    with precision():
        found = NormShaped(nw.Vector(nw.Box([1, 1]), exact=True), (block,)).power_means(Fraction(power), BALLS)[0]
        assert float(lower(found)) <= true <= float(upper(found))
        middle = math.sqrt(float(lower(found)) * float(upper(found)))
    # At these rates the lattice changes next to nothing, so a wrong formula cannot hide in the enclosure.
    assert middle == pytest.approx(true, rel=0.02)


@pytest.mark.parametrize(("ball", "same"), [(nw.L1Ball(2, 4), 1), (nw.L2Ball(2, 4), 2)])
def test_the_bound_of_an_lp_ball_is_that_of_the_balls_it_contains(ball: Any, same: int):
    found = [vector_bound(nw.Vector(c), Fraction(1), nw.SquaredError()) for c in (ball, nw.LpBall(2, 4, same))]
    assert all(found)
    assert float(found[0] or 0) == pytest.approx(float(found[1] or 0), rel=1e-12)


def test_the_volume_of_an_lp_ball_is_counted():
    """A larger power is a larger ball, so more error is sure; by drawing points the cube holds 0.6 of it at power 3."""
    powers = [1, "3/2", 2, 3, 9]
    bounds = [float(vector_bound(nw.Vector(nw.LpBall(1, 5, p)), Fraction(1), nw.SquaredError()) or 0) for p in powers]
    assert bounds == sorted(bounds)
    points = np.random.default_rng(9).uniform(-1, 1, size=(200_000, 5))
    share = float(((np.abs(points) ** 3).sum(axis=1) <= 1).mean())
    cube = float(vector_bound(nw.Vector(nw.Box([1] * 5)), Fraction(1), nw.SquaredError()) or 0)
    assert bounds[3] / cube == pytest.approx(share ** (2 / 5), rel=0.01)


@pytest.mark.parametrize("power", ["3/2", "3", "8"])
def test_noise_shaped_by_the_norm_is_designed_certified_and_near_the_bound(power: str):
    report = nw.design(nw.Vector(nw.LpBall(3, 5, power)), privacy=nw.PureDP("1/2"), utility=nw.SquaredError())
    best = report.candidates[0]
    assert best.name == "norm-shaped noise"
    assert best.certified.certificate.rule == "pure/norm-lp-ball"
    assert best.certified.certificate.bound <= Fraction(1, 2)
    assert best.value < 0.75 * next(c.value for c in report.candidates if c.name == "identical Laplace")
    assert float(report.bound) <= best.value <= 1.1 * float(report.bound)


@pytest.mark.parametrize("privacy", [nw.ApproxDP(1, "1e-6"), nw.ProbabilisticDP(1, "1e-6"), nw.ZeroConcentratedDP(1)])
def test_an_lp_ball_is_answered_under_every_promise(privacy: Any):
    query = nw.Vector(nw.LpBall(1, 4, 4))
    report = nw.design(query, privacy=privacy, utility=nw.SquaredError())
    # An l4 ball of 4 numbers holds (1/sqrt 2, …), of Euclidean length sqrt 2: that much more noise than for an l2 ball.
    smaller = nw.design(nw.Vector(nw.L2Ball(1, 4)), privacy=privacy, utility=nw.SquaredError())
    assert report.candidates[0].value > smaller.candidates[0].value
    for candidate in report.candidates:
        again = nw.Certified.from_dict(candidate.certified.to_dict())
        assert again.certificate == candidate.certified.certificate


def test_gaussian_noise_for_an_l2_ball_is_refused_for_an_lp_ball_beyond_it():
    """The l4 ball is wider than the l2 ball of its radius; what was enough there is not here."""
    lattice = nw.laws.Lattice.cells(Fraction(1, 100))
    part = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(Fraction(5)), lattice)
    claim = nw.ZeroConcentratedDP("0.021")
    nw.certify(PerCoordinate(nw.Vector(nw.L2Ball(1, 4)), [part] * 4), claim)
    nw.certify(PerCoordinate(nw.Vector(nw.LpBall(1, 4, "3/2")), [part] * 4), claim)
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(PerCoordinate(nw.Vector(nw.LpBall(1, 4, 4)), [part] * 4), claim)


@pytest.mark.parametrize("wrong", ["l", "l0", "l1/2", "l101", "2", "l-2", "linf", "Max", "l1/0"])
def test_what_is_no_norm_is_refused(wrong: str):
    with pytest.raises(nw.errors.InvalidMechanismError, match=r"norm is '.*give \"max\", or \"l\" and a power"):
        NormBlock((0,), (Fraction(1),), Fraction(1), wrong)


def test_one_norm_has_one_name():
    made = {NormBlock((0,), (Fraction(1),), Fraction(1), name) for name in ("l3/2", "l1.5", "l6/4")}
    assert [block.norm for block in made] == ["l3/2"]
    assert NormBlock((0,), (Fraction(1),), Fraction(1)).order is None


@pytest.mark.parametrize("wrong", ["1/2", 0, 101, "x"])
def test_what_is_no_norm_of_a_ball_is_refused(wrong: Any):
    with pytest.raises(nw.NoisewrightError, match="power"):
        nw.LpBall(1, 3, wrong)
