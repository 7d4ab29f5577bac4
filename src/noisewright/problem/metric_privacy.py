"""A budget for every pair of elements as a privacy requirement."""

from __future__ import annotations

from typing import Any

import noisewright.problem.geometry
import noisewright.problem.graphs  # noqa: F401  # loads every metric, which registers it
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.fields import one_of
from noisewright.problem.metrics import METRICS, Scaled, Sum
from noisewright.problem.numbers import Number
from noisewright.problem.records import Record, record


@record("metric", error=InvalidPrivacyError)
class MetricPrivacy(Record):
    """If one person's element changes from i to j, no outcome becomes more than e^d(i, j) times likelier.

    Guarantees: budgets of several releases add up pair by pair (`compose`), and several people's
    changes add up along their pairs. With `Hamming` this is ordinary pure differential privacy.
    """

    metric: Any = one_of(METRICS)

    def __str__(self) -> str:
        return f"metric privacy: {self.metric}"

    def compose(self, *others: MetricPrivacy) -> MetricPrivacy:
        """What holds for this release and the others together: budgets add pair by pair."""
        return MetricPrivacy(Sum([self.metric, *(o.metric for o in others)])) if others else self

    def share(self, part: Number) -> MetricPrivacy:
        """The requirement with every budget multiplied by `part`."""
        return MetricPrivacy(Scaled(self.metric, part))

    def promise(self) -> str:
        return (
            "changing it from element i to element j changes the probability of any released value by a factor of at"
            f" most e^d(i, j), where d is the {self.metric}"
        )
