"""The exponential mechanism over finitely many candidates, with a fixed or a random epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from noisewright.mechanisms.answers import read_answer, stretch_of
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.problem.errors import InvalidAnswerError, InvalidLawError
from noisewright.problem.fields import Rationals, only, rationals
from noisewright.problem.numbers import Number
from noisewright.problem.queries import Choice
from noisewright.problem.records import record


@record("random-exponential", MECHANISMS, error=InvalidLawError)
class RandomExponential(Mechanism):
    """Picks candidate r with probability proportional to e^(epsilon score / (2 sensitivity)), epsilon drawn first.

    epsilons[i] is used with probability weights[i]; one epsilon is the usual exponential mechanism.
    """

    query: Choice = only(Choice)
    epsilons: Rationals = rationals(above=0)
    weights: Rationals = rationals(above=0)

    def __post_init__(self) -> None:
        if not 1 <= len(self.epsilons) <= 64 or len(self.epsilons) != len(self.weights):
            raise InvalidLawError("a random epsilon needs as many values as weights, 1 to 64.")
        if sum(self.weights) != 1:
            raise InvalidLawError("a random epsilon needs positive weights that sum to exactly 1.")

    def law_given(self, answer: Mapping[str, Number]) -> Selection:
        """The law of the chosen candidate, given the score of every candidate."""
        if not isinstance(answer, Mapping) or set(answer) != set(self.query.candidates):
            raise InvalidAnswerError("give a score for every candidate, and for no other.")
        asked = self.query
        scores = (read_answer(answer[name], asked.sensitivity, asked.exact) for name in asked.candidates)
        return Selection(self, tuple(score / stretch_of(asked.exact) for score in scores))


class Selection:
    """Which candidate is chosen, as a law of its index 0, 1, …"""

    def __init__(self, mechanism: RandomExponential, scores: tuple[Fraction, ...]) -> None:
        self._mechanism, self._scores = mechanism, scores

    def masses(self, field: Field) -> list[Value]:
        """The probability of each candidate."""
        best = max(self._scores)
        totals = [field.real(0) for _ in self._scores]
        pairs = zip(self._mechanism.epsilons, self._mechanism.weights, strict=True)
        for epsilon, weight in pairs:
            rate = epsilon / (2 * self._mechanism.query.sensitivity)
            heights = [field.exp(field.real(rate * (score - best))) for score in self._scores]
            share = field.real(weight) / sum(heights[1:], start=heights[0])
            totals = [t + share * h for t, h in zip(totals, heights, strict=True)]
        return totals

    def cdf(self, k: int, field: Field) -> Value:
        """P(index <= k)."""
        if k < 0:
            return field.real(0)
        if k >= len(self._scores) - 1:
            return field.real(1)
        masses = self.masses(field)
        return sum(masses[1 : k + 1], start=masses[0])

    def sf(self, k: int, field: Field) -> Value:
        """P(index > k)."""
        return 1 - self.cdf(k, field) if field is BALLS else max(0.0, 1 - self.cdf(k, field))
