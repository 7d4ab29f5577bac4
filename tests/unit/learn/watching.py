"""Everything a fit releases, seen from outside: the mechanism, the true answer it was given, and what came out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisewright.problem.sensitivity import Box, Disjoint, L1Ball, Sparse
from noisewright.sample.certified import Certified


@dataclass(frozen=True)
class Release:
    """One call of `Certified.release`."""

    certified: Certified
    answer: tuple[Fraction, ...]
    released: tuple[float, ...]


@contextmanager
def watching() -> Iterator[list[Release]]:
    """Lists every release while it lasts; what is released stays as it is."""
    seen: list[Release] = []
    release = Certified.release

    def noted(self: Certified, answer: Any, **options: Any) -> Any:
        released = release(self, answer, **options)
        seen.append(Release(self, tuple(answer), tuple(released)))
        return released

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Certified, "release", noted)
        yield seen


def releases_of(model: Any, rows: Any, labels: Any, **options: Any) -> list[Release]:
    """What fitting this model to these rows releases; a row is (category, number)."""
    with watching() as seen:
        model.fit(np.array(rows, dtype=np.float64).reshape(-1, 2), np.array(labels), **options)
    return seen


def change(here: Release, there: Release) -> list[Fraction]:
    """How far each true number moves between two neighbouring tables."""
    return [a - b for a, b in zip(here.answer, there.answer, strict=True)]


def lies_in(difference: list[Fraction], chosen: Any) -> bool:
    """Whether a difference belongs to a set, read off the words that define the set."""
    sizes = [abs(d) for d in difference]
    if isinstance(chosen, L1Ball):
        return len(sizes) == chosen.dimension and sum(sizes) <= chosen.radius
    assert isinstance(chosen, Box | Disjoint | Sparse)
    most = {"box": len(sizes), "disjoint": 1, "sparse": getattr(chosen, "changes", 0)}[chosen.kind]
    moved = sum(size > 0 for size in sizes)
    return moved <= most and all(size <= limit for size, limit in zip(sizes, chosen.each, strict=True))
