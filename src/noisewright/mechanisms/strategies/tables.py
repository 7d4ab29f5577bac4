"""A table of counts, given cell by cell or only where somebody is, and its marginals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.fields import is_list
from noisewright.problem.linear import checked_histogram

MOST_CELLS = 1 << 26
"""How many cells a table has at most that is built."""
_MOST_PEOPLE = 2**62


class Counts:
    """Whole counts over a table of the given sizes; private."""

    def __init__(self, sizes: Sequence[int], codes: NDArray[Any] | None, counts: NDArray[Any]) -> None:
        self.sizes, self._codes, self._counts = tuple(sizes), codes, counts

    @property
    def people(self) -> int:
        """The sum of all counts."""
        return sum(map(int, self._counts)) if self._counts.dtype == object else int(self._counts.sum())

    def widened(self) -> Counts:
        """The same as Python integers, whose sums are never too large."""
        return Counts(self.sizes, self._codes, self._counts.astype(object))

    def cells(self) -> NDArray[Any]:
        """One count for each cell."""
        return self.marginal(tuple(range(len(self.sizes)))).ravel()

    def marginal(self, axes: Sequence[int]) -> NDArray[Any]:
        """The counts by the values of some attributes, all others summed out."""
        shape = [self.sizes[i] for i in axes]
        if self._codes is None:
            others = tuple(i for i in range(len(self.sizes)) if i not in axes)
            return np.asarray(self._counts.reshape(self.sizes).sum(axis=others), dtype=self._counts.dtype).reshape(
                shape
            )
        if math.prod(shape) > MOST_CELLS:
            raise InvalidAnswerError(f"a table of {math.prod(shape)} cells is too large to build.")
        found: NDArray[Any] = np.zeros(math.prod(shape), dtype=self._counts.dtype)
        places: Any = 0
        for i in axes:
            places = places * self.sizes[i] + self._codes[:, i]
        np.add.at(found, np.broadcast_to(places, len(self._counts)), self._counts)
        return found.reshape(shape)


def read_counts(table: Any, sizes: Sequence[int]) -> Counts:
    """A table that a person gave: a count for each cell, or a mapping from cells to their counts.

    A cell is named by its place, or by the values of its attributes from 0 on. Errors do not repeat counts.
    """
    if isinstance(table, Mapping):
        return _sparse(table, tuple(sizes))
    size = math.prod(sizes)
    if size > MOST_CELLS:
        raise InvalidAnswerError(
            f"a table of {size} cells is not given cell by cell; give a mapping from cells to counts, such as"
            " {(0, 3, 1): 2}, with one value for each attribute."
        )
    array = table if isinstance(table, np.ndarray) else None
    if array is not None and array.dtype.kind in "iu":
        flat = array.ravel()
        if len(flat) == size and (not size or (flat.min() >= 0 and int(flat.max()) < _MOST_PEOPLE)):
            return _whole(sizes, None, flat)
    given = np.asarray(table, dtype=object).ravel() if is_list(table) else table
    return _whole(sizes, None, np.array(checked_histogram(given, size), dtype=object))


def _sparse(table: Mapping[Any, Any], sizes: tuple[int, ...]) -> Counts:
    codes = np.zeros((len(table), len(sizes)), dtype=np.int64)
    for i, cell in enumerate(table):
        place = _place(cell, sizes)
        if place is None:
            raise InvalidAnswerError(
                f"a cell of the table is not among those of the question; name it by {len(sizes)} whole numbers, each"
                " from 0 to below the number of values of its attribute."
            )
        codes[i] = place
    counts = np.array(checked_histogram(list(table.values()), len(table)), dtype=object)
    return _whole(sizes, codes, counts)


def _place(cell: Any, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
    values = tuple(cell) if is_list(cell) else (cell,)
    if len(values) == 1 < len(sizes):
        return None
    fits = len(values) == len(sizes) and all(
        isinstance(v, int | np.integer) and not isinstance(v, bool) and 0 <= v < n
        for v, n in zip(values, sizes, strict=True)
    )
    return tuple(int(v) for v in values) if fits else None


def _whole(sizes: Sequence[int], codes: NDArray[Any] | None, counts: NDArray[Any]) -> Counts:
    """Counts as 64-bit integers where every sum of them fits."""
    total = sum(map(int, counts))
    return Counts(sizes, codes, counts.astype(np.int64 if total < _MOST_PEOPLE else object))
