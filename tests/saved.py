"""One saved mechanism of every kind, built and certified anew."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import noisewright.mechanisms.renewed  # noqa: F401  # loads every mechanism, which registers it
from noisewright.mechanisms.base import MECHANISMS
from noisewright.proof.certify import certify
from noisewright.sample.certified import Certified
from tests.tree import tracked

CORPUS = Path(__file__).resolve().parent / "fixtures" / "corpus"
KINDS = sorted(MECHANISMS.kinds)


@cache
def example(kind: str) -> Certified:
    """The first saved mechanism of a kind."""
    for path in tracked(CORPUS, ".json"):
        if json.loads(path.read_text(encoding="utf-8"))["mechanism"]["kind"] == kind:
            saved = Certified.load(path)
            mechanism = MECHANISMS.from_dict(saved.mechanism.to_dict())
            return Certified(mechanism, certify(mechanism, saved.certificate.requirement))
    raise LookupError(f"save an example of {kind!r} into tests/fixtures/corpus, with Certified.save")
