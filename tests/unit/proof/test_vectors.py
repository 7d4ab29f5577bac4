"""Joint guarantees for sets: tight where they can be, refused for a larger set, never below brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.fields import FLOATS
from noisewright.proof.vector_gaussian import vector_squared_sensitivity
from noisewright.proof.vectors import norm_shaped_bound, per_coordinate_bound, root_above

SETS: dict[str, Any] = {
    "box": nw.Box([1, 2, 3]),
    "disjoint": nw.Disjoint([1, 2, 3]),
    "sparse": nw.Sparse(2, [1, 2, 3]),
    "replace": nw.Replace([1, 2, 3]),
    "l1-ball": nw.L1Ball(1, 3),
    "l2-ball": nw.L2Ball(1, 3),
    "points": nw.Points([[1, 0, 2], [0, -2, 3], ["1/2", 1, 1]]),
}


@pytest.fixture(scope="module", params=[nw.PureDP(1), nw.ApproxDP("1/2", "1e-6")], ids=["pure", "approximate"])
def reports(request):
    made = {
        name: nw.design(nw.Vector(chosen), privacy=request.param, utility=nw.SquaredError())
        for name, chosen in SETS.items()
    }
    return request.param, made


def test_every_candidate_is_proven_within_the_requirement(reports):
    privacy, made = reports
    limit = privacy.delta if isinstance(privacy, nw.ApproxDP) else privacy.epsilon
    for report in made.values():
        for candidate in report.candidates:
            assert 0 <= candidate.certified.certificate.bound <= limit
            again = nw.Certified.from_dict(candidate.certified.to_dict())
            assert again.certificate == candidate.certified.certificate


def test_a_mechanism_made_for_a_smaller_set_is_refused(reports):
    privacy, made = reports
    larger = {"disjoint": "box", "sparse": "box", "replace": "box", "points": "box"}
    for small, large in larger.items():
        for candidate in made[small].candidates:
            mechanism = candidate.certified.mechanism
            if not isinstance(mechanism, nw.mechanisms.LinearGaussian):
                moved = replace(mechanism, query=nw.Vector(SETS[large]))
                with pytest.raises(nw.errors.UncertifiedError):
                    nw.certify(moved, privacy)


def test_a_slightly_wider_set_is_refused(reports):
    privacy, made = reports
    wider: dict[str, Any] = {
        "box": nw.Box(["1.02", "2.04", "3.06"]),
        "disjoint": nw.Disjoint(["1.02", "2.04", "3.06"]),
        "l1-ball": nw.L1Ball("1.02", 3),
        "l2-ball": nw.L2Ball("1.02", 3),
    }
    for name, chosen in wider.items():
        tight = [c for c in made[name].candidates if c.certified.certificate.bound > 0]
        assert tight
        for candidate in tight:
            moved = replace(candidate.certified.mechanism, query=nw.Vector(chosen))
            with pytest.raises(nw.errors.UncertifiedError):
                nw.certify(moved, privacy)


def _part(extent: int, scale: Fraction, steps: int) -> nw.mechanisms.Additive:
    return nw.mechanisms.Additive(
        nw.Scalar(extent), nw.laws.Laplace(scale), nw.laws.Lattice.cells(Fraction(extent, steps))
    )


def test_balls_grow_by_what_rounding_adds():
    # Scale radius / epsilon would do without rounding; on a lattice it must not be accepted.
    for ball, growth in ((nw.L1Ball(1, 4), 4), (nw.L2Ball(1, 4), 4)):
        length = 1 if isinstance(ball, nw.L1Ball) else 2
        step = Fraction(1, 10)
        bare = PerCoordinate(
            nw.Vector(ball),
            (nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(Fraction(length)), nw.laws.Lattice.cells(step)),) * 4,
        )
        bound, _ = per_coordinate_bound(bare)
        assert bound == 1 + growth * step / length
        with pytest.raises(nw.errors.UncertifiedError):
            nw.certify(bare, nw.PureDP(1))


def test_a_gaussian_in_an_l2_ball_grows_by_the_root_of_the_dimension():
    step, std = Fraction(1, 10), Fraction(5)
    part = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(std), nw.laws.Lattice.cells(step))
    reach = vector_squared_sensitivity(PerCoordinate(nw.Vector(nw.L2Ball(1, 9)), (part,) * 9))
    assert reach == ((1 + 3 * step) / std) ** 2


def test_a_number_that_moves_without_noise_is_refused():
    query = nw.Vector(nw.Box([1, 1]))
    part = _part(1, Fraction(1), 10)
    with pytest.raises(nw.errors.UncertifiedError, match="number 2"):
        nw.certify(PerCoordinate(query, (part, None)), nw.PureDP(4))
    with pytest.raises(nw.errors.UncertifiedError, match="number 1"):
        nw.certify(NormShaped(query, (NormBlock((1,), (Fraction(1),), Fraction(1)),)), nw.PureDP(4))
    still = nw.Vector(nw.Box([1, 0]))
    assert nw.certify(PerCoordinate(still, (part, None)), nw.PureDP(1)).bound == 1


@pytest.mark.parametrize("norm", ["max", "l2"])
@pytest.mark.parametrize("name", ["box", "disjoint", "sparse", "points"])
def test_norm_shaped_bounds_are_tight_by_brute_force(norm, name):
    """Every rounded difference of the set, every vector of a small lattice."""
    steps = {"box": (1, 2), "disjoint": (1, 2), "sparse": (1, 2), "points": (1, 2)}[name]
    chosen: Any = {
        "box": nw.Box([2, 2]),
        "disjoint": nw.Disjoint([2, 2]),
        "sparse": nw.Sparse(2, [2, 2]),
        "points": nw.Points([[1, 2], [2, -1]]),
    }[name]
    block = NormBlock((0, 1), tuple(map(Fraction, steps)), Fraction(1, 3), norm)
    bound, _ = norm_shaped_bound(NormShaped(nw.Vector(chosen), (block,)))

    def length(z: tuple[int, ...]) -> float:
        return float(max(map(abs, z))) if norm == "max" else math.hypot(*z)

    # Steps of 1 and 2: the first number moves up to 2 steps, the second up to 1.
    reach = [(a, b) for a in range(-2, 3) for b in range(-1, 2)]
    if name == "disjoint":
        reach = [(a, b) for a, b in reach if not a or not b]
    if name == "points":
        # 1 -> 1 step and 2 -> 1 step; 2 -> 2 steps and -1 -> 0 or -1 steps; and the negatives.
        reach = [(1, 1), (2, 0), (2, -1), (-1, -1), (-2, 0), (-2, 1)]
    worst = max(
        (length((z[0] + k[0], z[1] + k[1])) - length(z)) / 3
        for k in reach
        for z in itertools.product(range(-30, 31), repeat=2)
    )
    assert worst <= float(bound) + 1e-12
    assert worst == pytest.approx(float(bound), rel=1e-9)


def test_independent_noise_over_a_sparse_set_by_brute_force():
    query = nw.Vector(nw.Sparse(2, [1, 2, 3]))
    parts = tuple(_part(e, Fraction(s), 2) for e, s in ((1, 2), (2, 3), (3, 7)))
    bound, _ = per_coordinate_bound(PerCoordinate(query, parts))
    ratios = []
    for part, moved in zip(parts, (2, 2, 2), strict=True):
        masses = [part.noise.mass(k, FLOATS) for k in range(-40, 41)]
        ratios.append(max(math.log(a / b) for a, b in zip(masses, masses[moved:], strict=False)))
    assert sum(sorted(ratios)[-2:]) <= float(bound) + 1e-9
    assert sum(sorted(ratios)[-2:]) == pytest.approx(float(bound), rel=1e-6)


def test_roots_are_exact_or_above():
    assert root_above(Fraction(9, 4)) == Fraction(3, 2)
    for value in (Fraction(2), Fraction(1, 3), Fraction(10**40, 7), Fraction(7, 10**60)):
        root = root_above(value)
        assert root * root >= value
        assert root * root <= value * (1 + Fraction(1, 2**80))


def test_gaussian_and_other_noise_are_composed():
    query = nw.Vector(nw.Box([1, 1]))
    gaussian = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(Fraction(2)), nw.laws.Lattice.cells(Fraction(1)))
    mixed = PerCoordinate(query, (gaussian, _part(1, Fraction(3), 1)))
    bound = nw.certify(mixed, nw.ApproxDP(1, "1/10")).bound
    # The Laplace part alone has no loss above 1/3, so the Gaussian one at what is left bounds both.
    assert (
        nw.certify(gaussian, nw.ApproxDP(1, "1/10")).bound
        < bound
        < nw.certify(gaussian, nw.ApproxDP("2/3", "1/10")).bound
    )


def test_gaussian_noise_is_never_pure():
    gaussian = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(Fraction(100)), nw.laws.Lattice.cells(Fraction(1)))
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(PerCoordinate(nw.Vector(nw.Disjoint([1, 1])), (gaussian, gaussian)), nw.PureDP(30))
