"""Tables 1 to 4 of the R2DP paper, evaluated."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

from noisewright.lab.paper_bounds import paper_bound
from noisewright.lab.r2dp.curves import laplace_renyi, response_renyi
from noisewright.lab.r2dp.tables import table_three
from noisewright.lab.sheets import write_table
from noisewright.laws.two_fold import Fold, GammaFold, TwoFold, UniformFold, point_fold
from noisewright.numerics.balls import ball, precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.divergences import HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.proof.mixtures import renyi_ball
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.two_fold import two_fold_optimum
from noisewright.search.families.two_fold_laws import calibrated

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
