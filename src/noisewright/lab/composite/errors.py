"""Errors at the real answers, each of a mechanism that is certified for the question as it is asked.

The paper's six functions are private where one person can move the answer over its whole range: scaled to the
range of answers they are certified for every smaller sensitivity too. Scaled to the sensitivity alone (Remark 3.2)
they are refused wherever the range is wider, so they are not drawn that way. Additive noise scales with the
sensitivity; what the package designs takes both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.composite.data import Asked
from noisewright.laws.bumps import FLAT, Part, Quartic
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.bounded.composite import ACTIVATIONS
from noisewright.mechanisms.bounded.conditional import profile_of
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import SquaredError
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.design import design
from noisewright.search.families.shapes import composite, truncated, tuned_half, two_point
from noisewright.search.programmes.bounded import ratio_below

COMPOSITES = ("A1B1", "A2B1", "A3B1", "A1B2", "A2B2", "A3B2")
ADDITIVE = ("Laplace", "discrete Laplace", "Gaussian", "discrete Gaussian")
DESIGNED = "designed"
DELTA = 1e-5
_WIDE = 10**6
_UNEVEN = Fraction(9, 10)
_CELLS, _POINTS = 64, 1024


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of one mechanism at one epsilon and one answer."""

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


Table = dict[tuple[str, str, Fraction], Errors]
"""Errors by mechanism, question (its key) and epsilon; what is not certified has no entry."""


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
    """One of the six functions for answers in [0, 1], tuned for the middle of the range, certified.

    At the optimum B2 becomes B1; here it keeps a tenth of its bend, so that it can be told apart.
    """
    query = bounded_question()
    base: Part = FLAT if name.endswith("B1") else quartic_for(epsilon, _UNEVEN)
    half = tuned_half(query, epsilon, name[:2], base, "centre")
    assert half is not None
    fine = composite(query, epsilon, ACTIVATIONS[name[:2]](half), base)
    return make_certified(replace(fine, cells=_CELLS, points=_POINTS), PureDP(epsilon))


@lru_cache(maxsize=64)
def on_range(name: str, epsilon: Fraction) -> Certified:
    """A certified mechanism for answers in [0, 1] that one person can move all the way."""
    if name == "two-point":
        return make_certified(two_point(bounded_question(), epsilon), PureDP(epsilon))
    if name == "truncated Laplace":
        reach = composite_of("A1B1", epsilon).mechanism.value(0)
        return make_certified(truncated(bounded_question(-reach), epsilon, Fraction(1)), PureDP(epsilon))
    return composite_of(name, epsilon)


def exact_square(name: str, epsilon: Fraction, place: Fraction) -> float:
    """The mean squared error of a function on [0, 1] at a place, from above, in units of the squared range."""
    return float(profile_of(on_range(name, epsilon).mechanism).at(place, 1))


@lru_cache(maxsize=256)
def designed(ratio: int, epsilon: Fraction) -> Certified | str:
    """The best bounded and unbiased answer to a question so many sensitivities wide, or why there is none.

    In units of the sensitivity; outputs reach half a range beyond on each side, or as far as A1B1 where one person
    can move the answer over its whole range.
    """
    reach = -composite_of("A1B1", epsilon).mechanism.value(0) if ratio == 1 else Fraction(ratio, 2)
    query = Scalar(1, inputs=(0, ratio), outputs=(-reach, ratio + reach), bias=0)
    try:
        return design(query, privacy=PureDP(epsilon), utility=SquaredError()).best
    except NoisewrightError as refusal:
        return str(refusal)


def draws(name: str, epsilon: Fraction, question: Asked, count: int) -> Errors | None:
    """`count` errors in the unit of the answer; None where no such mechanism is certified."""
    unit = unit_draws(name, epsilon, question, count)
    return None if unit is None else Errors(name, epsilon, unit)


def unit_draws(name: str, epsilon: Fraction, question: Asked, count: int) -> NDArray[np.float64] | None:
    """Errors of one mechanism: those of the range, those of the sensitivity, or those of a design."""
    if name == DESIGNED:
        found = designed(question.ratio, epsilon)
        if isinstance(found, str):
            return None
        place = float(question.place * question.ratio)
        return _released(found, place, count) * float(question.width / question.ratio)
    if name in ADDITIVE:
        return float(question.sensitivity) * additive_draws(name, epsilon, count)
    return float(question.width) * _released(on_range(name, epsilon), float(question.place), count)


def _released(certified: Certified, answer: float, count: int) -> NDArray[np.float64]:
    return np.asarray(certified.release_many(np.full(count, answer)) - answer, dtype=np.float64)


@lru_cache(maxsize=64)
def additive_draws(name: str, epsilon: Fraction, count: int) -> NDArray[np.float64]:
    """Errors at sensitivity 1, the same for all questions: they only scale with the sensitivity.

    Laplace noise is drawn from what is certified, Gaussian noise is its exact quantiles.
    """
    if name == "Laplace":
        noise = Additive(Scalar(1), Laplace(1 / epsilon), Lattice.cells(Fraction(1, 1000)))
        return np.asarray(make_certified(noise, PureDP(epsilon)).draw(count), dtype=np.float64)
    if name == "discrete Laplace":
        whole = Additive(Scalar(1, integer=True), DiscreteLaplace(1 / epsilon), Lattice.integers())
        return np.asarray(make_certified(whole, PureDP(epsilon)).draw(count), dtype=np.float64)
    scale = gaussian_deviation(epsilon)
    quantiles = np.array([NormalDist(0, scale).inv_cdf((i + 0.5) / count) for i in range(count)])
    return np.rint(quantiles) if name == "discrete Gaussian" else quantiles


def gaussian_deviation(epsilon: Fraction) -> float:
    """The classical deviation for delta = 1e-5 at sensitivity 1, which the paper's baseline has."""
    return math.sqrt(2 * math.log(1.25 / DELTA)) / float(epsilon)
