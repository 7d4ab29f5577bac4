"""The exponential mechanism with the Minkowski utility -||c - s||_p^p over finitely many candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, product

from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.numerics.balls import working_bits
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.fields import Matrix as RationalMatrix, Rational, rational, rationals, tuple_of
from noisewright.problem.numbers import Number, data_value, parameter
from noisewright.problem.records import record

Point = tuple[Fraction, ...]

MOST_PAIRS = 2_000_000
_ROUNDED = 2**40
_ABSORBED = 2**24
_PRECISE = 2**50


@dataclass(frozen=True, slots=True)
class SelectedOutput:
    """The law of the index of the released candidate, given the true answer."""

    mechanism: MinkowskiExponential
    answer: Point

    def cdf(self, k: int, field: Field) -> Value:
        """P(index <= k)."""
        return 1 - self.sf(k, field)

    def sf(self, k: int, field: Field) -> Value:
        """P(index > k)."""
        if not 0 <= k < len(self.mechanism.candidates) - 1:
            return field.real(int(k < 0))
        tails = _tails(self.mechanism, self.answer, working_bits() if field is BALLS else None)
        return tails[k + 1] / tails[0]


@record("minkowski-exponential", MECHANISMS, error=InvalidMechanismError)
class MinkowskiExponential(Mechanism):
    """Releases candidate c with weight e^(-rate ||c - s||_p^p) when the true answer is s.

    `answers` are all true answers there can be; two of them are neighbours if their l_1 distance is at most
    `reach`. Scalars are points of one coordinate. The usual rate is epsilon / (2 * utility sensitivity).
    """

    answers: RationalMatrix = tuple_of(rationals(least=1), least=1)
    candidates: RationalMatrix = tuple_of(rationals(least=1), least=1)
    power: Rational = rational(above=0, at_most=100)
    rate: Rational = rational(above=0)
    reach: Rational = rational(raised=True, above=0)

    def __post_init__(self) -> None:
        if len({len(p) for p in (*self.answers, *self.candidates)}) != 1:
            raise InvalidMechanismError("give answers and candidates that are points of the same length.")
        if len(self.answers) ** 2 * len(self.candidates) > MOST_PAIRS:
            raise InvalidMechanismError("too many answers and candidates to prove anything about every pair.")
        if any(self._matches(a, b) for i, a in enumerate(self.answers) for b in self.answers[:i]):
            raise InvalidMechanismError("two of the answers are so close that a computed float could be either.")

    @property
    def query(self) -> str:
        """What it answers, in words."""
        return f"one of {len(self.answers)} answers, released as one of {len(self.candidates)} candidates"

    def distance(self, a: Point, b: Point, field: Field) -> Value:
        """||a - b||_p^p."""
        apart = (field.real(abs(x - y)) for x, y in zip(a, b, strict=True))
        return sum((field.power(x, self.power) for x in apart), field.real(0))

    def neighbours(self) -> Iterator[tuple[Point, Point]]:
        """Every ordered pair of different answers within the reach, up to the rounding errors of floats."""
        for a, b in product(self.answers, repeat=2):
            rounding = self.reach / _ABSORBED + sum(abs(x) + abs(y) for x, y in zip(a, b, strict=True)) / _PRECISE
            if a != b and sum(abs(x - y) for x, y in zip(a, b, strict=True)) <= self.reach + rounding:
                yield a, b

    def _matches(self, listed: Point, given: Point) -> bool:
        """Whether a given answer is a listed one, up to the rounding errors of floats."""
        return all(abs(x - y) * _ROUNDED <= abs(y) + self.reach for x, y in zip(listed, given, strict=True))

    def law_given(self, answer: Number | Sequence[Number]) -> SelectedOutput:
        """The law of the released candidate's index."""
        parts = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else [answer]
        point = tuple(data_value(x) for x in parts)
        if len(point) == len(self.answers[0]):
            # A computed float may miss the listed answer by its rounding error.
            closest = min(self.answers, key=lambda a: sum(abs(x - y) for x, y in zip(a, point, strict=True)))
            if self._matches(closest, point):
                return SelectedOutput(self, closest)
        raise InvalidAnswerError("the answer is none of those that this mechanism was made for.")


@lru_cache(maxsize=64)
def _tails(mechanism: MinkowskiExponential, answer: Point, bits: int | None) -> list[Value]:
    """Unnormalised weight of candidates k, k + 1, …, for every k; in floats, or in balls at the precision in force."""
    field = FLOATS if bits is None else BALLS
    rate = field.real(mechanism.rate)
    weights = [field.exp(-rate * mechanism.distance(c, answer, field)) for c in mechanism.candidates]
    return list(accumulate(reversed(weights), initial=field.real(0)))[::-1]


def points(values: Sequence[Number | Sequence[Number]], name: str) -> tuple[Point, ...]:
    """Numbers or sequences of numbers as exact points."""
    rows = [v if isinstance(v, Sequence) and not isinstance(v, str) else [v] for v in values]
    return tuple(tuple(parameter(x, name) for x in row) for row in rows)
