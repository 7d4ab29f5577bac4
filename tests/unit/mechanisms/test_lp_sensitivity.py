"""l_p sensitivities and the Minkowski utility."""

from __future__ import annotations

import cmath
import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.lab.generalized_gaussian.named_rules import lemma_ten_bound
from noisewright.lab.generalized_gaussian.ranges import exponential_on_range, per_coordinate, range_limited
from noisewright.lab.generalized_gaussian.sensitivities import minkowski_utility_sensitivity
from noisewright.problem.queries import Bounded


def within(low: Any, high: Any, sensitivity: Any) -> Bounded:
    """A number that is released in the range in which it lies."""
    return Bounded(sensitivity, (low, high), (low, high), None)


def test_lemma_two_and_claim_three():
    assert nw.mechanisms.lp_sensitivity([3, 4], 2) == 5
    assert nw.mechanisms.lp_sensitivity(["0.5", "0.25"], 1) == Fraction(3, 4)
    assert nw.mechanisms.lp_sensitivity([1] * 20, 2, disjoint=True) == 1
    assert nw.mechanisms.lp_sensitivity_from_bounds([(-1, 2), (0, 4)], 2) == 5
    root = nw.mechanisms.lp_sensitivity([1, 1], 2)
    assert root**2 >= 2
    assert float(root) == pytest.approx(2**0.5, rel=1e-15)


def test_enumeration_finds_the_true_sensitivity_below_lemma_two():
    people = [(0, 1), (1, 0), (1, 1)]
    databases = [combo for size in range(4) for combo in itertools.product(people, repeat=size)]

    def histogram(rows):
        return [sum(r == p for r in rows) for p in people]

    pairs = [(d, d[:i] + d[i + 1 :]) for d in databases for i in range(len(d))]
    assert nw.mechanisms.exact_lp_sensitivity(histogram, pairs, 2) == 1
    assert nw.mechanisms.lp_sensitivity([1, 1, 1], 2) > 1


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_the_minkowski_utility_changes_by_no_more_than_the_bound(power):
    grid = [Fraction(i, 8) for i in range(-8, 9)]
    reach = Fraction(1, 2)
    true = max(
        abs(abs(c - s) ** power - abs(c - t) ** power) for c in grid for s in grid for t in grid if abs(s - t) <= reach
    )
    bound = minkowski_utility_sensitivity([(-1, 1)], [reach], power)
    assert bound == true
    assert bound <= lemma_ten_bound([(-1, 1)], [reach], power)


def test_the_exponential_mechanism_is_more_private_than_its_nominal_epsilon():
    nominal = exponential_on_range(within(0, 1, 1), nw.PureDP(1), power=2)
    assert 0 < nominal.certificate.bound <= Fraction(1, 2) + Fraction(1, 10**6)
    chosen = nw.mechanisms.exponential_over([(0, 0), (0, 1), (1, 1)], [(0, 0), (1, 1)], nw.PureDP(1), power=3)
    assert 0 < chosen.certificate.bound <= 1
    assert chosen.release((0, 1)) in {(0.0, 0.0), (1.0, 1.0)}
    again = nw.Certified.from_dict(chosen.to_dict())
    assert again.mechanism == chosen.mechanism
    with pytest.raises(nw.errors.InvalidAnswerError):
        chosen.release((5, 5))
    with pytest.raises(nw.errors.InvalidAnswerError, match="depends on the answer"):
        chosen.draw(3)


def test_noise_in_a_range_is_saved_and_proven_again():
    certified = range_limited(within(-1, 2, "1/2"), nw.PureDP(1), ends="inflated")
    again = nw.Certified.from_dict(certified.to_dict())
    assert again.mechanism == certified.mechanism
    assert -1 <= again.release("0.25") <= 2
    with pytest.raises(nw.errors.InvalidAnswerError):
        again.release(3)
    assert "root mean square" in again.describe()


def test_coordinates_share_epsilon():
    queries = [within(0, 1, 1), within(0, 10, 2)]
    made = per_coordinate(queries, nw.PureDP(1), shares=[1, 3])
    assert sum(Fraction(c.certificate.requirement.to_dict()["epsilon"]) for c in made) == 1
    with pytest.raises(nw.errors.InvalidPrivacyError):
        per_coordinate(queries, nw.PureDP(1), shares=[1])


def test_bounding_afterwards_is_post_processing_but_not_for_probabilistic_privacy():
    mechanism = nw.mechanisms.Additive(
        nw.Scalar(1), nw.laws.Gaussian(Fraction(5)), nw.laws.Lattice.cells(Fraction(1, 10))
    )
    certified = nw.Certified(mechanism, nw.certify(mechanism, nw.ApproxDP(1, "0.1")))
    assert all(0 <= nw.mechanisms.release_within(certified, 0, 0, 1) <= 1 for _ in range(20))
    kept = [nw.mechanisms.release_within(certified, 0, 0, 1, how="truncate") for _ in range(40)]
    assert None in kept
    fragile = nw.Certified(mechanism, nw.certify(mechanism, nw.ProbabilisticDP(1, "0.1")))
    with pytest.raises(nw.errors.UncertifiedError, match="post-processing"):
        nw.mechanisms.release_within(fragile, 0, 0, 1)
    with pytest.raises(nw.errors.InvalidMechanismError):
        nw.mechanisms.release_within(certified, 0, 0, 1, how="redraw")


@pytest.mark.parametrize(
    "make",
    [
        lambda: within(1, 1, 1),
        lambda: within(0, 1, 2),
        lambda: within(0, 1, 0),
        lambda: nw.mechanisms.lp_sensitivity([], 2),
        lambda: nw.mechanisms.lp_sensitivity([1, -1], 2),
        lambda: nw.mechanisms.lp_sensitivity([1], 0),
        lambda: nw.mechanisms.lp_sensitivity_from_bounds([(1, 0)], 2),
        lambda: nw.mechanisms.exact_lp_sensitivity(lambda x: [0], [(1, 2)], 2),
        lambda: lemma_ten_bound([(0, 1)], [1], 0),
        lambda: range_limited(within(0, 1, 1), nw.PureDP(1), power="0.5"),
        lambda: range_limited(within(0, 1, 1), nw.PureDP(1), ends="other"),
        lambda: per_coordinate([], nw.PureDP(1)),
        lambda: nw.mechanisms.exponential_over([0, 5], [0, 5], nw.PureDP(1)),
        lambda: nw.laws.Tabulated(Fraction(1), (), Fraction(0)),
        lambda: nw.laws.Tabulated(Fraction(1), (1, -1), Fraction(0)),
        lambda: nw.laws.Gaussian(Fraction(0)),
        lambda: nw.laws.Logistic(Fraction(-1)),
        lambda: nw.laws.GeneralizedGaussian(Fraction(1, 100), Fraction(1)),
        lambda: nw.laws.TruncatedLaplace(Fraction(1), Fraction(0)),
        lambda: nw.laws.DiscreteGaussian(Fraction(10**6)),
        lambda: nw.laws.generalized_gaussians("0.5"),
        lambda: nw.ApproxDP(1, 0),
        lambda: nw.ApproxDP(1, 1),
        lambda: nw.ProbabilisticDP(0, "0.1"),
        lambda: nw.RenyiDP(1, 1),
        lambda: nw.ZeroConcentratedDP(0),
    ],
)
def test_what_cannot_be_meant_is_refused_at_birth(make):
    with pytest.raises(nw.errors.InvalidInputError):
        make()


def _outputs(responses: list[list[list[float]]], events: dict[int, tuple[int, float]], length: int = 12) -> list[float]:
    """All outputs of a filter at all times, for one event (time, size) on some inputs."""
    found = []
    for row in responses:
        signal = [0.0] * length
        for j, (time, size) in events.items():
            for lag, tap in enumerate(row[j]):
                signal[time + lag] += size * float(tap)
        found += signal
    return found


@pytest.mark.parametrize("power", [1, 2, 3])
def test_a_filter_moves_its_outputs_by_no_more_than_its_impulse_responses(power):
    responses: list[list[list[Any]]] = [[[1, "1/2", "1/4"], [0, 3]], [[-2], ["1/3", "1/3", "1/3"]]]
    plain = [[[float(Fraction(tap)) for tap in taps] for taps in row] for row in responses]
    one = nw.mechanisms.filter_sensitivity(responses, [2, 1], power)
    both = nw.mechanisms.filter_sensitivity(responses, [2, 1], power, inputs_per_person=2)
    worst = worst_of_both = 0.0
    for first in range(6):
        for second in range(6):
            for a in (-2.0, 0.0, 2.0):
                for b in (-1.0, 0.0, 1.0):
                    moved = _outputs(plain, {0: (first, a), 1: (second, b)})
                    size = sum(abs(v) ** power for v in moved) ** (1 / power)
                    worst_of_both = max(worst_of_both, size)
                    if not a or not b:
                        worst = max(worst, size)
    assert worst == pytest.approx(float(one), rel=1e-12)
    assert worst_of_both <= float(both) * (1 + 1e-12)


def test_the_euclidean_sensitivity_of_one_input_is_the_h2_norm():
    """A moving average of 4 samples, and the frequency response that its norm is the mean square of."""
    taps = [[["1/4"] * 4]]
    found = nw.mechanisms.filter_sensitivity(taps, [3])
    assert found == Fraction(3, 2)
    waves = [
        abs(sum(0.25 * cmath.exp(-1j * w * k) for k in range(4))) ** 2
        for w in (2 * math.pi * i / 64 for i in range(64))
    ]
    assert float(found) == pytest.approx(3 * math.sqrt(sum(waves) / 64), rel=1e-12)


@pytest.mark.parametrize(
    ("responses", "events", "more"),
    [([], [1], {}), ([[[1]]], [], {}), ([[[1], [2]]], [1], {}), ([[[0]]], [1], {}), ([[[1]]], [-1], {})]
    + [([[[1]]], [1], {"inputs_per_person": 2}), ([[[1]]], [1], {"power": "1/2"})],
)
def test_what_is_no_filter_is_refused(responses, events, more):
    with pytest.raises(nw.NoisewrightError):
        nw.mechanisms.filter_sensitivity(responses, events, **more)
