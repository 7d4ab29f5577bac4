"""What the tests ask of ten million draws of a noise, gathered in one go and kept instead of the draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.sampler import NoiseSampler
from tests.statistical.noises import Noise, noises
from tests.statistical.tests_of_fit import Counts, bin_counts, bin_ends, lower_index, upper_index

DRAWS = 10_000_000
TAILS = (1e-4, 1e-5, 1e-6)
RESIDUES = 64
PARTS = 50
_BINS = 1000
_BATCH = 1_000_000


@dataclass
class Summary:
    """Counts of ten million draws."""

    ends: Counts
    counts: Counts
    lower: dict[int, int]
    upper: dict[int, int]
    not_negative: int
    lag_scores: list[float]
    residues: Counts
    parts: Counts


@cache
def summary(name: str) -> Summary:
    """Ten million ordinary draws, with entropy from the operating system; once per process."""
    noise = noises()[name]
    law = noise.law
    ends = bin_ends(law, _BINS)
    result = Summary(
        ends=ends,
        counts=np.zeros(len(ends) + 1, dtype=np.int64),
        lower={lower_index(law, p): 0 for p in TAILS},
        upper={upper_index(law, p): 0 for p in TAILS},
        not_negative=0,
        lag_scores=[],
        residues=np.zeros(RESIDUES, dtype=np.int64),
        parts=np.zeros(PARTS, dtype=np.int64),
    )
    sampler = NoiseSampler(law)
    for _ in range(DRAWS // _BATCH):
        draws = sampler.many(_BATCH, SystemEntropy().stream())
        _gather(result, draws.astype(np.int64), noise)
    return result


def lag_score(draws: NDArray[np.int64] | Counts) -> float:
    """Correlation of each draw with the next, in standard deviations from zero."""
    centred = draws - draws.mean()
    return float(np.sqrt(len(draws)) * np.mean(centred[:-1] * centred[1:]) / np.mean(centred**2))


def _gather(result: Summary, draws: Counts, noise: Noise) -> None:
    bins = np.searchsorted(result.ends, draws)
    result.counts += np.bincount(bins, minlength=len(result.ends) + 1)
    for k in result.lower:
        result.lower[k] += int(np.count_nonzero(draws <= k))
    for k in result.upper:
        result.upper[k] += int(np.count_nonzero(draws > k))
    result.not_negative += int(np.count_nonzero(draws >= 0))
    result.lag_scores.append(lag_score(bins))
    if noise.top is not None:
        start, end = noise.top
        inside = draws if noise.repeats else draws[(draws >= start) & (draws < end)]
        offsets = (inside - start) % (end - start)
        result.residues += np.bincount(offsets % RESIDUES, minlength=RESIDUES)
        result.parts += bin_counts(offsets, part_ends(end - start))


def part_ends(length: int) -> Counts:
    """Last offset of each part but the last, when a cell is cut into parts of about the same length."""
    return np.array([length * i // PARTS - 1 for i in range(1, PARTS)], dtype=np.int64)
