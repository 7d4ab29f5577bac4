"""Exact draws for several numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import HALF, Lattice, Rounded
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.answers import read_number
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped, nearest
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.rounding import Cells
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, Floats
from noisewright.problem.numbers import Number, show
from noisewright.sample.columns import Column, ColumnsDrawer
from noisewright.sample.drawers import OneByOne, describe_error, drawer_for
from noisewright.sample.linear import over_one
from noisewright.sample.minkowski import MinkowskiSampler
from noisewright.sample.points import Points
from noisewright.sample.sampler import NoiseSampler
from noisewright.sample.shells import RoundBlockSampler, ShellSampler
from noisewright.sample.table import Indices
from noisewright.sample.uniform import Entropy, WordStream

BlockSampler = ShellSampler | RoundBlockSampler | MinkowskiSampler

_SHOWN = 6
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


@describe_error.register(PerCoordinate)
@describe_error.register(NormShaped)
@describe_error.register(LinearGaussian)
def _(mechanism: Any) -> list[str]:
    with precision():
        roots = [float(value.mid()) ** 0.5 for value in mechanism.power_means(Fraction(2), BALLS)]
    shown = ", ".join(f"{v:.6g}" for v in roots[:_SHOWN])
    more = f" … ({len(roots)} numbers)" if len(roots) > _SHOWN else ""
    lines = [
        f"Error: root mean square of each number {shown}{more}; all together {sum(v * v for v in roots) ** 0.5:.6g}."
    ]
    free = [i + 1 for i, extent in enumerate(mechanism.query.extents) if not extent]
    if free:
        names = ", ".join(map(str, free[:_SHOWN])) + (" …" if len(free) > _SHOWN else "")
        lines.append(f"No person can change number {names}: released without noise.")
    if isinstance(mechanism, LinearGaussian):
        lines.append(f"The noise of different numbers is correlated; steps of {show(mechanism.step)} in its own frame.")
    return lines
