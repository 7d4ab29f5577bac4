"""Noise whose likelihood depends on a norm of the error vector: several numbers share one draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.lattice import HALF
from noisewright.laws.registry import exact, whole
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.digest import digest
from noisewright.mechanisms.per_coordinate import check_length
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.numbers import Number, data_value, show
from noisewright.problem.vector import Vector

NORMS = ("max", "l2")
LARGEST_ROUND_BLOCK = 16
_LARGEST_INDEX = 2**53


@dataclass(frozen=True, slots=True)
class NormBlock:
    """Numbers `places` get steps[i] * z_i, z an integer vector of mass proportional to e^(-rate norm(z)).

    `norm` is "max" (largest absolute coordinate) or "l2" (Euclidean length).
    """

    places: tuple[int, ...]
    steps: tuple[Fraction, ...]
    rate: Fraction
    norm: str = "max"

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise InvalidMechanismError(f"norm is {self.norm!r}; allowed are {', '.join(NORMS)}.")
        if not self.places or len(self.steps) != len(self.places):
            raise InvalidMechanismError("a block needs at least one number, and one step for each.")
        if any(step <= 0 for step in self.steps) or self.rate <= 0:
            raise InvalidMechanismError("the steps and the rate of a block must be positive.")
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

    def to_dict(self) -> dict[str, Any]:
        """Plain data with exact numbers as text."""
        return {
            "places": list(self.places),
            "steps": [str(step) for step in self.steps],
            "rate": str(self.rate),
            "norm": self.norm,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> NormBlock:
        """Inverse of `to_dict`."""
        places = tuple(whole(place) for place in data["places"])
        return cls(places, tuple(exact(step) for step in data["steps"]), exact(data["rate"]), data["norm"])


@dataclass(frozen=True, slots=True)
class NormShaped:
    """Independent blocks; numbers in no block are released as they are.

    Each number is rounded to the nearest multiple of its step; so is what is released.
    """

    query: Vector
    blocks: tuple[NormBlock, ...]

    def __post_init__(self) -> None:
        places = [place for block in self.blocks for place in block.places]
        if len(set(places)) != len(places) or any(not 0 <= place < self.query.dimension for place in places):
            raise InvalidMechanismError("each number belongs to at most one block.")

    def law_given(self, answer: Sequence[Number]) -> list[tuple[Fraction, NormBlock | None]]:
        """For each number the lattice point (or the number itself) and the block whose noise is added to it."""
        check_length(answer, self.query)
        placed: list[tuple[Fraction, NormBlock | None]] = [(data_value(x, "answer"), None) for x in answer]
        for block in self.blocks:
            for place, step in zip(block.places, block.steps, strict=True):
                placed[place] = (nearest(placed[place][0], step) * step, block)
        return placed

    def to_dict(self) -> dict[str, Any]:
        """Plain data with exact numbers as text."""
        return {
            "kind": "norm-shaped",
            "query": self.query.to_dict(),
            "blocks": [block.to_dict() for block in self.blocks],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> NormShaped:
        """Inverse of `to_dict`; KeyError, TypeError or ValueError if the data describe none."""
        return cls(Vector.from_dict(data["query"]), tuple(NormBlock.from_dict(b) for b in data["blocks"]))

    @property
    def digest(self) -> str:
        """Fingerprint of everything that determines what is drawn."""
        return digest(self.to_dict())


def nearest(value: Fraction, step: Fraction) -> int:
    """Index of the lattice point nearest to a value: floor(x/step + 1/2), never half-to-even."""
    index = math.floor(value / step + HALF)
    if abs(index) >= _LARGEST_INDEX:
        raise InvalidAnswerError(
            f"a number of the answer is too large for its lattice: at most {float(_LARGEST_INDEX * step):.6g} in size"
            f" is allowed with step {show(step)}; rescale the query.",
        )
    return index
