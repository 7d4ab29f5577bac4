"""Multiplicative weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def reweighed(
    weights: NDArray[np.float64], row: NDArray[np.float64], measured: float, people: float
) -> NDArray[np.float64]:
    """Weights moved towards a measurement of row · weights, with the same total.

    Exponent row_i (measured - row · weights) / (2 people), both factors divided by the largest
    entry of the row: the units of the query do not matter.
    """
    size = float(np.abs(row).max())
    if size == 0 or people == 0:
        return weights
    unit = row / size
    exponent = unit * ((measured - float(row @ weights)) / size / (2 * people))
    moved = weights * np.exp(exponent - exponent.max())
    return np.asarray(people * moved / moved.sum())
