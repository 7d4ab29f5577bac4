"""What Hypothesis draws: one strategy for each registered law and utility, and problems made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from noisewright.laws.base import LAWS as FAMILY
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian, GeneralizedGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace, TruncatedLaplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.problem.divergences import ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import (
    UTILITIES as FAMILY_OF_UTILITIES,
    AbsoluteError,
    AverageVariance,
    ErrorQuantile,
    Expected,
    Growth,
    LargestError,
    PowerError,
    SquaredError,
    Usefulness,
    WorstVariance,
)
from tests.brute import privacy_loss
from tests.examples import EXAMPLES


def decimals(low: float, high: float, digits: int = 4) -> SearchStrategy[Fraction]:
    """Short decimals between two positive numbers, spread evenly over their logarithms."""
    logs = st.floats(math.log(low), math.log(high))
    return logs.map(lambda x: min(max(Fraction(f"{math.exp(x):.{digits}g}"), Fraction(str(low))), Fraction(str(high))))


epsilons = decimals(0.05, 10)
real_sensitivities = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7, 2), Fraction(1, 1000), Fraction(250)])
integer_sensitivities = st.sampled_from([1, 2, 3, 5, 8])
rational_shifts = st.fractions(min_value=-6, max_value=6, max_denominator=8)


@st.composite
def piecewise_laws(
    draw: Callable[..., Any], *, unit: Fraction | None = None, edge: Fraction = Fraction(0)
) -> Piecewise:
    """Any piecewise law of few cells: uneven tails, valleys and all, its jumps on (k - edge) units around zero."""
    width = unit or draw(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5, 2)]))
    period, extra = draw(st.integers(1, 5)), draw(st.integers(0, 6))
    total = period + extra
    inner = draw(st.sets(st.integers(1, max(1, total - 1)), max_size=5))
    cuts = sorted({0, total, period, extra} | inner)
    start = -draw(st.integers(0, total - 1))
    levels = draw(st.lists(st.integers(-6, 6), min_size=len(cuts) - 1, max_size=len(cuts) - 1))
    return Piecewise(
        rate=draw(decimals(0.1, 3, 2)),
        period=period * width,
        breaks=tuple((start + cut - edge) * width for cut in cuts),
        levels=tuple(Fraction(level, 4) for level in levels),
        left_cells=cuts.index(period),
        right_cells=len(cuts) - 1 - cuts.index(extra),
    )


LAWS: dict[str, SearchStrategy[Any]] = {
    "laplace": decimals(0.05, 20).map(Laplace),
    "discrete-laplace": decimals(0.05, 20).map(DiscreteLaplace),
    "piecewise": piecewise_laws(),
}
"""One strategy for each step law of `laws.registry.LAWS`; a new one is tested by getting a line here."""

SMOOTH_LAWS: dict[str, SearchStrategy[Any]] = {
    "gaussian": decimals(0.05, 20).map(Gaussian),
    "generalized-gaussian": st.builds(GeneralizedGaussian, decimals(0.3, 6), decimals(0.05, 20)),
    **{
        kind: decimals(0.05, 20).map(law)
        for kind, law in FAMILY.kinds.items()
        if [*law.CARD.given] == ["scale"] and kind not in LAWS
    },
    "truncated-laplace": st.builds(TruncatedLaplace, decimals(0.05, 20), decimals(0.5, 40)),
    "discrete-gaussian": decimals(0.1, 20).map(DiscreteGaussian),
    "tabulated": st.builds(
        Tabulated,
        decimals(0.05, 2),
        st.lists(st.integers(1, 10**6), min_size=1, max_size=9).map(tuple),
        st.just(Fraction(0)),
    ),
}
"""One strategy for each symmetric law that is used through its survival function; a scale alone needs no line here."""

TESTED_BY_HAND = {"two-fold", "gaussian-mixture"}
"""Laws whose parameters are laws themselves: unit/laws/test_twofold.py goes through their folds one by one."""


@dataclass(frozen=True)
class Claim:
    """A mechanism, and the smallest epsilon that is true of it (found by brute force)."""

    mechanism: Additive
    epsilon: Fraction


def _claim(query: Scalar, law: NoiseLaw, lattice: Lattice) -> Claim:
    return Claim(Additive(query, law, lattice), privacy_loss(law, query.sensitivity))


@st.composite
def _laplace_claims(draw: Callable[..., Any]) -> Claim:
    sensitivity = draw(real_sensitivities)
    lattice = Lattice.cells(sensitivity / draw(st.integers(1, 12)))
    return _claim(Scalar(sensitivity, exact=draw(st.booleans())), Laplace(sensitivity / draw(epsilons)), lattice)


@st.composite
def _discrete_laplace_claims(draw: Callable[..., Any]) -> Claim:
    sensitivity = draw(integer_sensitivities)
    law = DiscreteLaplace(sensitivity / draw(epsilons))
    return _claim(Scalar(sensitivity, integer=True), law, Lattice.integers())


@st.composite
def _piecewise_claims(draw: Callable[..., Any]) -> Claim:
    if draw(st.booleans()):
        law = draw(piecewise_laws(unit=Fraction(1), edge=HALF))
        query, lattice = Scalar(draw(st.integers(1, 8)), integer=True), Lattice.integers()
    else:
        unit = draw(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5, 2)]))
        law = draw(piecewise_laws(unit=unit))
        query = Scalar(draw(st.integers(1, 8)) * unit, exact=draw(st.booleans()))
        lattice = Lattice.cells(unit / draw(st.integers(1, 3)))
    return _claim(query, law, lattice)


CLAIMS: dict[str, SearchStrategy[Claim]] = {
    "laplace": _laplace_claims(),
    "discrete-laplace": _discrete_laplace_claims(),
    "piecewise": _piecewise_claims().filter(lambda claim: claim.epsilon <= 30),
}
"""Mechanisms with noise of each registered law, whatever its parameters."""


@dataclass(frozen=True)
class BentLoss:
    """A loss that does not decrease away from zero: any steps on either side, then a straight line."""

    right: tuple[int, ...]
    left: tuple[int, ...]
    slopes: tuple[int, int]

    def __call__(self, x: float) -> float:
        steps, slope = (self.right, self.slopes[0]) if x >= 0 else (self.left, self.slopes[1])
        size = abs(x)
        return float(sum(steps[: math.floor(size)])) + slope * max(0.0, size - len(steps))


@st.composite
def losses(draw: Callable[..., Any], *, symmetric: bool = False) -> Expected:
    """Users' losses with their growth declared."""
    steps = st.lists(st.integers(0, 9), min_size=0, max_size=5).map(tuple)
    right, slope = draw(steps), draw(st.integers(1, 6))
    left, other = (right, slope) if symmetric else (draw(steps), draw(st.integers(1, 6)))
    return Expected(BentLoss(right, left, (slope, other)), growth=Growth(1, 60))


UTILITIES: dict[type, SearchStrategy[Any]] = {
    PowerError: st.sampled_from(["1", "2", "1/2", "1.5", "3", "0.1", "7.5"]).map(PowerError),
    Usefulness: decimals(0.01, 5).map(Usefulness),
    ErrorQuantile: st.sampled_from(["0.5", "0.9", "0.95", "0.99", "0.01"]).map(ErrorQuantile),
    Expected: losses(),
}
"""One strategy for each way of saying what counts as good; below, whatever has none is tested by its example."""

SYMMETRIC: list[type] = [kind for kind in UTILITIES if kind is not Expected]


@st.composite
def scalars(draw: Callable[..., Any]) -> Scalar:
    """Real and integer questions."""
    if draw(st.booleans()):
        return Scalar(draw(integer_sensitivities), integer=True)
    return Scalar(draw(real_sensitivities), exact=draw(st.booleans()))


def fitted(utility: Any, query: Scalar) -> Any:
    """A usefulness drawn in sensitivities, in the unit of the question."""
    return Usefulness(utility.within * query.sensitivity) if isinstance(utility, Usefulness) else utility


UTILITIES_TESTED_BY_HAND: set[type] = {
    *(AbsoluteError, SquaredError, LargestError, WorstVariance, AverageVariance),
    *(ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi),
}
"""Special powers, utilities of several numbers and of answers in bounds, and those of histograms and sequences, which
tests/unit/mechanisms covers with their own inputs."""

UTILITIES |= {
    kind: st.just(kind(**EXAMPLES[kind]))
    for kind in FAMILY_OF_UTILITIES.kinds.values()
    if kind not in UTILITIES and kind not in UTILITIES_TESTED_BY_HAND
}
