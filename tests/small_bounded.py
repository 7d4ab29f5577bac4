"""Small questions with bounds, drawn by chance, and what their candidates cost by the probabilities of their own laws.

Nothing that designs or measures is used to measure here: a law is asked for its probabilities alone (clamped noise is
written out from its heights), and costs are plain sums over its outputs. Whole answers are all looked at; of the
others a few, both ends of the range among them, which a worst case cannot be below.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noisewright as nw
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.numerics.fields import FLOATS
from noisewright.search.report.report import Report

Law = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Released values and their chances."""

EPSILONS = ("1/5", "1/2", "7/10", "1", "3/2", "2", "3")
CLOSED = ("two-point", "piecewise", "A1B1", "A2B1", "A3B1", "A1B2", "A2B2", "A3B2", "hybrid", "truncated Laplace")
_PLACES = 6
_EXACT = 1e-9
_SHORT = 400
_ASKED = 20
_DENSE = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A small design: a question, a requirement, a utility, and which closed forms are proposed beside the others."""

    query: nw.Scalar
    privacy: nw.PureDP
    utility: Any
    forms: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.query!r}, {self.privacy!r}, {self.utility!r}, {self.forms}"


def small_designs(seed: int, count: int, *, integer: bool | None = None) -> Iterator[Asked]:
    """So many designs, whole and real answers in turn, every utility in turn."""
    chance = random.Random(seed)
    for i in range(count):
        whole = i % 2 == 0 if integer is None else integer
        privacy = nw.PureDP(chance.choice(EPSILONS))
        query = _query(chance, privacy.epsilon, whole)
        utility = _utility(chance, i // 2 % 10, query, whole)
        yield Asked(query, privacy, utility, tuple(chance.sample(CLOSED, 2)))


def _query(chance: random.Random, epsilon: Fraction, whole: bool) -> nw.Scalar:
    reach = chance.randint(1, 2) if whole else chance.choice([Fraction(1, 3), Fraction(1), Fraction(5, 2)])
    low = chance.randint(-5, 5)
    width = reach * chance.choice([1, 1, 2, 3, 5])
    least = float(reach) / math.expm1(float(epsilon))
    kind = chance.choice(["unbiased", "unbiased", "biased", "any"])
    rooms: list[Any] = [math.floor(least) + 1 + chance.randint(0, 6) if whole else least * 1.1 for _ in range(2)]
    if not whole:
        rooms = [Fraction(room).limit_denominator(100) + reach * chance.randint(1, 4) for room in rooms]
    promises: dict[str, dict[str, Any]] = {"unbiased": {"unbiased": True}, "biased": {"bias": Fraction(reach) / 10}}
    outputs = (low - rooms[0], low + width + rooms[1])
    return nw.Scalar(reach, integer=whole, inputs=(low, low + width), outputs=outputs, **promises.get(kind, {}))


def _utility(chance: random.Random, turn: int, query: nw.Scalar, whole: bool) -> Any:
    bounded = query.bounded
    assert bounded is not None
    (low, high), unit = bounded.inputs, bounded.sensitivity
    within = Fraction(chance.randint(0, 3)) if whole else unit * Fraction(chance.randint(1, 8), 4)
    prior = [(low, 1), (high, 2), ((low + high) // 2 if whole else (low + high) / 2, 3)]
    return (
        nw.AbsoluteError(),
        nw.Usefulness(within),
        nw.SquaredError(),
        nw.PowerError(chance.choice(["1/2", "3/2", 3])),
        nw.ErrorQuantile(chance.choice(["1/2", "4/5", "19/20"])),
        nw.AbsoluteError(),
        nw.WorstVariance(),
        nw.AverageVariance(),
        nw.AverageVariance(prior),
        nw.PowerError(chance.choice(["3/4", "5/2", 4])),
    )[turn]


def answers_of(query: nw.Scalar) -> list[Fraction]:
    """Every whole answer, or a few of all."""
    bounded = query.bounded
    assert bounded is not None
    low, high = bounded.inputs
    if bounded.integer:
        return [low + i for i in range(int(high - low) + 1)]
    # Odd places, so that they are no ends of cells of any grid.
    return [low, high, *(low + (high - low) * Fraction(37 * i + 5, 37 * _PLACES + 11) for i in range(_PLACES))]


class Rows:
    """The rows of a mechanism by the probabilities of its laws, each asked for once.

    Of long rows all but a few probabilities are read from the mechanism's table, which must agree with those few.
    """

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._known: dict[int, NDArray[np.float64]] = {}
        self._parts = [Rows(part) for part in getattr(mechanism, "parts", ())]
        self._long = not self._parts and mechanism.last >= _SHORT
        self._table = mechanism.table() if self._long else None
        self.values: NDArray[np.float64] = (
            np.concatenate([part.values for part in self._parts])
            if self._parts
            else np.array([float(mechanism.value(k)) for k in range(mechanism.last + 1)])
        )

    def at(self, answer: Fraction) -> Law:
        """What is released for an answer: the rows beside it, mixed so that the mean is linear between them."""
        points = self._mechanism.grid.points
        i = max(k for k in range(len(points) - 1) if points[k] <= answer)
        share = float((answer - points[i]) / (points[i + 1] - points[i]))
        return self.values, (1 - share) * self.row(i) + share * self.row(i + 1)

    def row(self, i: int) -> NDArray[np.float64]:
        """The chances of the outputs at a grid input."""
        if i not in self._known:
            self._known[i] = self._blended(i) if self._parts else np.diff(self._levels(i), prepend=0.0)
        return self._known[i]

    def _blended(self, i: int) -> NDArray[np.float64]:
        share = float(self._mechanism.share)
        return np.concatenate([w * part.row(i) for w, part in zip((share, 1 - share), self._parts, strict=True)])

    def _levels(self, i: int) -> NDArray[np.float64]:
        row, count = self._mechanism.row(i), len(self.values)
        asked = np.arange(0, count, count // _ASKED if self._long else 1)
        found = np.array([float(row.cdf(int(k), FLOATS)) for k in asked])
        if self._table is None:
            return found
        levels = self._table.row(i)[1:]
        assert np.abs(levels[asked] - found).max() < _EXACT
        return np.asarray(levels)


class ClampedRows:
    """Noise in levels around lattice points, what lies beyond an end moved to it; two neighbours have the mean."""

    def __init__(self, mechanism: Clamped) -> None:
        self._step = mechanism.step
        bottom, top = mechanism.query.outputs
        self._first, self._last = math.ceil(bottom / self._step), math.floor(top / self._step)
        self._places = np.arange(self._first, self._last + 1, dtype=np.float64)
        heights = np.array([float(h) for h in mechanism.heights])
        far = mechanism.top + (len(heights) - 2) * mechanism.period
        # Beyond the farthest level all is the last height, for every row as far.
        sizes = np.arange(far + self._last - self._first + 1)
        level = np.clip(-((mechanism.top - sizes) // mechanism.period), 0, len(heights) - 1)
        side = heights[level]
        self._far, self._noise = far, np.concatenate([side[:0:-1], side])

    def at(self, answer: Fraction) -> Law:
        """What is released for an answer."""
        wanted = float(answer / self._step)
        low, high = self._first, self._last
        near = min(max(math.floor(wanted), low), high - 1)
        for width in (1, 8, 64, 512):
            if self._mean(max(near - width, low)) <= wanted < self._mean(min(near + width, high)):
                low, high = max(near - width, low), min(near + width, high)
                break
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._mean(middle) <= wanted else (low, middle)
        means = [self._mean(k) for k in (low, low + 1)]
        share = (wanted - means[0]) / (means[1] - means[0])
        return self._places * float(self._step), (1 - share) * self._row(low) + share * self._row(low + 1)

    def _mean(self, k: int) -> float:
        return float(self._row(k) @ self._places)

    def _row(self, k: int) -> NDArray[np.float64]:
        zero = len(self._noise) // 2
        start = zero + self._first - self._far - k
        weights = self._noise[start : start + 2 * self._far + len(self._places)]
        row = np.array(weights[self._far : self._far + len(self._places)])
        row[0] += weights[: self._far].sum()
        row[-1] += weights[self._far + len(self._places) :].sum()
        return np.asarray(row / row.sum())


def cost_at(law: Law, answer: Fraction, utility: Any) -> float:
    """What one answer pays, or how often it is useful."""
    values, chances = law
    sizes = np.abs(values - float(answer))
    if utility.edges:
        return float(chances[sizes <= float(utility.edges[0]) + _EXACT].sum())
    if utility.confidence is not None:
        order = np.argsort(sizes)
        enough = np.cumsum(chances[order]) >= float(utility.confidence) - _EXACT
        return float(sizes[order][int(np.argmax(enough))])
    return float(chances @ sizes ** float(utility.power or 2))


def closer_answers(mechanism: Any, query: nw.Scalar, utility: Any) -> list[Fraction]:
    """Many answers of a real range, and those beside which an output comes within a limit."""
    assert query.bounded is not None
    low, high = query.bounded.inputs
    found = {low + (high - low) * Fraction(i, _DENSE) for i in range(_DENSE + 1)}
    if not isinstance(mechanism, Clamped) and mechanism.last < _SHORT:
        found |= {x for x in getattr(mechanism.grid, "points", ()) if low <= x <= high}
        beside = (high - low) / 10**6
        for limit in utility.edges:
            places = (
                mechanism.value(k) + side * (limit + beside) for k in range(mechanism.last + 1) for side in (1, -1)
            )
            found |= {x for x in places if low <= x <= high}
    return sorted(found)


def exact_value(mechanism: Any, query: nw.Scalar, utility: Any, *, closer: bool = False) -> float:
    """The worst over the answers, or their average."""
    laws = ClampedRows(mechanism) if isinstance(mechanism, Clamped) else Rows(mechanism)
    if utility.averaged and utility.prior is not None:
        return sum(float(w) * cost_at(laws.at(x), x, utility) for x, w in utility.prior)
    answers = closer_answers(mechanism, query, utility) if closer else answers_of(query)
    costs = [cost_at(laws.at(x), x, utility) for x in answers]
    if utility.averaged:
        return sum(costs) / len(costs)
    return min(costs) if utility.larger_is_better else max(costs)


def _width(query: nw.Scalar) -> float:
    assert query.bounded is not None
    return float(query.bounded.width)


def faults(asked: Asked, report: Report) -> list[str]:
    """What a report says of its candidates that their laws do not keep."""
    larger, whole = asked.utility.larger_is_better, asked.query.integer
    sign = -1 if larger else 1
    # Of real answers an average is known from a few alone.
    sampled = asked.utility.averaged and asked.utility.prior is None and not whole
    found = []
    exact = [exact_value(c.certified.mechanism, asked.query, asked.utility) for c in report.candidates]
    for candidate, value in zip(report.candidates, exact, strict=True):
        if not sampled and sign * candidate.value < sign * value - 1e-6 * abs(value):
            found.append(f"{candidate.name} is told at {candidate.value}, its law has {value}")
    for candidate in report.kept:
        if report.bound is not None and sign * candidate.value < sign * report.bound:
            found.append(f"{candidate.name} is told at {candidate.value}, beyond the bound {report.bound}")
    kept = len(report.kept)
    for candidate, value in zip(report.candidates[1:kept], exact[1:kept], strict=True):
        room = (1e-5 if whole else 2e-3) * abs(value)
        if sign * (exact[0] - value) <= room:
            continue
        if not whole:
            value = exact_value(candidate.certified.mechanism, asked.query, asked.utility, closer=True)
            room = max(room, _width(asked.query) / _DENSE if asked.utility.confidence else 0)
        if sign * (exact[0] - value) > room:
            found.append(f"{report.candidates[0].name} wins with {exact[0]}, but {candidate.name} below has {value}")
    return found
