"""Error of noisewright's designs beside that of the peers, on one number of sensitivity 1 at epsilon 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import peers
from numpy.typing import NDArray
from tables import Table

import noisewright as nw

CONFIDENCE = 0.95
WITHIN = 0.5
_SURE = 4.0


@dataclass(frozen=True)
class Figure:
    """A value, and by how much chance may have moved it (one standard error; 0 if it is computed)."""

    value: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.5g}" if not self.error else f"{self.value:.4f} ± {self.error:.4f}"


COLUMNS = {
    "mean squared error": nw.SquaredError(),
    "mean absolute error": nw.AbsoluteError(),
    f"P(error <= {WITHIN})": nw.Usefulness(WITHIN),
    f"{CONFIDENCE:.0%} half-width": nw.ErrorQuantile(CONFIDENCE),
}
LAPLACE = [Figure(2.0), Figure(1.0), Figure(1 - math.exp(-WITHIN)), Figure(-math.log(1 - CONFIDENCE))]


def measured(draws: NDArray[np.float64]) -> list[Figure]:
    """The four figures of a sample."""
    size, n = np.abs(draws), len(draws)
    near = float(np.mean(size <= WITHIN))
    # A quantile moves within the order statistics a standard error of the rank away.
    spread = math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / n)
    low, quantile, high = np.quantile(size, [CONFIDENCE - spread, CONFIDENCE, CONFIDENCE + spread])
    return [
        Figure(float(np.mean(size**2)), float(np.std(size**2)) / math.sqrt(n)),
        Figure(float(np.mean(size)), float(np.std(size)) / math.sqrt(n)),
        Figure(near, math.sqrt(near * (1 - near) / n)),
        Figure(float(quantile), float(high - low) / 2),
    ]


def compared(ours: float, theirs: Figure, *, larger_is_better: bool) -> str:
    """How many times better ours is, and whether that is more than chance."""
    ratio = ours / theirs.value if larger_is_better else theirs.value / ours
    if abs(ours - theirs.value) <= max(_SURE * theirs.error, 1e-9 * ours):
        return f"{ratio:.4f}, a tie"
    return f"{ratio:.4f}" if ratio > 1 else f"{ratio:.4f}, theirs wins"


def accuracy() -> tuple[Table, Table]:
    """Errors of everyone, and how many times smaller ours are (for a probability: how many times larger)."""
    reports = [nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=utility) for utility in COLUMNS.values()]
    ours = [report.candidates[0].value for report in reports]
    others = {"Laplace (closed form)": LAPLACE}
    others |= {f"{name} (measured)": measured(draws) for name, draws in peers.samples().items()}
    errors = [["noise", *COLUMNS]]
    errors.append(["noisewright, designed for each column", *[f"{value:.5g}" for value in ours]])
    errors.append(["best possible for any mechanism", *[f"{report.bound:.5g}" for report in reports]])
    errors += [[name, *map(str, figures)] for name, figures in others.items()]
    ratios = [["noisewright is better than", *COLUMNS]]
    for name, figures in others.items():
        cells = [
            compared(value, figure, larger_is_better=utility.larger_is_better)
            for value, figure, utility in zip(ours, figures, COLUMNS.values(), strict=True)
        ]
        ratios.append([name, *cells])
    return errors, ratios
