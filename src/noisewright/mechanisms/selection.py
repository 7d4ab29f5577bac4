"""Choosing one of finitely many candidates: the exponential mechanism and permute-and-flip.

For metric privacy there are the exponential mechanism for scores of one's own, and that of the Minkowski utility
-||c - s||_p^p over candidates that are vectors.

The two for a sensitivity look at how far each score lies below the best one, in units of 2 sensitivity / epsilon.
Their error is that shortfall, in the worst case over all scores.

Write x for a candidate's shortfall times the rate epsilon / (2 sensitivity), a = e^-x, and k for the number of
candidates but one best. A loss l(x) that rises from l(0) = 0 costs most, for both mechanisms, when all k lie at a
common gap. So `missed(gap)`, the chance that k candidates at that gap take from the best one, says everything:
k a / (1 + k a) for the exponential mechanism, 1 - (1 - (1 - a)^n) / (n a) with n = k + 1 for permute-and-flip.

*Exponential mechanism.* The mean loss is at most v if and only if the sum of (l(x_j) - v) e^-x_j is at most v. Each
term is largest at the same x.

*Permute-and-flip.* The best candidate's place is u, uniform, and candidate j comes before it and is accepted where
nobody is before; with m = a l(x) the mean loss is the integral over u of (1 - u) sum_j m_j prod_{i != j} (1 - u a_i).
It is affine in each pair (m_j, a_j), rises with m_j and falls with a_j.
For l = 1 where x > y, else 0: a candidate that is accepted and missed can only replace another outcome by a miss, so
a_j is best as large as a miss can have it, just below e^-y.
For l = x^p with p >= 1: below x = p, m rises and a falls with x, so all x are at least p. Now fix all but two
candidates and the sum of their a; let x_1 < x_2. Moving a_1 and a_2 apart by ds each changes the mean loss by
D ((l_1 - l_1') - (l_2 - l_2')) + E ((a_1 - a_2)(l_1 + l_2) + a_2 l_1' - a_1 l_2') - G (a_1 - a_2), with G >= 0 and
0 <= E <= D / 2, as E / D is the mean of u under a weight that falls with u. Since x >= p, the first bracket is at most
-(l_2 - l_1) / p. As a_2 l_1' <= a_1 l_2', a_1 - a_2 <= a_1 (x_2 - x_1), l_2 - l_1 >= p x_1^(p-1) (x_2 - x_1) and
x e^-x <= 1/e, the second is at most 3 (l_2 - l_1) / (e p). So the change is negative: two that differ are worse
brought together, and the maximum, which exists by compactness, is where all are equal.

Both `missed` have a logarithm that is concave in the gap. For the exponential mechanism by differentiation; for
permute-and-flip it is the mean over u of 1 - (1 - u a)^k, whose logarithm is concave in log(u a), convolved with e^w on
w = log u < 0, and convolution keeps it (Prékopa).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, product
from typing import Any

from noisewright.laws.base import MOST_MIXED
from noisewright.mechanisms.answers import read_answer, stretch_of
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.numerics.balls import Ball, ball, hull, precision, working_bits
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.problem.errors import EnclosureError, InvalidAnswerError, InvalidLawError, InvalidMechanismError
from noisewright.problem.fields import (
    Matrix as RationalMatrix,
    Rational,
    Rationals,
    one_of,
    only,
    rational,
    rationals,
    tuple_of,
)
from noisewright.problem.metrics import METRICS
from noisewright.problem.numbers import Number, data_value, parameter, show
from noisewright.problem.privacy import DECLARED
from noisewright.problem.queries import Choice
from noisewright.problem.records import record

_STEPS = 2**24
_TINY = Fraction(1, 2**40)


class Choosing(Mechanism):
    """A choice among candidates; its error is the shortfall of the chosen score, its utilities are worst cases.

    They hold for all scores, as a limit where no scores attain them.
    """

    __slots__ = ()
    query: Any

    @property
    def unit(self) -> Fraction | None:
        """The gap that makes a candidate e times less likely; None where no single one does."""
        return None

    def missed(self, gap: Fraction) -> Ball:
        """The largest chance that the chosen score lies more than `gap` below the best one."""
        self._refuse("the chance to miss the best candidate")

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if power < 1 or self.unit is None:
            self._refuse(f"the largest mean of shortfall^{show(power)}")
        return [_valued(lambda: self._largest_mean(power), field)]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        return [_valued(lambda: 1 - self.missed(limits[0]), field)]

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        return _valued(lambda: self._quantile(confidence), field)

    def _quantile(self, confidence: Fraction) -> Ball:
        """The smallest gap beyond which the choice lies with at most the remaining probability."""
        size = len(self.query.candidates)
        if Fraction(size - 1, size) <= 1 - confidence:
            return ball(0)
        low, high, rest = Fraction(0), self.query.sensitivity, ball(1 - confidence)
        while not bool(self.missed(high) <= rest):
            low, high = (high if bool(self.missed(high) > rest) else low), 2 * high
        for _ in range(64):
            middle = (low + high) / 2
            chance = self.missed(middle)
            if bool(chance <= rest):
                high = middle
            elif bool(chance > rest):
                low = middle
            else:
                break
        return hull(ball(low), ball(high))

    def _largest_mean(self, power: Fraction) -> Ball:
        """The largest gap^power missed(gap), whose logarithm is concave in the gap.

        A point that is larger than both its neighbours has the maximum between them, and the secants of the
        logarithm bound it by the point's value times its ratio to the smaller neighbour.
        """
        if len(self.query.candidates) == 1:
            return ball(0)
        step = (self.unit or Fraction(1)) / _STEPS

        def mean(place: int) -> Ball:
            return ball(place * step) ** ball(power) * self.missed(place * step)

        top = _peak(mean)
        at, below, above = mean(top), mean(top - 2), mean(top + 2)
        if not (bool(below < at) and bool(above < at)):
            raise EnclosureError("the largest mean shortfall was not found; the working precision was too small")
        return hull(hull(at, at * at / below), at * at / above)


def _valued(find: Callable[[], Ball], field: Field) -> Value:
    """What is found in balls, as the field has it."""
    with precision():
        value = find()
    return value if field is BALLS else float(value.mid())


def _peak(mean: Callable[[int], Ball]) -> int:
    """The first place from which a function that rises and then falls does not rise any more."""
    low, high = 1, _STEPS
    while bool(mean(high + 1) > mean(high)):
        low, high = high, 2 * high
    return first_true(lambda place: not bool(mean(place + 1) > mean(place)), low, high)


@record("random-exponential", MECHANISMS, error=InvalidLawError)
class RandomExponential(Choosing):
    """Picks candidate r with probability proportional to e^(epsilon score / (2 sensitivity)), epsilon drawn first.

    epsilons[i] is used with probability weights[i]; one epsilon is the usual exponential mechanism.
    """

    query: Choice = only(Choice)
    epsilons: Rationals = rationals(above=0, least=1, most=MOST_MIXED)
    weights: Rationals = rationals(above=0, like="epsilons", total=1)

    def law_given(self, answer: Mapping[str, Number]) -> Selection:
        """The law of the chosen candidate, given the score of every candidate."""
        below = shortfalls(self.query, answer)

        def masses(field: Field) -> list[Value]:
            totals = [field.real(0) for _ in below]
            for epsilon, weight in zip(self.epsilons, self.weights, strict=True):
                rate = rate_of(self.query, epsilon)
                heights = [field.exp(field.real(-rate * gap)) for gap in below]
                share = field.real(weight) / sum(heights[1:], start=heights[0])
                totals = [t + share * h for t, h in zip(totals, heights, strict=True)]
            return totals

        return Selection(masses, len(below))

    @property
    def unit(self) -> Fraction | None:
        return 1 / rate_of(self.query, self.epsilons[0]) if len(self.epsilons) == 1 else None

    def missed(self, gap: Fraction) -> Ball:
        total, others = ball(0), len(self.query.candidates) - 1
        for epsilon, weight in zip(self.epsilons, self.weights, strict=True):
            height = others * (-ball(rate_of(self.query, epsilon) * gap)).exp()
            total += ball(weight) * height / (1 + height)
        return total


@record("permute-and-flip", MECHANISMS, error=InvalidMechanismError)
class PermuteAndFlip(Choosing):
    """Takes the candidates in random order; the first that its coin accepts is chosen (McKenna and Sheldon 2020).

    The coin of a candidate accepts with probability e^(-epsilon (best - score) / (2 sensitivity)), so a best one is
    accepted for sure. Adding exponential noise to every score and reporting the largest has the same law.
    """

    query: Choice = only(Choice)
    epsilon: Rational = rational(above=0)

    def refusals(self, answer: Mapping[str, Number]) -> list[Fraction]:
        """For each candidate x >= 0 such that its coin accepts with probability e^-x; they are private."""
        rate = rate_of(self.query, self.epsilon)
        return [rate * gap for gap in shortfalls(self.query, answer)]

    def law_given(self, answer: Mapping[str, Number]) -> Selection:
        """The law of the chosen candidate, given the score of every candidate."""
        refusals = self.refusals(answer)

        def masses(field: Field) -> list[Value]:
            coins = [field.exp(field.real(-x)) for x in refusals]
            found: dict[Fraction, Value] = {}
            for place, x in enumerate(refusals):
                if x not in found:
                    found[x] = coins[place] * reached([*coins[:place], *coins[place + 1 :]], field)
            return [found[x] for x in refusals]

        return Selection(masses, len(refusals))

    @property
    def unit(self) -> Fraction:
        return 1 / rate_of(self.query, self.epsilon)

    def missed(self, gap: Fraction) -> Ball:
        """The largest chance that the chosen score lies more than `gap` below the best one.

        It is 1 - (1 - (1 - a)^n) / (n a), where a is tiny between ka/2 - k(k-1)a^2/6 and ka/2, its first sums.
        """
        coin, size = (-ball(gap / self.unit)).exp(), len(self.query.candidates)
        most = (size - 1) * coin / 2
        if bool(most < ball(_TINY)):
            return hull(most - (size - 1) * (size - 2) * coin**2 / 6, most)
        return 1 - (1 - (1 - coin) ** size) / (size * coin)


class Selection:
    """Which candidate is chosen, as a law of its index 0, 1, …"""

    def __init__(self, masses: Callable[[Field], list[Value]], size: int) -> None:
        self.masses, self._size = masses, size

    def cdf(self, k: int, field: Field) -> Value:
        """P(index <= k)."""
        if not 0 <= k < self._size - 1:
            return field.real(int(k >= 0))
        return sum(self.masses(field)[: k + 1], field.real(0))

    def sf(self, k: int, field: Field) -> Value:
        """P(index > k)."""
        return 1 - self.cdf(k, field) if field is BALLS else max(0.0, 1 - self.cdf(k, field))


def rate_of(query: Choice, epsilon: Fraction) -> Fraction:
    """What one unit of score is worth: epsilon / (2 sensitivity), less by the room for the rounding of floats."""
    return epsilon / (2 * query.sensitivity * stretch_of(query.exact))


def shortfalls(query: Choice, answer: Mapping[str, Number]) -> list[Fraction]:
    """How far each candidate's score lies below the best one, in the order of the question; they are private."""
    if not isinstance(answer, Mapping) or set(answer) != set(query.candidates):
        raise InvalidAnswerError("give a score for every candidate, and for no other.")
    scores = [read_answer(answer[name], query.sensitivity, query.exact) for name in query.candidates]
    best = max(scores)
    return [best - score for score in scores]


def reached(coins: list[Value], field: Field) -> Value:
    """The chance that all who come before a candidate are refused, given what the coins of the others accept with.

    The candidate's place is uniform, and those before it are a uniform subset of the others. The mean over all
    subsets of size i of the product of (1 - coin) grows by one member at a time: a subset of size i of m + 1
    holds the new one with probability i / (m + 1). All terms are positive, so nothing cancels.
    """
    means = [field.real(1)]
    for size, coin in enumerate(coins, start=1):
        refused = 1 - coin
        grown = [
            (means[i] * (size - i) if i < size else 0) + (means[i - 1] * refused * i if i else 0)
            for i in range(size + 1)
        ]
        means = [value / size for value in grown]
    return sum(means[1:], start=means[0]) / (len(coins) + 1)


@record("metric-choice", MECHANISMS, error=InvalidMechanismError)
class MetricChoice(Choosing):
    """Picks candidate r with probability proportional to e^(score_r / (2 scale)), whatever the scores are made of.

    A person who changes from element i to element j moves every score by at most sensitivity times moves(i, j): that
    is declared, as a metric over the universe. Scores are exact numbers, since what close elements may move them by can
    be far less than the rounding of floats.
    """

    query: Choice = only(Choice)
    moves: Any = one_of(METRICS)
    scale: Rational = rational(above=0)

    def __post_init__(self) -> None:
        if not self.query.exact:
            raise InvalidMechanismError(
                "close elements may move scores by less than the rounding of floats; give exact scores (whole numbers,"
                " fractions, decimals as text) and say so: Choice(..., exact=True)."
            )

    def law_given(self, answer: Mapping[str, Number]) -> Selection:
        """The law of the chosen candidate, given the score of every candidate."""
        below = shortfalls(self.query, answer)

        def masses(field: Field) -> list[Value]:
            """The chance of each candidate."""
            heights = [field.exp(field.real(-gap / self.unit)) for gap in below]
            total = sum(heights[1:], start=heights[0])
            return [h / total for h in heights]

        return Selection(masses, len(below))

    @property
    def unit(self) -> Fraction:
        return 2 * self.scale

    def missed(self, gap: Fraction) -> Ball:
        height = (len(self.query.candidates) - 1) * (-ball(gap / self.unit)).exp()
        return height / (1 + height)


Point = tuple[Fraction, ...]

MOST_PAIRS = 2_000_000
_ROUNDED = 2**40
_ABSORBED = 2**24
_PRECISE = 2**50


@dataclass(frozen=True, slots=True)
class SelectedOutput:
    """The law of the index of the released candidate, given the true answer."""

    mechanism: MinkowskiExponential
    answer: Point

    def cdf(self, k: int, field: Field) -> Value:
        """P(index <= k)."""
        return 1 - self.sf(k, field)

    def sf(self, k: int, field: Field) -> Value:
        """P(index > k)."""
        if not 0 <= k < len(self.mechanism.candidates) - 1:
            return field.real(int(k < 0))
        tails = _tails(self.mechanism, self.answer, working_bits() if field is BALLS else None)
        return tails[k + 1] / tails[0]


@record("minkowski-exponential", MECHANISMS, error=InvalidMechanismError)
class MinkowskiExponential(Mechanism):
    """Releases candidate c with weight e^(-rate ||c - s||_p^p) when the true answer is s.

    `answers` are all true answers there can be; two of them are neighbours if their l_1 distance is at most
    `reach`. Scalars are points of one coordinate. The usual rate is epsilon / (2 * utility sensitivity).
    """

    answers: RationalMatrix = tuple_of(rationals(least=1), least=1)
    candidates: RationalMatrix = tuple_of(rationals(least=1), least=1)
    power: Rational = rational(above=0, at_most=100)
    rate: Rational = rational(above=0)
    reach: Rational = rational(raised=True, above=0)

    def __post_init__(self) -> None:
        if len({len(p) for p in (*self.answers, *self.candidates)}) != 1:
            raise InvalidMechanismError("give answers and candidates that are points of the same length.")
        if len(self.answers) ** 2 * len(self.candidates) > MOST_PAIRS:
            raise InvalidMechanismError("too many answers and candidates to prove anything about every pair.")
        if any(self._matches(a, b) for i, a in enumerate(self.answers) for b in self.answers[:i]):
            raise InvalidMechanismError("two of the answers are so close that a computed float could be either.")

    @property
    def query(self) -> str:
        """What it answers, in words."""
        return f"one of {len(self.answers)} answers, released as one of {len(self.candidates)} candidates"

    @property
    def relation(self) -> str:
        """The answers within the reach were declared to be neighbours."""
        return DECLARED

    def distance(self, a: Point, b: Point, field: Field) -> Value:
        """||a - b||_p^p."""
        apart = (field.real(abs(x - y)) for x, y in zip(a, b, strict=True))
        return sum((field.power(x, self.power) for x in apart), field.real(0))

    def neighbours(self) -> Iterator[tuple[Point, Point]]:
        """Every ordered pair of different answers within the reach, up to the rounding errors of floats."""
        for a, b in product(self.answers, repeat=2):
            rounding = self.reach / _ABSORBED + sum(abs(x) + abs(y) for x, y in zip(a, b, strict=True)) / _PRECISE
            if a != b and sum(abs(x - y) for x, y in zip(a, b, strict=True)) <= self.reach + rounding:
                yield a, b

    def _matches(self, listed: Point, given: Point) -> bool:
        """Whether a given answer is a listed one, up to the rounding errors of floats."""
        return all(abs(x - y) * _ROUNDED <= abs(y) + self.reach for x, y in zip(listed, given, strict=True))

    def law_given(self, answer: Number | Sequence[Number]) -> SelectedOutput:
        """The law of the released candidate's index."""
        parts = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else [answer]
        point = tuple(data_value(x) for x in parts)
        if len(point) == len(self.answers[0]):
            # A computed float may miss the listed answer by its rounding error.
            closest = min(self.answers, key=lambda a: sum(abs(x - y) for x, y in zip(a, point, strict=True)))
            if self._matches(closest, point):
                return SelectedOutput(self, closest)
        raise InvalidAnswerError("the answer is none of those that this mechanism was made for.")


@lru_cache(maxsize=64)
def _tails(mechanism: MinkowskiExponential, answer: Point, bits: int | None) -> list[Value]:
    """Unnormalised weight of candidates k, k + 1, …, for every k; in floats, or in balls at the precision in force."""
    field = FLOATS if bits is None else BALLS
    rate = field.real(mechanism.rate)
    weights = [field.exp(-rate * mechanism.distance(c, answer, field)) for c in mechanism.candidates]
    return list(accumulate(reversed(weights), initial=field.real(0)))[::-1]


def points(values: Sequence[Number | Sequence[Number]], name: str) -> tuple[Point, ...]:
    """Numbers or sequences of numbers as exact points."""
    rows = [v if isinstance(v, Sequence) and not isinstance(v, str) else [v] for v in values]
    return tuple(tuple(parameter(x, name) for x in row) for row in rows)
