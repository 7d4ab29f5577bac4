"""Uniform integers below a limit: which words are thrown away, and what the others become, exactly."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from noisewright.sample.entropy import uniform_below, uniform_from, whole_below
from tests.replay import Replay

WORDS = 2**64


def below(limit: int, *words: int) -> tuple[int, int]:
    """What one limit gives with these words, and how many it took."""
    replay = Replay(words)
    value = int(uniform_below(np.array([limit], dtype=np.uint64), replay)[0])
    return value, replay.consumed


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 7, 10, 12, 31, 64, 100])
def test_every_value_owns_the_same_number_of_words(limit: int):
    """The accepted words of a value are an interval; its two ends, and the words just outside, are tried."""
    rejected = WORDS % limit
    for value in range(limit):
        first = -(-(value * WORDS + rejected) // limit)
        last = ((value + 1) * WORDS - 1) // limit
        assert last - first + 1 == WORDS // limit
        assert below(limit, first) == (value, 1)
        assert below(limit, last) == (value, 1)
        before = value * WORDS // limit
        if before * limit < value * WORDS:
            before += 1
        for word in range(before, first):
            assert below(limit, word, last) == (value, 2)


@pytest.mark.parametrize("limit", [2**31 - 1, 2**32, 2**32 + 1, 2**53 + 7, 3 * 2**61, 2**63 - 1, 2**63])
def test_large_limits_agree_with_whole_number_arithmetic(limit: int):
    generator = np.random.Generator(np.random.PCG64(limit % 1000))
    edges = [0, 1, WORDS - 1, WORDS // limit, WORDS // limit + 1, WORDS - WORDS % limit - 1]
    for word in [*edges, *map(int, generator.integers(WORDS, size=300, dtype=np.uint64))]:
        words = [word, *map(int, generator.integers(WORDS, size=40, dtype=np.uint64))]
        taken = next(i for i, w in enumerate(words) if w * limit % WORDS >= WORDS % limit)
        assert below(limit, *words) == (words[taken] * limit // WORDS, taken + 1)


def test_an_array_of_limits_agrees_with_whole_number_arithmetic():
    """Random words and limits up to 2^63; about one word in four is thrown away at the largest."""
    generator = np.random.Generator(np.random.PCG64(17))
    sizes = generator.integers(0, 63, size=20_000, dtype=np.uint64)
    limits = (generator.integers(2**63, size=20_000, dtype=np.uint64) >> sizes) + np.uint64(1)
    replay, again = Replay(seed=23), Replay(seed=23)
    drawn = uniform_below(limits, replay)
    expected: dict[int, int] = {}
    waiting = list(range(len(limits)))
    while waiting:
        words = [int(word) for word in again.words(len(waiting))]
        left = []
        for i, word in zip(waiting, words, strict=True):
            product, limit = word * int(limits[i]), int(limits[i])
            if product % WORDS < WORDS % limit:
                left.append(i)
            else:
                expected[i] = product // WORDS
        waiting = left
    assert drawn.tolist() == [expected[i] for i in range(len(limits))]
    assert replay.consumed == again.consumed > len(limits)
    assert np.all(drawn < limits)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 16, 100, 255, 256])
def test_spare_bits_are_shared_out_evenly(limit: int):
    """All 256 values of eight spare bits: each result owns as many as the next, the rest ask for a new word."""
    used, spare = 56, np.arange(256, dtype=np.uint64)
    chosen = np.uint64(0xABCDEF0123456700) | spare
    limits = np.full(256, limit, dtype=np.uint64)
    rejected = 256 % limit
    replay = Replay(seed=5)
    drawn = uniform_from(chosen, used, limits, 256, replay)
    kept = [int(s) * limit % 256 >= rejected for s in spare]
    assert replay.consumed >= kept.count(False) == rejected
    shares = Counter(int(value) for value, keep in zip(drawn, kept, strict=True) if keep)
    assert shares == dict.fromkeys(range(limit), 256 // limit)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 11, 2**64 - 1, 2**64, 2**64 + 1, 10**30])
def test_whole_numbers_of_any_size_take_the_first_bits_that_fit(limit: int):
    bits = (limit - 1).bit_length()
    for value in {0, 1, limit // 2, limit - 1, limit, (1 << bits) - 1} & set(range(1 << min(bits, 20))) | {limit - 1}:
        length = -(-bits // 64)
        padded = value << (64 * length - bits)
        words = [padded >> 64 * (length - 1 - i) & (WORDS - 1) for i in range(length)]
        replay = Replay([*words, *[0] * length])
        assert whole_below(limit, replay) == (value if value < limit else 0)
        assert replay.consumed == (length if value < limit else 2 * length)


def test_no_limits_take_no_words():
    replay = Replay()
    assert len(uniform_below(np.array([], dtype=np.uint64), replay)) == replay.consumed == 0
