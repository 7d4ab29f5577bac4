"""Composed Laplace losses against integrals, and joint (epsilon, delta) guarantees where one number is the worst."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.proof.vector_gaussian import composed_delta, gaussian_delta, vector_squared_sensitivity

F = Fraction
ORDERS = list(itertools.permutations(range(3)))


def exact(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def one_delta(shift: Any, epsilon: Any) -> Any:
    """Delta of one Laplace noise shifted by so many scales, at any real epsilon."""
    if epsilon >= shift:
        return mpmath.mpf(0)
    if epsilon <= -shift:
        return 1 - mpmath.exp(epsilon)
    return 1 - mpmath.exp((epsilon - shift) / 2)


def two_deltas(first: Any, second: Any, epsilon: Any) -> Any:
    """Delta of two: the mean, over the loss of the first, of that of the second at what is left of epsilon."""
    ends = {(other - epsilon + first) / 2 for other in (-second, second)}
    cuts = [mpmath.mpf(0), *sorted(t for t in ends if 0 < t < first), mpmath.mpf(first)]
    middle = mpmath.quad(lambda t: mpmath.exp(-t) / 2 * one_delta(second, epsilon - first + 2 * t), cuts)
    last = mpmath.exp(-first) / 2 * one_delta(second, epsilon + first)
    return one_delta(second, epsilon - first) / 2 + middle + last


@pytest.mark.parametrize("epsilon", ["1/3", "1", "2"])
@pytest.mark.parametrize("extra", ["1/1000", "0.00399", "1/7", "2", "9.999"])
def test_one_loss_is_never_below_its_delta_and_close(epsilon, extra):
    """Shifts that are no whole number of cells: a loss rounded down would be seen."""
    shift = F(epsilon) + F(extra)
    truth = one_delta(exact(shift), exact(F(epsilon)))
    bound = exact(composed_delta([shift], F(epsilon)))
    assert truth <= bound <= one_delta(exact(shift), exact(F(epsilon) * F(99, 100)))


@pytest.mark.parametrize("epsilon", ["1/2", "1.7"])
@pytest.mark.parametrize(
    "shifts", [("0.3001", "1.9"), ("1.9", "0.3001"), ("1.1", "1.1"), ("0.9", "1.0007"), ("3", "7")]
)
def test_two_losses_are_never_below_their_delta_and_close(shifts, epsilon):
    first, second = (F(s) for s in shifts)
    truth = two_deltas(exact(first), exact(second), exact(F(epsilon)))
    bound = exact(composed_delta([first, second], F(epsilon)))
    assert truth <= bound <= two_deltas(exact(first), exact(second), exact(F(epsilon) * F(98, 100)))


def test_losses_that_add_up_to_epsilon_cost_nothing_and_a_hair_more_something():
    assert composed_delta([F(1, 3), F(2, 3)], F(1)) == 0
    assert composed_delta([F(2, 3), F(2, 3)], F(1)) > 0
    assert composed_delta([F(1, 3), F(2, 3) + F(1, 10**6)], F(1)) > 0


def test_too_many_cells_are_refused_at_once():
    with pytest.raises(nw.errors.UncertifiedError, match="cells"):
        composed_delta([F(100)] * 50, F(1, 100))


def part(law: Any, step: str = "1/100") -> nw.mechanisms.Additive:
    return nw.mechanisms.Additive(nw.Scalar(step), law, nw.laws.Lattice.cells(F(step)))


def accepted(mechanism: Any, epsilon: str) -> Fraction:
    return nw.certify(mechanism, nw.ApproxDP(epsilon, "0.999")).bound


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("chosen", [lambda each: nw.Sparse(2, each), nw.Replace], ids=["sparse", "replace"])
def test_the_two_dearest_of_three_laplace_noises_are_composed_wherever_they_stand(order, chosen):
    """Shifts of 3, 5/2 and 1/4 scales: only the first two together are that bad."""
    extents, scales = ["3", "5", "1"], ["1", "2", "4"]
    parts = tuple(part(nw.laws.Laplace(F(scales[i]))) for i in order)
    mechanism = PerCoordinate(nw.Vector(chosen([extents[i] for i in order])), parts)
    truth = two_deltas(mpmath.mpf(3), mpmath.mpf("2.5"), mpmath.mpf(1))
    assert truth <= exact(accepted(mechanism, "1")) <= 1.01 * truth
    with pytest.raises(nw.errors.UncertifiedError, match=r"composed-(sparse|replace)"):
        nw.certify(mechanism, nw.ApproxDP(1, F(float(truth)) * F(99, 100)))


@pytest.mark.parametrize("order", ORDERS)
def test_where_one_number_moves_at_a_time_the_worst_of_them_counts(order):
    extents, scales = ["3", "5", "1"], ["1", "2", "4"]
    parts = tuple(part(nw.laws.Laplace(F(scales[i]))) for i in order)
    mechanism = PerCoordinate(nw.Vector(nw.Disjoint([extents[i] for i in order])), parts)
    assert float(accepted(mechanism, "1")) == pytest.approx(float(one_delta(mpmath.mpf(3), mpmath.mpf(1))), rel=1e-12)


def test_a_composed_move_that_is_no_whole_number_of_steps_is_rounded_up():
    """Half a unit on a lattice of thirds may cross two edges: shifts of two thirds of a scale."""
    mechanism = PerCoordinate(nw.Vector(nw.Box(["1/2", "1/2"])), (part(nw.laws.Laplace(F(1)), "1/3"),) * 2)
    truth = two_deltas(mpmath.mpf(2) / 3, mpmath.mpf(2) / 3, mpmath.mpf("0.5"))
    assert truth <= exact(accepted(mechanism, "0.5")) <= 1.02 * truth
    alone = PerCoordinate(nw.Vector(nw.Box(["1/2", 0])), (part(nw.laws.Laplace(F(1)), "1/3"), None))
    assert float(accepted(alone, "0.5")) == pytest.approx(
        float(one_delta(mpmath.mpf(2) / 3, mpmath.mpf("0.5"))), rel=1e-12
    )


def test_a_number_without_noise_is_refused_also_where_delta_is_allowed():
    for law in (nw.laws.Gaussian(F(100)), nw.laws.Laplace(F(100))):
        for parts in ((part(law), None), (None, part(law))):
            for chosen in (nw.Box([1, 1]), nw.Disjoint([1, 1]), nw.L2Ball(1, 2), nw.Points([[1, 1]])):
                with pytest.raises(nw.errors.UncertifiedError, match="no noise"):
                    nw.certify(PerCoordinate(nw.Vector(chosen), parts), nw.ApproxDP(1, "0.5"))


def test_unlike_noises_are_composed_below_their_pure_bound():
    query = nw.Vector(nw.Box([1, 1]))
    for laws in ((nw.laws.Laplace(F(1)), nw.laws.Logistic(F(1))), (nw.laws.Logistic(F(1)), nw.laws.Laplace(F(1)))):
        mechanism = PerCoordinate(query, tuple(part(law) for law in laws))
        assert accepted(mechanism, "2") == 0
        # Both tops together: 1/2 for Laplace noise, and for logistic noise the mass far out, which is hardly any.
        assert 0 < accepted(mechanism, "1.99") < F(1, 1000)
        assert F(1, 10) < accepted(mechanism, "0.5") < F(1, 2)


def test_a_number_that_nobody_moves_needs_no_noise():
    for law in (nw.laws.Gaussian(F(3)), nw.laws.Laplace(F(1))):
        for chosen in (nw.Box([2, 0, 2]), nw.Points([[2, 0, -2]])):
            still = PerCoordinate(nw.Vector(chosen), (part(law, "1"), None, part(law, "1")))
            moving = PerCoordinate(nw.Vector(chosen), (part(law, "1"),) * 3)
            assert accepted(still, "1") == accepted(moving, "1") > 0
            if isinstance(law, nw.laws.Laplace):
                assert accepted(still, "4") == accepted(moving, "4") == 0


def test_norm_shaped_noise_is_refused_below_its_pure_bound():
    block = NormBlock((0, 1), (F(1), F(1)), F(1, 2))
    mechanism = NormShaped(nw.Vector(nw.Box([3, 2])), (block,))
    assert nw.certify(mechanism, nw.ApproxDP("1.5", "1e-9")).bound == 0
    with pytest.raises(nw.errors.UncertifiedError, match="pure bound"):
        nw.certify(mechanism, nw.ApproxDP("1.499", "0.9"))


def gaussians(stds: Sequence[int], step: str = "1") -> tuple[nw.mechanisms.Additive, ...]:
    return tuple(part(nw.laws.Gaussian(F(std)), step) for std in stds)


def phi(x: Any) -> Any:
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize(("epsilon", "squared"), [("1", "1/2"), ("1/10", "3"), ("3", "1/5"), ("2", "40")])
def test_the_gaussian_delta_is_not_below_its_closed_form_to_fifty_digits(epsilon, squared):
    bound = gaussian_delta(F(epsilon), F(squared))
    with mpmath.workdps(80):
        e, m = exact(F(epsilon)), mpmath.sqrt(exact(F(squared)))
        truth = phi(e / m - m / 2) - mpmath.exp(e) * phi(e / m + m / 2)
        assert truth <= exact(bound) <= truth * (1 + mpmath.mpf(10) ** -48)


@pytest.mark.parametrize("order", ORDERS)
def test_the_length_of_a_gaussian_difference_is_that_of_the_dearest_numbers(order):
    """Moves of 3, 8 and 5 at deviations 1, 2 and 5: 3, 4 and 1 deviations."""
    each, stds = [[3, 8, 5][i] for i in order], [[1, 2, 5][i] for i in order]

    def reach(chosen: Any) -> Fraction:
        return vector_squared_sensitivity(PerCoordinate(nw.Vector(chosen), gaussians(stds)))

    assert reach(nw.Disjoint(each)) == 16
    assert reach(nw.Replace(each)) == reach(nw.Sparse(2, each)) == 25
    assert reach(nw.Box(each)) == 26


@pytest.mark.parametrize("order", ORDERS)
def test_the_longest_listed_difference_counts_wherever_it_stands(order):
    rows = [[3, 0, -5], [-3, -8, 0], [0, 2, 5]]
    query = nw.Vector(nw.Points([rows[i] for i in order]))
    assert vector_squared_sensitivity(PerCoordinate(query, gaussians([1, 2, 5]))) == 25


@pytest.mark.parametrize("stds", [(1, 4, 2), (4, 1, 2), (4, 2, 1)])
@pytest.mark.parametrize("ball", [nw.L1Ball(7, 3), nw.L2Ball(7, 3)], ids=["l1", "l2"])
def test_in_a_ball_the_smallest_deviation_counts_and_every_number_may_cross_an_edge(stds, ball):
    reach = vector_squared_sensitivity(PerCoordinate(nw.Vector(ball), gaussians(stds)))
    with mpmath.workdps(60):
        # sqrt(1 + 1/4 + 1/16) for one more step everywhere.
        truth = (7 + mpmath.sqrt(mpmath.mpf(21)) / 4) ** 2
        assert truth <= exact(reach) <= truth * (1 + mpmath.mpf(10) ** -20)


def frame(rows: Any, matrix: Any, step: str = "1/10", std: str = "5") -> nw.mechanisms.LinearGaussian:
    exact_matrix = tuple(tuple(map(F, row)) for row in matrix)
    return nw.mechanisms.LinearGaussian(nw.Vector(nw.Points(rows), exact=True), exact_matrix, F(std), F(step))


def squared_length(mechanism: nw.mechanisms.LinearGaussian, epsilon: str = "1") -> Any:
    """The squared length that the certified delta belongs to, by bisection in the closed form."""
    wanted = exact(accepted(mechanism, epsilon))

    def delta(m: Any) -> Any:
        return phi(1 / m - m / 2) - mpmath.e * phi(1 / m + m / 2)

    return mpmath.findroot(lambda m: delta(m) - wanted, (mpmath.mpf("0.05"), mpmath.mpf(20)), solver="anderson") ** 2


@pytest.mark.parametrize("order", ORDERS)
def test_correlated_noise_is_judged_by_the_longest_image_of_a_difference(order):
    """The frame (2 1; 0 1/2) maps (1, 0), (1, -4), (-3, 2) to (2, 0), (-2, -2) and (-4, 1)."""
    rows = [[[1, 0], [1, -4], [-3, 2]][i] for i in order]
    found = squared_length(frame(rows, [["2", "1"], ["0", "1/2"]]))
    assert float(found) == pytest.approx(17 / 25, rel=1e-9)


def test_an_image_that_is_no_whole_number_of_steps_is_rounded_up():
    """Images of 1/2 and -1/3 on a lattice of steps of 2/5 become two steps and one."""
    found = squared_length(frame([["1/2", "-1/3"]], [["1", "0"], ["0", "1"]], step="2/5", std="1"))
    assert float(found) == pytest.approx(5 * 4 / 25, rel=1e-9)


def test_correlated_noise_has_a_rule_for_listed_differences_alone():
    matrix = ((F(1), F(0)), (F(0), F(1)))
    with pytest.raises(nw.errors.UncertifiedError, match="Points"):
        nw.certify(nw.mechanisms.LinearGaussian(nw.Vector(nw.Box([1, 1])), matrix, F(5), F(1)), nw.ApproxDP(1, "0.9"))


@pytest.mark.parametrize("share", ["0.999", "1", "1.001"])
def test_a_delta_just_too_small_is_refused(share):
    mechanism = PerCoordinate(nw.Vector(nw.Box([1, 1])), gaussians([3, 4]))
    delta = accepted(mechanism, "1")
    claim = nw.ApproxDP(1, delta * F(share))
    if F(share) >= 1:
        assert nw.certify(mechanism, claim).bound == delta
    else:
        with pytest.raises(nw.errors.UncertifiedError, match="gaussian-vector"):
            nw.certify(mechanism, claim)


def test_a_difference_that_falls_counts_as_many_steps_as_one_that_rises():
    """Three halves of a step are two, whatever their sign: delta is that of a shift by two."""
    bounds = []
    for sign in (1, -1):
        query = nw.Vector(nw.Points([[Fraction(3 * sign, 2)]]), exact=True)
        part = nw.mechanisms.Additive(nw.Scalar(1, exact=True), nw.laws.Gaussian(4), nw.laws.Lattice.cells(1))
        bounds.append(nw.certify(nw.mechanisms.PerCoordinate(query, (part,)), nw.ApproxDP(1, "0.5")).bound)
    assert bounds[0] == bounds[1]
    wide = nw.mechanisms.Additive(nw.Scalar(2, exact=True), nw.laws.Gaussian(4), nw.laws.Lattice.cells(1))
    assert float(bounds[1]) == pytest.approx(float(nw.certify(wide, nw.ApproxDP(1, "0.5")).bound), rel=1e-12)
