"""Random bits from the operating system, and uniform integers made of them."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

_KEY_BYTES = 32
_NONCE_BYTES = 16
_WORD_BYTES = 8
_ZEROS = bytes(1 << 20)
_WORD_BITS = 64
_HALF_WORD = np.uint64(32)
_LOW_HALF = np.uint64(2**32 - 1)


class WordStream(Protocol):
    """Independent uniform 64-bit words, in order."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words."""


class Entropy(Protocol):
    """A source of word streams, each keyed afresh: no state for a forked process or another thread to inherit."""

    def stream(self) -> WordStream:
        """A new stream, independent of every other."""


class SystemEntropy:
    """AES-256 in counter mode under a fresh key and nonce from the operating system."""

    def stream(self) -> WordStream:
        return _KeyStream(os.urandom(_KEY_BYTES), os.urandom(_NONCE_BYTES))


class _KeyStream:
    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(nonce)).encryptor()

    def words(self, count: int) -> NDArray[np.uint64]:
        size = count * _WORD_BYTES
        zeros = memoryview(_ZEROS)[:size] if size <= len(_ZEROS) else bytes(size)
        return np.frombuffer(self._encryptor.update(zeros), dtype=np.uint64)


Words = NDArray[np.uint64]


def uniform_below(limits: Words, stream: WordStream) -> Words:
    """One exact uniform integer in [0, limit) for each limit, by multiplication and rejection.

    The high half of word * limit is uniform once words whose low half falls below 2^64 mod limit
    are thrown away.
    """
    high, low = _product(stream.words(len(limits)), limits)
    if len(limits):
        doubtful = np.flatnonzero(low < limits.max())
        rejected = doubtful[low[doubtful] < (np.uint64(0) - limits[doubtful]) % limits[doubtful]]
        if len(rejected):
            high[rejected] = uniform_below(limits[rejected], stream)
    return high


def uniform_from(words: Words, used: int, limits: Words, longest: int, stream: WordStream) -> Words:
    """The same from all but the first `used` bits of given words; those rejected are replaced by new words.

    Valid for: limits up to `longest`, which is at most 2^used, so that a product fits one word.
    """
    width = _WORD_BITS - used
    spare = np.uint64((1 << width) - 1)
    product = words & spare
    product *= limits
    low = product & spare
    product >>= np.uint64(width)
    doubtful = np.flatnonzero(low < np.uint64(longest))
    if len(doubtful):
        rejected = doubtful[low[doubtful] < np.uint64(1 << width) % limits[doubtful]]
        product[rejected] = uniform_below(limits[rejected], stream)
    return product


def whole_below(limit: int, stream: WordStream) -> int:
    """One exact uniform integer in [0, limit), for a limit of any size, by rejection."""
    bits = (limit - 1).bit_length()
    words = -(-bits // _WORD_BITS)
    while True:
        value = 0
        for word in stream.words(words):
            value = value << _WORD_BITS | int(word)
        value >>= words * _WORD_BITS - bits
        if value < limit:
            return value


def _product(a: Words, b: Words) -> tuple[Words, Words]:
    """High and low 64 bits of a product of 64-bit words."""
    a_low, a_high = a & _LOW_HALF, a >> _HALF_WORD
    b_low, b_high = b & _LOW_HALF, b >> _HALF_WORD
    cross = a_high * b_low + (a_low * b_low >> _HALF_WORD)
    middle = a_low * b_high + (cross & _LOW_HALF)
    return a_high * b_high + (cross >> _HALF_WORD) + (middle >> _HALF_WORD), a * b
