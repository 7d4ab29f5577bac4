"""Which moves of several numbers are the worst that one person can make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.sensitivity import Groups, Points, SensitivitySet
from noisewright.proof.composed import Move, undominated, worst_choices, worst_of_groups
from noisewright.proof.vectors import as_counted, moved

MoveOf = Callable[[Any, Fraction], Move]
"""What it is that a law is shifted by so much."""


def worst_moves(mechanism: PerCoordinate, chosen: SensitivitySet, of: MoveOf, start: int = 0) -> list[tuple[Move, ...]]:
    """The moves of the worst differences of a set whose numbers begin at a place; `of` says what a law's move is.

    Valid for: moves of one law of which a larger one is no better than a smaller one.
    """
    if isinstance(chosen, Groups):
        groups = [worst_moves(mechanism, part, of, start + at) for at, part in chosen.placed()]
        return worst_of_groups(groups, chosen.at_most)
    if isinstance(chosen, Points):
        return undominated(_moves(mechanism, row, of, start) for row in chosen.rows)
    if (plain := as_counted(chosen)) is not None:
        return list(worst_choices(_moves(mechanism, plain.each, of, start), plain.together))
    return [tuple(_moves(mechanism, chosen.extents, of, start))]


def _moves(mechanism: PerCoordinate, differences: Sequence[Fraction], of: MoveOf, start: int) -> list[Move]:
    """How far the noise of each number moves on its lattice, for those that do."""
    parts = mechanism.parts[start : start + len(differences)]
    reaches = [(part, moved(part, abs(d))) for part, d in zip(parts, differences, strict=True) if part and d]
    return [of(part.law, reach) for part, reach in reaches if reach]
