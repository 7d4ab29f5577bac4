"""Errors at sensitivity one of the paper's six functions, its baselines and what is better.

Every error here scales with the sensitivity, so one table serves all queries and datasets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.bumps import FLAT, Part, Quartic
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.shapes import ACTIVATIONS, composite, truncated, tuned_half, two_point
from noisewright.search.programmes.feasible import ratio_below

COMPOSITES = ("A1B1", "A2B1", "A3B1", "A1B2", "A2B2", "A3B2")
BASELINES = ("Laplace", "discrete Laplace", "truncated Laplace", "Gaussian", "discrete Gaussian")
BETTER = ("two-point",)
DELTA = 1e-5
_WIDE = 10**6
_UNEVEN = Fraction(9, 10)
_CELLS, _POINTS = 64, 1024


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of one mechanism at one epsilon, the answer in the middle of its range."""

    mechanism: str
    epsilon: Fraction
    values: NDArray[np.float64]

    @property
    def absolute(self) -> float:
        """The paper's RE: the mean absolute error."""
        return float(np.abs(self.values).mean())

    @property
    def squared(self) -> float:
        """The mean squared error."""
        return float((self.values**2).mean())


def bounded_question(margin: Fraction = Fraction(_WIDE), bias: Fraction | None = Fraction(0)) -> Bounded:
    """Answers between 0 and 1 that one person can move all the way."""
    found = Scalar(1, inputs=(0, 1), outputs=(-margin, 1 + margin), bias=bias).bounded
    assert found is not None
    return found


def quartic_for(epsilon: Fraction, fraction: Fraction) -> Quartic:
    """Base B2 with t / y the given fraction of the way from e^-epsilon (where nothing is left) to 1 (base B1)."""
    least = 1 / ratio_below(epsilon)
    return Quartic(least + (1 - least) * fraction)


@lru_cache(maxsize=256)
def composite_of(name: str, epsilon: Fraction) -> Certified:
    """One of the six functions, tuned for the middle of the range, certified.

    At the optimum B2 becomes B1; here it keeps a tenth of its bend, so that it can be told apart.
    """
    query = bounded_question()
    base: Part = FLAT if name.endswith("B1") else quartic_for(epsilon, _UNEVEN)
    half = tuned_half(query, epsilon, name[:2], base, "centre")
    assert half is not None
    fine = composite(query, epsilon, ACTIVATIONS[name[:2]](half), base)
    return make_certified(replace(fine, cells=_CELLS, points=_POINTS), PureDP(epsilon))


def draws(name: str, epsilon: Fraction, count: int) -> Errors:
    """`count` errors: ours are drawn from the certified mechanism, Gaussian ones are its exact quantiles."""
    if name in COMPOSITES or name in ("two-point", "truncated Laplace"):
        if name == "two-point":
            certified = make_certified(two_point(bounded_question(), epsilon), PureDP(epsilon))
        elif name == "truncated Laplace":
            reach = composite_of("A1B1", epsilon).mechanism.value(0)
            certified = make_certified(truncated(bounded_question(-reach), epsilon, Fraction(1)), PureDP(epsilon))
        else:
            certified = composite_of(name, epsilon)
        return Errors(name, epsilon, certified.release_many(np.full(count, 0.5)) - 0.5)
    if name == "Laplace":
        noise = Additive(Scalar(1), Laplace(1 / epsilon), Lattice.cells(Fraction(1, 1000)))
        return Errors(name, epsilon, make_certified(noise, PureDP(epsilon)).draw(count))
    if name == "discrete Laplace":
        whole = Additive(Scalar(1, integer=True), DiscreteLaplace(1 / epsilon), Lattice.integers())
        return Errors(name, epsilon, make_certified(whole, PureDP(epsilon)).draw(count).astype(np.float64))
    scale = math.sqrt(2 * math.log(1.25 / DELTA)) / float(epsilon)
    quantiles = np.array([NormalDist(0, scale).inv_cdf((i + 0.5) / count) for i in range(count)])
    return Errors(name, epsilon, np.rint(quantiles) if name == "discrete Gaussian" else quantiles)
