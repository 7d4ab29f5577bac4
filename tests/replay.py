"""Entropy that is known beforehand. It lives in the tests: nothing in production can be seeded."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Replay:
    """One stream that yields the given words, then pseudo-random ones of a seed, and counts them all.

    Without a seed it ends with the given words, and asking for more is an error.
    """

    def __init__(self, words: Iterable[int] = (), *, seed: int | None = None) -> None:
        self._given = np.array(list(words), dtype=np.uint64)
        self._more = None if seed is None else np.random.Generator(np.random.PCG64(seed))
        self.consumed = 0

    def stream(self) -> Replay:
        return self

    def words(self, count: int) -> NDArray[np.uint64]:
        given = self._given[self.consumed : self.consumed + count]
        self.consumed += count
        if len(given) == count:
            return given
        if self._more is None:
            raise EOFError("the replayed words are used up")
        return np.concatenate([given, self._more.integers(2**64, size=count - len(given), dtype=np.uint64)])


def extended(words: Iterable[int], seed: int, length: int) -> tuple[int, int]:
    """The first `length` words of Replay(words, seed=seed) as one whole number, and how many bits it has."""
    value = 0
    for word in Replay(words, seed=seed).words(length):
        value = value << 64 | int(word)
    return value, 64 * length


class SameEntropy:
    """Every stream begins anew with the same words: what is drawn depends on the call alone."""

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed

    def stream(self) -> Replay:
        return Replay(seed=self.seed)
