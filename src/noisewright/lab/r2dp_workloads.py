"""Table 3 of the R2DP paper: strategies for workloads whose rows get two-fold noise instead of Laplace noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.lab.sheets import write_table
from noisewright.laws.two_fold import Fold, GammaFold, TwoFold
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.strategies.strategy import LaplaceStrategy
from noisewright.numerics.arrays import Floats
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Points
from noisewright.problem.utilities import SquaredError
from noisewright.problem.workload import Workload
from noisewright.proof.pure import pure_bound
from noisewright.sample.certified import make_certified
from noisewright.search.design import design
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.two_fold import two_fold_optimum
from noisewright.search.families.two_fold_laws import calibrated

SIZE = 6
EPSILONS = ("1", "2.3", "10", "30")
_SHAPE = Fraction(2)


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy for one workload at one epsilon: total squared errors, and what the paper's way would spend."""

    workload: str
    strategy: str
    epsilon: str
    sensitivity: Fraction
    laplace: float
    two_fold: float
    spent: float

    @property
    def gain(self) -> float:
        """By what share two-fold noise lowers the total error."""
        return 1 - self.two_fold / self.laplace


def workloads(size: int = SIZE) -> dict[str, Workload]:
    """The paper's two: every range of so many cells, and every predicate, that is every set of them."""
    sets = [row for row in product((0, 1), repeat=size) if any(row)]
    return {f"ranges, n = {size}": Workload.ranges(size), f"predicates, n = {size}": Workload(sets)}


@lru_cache(maxsize=4)
def rows_of_table_three(size: int = SIZE) -> tuple[Row, ...]:
    """Every strategy with rows of 0 and one size, which `design` proposes with Laplace noise, at every epsilon."""
    return tuple(
        row for name, workload in workloads(size).items() for e in EPSILONS for row in _compared(name, workload, e)
    )


def _compared(name: str, workload: Workload, epsilon: str) -> Iterator[Row]:
    privacy = PureDP(epsilon)
    questions = np.array([[float(v) for v in row] for row in workload.matrix()])
    for candidate in design(workload, privacy=privacy, utility=SquaredError()).candidates:
        strategy = candidate.certified.mechanism
        matrix, scales = measured(strategy)
        if not isinstance(strategy, LaplaceStrategy) or not _one_size(matrix):
            continue
        # In units of what one person moves a row by, every entry is 0 or 1 in size and a share of epsilon is 1 / scale.
        sizes = np.abs(matrix).max(axis=1)
        matrix = matrix / sizes[:, None]
        scales = [scale / Fraction(int(size)) for size, scale in zip(sizes, scales, strict=True)]
        shares = [1 / scale for scale in scales]
        folds = {share: two_fold_optimum(SquaredError(), share) for share in set(shares)}
        _certify(matrix, shares, {share: found.fold for share, found in folds.items()}, privacy)
        usual = np.array([2 * float(scale) ** 2 for scale in scales])
        better = usual * np.array([folds[share].cost / folds[share].laplace for share in shares])
        reach = Fraction(int(np.abs(matrix).sum(axis=0).max()))
        spent = _spent_the_papers_way(reach, privacy.epsilon)
        before, after = (total_error(questions, matrix, variances) for variances in (usual, better))
        yield Row(name, candidate.name.removesuffix(", Laplace"), epsilon, reach, before, after, spent)


def measured(strategy: Any) -> tuple[Floats, list[Fraction]]:
    """The matrix that a strategy measures, by what each cell alone adds to every row, and the level of each row.

    Rows that nobody is in, beyond the last cell of a tree, are left out.
    """
    size = strategy.query.size
    cells = ([int(i == j) for i in range(size)] for j in range(size))
    groups = [[np.ravel(group) for group in strategy.law_given(cell)] for cell in cells]
    matrix = np.array([np.concatenate(column) for column in groups], dtype=np.float64).T / strategy.fineness
    levels = [strategy.level(g) for g, group in enumerate(groups[0]) for _ in group]
    kept = np.flatnonzero(np.abs(matrix).max(axis=1) > 0)
    return matrix[kept], [levels[i] for i in kept]


def _one_size(matrix: Floats) -> bool:
    """Whether every row has entries of 0 and one size, so that whoever is in it moves it by as much."""
    return all(len({abs(v) for v in row if v}) <= 1 for row in matrix.tolist())


def total_error(questions: Floats, matrix: Floats, variances: Floats) -> float:
    """The total variance of all answers by generalised least squares, for rows with independent noise."""
    return float(np.trace(questions @ np.linalg.pinv(matrix.T / variances @ matrix) @ questions.T))


def _certify(matrix: Floats, shares: list[Fraction], folds: dict[Fraction, Fold], privacy: PureDP) -> None:
    """Prove that two-fold noise of these shares on the rows spends no more than Laplace noise does."""
    made = {share: two_fold_mechanism(Scalar(1), fold, share, SquaredError()) for share, fold in folds.items()}
    query = Vector(Points([[int(v) for v in column] for column in matrix.T]))
    # A fold is written in few digits; what they add is far below a millionth.
    claim = PureDP(privacy.epsilon * (1 + Fraction(1, 10**6)))
    make_certified(PerCoordinate(query, [made[share] for share in shares]), claim)


def _spent_the_papers_way(rows: Fraction, epsilon: Fraction) -> float:
    """The true epsilon of a gamma fold calibrated for the whole sensitivity, drawn for each of the rows of a person.

    For Laplace noise that is the usual way: a row that moves by a part of the sensitivity costs that part of epsilon.
    The epsilon of two-fold noise is concave in the shift, so several rows together cost more than one large shift.
    """
    law = TwoFold(calibrated(GammaFold(_SHAPE, Fraction(1)), epsilon, rows))
    return float(rows * pure_bound(law, Fraction(1))[0])


def table_three(out: Path) -> Path:
    """Total squared errors of certified strategies, with Laplace and with two-fold noise on their rows."""
    header = [
        *("workload", "strategy", "epsilon", "sensitivity of the strategy", "total squared error, Laplace"),
        *("the same, best two-fold noise for each row", "gain", "epsilon that a gamma fold for the whole would spend"),
    ]
    rows = [
        [r.workload, r.strategy, r.epsilon, float(r.sensitivity), r.laplace, r.two_fold, r.gain, r.spent]
        for r in rows_of_table_three()
    ]
    return write_table(out / "table-3.csv", header, rows)
