"""Clamped noise: noise in levels is added on a lattice and clamped to the output bounds, with the right mean.

Clamping pushes what is released near a bound inward, by an amount that is known exactly. So the noise is not put
around the answer, but around the point whose clamped mean *is* the answer, rounded at random to the lattice. Where the
bounds leave room the two are the same but for a hair. Nothing here grows with the width of the range.

The weights of the noise are a stack of slabs: slab i holds `heights[i] - heights[i + 1]` at every j with
|j| <= top + i period. Every sum over the weights is a sum over slabs, of which those that end before a point and those
that pass it are added up once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, floor, isqrt
from typing import Any

from noisewright.mechanisms.answers import read_answer, read_whole, within_range
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.bounded import clamped_errors, clamped_sums
from noisewright.numerics.bisection import gallop, turn
from noisewright.numerics.fields import Field, Value
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import InvalidMechanismError, InvalidUtilityError
from noisewright.problem.fields import Rational, Whole, Wholes, only, rational, whole, wholes
from noisewright.problem.numbers import show
from noisewright.problem.queries import Bounded
from noisewright.problem.records import record


@dataclass(frozen=True)
class Levels:
    """Weight `heights[0]` up to |j| = top, then one level lower after every `period`; the last height is not counted.

    `heights` fall and there are at least two; each weight is counted above the last of them.
    """

    heights: tuple[int, ...]
    top: int
    period: int

    @cached_property
    def ends(self) -> list[int]:
        """The largest j of each slab."""
        return [self.top + i * self.period for i in range(len(self.heights) - 1)]

    @cached_property
    def slabs(self) -> list[int]:
        """What each slab adds to every weight it covers."""
        return [high - low for high, low in pairwise(self.heights)]

    @property
    def reach(self) -> int:
        """Beyond it there is no weight."""
        return self.ends[-1]

    @cached_property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(slab * (2 * end + 1) for slab, end in zip(self.slabs, self.ends, strict=True))

    @cached_property
    def _passing(self) -> list[tuple[int, int, int]]:
        """From slab i on: the sums of slab, slab * end and slab * end^2."""
        parts = [(slab, slab * end, slab * end * end) for slab, end in zip(self.slabs, self.ends, strict=True)]
        return list(zip(*(_from_each(column) for column in zip(*parts, strict=True)), strict=True))

    @cached_property
    def _pyramids(self) -> list[int]:
        """Before slab i: the sum of slab * (1^2 + … + end^2)."""
        return list(accumulate((s * pyramid(end) for s, end in zip(self.slabs, self.ends, strict=True)), initial=0))

    def height(self, j: int) -> int:
        """The whole height at j, the last one included."""
        return self.heights[min(max(0, -((self.top - abs(j)) // self.period)), len(self.heights) - 1)]

    def beyond(self, d: int) -> int:
        """The sum of the weights of all j > d, for d >= 0."""
        slab, first, _ = self._passing[bisect_right(self.ends, d)]
        return first - d * slab

    def excess(self, d: int) -> int:
        """The sum of (j - d) times the weight of j over all j > d, for d >= 0."""
        slab, first, second = self._passing[bisect_right(self.ends, d)]
        return (second + first * (1 - 2 * d) + slab * d * (d - 1)) // 2

    def squares(self, d: int) -> int:
        """The sum of min(j, d)^2 times the weight of j over all j > 0, for d >= 0."""
        i = bisect_right(self.ends, d)
        slab, first, _ = self._passing[i]
        return self._pyramids[i] + slab * pyramid(d) + d * d * (first - d * slab)


def pyramid(n: int) -> int:
    """1^2 + … + n^2."""
    return n * (n + 1) * (2 * n + 1) // 6


def _from_each(column: Iterable[int]) -> list[int]:
    """The sums of a column from each of its places on, and 0 after the last."""
    return list(accumulate(reversed(list(column)), initial=0))[::-1]


_MOST_LEVELS = 100_000
_LONGEST_HEIGHT = 512
_MOST_POINTS = 2**60
_SHOWN = 120
_USUAL = 6
_LEVELS: Remembered[Levels] = Remembered()


@dataclass(frozen=True, slots=True)
class ClampedLaw:
    """The law of the release: the row of `place` or, with chance `share`, that of the next lattice point."""

    mechanism: Any
    place: int
    share: Fraction

    def cdf(self, index: int) -> Fraction:
        """The chance that at most lattice point `index` is released."""
        below, above = (self.mechanism.row_cdf(k, index) for k in (self.place, self.place + 1))
        mixed: Fraction = (1 - self.share) * below + self.share * above
        return mixed

    def binned(self, count: int) -> tuple[list[float], list[float]]:
        """Heights and edges of about `count` bins of equal width, as far from the place as outputs are usual."""
        first, last = self.mechanism.ends
        levels = self.mechanism.levels
        spread = isqrt(2 * levels.squares(levels.reach) // levels.total) + 1
        start, stop = max(first, self.place - _USUAL * spread), min(last, self.place + _USUAL * spread) + 1
        cuts = list(range(start, stop, max(1, (stop - start) // count)))
        step = float(self.mechanism.step)
        masses = [float(self.cdf(b - 1) - self.cdf(a - 1)) / ((b - a) * step) for a, b in pairwise(cuts)]
        return masses, [(cut - 0.5) * step for cut in cuts]


@dataclass(frozen=True)
class ClampedProfile:
    """Bias and variance at answers spread over the input range, exactly; at any answer by `at`."""

    mechanism: Any

    @cached_property
    def inputs(self) -> tuple[Fraction, ...]:
        """Answers from the lowest to the highest; whole ones where answers are whole."""
        low, high = self.mechanism.query.inputs
        points = (low + (high - low) * Fraction(i, _SHOWN) for i in range(_SHOWN + 1))
        return tuple(sorted({self.mechanism.near(point) for point in points}))

    @cached_property
    def bias(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """None, at every answer."""
        return ((Fraction(0), Fraction(0)),) * len(self.inputs)

    @cached_property
    def error(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The variance at each answer, twice."""
        return tuple((value, value) for value in map(self.mechanism.variance_at, self.inputs))

    def at(self, x: Fraction, side: int) -> Fraction:
        """The variance at any answer; both ends of it are the same."""
        found: Fraction = self.mechanism.variance_at(self.mechanism.near(x))
        return found


@record("clamped", MECHANISMS, error=InvalidMechanismError)
class Clamped(Mechanism):
    """Released are the multiples of `step` inside the output bounds; what noise puts beyond them goes to the last one.

    The weight of noise j (in steps) is heights[0] up to |j| = top, then one height lower after every `period` steps.
    The last height lies on all of the lattice between the bounds, and so far beyond them that every row has the same
    weights: without it some outputs would be impossible for some answers.
    """

    query: Bounded = only(Bounded)
    step: Rational = rational(above=0)
    top: Whole = whole(at_least=0, at_most=_MOST_POINTS)
    period: Whole = whole(at_least=1, at_most=_MOST_POINTS)
    heights: Wholes = wholes(at_least=1, at_most=2**_LONGEST_HEIGHT - 1, least=2, most=_MOST_LEVELS, as_text=True)

    def __post_init__(self) -> None:
        if any(low > high for high, low in pairwise(self.heights)) or self.heights[0] == self.heights[-1]:
            raise InvalidMechanismError("the heights of the levels must fall outward; put the largest first.")
        if self.query.integer and self.step != 1:
            raise InvalidMechanismError("whole numbers are released on the whole numbers: step 1.", step=self.step)
        if self.levels.reach > _MOST_POINTS or self.points > _MOST_POINTS:
            raise InvalidMechanismError("the lattice has more than 2^60 points; use a larger step.", step=self.step)
        first, last = self.ends
        low, high = self.in_steps(0), self.in_steps(1)
        if not (first < last and self.mean(first) <= low and high <= self.mean(last)):
            raise InvalidMechanismError(
                "the output bounds leave too little room: clamped noise of this width has no mean as low or as high as"
                f" the inputs. Widen the outputs {show(self.query.outputs[0])} to {show(self.query.outputs[1])}, or"
                " use narrower noise.",
                outputs=self.query.outputs,
            )

    @property
    def levels(self) -> Levels:
        """The weights of the noise above the last height; their sums are remembered."""
        kept = _LEVELS.of(self)
        if not kept:
            kept["levels"] = Levels(self.heights, self.top, self.period)
        return kept["levels"]

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last lattice point that is released, in steps."""
        return ceil(self.query.outputs[0] / self.step), floor(self.query.outputs[1] / self.step)

    @property
    def points(self) -> int:
        """How many lattice points there are, those beyond the bounds included."""
        first, last = self.ends
        return last - first + 1 + 2 * self.levels.reach

    @property
    def total(self) -> int:
        """The sum of the weights of a row; the same for every row."""
        return self.levels.total + self.points * self.heights[-1]

    def in_steps(self, end: int) -> Fraction:
        """The lowest (0) or the highest (1) answer, in steps."""
        return self.query.inputs[end] / self.step

    def near(self, x: Fraction) -> Fraction:
        """The answer itself, or where answers are whole the next one below it, or above at the lower end."""
        return max(Fraction(floor(x)), Fraction(ceil(self.query.inputs[0]))) if self.query.integer else x

    def mean(self, k: int) -> Fraction:
        """The mean of row k, in steps.

        Rule: what clamping adds at the lower end is the sum of (first - y) over outputs y below it, and so above. The
        last height lies evenly around the middle of the bounds. [theory#answers-in-bounds]
        """
        first, last = self.ends
        moved = self.levels.excess(k - first) - self.levels.excess(last - k)
        even = self.heights[-1] * self.points * (first + last)
        return Fraction(even + 2 * (self.levels.total * k + moved), 2 * self.total)

    def slope(self, k: int) -> Fraction:
        """The mean of row k + 1 minus that of row k."""
        first, last = self.ends
        kept = self.levels.total - self.levels.beyond(k - first) - self.levels.beyond(last - k - 1)
        return Fraction(kept, self.total)

    def second(self, k: int) -> Fraction:
        """The mean squared distance of row k to its own place, in squared steps."""
        first, last = self.ends
        below, above = k - first, last - k
        noise = self.levels.squares(below) + self.levels.squares(above)
        spread = pyramid(below) + pyramid(above) + self.levels.reach * (below**2 + above**2)
        return Fraction(noise + self.heights[-1] * spread, self.total)

    def row_cdf(self, k: int, index: int) -> Fraction:
        """The chance that row k releases at most lattice point `index`."""
        first, last = self.ends
        if not first <= index < last:
            return Fraction(int(index >= last))
        j = index - k
        noise = self.levels.total - self.levels.beyond(j) if j >= 0 else self.levels.beyond(-j - 1)
        even = self.heights[-1] * (index - first + 1 + self.levels.reach)
        return Fraction(noise + even, self.total)

    def place(self, x: Fraction) -> tuple[int, Fraction]:
        """The row at or below the place whose mean is an answer in the range, and the chance of the next row.

        Guarantees: (1 - share) mean(k) + share mean(k + 1) is the answer in steps, exactly.
        """
        first, last = self.ends
        wanted = x / self.step
        start = min(max(floor(wanted), first), last - 1)

        def over(k: int) -> bool:
            return k >= last or self.mean(k) > wanted

        def under(k: int) -> bool:
            return k <= first or self.mean(k) <= wanted

        # Near the answer itself, unless a bound is near.
        k = turn(under, *gallop(under, start, -1))[1] if over(start) else turn(over, *gallop(over, start, 1))[0]
        return k, (wanted - self.mean(k)) / self.slope(k)

    def law_given(self, answer: Any) -> ClampedLaw:
        """The law of the released answer when `answer` is the truth."""
        return ClampedLaw(self, *self.place(self.read(answer)))

    def read(self, answer: Any) -> Fraction:
        """An answer as an exact number in the input range, or a refusal."""
        asked = self.query
        free = asked.exact or asked.sensitivity == asked.width
        value = read_whole(answer) if asked.integer else read_answer(answer, asked.sensitivity, free)
        return within_range(value, *asked.inputs, asked.exact)

    def variance_at(self, x: Fraction) -> Fraction:
        """The variance of the release at an answer, exactly.

        Rule: the variances of the two rows, and that of their means, which the share mixes. [theory#answers-in-bounds]
        """
        k, share = self.place(x)
        rows = [self.second(i) - (self.mean(i) - i) ** 2 for i in (k, k + 1)]
        mixed = (1 - share) * rows[0] + share * rows[1] + share * (1 - share) * self.slope(k) ** 2
        return mixed * self.step**2

    @property
    def profile(self) -> ClampedProfile:
        """Bias and variance over the input range."""
        return ClampedProfile(self)

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if power == 2:
            return [_between(clamped_errors.worst_square(self), field)]
        if answers := clamped_sums.summed(self):
            return [_between(clamped_sums.worst_power(self, answers, power), field)]
        return [field.power(field.real(self.step), power) * _between(clamped_errors.worst_power(self, power), field)]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        return [_between(clamped_errors.worst_chance(self, limit), field) for limit in limits]

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        return _between(clamped_errors.worst_half_width(self, confidence), field)

    def average_square(self, prior: Any, field: Field) -> Value:
        if prior is None:
            return _between(clamped_errors.average_square(self), field)
        low, high = self.query.inputs
        if not all(low <= x <= high for x, _ in prior):
            raise InvalidUtilityError("the prior has answers outside the inputs of the question; leave them out.")
        return field.real(sum((w * self.variance_at(x) for x, w in prior), Fraction(0)))


def _between(ends: tuple[Fraction, Fraction], field: Field) -> Value:
    return field.between(*(field.real(end) for end in ends))
