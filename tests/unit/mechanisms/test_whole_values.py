"""Errors of several whole numbers, each a second time from their masses, one by one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.sample.certified import make_certified
from tests.mechanisms_by_hand import geometric_masses

F, M, L = Fraction, nw.mechanisms, nw.laws
Masses = dict[int, float]
LOOSE = nw.PureDP(30)


def shells(size: int, rate: float) -> list[float]:
    """Masses of the radius, weight (2r+1)^size e^(-rate r)."""
    weights = [(2 * r + 1) ** size * math.exp(-rate * r) for r in range(math.ceil((60 + 8 * size) / rate))]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def errors_on(shell: int, step: int) -> Masses:
    """A coordinate uniform on -r … r steps, around an answer whose residue is uniform and is rounded half up."""
    found: Masses = defaultdict(float)
    for z in range(-shell, shell + 1):
        for answer in range(step):
            placed = step * math.floor(answer / step + 0.5)
            found[step * z + placed - answer] += 1 / step / (2 * shell + 1)
    return found


class Block:
    """The law of a block's errors: shells, and the errors of each number on each of them."""

    def __init__(self, steps: Sequence[int], rate: float) -> None:
        self.radius = shells(len(steps), rate)
        self.on = [[errors_on(r, step) for step in steps] for r in range(len(self.radius))]

    def mean(self, place: int, power: float) -> float:
        return math.fsum(
            mass * math.fsum(p * abs(e) ** power for e, p in on[place].items())
            for mass, on in zip(self.radius, self.on, strict=True)
        )

    def within(self, place: int, limit: float) -> float:
        return math.fsum(mass * share(on[place], limit) for mass, on in zip(self.radius, self.on, strict=True))

    def all_within(self, limit: float) -> float:
        pairs = zip(self.radius, self.on, strict=True)
        return math.fsum(mass * math.prod(share(law, limit) for law in on) for mass, on in pairs)


def share(law: Masses, limit: float) -> float:
    return math.fsum(p for e, p in law.items() if abs(e) <= limit)


BLOCKS = [((1, 1), F(1)), ((2, 2), F(3, 2)), ((3, 1), F(1)), ((2, 3, 1), F(2)), ((1,), F(1, 2)), ((2,), F(1))]


def shaped(steps: Sequence[int], rate: Fraction) -> Any:
    query = nw.Vector(nw.Box([6] * len(steps)), integer=True)
    return M.NormShaped(query, (NormBlock(tuple(range(len(steps))), steps, rate),))


@pytest.mark.parametrize(("steps", "rate"), BLOCKS, ids=str)
def test_blocks_of_whole_numbers_err_as_their_shells_and_residues_say(steps, rate):
    law, mechanism = Block(steps, float(rate)), shaped(steps, rate)
    with precision():
        for power in (1, 2):
            found = mechanism.power_means(F(power), BALLS)
            wanted = [law.mean(i, power) for i in range(len(steps))]
            assert [float(v.mid()) for v in found] == pytest.approx(wanted, rel=1e-9)
        for limit in ("0", "1/2", "1", "5/2", "4"):
            chances = mechanism.chances((F(limit),) * len(steps), BALLS)
            wanted = [law.within(i, float(F(limit))) for i in range(len(steps))]
            assert [float(v.mid()) for v in chances] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("steps", "rate"), BLOCKS, ids=str)
@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.99"])
def test_half_widths_of_whole_blocks_are_the_first_that_hold_enough(steps, rate, confidence):
    law, mechanism = Block(steps, float(rate)), shaped(steps, rate)
    wanted = float(F(confidence))
    certified = make_certified(mechanism, LOOSE)
    each = tuple(next(m for m in range(999) if law.within(i, m) >= wanted) for i in range(len(steps)))
    together = next(m for m in range(999) if law.all_within(m) >= wanted)
    assert certified.half_width(confidence) == each
    assert certified.half_width(confidence, joint=True) == together
    around = mechanism.expected(nw.ErrorQuantile(confidence))
    assert lower(around) <= together <= upper(around)
    assert upper(around) - lower(around) < F(1, 1000)


@pytest.mark.parametrize(("steps", "rate"), BLOCKS, ids=str)
def test_the_largest_error_of_a_whole_block_is_the_sum_of_its_tails(steps, rate):
    law = Block(steps, float(rate))
    wanted = math.fsum(1 - law.all_within(m) for m in range(max(steps) * len(law.radius)))
    around = shaped(steps, rate).expected(nw.LargestError())
    assert lower(around) <= wanted <= upper(around)
    assert float(around.rad()) < 0.02 * wanted


def part(scale: Fraction) -> Any:
    return M.Additive(nw.Scalar(1, integer=True), L.DiscreteLaplace(scale), L.Lattice.integers())


MIXED = M.PerCoordinate(
    nw.Vector(nw.Box([1, 0, 1, 1]), integer=[True, False, False, True], exact=True),
    (
        part(F(2)),
        None,
        M.Additive(nw.Scalar(1, exact=True), L.Laplace(F(1)), L.Lattice.cells(F(1, 2))),
        part(F(1, 2)),
    ),
)
SLOW, FAST = geometric_masses(0.5), geometric_masses(2)


def spread_laplace(limit: float) -> float:
    """P(|error| <= limit) for Laplace noise of scale 1 spread evenly over cells of length 1/2."""
    cell, rest = divmod(limit, 0.5)
    return 1 - math.exp(-cell / 2) * (1 - rest / 0.5 * -math.expm1(-0.5))


def test_whole_real_and_still_numbers_side_by_side_have_their_own_errors():
    with precision():
        for power in (1, 2):
            fade = math.exp(-0.5)
            cells = [fade**k * (1 - fade) for k in range(200)]
            real = math.fsum(
                mass * ((k + 1) ** (power + 1) - k ** (power + 1)) / (power + 1) / 2**power
                for k, mass in enumerate(cells)
            )
            wanted = [
                math.fsum(p * abs(e) ** power for e, p in SLOW.items()),
                0,
                real,
                math.fsum(p * abs(e) ** power for e, p in FAST.items()),
            ]
            found = [float(v.mid()) for v in MIXED.power_means(F(power), BALLS)]
            assert found == pytest.approx(wanted, rel=1e-9)
        chances = MIXED.chances((F(3, 2), F(1, 9), F(3, 4), F(1)), BALLS)
        wanted = [share(SLOW, 1.5), 1, spread_laplace(0.75), share(FAST, 1)]
        assert [float(v.mid()) for v in chances] == pytest.approx(wanted, rel=1e-9)


def test_the_largest_error_of_mixed_numbers_counts_the_jumps_of_whole_ones():
    def all_within(x: float) -> float:
        return share(SLOW, x) * spread_laplace(x) * share(FAST, x)

    width, steps = 1 / 64, 64 * 80
    middles = [(i + 0.5) * width for i in range(steps)]  # whole numbers are ends, never middles
    wanted = math.fsum((1 - all_within(x)) * width for x in middles)
    around = MIXED.expected(nw.LargestError())
    assert abs(float(around.mid()) - wanted) <= float(around.rad()) + 1e-3
    assert float(around.rad()) < 0.02 * wanted
    certified = make_certified(MIXED, LOOSE)
    for confidence in ("0.5", "0.9", "0.99"):
        together = certified.half_width(confidence, joint=True)
        assert all_within(together) >= float(F(confidence))
        assert all_within(together * 0.997 - 1e-9) < float(F(confidence))
        each = certified.half_width(confidence)
        assert each[0] == next(m for m in range(99) if share(SLOW, m) >= float(F(confidence)))
        assert each[1] == 0
        assert type(each[0]) is type(each[3]) is int


@pytest.mark.parametrize("bins", [1, 2, 15, 1000])
def test_bins_that_are_alike_err_alike_and_stay_within_together_as_a_power_says(bins: int):
    mechanism: Any = M.IdenticalNoise(nw.Histogram(bins), part(F(2)))
    assert float(mechanism.expected(nw.AbsoluteError()).mid()) == pytest.approx(
        bins * math.fsum(p * abs(e) for e, p in SLOW.items())
    )
    assert float(mechanism.expected(nw.SquaredError()).mid()) == pytest.approx(
        bins * math.fsum(p * e * e for e, p in SLOW.items())
    )
    assert float(mechanism.expected(nw.Usefulness(1)).mid()) == pytest.approx(share(SLOW, 1))
    largest = mechanism.expected(nw.LargestError())
    wanted = math.fsum(1 - share(SLOW, m) ** bins for m in range(200))
    assert abs(float(largest.mid()) - wanted) <= float(largest.rad()) + 1e-9
    assert float(largest.rad()) < 0.02 * wanted
    certified = make_certified(mechanism, LOOSE)
    assert certified.half_width("0.9") == (next(m for m in range(99) if share(SLOW, m) >= 0.9),) * bins
    assert certified.half_width("0.9", joint=True) == next(m for m in range(99) if share(SLOW, m) ** bins >= 0.9)


def test_bins_share_one_limit():
    mechanism: Any = M.IdenticalNoise(nw.Histogram(2), part(F(2)))
    with pytest.raises(InvalidUtilityError, match="one limit"):
        mechanism.expected(nw.Usefulness([1, 2]))
