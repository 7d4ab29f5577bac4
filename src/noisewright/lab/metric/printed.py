"""Algorithms of the d_X paper as they are printed, in plain floats, to show what goes wrong."""

from __future__ import annotations

import numpy as np

from noisewright.numerics.fields import Floats
from noisewright.numerics.lp import reweighed

_MOST_ROUNDS = 1000


def parameter_selection_as_printed(differences: Floats, distances: Floats) -> Floats:
    """Algorithm 3 line by line: |differences| has one row for each pair, the result is 1/c.

    A pair whose budget is used up is left with a residual of about -1e-17; its ratio turns negative
    and the maximum no longer sees it, so later rounds spend its budget again.
    """
    left = distances.astype(np.float64).copy()
    rates = np.zeros(differences.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_MOST_ROUNDS):
            alone = _largest(differences / left[:, None])
            wished = differences / alone
            shares = left[:, None] * wished / wished.sum(axis=1)[:, None]
            scales = _largest(differences / shares)
            gains = np.where(np.isfinite(scales) & (scales > 0), 1 / scales, 0.0)
            if not gains.any():
                break
            left = left - differences @ gains
            rates += gains
    return rates


def _largest(values: Floats) -> Floats:
    """The largest entry of each column; quotients of nothing by nothing do not count."""
    return np.asarray(np.where(np.isnan(values), -np.inf, values).max(axis=0))


def weights_noise_free(
    queries: Floats, scaling: float, histogram: Floats, rounds: int, *, printed: bool
) -> tuple[Floats, list[float]]:
    """Multiplicative weights without noise on the class q' = q / scaling: the average, and the errors on the way.

    `printed` uses the exponent q'_i (m - q'(y)) / (2 n) of Algorithm 2 although m measures scaling q';
    otherwise like is compared with like.
    """
    people = float(histogram.sum())
    scaled = queries / scaling
    weights = np.full(len(histogram), people / len(histogram))
    total, errors = np.zeros(len(histogram)), []
    for _ in range(rounds):
        worst = int(np.argmax(np.abs(scaled @ (weights - histogram))))
        measured = scaling * float(scaled[worst] @ histogram)
        if printed:
            exponent = scaled[worst] * (measured - float(scaled[worst] @ weights)) / (2 * people)
            moved = weights * np.exp(exponent - exponent.max())
            weights = people * moved / moved.sum()
        else:
            weights = reweighed(weights, scaling * scaled[worst], measured, people)
        total += weights
        errors.append(float(np.abs(queries @ (weights - histogram)).max()))
    return total / rounds, errors


def exponential_shortfall(scores: Floats, seen: Floats, scale: float, ease: float, *, printed: bool) -> float:
    """P(u(Z) <= limit) when Z has weight e^(seen / (2 scale)), for the limit of Theorem 4.

    The theorem guarantees at most e^-ease. Printed, the largest difference of `scores` and `seen` is
    added to the limit; it must be taken away.
    """
    weights = np.exp((seen - seen.max()) / (2 * scale))
    apart = float(np.abs(scores - seen).max())
    limit = float(seen.max()) - 2 * scale * (np.log(len(seen)) + ease) + (apart if printed else -apart)
    return float(weights[scores <= limit].sum() / weights.sum())


# The ways of sharing budgets among queries that the d_X paper proposes, for comparison.


_EXHAUSTED = 1e-12


def equal_shares(pairs: Floats) -> Floats:
    """Strategy 1: every query gets the same share of each budget; rates from |differences| over distances."""
    return np.asarray(1 / (pairs.shape[1] * pairs.max(axis=0)))


def equal_noise(pairs: Floats) -> Floats:
    """Strategy 2: every query gets noise of the same scale."""
    return np.full(pairs.shape[1], 1 / pairs.sum(axis=1).max())


def parameter_selection(pairs: Floats) -> Floats:
    """Strategy 3, the paper's Algorithm 3, with exhausted pairs frozen instead of left to rounding.

    In each round the pair that uses up its budget is known by its place, so it is set to zero there
    and every query that tells it apart stops growing. As printed, a residual of -1e-17 drops the
    pair out of the maximum and its budget is overspent.
    """
    left = np.ones(len(pairs))
    rates = np.zeros(pairs.shape[1])
    growing = np.ones(pairs.shape[1], dtype=bool)
    told = pairs > 0
    while growing.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.where(told, left[:, None] / pairs, np.inf).min(axis=0)
            wish = np.where(growing, alone, 0.0)
            use = pairs @ wish
            reach = np.where(use > 0, left / use, np.inf)
        gains = np.where(growing, wish * np.where(told, reach[:, None], np.inf).min(axis=0), 0.0)
        rates += gains
        spent = pairs @ gains
        tightest = int(np.argmax(np.where(left > 0, spent / np.where(left > 0, left, 1), 0)))
        left = left - spent
        left[tightest] = 0.0
        left[left <= _EXHAUSTED] = 0.0
        growing &= ~told[left == 0].any(axis=0)
    return rates
