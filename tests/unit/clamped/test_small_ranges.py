"""Small ranges: what clamped noise costs there is summed over its laws, or enclosed closely, never told too good."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.bounded import clamped_errors, clamped_sums
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.numerics.balls import ball, hull, lower, precision, upper
from noisewright.problem.divergences import ErrorEntropy
from noisewright.problem.queries import Bounded
from noisewright.search.families.shapes import clamped_noise
from tests.clamped import SMALL, WHOLE, written_law, written_rows
from tests.small_bounded import ClampedRows, cost_at

TIGHT = clamped_noise(Bounded(1, (-2, -1), (-6, 3), 0, integer=True), Fraction(7, 10), nw.AbsoluteError())
LOPSIDED = clamped_noise(Bounded(2, (0, 6), (-5, 14), 0, integer=True), Fraction(1), nw.AbsoluteError())
assert TIGHT is not None
assert LOPSIDED is not None
UTILITIES = [
    nw.AbsoluteError(),
    nw.SquaredError(),
    nw.PowerError(3),
    nw.WorstVariance(),
    nw.AverageVariance(),
    nw.Usefulness(0),
    nw.Usefulness(2),
    nw.ErrorQuantile("0.8"),
]


def _written(mechanism: Clamped, utility: Any) -> Fraction:
    """The value by the law written out point by point, at every whole answer."""
    rows, costs = written_rows(mechanism), []
    for x in range(int(mechanism.query.inputs[0]), int(mechanism.query.inputs[1]) + 1):
        sizes: dict[Any, Fraction] = {}
        for y, chance in written_law(mechanism, rows, x).items():
            sizes[abs(y - x)] = sizes.get(abs(y - x), Fraction(0)) + chance
        if utility.edges:
            costs.append(sum((c for size, c in sizes.items() if size <= utility.edges[0]), Fraction(0)))
        elif utility.confidence is not None:
            within, reached = -1, Fraction(0)
            while reached < utility.confidence:
                within += 1
                reached += sizes.get(within, Fraction(0))
            costs.append(Fraction(within))
        else:
            costs.append(sum((c * size ** int(utility.power or 2) for size, c in sizes.items()), Fraction(0)))
    if utility.averaged:
        return sum(costs, Fraction(0)) / len(costs)
    return min(costs) if utility.larger_is_better else max(costs)


@pytest.mark.parametrize("mechanism", [TIGHT, LOPSIDED, WHOLE], ids=["tight", "lopsided", "unlike"])
@pytest.mark.parametrize("utility", UTILITIES, ids=str)
def test_small_ranges_are_summed_exactly(mechanism: Clamped, utility: Any):
    with precision():
        value = mechanism.expected(utility)
        exact = _written(mechanism, utility)
        assert lower(value) <= exact <= upper(value)
        assert upper(value) - lower(value) <= exact / 10**30


@pytest.mark.parametrize("power", ["1/2", "3/2", "5/2"])
def test_powers_that_are_no_whole_numbers_are_enclosed(power: str):
    low, high = clamped_sums.worst_power(LOPSIDED, range(7), Fraction(power))
    rows = written_rows(LOPSIDED)
    costs = [
        sum(float(c) * float(abs(y - x)) ** float(Fraction(power)) for y, c in written_law(LOPSIDED, rows, x).items())
        for x in range(7)
    ]
    assert low < high <= low * (1 + Fraction(1, 2**100))
    assert float(high) == pytest.approx(max(costs), rel=1e-12)


def test_what_is_summed_in_small_ranges_lies_within_what_bounds_large_ones(monkeypatch: pytest.MonkeyPatch):
    assert LOPSIDED is not None
    exact = {str(u): _written(LOPSIDED, u) for u in UTILITIES}
    monkeypatch.setattr(clamped_sums, "_MOST_ANSWERS", 0)
    for utility in UTILITIES:
        with precision():
            value = LOPSIDED.expected(utility)
            assert lower(value) <= exact[str(utility)] * (1 + Fraction(1, 10**9))
            assert upper(value) >= exact[str(utility)] * (1 - Fraction(1, 10**9))


REAL = clamped_noise(Bounded(1, (0, 1), (-2, 3), 0), Fraction(1), nw.AbsoluteError())
SHORT = clamped_noise(Bounded(1, (0, 3), (-2, 7), 0), Fraction(1), nw.Usefulness("1/2"))
assert REAL is not None
assert SHORT is not None


@pytest.mark.parametrize("mechanism", [REAL, SHORT], ids=["one", "several"])
@pytest.mark.parametrize(
    "utility",
    [nw.AbsoluteError(), nw.PowerError("1/2"), nw.PowerError(3), nw.Usefulness("3/4"), nw.ErrorQuantile("0.7")],
    ids=str,
)
def test_a_short_real_range_is_enclosed_closely(mechanism: Clamped, utility: Any):
    laws, (low, high) = ClampedRows(mechanism), mechanism.query.inputs
    costs = [cost_at(laws.at(x), x, utility) for x in (low + (high - low) * Fraction(i, 60) for i in range(61))]
    worst = min(costs) if utility.larger_is_better else max(costs)
    with precision():
        value = mechanism.expected(utility)
        told = mechanism.shown(utility, value)
    assert (told <= worst + 1e-9) if utility.larger_is_better else (told >= worst - 1e-9)
    # Roots are steep near 0, where whole steps count.
    room = 5e-3 if utility != nw.PowerError("1/2") else 3e-2
    assert told == pytest.approx(worst, rel=room)
    assert float(upper(value) - lower(value)) < room * worst


def _inside(mechanism: Clamped, a: int, b: int) -> list[Fraction]:
    """Answers between the means of two rows, in steps."""
    start, end = max(mechanism.mean(a), mechanism.in_steps(0)), min(mechanism.mean(b), mechanism.in_steps(1))
    return [start + (end - start) * Fraction(i, 3) for i in range(4)] if start <= end else []


def test_the_chance_of_a_stretch_holds_for_every_answer_in_it():
    rows = written_rows(SMALL)
    looked = 0
    for a, b in ((k, k + length) for k in range(-3, 12, 2) for length in (1, 4) if k + length <= 14):
        for limit in (Fraction(1, 2), Fraction(3), Fraction(31, 4)):
            sure = clamped_errors._sure(SMALL, a, b, limit)
            for x in _inside(SMALL, a, b):
                law = written_law(SMALL, rows, x * SMALL.step)
                assert sure <= sum(c for y, c in law.items() if abs(y - x) <= limit)
                looked += 1
    assert looked > 100


@pytest.mark.parametrize("power", ["1/2", "1", "3"])
def test_the_cost_of_a_stretch_holds_for_every_answer_in_it(power: str):
    rows, costs = written_rows(SMALL), clamped_errors._Rows(SMALL, Fraction(power))
    for a, b in ((k, k + length) for k in range(-3, 12, 2) for length in (1, 4) if k + length <= 14):
        above = costs.above(a, b)
        for x in _inside(SMALL, a, b):
            law = written_law(SMALL, rows, x * SMALL.step)
            assert above * (1 + 1e-12) >= sum(
                float(c) * float(abs(y - x)) ** float(Fraction(power)) for y, c in law.items()
            )


def test_an_estimate_is_told_inside_its_ball_and_not_beyond_the_bound():
    assert REAL is not None
    with precision():
        value = hull(ball(1), ball(3))
        assert REAL.shown(nw.SquaredError(), value) == pytest.approx(3)
        assert REAL.shown(nw.Usefulness(1), value) == pytest.approx(1)
        assert REAL.shown(ErrorEntropy(), value) == pytest.approx(2)
        assert REAL.shown(ErrorEntropy(), value, Fraction(5, 2)) == pytest.approx(2.5)
        assert REAL.shown(ErrorEntropy(), value, Fraction(1, 2)) == pytest.approx(2)


def test_a_range_of_many_answers_is_not_summed():
    asked = [Bounded(2, (0, end), (-300, end + 300), 0, integer=True) for end in (900, 5000)]
    wide = [clamped_noise(query, Fraction(1), nw.AbsoluteError()) for query in asked]
    assert clamped_sums.listed(wide[0]) == range(901)
    assert clamped_sums.summed(wide[0]) is None
    assert clamped_sums.listed(wide[1]) is None
