"""Noise whose likelihood depends on a norm of the error vector: several numbers share one draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from noisewright.laws.lattice import HALF
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.answers import read_answers, stretch_of
from noisewright.mechanisms.base import MECHANISMS
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.fields import (
    Many,
    Rational,
    Rationals,
    Text,
    Wholes,
    only,
    rational,
    rationals,
    text,
    tuple_of,
    wholes,
)
from noisewright.problem.numbers import Number, show
from noisewright.problem.records import Record, record
from noisewright.problem.vector import Vector

NORMS = ("max", "l2")
LARGEST_ROUND_BLOCK = 16
_LARGEST_INDEX = 2**53


@record(error=InvalidMechanismError)
class NormBlock(Record):
    """Numbers `places` get steps[i] * z_i, z an integer vector of mass proportional to e^(-rate norm(z)).

    `norm` is "max" (largest absolute coordinate) or "l2" (Euclidean length).
    """

    places: Wholes = wholes(at_least=0)
    steps: Rationals = rationals(above=0)
    rate: Rational = rational(above=0)
    norm: Text = text(among=NORMS, default="max")

    def __post_init__(self) -> None:
        if not self.places or len(self.steps) != len(self.places):
            raise InvalidMechanismError("a block needs at least one number, and one step for each.")
        if self.norm == "l2" and len(self.places) > LARGEST_ROUND_BLOCK:
            raise InvalidMechanismError(
                f"a round block of {len(self.places)} numbers takes too many attempts to draw exactly;"
                f" at most {LARGEST_ROUND_BLOCK} are allowed."
            )

    @property
    def size(self) -> int:
        """How many numbers share the draw."""
        return len(self.places)

    @property
    def radius(self) -> ShellRadius:
        """The law of the shell for the largest-coordinate norm."""
        return ShellRadius(self.size, self.rate)


@record("norm-shaped", MECHANISMS, error=InvalidMechanismError)
class NormShaped(Record):
    """Independent blocks; numbers in no block are released as they are.

    Each number is rounded to the nearest multiple of its step; so is what is released. Answers that
    may carry the rounding errors of floats are contracted first, and the release is stretched as much.
    """

    query: Vector = only(Vector)
    blocks: Many[NormBlock] = tuple_of(only(NormBlock))

    def __post_init__(self) -> None:
        places = [place for block in self.blocks for place in block.places]
        if len(set(places)) != len(places) or any(not 0 <= place < self.query.dimension for place in places):
            raise InvalidMechanismError("each number belongs to at most one block.")

    def law_given(self, answer: Sequence[Number]) -> list[tuple[Fraction, NormBlock | None]]:
        """For each number the lattice point (or the number itself) and the block whose noise is added to it."""
        placed: list[tuple[Fraction, NormBlock | None]] = [(x, None) for x in read_answers(answer, self.query)]
        for block in self.blocks:
            for place, step in zip(block.places, block.steps, strict=True):
                placed[place] = (nearest(placed[place][0] / self.stretch, step) * step * self.stretch, block)
        return placed

    @property
    def stretch(self) -> Fraction:
        """What answers are divided by before they are put on the lattice, and releases multiplied by."""
        return stretch_of(self.query.exact)


def nearest(value: Fraction, step: Fraction) -> int:
    """Index of the lattice point nearest to a value: floor(x/step + 1/2), never half-to-even."""
    index = math.floor(value / step + HALF)
    if abs(index) >= _LARGEST_INDEX:
        raise InvalidAnswerError(
            f"a number of the answer is too large for its lattice: at most {float(_LARGEST_INDEX * step):.6g} in size"
            f" is allowed with step {show(step)}; rescale the query.",
        )
    return index
