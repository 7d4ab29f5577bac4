"""Several numbers, some of them whole, with a delta: real noise, widened until its discrete form is proven."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.errors import InvalidLawError, UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.proof.vector_gaussian import approximate_per_coordinate

_FINEST = Fraction(1, 2**14)
_WIDENED = 12


def widened(mechanism: PerCoordinate, privacy: ApproxDP) -> PerCoordinate | None:
    """The mechanism with all its scales made larger by as little as the verifier asks; None where it never agrees.

    Guarantees: the verifier's rule held for what is returned.
    """
    for doublings in range(_WIDENED):
        factor = 1 + (_FINEST * 2 ** (doublings - 1) if doublings else 0)
        try:
            tried = _scaled(mechanism, Fraction(factor))
            if approximate_per_coordinate(tried, privacy)[0] <= privacy.delta:
                return tried
        except (InvalidLawError, UncertifiedError):
            return None
    return None


def _scaled(mechanism: PerCoordinate, factor: Fraction) -> PerCoordinate:
    @cache
    def part(given: Additive) -> Additive:
        law: Any = given.law
        name = "std" if hasattr(law, "std") else "scale"
        return replace(given, law=replace(law, **{name: getattr(law, name) * factor}))

    return replace(mechanism, parts=tuple(None if p is None else part(p) for p in mechanism.parts))
