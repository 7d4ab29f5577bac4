"""Utilities that compare a whole histogram, or a whole degree sequence, with its noisy release.

Every bin gets independent noise of the designed law; counts below `floor` are raised to it and the
result is normalised. These utilities have no closed form in general: their values are computed
numerically and carry an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.numbers import Number, parameter, show

_MOST_BINS = 10_000


def _histogram(prior: Iterable[Number]) -> tuple[Fraction, ...]:
    try:
        counts = tuple(parameter(count, "a count of the prior") for count in prior)
    except TypeError:
        raise InvalidUtilityError(f"prior is {prior!r}; give the counts of a histogram.", prior=prior) from None
    if not 2 <= len(counts) <= _MOST_BINS:
        raise InvalidUtilityError(f"prior has {len(counts)} bins; allowed is 2 to {_MOST_BINS}.", bins=len(counts))
    if any(count < 0 for count in counts) or not any(counts):
        raise InvalidUtilityError("the counts of a prior must be at least 0, and not all 0.")
    return counts


def _floor(value: Number) -> Fraction:
    floor = parameter(value, "floor")
    if floor <= 0:
        raise InvalidUtilityError(f"floor is {show(floor)}; counts must be kept positive.", floor=floor)
    return floor


@dataclass(frozen=True, slots=True, init=False)
class HistogramMetric:
    """What the metrics of a histogram share: its counts, and the least count that is released."""

    prior: tuple[Fraction, ...]
    floor: Fraction
    label: ClassVar[str] = "histogram-metric"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, prior: Iterable[Number], *, floor: Number = 1) -> None:
        object.__setattr__(self, "prior", _histogram(prior))
        object.__setattr__(self, "floor", _floor(floor))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "prior": [str(count) for count in self.prior], "floor": str(self.floor)}


@dataclass(frozen=True, slots=True, init=False)
class KullbackLeibler(HistogramMetric):
    """Mean divergence D(p || q) of the true histogram p from the released one q, in nats."""

    label: ClassVar[str] = "kullback-leibler"

    def __str__(self) -> str:
        return f"mean Kullback-Leibler divergence over {len(self.prior)} bins"


@dataclass(frozen=True, slots=True, init=False)
class HistogramEntropy(HistogramMetric):
    """Mean absolute difference of the entropies of the true and of the released histogram, in nats."""

    label: ClassVar[str] = "histogram-entropy"

    def __str__(self) -> str:
        return f"mean entropy error over {len(self.prior)} bins"


@dataclass(frozen=True, slots=True, init=False)
class Renyi(HistogramMetric):
    """Mean Renyi divergence of the given order of the true histogram from the released one, in nats."""

    order: Fraction
    label: ClassVar[str] = "renyi"

    def __init__(self, prior: Iterable[Number], order: Number, *, floor: Number = 1) -> None:
        object.__setattr__(self, "prior", _histogram(prior))
        object.__setattr__(self, "floor", _floor(floor))
        value = parameter(order, "order")
        if not 0 < value <= 100 or value == 1:
            raise InvalidUtilityError(
                f"order is {show(value)}; allowed is above 0 and at most 100, except 1 (which is KullbackLeibler).",
                order=value,
            )
        object.__setattr__(self, "order", value)

    def __str__(self) -> str:
        return f"mean Renyi divergence of order {show(self.order)} over {len(self.prior)} bins"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {
            "kind": self.label,
            "prior": [str(count) for count in self.prior],
            "floor": str(self.floor),
            "order": str(self.order),
        }


@dataclass(frozen=True, slots=True, init=False)
class Mallows:
    """Mallows distance of order `power` between a sequence of `nodes` numbers and its noisy release.

    The mean over the noise of (sum of |error|^power / nodes)^(1/power).
    """

    power: Fraction
    nodes: int
    label: ClassVar[str] = "mallows"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, power: Number, nodes: int) -> None:
        value = parameter(power, "power")
        if not 1 <= value <= 8:
            raise InvalidUtilityError(f"power is {show(value)}; a Mallows distance needs 1 to 8.", power=value)
        if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
            raise InvalidUtilityError(f"nodes is {nodes!r}; give how many numbers the sequence has.", nodes=nodes)
        object.__setattr__(self, "power", value)
        object.__setattr__(self, "nodes", nodes)

    def __str__(self) -> str:
        return f"Mallows({show(self.power)}) distance of {self.nodes} numbers"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "power": str(self.power), "nodes": self.nodes}


@dataclass(frozen=True, slots=True)
class ErrorEntropy:
    """Differential entropy of the error, in nats: how uncertain the truth stays, given the answer."""

    label: ClassVar[str] = "error-entropy"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return "entropy of the error"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.label}


Numerical = HistogramMetric | Mallows | ErrorEntropy
"""Utilities whose values are computed numerically."""
