"""Strategies: whole rows that are measured in place of the questions of a workload.

Rows come in groups; the noise of each row is that of its group, times a whole factor for Gaussian variances.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.strategies.tables import Counts
from noisewright.numerics.integer_matrices import Wholes, bits_of
from noisewright.problem import fields
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.records import Family, Record, record

STRATEGIES: Family[Any] = Family("rows to measure, such as BlockRows(size, branching, levels)", InvalidMechanismError)
"""Every kind of strategy by the name it has in files."""

_MOST_ROWS = 1 << 25


class PlainRows(Record):
    """What is shared by rows that all have the variance of their group."""

    __slots__ = ()

    def plain(self, group: int) -> bool:
        """Whether all rows of the group have its own variance."""
        return True

    def factors(self, group: int) -> NDArray[np.int64] | None:
        """What the variance of the group is multiplied by for each of its rows; None where it is 1."""
        return None


@record("dense-rows", STRATEGIES, error=InvalidMechanismError)
class DenseRows(PlainRows):
    """Rows by their weights, one group. Cell i has the weights of column places[i] - 1; at place 0 it has none."""

    matrix: fields.PackedMatrix = fields.whole_matrix()
    places: fields.Wholes = fields.wholes(at_least=0)

    def __post_init__(self) -> None:
        if sorted(set(self.places) - {0}) != list(range(1, self.matrix.columns + 1)):
            raise InvalidMechanismError("every column of a strategy belongs to a cell, and every cell to a column.")

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.places)

    @property
    def groups(self) -> int:
        """How many groups of rows there are."""
        return 1

    @property
    def growth(self) -> int:
        """The largest size of an entry of a row."""
        return 1 << bits_of(self.whole())

    def whole(self) -> Wholes:
        """The matrix."""
        packed = self.matrix.packed
        if packed is None:
            return np.array([list(row) for row in self.matrix], dtype=object)
        return np.frombuffer(packed, dtype=np.int64).reshape(self.matrix.rows, self.matrix.columns)

    def measure(self, counts: Counts) -> list[Wholes]:
        """The sums of each group, exactly; they are private."""
        merged = np.zeros(self.matrix.columns + 1, dtype=object)
        np.add.at(merged, np.array(self.places), counts.cells().astype(object))
        table, rows = merged[1:].astype(counts.cells().dtype), self.whole()
        return [np.asarray(rows @ table)]


@record("block-rows", STRATEGIES, error=InvalidMechanismError)
class BlockRows(PlainRows):
    """Sums over blocks of branching^level neighbouring cells, one group for each of the levels; 0 is each cell.

    The table is continued by empty cells up to a power of `branching`.
    """

    size: fields.Whole = fields.whole(at_least=1, at_most=_MOST_ROWS)
    branching: fields.Whole = fields.whole(at_least=2, at_most=_MOST_ROWS)
    levels: fields.Wholes = fields.wholes(at_least=0)

    def __post_init__(self) -> None:
        if self.padded > _MOST_ROWS:
            raise InvalidMechanismError(f"blocks over more than {_MOST_ROWS} cells are too many.")
        if self.levels[:1] != (0,) or list(self.levels) != sorted(set(self.levels)) or self.levels[-1] > self.height:
            raise InvalidMechanismError(f"levels begin with 0 and increase up to at most {self.height}.")

    @property
    def height(self) -> int:
        """The first level at which one block holds all cells."""
        return _height(self.size, self.branching)

    @property
    def padded(self) -> int:
        """How many cells there are with the empty ones."""
        return int(self.branching**self.height)

    @property
    def groups(self) -> int:
        """How many groups of rows there are."""
        return len(self.levels)

    @property
    def growth(self) -> int:
        """The largest size of an entry of a row."""
        return 1

    def measure(self, counts: Counts) -> list[Wholes]:
        """The sums of each group, exactly; they are private."""
        cells = _padded(counts.cells(), self.padded)
        return [np.asarray(cells.reshape(-1, self.branching**level).sum(axis=1)) for level in self.levels]


@record("contrast-rows", STRATEGIES, error=InvalidMechanismError)
class ContrastRows(Record):
    """Orthogonal differences between the `branching` parts of each block, level by level, and last the total.

    In a block with the sums s_0, s_1, … of its parts they are s_0 + … + s_{k-1} - k s_k, for each k above 0
    (Helmert's), with k (k + 1) times the variance of the level; for branching 2 these are Haar's wavelets.
    """

    size: fields.Whole = fields.whole(at_least=2, at_most=_MOST_ROWS)
    branching: fields.Whole = fields.whole(at_least=2, at_most=_MOST_ROWS)

    def __post_init__(self) -> None:
        if self.padded > _MOST_ROWS:
            raise InvalidMechanismError(f"blocks over more than {_MOST_ROWS} cells are too many.")

    @property
    def height(self) -> int:
        """How many levels of differences there are."""
        return _height(self.size, self.branching)

    @property
    def padded(self) -> int:
        """How many cells there are with the empty ones."""
        return int(self.branching**self.height)

    @property
    def groups(self) -> int:
        """How many groups of rows there are."""
        return self.height + 1

    @property
    def growth(self) -> int:
        """The largest size of an entry of a row."""
        return self.branching

    def measure(self, counts: Counts) -> list[Wholes]:
        """The sums of each group, exactly; they are private."""
        sums, found = _padded(counts.cells(), self.padded), []
        for _ in range(self.height):
            parts = sums.reshape(-1, self.branching)
            found.append(contrasts(parts).ravel())
            sums = parts.sum(axis=1)
        return [*found, sums]

    def plain(self, group: int) -> bool:
        """Whether all rows of the group have its own variance."""
        return group == self.height

    def factors(self, group: int) -> NDArray[np.int64] | None:
        """What the variance of the group is multiplied by for each of its rows; None where it is 1."""
        if self.plain(group):
            return None
        k = np.arange(1, self.branching, dtype=np.int64)
        return np.tile(k * (k + 1), self.padded // self.branching ** (group + 1))


class Subsets(Record):
    """What is shared by rows that look at some attributes of a table at a time, a group for each set of them."""

    __slots__ = ()
    sizes: Any
    subsets: Any

    def __post_init__(self) -> None:
        count = len(self.sizes)
        for chosen in self.subsets:
            if list(chosen) != sorted(set(chosen)) or (chosen and chosen[-1] >= count):
                raise InvalidMechanismError(f"each set of attributes increases from 0 to at most {count - 1}.")
        if not self.subsets or len(set(self.subsets)) != len(self.subsets):
            raise InvalidMechanismError("a strategy needs at least one set of attributes, and each only once.")

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(math.prod(self.sizes))

    @property
    def groups(self) -> int:
        """How many groups of rows there are."""
        return len(self.subsets)

    @property
    def growth(self) -> int:
        """At least the largest size of an entry of a row."""
        return max(int(math.prod(self.sizes[i] for i in chosen)) for chosen in self.subsets)


@record("residual-rows", STRATEGIES, error=InvalidMechanismError)
class ResidualRows(Subsets):
    """What each set of attributes adds to what smaller sets say: products of Helmert's differences of its marginal.

    The variance of a row is that of its group times the product of k (k + 1) over the attributes of the set.
    """

    sizes: fields.Wholes = fields.wholes(at_least=1)
    subsets: fields.Many[tuple[int, ...]] = fields.tuple_of(fields.wholes(at_least=0))

    def measure(self, counts: Counts) -> list[Wholes]:
        """The sums of each group, exactly; they are private."""
        return [self.measured(counts, group) for group in range(self.groups)]

    def measured(self, counts: Counts, group: int) -> Wholes:
        """The sums of one group, exactly; they are private."""
        found = counts.marginal(self.subsets[group])
        for axis in range(found.ndim):
            found = np.moveaxis(contrasts(np.moveaxis(found, axis, -1)), -1, axis)
        return np.ascontiguousarray(found).ravel()

    def plain(self, group: int) -> bool:
        """Whether all rows of the group have its own variance."""
        return not self.subsets[group]

    def factors(self, group: int) -> NDArray[np.int64] | None:
        """What the variance of the group is multiplied by for each of its rows; None where it is 1."""
        if self.plain(group):
            return None
        norms = np.ones(1, dtype=np.int64)
        for i in self.subsets[group]:
            k = np.arange(1, self.sizes[i], dtype=np.int64)
            norms = np.multiply.outer(norms, k * (k + 1)).ravel()
        return norms


@record("marginal-rows", STRATEGIES, error=InvalidMechanismError)
class MarginalRows(PlainRows, Subsets):
    """The marginals themselves, each measured by itself."""

    sizes: fields.Wholes = fields.wholes(at_least=1)
    subsets: fields.Many[tuple[int, ...]] = fields.tuple_of(fields.wholes(at_least=0))

    def measure(self, counts: Counts) -> list[Wholes]:
        """The sums of each group, exactly; they are private."""
        return [counts.marginal(chosen).ravel() for chosen in self.subsets]


@record("endless-rows", STRATEGIES, error=InvalidMechanismError)
class EndlessRows(PlainRows):
    """Sums over blocks of 2^level counts of a stream that may go on as long as it likes, for every level there is.

    Level l has (l + 1)(l + 2) times the variance or scale of the first: their inverses sum to one over all levels, so
    that the length of the stream need not be known. `size` is only how many prefix sums the question names.
    """

    size: fields.Whole = fields.whole(at_least=1)

    @property
    def groups(self) -> int:
        """How many levels are given; the others follow from it."""
        return 1

    @property
    def growth(self) -> int:
        """The largest size of an entry of a row."""
        return 1

    def measure(self, counts: Counts) -> list[Wholes]:
        """Refused: rows are measured when their last count has come."""
        raise InvalidAnswerError("an endless stream is released one count at a time; use nw.mechanisms.CountStream.")


Rows: TypeAlias = DenseRows | BlockRows | ContrastRows | ResidualRows | MarginalRows | EndlessRows


def contrasts(values: NDArray[Any]) -> NDArray[Any]:
    """Helmert's differences along the last axis: the sum of the first k values less k times the next, for each k."""
    k = np.arange(1, values.shape[-1])
    return np.asarray(np.cumsum(values, axis=-1)[..., :-1] - values[..., 1:] * k.astype(values.dtype))


def undo_contrasts(values: NDArray[Any]) -> NDArray[Any]:
    """Along the last axis, from the mean (place 0) and differences divided by k (k + 1), the values they came from."""
    k = np.arange(values.shape[-1], dtype=values.dtype)
    after = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1] - values
    found = after - k * values
    # Place 0 of the input is the mean, which belongs to every value.
    found[..., 1:] += values[..., :1]
    found[..., 0] += values[..., 0]
    return np.asarray(found)


def _height(size: int, branching: int) -> int:
    height, width = 0, 1
    while width < size:
        height, width = height + 1, width * branching
    return height


def _padded(cells: NDArray[Any], size: int) -> NDArray[Any]:
    found = np.zeros(size, dtype=cells.dtype)
    found[: len(cells)] = cells
    return found
