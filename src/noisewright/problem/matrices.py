"""Matrices of whole numbers in one immutable, packed form."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Self, overload

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import whole_number

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Unchanging:
    """What cannot change is its own copy."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class WholeMatrix(Unchanging):
    """Rows of whole numbers, all of the same length: 64-bit words where they fit, Python integers where not.

    Reads like a tuple of tuples of Python integers; it cannot change.
    """

    __slots__ = ("_numbers", "columns", "rows")

    rows: int
    columns: int
    _numbers: bytes | tuple[int, ...]

    def __init__(self, numbers: Iterable[int], rows: int, columns: int) -> None:
        if hasattr(self, "rows"):
            raise TypeError("a matrix is constructed once and does not change; make another.")
        flat = tuple(whole_number(v, "an entry of a matrix") for v in numbers)
        if len(flat) != rows * columns:
            raise InvalidInputError(f"a matrix of {rows} rows and {columns} columns has not {len(flat)} entries.")
        narrow = all(_SMALLEST <= v <= _LARGEST for v in flat)
        object.__setattr__(self, "_numbers", array("q", flat).tobytes() if narrow else flat)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "columns", columns)

    @classmethod
    def of(
        cls, rows: Iterable[Iterable[Any]], name: str = "matrix", error: type[InvalidInputError] = InvalidInputError
    ) -> WholeMatrix:
        """The matrix with these rows; machine integers of any width become exact."""
        given = [tuple(row) for row in rows]
        if len({len(row) for row in given}) > 1:
            raise error(f"the rows of {name} differ in length; make them equal.")
        return cls((v for row in given for v in row), len(given), len(given[0]) if given else 0)

    @property
    def packed(self) -> bytes | None:
        """All entries, row by row, as 64-bit words of this machine; None where one does not fit."""
        return self._numbers if isinstance(self._numbers, bytes) else None

    def texts(self) -> list[str]:
        """A text of numbers for each row."""
        return [" ".join(map(str, row)) for row in self]

    @classmethod
    def from_texts(cls, texts: Any) -> WholeMatrix:
        """Inverse of `texts`."""
        if not isinstance(texts, list) or not all(isinstance(row, str) for row in texts):
            raise TypeError("expected a list of texts of whole numbers")
        return cls.of([[int(v) for v in row.split()] for row in texts])

    def __len__(self) -> int:
        return self.rows

    @overload
    def __getitem__(self, i: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[tuple[int, ...], ...]: ...
    def __getitem__(self, i: int | slice) -> tuple[Any, ...]:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(self.rows)))
        place = i + self.rows if i < 0 else i
        if not 0 <= place < self.rows:
            raise IndexError(i)
        start, end = place * self.columns, (place + 1) * self.columns
        if isinstance(self._numbers, bytes):
            return tuple(array("q", self._numbers[8 * start : 8 * end]))
        return self._numbers[start:end]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self[i] for i in range(self.rows))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WholeMatrix):
            return (self.rows, self.columns, self._numbers) == (other.rows, other.columns, other._numbers)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.rows, self.columns, self._numbers))

    def __repr__(self) -> str:
        return f"WholeMatrix of {self.rows} rows and {self.columns} columns"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a matrix does not change.")

    __delattr__ = __setattr__  # type: ignore[assignment]  # neither is allowed

    def __reduce__(self) -> tuple[Any, ...]:
        return WholeMatrix, (tuple(v for row in self for v in row), self.rows, self.columns)
