"""Metric privacy where only one block, one query or one pair costs too much, wherever it stands."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming, Matrix
from noisewright.problem.privacy import MetricPrivacy
from noisewright.proof.certify import certify

F = Fraction
ONE = F(1)
PLACES = [0, 1, 3, 7]
METRIC = Matrix([[abs(a - b) for b in PLACES] for a in PLACES])


def elliptical(rates: list[str], shares: list[str]) -> LinearElliptical:
    """One block for each of three queries; each tells the two elements apart by one step."""
    query = Linear([[0, 1]] * 3)
    blocks = tuple(
        Block((k,), ((0, 1),), F(rate), ((ONE,),), F(share))
        for k, (rate, share) in enumerate(zip(rates, shares, strict=True))
    )
    return LinearElliptical(query, blocks)


@pytest.mark.parametrize("place", range(3))
def test_a_block_may_use_its_own_share_of_the_budget_and_no_more(place):
    shares = ["1/6", "1/3", "1/2"]
    claim = MetricPrivacy(Hamming(2, 6))
    assert certify(elliptical(["1", "2", "3"], shares), claim).bound == 1
    rates = ["1", "2", "3"]
    rates[place] = str(F(rates[place]) + F(1, 10**9))
    with pytest.raises(UncertifiedError, match="elements 0 and 1"):
        certify(elliptical(rates, shares), claim)


@pytest.mark.parametrize("kind", [MetricExponential, MetricSmallDB, MetricMWEM])
@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("place", range(3))
def test_one_step_too_many_in_any_query_is_refused(kind, row, place):
    """Rows of zeros but for one entry; the nearest other element is 1, 1 or 2 away."""
    columns = [[0, 0, 0, 0] for _ in range(3)]
    allowed = [1, 1, 2][place]
    for size, fits in ((allowed, True), (allowed + 1, False)):
        columns[row][place] = size
        extra = () if kind is MetricExponential else (2,)
        mechanism = kind(Linear([[1, 2, 3, 4]] * 3), tuple(map(tuple, columns)), ONE, ONE, *extra)
        if fits:
            assert certify(mechanism, MetricPrivacy(METRIC)).bound == 1
        else:
            with pytest.raises(UncertifiedError, match="costs more"):
                certify(mechanism, MetricPrivacy(METRIC))


@pytest.mark.parametrize("row", range(3))
def test_laplace_noise_pays_for_all_queries_together(row):
    """Costs of 1/2, 1/3 and 1/6 add up to the distance; a hair more in any query is too much."""
    rates = [F(1, 2), F(1, 3), F(1, 6)]
    query = Linear([[0, 1]] * 3)

    def noise(values: list[Fraction]) -> LinearLaplace:
        return LinearLaplace(query, ((0, 1),) * 3, (ONE,) * 3, tuple(1 / v for v in values))

    assert certify(noise(rates), MetricPrivacy(Hamming(2, 1))).bound == 1
    rates[row] += F(1, 10**20)
    with pytest.raises(UncertifiedError, match="elements 0 and 1"):
        certify(noise(rates), MetricPrivacy(Hamming(2, 1)))


def test_a_pair_in_the_middle_of_the_universe_is_checked_too():
    places = [0, 10, 20, 21, 40]
    metric = Matrix([[abs(a - b) for b in places] for a in places])
    for pair in ((0, 1), (2, 3), (3, 4)):
        columns = [0 if k <= pair[0] else places[pair[1]] - places[pair[0]] + 1 for k in range(5)]
        mechanism = LinearLaplace(Linear([[1] * 5]), (tuple(columns),), (ONE,), (ONE,))
        with pytest.raises(UncertifiedError, match="costs more"):
            certify(mechanism, MetricPrivacy(metric))


def test_small_databases_that_nobody_can_list_are_refused():
    wide = Linear([list(range(40))])
    mechanism = MetricSmallDB(wide, (tuple(range(40)),), ONE, F(39), 10)
    with pytest.raises(UncertifiedError, match="cannot be drawn"):
        certify(mechanism, MetricPrivacy(Hamming(40, 1)))
