"""Choosing and synthesising under metric privacy: the exponential mechanism, SmallDB and MWEM.

All three look at the data only through integer columns of linear scores, as in `linear`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.registry import exact, whole
from noisewright.mechanisms.digest import digest
from noisewright.mechanisms.linear import Columns, checked_columns, columns_from, columns_text, sums
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.linear import Linear, checked_histogram
from noisewright.problem.numbers import Number

MOST_CANDIDATES = 200_000


@dataclass(frozen=True, slots=True)
class _Scored:
    """Integer columns W of linear scores with a common step, and the scale that a budget of one buys."""

    query: Linear
    columns: Columns
    step: Fraction
    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", checked_columns(self.columns, self.query.dimension, self.query.size))
        if self.step <= 0 or self.scale <= 0:
            raise InvalidMechanismError("a mechanism that chooses needs a positive step and scale.")

    @property
    def rate(self) -> Fraction:
        """What one integer step of a score costs."""
        return self.step / self.scale

    def scores(self, histogram: Iterable[Number]) -> list[int]:
        """The integer scores W x; they are private."""
        return sums(self.columns, checked_histogram(histogram, self.query.size))

    def _plain(self, kind: str) -> dict[str, Any]:
        return {
            "kind": kind,
            "query": self.query.to_dict(),
            "columns": columns_text(self.columns),
            "step": str(self.step),
            "scale": str(self.scale),
        }

    @property
    def digest(self) -> str:
        """Fingerprint of everything that determines what is drawn."""
        return digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return self._plain("scored")


@dataclass(frozen=True, slots=True)
class MetricExponential(_Scored):
    """Chooses a row r of the query with probability proportional to e^(score_r / (2 scale))."""

    def log_weights(self, histogram: Iterable[Number]) -> list[Fraction]:
        """Logarithms of the weights of all choices, exactly, up to a common constant."""
        scores = self.scores(histogram)
        top = max(scores)
        return [self.rate * (s - top) / 2 for s in scores]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return self._plain("metric-exponential")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricExponential:
        """Inverse of `to_dict`."""
        return cls(*_scored(data))


@dataclass(frozen=True, slots=True)
class MetricSmallDB(_Scored):
    """Chooses a small database of `rows` people whose answers, scaled to everybody, are close to the true ones.

    The weight of a small database y is e^(-largest |W x - (n / rows) W y| step / (2 scale)), where n
    is the public number of people.
    """

    rows: int

    def __post_init__(self) -> None:
        _Scored.__post_init__(self)
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise InvalidMechanismError("a small database needs at least one row.")

    @property
    def candidates(self) -> int:
        """How many small databases there are."""
        return math.comb(self.query.size + self.rows - 1, self.rows)

    def databases(self) -> Iterator[tuple[int, ...]]:
        """All of them, as histograms."""
        yield from _compositions(self.query.size, self.rows)

    def log_weight(self, scores: list[int], people: int, database: Iterable[int]) -> Fraction:
        """Logarithm of the weight of one small database, exactly."""
        counts = list(database)
        small = sums(self.columns, counts)
        far = max(abs(s * self.rows - people * t) for s, t in zip(scores, small, strict=True))
        return -self.rate * Fraction(far, 2 * self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {**self._plain("metric-smalldb"), "rows": self.rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricSmallDB:
        """Inverse of `to_dict`."""
        return cls(*_scored(data), whole(data["rows"]))


@dataclass(frozen=True, slots=True)
class MetricMWEM(_Scored):
    """Multiplicative weights: `rounds` times choose the worst answered query, measure it, and reweigh.

    Each choice and each measurement uses a share 1/(2 rounds) of every budget. The update compares
    like with like: exponent q_i (measured - q(y)) / (2 n) with the query q itself, divided by its
    largest entry twice, so that the result does not depend on the units of the class.
    """

    rounds: int

    def __post_init__(self) -> None:
        _Scored.__post_init__(self)
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, int) or self.rounds < 1:
            raise InvalidMechanismError("multiplicative weights needs at least one round.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {**self._plain("metric-mwem"), "rounds": self.rounds}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricMWEM:
        """Inverse of `to_dict`."""
        return cls(*_scored(data), whole(data["rounds"]))


def _scored(data: Mapping[str, Any]) -> tuple[Linear, Columns, Fraction, Fraction]:
    query = Linear.from_dict(data["query"])
    columns = checked_columns(columns_from(data["columns"]), query.dimension, query.size)
    return query, columns, exact(data["step"]), exact(data["scale"])


def _compositions(places: int, total: int) -> Iterator[tuple[int, ...]]:
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(places - 1, total - first):
            yield (first, *rest)
