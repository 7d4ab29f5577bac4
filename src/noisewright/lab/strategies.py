"""The ways of sharing budgets among queries that the d_X paper proposes, for comparison."""

from __future__ import annotations

import numpy as np

from noisewright.numerics.fields import Floats

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
