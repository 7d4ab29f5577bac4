"""A budget for every pair of elements as a privacy requirement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.geometry import Euclidean, GreatCircle, SmoothThreshold, TimeSeries
from noisewright.problem.metrics import Attributes, Hamming, Matrix, Metric, Scaled, Sum, WithAbsent
from noisewright.problem.numbers import Number, parameter


@dataclass(frozen=True, slots=True, init=False)
class MetricPrivacy:
    """If one person's element changes from i to j, no outcome becomes more than e^d(i, j) times likelier.

    Guarantees: budgets of several releases add up pair by pair (`compose`), and several people's
    changes add up along their pairs. With `Hamming` this is ordinary pure differential privacy.
    """

    metric: Any

    def __init__(self, metric: Metric) -> None:
        if not isinstance(metric, Metric):
            raise InvalidPrivacyError(
                f"metric is {metric!r}; give Euclidean(points), Matrix(distances), Hamming(n, epsilon) …",
                metric=metric,
            )
        object.__setattr__(self, "metric", metric)

    def __str__(self) -> str:
        return f"metric privacy: {self.metric}"

    def compose(self, *others: MetricPrivacy) -> MetricPrivacy:
        """What holds for this release and the others together: budgets add pair by pair."""
        return MetricPrivacy(Sum([self.metric, *(o.metric for o in others)])) if others else self

    def share(self, part: Number) -> MetricPrivacy:
        """The requirement with every budget multiplied by `part`."""
        return MetricPrivacy(Scaled(self.metric, part))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "metric", "metric": self.metric.to_dict()}

    def promise(self) -> str:
        """In words."""
        return (
            "changing it from element i to element j changes the probability of any released value by a factor of at"
            f" most e^d(i, j), where d is the {self.metric}"
        )


def _grid(data: Mapping[str, Any]) -> list[list[Fraction]]:
    unit = parameter(data["unit"], "unit")
    return [[unit * int(v) for v in row.split()] for row in data["points"]]


METRICS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "matrix": Matrix.from_dict,
    "hamming": lambda data: Hamming(data["size"], data["epsilon"]),
    "attributes": lambda data: Attributes(data["codes"], data["tables"]),
    "sum": lambda data: Sum([metric_from_dict(p) for p in data["parts"]]),
    "scaled": lambda data: Scaled(metric_from_dict(data["metric"]), data["factor"]),
    "with-absent": lambda data: WithAbsent(metric_from_dict(data["metric"]), data["budget"]),
    "euclidean": lambda data: Euclidean(_grid(data)),
    "time-series": lambda data: TimeSeries(_grid(data)),
    "great-circle": lambda data: GreatCircle(_grid(data), data["rate"]),
    "smooth-threshold": lambda data: SmoothThreshold(_grid(data), data["within"], data["epsilon"]),
}
"""How each metric is read back from files."""


def metric_from_dict(data: Mapping[str, Any]) -> Any:
    """The metric that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    return METRICS[data["kind"]](data)
