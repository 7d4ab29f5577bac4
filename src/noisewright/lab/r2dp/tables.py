"""Tables 1 to 4 of the R2DP paper, evaluated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.lab.r2dp.curves import laplace_renyi, response_renyi
from noisewright.lab.sheets import write_table
from noisewright.laws.two_fold import Fold, GammaFold, TwoFold, UniformFold, point_fold
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.strategies.strategy import LaplaceStrategy
from noisewright.numerics.balls import Ball, ball, precision
from noisewright.numerics.fields import BALLS, FLOATS, Floats
from noisewright.problem.divergences import HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Points
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.problem.workload import Workload
from noisewright.proof.mixtures import convergence_radius, renyi_ball
from noisewright.proof.pure import pure_bound
from noisewright.sample.certified import make_certified
from noisewright.search.design import design
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.two_fold import calibrated, two_fold_optimum

_PEOPLE = 1000


def calibrated_folds(epsilon: Fraction) -> dict[str, Fold]:
    """A few folds, each scaled to epsilon at sensitivity 1."""
    return {
        "Laplace": point_fold(epsilon),
        "gamma, shape 5": calibrated(GammaFold(Fraction(5), Fraction(1)), epsilon),
        "uniform, low/high 1/4": calibrated(UniformFold(Fraction(1), Fraction(4)), epsilon),
        "two-fold optimum for l1": two_fold_optimum(AbsoluteError(), epsilon).fold,
        "two-fold optimum for l2": two_fold_optimum(SquaredError(), epsilon).fold,
    }


def write_tables(out: Path, prior: list[int], nodes: int) -> list[Path]:
    """All four tables; Table 1 for a histogram and for a sequence of so many numbers."""
    return [_table_one(out, prior, nodes), _table_two(out), table_three(out), _table_four(out)]


def _table_one(out: Path, prior: list[int], nodes: int) -> Path:
    """Every row of the paper's Table 1: l1, l2 and usefulness from the transform alone, as its formulas say.

    The two that depend on the true results are means over the noise itself: Mallows for a sequence of so many numbers,
    relative entropies for the histogram.
    """
    query = Scalar(1)
    others = [Mallows(1, nodes), Mallows(2, nodes), KullbackLeibler(prior), Renyi(prior, 2), HistogramEntropy(prior)]
    rows = []
    for epsilon in (1, 3, 10):
        for name, fold in calibrated_folds(Fraction(epsilon)).items():
            law = TwoFold(fold)
            first, second = (float(law.moment(p, FLOATS)) for p in (1, 2))
            useful = 1 - float(fold.transform(0.4, FLOATS))
            mechanism = two_fold_mechanism(query, fold, Fraction(epsilon), SquaredError())
            means = [float(mechanism.expected(utility, FLOATS)) for utility in others]
            rows.append([epsilon, name, first, math.sqrt(second), useful, *means])
    header = [
        "epsilon",
        "noise",
        "l1: integral of M(-x)",
        "l2: root of 2 double integrals",
        "usefulness 0.4: 1 - M(-0.4)",
        f"Mallows(1), {nodes} numbers",
        f"Mallows(2), {nodes} numbers",
        "relative entropy (Kullback-Leibler), nats",
        "relative entropy (Renyi, order 2), nats",
        "change of the histogram's entropy, nats",
    ]
    return write_table(out / "table-1.csv", header, rows)


def _table_two(out: Path) -> Path:
    """Error bounds of learning algorithms, averaged over the rate: the factor by which each changes.

    The bound n^(-epsilon log n) of robust regression is e^(-epsilon (ln n)^2), so its average is M(-(ln n)^2): the
    transform far out, where the smallest rates decide. Its factor is given by its logarithm.
    """
    rows = []
    far = math.log(_PEOPLE) ** 2
    for epsilon in (1, 3, 10):
        base = float(epsilon)
        for name, fold in calibrated_folds(Fraction(epsilon)).items():
            scale = float(fold.inverse_moment(Fraction(1), FLOATS)) * base
            inference = (1 - float(fold.transform(0.01, FLOATS))) / (1 - math.exp(-0.01 * base))
            with precision():
                regression = float(
                    (fold.transform(ball(Fraction(far)), BALLS).log() + ball(Fraction(base * far))).mid()
                )
            rows.append([epsilon, name, scale, inference, regression / math.log(10), scale])
    header = [
        "epsilon",
        "noise",
        "linear SVM (E b), relative to Laplace",
        "Bayesian inference (1 - M(-0.01)), relative to Laplace",
        f"robust regression (M(-(ln {_PEOPLE})^2)), decimal logarithm relative to Laplace",
        "naive Bayes (E b), relative to Laplace",
    ]
    return write_table(out / "table-2.csv", header, rows)


def _table_four(out: Path) -> Path:
    """Renyi differential privacy: the paper's bound beside the true divergence."""
    rows = []
    for alpha in (Fraction(3, 2), Fraction(5, 2), Fraction(8)):
        order = float(alpha)
        rows.append([order, "Laplace, epsilon 1", laplace_renyi(1, order), laplace_renyi(1, order)])
        rows.append([order, "randomised response, epsilon 1", response_renyi(1, order), response_renyi(1, order)])
        for name, fold in (
            ("gamma(1, 1)", GammaFold(Fraction(1), Fraction(1))),
            ("uniform(1/2, 3/2)", UniformFold(Fraction(1, 2), Fraction(3, 2))),
        ):
            bound = paper_bound(fold, alpha)
            truth = float(renyi_ball(TwoFold(fold), Fraction(1), alpha).mid())
            rows.append([order, name, truth, "infinite" if bound is None else float(bound.mid())])
        rows.append([order, "Gaussian, standard deviation 1", order / 2, order / 2])
    return write_table(out / "table-4.csv", ["order", "mechanism", "true divergence", "bound of Theorem F.4"], rows)


# Table 3 of the R2DP paper: strategies for workloads whose rows get two-fold noise instead of Laplace noise.


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


# Bounds of papers under their own names, from above in balls: sufficient, not tight.


_BITS = 128


def paper_bound(fold: Fold, alpha: Fraction, sensitivity: Fraction = Fraction(1)) -> Ball | None:
    """Theorem F.4 of the R2DP paper: an upper bound of the divergence, None where it is infinite.

    It averages the moment of plain Laplace noise over the rate: (alpha M(alpha - 1) + (alpha - 1) M(-alpha)) /
    (2 alpha - 1) with M(t) = E e^(ut); at order 1, E u + M(-1) - 1.
    """
    if alpha < 1:
        raise InvalidPrivacyError("the bound of the paper is for orders of at least 1.")
    with precision(_BITS):
        s = ball(sensitivity)
        if alpha == 1:
            return fold.slope(ball(0), BALLS) * s + fold.transform(s, BALLS) - 1
        reach = convergence_radius(fold)
        if reach is not None and (alpha - 1) * sensitivity >= reach:
            return None
        rise = fold.transform(ball(-(alpha - 1) * sensitivity), BALLS)
        fall = fold.transform(ball(alpha * sensitivity), BALLS)
        moment = (ball(alpha) * rise + ball(alpha - 1) * fall) / ball(2 * alpha - 1)
        return moment.log() / ball(alpha - 1)
