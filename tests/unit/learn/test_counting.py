"""Noise for all cells of a table at once: which set is certified, and which noise is the better one."""

from __future__ import annotations

from fractions import Fraction

import pytest

sklearn = pytest.importorskip("sklearn", reason="needs the extra noisewright[learn]")

from noisewright.learn.counting import NOISES, noise_for_cells, split_budget  # noqa: E402
from noisewright.numerics.fields import FLOATS  # noqa: E402
from noisewright.problem.divergences import Mallows  # noqa: E402
from noisewright.problem.errors import InvalidInputError  # noqa: E402
from noisewright.problem.privacy import PureDP  # noqa: E402
from noisewright.problem.sensitivity import Disjoint, L1Ball, Sparse  # noqa: E402
from noisewright.problem.utilities import SquaredError, Usefulness  # noqa: E402

HALF = Fraction(1, 2)


def made(cells, rows, noise, epsilon=Fraction(1), each=HALF, utility=None):
    return noise_for_cells(cells, rows, each, epsilon, noise, utility or SquaredError())


def set_of(*arguments, **options):
    return made(*arguments, **options).mechanism.query.sensitivity


@pytest.mark.parametrize("noise", NOISES)
def test_one_row_moves_one_cell(noise):
    assert set_of(7, 1, noise) == Disjoint([HALF] * 7)


@pytest.mark.parametrize("noise", NOISES)
def test_several_rows_move_a_single_cell_by_all_of_them(noise):
    assert set_of(1, 5, noise) == Disjoint([5 * HALF])


@pytest.mark.parametrize("noise", ["tailored", "staircase"])
@pytest.mark.parametrize(("cells", "rows"), [(7, 3), (2, 5)])
def test_noise_that_is_priced_by_the_cell_is_certified_for_as_many_cells_as_rows_can_move(noise, cells, rows):
    assert set_of(cells, rows, noise) == Sparse(min(cells, rows), [rows * HALF] * cells)


@pytest.mark.parametrize("noise", ["Laplace", "two-fold"])
def test_laplace_noise_is_certified_for_the_total_change(noise):
    assert set_of(7, 3, noise) == L1Ball(3 * HALF, 7)
    scale = made(7, 3, noise).mechanism.parts[0].law.scale
    assert 3 * HALF < scale < 3 * HALF * Fraction(1002, 1000)


def test_two_fold_noise_of_several_rates_is_priced_by_the_cell():
    certified = made(3, 2, "two-fold", Fraction(24))
    assert certified.mechanism.query.sensitivity == Sparse(2, [1, 1, 1])
    assert len(certified.mechanism.parts[0].law.fold.rates) > 1


@pytest.mark.parametrize("utility", [SquaredError(), Usefulness("0.25")])
def test_the_best_noise_is_the_better_of_the_two(utility):
    def value(noise, epsilon):
        return float(made(3, 2, noise, epsilon, Fraction(1), utility).mechanism.parts[2].expected(utility, FLOATS))

    sign = 1 if utility.larger_is_better else -1
    for epsilon, winner, loser in [(Fraction(1), "Laplace", "tailored"), (Fraction(30), "tailored", "Laplace")]:
        assert sign * value(winner, epsilon) > sign * value(loser, epsilon)
        assert value("best", epsilon) == value(winner, epsilon)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rows", [1, 2, 6])
def test_the_whole_of_epsilon_is_certified_and_all_cells_have_the_same_noise(noise, rows):
    certified = made(4, rows, noise, Fraction(7, 5))
    assert certified.certificate.requirement == PureDP("1.4")
    assert Fraction(139, 100) < certified.certificate.bound <= Fraction(7, 5)
    assert len(set(certified.mechanism.parts)) == 1


def test_noise_that_a_utility_does_not_have_is_refused_by_name():
    with pytest.raises(InvalidInputError, match="no tailored noise"):
        made(2, 1, "tailored", utility=Mallows(2, nodes=10))
    with pytest.raises(InvalidInputError, match="give one of best, tailored"):
        made(2, 1, "gaussian")


def test_shares_follow_the_cube_root_and_never_exceed_the_budget():
    shares = split_budget(Fraction(1), [1.0, 8.0, 27.0], optimised=True)
    assert [float(s) for s in shares] == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=2e-6)
    assert sum(shares) <= 1
    assert len(set(split_budget(Fraction(1), [1.0, 8.0], optimised=False))) == 1
    assert sum(split_budget(Fraction(3, 7), [2.0] * 7, optimised=False)) <= Fraction(3, 7)
