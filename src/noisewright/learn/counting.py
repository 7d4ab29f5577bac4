"""Private counts and sums for classifiers: every query designed, certified and released on its lattice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design
from noisewright.search.report import Report

NOISES = ("best", "tailored", "staircase", "two-fold", "Laplace")
_BUDGET_DIGITS = 10**6


def split_budget(epsilon: Fraction, weights: Sequence[float], *, optimised: bool) -> list[Fraction]:
    """Shares of epsilon, rounded down to millionths of it, that never sum to more than it.

    Rule: a query of weight w and share e costs w / e^2, the growth of a squared error; the least total
    under a fixed sum has shares in proportion to the cube root of w (or equal ones, if not optimised).
    """
    roots = [w ** (1 / 3) if optimised else 1.0 for w in weights]
    total = sum(roots)
    return [epsilon * Fraction(int(_BUDGET_DIGITS * root / total), _BUDGET_DIGITS) for root in roots]


def noise_for(sensitivity: Fraction, epsilon: Fraction, noise: str, utility: Any, *, integer: bool) -> Certified:
    """A certified mechanism of the wanted kind; "best" is whatever `design` ranks first."""
    if noise not in NOISES:
        raise InvalidInputError(f"noise is {noise!r}; give one of {', '.join(NOISES)}.", noise=noise)
    report = _designed(sensitivity, epsilon, utility, integer and noise == "best")
    if noise == "best":
        return report.best
    wanted = "two-fold optimum" if noise == "two-fold" else noise
    return next(c.certified for c in report.candidates if c.name == wanted)


@lru_cache(maxsize=512)
def _designed(sensitivity: Fraction, epsilon: Fraction, utility: Any, integer: bool) -> Report:
    return design(Scalar(sensitivity, integer=integer), privacy=PureDP(epsilon), utility=utility)


def release_many(
    certified: Certified, answers: NDArray[np.int64], unit: Fraction, entropy: Entropy | None = None
) -> NDArray[np.float64]:
    """A private value for each answer, given as whole multiples of `unit`.

    Guarantees: each answer is put on the lattice in exact rationals, and the result depends on the answer's
    cell and the drawn noise through their sum alone, as in `Certified.release`.
    """
    lattice = certified.mechanism.lattice
    cells = np.array([lattice.index(int(a) * unit) for a in answers.ravel()], dtype=np.float64)
    step = float(lattice.step)
    noise = certified.draw(answers.size, entropy=entropy).astype(np.float64)
    offset = float(1 - 2 * lattice.edge)
    # The noise is the centre of its cell; rounding finds the cell again, so only whole numbers are added.
    places = np.rint(noise / step - offset / 2) + cells + offset
    return np.asarray(places * step).reshape(answers.shape)
