"""Histograms: the best noise for one count, at the share that the bins of one person leave it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.alike import Alike
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.histogram import Histogram
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, Expected, Huber
from noisewright.problem.utility import Utility
from noisewright.proof.alike import approximate_alike
from noisewright.search.designers.scalar_approximate import SCALAR_APPROXIMATE, SCALAR_CONCENTRATED
from noisewright.search.designers.scalar_pure import SCALAR_PURE
from noisewright.search.designers.vector import SEVERAL, at_share
from noisewright.search.families.calibration import smallest_scale
from noisewright.search.families.vector_approximate import largest_length
from noisewright.search.report.designer import Designer, Proposal
from noisewright.search.report.shown import Advance

_TOLERANCE = 1e-4
_COMPOSED: dict[str, Any] = {"discrete Gaussian": DiscreteGaussian, "discrete Laplace": DiscreteLaplace}
COUNT = Scalar(1, integer=True)


def propose(one: Designer, query: Histogram, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """What is proposed for one count, for every bin alike."""
    for p in one.propose(COUNT, at_share(privacy, query.together), _for_one_bin(utility), step):
        composed = isinstance(privacy, ApproxDP) and query.together > 1 and p.name in _COMPOSED
        yield Proposal(
            p.name, _composed(query, privacy, p.name) if composed else Alike(query, p.mechanism), p.simplicity
        )


def _composed(query: Histogram, privacy: ApproxDP, name: str) -> Alike:
    """Discrete noise as small as its composed losses allow.

    Guarantees: the scale is one at which the verifier's rule held.
    """

    def made(scale: Fraction) -> Alike:
        return Alike(query, Additive(COUNT, _COMPOSED[name](scale), Lattice.integers()))

    guess = math.sqrt(query.together) / float(largest_length(privacy.epsilon, privacy.delta))
    return made(smallest_scale(lambda s: approximate_alike(made(s), privacy)[0] <= privacy.delta, guess, _TOLERANCE))


def bound(one: Designer, query: Histogram, privacy: Any, utility: Utility) -> Fraction | None:
    """Each bin by itself must be private, so it has at least the error of the best count; the largest as well."""
    single = one.bound(COUNT, privacy, utility.alone(0))
    if single is None or utility.joint:
        return single
    return single * (
        sum(utility.shares(query.bins), Fraction(0)) if utility.weights else query.bins * utility.shares(query.bins)[0]
    )


def check(query: Histogram, privacy: Any, utility: Utility) -> None:
    """Refuse limits that differ from bin to bin."""
    if len(set(utility.edges)) > 1:
        raise InvalidUtilityError(
            "the bins of a histogram share one limit; give within as a single number, or ask for"
            " Vector(Disjoint([1, 1, …]), integer=True)."
        )


def _for_one_bin(utility: Utility) -> Utility:
    """What is looked for in one bin; the largest of many errors is kept small by noise that is small on average."""
    return AbsoluteError() if utility.joint else utility.alone(0)


def _for(one: Designer, utilities: Any = SEVERAL) -> Designer:
    over = one.over or "noise of whole numbers"
    return Designer(utilities, partial(propose, one), partial(bound, one), check, over=over, steps=one.steps)


HISTOGRAM_PURE = _for(SCALAR_PURE, (*SEVERAL, Huber, Expected))
HISTOGRAM_APPROXIMATE = _for(SCALAR_APPROXIMATE)
HISTOGRAM_CONCENTRATED = _for(SCALAR_CONCENTRATED)
