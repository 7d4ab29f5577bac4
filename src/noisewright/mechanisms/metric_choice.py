"""The exponential mechanism for scores of one's own under metric privacy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.choice import Choosing, Selection, shortfalls
from noisewright.numerics.balls import Ball, ball
from noisewright.numerics.fields import Field, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rational, one_of, only, rational
from noisewright.problem.metrics import METRICS
from noisewright.problem.numbers import Number
from noisewright.problem.queries import Choice
from noisewright.problem.records import record


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
