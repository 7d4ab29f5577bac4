"""Every utility of bounded mechanisms is the worst case over all answers, against sums over many answers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.bumps import FLAT, Plateau, Quartic, Sine, Steps, Tent
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Grid, Rows, uniform_grid
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.mechanisms.bounded.worst_cases import worst_chance, worst_half_width
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.queries import Bounded
from noisewright.search.families.shapes import two_point
from tests.bounded import question

F = Fraction
WIDE = question("1", "12", bias=None)


def composite(activation: Any, base: Any = FLAT) -> Composite:
    return Composite(WIDE, activation, base, F(1, 3), WIDE.inputs, 8, 64)


def uneven_rows() -> Rows:
    weights = np.random.default_rng(1).integers(0, 100, size=(4, 9))
    weights[:, 4] += 2000 - weights.sum(axis=1)
    grid = Grid((F(0), F(1, 7), F(2, 3), F(1)))
    values = (F(-2), F(-1), F(-1, 3), F(0), F(1, 2), F(2, 3), F(1), F(9, 8), F(3))
    return Rows(WIDE, grid, values, tuple(tuple(int(w) for w in row) for row in weights))


BOX = composite(Plateau(F(1, 4)))
MECHANISMS = {
    "rows": uneven_rows(),
    "two-point": two_point(question("1", "2"), F(1)),
    "box": BOX,
    "sine": composite(Sine(F(1, 2))),
    "tent": composite(Tent(F(2, 5)), Quartic(F(3, 4))),
    "steps": composite(Steps((F(-1, 2), F(0), F(1, 5), F(1, 4)), (F(1), F(5), F(2)))),
    "blend": Blend(BOX, two_point(WIDE, F(1), BOX.grid), F(2, 3)),
    "cut": Truncated(WIDE, F(1), F(2, 3), 6, 300),
    "cut power": Truncated(WIDE, F(5, 2), F(1), 5, 200),
    "inflated": Truncated(WIDE, F(2), F(5), 4, 150, "inflated"),
}
POWERS = ["1/3", "1", "3/2", "3"]


def masses(mechanism: Any, i: int) -> np.ndarray:
    """Probabilities of all indices from the law that is drawn."""
    row = mechanism.row(i)
    with precision():
        levels = [0.0, *(float(row.cdf(k, BALLS)) for k in range(mechanism.last + 1))]
    return np.diff(levels)


def at_many_answers(mechanism: Any, cost: Any, count: int = 60) -> list[float]:
    """Mean of a cost of the size of the error, at answers in every cell of the grid and at its ends."""
    values = np.array([float(mechanism.value(k)) for k in range(mechanism.last + 1)])
    rows = [masses(mechanism, i) for i in range(mechanism.grid.last + 1)]
    found = []
    for i, (a, b) in enumerate(pairwise(mechanism.grid.points)):
        for share in np.linspace(0, 1, count):
            x = float(a) + share * float(b - a)
            found.append(float(((1 - share) * rows[i] + share * rows[i + 1]) @ cost(np.abs(values - x))))
    return found


@pytest.mark.parametrize("name", MECHANISMS)
def test_tables_are_the_laws_that_are_drawn(name):
    mechanism = MECHANISMS[name]
    table = mechanism.table()
    values = [mechanism.value(k) for k in range(mechanism.last + 1)]
    assert sorted(values) == list(table.outputs)
    for i in range(mechanism.grid.last + 1):
        ours = masses(mechanism, i)
        for k in range(0, len(values), 7):
            below = sum(m for m, v in zip(ours, values, strict=True) if v <= table.outputs[k])
            assert abs(table.row(i)[k + 1] - below) <= table.slack + 1e-12
        assert table.row(i)[0] == 0
        assert table.row(i)[-1] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_means_of_powers_are_enclosed_closely(name, power):
    mechanism = MECHANISMS[name]
    found = mechanism.expected(nw.PowerError(power))
    reached = max(at_many_answers(mechanism, lambda size: size ** float(F(power))))
    low, high = float(lower(found)), float(upper(found))
    assert low <= high <= low * (1 + 3e-4)
    assert reached <= high * (1 + 1e-12)
    assert low <= reached * (1 + 2e-3), "more answers would reach it"
    assert low <= mechanism.expected(nw.PowerError(power), FLOATS) <= high * (1 + 1e-12)


@pytest.mark.parametrize("limit", ["0", "1/7", "1/2", "1", "10"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_chances_are_the_least_over_all_answers(name, limit):
    mechanism = MECHANISMS[name]
    found = mechanism.expected(nw.Usefulness(limit))
    within = float(F(limit))
    reached = min(at_many_answers(mechanism, lambda size: (size <= within + 1e-12) * 1.0, 200))
    low, high = float(lower(found)), float(upper(found))
    assert high - low <= 1e-7
    assert low <= reached
    assert high >= reached - 0.03, "an output comes or goes between two of the answers that were tried"


@pytest.mark.parametrize("confidence", ["1/10", "1/2", "9/10", "0.999"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_half_width_is_where_the_least_chance_passes_the_confidence(name, confidence):
    mechanism = MECHANISMS[name]
    low, high = worst_half_width(mechanism, F(confidence))
    assert low <= high <= low * (1 + F(1, 4000))
    assert worst_chance(mechanism, high)[0] >= F(confidence)
    assert worst_chance(mechanism, low)[1] <= F(confidence)
    found = mechanism.expected(nw.ErrorQuantile(confidence))
    assert lower(found) <= high
    assert upper(found) >= low


def test_worst_cases_of_two_outputs_are_known_by_hand():
    """From -2 and 3 alone the mean absolute error is 2 (x + 2) (3 - x) / 5, largest at one half."""
    query = question("1", "2")
    rows = Rows(query, uniform_grid(F(0), F(1), 1), query.outputs, ((3, 2), (2, 3)))
    assert abs(float(rows.expected(nw.AbsoluteError())) - 2.5) < 1e-6
    assert float(rows.expected(nw.Usefulness("2.5"))) == pytest.approx(0.5, abs=1e-12)
    assert float(rows.expected(nw.Usefulness("2.4"))) == pytest.approx(0, abs=1e-12)
    assert float(rows.expected(nw.Usefulness("3"))) == pytest.approx(1, abs=1e-12)
    assert float(rows.expected(nw.ErrorQuantile("0.9"))) == pytest.approx(3, rel=2e-4)
    assert float(rows.expected(nw.ErrorQuantile("0.1"))) == pytest.approx(2.5, rel=2e-4)


def test_a_cell_without_the_few_that_are_tried_first_still_counts():
    """Among 200 cells only one row has far outputs; they count up to where it gets 41/80 of the rounding."""
    points = uniform_grid(F(0), F(1), 200)
    weights = tuple((90, 910, 0) if i != 101 else (890, 110, 0) for i in range(201))
    rows = Rows(WIDE, points, (F(-7), F(1, 2), F(8)), weights)
    low, high = worst_half_width(rows, F(1, 2))
    assert low <= F(7) + (101 + F(39, 80)) / 200 <= high


def test_a_steep_power_is_flat_near_the_answer():
    made = nw.mechanisms.Truncated(Bounded(4, (0, 4), (0, 4), None, True), 100, 8000, 1, 2, "inflated")
    near = made.expected(nw.Usefulness(1))
    assert 1.2e-4 < float(lower(near)) <= float(upper(near)) < 1.3e-4
    away = made.expected(nw.AbsoluteError())
    assert 1.9997 < float(lower(away)) <= float(upper(away)) < 1.9999


def test_an_activation_far_from_zero_is_measured_with_as_much_more_room():
    def moved(by: int) -> Any:
        steps = nw.laws.Steps((Fraction(by), by + Fraction(1, 3), Fraction(by) + 1), (3, 1))
        query = Bounded(1, (0, 1), (-20, 20), None, True)
        return nw.mechanisms.Composite(query, steps, FLAT, Fraction(1, 2), (0, 1), 5, 17).expected(nw.AbsoluteError())

    truth = moved(0)
    for by in (10**3, 10**6, 10**9):
        around = moved(by)
        assert lower(around) <= lower(truth)
        assert upper(truth) <= upper(around)
