"""No proven delta or epsilon of a law lies below the truth, not even in its fiftieth digit; and none is far above.

The truths are the textbook formulas, evaluated with eighty digits where the verifier works with forty.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest

import noisewright as nw
from noisewright.laws.laplace import TruncatedLaplace
from noisewright.laws.piecewise import Piecewise, staircase
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import GammaFold, TwoFold, two_point_fold
from noisewright.proof.pure import pure_bound

F = Fraction


def exact(value: Fraction | str) -> Any:
    number = F(value)
    return mpmath.mpf(number.numerator) / number.denominator


def assert_just_above(bound: Fraction, truth: Any, digits: int = 25) -> None:
    shown = exact(bound)
    assert truth <= shown, f"below the truth by {mpmath.nstr(truth - shown, 5)}"
    assert shown <= truth * (1 + mpmath.mpf(10) ** -digits)


def power_tail(x: Any, power: Any) -> Any:
    """P(X > x) of the density proportional to e^(-|x|^power)."""
    share = mpmath.gammainc(1 / power, abs(x) ** power, regularized=True) / 2
    return share if x >= 0 else 1 - share


def half_line(tail: Any, epsilon: Any, shift: Any, place: Any) -> Any:
    """SF(t) - e^epsilon SF(t + shift)."""
    return tail(place) - mpmath.exp(epsilon) * tail(place + shift)


@pytest.mark.parametrize("power", ["3/2", "3", "7"])
@pytest.mark.parametrize(("epsilon", "reach"), [("1", "1"), ("1/10", "2"), ("3", "1/2")])
def test_the_delta_of_a_power_is_not_below_its_half_line(power, epsilon, reach):
    bound, _ = nw.laws.approximate_delta(nw.laws.GeneralizedGaussian(F(power), F(3, 2)), F(epsilon), F(reach))
    with mpmath.workdps(80):
        p, e, s = exact(power), exact(epsilon), exact(F(reach) / F(3, 2))
        # Where the log-ratio |x + s|^p - |x|^p passes epsilon, by bisection.
        low, high = -s / 2, mpmath.mpf(100)
        for _ in range(260):
            middle = (low + high) / 2
            rise = abs(middle + s) ** p - abs(middle) ** p
            low, high = (middle, high) if rise <= e else (low, middle)
        assert_just_above(bound, half_line(lambda x: power_tail(x, p), e, s, low), 8)


@pytest.mark.parametrize(("epsilon", "reach"), [("1", "1"), ("1/10", "2"), ("3", "1/2")])
def test_the_deltas_of_laws_with_a_closed_form_are_not_below_it(epsilon, reach):
    with mpmath.workdps(80):
        e, s = exact(epsilon), exact(F(reach))
        gauss = half_line(lambda x: mpmath.erfc(x / 2 / mpmath.sqrt(2)) / 2, e, s, 4 * e / s - s / 2)
        # A small Laplace scale, so that the log-ratio does pass epsilon.
        scale = s / (2 * e)
        laplace = 1 - mpmath.exp((e - s / scale) / 2)
    assert_digits(nw.laws.approximate_delta(nw.laws.Gaussian(F(2)), F(epsilon), F(reach))[0], gauss)
    small = nw.laws.Laplace(F(reach) / (2 * F(epsilon)))
    assert_digits(nw.laws.approximate_delta(small, F(epsilon), F(reach))[0], laplace)


def assert_digits(bound: Fraction, truth: Any) -> None:
    with mpmath.workdps(80):
        assert_just_above(bound, truth)


@pytest.mark.parametrize("weights", [("2/3", "1/3"), ("1/3", "2/3")])
def test_the_delta_of_a_mixture_is_the_mean_of_its_parts_with_their_own_weights(weights):
    law = nw.laws.GaussianMixture((F(1), F(3)), tuple(map(F, weights)))
    with mpmath.workdps(80):
        parts = []
        for std in (1, 3):
            place = mpmath.mpf(std) ** 2 / 2 - 1  # at epsilon 1 and shift 2
            parts.append(half_line(lambda x, d=std: mpmath.erfc(x / d / mpmath.sqrt(2)) / 2, 1, 2, place))
        truth = sum(exact(w) * part for w, part in zip(weights, parts, strict=True))
    assert_digits(nw.laws.approximate_delta(law, F(1), F(2))[0], truth)


@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["1/3", "2"])
def test_the_delta_of_an_integer_gaussian_is_not_below_its_sum(shift, epsilon):
    bound, _ = nw.laws.approximate_delta(nw.laws.DiscreteGaussian(F(3, 2)), F(epsilon), F(shift))
    with mpmath.workdps(80):
        weights = {k: mpmath.exp(-mpmath.mpf(2 * k * k) / 9) for k in range(-60, 61)}
        total, factor = sum(weights.values()), mpmath.exp(exact(epsilon))
        truth = sum(max(mpmath.mpf(0), weights[k] - factor * weights[k + shift]) for k in range(-55, 55)) / total
        assert_just_above(bound, truth)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "2"])
@pytest.mark.parametrize(("weights", "shift"), [((9, 5, 2, 1), 2), ((3, 8, 1, 4), 1), ((7, 3), 1)])
def test_the_delta_of_a_table_is_not_below_its_sum(weights, shift, epsilon):
    line = [*weights[::-1], *weights]
    bound, _ = nw.laws.approximate_delta(Tabulated(F(1), weights, F(0)), F(epsilon), F(shift))
    with mpmath.workdps(80):
        factor = mpmath.exp(exact(epsilon))
        sums = []
        for j in range(1, shift + 1):
            moved = line[j:] + [0] * j
            sums.append(sum(max(mpmath.mpf(0), a - factor * b) for a, b in zip(line, moved, strict=True)))
        assert_just_above(bound, max(sums) / sum(line))


@pytest.mark.parametrize(("scale", "bound", "reach"), [("1", "4", "3/2"), ("1/2", "3", "1"), ("1", "1/2", "2")])
def test_the_delta_of_cut_off_noise_counts_what_becomes_impossible(scale, bound, reach):
    found, _ = nw.laws.approximate_delta(TruncatedLaplace(F(scale), F(bound)), F(1), F(reach))
    with mpmath.workdps(80):
        c, b, s = exact(scale), exact(bound), exact(reach)
        norm = 2 * c * (1 - mpmath.exp(-b / c))

        def density(x: Any) -> Any:
            return mpmath.exp(-abs(x) / c) / norm if abs(x) <= b else mpmath.mpf(0)

        def excess(x: Any) -> Any:
            return max(mpmath.mpf(0), density(x) - mpmath.e * density(x + s))

        cuts = sorted({-b, b, min(b, max(-b, (c - s) / 2)), max(-b, b - s), mpmath.mpf(0), max(-b, -s)})
        truth = mpmath.quad(excess, cuts)
    assert float(found) == pytest.approx(float(truth), rel=1e-9)


FOLDS: dict[str, tuple[Any, Any]] = {
    "two rates": (
        two_point_fold(F(1, 2), F(3), F(1, 10)),
        lambda y: (mpmath.exp(-y / 2) / 2 + 27 * mpmath.exp(-3 * y)) / 10,
    ),
    "gamma": (GammaFold(F(7, 3), F(1, 2)), lambda y: (1 + y / 2) ** (-mpmath.mpf(10) / 3)),
}


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("reach", ["1/7", "3"])
def test_the_pure_bound_of_two_fold_noise_is_not_below_its_largest_ratio(name, reach):
    fold, slope = FOLDS[name]
    bound, _ = pure_bound(TwoFold(fold), F(reach))
    with mpmath.workdps(80):
        assert_just_above(bound, mpmath.log(slope(mpmath.mpf(0)) / slope(exact(reach))), 16)


@pytest.mark.parametrize(("power", "reach"), [("1/2", "3"), ("9/10", "1/2"), ("3/4", "16"), ("1", "3")])
def test_the_pure_bound_of_a_cusp_is_not_below_its_power(power, reach):
    bound, _ = pure_bound(nw.laws.GeneralizedGaussian(F(power), F(5)), F(reach))
    with mpmath.workdps(80):
        assert_just_above(bound, (exact(reach) / 5) ** exact(power), 40)


@pytest.mark.parametrize("power", [2, 3, 6])
@pytest.mark.parametrize("epsilon", ["1/3", "1", "4"])
def test_the_paper_counts_both_tails(power, epsilon):
    """Corollary 9: P((|e| + d)^p - |e|^p > b^p epsilon) is twice the tail beyond where the log-ratio passes epsilon."""
    found = nw.lab.corollary_nine_delta(nw.laws.GeneralizedGaussian(F(power), F(2)), epsilon, 1)
    with mpmath.workdps(80):
        low, high = mpmath.mpf(0), mpmath.mpf(1000)
        for _ in range(280):
            middle = (low + high) / 2
            rise = (middle + mpmath.mpf("0.5")) ** power - middle**power
            low, high = (middle, high) if rise <= exact(epsilon) else (low, middle)
        assert_just_above(found, 2 * power_tail(low, mpmath.mpf(power)), 12)


def test_the_paper_says_nothing_where_its_formula_does_not_hold():
    law = nw.laws.GeneralizedGaussian(F(2), F(1))
    assert nw.lab.corollary_nine_delta(law, "1/2", 2) == 1, (
        "a shift so large that the ratio passes epsilon left of zero"
    )
    for power in ("3/2", "5/2"):
        with pytest.raises(nw.errors.UncertifiedError, match="whole powers"):
            nw.lab.corollary_nine_delta(nw.laws.GeneralizedGaussian(F(power), F(1)), 1, 1)


def test_a_law_that_is_purely_private_has_delta_zero_and_one_that_is_not_has_none_for_free():
    cusp = nw.laws.GeneralizedGaussian(F(1, 2), F(4))
    assert nw.laws.approximate_delta(cusp, F(1, 2), F(1))[0] == 0
    with pytest.raises(nw.errors.UncertifiedError, match="below 1"):
        nw.laws.approximate_delta(cusp, F(499, 1000), F(1))
    for law in (staircase(epsilon=F(1, 2), sensitivity=F(1), split=F(1, 4)), nw.laws.DiscreteLaplace(F(2))):
        assert nw.laws.approximate_delta(law, F(1, 2), F(1))[0] == 0
        with pytest.raises(nw.errors.UncertifiedError, match="no rule"):
            nw.laws.approximate_delta(law, F(499, 1000), F(1))
    fold = TwoFold(GammaFold(F(1), F(1)))
    assert 0 < nw.laws.approximate_delta(fold, F(1), F(1))[0] < 1
    assert nw.laws.approximate_delta(nw.laws.Gaussian(F(1)), F(1), F(1))[0] > 0


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_valley_and_a_peak_cost_the_same(mirrored):
    """Levels 0, 3, 1 and 2 with tails that rise by one: the largest step within reach may go either way."""
    levels = [0, 3, 1, 2]
    law = Piecewise(
        rate=F(1, 2),
        period=F(1),
        breaks=tuple(map(F, range(5))),
        levels=tuple(map(F, levels[::-1] if mirrored else levels)),
        left_cells=1,
        right_cells=1,
    )
    assert pure_bound(law, F(1))[0] == F(3, 2)
    assert pure_bound(law, F(1, 2))[0] == F(3, 2)
