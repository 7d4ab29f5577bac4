"""What the stream of random words is made of: a key and a nonce from the operating system, afresh each time."""

from __future__ import annotations

import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from noisewright.sample.certified import make_certified
from noisewright.sample.entropy import SystemEntropy
from tests.mechanisms_by_hand import GEOMETRIC, ONE_EPSILON


def counter_words(key: bytes, nonce: bytes, count: int) -> list[int]:
    """AES of the nonce, of the nonce plus one, …, cut into words of eight bytes as this machine reads them."""
    encryptor = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    start = int.from_bytes(nonce, "big")
    blocks = ((start + i) % 2**128 for i in range(-(-count // 2)))
    data = b"".join(encryptor.update(block.to_bytes(16, "big")) for block in blocks)
    return [int(word) for word in np.frombuffer(data, dtype=np.uint64)[:count]]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the operating system gave, in order."""
    handed: list[bytes] = []
    real = os.urandom

    def urandom(size: int) -> bytes:
        handed.append(real(size))
        return handed[-1]

    monkeypatch.setattr(os, "urandom", urandom)
    return handed


def test_words_are_the_counter_under_a_key_and_a_nonce_of_the_operating_system(given: list[bytes]):
    stream = SystemEntropy().stream()
    assert sorted(map(len, given)) == [16, 32]
    nonce, key = sorted(given, key=len)
    # In uneven parts, so that a stream that begins again at each request is seen.
    words = [int(w) for count in (1, 3, 0, 2, 200_001) for w in stream.words(count)]
    assert words == counter_words(key, nonce, len(words))


def test_every_stream_asks_for_a_key_and_a_nonce_of_its_own(given: list[bytes]):
    source = SystemEntropy()
    for _ in range(5):
        source.stream()
    keys = [part for part in given if len(part) == 32]
    nonces = [part for part in given if len(part) == 16]
    assert len(set(keys)) == len(set(nonces)) == 5


def test_every_call_of_a_mechanism_draws_from_a_new_key(given: list[bytes]):
    certified = make_certified(GEOMETRIC, ONE_EPSILON)
    for call in (
        lambda: certified.release(3),
        lambda: certified.draw(3),
        lambda: certified.release_many([3, 4]),
        lambda: certified.draw(3),
    ):
        before = len(given)
        call()
        assert [len(part) for part in given[before:]].count(32) >= 1
    keys = [part for part in given if len(part) == 32]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("constant", [16, 32])
def test_a_known_nonce_tells_nothing_without_the_key_nor_a_key_without_the_nonce(
    monkeypatch: pytest.MonkeyPatch, constant: int
):
    """Whichever of the two is always the same, streams still differ by the other."""
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: bytes(size) if size == constant else real(size))
    first, second = SystemEntropy().stream().words(50), SystemEntropy().stream().words(50)
    assert not np.isin(first, second).any()
