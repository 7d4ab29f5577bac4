"""Composite densities: a bump that moves with the answer on a base that stays; alone, or blended with a finite law.

The answer's window is mapped linearly to where the bump stands inside [-1, 1]; the density of what
is drawn there is (1 - share) * base + share * bump. The mean is then linear in the answer, and the
inverse map is the line that makes it equal to the answer. All of this is in exact rationals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil, floor

import numpy as np

from noisewright.laws.bumps import FLAT, PARTS, Part, Plateau, Quartic, Sine, Tent
from noisewright.mechanisms.answers import within_range
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.bounded.conditional import (
    Conditional,
    Grid,
    Row,
    Rows,
    check_values,
    rounded_row,
    rounded_square,
    uniform_grid,
)
from noisewright.mechanisms.bounded.worst_cases import Table, quotients
from noisewright.numerics.balls import ball, lower, pi, precision
from noisewright.numerics.fields import BALLS, FLOATS, Field, Floats, Point, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Pair, Rational, Text, Whole, one_of, only, pair, rational, text, whole
from noisewright.problem.numbers import Number, show
from noisewright.problem.queries import Bounded
from noisewright.problem.records import Record, record

_LARGEST_CELLS = 1 << 16
_WHOLE_POINTS = 1 << 13


@record("composite", MECHANISMS, error=InvalidMechanismError)
class Composite(Conditional):
    """Activation, base and the activation's share of the mass, for answers in `window`.

    `cells` is the number of cells of the input grid, `points` that of the output lattice. The
    verifier accepts no window but the whole input range: one that follows the data would leak.
    """

    query: Bounded = only(Bounded)
    activation: Part = one_of(PARTS)
    base: Part = one_of(PARTS)
    share: Rational = rational(above=0, below=1)
    window: Pair = pair()
    cells: Whole = whole(at_least=1, at_most=_LARGEST_CELLS, default=2048)
    points: Whole = whole(at_least=2, at_most=_LARGEST_CELLS, default=8192)

    def __post_init__(self) -> None:
        if self.base.low != -1 or self.base.high != 1:
            raise InvalidMechanismError("a base must span [-1, 1].")
        if self.activation.high - self.activation.low >= 2:
            raise InvalidMechanismError("an activation must be narrower than the base, so that it can move.")
        check_values(self.query, self.value(0), self.value(self.points), [self.value(1)])

    @property
    def grid(self) -> Grid:
        """The inputs that have a law of their own."""
        return uniform_grid(*self.window, self.cells)

    @property
    def last(self) -> int:
        return self.points

    @property
    def scale(self) -> Fraction:
        """Half the length of the outputs: one unit of [-1, 1]."""
        free = 2 - (self.activation.high - self.activation.low)
        return (self.window[1] - self.window[0]) / (self.share * free)

    @property
    def offset(self) -> Fraction:
        """The output that the middle of [-1, 1] stands for."""
        return self.window[0] - self.scale * self.mean(self.shift(self.window[0]))

    def shift(self, answer: Fraction) -> Fraction:
        """How far the activation is moved for an answer: its support goes from one end to the other."""
        start, end = -1 - self.activation.low, 1 - self.activation.high
        return start + (end - start) * (answer - self.window[0]) / (self.window[1] - self.window[0])

    def mean(self, shift: Fraction) -> Fraction:
        """Mean on [-1, 1]."""
        return self.share * (self.activation.centre + shift) + (1 - self.share) * self.base.centre

    def value(self, k: int) -> Fraction:
        return self.offset + self.scale * Fraction(2 * k - self.points, self.points)

    def row(self, i: int) -> Row:
        spread = partial(self.spread, self.shift(self.grid.points[i]))
        return rounded_row(spread, Fraction(-1), Fraction(2, self.points), self.points)

    def table(self) -> Table:
        z = (2.0 * np.arange(self.points + 1) - self.points) / self.points
        base = float(1 - self.share) * self.base.spreads(z)
        moves = np.array([[float(self.shift(x))] for x in self.grid.points])

        def levels(first: int, end: int) -> Floats:
            moving = float(self.share) * self.activation.spreads(z - moves[first:end])
            return quotients(moving + base, 2 / self.points)

        # Each `spreads` is within 2^-46 on [-3, 3], as much less right farther out, and two are divided by 2 / points.
        far = max(1.0, *(abs(float(end)) for part in (self.activation, self.base) for end in (part.low, part.high)))
        return Table(self.lattice(), levels, self.points * far * 2.0**-45)

    def spread(self, shift: Fraction, z: Point, field: Field) -> Value:
        """Second antiderivative of the density at z."""
        moving = self.activation.spread(z - shift, field)
        return field.real(self.share) * moving + field.real(1 - self.share) * self.base.spread(z, field)

    def density(self, answer: Fraction, z: Point, field: Field) -> Value:
        """Density on [-1, 1]."""
        moving = self.activation.density(z - self.shift(answer), field)
        return field.real(self.share) * moving + field.real(1 - self.share) * self.base.density(z, field)

    def mass(self, shift: Fraction, z: Point, field: Field) -> Value:
        """Mass up to z on [-1, 1]."""
        moving = self.activation.mass(z - shift, field)
        return field.real(self.share) * moving + field.real(1 - self.share) * self.base.mass(z, field)

    @property
    def h1_rate(self) -> Fraction:
        """The composite paper's H1: mass of the base over that of the activation; the less, the smaller the error."""
        return (1 - self.share) / self.share

    def h2_rate(
        self, answer: Number, near: Fraction = Fraction(1, 4), far: Fraction = Fraction(3, 4), field: Field = FLOATS
    ) -> Value:
        """The composite paper's H2: mass between the mean and near of the way to the farther end, over that to far.

        Among mechanisms of one activation a smaller rate goes with a flatter base.
        """
        shift = self.shift(within_range(answer, *self.window, exact=True))
        mean = self.mean(shift)
        end = Fraction(-1 if mean >= 0 else 1)
        start = self.mass(shift, mean, field)
        close, wide = (self.mass(shift, mean + part * (end - mean), field) - start for part in (near, far))
        return close / wide

    @property
    def remarks(self) -> tuple[str, ...]:
        middle = self.h2_rate((self.window[0] + self.window[1]) / 2)
        return (
            f"Base over activation (H1): {float(self.h1_rate):.4g}; near over far (H2) in the middle: {middle:.4g}.",
        )

    def plain_variance(self, shift: Fraction, field: Field) -> Value:
        """Variance on [-1, 1], before anything is rounded."""
        moved = field.real(2 * shift * self.activation.centre + shift**2)
        square = field.real(self.share) * (self.activation.second_moment(field) + moved)
        square = square + field.real(1 - self.share) * self.base.second_moment(field)
        return square - field.real(self.mean(shift) ** 2)

    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        answer = self.grid.points[i]
        shift = self.shift(answer)
        bias = self.offset + self.scale * self.mean(shift) - answer
        exact_error = field.real(self.scale**2) * self.plain_variance(shift, field) + field.real(bias**2)
        if field is not BALLS:
            return field.real(bias), exact_error
        return field.real(bias), rounded_square(self, i, exact_error, self.scale / self.points)


def whole_outputs(query: Bounded, activation: Part, share: Fraction) -> tuple[Fraction, int]:
    """The largest share, up to a given one, for which symmetric parts have whole outputs, and how many cells they take.

    Rule: outputs are centred on the inputs and as long as 2 width / (share free), free being the room the activation
    moves in. A length of the parity of the width puts both ends on whole numbers, an odd step those between.
    [ZhangEtAl24, theory#answers-in-bounds]
    """
    free = 2 - (activation.high - activation.low)
    least = 2 * query.width / (share * free)
    step = 2 * (ceil(least / _WHOLE_POINTS) // 2) + 1
    cells = ceil(least / step)
    cells += (cells * step - int(query.width)) % 2
    return 2 * query.width / (cells * step * free), cells


@record("blend", MECHANISMS, error=InvalidMechanismError)
class Blend(Conditional):
    """With probability `share` the first mechanism answers, else the second; the hybrid mechanism is one."""

    first: Composite = only(Composite)
    second: Rows = only(Rows)
    share: Rational = rational(at_least=0, at_most=1)

    def __post_init__(self) -> None:
        if self.first.query != self.second.query or self.first.grid.points != self.second.grid.points:
            raise InvalidMechanismError("both mechanisms of a blend must answer one question on one grid of inputs.")

    @property
    def parts(self) -> tuple[Conditional, Conditional]:
        """The two mechanisms."""
        return self.first, self.second

    @property
    def query(self) -> Bounded:
        """The question it answers."""
        return self.first.query

    @property
    def grid(self) -> Grid:
        """The inputs that have a law of their own."""
        return self.first.grid

    @property
    def last(self) -> int:
        return self.first.last + 1 + self.second.last

    def value(self, k: int) -> Fraction:
        return self.first.value(k) if k <= self.first.last else self.second.value(k - self.first.last - 1)

    def table(self) -> Table:
        tables = [part.table() for part in self.parts]
        outputs = tuple(sorted(v for table in tables for v in table.outputs))
        places = [[bisect_right(table.outputs, v) for v in outputs] for table in tables]
        shares = float(self.share), float(1 - self.share)

        def levels(first: int, end: int) -> Floats:
            padded = [np.pad(table.levels(first, end), ((0, 0), (1, 0))) for table in tables]
            return np.asarray(sum(s * p[:, k] for s, p, k in zip(shares, padded, places, strict=True)))

        return Table(outputs, levels, 2.0**-50 + max(table.slack for table in tables))

    def row(self, i: int) -> Row:
        """The indices of the first law, then those of the second."""
        first, second = self.first.row(i), self.second.row(i)

        def inside(k: int, field: Field) -> Value:
            share = field.real(self.share)
            if k <= self.first.last:
                return share * first.cdf(k, field)
            return share + (1 - share) * second.cdf(k - self.first.last - 1, field)

        return Row(inside, self.last)

    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        share = field.real(self.share)
        ours, theirs = self.first.moments(i, field), self.second.moments(i, field)
        return share * ours[0] + (1 - share) * theirs[0], share * ours[1] + (1 - share) * theirs[1]


# The composite paper's own parameters: activation of height k and width m on a base of height y, on [-L, L].
#
# L follows from the whole area being one. All six functions A1B1 to A3B2, Equations (26) to (31), are settings; each is
# a composite mechanism of which the verifier knows nothing but its parts.


ACTIVATIONS: dict[str, Callable[[Fraction], Part]] = {"A1": Plateau, "A2": Sine, "A3": Tent}
"""The paper's activations by name, made from half their width."""

FUNCTIONS = tuple(f"{activation}{base}" for base in ("B1", "B2") for activation in ACTIVATIONS)
"""The paper's six perturbation functions by name."""

_BITS = 80


@record(error=InvalidMechanismError)
class CompositeSetting(Record):
    """One of the six functions with its height k, width m and base height y."""

    function: Text = text(among=FUNCTIONS)
    k: Rational = rational(above=0)
    m: Rational = rational(above=0)
    y: Rational = rational(above=0)

    def __str__(self) -> str:
        return f"{self.function} with k = {show(self.k)}, m = {show(self.m)}, y = {show(self.y)}"

    def edge(self, epsilon: Fraction) -> Fraction:
        """The height of the base at the ends: y for B1, t = (y + k) / e^epsilon for B2, rounded up.

        Rule: t, not y, is the infimum with base B2, so all of epsilon is spent at the ends.
        [ZhangEtAl24, theory#answers-in-bounds]
        """
        if self.function.endswith("B1"):
            return self.y
        with precision():
            growth = lower(ball(epsilon).exp())
        t = (self.y + self.k) / Fraction(floor(growth * 2**_BITS), 2**_BITS)
        if t >= self.y:
            raise InvalidMechanismError(
                f"{self}: at epsilon = {show(epsilon)} its base would be at least as high at the ends as in the middle;"
                " lower k, or take base B1.",
            )
        return t

    @property
    def area(self) -> Fraction:
        """S1, the activation's share of the area; just below it where it is irrational."""
        with precision():
            least = Fraction(floor(lower(2 / pi()) * 2**_BITS), 2**_BITS)
        return {"A1": Fraction(1), "A2": least, "A3": Fraction(1, 2)}[self.function[:2]] * self.k * self.m

    def length(self, epsilon: Fraction) -> Fraction:
        """L, from S1 + S2 = 1."""
        if self.area >= 1:
            raise InvalidMechanismError(f"{self}: the activation has all the area; lower k or m.")
        return (1 - self.area) * 5 / (2 * (4 * self.y + self.edge(epsilon)))

    def parts(self, epsilon: Fraction) -> tuple[Part, Part, Fraction]:
        """Activation and base on [-1, 1], and the activation's share of the mass."""
        half = self.m / (2 * self.length(epsilon))
        if half >= 1:
            raise InvalidMechanismError(f"{self}: the activation is as wide as the base; lower m or y.")
        base = FLAT if self.function.endswith("B1") else Quartic(self.edge(epsilon) / self.y)
        return ACTIVATIONS[self.function[:2]](half), base, self.area
