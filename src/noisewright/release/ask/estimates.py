"""From noisy whole numbers to answers with honest intervals.

An interval holds whenever every number it is made of is within its width of the truth; widths are taken so that all
of them are, with the confidence that is stated (for k numbers each at 1 - 0.05/k). A mean's interval is the range of
sum/count over that whole region, not a linearisation; where the region holds counts of zero nothing can be said.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from noisewright.release.stage.ranges import Range

TOO_FEW = "too few to say"


@dataclass(frozen=True, slots=True)
class Interval:
    """An answer and the interval that holds the truth with the stated confidence; None where nothing can be said."""

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None

    @property
    def half_width(self) -> Fraction | None:
        """The larger distance from the answer to an end of its interval."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return max(self.high - self.value, self.value - self.low)

    @property
    def doubles(self) -> tuple[float | None, ...]:
        """Value, half-width, low and high, each as the nearest double."""
        return tuple(None if x is None else float(x) for x in (self.value, self.half_width, self.low, self.high))


class SymmetricInterval(NamedTuple):
    """An answer in the middle of its interval: whole numbers over one denominator, which are quickly made doubles."""

    middle: int
    half: int
    below: int

    @property
    def value(self) -> Fraction:
        """The answer."""
        return Fraction(self.middle, self.below)

    @property
    def half_width(self) -> Fraction:
        """How far it is from either end."""
        return Fraction(self.half, self.below)

    @property
    def low(self) -> Fraction:
        """The lower end."""
        return Fraction(self.middle - self.half, self.below)

    @property
    def high(self) -> Fraction:
        """The upper end."""
        return Fraction(self.middle + self.half, self.below)

    @property
    def doubles(self) -> tuple[float | None, ...]:
        """Value, half-width, low and high: the quotient of two whole numbers of Python is the nearest double."""
        middle, half, below = self.middle, self.half, self.below
        return middle / below, half / below, (middle - half) / below, (middle + half) / below


Estimate = Interval | SymmetricInterval
NOTHING = Interval(None, None, None)


def plain(value: int, width: Fraction, unit: Fraction) -> Estimate:
    """A number as it is, in the units of the question."""
    share, over = unit.numerator, width.denominator
    return SymmetricInterval(value * over * share, width.numerator * share, over * unit.denominator)


def quotient(
    count: int, count_width: Fraction, total: int, total_width: Fraction
) -> tuple[Fraction, Fraction, Fraction] | None:
    """total/count with its least and greatest value over the region; None if the count may be below one half.

    Rule: over the box of counts n in [n0, n1] with n0 > 0 and sums s in [s0, s1], s/n is least and greatest at
    corners, because it is monotone in each of the two. [theory#tables-and-contribution-bounds]
    """
    fewest, most = count - count_width, count + count_width
    if fewest < Fraction(1, 2):
        return None
    ends = [(total + sign * total_width) / n for sign in (-1, 1) for n in (fewest, most)]
    return Fraction(total, count), min(ends), max(ends)


def clamped(distance: Fraction, span: Range) -> Fraction:
    """A distance to the centre of a range, within its bounds."""
    return min(max(distance, Fraction(span.first - span.centre)), Fraction(span.last - span.centre))
