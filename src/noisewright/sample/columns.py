"""Several numbers released at once: those on one lattice together, as exactly as one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.answers import check_count, read_number
from noisewright.mechanisms.rounding import Whole, as_numbers
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.queries import Vector
from noisewright.sample.points import Points, added
from noisewright.sample.table import Indices
from noisewright.sample.uniform import Entropy, WordStream

_EXACT_FLOATS = 2**53
_WIDEST = 2**62


@dataclass(frozen=True)
class Column:
    """Numbers that share a lattice.

    `cells` reads their answers, `offset` is added to the sum of cell and noise, and `points` shows it; whole numbers
    have none, and are shown as that many times `step`.
    """

    places: NDArray[np.intp]
    cells: Callable[[NDArray[Any]], Whole]
    offset: int
    points: Points | None
    step: int = 1

    def released(self, cells: Whole, noise: Indices) -> NDArray[Any]:
        """What is released of numbers in these cells, given the noise of each."""
        steps = added(cells, noise) + self.offset
        if self.points is not None:
            return self.points.many(steps)
        far = len(steps) and max(int(steps.max()), -int(steps.min())) * self.step >= _WIDEST
        return (steps.astype(object) if far else steps) * self.step


class ColumnsDrawer:
    """What the drawers share that add noise on lattices to several numbers."""

    def __init__(self, query: Vector, columns: list[Column]) -> None:
        self._query, self._columns = query, columns
        covered = np.zeros(query.dimension, dtype=np.bool_)
        for column in columns:
            covered[column.places] = True
        self._still = np.flatnonzero(~covered).tolist()

    @abstractmethod
    def _noise(self, count: int, stream: WordStream) -> Indices:
        """Independent noise in steps for `count` answers, a row each; zero where a number is released as it is."""

    def release(self, answer: Sequence[Any], entropy: Entropy) -> NDArray[Any]:
        """One private answer: 64-bit integers if all numbers are whole, else floats; wider numbers where one needs it.

        All numbers are read before anything is drawn.
        """
        return np.asarray(self._released(self._row(answer)[np.newaxis], entropy.stream)[0])

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """An independent private answer for each of many, a row each."""
        if isinstance(answers, np.ndarray) and answers.ndim == 2 and answers.dtype != object:
            if answers.shape[1] != self._query.dimension:
                check_count(answers[:1].ravel(), self._query.dimension)
            return self._released(answers, entropy.stream)
        if isinstance(answers, str | bytes) or not hasattr(answers, "__iter__"):
            raise InvalidAnswerError("the answers are not a list; give a list of lists, one for each answer.")
        rows = [self._row(answer) for answer in answers]
        kinds = {row.dtype for row in rows}
        if len(kinds) == 1 and object not in kinds:
            return self._released(np.stack(rows), entropy.stream)
        parts = [self._cells(row[np.newaxis]) for row in rows]
        stream = entropy.stream()
        released = [self._with_noise(cells, still, stream)[0] for cells, still in parts]
        return np.array(released) if released else np.empty((0, self._query.dimension))

    def _row(self, answer: Any) -> NDArray[Any]:
        check_count(answer, self._query.dimension)
        return as_numbers(answer)

    def _released(self, answers: NDArray[Any], open_stream: Callable[[], WordStream]) -> NDArray[Any]:
        cells, still = self._cells(answers)
        return self._with_noise(cells, still, open_stream())

    def _cells(self, answers: NDArray[Any]) -> tuple[list[Whole], list[list[Fraction]]]:
        """The cells of each column, and the numbers that are released as they are, for each answer."""
        cells = [column.cells(answers[:, column.places].ravel()) for column in self._columns]
        if not self._still:
            return cells, []
        query = self._query
        moves, whole = query.sensitivity.smallest, query.whole
        read = [[read_number(row[i], moves[i], query.exact, whole[i]) for i in self._still] for row in answers]
        return cells, read

    def _with_noise(self, cells: list[Whole], still: list[list[Fraction]], stream: WordStream) -> NDArray[Any]:
        dimension, whole = self._query.dimension, self._query.integer is True
        count = len(cells[0]) // len(self._columns[0].places) if cells else len(still)
        noise = self._noise(count, stream)
        out: NDArray[Any] = np.zeros((count, dimension), dtype=np.int64 if whole else np.float64)
        for column, cell in zip(self._columns, cells, strict=True):
            values = column.released(cell, noise[:, column.places].ravel()).reshape(count, len(column.places))
            if values.dtype == object or not _held(values, out.dtype):
                out, values = out.astype(object), values.astype(object)
            out[:, column.places] = values
        if self._still:
            plain = [[int(v) if whole else float(v) for v in row] for row in still]
            far = whole and any(abs(v) >= _WIDEST for row in plain for v in row)
            out = out.astype(object) if far else out
            out[:, self._still] = plain
        return out


def _held(values: NDArray[Any], kind: np.dtype[Any]) -> bool:
    """Whether an array of this kind holds the values as they are: floats hold no whole numbers from 2^53 on."""
    whole_in_floats = values.dtype.kind == "i" and kind.kind == "f"
    return not whole_in_floats or not values.size or max(int(values.max()), -int(values.min())) <= _EXACT_FLOATS
