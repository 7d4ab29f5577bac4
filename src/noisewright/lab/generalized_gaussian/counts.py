"""Figures 6 to 11 of the generalized-Gaussian paper: histograms with noise, each drawn from a certified mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.generalized_gaussian.named_rules import (
    corollary_nine_scale,
    gaussian_classical_std,
    gaussian_printed_std,
)
from noisewright.lab.tables import Table, all_fits
from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import Floats
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.approximate import solve_approximate, truncated_staircase
from noisewright.search.families.scalar_pure import tuned_staircase

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
DELTAS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10), Fraction(1, 4))
LAPLACE, PROBABLE, APPROXIMATE, CUBIC = (
    "Laplace, pure",
    "Gaussian, probabilistic (17)",
    "Gaussian, approximate (18)",
    "GG-3, probabilistic",
)
_PRIOR = 0.5
_STEPS = 40
_BATCH = 50

Examples = dict[tuple[Fraction, Fraction], dict[str, NDArray[np.float64]]]
"""One noisy table of each mechanism at each epsilon and delta."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Means and standard deviations over the repeats for one mechanism and setting."""

    data: str
    mechanism: str
    epsilon: float
    delta: float | None
    l1_mean: float
    l1_std: float
    kl_mean: float
    kl_std: float


@lru_cache(maxsize=64)
def mechanisms(epsilon: Fraction, delta: Fraction, *, cubic: bool) -> dict[str, Certified]:
    """The paper's mechanisms at its own scales, and our best under each of the three requirements."""
    real, whole = Scalar(1), Scalar(1, integer=True)
    e, d = float(epsilon), float(delta)
    pure, probable, approximate = PureDP(epsilon), ProbabilisticDP(epsilon, delta), ApproxDP(epsilon, delta)
    found = {
        LAPLACE: _real(real, Laplace(1 / epsilon), float(1 / epsilon), pure),
        PROBABLE: _gaussian(real, gaussian_printed_std(1, e, d), probable),
        APPROXIMATE: _gaussian(real, gaussian_classical_std(1, e, d), approximate),
        "ours, pure: staircase": make_certified(tuned_staircase(whole, epsilon, AbsoluteError()), pure),
    }
    if cubic:
        scale = corollary_nine_scale(3, 1, e, d, printed=False) * 1.02
        law = GeneralizedGaussian(Fraction(3), Fraction(scale))
        found[CUBIC] = _real(real, law, scale, probable)
    cut = truncated_staircase(whole, probable, AbsoluteError())
    if cut is not None:
        best = Additive(whole, cut, Lattice.integers())
        found["ours, probabilistic: truncated staircase"] = make_certified(best, probable)
    solved = solve_approximate(whole, approximate, AbsoluteError())
    if solved.law is not None:
        programme = Additive(whole, solved.law, Lattice.integers())
        found["ours, approximate: tailored"] = make_certified(programme, approximate)
    return found


def _gaussian(query: Scalar, std: float, privacy: Any) -> Certified:
    return _real(query, Gaussian(Fraction(std)), std, privacy)


def _real(query: Scalar, law: Any, spread: float, privacy: Any) -> Certified:
    step = Fraction(1, max(2, math.ceil(_STEPS / spread)))
    return make_certified(Additive(query, law, Lattice.cells(step)), privacy)


def sanitised(counts: NDArray[np.float64], certified: Certified, repeats: int) -> NDArray[np.float64]:
    """Repeats of counts plus noise, kept between 0 and n and scaled to sum to n (n is public)."""
    total = float(counts.sum())
    noise = certified.draw(repeats * len(counts)).astype(np.float64).reshape(repeats, len(counts))
    kept = np.clip(counts + noise, 0.0, total)
    sums = kept.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, kept * total / np.where(sums > 0, sums, 1.0), total / len(counts)))


def distances(counts: NDArray[np.float64], released: NDArray[np.float64]) -> tuple[Any, Any]:
    """l_1 distance per repeat, and the Kullback-Leibler divergence of smoothed frequencies."""
    l1 = np.abs(released - counts).sum(axis=1)
    p = (counts + _PRIOR) / (counts + _PRIOR).sum()
    q = (released + _PRIOR) / (released + _PRIOR).sum(axis=1, keepdims=True)
    return l1, (p * np.log(p / q)).sum(axis=1)


def experiment(
    data: str,
    counts: NDArray[np.float64],
    repeats: int,
    *,
    cubic: bool,
    epsilons: tuple[Fraction, ...] = EPSILONS,
    deltas: tuple[Fraction, ...] = DELTAS,
) -> tuple[list[Outcome], Examples]:
    """Every mechanism at every setting, and one noisy table of each for the scatter plots."""
    outcomes: list[Outcome] = []
    examples: Examples = {}
    for epsilon in epsilons:
        for delta in deltas:
            shown = examples[epsilon, delta] = {}
            for name, certified in mechanisms(epsilon, delta, cubic=cubic).items():
                pure = "pure" in name
                if pure and delta != deltas[0]:
                    shown[name] = examples[epsilon, deltas[0]][name]
                    continue
                measured, shown[name] = _repeated(counts, certified, repeats)
                outcomes.append(Outcome(data, name, float(epsilon), None if pure else float(delta), *measured))
    return outcomes, examples


def _repeated(
    counts: NDArray[np.float64], certified: Certified, repeats: int
) -> tuple[tuple[float, float, float, float], NDArray[np.float64]]:
    """Mean and deviation of both distances over the repeats, and the last noisy table."""
    parts = []
    for done in range(0, repeats, _BATCH):
        released = sanitised(counts, certified, min(_BATCH, repeats - done))
        parts.append(distances(counts, released))
    l1, kl = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return (float(l1.mean()), float(l1.std()), float(kl.mean()), float(kl.std())), released[-1]


# Tables of counts: two published ones of 64 cells (Edwards 2000), or those that the data folder holds.


def _counted(*rows: str) -> tuple[int, ...]:
    """The counts of a table written out in rows."""
    return tuple(int(count) for row in rows for count in row.split())


MILDEW = _counted(
    "0 16 1 0 0 1 0 0 3 1 7 0 0 0 1 0 0 4 1 0 0 1 0 0 1 0 4 0 0 0 0 0",
    "0 1 0 0 1 4 0 0 0 0 1 0 1 0 3 0 0 0 0 0 0 4 2 0 0 0 0 0 0 1 11 0",
)
"""Parental alleles at six loci of 70 strands of barley powder mildew; 22 cells are not empty."""

CZECH = _counted(
    "44 5 23 7 35 4 24 4 129 9 50 9 109 14 51 5 112 21 70 14 80 11 73 13 12 1 7 2 7 5 7 4",
    "40 7 32 3 12 3 25 0 145 17 80 16 67 17 63 14 67 9 66 14 33 8 57 11 23 4 13 3 9 2 16 4",
)
"""Six risk factors of 1,841 car workers; one cell is empty."""

_SHIPPED = ("mildew/mildew.csv", "reinis/reinis.csv")
_COUNTS = ("count", "counts", "freq", "frequency", "n")
_FEWEST, _MOST = 4, 4096


def cell_tables() -> list[tuple[str, Floats]]:
    """Two tables of counts with their names, the sparser one first; the package's own where the folder has none."""
    own = [("mildew (in the package)", _floats(MILDEW)), ("Czech car workers (in the package)", _floats(CZECH))]
    found = [(table.name, counts) for table, counts in islice(all_fits(_SHIPPED, _counts), 2)]
    chosen = [*found, *own[len(found) :]]
    return sorted(chosen, key=lambda named: -float(np.mean(named[1] == 0)))


def _counts(table: Table) -> Floats | None:
    """The column of counts, where there is one and it holds whole numbers of which some are positive."""
    name = table.named(*_COUNTS)
    values = None if name is None else table.numeric().get(name)
    if values is None or not _FEWEST <= len(values) <= _MOST or not np.isfinite(values).all():
        return None
    return values if (values >= 0).all() and (values == np.rint(values)).all() and values.any() else None


def _floats(counts: tuple[int, ...]) -> Floats:
    return np.array(counts, dtype=np.float64)
