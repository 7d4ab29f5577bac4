"""A random walk to the small database mechanism, for experiments: nothing is proven about it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.linear.synthetic import MetricSmallDB
from noisewright.numerics.balls import ball
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.linear import checked_histogram
from noisewright.problem.numbers import Number
from noisewright.sample.entropy import SystemEntropy, WordStream, uniform_below
from noisewright.sample.integer_noise import flip


def smalldb_by_metropolis(
    mechanism: MetricSmallDB,
    histogram: Iterable[Number],
    steps: int = 10_000,
    *,
    accept_uncertified: bool = False,
) -> NDArray[np.float64]:
    """A small database from a random walk: *not certified*, since a walk of any length is only near its law.

    Refused unless `accept_uncertified=True`; nothing it returns carries a certificate.
    """
    if not accept_uncertified:
        raise UncertifiedError(
            "refused: a Metropolis walk only approaches its law, so nothing is proven about what it returns. Pass"
            " accept_uncertified=True for experiments on public data."
        )
    stream = SystemEntropy().stream()
    counts = checked_histogram(histogram, mechanism.query.size)
    scores, people = mechanism.scores(counts), sum(counts)
    places = [int(v) for v in _uniform(len(counts), mechanism.rows, stream)]
    state = np.bincount(places, minlength=len(counts))
    level = mechanism.log_weight(scores, people, state.tolist())
    for _ in range(steps):
        moved, target = (int(_uniform(mechanism.rows, 1, stream)[0]), int(_uniform(len(counts), 1, stream)[0]))
        other = state.copy()
        other[places[moved]] -= 1
        other[target] += 1
        proposed = mechanism.log_weight(scores, people, other.tolist())
        if proposed >= level or _below_exp(proposed - level, stream):
            state, level, places[moved] = other, proposed, target
    return np.asarray(state * (people / mechanism.rows), dtype=np.float64)


def _uniform(limit: int, count: int, stream: WordStream) -> NDArray[np.uint64]:
    return uniform_below(np.full(count, limit, dtype=np.uint64), stream)


def _below_exp(exponent: Fraction, stream: WordStream) -> bool:
    return flip(lambda: ball(exponent).exp(), int(stream.words(1)[0]), 64, stream)
