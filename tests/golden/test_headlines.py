"""The numbers the project is known by, at epsilon = 1 and sensitivity 1, rounding included."""

from __future__ import annotations

import pytest

from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, SquaredError, Usefulness
from noisewright.search.design import design

# Geng and Viswanath's optima; Laplace by its closed forms. To the digits that are given.
REAL = [
    (SquaredError(), "1.9181", "2.0000"),
    (AbsoluteError(), "0.95952", "1.00000"),
    (Usefulness("0.5"), "0.46212", "0.39347"),
    (ErrorQuantile("0.95"), "2.99326", "2.99573"),
]
# For counts of sensitivity 1 two-sided geometric noise is optimal (Ghosh, Roughgarden and Sundararajan).
COUNTS = [(AbsoluteError(), "0.851"), (SquaredError(), "1.841")]


def shown(value: float | None, like: str) -> str:
    return f"{value:.{len(like.partition('.')[2])}f}"


@pytest.mark.parametrize(("utility", "best", "laplace"), REAL, ids=lambda value: str(value))
def test_one_number_at_epsilon_one(utility, best, laplace):
    report = design(Scalar(1), privacy=PureDP(1), utility=utility)
    values = {candidate.name: candidate.value for candidate in report.candidates}
    assert shown(report.bound, best) == best
    assert shown(report.candidates[0].value, best) == best
    assert shown(values["Laplace"], laplace) == laplace


@pytest.mark.parametrize(("utility", "best"), COUNTS, ids=lambda value: str(value))
def test_one_count_at_epsilon_one(utility, best):
    report = design(Scalar(1, integer=True), privacy=PureDP(1), utility=utility)
    assert shown(report.candidates[0].value, best) == best
    assert shown(report.bound, best) == best
    assert report.candidates[0].name == "discrete Laplace"


# An independent linear programme over masses of -60 … 60 (tests/programme.py) gave these at epsilon = 1.
OTHER_SENSITIVITIES = [
    (2, AbsoluteError(), 1.863464232),
    (3, AbsoluteError(), 2.860832490),
    (3, SquaredError(), 17.238791362),
    (5, SquaredError(), 48.033679710),
]


@pytest.mark.parametrize(("sensitivity", "utility", "value"), OTHER_SENSITIVITIES, ids=lambda value: str(value))
def test_counts_of_other_sensitivities(sensitivity, utility, value):
    report = design(Scalar(sensitivity, integer=True), privacy=PureDP(1), utility=utility)
    assert report.candidates[0].value == pytest.approx(value, rel=1e-8)
    gap = report.candidates[0].gap
    assert gap is not None
    assert gap < 1e-6
