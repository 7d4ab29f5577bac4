"""Certified mechanisms of known cost, made by hand, and a budget of each kind."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import noisewright as nw
from noisewright.sample.certified import Certified, make_certified

COUNT = nw.Scalar(1, integer=True)
PEOPLE = nw.metrics.Hamming(4, 1)
QUESTION = nw.Linear([[0, 1, 2, 3]])


@cache
def laplace(epsilon: str) -> Certified:
    """A count with discrete Laplace noise: exactly this epsilon."""
    law = nw.laws.DiscreteLaplace(1 / Fraction(epsilon))
    return make_certified(_additive(COUNT, law), nw.PureDP(epsilon))


@cache
def gaussian(std: str, requirement: Any = None) -> Certified:
    """A real number of sensitivity 1 with rounded Gaussian noise."""
    wanted = requirement or nw.ZeroConcentratedDP(1000)
    return make_certified(
        nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(std), nw.laws.Lattice.cells("0.01")), wanted
    )


@cache
def discrete_gaussian(std: str, requirement: Any = None) -> Certified:
    """A count with discrete Gaussian noise."""
    return make_certified(_additive(COUNT, nw.laws.DiscreteGaussian(std)), requirement or nw.ZeroConcentratedDP(1000))


@cache
def truncated(epsilon: str, delta: str) -> Certified:
    """A real number with truncated Laplace noise: private at (epsilon, delta), and at no epsilon without a delta."""
    report = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(epsilon, delta), utility=nw.SquaredError())
    return next(candidate.certified for candidate in report.candidates if candidate.name == "truncated Laplace")


@cache
def on_a_metric(share: str) -> Certified:
    """One linear answer about four elements, certified for a share of the metric."""
    budget = nw.MetricPrivacy(PEOPLE).share(share)
    report = nw.design(QUESTION, privacy=budget, utility=nw.SquaredError())
    return report.best


def _additive(query: Any, law: Any) -> Any:
    return nw.mechanisms.Additive(query, law, nw.laws.Lattice.integers())
