"""Exact draws for several numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import HALF, Lattice, Rounded
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.arrays import Floats
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.numbers import Number, show
from noisewright.problem.queries import Vector
from noisewright.sample.drawers import describe_error, drawer_for
from noisewright.sample.sampler import NoiseSampler
from noisewright.sample.shells import RoundBlockSampler, ShellSampler
from noisewright.sample.table import put
from noisewright.sample.uniform import Entropy, WordStream

_SHOWN = 6
_WITHOUT_TABLE = 400


@drawer_for.register(PerCoordinate)
class PerCoordinateDrawer:
    """Independent lattice noise for each number; numbers with the same noise in steps share a table."""

    def __init__(self, mechanism: PerCoordinate) -> None:
        self._mechanism = mechanism
        self._places: dict[Rounded, list[int]] = {}
        for i, part in enumerate(mechanism.parts):
            if part is not None:
                self._places.setdefault(in_steps(part), []).append(i)
        self._samplers = {noise: NoiseSampler(noise) for noise in self._places}

    def release(self, answer: Sequence[Number], entropy: Entropy) -> Floats:
        laws = self._mechanism.law_given(answer)
        out = list(laws)
        stream = entropy.stream()
        for noise, places in self._places.items():
            for i in places:
                out[i] = laws[i].value(self._samplers[noise].one(stream))
        return as_array(out, self._mechanism.query)

    def draw(self, count: int, entropy: Entropy) -> Floats:
        out = np.zeros((count, len(self._mechanism.parts)))
        stream = entropy.stream()
        for noise, places in self._places.items():
            cells = self._samplers[noise].many(count * len(places), stream).astype(np.float64)
            parts = [part for i in places if (part := self._mechanism.parts[i]) is not None]
            steps = np.array([float(part.spacing) for part in parts])
            out[:, places] = (cells.reshape(count, len(places)) + float(HALF - parts[0].lattice.edge)) * steps
        return out


def as_array(values: Sequence[Fraction], query: Vector) -> NDArray[Any]:
    """Released numbers: whole ones as integers where all are, else the nearest floats."""
    if query.integer is True:
        return put(np.empty(len(values), dtype=np.int64), slice(None), [int(v) for v in values])
    return np.array([float(v) for v in values])


def in_steps(part: Additive) -> Rounded:
    """The noise of a part with its step as the unit: the same law of cells, from shorter numbers."""
    step, law = part.lattice.step, part.law
    if isinstance(law, Laplace):
        return Rounded(Laplace(law.scale / step), Lattice.cells(Fraction(1)))
    if isinstance(law, Gaussian):
        return Rounded(Gaussian(law.std / step), Lattice.cells(Fraction(1)))
    return part.noise


@drawer_for.register(NormShaped)
class NormShapedDrawer:
    """One shell for each block, then its coordinates."""

    def __init__(self, mechanism: NormShaped) -> None:
        self._mechanism = mechanism
        self._samplers: dict[tuple[int, Fraction, str], ShellSampler | RoundBlockSampler] = {}
        for block in mechanism.blocks:
            key = _key(block)
            if key not in self._samplers:
                kind = ShellSampler if block.norm == "max" else RoundBlockSampler
                self._samplers[key] = kind(block.size, block.rate)

    def release(self, answer: Sequence[Number], entropy: Entropy) -> Floats:
        placed = [point for point, _ in self._mechanism.law_given(answer)]
        stream = entropy.stream()
        for block in self._mechanism.blocks:
            noise, stretch = self._samplers[_key(block)].one(stream), self._mechanism.stretch(block)
            for place, step, z in zip(block.places, block.steps, noise, strict=True):
                placed[place] += z * step * stretch
        return as_array(placed, self._mechanism.query)

    def draw(self, count: int, entropy: Entropy) -> Floats:
        out = np.zeros((count, self._mechanism.query.dimension))
        stream = entropy.stream()
        for block in self._mechanism.blocks:
            stretch = self._mechanism.stretch(block)
            steps = np.array([float(step * stretch) for step in block.steps])
            out[:, block.places] = self._noise(block, count, stream) * steps
        return out

    def _noise(self, block: NormBlock, count: int, stream: WordStream) -> NDArray[Any]:
        sampler = self._samplers[_key(block)]
        if count <= _WITHOUT_TABLE:
            return np.array([sampler.one(stream) for _ in range(count)], dtype=np.float64).reshape(count, block.size)
        return sampler.many(count, stream)


@drawer_for.register(LinearGaussian)
class LinearGaussianDrawer:
    """Independent lattice noise in the frame, mapped back."""

    def __init__(self, mechanism: LinearGaussian) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.noise)
        self._inverse = np.array([[float(v) for v in row] for row in mechanism.inverse])

    def release(self, answer: Sequence[Number], entropy: Entropy) -> Floats:
        cells = self._mechanism.law_given(answer)
        stream = entropy.stream()
        lattice = self._mechanism.lattice
        framed = [lattice.released(cell, self._sampler.one(stream)) for cell in cells]
        inverse = self._mechanism.inverse
        return np.array([float(sum((a * y for a, y in zip(row, framed, strict=True)), Fraction(0))) for row in inverse])

    def draw(self, count: int, entropy: Entropy) -> Floats:
        size = self._mechanism.query.dimension
        cells = self._sampler.many(count * size, entropy.stream()).astype(np.float64)
        framed = (cells.reshape(count, size) + 0.5) * float(self._mechanism.step)
        return np.asarray(framed @ self._inverse.T)


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
