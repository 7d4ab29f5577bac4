"""Randomised response: one person's own value, released as it is with some probability and else as another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.numerics.fields import Field, Value
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.fields import Rational, Texts, rational, text, tuple_of
from noisewright.problem.numbers import show
from noisewright.problem.privacy import REPLACE
from noisewright.problem.records import record

MOST_VALUES = 1_000_000


@dataclass(frozen=True, slots=True)
class ResponseLaw:
    """The law of the place of the released value: `truth` at one place, the rest shared by all others."""

    size: int
    place: int
    truth: Fraction

    def mass(self, k: int, field: Field) -> Value:
        """P(place = k)."""
        if not 0 <= k < self.size:
            return field.real(0)
        return field.real(self.truth if k == self.place else (1 - self.truth) / (self.size - 1))

    def sf(self, k: int, field: Field) -> Value:
        """P(place > k)."""
        beyond = max(0, min(self.size, self.size - 1 - k))
        others = beyond - (self.place > k)
        return field.real((self.truth if self.place > k else 0) + others * (1 - self.truth) / (self.size - 1))

    def cdf(self, k: int, field: Field) -> Value:
        """P(place <= k)."""
        return 1 - self.sf(k, field)


@record("randomised-response", MECHANISMS, error=InvalidMechanismError)
class RandomisedResponse(Mechanism):
    """Each person's own value is released with probability `truth`, and every other one of `values` equally often.

    The local model: nobody collects true values, neighbours are any two values of one person. It is what two-fold noise
    on a value tends to as one rate goes to infinity, which leaves the value, and the other to 0, which leaves nothing
    of it (section G.2 of the R2DP paper). Valid for: a truth from 1 / (number of values), which says nothing, to
    below 1.
    """

    values: Texts = tuple_of(text(), least=2, most=MOST_VALUES, distinct=True)
    truth: Rational = rational(above=0)

    def __post_init__(self) -> None:
        if not Fraction(1, len(self.values)) <= self.truth < 1:
            raise InvalidMechanismError(
                f"truth is {show(self.truth)}; give a probability of at least 1/{len(self.values)}, where every value"
                " is as likely, and below 1.",
                truth=self.truth,
            )

    @property
    def query(self) -> str:
        """What it answers, in words."""
        return f"one person's own value, one of {len(self.values)}"

    @property
    def relation(self) -> str:
        """Any value of the person may be any other."""
        return REPLACE

    @property
    def other(self) -> Fraction:
        """The probability of each value that is not the true one."""
        return (1 - self.truth) / (len(self.values) - 1)

    def law_given(self, answer: str) -> ResponseLaw:
        """The law of the place of what is released."""
        given = answer.strip() if isinstance(answer, str) else answer
        if given not in self.values:
            raise InvalidAnswerError(f"the answer is none of the {len(self.values)} values; give one of them, as text.")
        return ResponseLaw(len(self.values), self.values.index(given), self.truth)

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        """The chance that the true value is released, whatever the limit."""
        return [field.real(self.truth)]

    def estimated(self, reports: Sequence[Any]) -> dict[str, Fraction]:
        """How many people have each value, from what all of them released: right on average, and it may be negative.

        Rule: of n people c of whom have a value, c truth + (n - c) other report it on average.
        [Warner65, theory#the-local-model]
        """
        counts = dict.fromkeys(self.values, 0)
        for report in reports:
            if report not in counts:
                raise InvalidAnswerError("a report is none of the values that this mechanism releases.")
            counts[report] += 1
        gain = self.truth - self.other
        if not gain:
            raise InvalidAnswerError("every value is released equally often, so reports say nothing about the values.")
        return {value: (count - len(reports) * self.other) / gain for value, count in counts.items()}

    def count_variance(self, count: int, people: int) -> Fraction:
        """The variance of the estimated number of people with a value that `count` of so many people have."""
        p, q = self.truth, self.other
        return (count * p * (1 - p) + (people - count) * q * (1 - q)) / (p - q) ** 2
