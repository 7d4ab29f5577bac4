"""The closed forms of clamped noise against its laws written out point by point, in exact rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from noisewright.mechanisms.bounded import clamped_errors
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.numerics.balls import lower, precision, upper
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, InvalidUtilityError
from noisewright.problem.queries import Bounded
from noisewright.problem.utilities import (
    AbsoluteError,
    AverageVariance,
    ErrorQuantile,
    PowerError,
    SquaredError,
    Usefulness,
    WorstVariance,
)
from noisewright.search.families.shapes import clamped_noise
from tests.clamped import LOPSIDED, SMALL, WHOLE, mean_of, written_law, written_rows

BOTH = pytest.mark.parametrize("mechanism", [SMALL, WHOLE], ids=["real", "whole"])


def answers(mechanism: Clamped, count: int = 40) -> list[Fraction]:
    """Answers all over the range, both ends included."""
    low, high = mechanism.query.inputs
    spread = [low + (high - low) * Fraction(i, count) for i in range(count + 1)]
    return sorted({mechanism.near(x) for x in spread})


@BOTH
def test_rows_have_the_written_law_mean_and_squares(mechanism: Clamped):
    for k, law in written_rows(mechanism).items():
        assert mechanism.mean(k) == mean_of(law)
        assert mechanism.second(k) == sum((y - k) ** 2 * chance for y, chance in law.items())
        below = Fraction(0)
        for y in sorted(law):
            below += law[y]
            assert mechanism.row_cdf(k, y) == below
        assert mechanism.row_cdf(k, min(law) - 1) == 0


@BOTH
def test_the_mean_is_the_answer_exactly_and_the_variance_is_that_of_the_law(mechanism: Clamped):
    rows = written_rows(mechanism)
    for x in answers(mechanism):
        law, made = written_law(mechanism, rows, x), mechanism.law_given(x)
        assert mean_of(law) * mechanism.step == x
        assert all(made.cdf(y) == sum(c for z, c in law.items() if z <= y) for y in law)
        assert mechanism.variance_at(x) == sum(c * (y * mechanism.step - x) ** 2 for y, c in law.items())


@BOTH
@pytest.mark.parametrize(
    "utility",
    [SquaredError(), WorstVariance(), AbsoluteError(), PowerError("0.5"), PowerError(3), Usefulness(2)],
    ids=str,
)
def test_worst_cases_enclose_those_of_the_written_laws(mechanism: Clamped, utility: SquaredError):
    rows, costs = written_rows(mechanism), []
    for x in answers(mechanism):
        errors = [(abs(y * mechanism.step - x), c) for y, c in written_law(mechanism, rows, x).items()]
        if utility.edges:
            costs.append(float(sum(c for size, c in errors if size <= 2)))
        else:
            costs.append(sum(float(c) * float(size) ** float(utility.power) for size, c in errors))
    with precision():
        value = mechanism.expected(utility)
        low, high = float(lower(value)), float(upper(value))
    worst = min(costs) if utility.larger_is_better else max(costs)
    assert low * (1 - 1e-9) <= worst <= high * (1 + 1e-9)
    if utility.power == 2:
        assert high <= worst * 1.1


FINE = clamped_noise(Bounded(1, (0, 30), (-3, 33), 0), Fraction(1), SquaredError())


@pytest.mark.parametrize("mechanism", [SMALL, WHOLE, FINE], ids=["real", "whole", "fine"])
def test_pieces_enclose_the_variance_of_each_answer_in_them(mechanism: Clamped):
    low, whole = mechanism.in_steps(0), mechanism.query.integer
    for piece in clamped_errors._pieces(mechanism):
        # Of whole answers a piece says how many are in it.
        inside = range(int(piece.width)) if whole else [piece.width * Fraction(i, 10) for i in (1, 5, 9)]
        for place in inside:
            x = (low + place) * mechanism.step
            assert piece.least <= mechanism.variance_at(x) / mechanism.step**2 <= piece.most
        low += piece.width
    assert low == mechanism.in_steps(1) + whole


def test_quantiles_hold_for_every_answer():
    rows = written_rows(SMALL)
    with precision():
        width = upper(SMALL.expected(ErrorQuantile("0.9")))
    for x in answers(SMALL):
        law = written_law(SMALL, rows, x)
        assert sum(c for y, c in law.items() if abs(y * SMALL.step - x) <= width) >= Fraction(9, 10)


def test_average_variances_are_enclosed_and_a_prior_is_added_up():
    xs = answers(SMALL, 400)
    average = float(sum(SMALL.variance_at(x) for x in xs[1:-1]) / (len(xs) - 2))
    with precision():
        value = SMALL.expected(AverageVariance())
        assert float(lower(value)) <= average * 1.01
        assert float(upper(value)) >= average * 0.99
        prior = SMALL.expected(AverageVariance([(0, 1), (5, 3)]))
    expected = (SMALL.variance_at(Fraction(0)) + 3 * SMALL.variance_at(Fraction(5))) / 4
    assert float(prior.mid()) == pytest.approx(float(expected))
    with pytest.raises(InvalidUtilityError, match="outside the inputs"):
        SMALL.expected(AverageVariance([(100, 1)]))


def test_a_profile_has_no_bias_and_the_variance_of_each_answer():
    profile = SMALL.profile
    assert profile.inputs[0] == LOPSIDED.inputs[0]
    assert profile.inputs[-1] == LOPSIDED.inputs[1]
    assert not any(map(any, profile.bias))
    assert profile.error[7] == (SMALL.variance_at(profile.inputs[7]),) * 2
    assert profile.at(Fraction(2), 1) == SMALL.variance_at(Fraction(2))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"heights": (900, 331, 332, 8)}, "must fall outward"),
        ({"heights": (8, 8, 8)}, "must fall outward"),
        ({"heights": (900, 0)}, "at least 1"),
        ({"heights": (900,)}, "at least 2"),
        ({"step": 0}, "positive"),
        ({"step": Fraction(1, 10**30)}, "2\\^60 points"),
        ({"step": 50}, "too little room"),
        ({"top": -1}, "at least 0"),
        ({"period": 0}, "at least 1"),
        ({"period": 300}, "too little room"),
        ({"heights": (1 << 600, 1)}, "at most"),
    ],
)
def test_what_is_no_clamped_noise_is_refused_at_birth(changed: dict[str, object], words: str):
    with pytest.raises(InvalidMechanismError, match=words):
        replace(SMALL, **changed)  # type: ignore[arg-type]


def test_whole_numbers_are_released_on_the_whole_numbers():
    with pytest.raises(InvalidMechanismError, match="step 1"):
        replace(WHOLE, step=Fraction(1, 2))


@pytest.mark.parametrize("answer", [-0.4, 7, float("nan"), float("inf"), "three", None, 1e300])
def test_answers_outside_the_inputs_are_refused_and_not_repeated(answer: object):
    with pytest.raises(InvalidAnswerError) as refused:
        SMALL.law_given(answer)
    assert "1e+300" not in str(refused.value)
    assert "7" not in str(refused.value).replace("6.2", "")


def test_whole_answers_are_whole():
    with pytest.raises(InvalidAnswerError, match="not a whole number"):
        WHOLE.law_given(1.5)
