"""Curves of the R2DP paper: utilities of Laplace, staircase and two-fold noise over epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from noisewright.lab.sheets import Panel
from noisewright.laws.two_fold import GammaFold, TwoFold
from noisewright.numerics.fields import FLOATS
from noisewright.problem.divergences import HistogramMetric
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, PowerError, SquaredError, Usefulness
from noisewright.proof.mixtures import renyi_ball
from noisewright.search.design import design
from noisewright.search.families.scalar_pure import tuned_staircase
from noisewright.search.families.two_fold import calibrated, two_fold_optimum

LAPLACE, FIRST, SECOND, TUNED, TWO_FOLD, TUNED_FOLD = (
    "Laplace",
    "staircase for l1",
    "staircase for l2",
    "staircase for this metric",
    "two-fold optimum",
    "two-fold for this metric",
)


def _fraction(value: float) -> Fraction:
    return Fraction(str(round(float(value), 6)))


def _staircase_within(split: float, epsilon: float, within: float) -> float:
    """P(|X| <= within) of the staircase with this split, sensitivity 1."""
    b = math.exp(-epsilon)
    height = (1 - b) / (2 * (split + b * (1 - split)))
    whole, rest = math.floor(within), within - math.floor(within)
    full = (split + b * (1 - split)) * (1 - b**whole) / (1 - b)
    part = min(rest, split) + b * max(0.0, rest - split)
    return 2 * height * (full + b**whole * part)


def _splits(epsilon: float) -> tuple[float, float]:
    from noisewright.search.families.scalar_pure import best_split

    return best_split(AbsoluteError(), _fraction(epsilon)), best_split(SquaredError(), _fraction(epsilon))


def usefulness_panel(sensitivity: float, within: float, epsilons: np.ndarray) -> Panel:
    """Figure 3: usefulness over epsilon."""
    r = within / sensitivity
    curves: dict[str, list[float]] = {name: [] for name in (LAPLACE, FIRST, SECOND, TUNED, TWO_FOLD)}
    for epsilon in epsilons:
        first, second = _splits(epsilon)
        curves[LAPLACE].append(1 - math.exp(-epsilon * r))
        curves[FIRST].append(_staircase_within(first, epsilon, r))
        curves[SECOND].append(_staircase_within(second, epsilon, r))
        curves[TUNED].append(_staircase_within(r % 1 or 1.0, epsilon, r))
        curves[TWO_FOLD].append(1 - two_fold_optimum(Usefulness(_fraction(r)), _fraction(epsilon)).cost)
    return Panel(f"sensitivity {sensitivity:g}, within {within:g}", list(epsilons), curves)


def usefulness_over_within(epsilon: float, widths: np.ndarray) -> Panel:
    """Figure 11: usefulness over the error that still counts, sensitivity 1."""
    first, second = _splits(epsilon)
    curves = {
        LAPLACE: [1 - math.exp(-epsilon * r) for r in widths],
        FIRST: [_staircase_within(first, epsilon, r) for r in widths],
        SECOND: [_staircase_within(second, epsilon, r) for r in widths],
        TUNED: [_staircase_within(r % 1 or 1.0, epsilon, r) for r in widths],
        TWO_FOLD: [1 - two_fold_optimum(Usefulness(_fraction(r)), _fraction(epsilon)).cost for r in widths],
    }
    return Panel(f"epsilon {epsilon:g}", list(widths), curves)


def error_panel(power: int, sensitivity: float, epsilons: np.ndarray) -> Panel:
    """Figures 4 and 8: the l1 or l2 error over epsilon."""
    utility = PowerError(power)
    curves: dict[str, list[float]] = {name: [] for name in (LAPLACE, TUNED, TWO_FOLD)}
    for epsilon in epsilons:
        exact = _fraction(epsilon)
        stairs = tuned_staircase(Scalar(1), exact, utility).expected(utility, FLOATS)
        values = (math.gamma(power + 1) / epsilon**power, stairs, two_fold_optimum(utility, exact).cost)
        for name, value in zip(curves, values, strict=True):
            curves[name].append(sensitivity * float(value) ** (1 / power))
    return Panel(f"l{power}, sensitivity {sensitivity:g}", list(epsilons), curves)


def divergence_panel(metric: HistogramMetric, sensitivity: float, epsilons: np.ndarray) -> Panel:
    """Figures 5 and 6: a divergence between a histogram and its release, over epsilon.

    Staircase and two-fold noise are tuned for this very metric by `design`, which also certifies them.
    """
    query = Scalar(_fraction(sensitivity))
    curves: dict[str, list[float]] = {name: [] for name in (LAPLACE, FIRST, SECOND, TUNED, TUNED_FOLD)}
    for epsilon in epsilons:
        exact = _fraction(epsilon)
        tuned = {c.name: c.value for c in design(query, privacy=PureDP(exact), utility=metric).candidates}
        others = (tuned_staircase(query, exact, utility) for utility in (AbsoluteError(), SquaredError()))
        first, second = (float(mechanism.expected(metric, FLOATS)) for mechanism in others)
        values = (tuned["Laplace"], first, second, tuned["staircase"], tuned["two-point fold"])
        for name, value in zip(curves, values, strict=True):
            curves[name].append(value)
    order = getattr(metric, "order", None)
    name = str(metric.CARD.kind) if order is None else f"{metric.CARD.kind} of order {show(order)}"
    return Panel(f"{name}, sensitivity {sensitivity:g}", list(epsilons), curves)


def renyi_panel(epsilon: float, orders: np.ndarray) -> Panel:
    """Figure 7: Renyi divergences at the same pure epsilon, and of Gaussian noise of Laplace's variance."""
    curves: dict[str, list[float]] = {
        LAPLACE: [laplace_renyi(epsilon, a) for a in orders],
        "randomised response": [response_renyi(epsilon, a) for a in orders],
    }
    law = TwoFold(calibrated(GammaFold(Fraction(2), Fraction(1)), _fraction(epsilon)))
    curves["two-fold, gamma fold of shape 2"] = [
        float(renyi_ball(law, Fraction(1), _fraction(a)).mid()) for a in orders
    ]
    curves["Gaussian of Laplace's variance"] = [a * epsilon**2 / 4 for a in orders]
    return Panel(f"epsilon {epsilon:g}", list(orders), curves)


def laplace_renyi(epsilon: float, alpha: float) -> float:
    """Closed form for Laplace noise of scale 1 / epsilon, sensitivity 1."""
    rise, fall = math.exp((alpha - 1) * epsilon), math.exp(-alpha * epsilon)
    return math.log((alpha * rise + (alpha - 1) * fall) / (2 * alpha - 1)) / (alpha - 1)


def response_renyi(epsilon: float, alpha: float) -> float:
    """Closed form for randomised response at epsilon."""
    p = 1 / (1 + math.exp(-epsilon))
    return math.log(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)) / (alpha - 1)
