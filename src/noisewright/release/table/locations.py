"""Locations: where the rows of a table are, whatever it is called. Two tables with one in common have rows in common.

A file is its resolved path and what the file system knows it by, so that relative and absolute paths, links and names
that differ by case where the file system does not tell them apart are one. A frame is the object and its memory. What
tables of a database are, their engine says (`Engine.locations`). A copy is another location.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from noisewright.problem.errors import InvalidInputError
from noisewright.release.table.frames import has_memory, spans

Mark = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Locations:
    """A set of locations; `meets` says whether two sets have one in common."""

    marks: frozenset[Mark] = frozenset()
    paths: frozenset[tuple[str, ...]] = frozenset()
    """Files, each with what is meant within it: what the file system knows them by is asked whenever they are compared,
    because a file that is written anew under its name is the same source."""
    memory: tuple[tuple[int, int], ...] = ()
    """Where values of frames begin and end."""
    held: tuple[Any, ...] = ()
    """What must stay alive, so that nothing else gets its memory or its number."""
    unsure: str = ""
    """Why there may be more locations that nobody can name; empty if there are none."""

    def meets(self, other: Locations) -> bool:
        """Whether rows of both are in one location."""
        known = self._known()
        return bool(known and known & other._known()) or _overlap(self.memory, other.memory)

    def _known(self) -> frozenset[Mark]:
        now = ((known, *inside) for path, *inside in self.paths if (known := _identity(path)) is not None)
        return self.marks | self.paths | frozenset(now)

    def modified(self) -> float | None:
        """When the newest of the files was written, in seconds; None where rows are not in whole files alone."""
        if not self.paths or self.memory or self.held or self.unsure or any(inside for _, *inside in self.paths):
            return None
        try:
            return max(Path(path).stat().st_mtime for (path,) in self.paths)
        except (OSError, ValueError):
            return None

    def __or__(self, other: Locations) -> Locations:
        return Locations(
            self.marks | other.marks,
            self.paths | other.paths,
            (*self.memory, *other.memory),
            (*self.held, *other.held),
            self.unsure or other.unsure,
        )

    def __deepcopy__(self, memo: object) -> Locations:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process memory and the numbers of objects mean something else.
        lasting = NOWHERE if self.held else self
        return Locations, (lasting.marks, self.paths, (), (), self.unsure)


NOWHERE = Locations()


def everywhere(several: Iterable[Locations]) -> Locations:
    """All locations of several tables."""
    return reduce(Locations.__or__, several, NOWHERE)


def of_files(paths: Iterable[str], *inside: str) -> Locations:
    """Files, or what is called `inside` in them; folders count as files."""
    resolved = [os.path.realpath(path) for path in paths]
    known = ((found, *inside) for path in resolved if (found := _identity(path)) is not None)
    return Locations(frozenset(known), frozenset((path, *inside) for path in resolved))


def of_memory(data: object) -> Locations:
    """A frame, a column or an array of this process: the object itself, and whatever shares its memory.

    Lists of Python values are nowhere: whoever wrote them says what they are.
    """
    if not has_memory(data):
        return NOWHERE
    return Locations(frozenset({("object", id(data))}), memory=tuple(spans(data)), held=(data,))


def require_elsewhere(public: Locations, private: Locations, refusal: str) -> None:
    """Refuse what is said to be public and has rows of a private table."""
    if public.meets(private):
        raise InvalidInputError(f"{refusal} Nothing was spent.")


def _identity(path: str) -> tuple[int, int, int, int] | None:
    """What the file system knows a file by, whatever its names, with its length and time; None if it is not there.

    Numbers of files are given again: one that is gone is known with its length and time alone.
    """
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _overlap(one: Iterable[tuple[int, int]], other: Iterable[tuple[int, int]]) -> bool:
    """Whether a piece of one list has a byte in common with a piece of the other."""
    ends = [0, 0]  # of the pieces so far, by the list that they are of
    for first, last, which in sorted([*((*span, 0) for span in one), *((*span, 1) for span in other)]):
        if first < ends[1 - which]:
            return True
        ends[which] = max(ends[which], last)
    return False
