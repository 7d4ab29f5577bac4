"""Exact draws for the bins of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.alike import Alike
from noisewright.sample.drawers import describe_error, drawer_for
from noisewright.sample.sampler import NoiseSampler
from noisewright.sample.uniform import Entropy

_SAFE = 2**62


@drawer_for.register(Alike)
class AlikeDrawer:
    """The same noise for every bin, drawn at once."""

    def __init__(self, mechanism: Alike) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.part.noise)

    def release(self, answer: Sequence[Any], entropy: Entropy) -> NDArray[Any]:
        counts = self._read(answer)
        noise = self._sampler.many(len(counts), entropy.stream())
        if object in (counts.dtype, noise.dtype) or max(abs(int(noise.max())), abs(int(noise.min()))) >= _SAFE:
            return np.asarray(counts.astype(object) + noise.astype(object))
        return np.asarray(counts + noise)

    def draw(self, count: int, entropy: Entropy) -> NDArray[Any]:
        bins = self._mechanism.query.bins
        return self._sampler.many(count * bins, entropy.stream()).reshape(count, bins)

    def _read(self, answer: Any) -> NDArray[Any]:
        """The cells of the counts; arrays of machine integers at once, others one by one."""
        whole = (
            isinstance(answer, np.ndarray)
            and answer.dtype.kind in "iu"
            and answer.shape == (self._mechanism.query.bins,)
        )
        if whole and np.all(np.abs(answer.astype(np.float64)) < 2.0**53):
            return np.asarray(answer.astype(np.int64))
        return np.array([law.answer_index for law in self._mechanism.law_given(answer)], dtype=np.int64)


@describe_error.register
def _(mechanism: Alike) -> list[str]:
    first, *rest = describe_error(mechanism.part)
    return [first.replace("Error:", "Error of each bin:", 1), *rest]
