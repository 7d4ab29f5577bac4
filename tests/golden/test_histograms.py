"""Histograms and other whole numbers: the known optimum, and every set under every requirement, read back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw

# Two-sided geometric noise is optimal for counts (Ghosh, Roughgarden and Sundararajan): 2 e^-1 / (1 - e^-2).
PER_BIN = 2 * math.exp(-1) / -math.expm1(-2)


@pytest.mark.parametrize(
    "query", [nw.Histogram(15), nw.Vector(nw.Disjoint([1] * 15), integer=True)], ids=["histogram", "disjoint"]
)
def test_fifteen_bins_at_epsilon_one_reach_the_optimum_of_whole_numbers(query: Any):
    report = nw.design(query, privacy=nw.PureDP(1), utility=nw.AbsoluteError())
    assert f"{PER_BIN:.4f}" == "0.8509"
    assert report.parts[0] == pytest.approx([PER_BIN] * 15, rel=1e-12)
    assert report.candidates[0].value == pytest.approx(15 * PER_BIN, rel=1e-12)
    assert report.candidates[0].gap is not None
    assert 0 <= report.candidates[0].gap < 1e-9
    assert report.best.certificate.bound == 1
    assert report.best.release([100] * 15).dtype.kind == "i"


def test_several_bins_a_person_cost_as_much_as_a_smaller_epsilon():
    def error(epsilon: Any, **more: Any) -> float:
        return (
            nw.design(nw.Histogram(15, **more), privacy=nw.PureDP(epsilon), utility=nw.AbsoluteError())
            .candidates[0]
            .value
        )

    assert error(1, bins_per_person=3) == pytest.approx(error("1/3"), rel=1e-12)
    assert error(1, replace=True) == pytest.approx(error("1/2"), rel=1e-12)
    # Someone in all 15 bins, and replaced, still changes no more than 15 of them.
    assert error(1, bins_per_person=15, replace=True) == pytest.approx(error("1/15"), rel=1e-12)


QUERIES = [
    nw.Vector(nw.Groups([nw.Box([1, 3])] * 3, at_most=2), integer=True),
    nw.Vector(nw.Groups([nw.Box([1, "7/2"])] * 2, at_most=1), integer=[True, False] * 2),
    nw.Vector(nw.Sparse(2, [1, 1, 2]), integer=True),
    nw.Vector(nw.Replace([1, 1, 1]), integer=True),
    nw.Vector(nw.L1Ball(2, 3), integer=True),
    nw.Vector(nw.L2Ball(2, 3), integer=True),
    nw.Vector(nw.Box([1, 2]), integer=True),
    nw.Vector(nw.Box([1, 0, 2]), integer=[True, True, False]),
    nw.Vector(nw.Points([[1, -2], [0, 3]]), integer=True),
    nw.Histogram(["a", "b", "c"], bins_per_person=2),
    nw.Histogram(4, replace=True),
]
REQUIREMENTS = [
    nw.PureDP(1),
    nw.ApproxDP(1, "1e-6"),
    nw.ProbabilisticDP(1, "1e-6"),
    nw.RenyiDP(3, 1),
    nw.ZeroConcentratedDP("1/2"),
]


@pytest.mark.parametrize("privacy", REQUIREMENTS, ids=lambda privacy: type(privacy).__name__)
@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_whole_numbers_are_designed_proven_and_read_back(query: Any, privacy: Any, tmp_path: Path):
    report = nw.design(query, privacy=privacy, utility=nw.SquaredError([1] * query.dimension))
    whole = getattr(query, "whole", (True,) * query.dimension)
    for place, candidate in enumerate(report.candidates):
        certified = candidate.certified
        assert certified.certificate.requirement == privacy
        path = tmp_path / f"{place}.json"
        certified.save(path)
        again = nw.Certified.load(path)
        assert again.mechanism == certified.mechanism
        assert again.certificate.bound == certified.certificate.bound
        released = again.release([3] * query.dimension)
        assert all(value == round(value) for value, is_whole in zip(released, whole, strict=True) if is_whole)
    report.save(tmp_path / "report.json")
    assert nw.Report.load(tmp_path / "report.json").candidates[0].value == report.candidates[0].value
