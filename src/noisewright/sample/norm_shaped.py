"""Exact draws of norm-shaped noise: shells of the largest-coordinate norm, and integer vectors of any l_p norm."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.shells import ShellRadius
from noisewright.numerics.balls import Ball, ball
from noisewright.numerics.fields import BALLS, Floats
from noisewright.sample.entropy import WordStream, uniform_below
from noisewright.sample.integer_noise import flip
from noisewright.sample.inversion import CdfTable, Inverter
from noisewright.sample.sampler import NoiseSampler

_MOST_COORDINATES = 1 << 19
_BITS = 64
_MARGIN = 1e-9
_BATCH = 1 << 16
_SMALL_BATCH = 16


class ShellSampler:
    """Integer vectors of mass proportional to e^(-rate max|z_i|).

    Guarantees: every vector has exactly that probability: the radius is inverted with as many bits
    as it takes, the coordinates are uniform by rejection.
    """

    def __init__(self, size: int, rate: Fraction) -> None:
        self._size = size
        self._law = ShellRadius(size, rate)
        self._inverter = Inverter(self._law)
        self._table: CdfTable | None = None

    def one(self, stream: WordStream) -> NDArray[np.int64]:
        """A single vector; needs no table."""
        r = self._inverter.draw(stream)
        limits = np.full(self._size, 2 * r + 1, dtype=np.uint64)
        return uniform_below(limits, stream).view(np.int64) - r

    def many(self, count: int, stream: WordStream) -> NDArray[np.int64]:
        """`count` vectors, one a row, through a table of the radius."""
        if self._table is None:
            first, last = self._law.span()
            self._table = CdfTable(self._law, first - 1, last)
        rows = max(1, _MOST_COORDINATES // self._size)
        parts = [self._part(self._table, min(rows, count - i), stream) for i in range(0, count, rows)]
        return np.concatenate(parts) if parts else np.zeros((0, self._size), dtype=np.int64)

    def _part(self, table: CdfTable, count: int, stream: WordStream) -> NDArray[np.int64]:
        radius = table.draw(count, stream)
        limits = np.repeat((2 * radius + 1).astype(np.uint64), self._size)
        drawn = uniform_below(limits, stream).astype(np.int64).reshape(count, self._size)
        return np.asarray(drawn - radius[:, None])


class RoundBlockSampler:
    """Integer vectors of mass proportional to e^(-rate |z|), |z| the Euclidean length.

    Coordinates are proposed from mass proportional to e^(-c |z_i|) with a rational c at most
    rate / sqrt(k), and kept with probability e^(c sum|z_i| - rate |z|), which is at most 1.
    Guarantees: floats clear the clear cases; whatever lies within 1e-9 is decided in balls, with more bits as needed.
    """

    def __init__(self, size: int, rate: Fraction) -> None:
        self._size, self._rate = size, rate
        # Rounded down to a grid: a proposal that is a little too wide costs attempts, never exactness.
        self._proposal = Fraction(int(float(rate) / size**0.5 * (1 - 1e-6) * 2**60), 2**60)
        law = DiscreteLaplace(1 / self._proposal)
        self._sampler = NoiseSampler(Rounded(law.stepped(), Lattice.integers()))

    def one(self, stream: WordStream) -> NDArray[np.int64]:
        """A single vector."""
        while True:
            vectors = np.array([self._sampler.one(stream) for _ in range(_SMALL_BATCH * self._size)], dtype=np.int64)
            kept = self._kept(vectors.reshape(_SMALL_BATCH, self._size), stream)
            if len(kept):
                return np.asarray(kept[0])

    def many(self, count: int, stream: WordStream) -> NDArray[np.int64]:
        """`count` vectors, one a row."""
        parts: list[NDArray[np.int64]] = [np.zeros((0, self._size), dtype=np.int64)]
        found = 0
        while found < count:
            proposals = self._sampler.many(_BATCH * self._size, stream).astype(np.int64)
            kept = self._kept(proposals.reshape(_BATCH, self._size), stream)
            parts.append(kept)
            found += len(kept)
        return np.concatenate(parts)[:count]

    def _kept(self, vectors: NDArray[np.int64], stream: WordStream) -> NDArray[np.int64]:
        words = stream.words(len(vectors))
        values = vectors.astype(np.float64)
        slack = float(self._proposal) * np.abs(values).sum(axis=1)
        slack -= float(self._rate) * np.sqrt((values * values).sum(axis=1))
        chance = np.exp(slack)
        uniform = words.astype(np.float64) * 2.0**-64
        margin = _MARGIN * (1 + np.abs(slack))
        keep = uniform < chance
        for i in np.flatnonzero(np.abs(uniform - chance) <= margin):
            keep[i] = self._decide(vectors[i], int(words[i]), stream)
        return np.asarray(vectors[keep])

    def _decide(self, vector: NDArray[np.int64], u: int, stream: WordStream) -> bool:
        """Whether U, which begins with the bits u, is below the chance to keep the vector."""
        entries = [int(v) for v in vector]
        total, square = sum(map(abs, entries)), sum(v * v for v in entries)

        def chance() -> Ball:
            return (ball(self._proposal * total) - ball(self._rate) * ball(square).sqrt()).exp()

        return not square or flip(chance, u, _BITS, stream)


class MinkowskiSampler:
    """Integer vectors of mass proportional to e^(-rate |z|_p).

    Vectors are proposed and kept with the probability that makes up for it. Proposals are of mass proportional to
    e^(-c sum|z_i|), independent for each coordinate, with a rational c at most rate k^(1/p - 1), so that the sum
    costs at most the norm (Hölder); or of mass proportional to e^(-rate max|z_i|), the maximum being at most the norm.
    Whichever keeps more is taken.
    Guarantees: floats clear the clear cases; whatever lies within 1e-9 is decided in balls, with more bits as needed.
    """

    def __init__(self, size: int, rate: Fraction, order: Fraction) -> None:
        self._size, self._rate, self._order = size, rate, order
        shells, sums = _kept_of_shells(size, float(order)), _kept_of_sums(size, float(order))
        self._flat = shells > sums
        self._batch = math.ceil(1 / math.exp(max(shells, sums)))
        # Rounded down to a grid: a proposal that is a little too wide costs attempts, never exactness.
        share = float(size) ** (1 / float(order) - 1) * (1 - 1e-6)
        self._proposal = rate if self._flat else Fraction(int(float(rate) * share * 2**60), 2**60)
        self._shells = ShellSampler(size, rate) if self._flat else None
        self._single = NoiseSampler(Rounded(DiscreteLaplace(1 / self._proposal).stepped(), Lattice.integers()))

    def one(self, stream: WordStream) -> NDArray[np.int64]:
        """A single vector."""
        while True:
            kept = self._kept(self._few(stream), stream)
            if len(kept):
                return np.asarray(kept[0])

    def many(self, count: int, stream: WordStream) -> NDArray[np.int64]:
        """`count` vectors, one a row."""
        batch = max(1, _MOST_COORDINATES // self._size)
        parts: list[NDArray[np.int64]] = [np.zeros((0, self._size), dtype=np.int64)]
        found = 0
        while found < count:
            parts.append(self._kept(self._proposed(batch, stream), stream))
            found += len(parts[-1])
        return np.concatenate(parts)[:count]

    def _few(self, stream: WordStream) -> NDArray[np.int64]:
        """As many proposals as one vector takes on average."""
        if self._shells is not None:
            return np.array([self._shells.one(stream) for _ in range(self._batch)], dtype=np.int64)
        drawn = [self._single.one(stream) for _ in range(self._batch * self._size)]
        return np.array(drawn, dtype=np.int64).reshape(self._batch, self._size)

    def _proposed(self, count: int, stream: WordStream) -> NDArray[np.int64]:
        if self._shells is not None:
            return self._shells.many(count, stream)
        return self._single.many(count * self._size, stream).astype(np.int64).reshape(count, self._size)

    def _kept(self, vectors: NDArray[np.int64], stream: WordStream) -> NDArray[np.int64]:
        words = stream.words(len(vectors))
        sizes = np.abs(vectors).astype(np.float64)
        slack = float(self._proposal) * (sizes.max(axis=1) if self._flat else sizes.sum(axis=1))
        slack -= float(self._rate) * _lengths(sizes, float(self._order))
        chance = np.exp(slack)
        uniform = words.astype(np.float64) * 2.0**-64
        keep = uniform < chance
        for i in np.flatnonzero(np.abs(uniform - chance) <= _MARGIN * (1 + np.abs(slack))):
            keep[i] = self._decide(vectors[i], int(words[i]), stream)
        return np.asarray(vectors[keep])

    def _decide(self, vector: NDArray[np.int64], u: int, stream: WordStream) -> bool:
        """Whether U, which begins with the bits u, is below the chance to keep the vector."""
        entries = [abs(int(v)) for v in vector]
        cost = self._proposal * (max(entries) if self._flat else sum(entries))

        def chance() -> Ball:
            powers = (BALLS.power(ball(v), self._order) for v in entries if v)
            length = BALLS.power(sum(powers, start=ball(0)), 1 / self._order)
            return (ball(cost) - ball(self._rate) * length).exp()

        return not any(entries) or flip(chance, u, _BITS, stream)


def _lengths(sizes: Floats, order: float) -> Floats:
    """The l_p norm of each row; relative to its largest entry, so that no power leaves the range of floats."""
    top = np.maximum(sizes.max(axis=1), 1.0)
    return np.asarray(top * ((sizes / top[:, None]) ** order).sum(axis=1) ** (1 / order))


def _kept_of_shells(size: int, order: float) -> float:
    """The logarithm of the share of vectors proposed by their largest coordinate that is kept: a ratio of volumes."""
    return size * math.lgamma(1 + 1 / order) - math.lgamma(1 + size / order)


def _kept_of_sums(size: int, order: float) -> float:
    """The same for proposals by the sum of sizes."""
    return _kept_of_shells(size, order) + math.lgamma(size + 1) - size * (1 - 1 / order) * math.log(size)
