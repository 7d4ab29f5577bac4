"""The meta procedure: from a mechanism for ordinary privacy to its metric counterpart."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear.noise import LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.selection import MetricChoice, RandomExponential
from noisewright.numerics.distances import check_metric
from noisewright.problem.errors import InvalidMechanismError, InvalidPrivacyError
from noisewright.problem.linear import Linear
from noisewright.problem.privacy import MetricPrivacy
from noisewright.problem.utilities import SquaredError
from noisewright.sample.certified import Certified
from noisewright.search.designers.linear import best_elliptical, best_laplace, check
from noisewright.search.families.linear import (
    exponential_mechanism,
    laplace_mechanism,
    mwem_mechanism,
    smalldb_mechanism,
)
from noisewright.search.programmes.linear import PairTable


def metric_private(mechanism: Any, privacy: MetricPrivacy, query: Linear | None = None) -> Certified:
    """The mechanism of the same kind that gives every pair of elements its own budget, certified.

    `mechanism` is one of noisewright's, bare or certified, for ordinary or metric privacy; `query` is
    the linear question where the mechanism does not know it (a mechanism for one number). With the
    Hamming metric the result is the ordinary mechanism. A choice by scores of one's own keeps what moves them.
    """
    kind = mechanism.mechanism if isinstance(mechanism, Certified) else mechanism
    asked = query if query is not None else getattr(kind, "query", None)
    if not isinstance(privacy, MetricPrivacy):
        raise InvalidPrivacyError(f"privacy is {privacy!r}; give MetricPrivacy(metric).", privacy=privacy)
    if isinstance(kind, RandomExponential | MetricChoice):
        return exponential_mechanism(kind.query, privacy, moves=getattr(kind, "moves", None))
    if not isinstance(asked, Linear):
        raise InvalidMechanismError("this mechanism does not know the universe; give the linear question as `query`.")
    check(asked, privacy, SquaredError())
    check_metric(privacy.metric)
    return _counterpart(kind, privacy, asked)


@singledispatch
def _counterpart(mechanism: Any, privacy: MetricPrivacy, query: Linear) -> Certified:
    raise InvalidMechanismError(
        f"there is no metric counterpart of {type(mechanism).__name__}: the meta procedure takes Laplace noise,"
        " elliptical noise, the exponential mechanism, SmallDB and MWEM."
    )


@_counterpart.register
def _additive(mechanism: Additive, privacy: MetricPrivacy, query: Linear) -> Certified:
    if not isinstance(mechanism.law, Laplace | DiscreteLaplace):
        raise InvalidMechanismError(
            f"{type(mechanism.law).__name__} noise has no metric counterpart: its likelihood ratio jumps with the first"
            " small shift instead of growing with it, so close elements would get no more protection than far ones."
            " Use Laplace noise.",
            law=type(mechanism.law).__name__,
        )
    return _best(privacy, query)


@_counterpart.register
def _linear_laplace(mechanism: LinearLaplace, privacy: MetricPrivacy, query: Linear) -> Certified:
    if query.dimension == mechanism.query.dimension:
        return laplace_mechanism(query, privacy, [1 / float(c) for c in mechanism.scales])
    return _best(privacy, query)


@_counterpart.register
def _elliptical(mechanism: LinearElliptical, privacy: MetricPrivacy, query: Linear) -> Certified:
    found = best_elliptical(query, privacy, PairTable(query, privacy.metric), np.ones(query.dimension))
    if found is None:
        raise InvalidMechanismError("elliptical noise needs differences between elements that span all queries.")
    return found[0]


@_counterpart.register
def _exponential(mechanism: MetricExponential, privacy: MetricPrivacy, query: Linear) -> Certified:
    return exponential_mechanism(query, privacy)


@_counterpart.register
def _small_db(mechanism: MetricSmallDB, privacy: MetricPrivacy, query: Linear) -> Certified:
    return smalldb_mechanism(query, privacy, mechanism.rows)


@_counterpart.register
def _mwem(mechanism: MetricMWEM, privacy: MetricPrivacy, query: Linear) -> Certified:
    return mwem_mechanism(query, privacy, mechanism.rounds)


def _best(privacy: MetricPrivacy, query: Linear) -> Certified:
    weights = np.ones(query.dimension)
    return best_laplace(query, privacy, PairTable(query, privacy.metric), weights, SquaredError())[0]
