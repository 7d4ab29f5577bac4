"""What reports print: no word or number that a reader would stumble over (every cell of the table: test_table)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import noisewright as nw
from noisewright.search.design import design
from noisewright.search.report.render import factor, gap_text, percent, times
from tests.wording import assert_reads_well, stumbles


@pytest.mark.parametrize(
    "text",
    [
        "the gap to the best possible mechanism is at most 1557 %",
        "its error is 1e+02 % below",
        "best possible  not known",
        "value nan",
        "it misses 2.8e+04 times less often",
        "its error is 1 times smaller",
        "from 1 equal releases on",
        "norm-shaped blocks wins: its",
    ],
)
def test_what_used_to_be_printed_is_noticed(text: str):
    assert stumbles(text)


SETS = [
    nw.Box([1, 20, 12]),
    nw.Box([1] * 4),
    nw.Disjoint([1] * 15),
    nw.Disjoint([2, 0, 5]),
    nw.Disjoint([1, 0, 0]),
    nw.Replace([1, 2, 3]),
    nw.Sparse(2, [1, 1, 1]),
    nw.L1Ball(2, 10),
    nw.L2Ball(1, 4),
    nw.Points([[1, 3], [2, -1]]),
]
PROMISES = [nw.PureDP(1), nw.ApproxDP(1, 1e-6)]
GOALS = [nw.SquaredError([1, 1, 1]), nw.AbsoluteError(), nw.LargestError(), nw.ErrorQuantile("0.95"), nw.Usefulness(1)]


@pytest.mark.parametrize("privacy", PROMISES, ids=["pure", "approximate"])
@pytest.mark.parametrize("chosen", SETS, ids=lambda s: s.kind)
def test_reports_on_several_numbers_read_well(chosen: Any, privacy: Any):
    for goal in GOALS:
        if goal.weights is not None:
            goal = nw.SquaredError([1] * nw.Vector(chosen).dimension)
        assert_reads_well(design(nw.Vector(chosen), privacy=privacy, utility=goal))


ODD: dict[str, tuple[Any, Any, Any]] = {
    "tiny epsilon": (nw.Scalar(1), nw.PureDP("0.001"), nw.Usefulness("0.01")),
    "large epsilon": (nw.Scalar(1), nw.PureDP(20), nw.Usefulness(1)),
    "large epsilon, squares": (nw.Scalar("1/3"), nw.PureDP(20), nw.SquaredError()),
    "a bound of zero": (nw.Scalar(1000, integer=True), nw.PureDP(20), nw.ErrorQuantile("0.95")),
    "chance of exactness": (nw.Scalar(1, integer=True), nw.PureDP(20), nw.Usefulness(0)),
    "little noise is best": (nw.Scalar(1), nw.ApproxDP("0.1", "0.01"), nw.SquaredError()),
    "concentrated": (nw.Scalar(1), nw.ZeroConcentratedDP("0.001"), nw.PowerError(3)),
    "entropy": (nw.Scalar(1), nw.PureDP(1), nw.ErrorEntropy()),
}


@pytest.mark.parametrize("asked", ODD)
def test_reports_on_odd_questions_read_well(asked: str):
    query, privacy, utility = ODD[asked]
    assert_reads_well(design(query, privacy=privacy, utility=utility))


@pytest.mark.parametrize("count", [2, 50])
def test_plans_read_well(count: int):
    assert_reads_well(design(nw.Scalar(1), privacy=nw.ApproxDP(1, 1e-6), utility=nw.SquaredError(), compose=count))


gaps = st.floats(0, 1e18, allow_nan=False)
REPORT = design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError())
USEFUL = design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.Usefulness("1/2"))


@given(gaps, gaps)
@example(0.9999999999999999, 0.0)
@example(0.995, 1.0)
@example(9.995, 1e-9)
def test_whatever_the_gap_is_the_words_hold(gap: float, other: float):
    first, second = (replace(REPORT.candidates[0], gap=g, value=1 + g) for g in (gap, other))
    assert_reads_well(replace(REPORT, candidates=(first, second)))
    least = min(gap, 1.0)
    assert_reads_well(replace(USEFUL, candidates=(replace(USEFUL.candidates[0], gap=least), *USEFUL.candidates[1:])))


@given(st.floats(1e-9, 1e11))
def test_what_is_said_to_be_at_most_is_at_least_the_value(value: float):
    said = float(percent(value).removesuffix(" %").replace(",", "")) / 100
    assert value * (1 - 1e-11) <= said <= max(1.11 * value, 1.0001e-6)
    assert value * (1 - 1e-11) <= float(factor(value).replace(",", "")) <= 1.11 * value
    assert float(times(value).replace(",", "")) == pytest.approx(value, rel=1e-3)


def test_a_table_says_large_gaps_as_factors():
    assert gap_text(0.5) == "at most 50 %"
    assert gap_text(15.57) == "at most a factor of 17"
    assert gap_text(3_824_802.07) == "at most a factor of 3,900,000"
    assert gap_text(float("inf")) == "no useful bound"
    assert gap_text(None) == "no bound"
