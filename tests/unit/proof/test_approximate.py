"""Profiles, conversions and the paper's rules, against independent sums."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate

import noisewright as nw
from noisewright.lab.generalized_gaussian.named_rules import corollary_nine_scale, truncated_printed_scale
from noisewright.lab.generalized_gaussian.ranges import range_limited
from noisewright.numerics.fields import FLOATS
from noisewright.problem.queries import Bounded
from noisewright.proof.conversions import concentrated_to_approximate
from noisewright.proof.renyi import concentrated_rho, pure_to_renyi

ONE = Fraction(1)
LAWS = [
    nw.laws.Gaussian(Fraction(3, 2)),
    nw.laws.Laplace(Fraction(4, 5)),
    nw.laws.Logistic(Fraction(3, 5)),
    nw.laws.GeneralizedGaussian(Fraction(3, 2), Fraction(2)),
    nw.laws.GeneralizedGaussian(Fraction(3), Fraction(2)),
    nw.laws.TruncatedLaplace(ONE, Fraction(4)),
    nw.laws.TruncatedLaplace(Fraction(1, 2), Fraction(3)),
]


def _density(law, x: float) -> float:
    return float(law.density(Fraction(x), FLOATS))


def _numeric_delta(law, epsilon: float, shift: float) -> float:
    xs = np.linspace(-12, 12, 240_001)
    f = np.array([_density(law, x) for x in xs[::10]])
    g = np.array([_density(law, x + shift) for x in xs[::10]])
    return float(integrate.trapezoid(np.maximum(f - math.exp(epsilon) * g, 0), xs[::10]))


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("epsilon", ["0.3", "1", "1.5"])
def test_delta_is_the_hockey_stick_integral_and_smaller_shifts_are_no_worse(law, epsilon):
    value = Fraction(epsilon)
    bound = float(nw.laws.approximate_delta(law, value, ONE)[0])
    assert bound == pytest.approx(_numeric_delta(law, float(value), 1.0), abs=2e-3)
    assert bound >= _numeric_delta(law, float(value), 0.6) - 1e-3


@pytest.mark.parametrize("law", LAWS[:5], ids=repr)
@pytest.mark.parametrize("alpha", ["1.5", "2", "6"])
def test_renyi_divergence_is_the_integral(law, alpha):
    order = Fraction(alpha)
    a = float(order)

    def integrand(x: float) -> float:
        p, q = _density(law, x), _density(law, x + 1.0)
        return math.exp(a * math.log(p) + (1 - a) * math.log(q)) if p > 0 and q > 0 else 0.0

    total = integrate.quad(integrand, -20, 20, points=[-1, 0], limit=400)[0]
    bound = float(nw.laws.renyi_divergence(law, order, ONE)[0])
    assert bound == pytest.approx(math.log(total) / (a - 1), rel=1e-6)


def test_bounded_supports_have_no_renyi_divergence():
    for law in (nw.laws.TruncatedLaplace(ONE, Fraction(5)), nw.laws.Tabulated(ONE, (3, 2, 1), Fraction(0))):
        with pytest.raises(nw.errors.UncertifiedError, match="bounded support"):
            nw.laws.renyi_divergence(law, Fraction(2), ONE)
        with pytest.raises(nw.errors.UncertifiedError, match="bounded support"):
            concentrated_rho(law, ONE)


def test_power_one_half_is_purely_private_at_exactly_one():
    law = nw.laws.GeneralizedGaussian(Fraction(1, 2), ONE)
    mechanism = nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells(Fraction(1, 10)))
    certificate = nw.certify(mechanism, nw.PureDP(1))
    assert certificate.bound == 1
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(mechanism, nw.PureDP("0.999999"))
    above = nw.mechanisms.Additive(
        nw.Scalar(1), nw.laws.GeneralizedGaussian(Fraction(2), ONE), nw.laws.Lattice.cells(Fraction(1, 10))
    )
    with pytest.raises(nw.errors.UncertifiedError, match="not bounded"):
        nw.certify(above, nw.PureDP(32))


def test_corollary_nine_as_printed_is_refused_and_corrected_is_certified():
    query, claim = nw.Scalar(100), nw.ProbabilisticDP(10, "0.01")
    deltas = {}
    for printed in (True, False):
        scale = corollary_nine_scale(2, 100, 10, 0.01, printed=printed)
        law = nw.laws.GeneralizedGaussian(Fraction(2), Fraction(scale) * (1 + Fraction(1, 10**9)))
        mechanism = nw.mechanisms.Additive(query, law, nw.laws.Lattice.cells(Fraction(1, 10)))
        deltas[printed] = nw.certify(mechanism, nw.ProbabilisticDP(10, "0.9")).bound
        if printed:
            with pytest.raises(nw.errors.UncertifiedError):
                nw.certify(mechanism, claim)
            assert nw.lab.corollary_nine_delta(law, 10, 100) > claim.delta
        else:
            nw.certify(mechanism, claim)
            assert nw.lab.corollary_nine_delta(law, 10, 100) <= claim.delta
    assert float(deltas[True]) == pytest.approx(0.252, abs=1e-3)
    assert deltas[False] <= nw.ProbabilisticDP(10, "0.01").delta


def test_boundary_inflated_noise_needs_more_than_equation_seven():
    query, claim = Bounded(1, (0, 1), (0, 1), None), nw.PureDP("0.1")
    printed = Fraction(truncated_printed_scale(2, [1], [1], 0.1))
    mechanism = nw.mechanisms.Truncated(query, 2, printed, 100, ends="inflated")
    with pytest.raises(nw.errors.UncertifiedError, match="inflated-at-ends") as refusal:
        nw.certify(mechanism, claim)
    assert float(refusal.value.bound) == pytest.approx(0.1565, abs=1e-4)
    ours = range_limited(query, claim, power=2, ends="inflated")
    assert ours.certificate.bound <= claim.epsilon
    smaller = replace(ours.mechanism, scale=ours.mechanism.scale * Fraction(99, 100))
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(smaller, claim)


def test_truncated_noise_by_equation_seven_is_too_much():
    query = Bounded(1, (0, 1), (0, 1), None)
    printed = Fraction(truncated_printed_scale(2, [1], [1], 1.0))
    mechanism = nw.mechanisms.Truncated(query, 2, printed, 100)
    assert float(nw.certify(mechanism, nw.PureDP(1)).bound) == pytest.approx(0.167, abs=1e-3)
    ours = range_limited(query, nw.PureDP(1), power=2)
    assert 0.999 <= float(ours.certificate.bound) <= 1
    assert ours.mechanism.scale < printed / 2


@pytest.mark.parametrize("ends", ["cut", "inflated"])
@pytest.mark.parametrize("power", ["1", "1.5", "3"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "computed"])
def test_bounds_of_noise_in_a_range_hold_for_every_released_value(ends, power, exact):
    query = Bounded("1/2", (0, 2), (0, 2), None, exact)
    mechanism = replace(range_limited(query, nw.PureDP(1), power=power, ends=ends).mechanism, points=32)
    reach = mechanism.cells // 4
    assert mechanism.grid.reach(query.reach)[0] == reach
    rows = []
    for i in range(mechanism.cells + 1):
        law = mechanism.row(i)
        rows.append(-np.diff([float(law.sf(k, FLOATS)) for k in range(-1, mechanism.last + 1)]))
    worst = 0.0
    for i, row in enumerate(rows):
        assert float(np.sum(row)) == pytest.approx(1)
        for other in rows[i : i + reach + 1]:
            worst = max(worst, float(np.max(np.abs(np.log(row) - np.log(other)))))
    assert worst <= 1 + 1e-9
    assert worst >= 0.9


def test_conversions_are_theorems_or_refusals():
    pure = nw.PureDP(1)
    assert nw.mechanisms.implied_bound(pure, nw.ApproxDP(1, "1e-9")) == (Fraction(0), "pure-is-approximate")
    delta = float(nw.mechanisms.implied_bound(pure, nw.ApproxDP("0.5", "0.5"))[0])
    assert delta == pytest.approx((math.e - math.exp(0.5)) / (math.e + 1), rel=1e-12)
    assert nw.mechanisms.implied_bound(pure, nw.ZeroConcentratedDP("0.5"))[0] == Fraction(1, 2)
    assert nw.mechanisms.implied_bound(nw.ProbabilisticDP(1, "0.01"), nw.ApproxDP(1, "0.01"))[0] == Fraction(1, 100)
    assert nw.mechanisms.implied_bound(nw.ZeroConcentratedDP("0.1"), nw.RenyiDP(3, 1))[0] == Fraction(3, 10)
    for held, wanted in (
        (nw.ApproxDP(1, "0.01"), nw.ProbabilisticDP(1, "0.01")),
        (nw.ApproxDP(1, "0.01"), nw.PureDP(1)),
        (nw.ApproxDP(1, "0.01"), nw.RenyiDP(2, 5)),
        (nw.RenyiDP(2, 1), nw.ZeroConcentratedDP(1)),
        (nw.RenyiDP(2, 1), nw.RenyiDP(3, 5)),
        (nw.ProbabilisticDP(1, "0.01"), nw.ApproxDP("0.9", "0.5")),
        (nw.PureDP(1), nw.ApproxDP("0.5", "0.1")),
    ):
        with pytest.raises(nw.errors.UncertifiedError, match="refused"):
            nw.mechanisms.implied_bound(held, wanted)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_pure_privacy_bounds_the_divergence_of_randomised_response(epsilon):
    e = float(epsilon)
    p = math.exp(e) / (1 + math.exp(e))
    for alpha in (1.5, 2.0, 10.0):
        exact = math.log(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)) / (alpha - 1)
        assert float(pure_to_renyi(Fraction(epsilon), Fraction(alpha))) == pytest.approx(exact, rel=1e-12)


def test_concentrated_privacy_converts_no_better_than_the_gaussian_and_close_to_it():
    rho, epsilon = Fraction(1, 10), Fraction(2)
    exact = float(nw.laws.approximate_delta(nw.laws.Gaussian(Fraction("2.2360679775")), epsilon, ONE)[0])
    converted = float(concentrated_to_approximate(rho, epsilon))
    assert exact <= converted <= 12 * exact


def _falling(rng: np.random.Generator, cells: int, *, monotone: bool) -> tuple[int, ...]:
    weights = rng.integers(1, 2**20, size=cells)
    return tuple(int(w) for w in (np.sort(weights)[::-1] if monotone else weights))


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("edge", [Fraction(0), Fraction(1, 2)])
def test_tabulated_deltas_are_the_largest_over_all_shifts(monotone, edge):
    rng = np.random.default_rng(3)
    for _ in range(20):
        law = nw.laws.Tabulated(ONE, _falling(rng, 9, monotone=monotone), edge)
        half = np.array(law.weights, dtype=float)
        line = np.concatenate([half[::-1] if edge == 0 else half[:0:-1], half])
        line /= line.sum()
        one_sided, two_sided = [], []
        for j in range(1, 5):
            moved = np.concatenate([line[j:], np.zeros(j)])
            one_sided.append(np.maximum(line - math.e * moved, 0).sum())
            two_sided.append(line[(line > math.e * moved) | (moved > math.e * line)].sum())
        assert float(nw.laws.approximate_delta(law, ONE, Fraction(4))[0]) == pytest.approx(max(one_sided), abs=1e-12)
        lattice = nw.laws.Lattice.integers() if edge else nw.laws.Lattice.cells(ONE)
        mechanism = nw.mechanisms.Additive(nw.Scalar(4, integer=bool(edge)), law, lattice)
        claim = nw.ProbabilisticDP(1, "0.999999")
        if max(two_sided) < 0.99:
            assert float(nw.certify(mechanism, claim).bound) == pytest.approx(max(two_sided), abs=1e-12)


def test_discrete_gaussian_deltas_are_sums_over_the_integers():
    law = nw.laws.DiscreteGaussian(Fraction(5, 2))
    ks = np.arange(-60, 61)
    masses = np.exp(-(ks**2) / (2 * 6.25))
    masses /= masses.sum()
    mechanism = nw.mechanisms.Additive(nw.Scalar(2, integer=True), law, nw.laws.Lattice.integers())
    moved = np.concatenate([masses[2:], np.zeros(2)])
    expected = np.maximum(masses - math.exp(0.8) * moved, 0).sum()
    assert float(nw.certify(mechanism, nw.ApproxDP("0.8", "0.5")).bound) == pytest.approx(expected, rel=1e-9)
    worst = 0.0
    for j in (1, 2):
        near, far = masses[:-j], masses[j:]
        worst = max(worst, near[(near > math.exp(0.8) * far) | (far > math.exp(0.8) * near)].sum())
    assert float(nw.certify(mechanism, nw.ProbabilisticDP("0.8", "0.9")).bound) == pytest.approx(worst, rel=1e-9)
    assert nw.certify(mechanism, nw.ZeroConcentratedDP(1)).bound == Fraction(4) / (2 * law.std**2)
    assert law.moment(2, FLOATS) == pytest.approx(float(np.sum(ks**2 * masses)), rel=1e-12)
