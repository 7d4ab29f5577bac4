"""Where random bits come from.

Each draw opens a stream of its own, keyed afresh from the operating system, so there is no state
that a forked process or another thread could inherit.
"""

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


class WordStream(Protocol):
    """Independent uniform 64-bit words, in order."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words."""


class Entropy(Protocol):
    """A source of word streams."""

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
