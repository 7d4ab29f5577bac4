"""Claims about several whole numbers and about groups, against every difference one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock
from noisewright.proof.vectors import most_moving

F, M, L = Fraction, nw.mechanisms, nw.laws
INTEGERS = L.Lattice.integers()

SETS = [
    nw.Box([2, 3, 1]),
    nw.Disjoint([2, 3, 1]),
    nw.Sparse(2, [2, 3, 1]),
    nw.Replace([1, 2, 3]),
    nw.L1Ball("5/2", 3),
    nw.L1Ball(1, 3),
    nw.L2Ball("5/2", 3),
    nw.L2Ball(1, 3),
    nw.Points([[1, -2, 0], [0, 3, 1]]),
    nw.Groups([nw.Box([2, 3]), nw.Disjoint([1])], at_most=1),
    nw.Groups([nw.Disjoint([2, 3]), nw.Box([1])], at_most=2),
    nw.Groups([nw.Groups([nw.Box([1]), nw.Box([2])], at_most=1), nw.L1Ball(2, 1)], at_most=2),
]


def differences(chosen: Any) -> Iterator[tuple[int, ...]]:
    """Every whole difference in a set, told from its definition."""
    if isinstance(chosen, nw.Groups):
        parts = [list(differences(part)) for part in chosen.sets]
        still = [tuple(0 for _ in part.extents) for part in chosen.sets]
        for moving in combinations(range(len(parts)), chosen.at_most):
            for joined in product(*(parts[i] if i in moving else [still[i]] for i in range(len(parts)))):
                yield tuple(chain.from_iterable(joined))
    elif isinstance(chosen, nw.Points):
        yield from (tuple(int(v) for v in row) for row in chosen.rows)
    else:
        for d in product(*(range(-math.floor(e), math.floor(e) + 1) for e in chosen.extents)):
            if _inside(chosen, d):
                yield d


def _inside(chosen: Any, d: tuple[int, ...]) -> bool:
    if isinstance(chosen, nw.L1Ball):
        return sum(map(abs, d)) <= chosen.radius
    if isinstance(chosen, nw.L2Ball):
        return sum(v * v for v in d) <= chosen.radius**2
    return sum(map(bool, d)) <= chosen.together


def mechanism(chosen: Any, law: Any, sizes: tuple[Fraction, ...]) -> Any:
    parts = [M.Additive(nw.Scalar(9, integer=True), law(size), INTEGERS) for size in sizes]
    return M.PerCoordinate(nw.Vector(chosen, integer=True), parts)


@pytest.mark.parametrize("chosen", SETS, ids=str)
@pytest.mark.parametrize("scales", [(F(3), F(3), F(3)), (F(2), F(7), F(3))], ids=["alike", "uneven"])
def test_the_pure_bound_is_the_largest_log_ratio_of_any_difference(chosen, scales):
    made = mechanism(chosen, L.DiscreteLaplace, scales)
    truth = max(sum((abs(v) / s for v, s in zip(d, scales, strict=True)), F(0)) for d in differences(chosen))
    bound = nw.certify(made, nw.PureDP(10)).bound
    assert bound >= truth
    tight = not isinstance(chosen, nw.L1Ball | nw.L2Ball)
    assert bound <= truth * (1 if tight else F(5, 2))
    if tight:
        with pytest.raises(nw.errors.UncertifiedError):
            nw.certify(made, nw.PureDP(truth * (1 - F(1, 10**12))))


@pytest.mark.parametrize("chosen", SETS, ids=str)
def test_concentrations_and_divergences_add_up_over_the_worst_difference(chosen):
    stds = (F(3), F(5), F(4))
    made = mechanism(chosen, L.DiscreteGaussian, stds)
    squared = max(sum((F(v) ** 2 / s**2 for v, s in zip(d, stds, strict=True)), F(0)) for d in differences(chosen))
    rho = nw.certify(made, nw.ZeroConcentratedDP(10)).bound
    divergence = nw.certify(made, nw.RenyiDP(3, 10)).bound
    assert rho >= squared / 2
    assert divergence == 3 * rho
    if not isinstance(chosen, nw.L1Ball | nw.L2Ball):
        assert rho == squared / 2


BALLS = [nw.L1Ball(2, 3), nw.L1Ball("5/2", 3), nw.L2Ball(2, 3), nw.L2Ball(1, 3)]


@pytest.mark.parametrize("chosen", [*BALLS, nw.Groups([nw.L1Ball(3, 2), nw.Box([2])], at_most=1)], ids=str)
def test_in_a_ball_a_divergence_is_at_most_what_the_pure_bound_implies(chosen):
    """Summed as if every number moved to the end of the ball, the divergence would be too large to be of use."""
    scales, alpha = (F(3), F(4), F(3)), 3
    made = mechanism(chosen, L.DiscreteLaplace, scales)
    pure = nw.certify(made, nw.PureDP(10)).bound
    moves = {tuple(map(abs, d)) for d in differences(chosen)}
    worst = max(_divergence(d, [float(s) for s in scales], alpha) for d in moves)
    least = math.log((math.sinh(alpha * pure) - math.sinh((alpha - 1) * pure)) / math.sinh(pure)) / (alpha - 1)
    bound = nw.certify(made, nw.RenyiDP(alpha, least * (1 + 1e-9))).bound
    assert worst <= float(bound) <= least * (1 + 1e-9)
    # The concentration covers every order; the largest of a few orders is nearly it.
    rho = nw.certify(made, nw.ZeroConcentratedDP(pure**2 / 2)).bound
    assert max(_divergence(d, [float(s) for s in scales], a) / a for a in (1.01, 2, 8) for d in moves) <= float(rho)
    assert rho <= pure**2 / 2
    for claim in (nw.RenyiDP(alpha, worst * (1 - 1e-6)), nw.ZeroConcentratedDP(F(worst) / alpha / 2)):
        with pytest.raises(nw.errors.UncertifiedError):
            nw.certify(made, claim)


def _divergence(d: tuple[int, ...], scales: list[float], alpha: float) -> float:
    """The divergence of two-sided geometric noise from itself moved by d, summed over all its values."""
    total, k = 0.0, np.arange(-200, 201)
    for move, scale in zip(d, scales, strict=True):
        weights = np.exp(-np.abs(k) / scale)
        moment = (weights / weights.sum() * np.exp((alpha - 1) * (np.abs(k - move) - np.abs(k)) / scale)).sum()
        total += math.log(moment) / (alpha - 1)
    return total


@pytest.mark.parametrize("chosen", SETS, ids=str)
def test_as_many_numbers_move_as_the_definition_says(chosen):
    truth = max(sum(map(bool, d)) for d in differences(chosen))
    assert most_moving(chosen, (True,) * 3) == truth


@pytest.mark.parametrize("chosen", [s for s in SETS if not isinstance(s, nw.L1Ball | nw.L2Ball)], ids=str)
def test_a_probabilistic_delta_covers_the_losses_of_every_difference(chosen):
    stds, epsilon = (F(5), F(7), F(4)), F(1, 2) * most_moving(chosen, (True,) * 3)
    made = mechanism(chosen, L.DiscreteGaussian, stds)
    claimed = float(nw.certify(made, nw.ProbabilisticDP(epsilon, "999/1000")).bound)
    moves = {tuple(map(abs, d)) for d in differences(chosen)}
    worst = max(_chance_of_a_loss(d, [float(s) for s in stds], float(epsilon)) for d in moves)
    assert 1e-4 < worst <= claimed * (1 + 1e-9)
    if most_moving(chosen, (True,) * 3) == 1:
        assert claimed == pytest.approx(worst, rel=1e-9)


def _chance_of_a_loss(d: tuple[int, ...], stds: list[float], epsilon: float) -> float:
    """P(|log-ratio| > epsilon) of discrete Gaussian noise moved by d, summed over all its values."""
    losses, chances = np.zeros(1), np.ones(1)
    k = np.arange(-45, 46)
    for move, std in zip(d, stds, strict=True):
        if move:
            weights = np.exp(-k * k / (2 * std * std))
            losses = np.add.outer(losses, (2 * k * move + move * move) / (2 * std * std)).ravel()
            chances = np.multiply.outer(chances, weights / weights.sum()).ravel()
    return float(chances[np.abs(losses) > epsilon].sum())


@pytest.mark.parametrize("steps", [(1, 1), (1, 3), (2, 3)])
def test_whole_blocks_are_judged_by_the_farthest_rounded_answers(steps):
    block = NormBlock((0, 1), steps, F(1, 5))
    made = M.NormShaped(nw.Vector(nw.Box([4, 3]), integer=True), (block,))
    rounded = [
        max(
            abs((x + d + s // 2) // s - (x + s // 2) // s)
            if s % 2
            else abs((2 * (x + d) + s) // (2 * s) - (2 * x + s) // (2 * s))
            for x in range(12)
            for d in range(-extent, extent + 1)
        )
        for s, extent in zip(steps, (4, 3), strict=True)
    ]
    assert nw.certify(made, nw.PureDP(10)).bound == F(1, 5) * max(rounded)


def test_whole_numbers_in_a_ball_do_not_grow_by_rounding():
    block = NormBlock((0, 1, 2), (1, 1, 1), F(1, 5))
    for ball, reach in ((nw.L1Ball(2, 3), 2), (nw.L2Ball(2, 3), 2)):
        whole = M.NormShaped(nw.Vector(ball, integer=True), (block,))
        assert nw.certify(whole, nw.PureDP(10)).bound == F(reach, 5)
        real = M.NormShaped(nw.Vector(ball), (block,))
        assert nw.certify(real, nw.PureDP(10)).bound > F(reach, 5)


def test_what_has_no_noise_or_the_wrong_kind_is_refused():
    query = nw.Vector(nw.Groups([nw.Box([1]), nw.Box([2])], at_most=1), integer=[True, False])
    whole = M.Additive(nw.Scalar(2, integer=True), L.DiscreteLaplace(3), INTEGERS)
    real = M.Additive(nw.Scalar(2), L.Laplace(3), L.Lattice.cells(F(1, 4)))
    for parts in ((real, real), (whole, whole), (real, whole)):
        with pytest.raises(nw.errors.InvalidMechanismError, match="whole answers"):
            M.PerCoordinate(query, parts)
    with pytest.raises(nw.errors.UncertifiedError, match="gets no noise"):
        nw.certify(M.PerCoordinate(query, (whole, None)), nw.PureDP(10))
    with pytest.raises(nw.errors.InvalidMechanismError, match="whole numbers"):
        M.NormShaped(query, (NormBlock((0, 1), (1, 1), 1),))
    with pytest.raises(nw.errors.InvalidMechanismError, match="whole steps"):
        M.NormShaped(nw.Vector(nw.Box([1, 2]), integer=True), (NormBlock((0, 1), (1, "1/2"), 1),))


HISTOGRAMS = [(nw.Histogram(4), 1), (nw.Histogram(4, bins_per_person=3), 3), (nw.Histogram(4, replace=True), 2)]


@pytest.mark.parametrize(("query", "bins"), [*HISTOGRAMS, (nw.Histogram(3, bins_per_person=2, replace=True), 3)])
def test_a_histogram_costs_what_the_bins_of_one_person_cost(query, bins):
    assert query.together == bins
    count = nw.Scalar(1, integer=True)
    laplace = M.IdenticalNoise(query, M.Additive(count, L.DiscreteLaplace(F(3)), INTEGERS))
    normal = M.IdenticalNoise(query, M.Additive(count, L.DiscreteGaussian(F(3)), INTEGERS))
    assert nw.certify(laplace, nw.PureDP(10)).bound == F(bins, 3)
    assert nw.certify(normal, nw.ZeroConcentratedDP(10)).bound == F(bins, 18)
    assert nw.certify(normal, nw.RenyiDP(4, 10)).bound == F(4 * bins, 18)
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(laplace, nw.PureDP(F(bins, 3) - F(1, 10**9)))
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(normal, nw.ZeroConcentratedDP(F(bins, 18) - F(1, 10**9)))
    delta = nw.certify(normal, nw.ProbabilisticDP(F(1, 2) * bins, "999/1000")).bound
    single = nw.certify(normal.part, nw.ProbabilisticDP(F(1, 2), "999/1000")).bound
    assert delta == min(1, bins * single)


@pytest.mark.parametrize("bins", [2, 5])
def test_bins_with_a_delta_are_composed(bins):
    """Discrete Gaussian noise against the sum over all losses; two ways below it that need no composition."""
    query, count, epsilon = nw.Histogram(9, bins_per_person=bins), nw.Scalar(1, integer=True), F(1)
    made = M.IdenticalNoise(query, M.Additive(count, L.DiscreteGaussian(F(2)), INTEGERS))
    bound = float(nw.certify(made, nw.ApproxDP(epsilon, "9/10")).bound)
    truth = _delta((1,) * bins, 2.0, float(epsilon))
    assert truth <= bound <= truth * 1.001
    pure = M.IdenticalNoise(query, M.Additive(count, L.DiscreteLaplace(F(bins)), INTEGERS))
    assert nw.certify(pure, nw.ApproxDP(1, "1/10")).bound == 0
    narrow = M.IdenticalNoise(query, M.Additive(count, L.DiscreteLaplace(F(bins) * F(99, 100)), INTEGERS))
    assert nw.certify(narrow, nw.ApproxDP(1, "1/10")).bound > 0
    cut = nw.design(count, privacy=nw.ApproxDP(epsilon / bins, F(1, 100 * bins)), utility=nw.SquaredError())
    law = next(c.certified.mechanism for c in cut.candidates if c.name == "tailored")
    share = nw.certify(law, nw.ApproxDP(epsilon / bins, "9/10")).bound
    # Nearly all of its delta are values that become impossible, and any one bin may show one.
    joint = nw.certify(M.IdenticalNoise(query, law), nw.ApproxDP(epsilon, "9/10")).bound
    assert share * F(3, 2) < joint <= bins * share


def _delta(d: tuple[int, ...], std: float, epsilon: float) -> float:
    """The hockey-stick divergence of discrete Gaussian noise, from the losses of equal numbers convolved on a grid."""
    k = np.arange(-40, 41)
    weights = np.exp(-k * k / (2 * std * std))
    weights /= weights.sum()
    total = np.ones(1)
    for _ in d:
        total = np.convolve(total, weights)
    # Losses (2k + 1) / (2 std^2) of single numbers depend on the sum of k alone.
    sums = np.arange(-40 * len(d), 40 * len(d) + 1)
    losses = (2 * sums + len(d)) / (2 * std * std)
    above = losses > epsilon
    return float(np.sum(total[above] * -np.expm1(epsilon - losses[above])))


def test_groups_with_a_delta_are_composed():
    """Three groups of one count, at most two of them: the same as two numbers of three."""
    std = F(3)
    part = M.Additive(nw.Scalar(1, integer=True), L.DiscreteGaussian(std), INTEGERS)
    groups = nw.Vector(nw.Groups([nw.Box([1]), nw.Disjoint([1]), nw.Box([1])], at_most=2), integer=True)
    bound = float(nw.certify(M.PerCoordinate(groups, (part,) * 3), nw.ApproxDP(1, "9/10")).bound)
    truth = _delta((1, 1), float(std), 1.0)
    assert truth <= bound <= truth * 1.01


def test_whole_blocks_of_coarse_steps_grow_by_rounding():
    block = NormBlock((0, 1, 2), (2, 2, 2), F(1, 5))
    for ball in (nw.L1Ball(2, 3), nw.L2Ball(2, 3)):
        coarse = M.NormShaped(nw.Vector(ball, integer=True), (block,))
        # An answer that moves by one may cross an edge between multiples of two: each number by a step.
        assert nw.certify(coarse, nw.PureDP(10)).bound >= F(1, 5)
        assert nw.certify(coarse, nw.PureDP(10)).bound > F(2, 5) * F(1, 2)


def test_whole_numbers_move_by_whole_numbers():
    for chosen in (nw.Box([1, "5/2"]), nw.Points([[1, "1/2"]]), nw.Groups([nw.Box([1]), nw.Box(["3/2"])], at_most=1)):
        with pytest.raises(nw.errors.InvalidQueryError, match="number 2 is an integer"):
            nw.Vector(chosen, integer=True)
        assert nw.Vector(chosen, integer=[True, False]).whole == (True, False)
    with pytest.raises(nw.errors.InvalidQueryError, match="1e12"):
        nw.Vector(nw.Box([10**13]), integer=True)


@pytest.mark.parametrize("integer", [True, [True, False]])
@pytest.mark.parametrize("ball", [nw.L1Ball, nw.L2Ball])
def test_a_whole_number_moves_by_one_at_least(ball, integer):
    """In a ball of a radius below 1 it would stay where it is, and need no noise."""
    with pytest.raises(nw.errors.InvalidQueryError, match=r"is an integer, but one person can move it by 0\.5"):
        nw.Vector(ball(Fraction(1, 2), 2), integer=integer)
    with pytest.raises(nw.errors.InvalidQueryError, match="number 2 is an integer"):
        nw.Vector(nw.Groups([nw.Box([1]), ball(Fraction(1, 2), 1)], 1), integer=True)
    assert nw.Vector(ball(Fraction(3, 2), 2), integer=integer).extents == (Fraction(3, 2),) * 2


def test_shares_of_the_smallest_epsilon_are_no_requirement_that_somebody_asked_for():
    part = nw.mechanisms.Additive(nw.Scalar(1, integer=True), nw.laws.DiscreteGaussian(2), nw.laws.Lattice.integers())
    counts = nw.mechanisms.IdenticalNoise(nw.Histogram(9, bins_per_person=3), part)
    with pytest.raises(nw.errors.UncertifiedError, match="in several bins"):
        nw.certify(counts, nw.ApproxDP(Fraction(1, 10**5), Fraction(1, 10**6)))
