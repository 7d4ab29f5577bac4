"""Several bounded columns at once, and means in the local model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.bumps import FLAT, Plateau
from noisewright.mechanisms.bounded.conditional import Conditional
from noisewright.problem.errors import InvalidAnswerError, InvalidQueryError
from noisewright.problem.privacy import LARGEST_EPSILON, PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.sample.certified import Certified
from noisewright.search.designers.bounded import design_bounded
from noisewright.search.families.shapes import central, composite, goal_of, tuned_core, tuned_half, two_point
from noisewright.search.programmes.bounded import check_feasible, smallest_epsilon

_PARTS = 10
_CELLS = 8
_MOST_COLUMNS = 40


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One certified mechanism for each column; the epsilons add up to the budget."""

    epsilons: tuple[Fraction, ...]
    mechanisms: tuple[Certified, ...]
    values: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum of the columns' utilities."""
        return sum(self.values)

    def release(self, answers: Sequence[Any]) -> list[float]:
        """One private answer for each column."""
        if len(answers) != len(self.mechanisms):
            raise InvalidAnswerError(f"{len(answers)} answers for {len(self.mechanisms)} columns; give one for each.")
        return [m.release(a) for m, a in zip(self.mechanisms, answers, strict=True)]


def plan_columns(
    queries: Sequence[Scalar], *, privacy: PureDP, utility: Any, inputs: int = 20, outputs: int = 100
) -> ColumnPlan:
    """The best split of a budget over bounded columns that one person may change all at once.

    The budget is dealt out in tenths per column of what is left after every column can be answered at all,
    each to the column that gains most (values of closed forms decide: they are convex in epsilon, so
    dealing greedily is optimal among such splits); then each column gets its best mechanism.
    """
    known = [q.bounded for q in queries if q.bounded is not None]
    if not 1 <= len(known) <= _MOST_COLUMNS or len(known) < len(queries):
        raise InvalidQueryError(f"give 1 to {_MOST_COLUMNS} questions with bounds.")
    floors = [_least(q) for q in known]
    if sum(floors) > privacy.epsilon:
        for q in known:
            check_feasible(q, privacy.epsilon / len(known))
    step = (privacy.epsilon - sum(floors)) / (_PARTS * len(known))
    epsilons = [f + step for f in floors]
    now, then = (
        [_closed_value(q, e + more, utility) for q, e in zip(known, epsilons, strict=True)] for more in (0, step)
    )
    for _ in range((_PARTS - 1) * len(known)):
        i = max(range(len(known)), key=lambda c: now[c] - then[c])
        epsilons[i] += step
        now[i] = then[i]
        then[i] = _closed_value(known[i], epsilons[i] + step, utility)
    reports = [
        design_bounded(q, privacy=PureDP(e), utility=utility, inputs=inputs, outputs=outputs)
        for q, e in zip(known, epsilons, strict=True)
    ]
    return ColumnPlan(tuple(epsilons), tuple(r.best for r in reports), tuple(r.candidates[0].value for r in reports))


def _closed_value(query: Bounded, epsilon: Fraction, utility: Any) -> float:
    """The best value among the closed forms that are cheap to tune, on a coarse grid of inputs."""
    goal = goal_of(utility)
    found: list[Conditional] = [two_point(query, epsilon)]
    if half := tuned_half(query, epsilon, "A1", FLAT, goal):
        found.append(replace(composite(query, epsilon, Plateau(half)), cells=_CELLS))
    if query.sensitivity < query.width and (core := tuned_core(query, epsilon, goal)):
        found.append(replace(central(query, epsilon, core), cells=_CELLS))
    return min(float(m.expected(utility).mid()) for m in found)


def _least(query: Bounded) -> Fraction:
    """The smallest epsilon at which the column can be answered; refused with what would do where there is none."""
    least = Fraction(0) if query.bias is None else smallest_epsilon(query)
    if least is None:
        check_feasible(query, LARGEST_EPSILON)
        return LARGEST_EPSILON
    return least


@dataclass(frozen=True, slots=True)
class LocalMean:
    """A mean of individually perturbed values, and how far it may be off."""

    mean: float
    standard_error: float
    count: int

    def interval(self, sigmas: float = 1.96) -> tuple[float, float]:
        """The mean plus and minus so many standard errors."""
        return self.mean - sigmas * self.standard_error, self.mean + sigmas * self.standard_error


def local_mean(certified: Certified, released: Sequence[float] | NDArray[np.float64]) -> LocalMean:
    """The mean of what n people released, each through an unbiased mechanism, with its standard error.

    The mean needs no correction: each release is right on average, so the errors cancel. The standard
    error is that of the true mean of the population, from the spread of the releases themselves.
    """
    bias = getattr(certified.mechanism.query, "bias", None)
    if bias is None or bias:
        raise InvalidQueryError("this mechanism does not promise to be unbiased, so its mean would be off by its bias.")
    values = np.asarray(released, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.all(np.isfinite(values)):
        raise InvalidAnswerError("give the released values of at least two people, as a flat list of numbers.")
    spread = float(values.std(ddof=1))
    return LocalMean(float(values.mean()), spread / math.sqrt(len(values)), len(values))
