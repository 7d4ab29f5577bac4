"""What a law is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

from noisewright.numerics.balls import certainly_at_most, precision
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError, UncertifiedError
from noisewright.problem.records import Family, Record

LAWS: Family[Any] = Family("a law such as Laplace(scale)", InvalidLawError)
"""Every law of noise by the name it has in files."""


@runtime_checkable
class Law(Protocol):
    """A symmetric or skewed law of real noise, known by its formulas."""

    def density(self, x: Point, field: Field) -> Value:
        """Density at x."""

    def cdf(self, x: Point, field: Field) -> Value:
        """P(X <= x), accurate in the lower tail."""

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power."""

    def mean(self, field: Field) -> Value:
        """E X."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data with exact numbers as text; `laws.registry.law_from_dict` inverts it."""


class Scalable(Record):
    """A law of a number, told by its fields; those named in `lengths` grow with the number."""

    __slots__ = ()
    lengths: ClassVar[tuple[str, ...]] = ("scale",)

    def scaled(self, factor: Fraction) -> Self:
        """The law of `factor` times the number."""
        grown = {name: _times(getattr(self, name), factor) for name in self.lengths}
        return self if factor == 1 else replace(self, **grown)  # type: ignore[type-var]  # every record is a dataclass


class SymmetricLaw(Record):
    """What follows from symmetry about zero."""

    __slots__ = ()

    @abstractmethod
    def density(self, x: Point, field: Field) -> Value: ...

    @abstractmethod
    def sf(self, x: Point, field: Field) -> Value: ...

    @abstractmethod
    def moment(self, power: Exact, field: Field) -> Value: ...

    def cdf(self, x: Point, field: Field) -> Value:
        return self.sf(-x, field)

    def mean(self, field: Field) -> Value:
        """0 (as the principal value, where E|X| is infinite)."""
        return field.real(0)


class SmoothLaw(SymmetricLaw, Scalable):
    """A symmetric law whose density does not increase away from zero; used through its rounding to cells."""

    __slots__ = ()
    on_integers: ClassVar[bool | None] = False

    @property
    def slope(self) -> Fraction | None:
        """The supremum of |d/dx ln f|, which is what each unit of shift costs; None where it has none."""
        return None


Crossing: TypeAlias = tuple[Fraction, Fraction]
"""Two rationals around the point where the log-ratio of a law passes epsilon."""


@runtime_checkable
class LogConcave(Protocol):
    """A symmetric log-concave law: ln f(x) - ln f(x + shift) does not decrease in x."""

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift)."""

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """(t1, t2) with t1 <= inf{x : ln f(x) - ln f(x + shift) > epsilon} <= t2; None if there is no such x."""


def _times(value: Any, factor: Fraction) -> Any:
    if isinstance(value, tuple):
        return tuple(v * factor for v in value)
    return None if value is None else value * factor


MOST_MIXED = 64
"""The most values that a mixture has."""


def mixed(values: tuple[Fraction, ...], weights: tuple[Fraction, ...], function: Any, field: Field) -> Value:
    """The mean of a function over values with these probabilities."""
    return sum((field.real(w) * function(v) for v, w in zip(values, weights, strict=True)), field.real(0))


def bracket_crossing(law: Any, epsilon: Fraction, shift: Fraction, guess: float) -> Crossing:
    """Rationals t1 <= t <= t2 around the point where ln f(x) - ln f(x + shift) passes epsilon.

    `guess` comes from floats; the width grows until both ends are proven. Guarantees: the log-ratio
    is at most epsilon at t1 and above it at t2.
    Valid for: log-concave laws whose log-ratio does pass epsilon; raises UncertifiedError otherwise.
    """
    centre = Fraction(guess)
    width = (abs(centre) + shift) / 2**46
    with precision(112):
        target = BALLS.real(epsilon)
        widths = [width * 2**i for i in range(40)]
        low = next((w for w in widths if certainly_at_most(law.drop(centre - w, shift, BALLS), target)), None)
        high = next((w for w in widths if bool(law.drop(centre + w, shift, BALLS) > target)), None)
    if low is None or high is None:
        raise UncertifiedError(f"where the likelihood ratio passes e^epsilon could not be enclosed near {guess:.6g}.")
    return centre - low, centre + high
