"""How linear mechanisms are drawn: exact integer noise on exact integer sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.linear.noise import Block, ColumnGaussian, LinearElliptical, LinearLaplace
from noisewright.numerics.balls import Ball, ball
from noisewright.sample.drawers import OneByOne, drawer_for
from noisewright.sample.entropy import Entropy, WordStream
from noisewright.sample.integer_noise import TwoSided, flip
from noisewright.sample.sampler import NoiseSampler

_BATCH = 1 << 13
_SLACK = 2.0**-40


@drawer_for.register(LinearLaplace)
class LaplaceDrawer(OneByOne):
    """Independent two-sided geometric noise for each query; those of one rate are drawn in one go."""

    def __init__(self, mechanism: LinearLaplace) -> None:
        self._mechanism = mechanism
        self._places: dict[Fraction, list[int]] = {}
        for k, rate in enumerate(mechanism.rates):
            if not rate:
                continue
            self._places.setdefault(rate, []).append(k)
        self._noise = {rate: TwoSided(lambda rate=rate: ball(rate)) for rate in self._places}  # type: ignore[misc]

    def release(self, answer: Any, entropy: Entropy) -> NDArray[np.float64]:
        noisy = self._mechanism.sums(answer)
        stream = entropy.stream()
        for rate, places in self._places.items():
            for k, z in zip(places, self._noise[rate].draw(len(places), stream).tolist(), strict=True):
                noisy[k] += z
        steps = self._mechanism.steps
        return np.array([h.numerator * v / h.denominator for h, v in zip(steps, noisy, strict=True)])

    def draw(self, count: int, entropy: Entropy) -> NDArray[np.float64]:
        stream = entropy.stream()
        result = np.zeros((count, len(self._mechanism.steps)))
        for rate, places in self._places.items():
            drawn = self._noise[rate].draw(count * len(places), stream).astype(np.float64)
            result[:, places] = drawn.reshape(count, len(places))
        return np.asarray(result * [float(h) for h in self._mechanism.steps])


@drawer_for.register(LinearElliptical)
class EllipticalDrawer(OneByOne):
    """Round integer noise for each block, mapped back to the answers."""

    def __init__(self, mechanism: LinearElliptical) -> None:
        self._mechanism = mechanism
        self._noise = [RoundNoise(block) if block.share else None for block in mechanism.blocks]
        self._decode = [[over_one(row) for row in block.decode] for block in mechanism.blocks]

    def release(self, answer: Any, entropy: Entropy) -> NDArray[np.float64]:
        totals = self._mechanism.sums(answer)
        stream = entropy.stream()
        result = np.zeros(self._mechanism.query.dimension)
        blocks = zip(self._mechanism.blocks, totals, self._noise, self._decode, strict=True)
        for block, sums, noise, decode in blocks:
            drawn = noise.draw(1, stream)[0] if noise else [0] * len(sums)
            noisy = [s + int(w) for s, w in zip(sums, drawn, strict=True)]
            for k, (row, denominator) in zip(block.rows, decode, strict=True):
                # The quotient of two Python integers is the float nearest to it.
                result[k] = sum(a * b for a, b in zip(row, noisy, strict=True)) / denominator
        return result

    def draw(self, count: int, entropy: Entropy) -> NDArray[np.float64]:
        stream = entropy.stream()
        result = np.zeros((count, self._mechanism.query.dimension))
        for block, noise in zip(self._mechanism.blocks, self._noise, strict=True):
            if noise is None:
                continue
            decode = np.array([[float(v) for v in row] for row in block.decode])
            result[:, list(block.rows)] = noise.draw(count, stream).astype(np.float64) @ decode.T
        return result


@drawer_for.register(ColumnGaussian)
class ColumnGaussianDrawer(OneByOne):
    """Independent rounded Gaussian noise on the cells of the sums, mapped back to the answers."""

    def __init__(self, mechanism: ColumnGaussian) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.noise)

    def release(self, answer: Any, entropy: Entropy) -> NDArray[np.float64]:
        cells = self._mechanism.cells(answer)
        stream = entropy.stream()
        noisy = [cell + int(self._sampler.one(stream)) for cell in cells]
        return np.array([float(v) for v in self._mechanism.answers(noisy)])

    def draw(self, count: int, entropy: Entropy) -> NDArray[np.float64]:
        size = self._mechanism.query.dimension
        decode = np.array([[float(v) for v in row] for row in self._mechanism.decode])
        noise = self._sampler.many(count * size, entropy.stream()).astype(np.float64)
        return np.asarray(noise.reshape(count, size) @ decode.T)


def over_one(row: Sequence[Fraction]) -> tuple[list[int], int]:
    """Rationals as whole numbers over their common denominator."""
    denominator = math.lcm(*(v.denominator for v in row))
    return [int(v * denominator) for v in row], denominator


class RoundNoise:
    """Integer vectors of mass proportional to e^(-rate |w|), |w| the Euclidean length.

    Proposals have independent coordinates of rate/sqrt(K); since |w| is at least the sum of |w_k|
    over sqrt(K), accepting with probability e^(-rate (|w| - sum/sqrt(K))) leaves exactly that law.
    Floats decide where they are far from the edge, balls the rest.
    """

    def __init__(self, block: Block) -> None:
        self._dimension = len(block.rows)
        self._rate = block.rate
        self._proposal = TwoSided(lambda: ball(block.rate) / ball(self._dimension).sqrt())

    def draw(self, count: int, stream: WordStream) -> NDArray[Any]:
        """`count` independent vectors, one in each row."""
        found: list[NDArray[Any]] = []
        total = 0
        while total < count:
            expected = (count - total) * 8 ** (self._dimension / 6)
            batch = int(min(_BATCH, max(16, expected)))
            vectors = self._proposal.draw(batch * self._dimension, stream).reshape(batch, self._dimension)
            kept = vectors[self._accepted(vectors, stream)]
            found.append(kept)
            total += len(kept)
        joined = np.concatenate(found)[:count] if found else np.zeros((0, self._dimension), dtype=np.int64)
        return np.asarray(joined)

    def _accepted(self, vectors: NDArray[Any], stream: WordStream) -> NDArray[np.bool_]:
        words = stream.words(len(vectors))
        values = np.abs(vectors.astype(np.float64))
        length = np.sqrt((values * values).sum(axis=1)) * float(self._rate)
        taxi = values.sum(axis=1) * (float(self._rate) / self._dimension**0.5)
        chance = np.exp(-np.maximum(length - taxi, 0.0))
        # Each float above is within 2^-44 of its real value, relatively; so is the exponent, times its size.
        slack = _SLACK * (1 + length + taxi)
        uniform = words.astype(np.float64) * 2.0**-64
        accepted = uniform < chance - slack
        open_cases = np.flatnonzero(~accepted & (uniform <= chance + slack))
        for i in open_cases:
            vector = [int(v) for v in vectors[i]]
            accepted[i] = flip(lambda vector=vector: self._chance(vector), int(words[i]), 64, stream)  # type: ignore[misc]
        return np.asarray(accepted)

    def _chance(self, vector: list[int]) -> Ball:
        squares, taxi = sum(v * v for v in vector), sum(abs(v) for v in vector)
        if squares * self._dimension == taxi * taxi:
            return ball(1)
        excess = ball(squares).sqrt() - ball(taxi) / ball(self._dimension).sqrt()
        return (-ball(self._rate) * excess).exp()
