"""Fingerprints depend on the content and on nothing else."""

from __future__ import annotations

import hashlib

import pytest

from noisewright.problem.records import digest


def test_the_order_of_keys_does_not_count():
    assert digest({"a": 1, "b": {"c": "x", "d": []}}) == digest({"b": {"d": [], "c": "x"}, "a": 1})


@pytest.mark.parametrize("other", [{"a": 2}, {"b": 1}, {"a": "1"}, {"a": [1]}, {"a": 1, "b": None}], ids=repr)
def test_every_difference_counts(other):
    assert digest({"a": 1}) != digest(other)


def test_the_fingerprint_is_the_sha_256_of_canonical_json():
    assert digest({"b": "é", "a": 1}) == hashlib.sha256(b'{"a":1,"b":"\\u00e9"}').hexdigest()


def test_what_json_cannot_carry_is_an_error():
    with pytest.raises(ValueError, match="JSON"):
        digest({"a": float("nan")})
    with pytest.raises(TypeError):
        digest({"a": object()})
