"""Gaussian noise with correlations: independent noise in another frame, mapped back.

With y = matrix * answer, each y_j is put on a lattice and gets independent rounded Gaussian noise; what
is released is the inverse image, a function of the noisy y alone. The covariance of the released
answer is std^2 (matrix^T matrix)^-1, and every draw is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.mechanisms.answers import read_answers
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.losses import Smoothed
from noisewright.mechanisms.per_coordinate import Several
from noisewright.numerics.balls import Ball, ball
from noisewright.numerics.fields import BALLS, Field
from noisewright.problem import fields
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.numbers import Number, show
from noisewright.problem.queries import Vector
from noisewright.problem.records import keep, record

Matrix = tuple[tuple[Fraction, ...], ...]
LARGEST_FRAME = 32
_LARGEST_INDEX = 2**100
_LONGEST_ENTRY = 256


@record("linear-gaussian", MECHANISMS, error=InvalidMechanismError)
class LinearGaussian(Several):
    """Gaussian noise of deviation `std`, on cells of `step`, added to matrix * answer and mapped back."""

    query: Vector = fields.only(Vector)
    matrix: fields.Matrix = fields.tuple_of(fields.rationals())
    std: fields.Rational = fields.rational(above=0)
    step: fields.Rational = fields.rational(above=0)
    inverse: Matrix = fields.derived()

    def __post_init__(self) -> None:
        if self.query.integer is not False:
            raise InvalidMechanismError("correlated noise releases real numbers; ask for them with integer=False.")
        count = self.query.dimension
        if count > LARGEST_FRAME:
            raise InvalidMechanismError(f"correlated noise is for at most {LARGEST_FRAME} numbers; there are {count}.")
        if len(self.matrix) != count or any(len(row) != count for row in self.matrix):
            raise InvalidMechanismError(f"the frame of {count} numbers is a matrix of {count} rows and columns.")
        entries = [v for row in self.matrix for v in row]
        if max(max(v.numerator.bit_length(), v.denominator.bit_length()) for v in entries) > _LONGEST_ENTRY:
            raise InvalidMechanismError(f"the entries of a frame are rationals of at most {_LONGEST_ENTRY} bits.")
        keep(self, inverse=inverse(self.matrix))

    @property
    def lattice(self) -> Lattice:
        """Cells of each coordinate of the frame."""
        return Lattice.cells(self.step)

    @property
    def noise(self) -> Rounded:
        """The integer-valued law drawn for each coordinate of the frame."""
        return Rounded(Gaussian(self.std), self.lattice)

    @property
    def error_density(self) -> Smoothed:
        """Density of the error of one coordinate of the frame."""
        return Smoothed(Gaussian(self.std), self.step)

    def law_given(self, answer: Sequence[Number]) -> tuple[int, ...]:
        """The lattice cells of the frame that the true answer falls into."""
        values = read_answers(answer, self.query)
        cells = tuple(self.lattice.index(y) for y in apply(self.matrix, values))
        if max(map(abs, cells)) >= _LARGEST_INDEX:
            raise InvalidAnswerError("the answer is too large for the lattice of its frame; rescale the query.")
        return cells

    def power_means(self, power: Fraction, field: Field) -> list[Ball]:
        if power != 2:
            self._refuse(f"the mean of |error|^{show(power)}")
        unit = self.error_density.moment(2, BALLS)
        return [unit * ball(sum((v * v for v in row), Fraction(0))) for row in self.inverse]


def apply(matrix: Matrix, values: Sequence[Fraction]) -> list[Fraction]:
    """matrix * values, exactly."""
    return [sum((a * x for a, x in zip(row, values, strict=True)), Fraction(0)) for row in matrix]


def inverse(matrix: Matrix) -> Matrix:
    """The exact inverse by elimination with rationals; refuses a singular matrix."""
    count = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(count))] for i, row in enumerate(matrix)]
    for j in range(count):
        pivot = next((i for i in range(j, count) if rows[i][j]), None)
        if pivot is None:
            raise InvalidMechanismError("the frame of a correlated mechanism must be invertible.")
        rows[j], rows[pivot] = rows[pivot], rows[j]
        head = rows[j][j]
        rows[j] = [v / head for v in rows[j]]
        for i in range(count):
            if i != j and rows[i][j]:
                factor = rows[i][j]
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[j], strict=True)]
    return tuple(tuple(row[count:]) for row in rows)
