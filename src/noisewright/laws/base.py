"""What a law is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.records import Family

LAWS: Family[Any] = Family("a law such as Laplace(scale)", InvalidLawError)
"""Every law of noise by the name it has in files."""


@runtime_checkable
class Law(Protocol):
    """A symmetric or skewed law of real noise, known by its formulas."""

    def density(self, x: Point, field: Field) -> Value:
        """Density at x."""
        ...

    def cdf(self, x: Point, field: Field) -> Value:
        """P(X <= x), accurate in the lower tail."""
        ...

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""
        ...

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power."""
        ...

    def mean(self, field: Field) -> Value:
        """E X."""
        ...

    def log_ratio(self, shift: Fraction) -> Fraction:
        """Supremum over x of ln f(x) - ln f(x + shift), as an exact rational."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data with exact numbers as text; `laws.registry.law_from_dict` inverts it."""
        ...


@runtime_checkable
class SmoothLaw(Law, Protocol):
    """A symmetric law whose density does not increase away from zero; used through its rounding to cells."""

    on_integers: ClassVar[bool | None]

    def scaled(self, factor: Fraction) -> SmoothLaw:
        """The law of `factor` times the noise."""
        ...


Crossing: TypeAlias = tuple[Fraction, Fraction]
"""Two rationals around the point where the log-ratio of a law passes epsilon."""


@runtime_checkable
class LogConcave(Protocol):
    """A symmetric log-concave law: ln f(x) - ln f(x + shift) does not decrease in x."""

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""
        ...

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """(t1, t2) with t1 <= inf{x : ln f(x) - ln f(x + shift) > epsilon} <= t2; None if there is no such x."""
        ...


def quantile(law: Law, probability: float) -> float:
    """Smallest float x (to 1e-12 relative) with cdf(x) >= probability, by bisection in floats.

    Valid for: probability strictly between 0 and 1. For plots and search; never evidence.
    """
    from noisewright.numerics.fields import FLOATS
    from noisewright.problem.errors import InvalidNumberError

    if not 0 < probability < 1:
        raise InvalidNumberError(f"probability is {probability}; it must lie strictly between 0 and 1.")

    def reached(x: float) -> bool:
        if probability <= 0.5:
            return bool(law.cdf(x, FLOATS) >= probability)
        return bool(law.sf(x, FLOATS) <= 1 - probability)

    low, high = -1.0, 1.0
    while reached(low):
        low *= 2
    while not reached(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high or high - low <= 1e-12 * max(abs(low), abs(high)):
            break
        if reached(middle):
            high = middle
        else:
            low = middle
    return high
