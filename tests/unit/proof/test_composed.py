"""Composed privacy losses: each table against the exact delta of one noise, products against sums and integrals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

import noisewright as nw
from noisewright.laws.hyperbolic import HyperbolicSecant
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import FLOATS
from noisewright.proof import composed, losses
from noisewright.proof.approximate import approximate_delta
from noisewright.proof.composed import joint_delta, move_of, undominated, worst_choices
from noisewright.proof.losses import MASS_BITS, WORKING_BITS, RandomizedResponse, loss_masses
from noisewright.proof.vector_gaussian import gaussian_delta

F = Fraction
CLOSE = 0.02
"""How far delta may be above the truth: 1e-4 of a scale is up to so much of a small delta."""

ALONE = [
    nw.laws.GeneralizedGaussian("1", 2),
    nw.laws.GeneralizedGaussian("1.1", 2),
    nw.laws.GeneralizedGaussian("1.5", 2),
    nw.laws.GeneralizedGaussian(3, 5),
    nw.laws.GeneralizedGaussian(5, 9),
    nw.laws.Gaussian(3),
    nw.laws.Laplace("0.9"),
    nw.laws.Logistic("0.8"),
    HyperbolicSecant("0.9"),
    nw.laws.TruncatedLaplace(1, 7),
    nw.laws.TruncatedLaplace(3, "2.5"),
    nw.laws.DiscreteGaussian(3),
    nw.laws.Tabulated(1, [90, 40, 20, 9, 3, 1], "1/2"),
    nw.laws.Tabulated("1/2", [90, 40, 20, 9, 3, 1], 0),
]


def alone(law: Any, shift: Fraction, epsilon: Fraction) -> Fraction:
    return joint_delta([move_of(law, shift)], epsilon)


@pytest.mark.parametrize("law", ALONE, ids=str)
@pytest.mark.parametrize(("shift", "epsilon"), [(1, "1/2"), (2, "1"), (3, "1/2")])
def test_one_noise_has_its_exact_delta_and_never_less(law, shift, epsilon):
    truth = approximate_delta(law, F(epsilon), F(shift))[0]
    bound = alone(law, F(shift), F(epsilon))
    assert truth * (1 - F(1, 10**9)) <= bound
    # What a ten-thousandth of epsilon is worth, or a fiftieth of a small delta.
    assert float(bound) <= float(truth) * (1 + CLOSE) + 1.2e-4 * float(F(epsilon))


def masses(scale: Fraction, shift: int) -> list[tuple[Any, Any]]:
    """Masses of whole numbers under discrete Laplace noise and under its shift, to fifty digits."""
    fade = mpmath.exp(-1 / (mpmath.mpf(scale.numerator) / scale.denominator))
    unit = (1 - fade) / (1 + fade)
    return [(unit * fade ** abs(k), unit * fade ** abs(k + shift)) for k in range(-90, 90)]


@pytest.mark.parametrize("shifts", [(1, 1), (2, 1), (3, 4)])
@pytest.mark.parametrize("scale", ["1", "5/2"])
def test_two_discrete_noises_have_the_delta_of_their_sums(scale, shifts):
    with mpmath.workdps(50):
        first, second = (masses(F(scale), s) for s in shifts)
        grown = mpmath.exp(mpmath.mpf(1) / 2)
        truth = float(sum(max(a * c - grown * b * d, 0) for a, b in first for c, d in second))
    bound = joint_delta([move_of(nw.laws.DiscreteLaplace(F(scale)), F(s)) for s in shifts], F(1, 2))
    assert truth * (1 - 1e-12) <= float(bound) <= truth * (1 + 1e-3)


@pytest.mark.parametrize(("std", "shifts"), [(64, (2, 2)), (64, (2, 1)), (32, (2, 1)), (50, (1, 1))])
@pytest.mark.parametrize("epsilon", ["1/8", "1/32"])
def test_wide_discrete_gaussian_noises_have_the_delta_of_their_sums(std, shifts, epsilon):
    """Many whole numbers share a cell of the grid, and where losses meet its points none of them may be lowered."""
    k = np.arange(-14 * std, 14 * std + 1)
    line = np.exp(-(k.astype(float) ** 2) / (2 * std**2))
    line /= line.sum()
    one, other = ((shift * (2 * k + shift)) / (2 * std**2) for shift in shifts)
    over = float(F(epsilon)) - one[:, None] - other[None, :]
    truth = float(line @ np.maximum(0.0, -np.expm1(over)) @ line)
    bound = joint_delta([move_of(nw.laws.DiscreteGaussian(std), F(s)) for s in shifts], F(epsilon))
    assert truth * (1 - 1e-9) <= float(bound) <= truth * 1.01


@pytest.mark.parametrize(("edge", "shift"), [("1/2", 2), ("1/2", 3), (0, 1), (0, 2)])
def test_two_tables_have_the_delta_of_their_sums(edge, shift):
    """The middle of a table and its shift, which may be a cell of its own, has no loss, but its mass counts."""
    weights, epsilon = [90, 40, 20, 9, 3, 1], "1/2"
    line = [*reversed(weights[1:] if edge else weights), *weights]
    moved = line[shift:] + [0] * shift
    grown = math.exp(float(F(epsilon)))
    pairs = list(zip(line, moved, strict=True))
    truth = sum(max(a * c - grown * b * d, 0) for a, b in pairs for c, d in pairs) / sum(line) ** 2
    move = move_of(nw.laws.Tabulated(1, weights, edge), F(shift))
    bound = joint_delta([move, move], F(epsilon))
    assert truth * (1 - 1e-9) <= float(bound) <= truth * 1.01


@pytest.mark.parametrize("stds", [(2, 2), (3, 4), (2, 7)])
def test_gaussian_noises_compose_to_the_length_of_their_shifts(stds):
    for shifts in ((1, 1), (2, 1)):
        squared = sum((F(s, std) ** 2 for s, std in zip(shifts, stds, strict=True)), F(0))
        truth = gaussian_delta(F(1), squared)
        parts = [nw.laws.Gaussian(std) for std in stds]
        bound = joint_delta([move_of(law, F(s)) for law, s in zip(parts, shifts, strict=True)], F(1))
        assert truth <= bound <= truth * F(102, 100)


def test_noises_of_two_kinds_compose_to_their_integral():
    """A Laplace and a Gaussian noise: the mean, over the first, of delta of the second at what is left."""
    laplace, std = nw.laws.Laplace(2), 3.0

    def rest(epsilon: float) -> float:
        a, b = epsilon * std - 1 / (2 * std), epsilon * std + 1 / (2 * std)
        return (math.erfc(a / math.sqrt(2)) - math.exp(epsilon) * math.erfc(b / math.sqrt(2))) / 2

    def integrand(x: float) -> float:
        return float(laplace.density(x, FLOATS)) * rest(0.4 - (abs(x + 1) - abs(x)) / 2)

    ends = [-80.0, -1.0, 0.0, 80.0]
    truth = sum(quad(integrand, a, b, epsrel=1e-11)[0] for a, b in itertools.pairwise(ends))
    bound = joint_delta([move_of(laplace, F(1)), move_of(nw.laws.Gaussian(3), F(1))], F(2, 5))
    assert truth * (1 - 1e-10) <= float(bound) <= truth * 1.01


@pytest.mark.parametrize("count", [1, 2, 5])
def test_noise_known_by_its_pure_bound_counts_as_randomized_response(count):
    """Of `count` answers i are turned round, and the loss is count - 2i times the bound."""
    epsilon, bound = 0.7, 0.9
    share = math.exp(bound) / (1 + math.exp(bound))
    losses = [
        (math.comb(count, i) * share ** (count - i) * (1 - share) ** i, (count - 2 * i)) for i in range(count + 1)
    ]
    truth = sum(p * max(0.0, 1 - math.exp(epsilon - n * bound)) for p, n in losses)
    law = nw.laws.staircase(sensitivity=1, epsilon=F(9, 10), split=F(1, 3))
    move = move_of(law, F(1))
    assert isinstance(move[0], RandomizedResponse)
    assert float(joint_delta([move] * count, F(7, 10))) == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("law", [law for law in ALONE if not isinstance(law, nw.laws.Tabulated)], ids=str)
def test_masses_of_a_table_add_up_to_one_and_losses_to_those_of_q(law):
    """P has mass 1; the mean of e^-loss is the mass of Q where P has some."""
    law, shift = move_of(law, F(2))
    cell = F(1, 50)
    with precision(WORKING_BITS):
        table = loss_masses(law, shift, cell)
    unit = 2.0**-MASS_BITS
    total = sum(table.masses) + table.infinite
    assert 1 << MASS_BITS <= total <= (1 << MASS_BITS) * (1 + F(1, 10**9))
    # Beyond a loss of -40 what was rounded up is all there is.
    losses = [(float(cell) * (table.first + i), m) for i, m in enumerate(table.masses)]
    q = sum(m * math.exp(-loss) for loss, m in losses if loss > -40) * unit
    end = float(law.sf(law.bound - shift, FLOATS)) if isinstance(law, nw.laws.TruncatedLaplace) else 0.0
    assert q == pytest.approx(1 - end, rel=1e-8)


@pytest.mark.parametrize(
    "law", [nw.laws.GeneralizedGaussian("1.5", 4), nw.laws.Logistic(1), nw.laws.TruncatedLaplace(2, 9)]
)
def test_a_larger_shift_is_worse_and_a_larger_epsilon_better(law):
    at_shift = [alone(law, F(s, 2), F(1, 5)) for s in range(1, 6)]
    assert at_shift == sorted(at_shift)
    at_epsilon = [alone(law, F(3), F(e, 2)) for e in range(1, 4)]
    assert at_epsilon == sorted(at_epsilon, reverse=True)


def test_the_worst_choices_move_the_largest_shifts_of_every_law():
    a, b = nw.laws.Gaussian(1), nw.laws.Laplace(1)
    moves = [(a, F(1)), (a, F(3)), (b, F(2)), (b, F(5)), (a, F(2))]
    assert list(worst_choices(moves, 5)) == [tuple(moves)]
    found = {frozenset(choice) for choice in worst_choices(moves, 2)}
    assert found == {
        frozenset([(a, F(3)), (a, F(2))]),
        frozenset([(a, F(3)), (b, F(5))]),
        frozenset([(b, F(5)), (b, F(2))]),
    }


def test_too_many_choices_are_refused():
    moves = [(nw.laws.GeneralizedGaussian(F(i, 10), 1), F(1)) for i in range(11, 40)]
    with pytest.raises(nw.errors.UncertifiedError, match="one by one"):
        list(worst_choices(moves, 3))


def test_rows_that_another_dominates_are_left_out():
    a, b = nw.laws.Gaussian(1), nw.laws.Laplace(1)
    rows = [
        [(a, F(1)), (b, F(1))],
        [(b, F(1)), (a, F(2))],
        [(a, F(2))],
        [(b, F(3))],
        [(a, F(3)), (a, F(1))],
        [(a, F(5))],
    ]
    assert {frozenset(row) for row in undominated(rows)} == {
        frozenset([(b, F(1)), (a, F(2))]),
        frozenset([(b, F(3))]),
        frozenset([(a, F(3)), (a, F(1))]),
        frozenset([(a, F(5))]),
    }


def test_too_many_cells_are_refused_at_once():
    with pytest.raises(nw.errors.UncertifiedError, match="cells"):
        joint_delta([move_of(nw.laws.Laplace(1), F(400))] * 300, F(1, 100))


def test_a_tabulated_law_that_rises_is_not_composed():
    law = nw.laws.Tabulated(1, [3, 5, 1], "1/2")
    with pytest.raises(nw.errors.UncertifiedError, match="fall outward"):
        joint_delta([move_of(law, F(1))] * 2, F(1))


def test_noise_without_any_rule_is_refused():
    with pytest.raises(nw.errors.UncertifiedError, match="no rule for the privacy losses"):
        move_of(nw.laws.GaussianMixture((1, 2), ("1/2", "1/2")), F(1))


def part(law: Any, step: str = "1/4") -> nw.mechanisms.Additive:
    return nw.mechanisms.Additive(nw.Scalar(step), law, nw.laws.Lattice.cells(F(step)))


def certified(chosen: Any, laws: Any, epsilon: str = "1/2", step: str = "1/4") -> nw.Certificate:
    mechanism = nw.mechanisms.PerCoordinate(nw.Vector(chosen), tuple(part(law, step) for law in laws))
    return nw.certify(mechanism, nw.ApproxDP(epsilon, "0.999"))


THREE = (nw.laws.Logistic(1), nw.laws.GeneralizedGaussian("1.5", 2), nw.laws.Laplace(2))


def together(laws: Any, shifts: Any, epsilon: str = "1/2") -> Fraction:
    return joint_delta([move_of(law, F(s)) for law, s in zip(laws, shifts, strict=True)], F(epsilon))


def test_over_a_box_all_numbers_move_by_their_extent():
    found = certified(nw.Box([1, 2, 3]), THREE)
    assert (found.bound, found.rule) == (together(THREE, (1, 2, 3)), "approximate/composed-box")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("chosen", [lambda each: nw.Sparse(2, each), nw.Replace], ids=["sparse", "replace"])
def test_where_two_numbers_move_the_worst_pair_of_unlike_noises_counts(order, chosen):
    each = (1, 2, 3)
    found = certified(chosen([each[i] for i in order]), [THREE[i] for i in order])
    pairs = [
        together([THREE[i] for i in pair], [each[i] for i in pair]) for pair in itertools.combinations(range(3), 2)
    ]
    assert found.bound == max(pairs) > min(pairs)


def test_the_worst_listed_difference_counts_whatever_its_signs():
    found = certified(nw.Points([[1, 0, -1], [0, -2, 3], [-1, 1, 0]]), THREE)
    rows = [((0, 2), (1, 1)), ((1, 2), (2, 3)), ((0, 1), (1, 1))]
    assert found.bound == max(together([THREE[i] for i in places], shifts) for places, shifts in rows)
    assert found.rule == "approximate/composed-points"


@pytest.mark.parametrize("ball", [nw.L1Ball(1, 3), nw.L2Ball(1, 3)], ids=["l1", "l2"])
def test_a_ball_is_proven_within_its_box(ball):
    found = certified(ball, THREE)
    assert (found.bound, found.rule) == (together(THREE, (1, 1, 1)), "approximate/composed-enclosing-box")


def test_moves_are_rounded_up_to_whole_steps():
    """Half a unit on a lattice of thirds may cross two edges."""
    laws = (nw.laws.Logistic("1/2"), nw.laws.Gaussian(1))
    assert certified(nw.Box(["1/2", "1/2"]), laws, step="1/3").bound == together(laws, ("2/3", "2/3"))


def test_gaussian_noise_is_exact_however_it_is_written():
    """A generalized Gaussian of power 2 and scale 4 has the variance 8."""
    laws = (nw.laws.GeneralizedGaussian(2, 4), nw.laws.Gaussian(3))
    assert certified(nw.Box([1, 2]), laws).bound == gaussian_delta(F(1, 2), F(1, 8) + F(4, 9))


def test_laplace_noise_is_proven_finer_than_by_its_own_rule_where_that_is_needed():
    """Ten noises at the smallest scale: the coarser rule asks for a fifth of a per cent more."""
    law = nw.laws.calibrated_together(nw.laws.generalized_gaussians(1), [1] * 10, nw.ApproxDP(1, "1e-3"))[0]
    mechanism = nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([1] * 10)), (part(nw.laws.Laplace(law.scale)),) * 10)
    assert nw.certify(mechanism, nw.ApproxDP(1, "1e-3")).rule == "approximate/composed-box"
    wider = nw.mechanisms.PerCoordinate(mechanism.query, (part(nw.laws.Laplace(law.scale * F(11, 10))),) * 10)
    assert nw.certify(wider, nw.ApproxDP(1, "1e-3")).rule == "approximate/laplace-composed"


def test_of_groups_the_worst_ones_move_together():
    """Two of three groups; of the second, only one number at a time."""
    sets = [nw.Box([1]), nw.Disjoint([2, 3]), nw.Box([1])]
    laws = (nw.laws.Logistic(1), nw.laws.GeneralizedGaussian("1.5", 2), nw.laws.Laplace(2), nw.laws.Logistic(2))
    found = certified(nw.Groups(sets, at_most=2), laws, step="1")
    shifts = (1, 2, 3, 1)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
    truth = [together([laws[i] for i in pair], [shifts[i] for i in pair]) for pair in pairs]
    assert found.bound == max(truth)
    assert found.rule == "approximate/composed-groups"
    assert together([laws[1], laws[2]], [2, 3]) > found.bound


def test_many_equal_groups_are_one_kind_and_many_unlike_ones_too_many():
    law = nw.laws.Logistic(1)
    alike = nw.Groups([nw.Disjoint([1, 2])] * 30, at_most=3)
    assert certified(alike, [law] * 60, step="1").bound == together([law] * 3, [2, 2, 2])
    unlike = nw.Groups([nw.Box([i + 1]) for i in range(30)], at_most=28)
    with pytest.raises(nw.errors.UncertifiedError, match="one by one"):
        certified(unlike, [law] * 30, step="1")


def test_knots_in_the_wrong_place_cost_slack_not_privacy(monkeypatch):
    """Knots that go to and fro by half a cell leave losses outside of their cells; the slack makes up for it."""
    law, shift, cell, epsilon = nw.laws.Gaussian(1), F(1, 4), F(1, 100), F(1)
    solved, sides = losses._solved, itertools.cycle([0.0196, -0.0196])
    monkeypatch.setattr(losses, "_solved", lambda *given: solved(*given) + next(sides))
    with precision(WORKING_BITS):
        table = loss_masses(law, shift, cell)
        found = composed.hockey_stick(table.masses, table.first, cell, epsilon - table.slack, MASS_BITS)
    assert found + F(table.infinite, 1 << MASS_BITS) >= gaussian_delta(epsilon, shift**2)


def test_infinite_losses_of_several_noises_add_up():
    """At a large epsilon only what leaves the support counts: in one or the other of two."""
    law = nw.laws.TruncatedLaplace(1, 3)
    end = float(law.sf(F(2), FLOATS))
    assert float(joint_delta([move_of(law, F(1))] * 2, F(8))) == pytest.approx(2 * end, rel=1e-6)
    assert float(joint_delta([move_of(law, F(1))] * 2, F(8))) >= 1 - (1 - end) ** 2


def test_a_power_below_one_counts_by_its_pure_bound():
    law = nw.laws.GeneralizedGaussian("1/2", 4)
    assert move_of(law, F(1)) == (RandomizedResponse(F(1)), F(1, 2))
    laws = (law, nw.laws.Gaussian(3))
    assert 0 < certified(nw.Box([1, 1]), laws).bound < F(1, 2)
