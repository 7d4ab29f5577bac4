"""Exact draws for several numbers: those on one lattice together, as exactly as one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import HALF, Lattice, Rounded
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.answers import Cells, Whole, as_numbers, check_count, read_number
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped, nearest
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.numbers import Number
from noisewright.problem.queries import Vector
from noisewright.sample.drawers import OneByOne, drawer_for
from noisewright.sample.entropy import Entropy, WordStream
from noisewright.sample.inversion import Indices
from noisewright.sample.linear import over_one
from noisewright.sample.norm_shaped import MinkowskiSampler, RoundBlockSampler, ShellSampler
from noisewright.sample.points import Points, added
from noisewright.sample.sampler import NoiseSampler

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


BlockSampler = ShellSampler | RoundBlockSampler | MinkowskiSampler

_WITHOUT_TABLE = 400


@drawer_for.register(PerCoordinate)
class PerCoordinateDrawer(ColumnsDrawer):
    """Independent lattice noise for each number; numbers with the same noise in steps share a table."""

    def __init__(self, mechanism: PerCoordinate) -> None:
        self._mechanism = mechanism
        self._places: dict[Rounded, list[int]] = {}
        columns = _alike(mechanism)
        for (part, _), places in columns.items():
            self._places.setdefault(in_steps(part), []).extend(places)
        for places in self._places.values():
            places.sort()
        self._samplers = {noise: NoiseSampler(noise) for noise in self._places}
        exact = mechanism.query.exact
        super().__init__(
            mechanism.query, [_column(part, move, exact, places) for (part, move), places in columns.items()]
        )

    def draw(self, count: int, entropy: Entropy) -> Floats:
        parts = self._mechanism.parts
        middles = [0.0 if part is None else float(HALF - part.lattice.edge) for part in parts]
        steps = [0.0 if part is None else float(part.spacing) for part in parts]
        return np.asarray((self._noise(count, entropy.stream()).astype(np.float64) + middles) * steps)

    def _noise(self, count: int, stream: WordStream) -> Indices:
        out: Indices = np.zeros((count, len(self._mechanism.parts)), dtype=np.int64)
        for noise, places in self._places.items():
            cells = self._samplers[noise].many(count * len(places), stream).reshape(count, len(places))
            out = out.astype(object) if cells.dtype == object else out
            out[:, places] = cells
        return out


def _alike(mechanism: PerCoordinate) -> dict[tuple[Additive, Fraction], list[int]]:
    """The places of each part and smallest move; a million parts that are one object are compared by that alone."""
    found: dict[tuple[int, Fraction], list[int]] = {}
    moves = mechanism.query.sensitivity.smallest
    for i, (part, move) in enumerate(zip(mechanism.parts, moves, strict=True)):
        if part is not None:
            found.setdefault((id(part), move), []).append(i)
    alike: dict[tuple[Additive, Fraction], list[int]] = {}
    for (_, move), places in found.items():
        part = mechanism.parts[places[0]]
        assert part is not None
        alike.setdefault((part, move), []).extend(places)
    return alike


def _column(part: Additive, move: Fraction, exact: bool, places: list[int]) -> Column:
    """The numbers that have one part, read as the question says."""
    return Column(
        np.array(places, dtype=np.intp),
        lambda answers: part.cells_given(answers, (move, exact or not move)),
        int(1 - 2 * part.lattice.edge),
        None if part.query.integer else Points(part.lattice.step, part.spacing),
    )


def in_steps(part: Additive) -> Rounded:
    """The noise of a part with its step as the unit: the same law of cells, from shorter numbers."""
    step, law = part.lattice.step, part.law
    if isinstance(law, Laplace):
        return Rounded(Laplace(law.scale / step), Lattice.cells(Fraction(1)))
    if isinstance(law, Gaussian):
        return Rounded(Gaussian(law.std / step), Lattice.cells(Fraction(1)))
    return part.noise


@drawer_for.register(NormShaped)
class NormShapedDrawer(ColumnsDrawer):
    """One shell for each block, then its coordinates."""

    def __init__(self, mechanism: NormShaped) -> None:
        self._mechanism = mechanism
        self._samplers: dict[tuple[int, Fraction, str], BlockSampler] = {}
        columns: dict[tuple[Fraction, Fraction, Fraction, bool], list[int]] = {}
        moves = mechanism.query.sensitivity.smallest
        for block in mechanism.blocks:
            key = _key(block)
            if key not in self._samplers:
                self._samplers[key] = _sampler(block)
            whole, stretch = mechanism.whole(block), mechanism.stretch(block)
            for place, step in zip(block.places, block.steps, strict=True):
                columns.setdefault((step, stretch, moves[place], whole), []).append(place)
        exact = mechanism.query.exact
        super().__init__(mechanism.query, [_block_column(*key, exact, places) for key, places in columns.items()])

    def draw(self, count: int, entropy: Entropy) -> Floats:
        out = np.zeros((count, self._mechanism.query.dimension))
        stream = entropy.stream()
        for block in self._mechanism.blocks:
            stretch = self._mechanism.stretch(block)
            steps = np.array([float(step * stretch) for step in block.steps])
            out[:, block.places] = self._of_block(block, count, stream) * steps
        return out

    def _noise(self, count: int, stream: WordStream) -> Indices:
        out = np.zeros((count, self._mechanism.query.dimension), dtype=np.int64)
        for block in self._mechanism.blocks:
            out[:, block.places] = self._of_block(block, count, stream)
        return out

    def _of_block(self, block: NormBlock, count: int, stream: WordStream) -> NDArray[np.int64]:
        sampler = self._samplers[_key(block)]
        if count <= _WITHOUT_TABLE:
            return np.array([sampler.one(stream) for _ in range(count)], dtype=np.int64).reshape(count, block.size)
        return sampler.many(count, stream)


def _block_column(
    step: Fraction, stretch: Fraction, move: Fraction, whole: bool, exact: bool, places: list[int]
) -> Column:
    """The numbers of all blocks that have one step, put on the nearest multiple of it."""

    def one(answer: Any) -> int:
        return nearest(read_number(answer, move, exact, whole) / stretch, step, whole=whole)

    coarse = None if exact or whole or not move else move
    cells = Cells(step * stretch, HALF, coarse, one)
    if not whole:
        points = Points(step, step * stretch, always_floats=True)
        return Column(np.array(places, dtype=np.intp), cells.indices, 0, points)
    return Column(np.array(places, dtype=np.intp), cells.whole_indices, 0, None, int(step))


@drawer_for.register(LinearGaussian)
class LinearGaussianDrawer(OneByOne):
    """Independent lattice noise in the frame, mapped back."""

    def __init__(self, mechanism: LinearGaussian) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.noise)
        self._inverse = np.array([[float(v) for v in row] for row in mechanism.inverse])
        self._rows = [over_one([v * mechanism.step for v in row]) for row in mechanism.inverse]

    def release(self, answer: Sequence[Number], entropy: Entropy) -> Floats:
        cells = self._mechanism.law_given(answer)
        stream = entropy.stream()
        # Centre of the answer's cell plus centre of the noise's, in steps.
        framed = [cell + self._sampler.one(stream) + 1 for cell in cells]
        # The quotient of two Python integers is the float nearest to it.
        return np.array([sum(map(mul, row, framed)) / denominator for row, denominator in self._rows])

    def draw(self, count: int, entropy: Entropy) -> Floats:
        size = self._mechanism.query.dimension
        cells = self._sampler.many(count * size, entropy.stream()).astype(np.float64)
        framed = (cells.reshape(count, size) + 0.5) * float(self._mechanism.step)
        return np.asarray(framed @ self._inverse.T)


def _sampler(block: NormBlock) -> BlockSampler:
    """The sampler of a block's norm."""
    if block.order is None:
        return ShellSampler(block.size, block.rate)
    return (
        RoundBlockSampler(block.size, block.rate)
        if block.order == 2
        else MinkowskiSampler(block.size, block.rate, block.order)
    )


def _key(block: NormBlock) -> tuple[int, Fraction, str]:
    return block.size, block.rate, block.norm


@drawer_for.register(IdenticalNoise)
class IdenticalNoiseDrawer(OneByOne):
    """The same noise for every bin, drawn at once."""

    def __init__(self, mechanism: IdenticalNoise) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.part.noise)

    def release(self, answer: Sequence[Any], entropy: Entropy) -> NDArray[Any]:
        counts = self._read(answer)
        return added(counts, self._sampler.many(len(counts), entropy.stream()))

    def draw(self, count: int, entropy: Entropy) -> NDArray[Any]:
        bins = self._mechanism.query.bins
        return self._sampler.many(count * bins, entropy.stream()).reshape(count, bins)

    def _read(self, answer: Any) -> Whole:
        """The cells of the counts, all at once."""
        self._mechanism.check(answer)
        return self._mechanism.part.cells_given(as_numbers(answer))
