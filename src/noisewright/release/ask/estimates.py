"""From noisy whole numbers to answers with honest intervals.

An interval holds whenever every number it is made of is within its width of the truth; widths are taken so that all
of them are, with the confidence that is stated (for k numbers each at 1 - 0.05/k). A mean's interval is the range of
sum/count over that whole region, not a linearisation; where the region holds counts of zero nothing can be said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from noisewright.release.stage.ranges import Range

TOO_FEW = "too few to say"


@dataclass(frozen=True, slots=True)
class Between:
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


class Around(NamedTuple):
    """An answer in the middle of its interval: whole numbers over one denominator, which are quickly made doubles."""

    middle: int
    reach: int
    below: int

    @property
    def value(self) -> Fraction:
        """The answer."""
        return Fraction(self.middle, self.below)

    @property
    def half_width(self) -> Fraction:
        """How far it is from either end."""
        return Fraction(self.reach, self.below)

    @property
    def low(self) -> Fraction:
        """The lower end."""
        return Fraction(self.middle - self.reach, self.below)

    @property
    def high(self) -> Fraction:
        """The upper end."""
        return Fraction(self.middle + self.reach, self.below)

    @property
    def doubles(self) -> tuple[float | None, ...]:
        """Value, half-width, low and high: the quotient of two whole numbers of Python is the nearest double."""
        middle, reach, below = self.middle, self.reach, self.below
        return middle / below, reach / below, (middle - reach) / below, (middle + reach) / below


Estimate = Between | Around
NOTHING = Between(None, None, None)


def plain(value: int, width: Fraction, unit: Fraction) -> Estimate:
    """A number as it is, in the units of the question."""
    share, over = unit.numerator, width.denominator
    return Around(value * over * share, width.numerator * share, over * unit.denominator)


def mean(span: Range, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
    """Centre plus centred sum over count, within the bounds.

    Rule: over the box of counts n in [n0, n1] with n0 > 0 and sums s in [s0, s1], s/n is least and greatest at
    corners, because it is monotone in each of the two. [theory#tables-and-contribution-bounds]
    """
    ratio = quotient(values[0], widths[0], values[1], widths[1])
    if ratio is None:
        return NOTHING
    value, low, high = (_clamped(part, span) for part in ratio)
    return Between(*(span.unit * (span.centre + part) for part in (value, low, high)))


def mean_reach(span: Range, widths: Sequence[Fraction], fewest: int) -> Fraction | None:
    """The largest half-width that `mean` states for a group of at least `fewest` rows with a value.

    Rule: let c be the noisy count, s the noisy sum, w and v their widths, and e the upper end, within the reach R of
    the bounds. It is met where e c <= s + v + |e| w, so that (e - s/c) c <= v + R w; the lower end is the same with
    signs turned, and clamping brings the answer no farther from it. c is at least fewest - w, and the answer is given
    wherever c - w >= 1/2.
    None where a group of so few rows may be too few to say. [theory#tables-and-contribution-bounds]
    """
    if fewest - 2 * widths[0] < Fraction(1, 2):
        return None
    return span.unit * (span.reach * widths[0] + widths[1]) / (fewest - widths[0])


def variance(span: Range, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
    """Mean square less the square of the mean, both around the centre; from 0 to the square of half the width."""
    first = quotient(values[0], widths[0], values[1], widths[1])
    second = quotient(values[0], widths[0], values[2], widths[2])
    if first is None or second is None:
        return NOTHING
    mid, low, high = (_clamped(part, span) for part in first)
    squares = [part + span.half_square for part in second]
    nearest = Fraction(0) if low <= 0 <= high else min(low**2, high**2)
    most = Fraction(span.last - span.first) ** 2 / 4
    ends = (squares[0] - mid**2, squares[1] - max(low**2, high**2), squares[2] - nearest)
    return Between(*(span.unit**2 * min(max(end, Fraction(0)), most) for end in ends))


def quotient(
    count: int, count_width: Fraction, total: int, total_width: Fraction
) -> tuple[Fraction, Fraction, Fraction] | None:
    """total/count with its least and greatest value over the region; None if the count may be below one half."""
    fewest, most = count - count_width, count + count_width
    if fewest < Fraction(1, 2):
        return None
    ends = [(total + sign * total_width) / n for sign in (-1, 1) for n in (fewest, most)]
    return Fraction(total, count), min(ends), max(ends)


def _clamped(distance: Fraction, span: Range) -> Fraction:
    return min(max(distance, Fraction(span.first - span.centre)), Fraction(span.last - span.centre))
