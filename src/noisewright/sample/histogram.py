"""Exact draws for the bins of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from noisewright.mechanisms.alike import Alike
from noisewright.mechanisms.rounding import Whole, as_numbers
from noisewright.sample.drawers import OneByOne, describe_error, drawer_for
from noisewright.sample.points import added
from noisewright.sample.sampler import NoiseSampler
from noisewright.sample.uniform import Entropy


@drawer_for.register(Alike)
class AlikeDrawer(OneByOne):
    """The same noise for every bin, drawn at once."""

    def __init__(self, mechanism: Alike) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.part.noise)

    def release(self, answer: Sequence[Any], entropy: Entropy) -> NDArray[Any]:
        counts = self._read(answer)
        return added(counts, self._sampler.many(len(counts), entropy.stream()))

    def draw(self, count: int, entropy: Entropy) -> NDArray[Any]:
        bins = self._mechanism.query.bins
        return self._sampler.many(count * bins, entropy.stream()).reshape(count, bins)

    def _read(self, answer: Any) -> Whole:
        """The cells of the counts, all at once."""
        self._mechanism.check(answer)
        return self._mechanism.part.cells_given(as_numbers(answer))


@describe_error.register
def _(mechanism: Alike) -> list[str]:
    first, *rest = describe_error(mechanism.part)
    return [first.replace("Error:", "Error of each bin:", 1), *rest]
