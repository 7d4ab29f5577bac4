"""Questions that are computed from linear questions about the cells of each of their groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from noisewright.mechanisms.strategies.values import LARGEST_DENSE
from noisewright.problem.workload import Workload
from noisewright.release.ask.question import Question
from noisewright.release.stage.aggregates import Aggregate, Rows

FINE = 2**20
"""Released are whole multiples of 1 / FINE of what least squares give."""
MOST_CELLS = LARGEST_DENSE
MOST_ANSWERS = 1 << 16


class Linear(Question):
    """A question that is computed from linear questions about the cells of each of its groups."""

    __slots__ = ()
    no_target = "its cells are answered together by a strategy; plan it with privacy=, and see how near it comes"

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Rows(),)

    @property
    def reading(self) -> Workload:
        """The linear questions whose answers it is computed from."""
        raise TypeError("a linear question says what it is computed from")

    @property
    def given(self) -> int:
        """How many answers it gives for a group."""
        return self.reading.dimension

    @staticmethod
    def measured(questions: Sequence[Linear]) -> Workload:
        """What the strategy of a table of such questions is designed for; unless said otherwise, their readings."""
        return readings(questions)


def readings(questions: Sequence[Linear]) -> Workload:
    """The linear questions of all of them, one after the other."""
    found: Workload = reduce(or_, (question.reading for question in questions))
    return found
