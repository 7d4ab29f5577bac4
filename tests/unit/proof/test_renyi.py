"""Renyi divergences and concentration against integrals and sums in many digits: never below, and close."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest

import noisewright as nw
from noisewright.lab.r2dp.tables import paper_bound
from noisewright.laws.piecewise import staircase
from noisewright.laws.two_fold import GammaFold, TwoFold, two_point_fold
from noisewright.numerics.balls import precision, upper
from noisewright.proof.mixtures import renyi_ball
from noisewright.proof.renyi import _tails as tails_beyond, concentrated_rho, renyi_divergence

F = Fraction


def exact(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def integrated(log_density: Any, shift: Any, alpha: Any, far: float = 30) -> Any:
    """ln of the integral of f(x)^alpha f(x + shift)^(1 - alpha), over alpha - 1."""
    cuts = sorted([-shift, *(mpmath.mpf(far * k) / 12 for k in range(-12, 13))])
    total = mpmath.quad(lambda x: mpmath.exp(alpha * log_density(x) + (1 - alpha) * log_density(x + shift)), cuts)
    return mpmath.log(total) / (alpha - 1)


@pytest.mark.parametrize("alpha", ["3/2", "4"])
@pytest.mark.parametrize(("scale", "reach"), [("1", "2"), ("3", "1/2")])
def test_the_divergence_of_laplace_noise_is_not_below_its_integral(scale, reach, alpha):
    bound, _ = renyi_divergence(nw.laws.Laplace(F(scale)), F(alpha), F(reach))
    same, _ = renyi_divergence(nw.laws.GeneralizedGaussian(F(1), F(scale)), F(alpha), F(reach))
    assert float(same) == pytest.approx(float(bound), rel=1e-14)
    with mpmath.workdps(40):
        s, a = exact(F(reach) / F(scale)), exact(F(alpha))
        # The three pieces of |x| and |x + s|: left of -s, between, and right of 0.
        left = mpmath.exp((1 - a) * s - s) / 2
        middle = mpmath.quad(lambda x: mpmath.exp(a * x - (1 - a) * (x + s)) / 2, [-s, -s / 2, 0])
        right = mpmath.exp((a - 1) * s) / 2
        truth = mpmath.log(left + middle + right) / (a - 1)
        assert truth * (1 - mpmath.mpf(10) ** -35) <= exact(bound) <= truth * (1 + mpmath.mpf(10) ** -30)


@pytest.mark.parametrize("alpha", ["3/2", "4"])
def test_the_divergence_of_logistic_noise_is_its_integral(alpha):
    bound, _ = renyi_divergence(nw.laws.Logistic(F(2)), F(alpha), F(3))
    truth = integrated(lambda x: -x - 2 * mpmath.log(1 + mpmath.exp(-x)), mpmath.mpf("1.5"), exact(F(alpha)), 60)
    assert float(bound) == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize("alpha", ["3/2", "4"])
@pytest.mark.parametrize("power", ["3/2", "3"])
def test_the_divergence_of_a_power_is_its_integral(power, alpha):
    bound, _ = renyi_divergence(nw.laws.GeneralizedGaussian(F(power), F(2)), F(alpha), F(3))
    p = exact(F(power))
    norm = mpmath.log(2 * mpmath.gamma(1 + 1 / p))
    truth = integrated(lambda x: -(abs(x) ** p) - norm, mpmath.mpf("1.5"), exact(F(alpha)), 20)
    assert float(bound) == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize(
    ("power", "alpha", "shift", "reach"),
    [(3, 4, "1.5", 12), (2, 3, "0.5", 2), (4, 3, "0.5", 4), (2, 3, "0.01", 4), (3, 2, "0.001", 3)],
)
def test_what_lies_beyond_an_integral_is_bounded(power, alpha, shift, reach):
    """Both tails of e^(-a |x|^p + (a - 1) |x + s|^p) beyond a reach that leaves something to see.

    Where the shift is small both weigh as much; where it is large, one bound alone would be enough for both.
    """
    with mpmath.workdps(30):
        s = mpmath.mpf(shift)
        beyond = [
            mpmath.quad(
                lambda z, t=t: mpmath.exp(-alpha * z**power + (alpha - 1) * abs(z + t) ** power),
                [reach, reach + 0.05, reach + 0.25, reach + 1, reach + 8],
            )
            for t in (s, -s)
        ]
        with precision(128):
            found = exact(upper(tails_beyond(F(power), F(shift), F(alpha), F(reach))))
        assert sum(beyond) <= found <= 8 * sum(beyond)


@pytest.mark.parametrize("reach", ["1/2", "3"])
def test_a_gaussian_costs_its_closed_form_under_each_of_its_names(reach):
    """A generalized Gaussian of power 2 and scale 4 has variance 8."""
    far = F(reach)
    for law, variance in ((nw.laws.Gaussian(F(3)), F(9)), (nw.laws.GeneralizedGaussian(F(2), F(4)), F(8))):
        for alpha in (F(3, 2), F(7)):
            assert renyi_divergence(law, alpha, far)[0] == alpha * far**2 / (2 * variance)
        assert concentrated_rho(law, far)[0] == far**2 / (2 * variance)


@pytest.mark.parametrize("shift", [1, 3])
def test_an_integer_gaussian_reaches_the_divergence_it_is_certified_for(shift):
    law, alpha = nw.laws.DiscreteGaussian(F(5, 2)), 3
    bound, _ = renyi_divergence(law, F(alpha), F(shift))
    weights = {k: mpmath.exp(-mpmath.mpf(k * k) / (2 * mpmath.mpf("6.25"))) for k in range(-120, 121)}
    total = sum(weights.values())
    moment = sum((weights[k] / total) ** alpha * (weights[k + shift] / total) ** (1 - alpha) for k in range(-100, 100))
    assert float(bound) == pytest.approx(float(mpmath.log(moment) / (alpha - 1)), rel=1e-12)


def test_purely_private_laws_are_concentrated_and_divergent_by_their_pure_bound():
    step = staircase(epsilon=F(2, 3), sensitivity=F(1), split=F(1, 4))
    cusp = nw.laws.GeneralizedGaussian(F(1, 2), F(9))
    for law, epsilon in (
        (nw.laws.Laplace(F(3)), F(1, 3)),
        (step, F(2, 3)),
        (cusp, F(1, 3)),
        (nw.laws.Logistic(F(3)), F(1, 3)),
    ):
        assert concentrated_rho(law, F(1))[0] == epsilon**2 / 2
        yes = 1 / (1 + mpmath.exp(-exact(epsilon)))
        most = mpmath.log(yes**3 / (1 - yes) ** 2 + (1 - yes) ** 3 / yes**2) / 2
        assert float(renyi_divergence(law, F(3), F(1))[0]) <= float(most) * (1 + 1e-15)
    for law in (step, cusp):
        found = float(renyi_divergence(law, F(3), F(1))[0])
        e = F(2, 3) if law is step else F(1, 3)
        yes = 1 / (1 + mpmath.exp(-exact(e)))
        assert found == pytest.approx(float(mpmath.log(yes**3 / (1 - yes) ** 2 + (1 - yes) ** 3 / yes**2) / 2))


FOLDS: dict[str, tuple[Any, Any]] = {
    "two rates": (
        two_point_fold(F(1, 2), F(3), F(1, 10)),
        lambda y: 0.5 * mpmath.exp(-y / 2) + 27 * mpmath.exp(-3 * y),
    ),
    "gamma": (GammaFold(F(3), F(1, 2)), lambda y: (1 + y / 2) ** -4),
}


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("alpha", ["1", "5/2"])
def test_two_fold_divergences_enclose_their_integral_on_all_three_pieces(name, alpha):
    """Order 1 is the Kullback-Leibler divergence."""
    fold, slope = FOLDS[name]
    with mpmath.workdps(20):
        shift, a = mpmath.mpf("1.5"), exact(F(alpha))
        cuts = [-400, -60, -10, -1, 0, shift / 2, shift, shift + 1, 10, 60, 400]
        norm = 2 * mpmath.quad(slope, [0, 1, 10, 60, 400, mpmath.inf])

        def ratio(x: Any) -> Any:
            return slope(abs(x)) / slope(abs(x - shift))

        if alpha == "1":
            value = mpmath.quad(lambda x: slope(abs(x)) / norm * mpmath.log(ratio(x)), cuts)
        else:
            value = mpmath.log(mpmath.quad(lambda x: slope(abs(x)) / norm * ratio(x) ** (a - 1), cuts)) / (a - 1)
    found = renyi_ball(TwoFold(fold), F(3, 2), F(alpha))
    assert float(found.lower()) - 1e-6 <= float(value) <= float(found.upper()) + 1e-6
    assert float(found.upper()) - float(found.lower()) < 2e-3
    if alpha != "1":
        assert float(renyi_divergence(TwoFold(fold), F(alpha), F(3, 2))[0]) >= float(value) - 1e-6


@pytest.mark.parametrize("sensitivity", ["1/2", "2"])
def test_the_bound_of_the_paper_averages_the_moments_of_laplace_noise(sensitivity):
    fold = two_point_fold(F(1, 2), F(3), F(1, 10))
    s, a = exact(F(sensitivity)), mpmath.mpf(4)
    moments = []
    for rate, weight in ((mpmath.mpf("0.5"), mpmath.mpf("0.1")), (mpmath.mpf(3), mpmath.mpf("0.9"))):
        plain = a / (2 * a - 1) * mpmath.exp((a - 1) * rate * s) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * rate * s)
        moments.append(weight * plain)
    found = paper_bound(fold, F(4), F(sensitivity))
    assert found is not None
    assert float(found.mid()) == pytest.approx(float(mpmath.log(sum(moments)) / (a - 1)), rel=1e-12)


@pytest.mark.parametrize(("alpha", "finite"), [("2.99", True), ("3", False), ("3.01", False)])
def test_the_bound_of_the_paper_is_infinite_from_the_order_at_which_the_moment_is(alpha, finite):
    """E e^(su) of a gamma fold of scale 1/2 is finite below s = 2."""
    assert (paper_bound(GammaFold(F(3), F(1, 2)), F(alpha)) is not None) == finite


@pytest.mark.parametrize(("power", "scale", "alpha"), [(3, 5, 64), (4, 9, 32)])
def test_high_orders_of_light_tailed_noise_are_proven(power: int, scale: int, alpha: int):
    bound, rule = renyi_divergence(nw.laws.GeneralizedGaussian(power, scale), F(alpha), F(1))
    with mpmath.workdps(40):
        shift = mpmath.mpf(1) / scale
        truth = integrated(lambda x: -(abs(x) ** power), shift, alpha, far=60)
        norm = mpmath.log(2 * mpmath.gamma(mpmath.mpf(1) / power) / power)
        assert rule == "renyi/integral"
        assert truth - norm / (alpha - 1) <= exact(bound) <= (truth - norm / (alpha - 1)) * (1 + mpmath.mpf(10) ** -9)


def test_divergences_too_large_to_be_enclosed_are_refused_and_not_a_bare_error():
    extreme = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.GeneralizedGaussian(3, 1), nw.laws.Lattice.cells("1/2"))
    with pytest.raises(nw.errors.UncertifiedError, match=r"too large or too small to be computed with .EnclosureError"):
        nw.certify(extreme, nw.RenyiDP(64, 30))
