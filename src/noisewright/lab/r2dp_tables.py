"""Tables 1 to 4 of the R2DP paper, evaluated."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

from noisewright.lab.paper_bounds import paper_bound
from noisewright.lab.r2dp_curves import laplace_renyi, response_renyi
from noisewright.lab.sheets import write_table
from noisewright.laws.folds import Fold, GammaFold, UniformFold, point_fold
from noisewright.laws.twofold import TwoFold
from noisewright.numerics.fields import FLOATS
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.proof.twofold import renyi_ball
from noisewright.search.families.two_fold import two_fold_optimum
from noisewright.search.families.two_fold_laws import calibrated


def calibrated_folds(epsilon: Fraction) -> dict[str, Fold]:
    """A few folds, each scaled to epsilon at sensitivity 1."""
    return {
        "Laplace": point_fold(epsilon),
        "gamma, shape 5": calibrated(GammaFold(Fraction(5), Fraction(1)), epsilon),
        "uniform, low/high 1/4": calibrated(UniformFold(Fraction(1), Fraction(4)), epsilon),
        "two-fold optimum for l1": two_fold_optimum(AbsoluteError(), epsilon).fold,
        "two-fold optimum for l2": two_fold_optimum(SquaredError(), epsilon).fold,
    }


def write_tables(out: Path) -> list[Path]:
    """All four tables."""
    return [_table_one(out), _table_two(out), _table_three(out), _table_four(out)]


def _table_one(out: Path) -> Path:
    """l1, l2 and usefulness from the transform alone, as the paper's formulas say."""
    rows = []
    for epsilon in (1, 3, 10):
        for name, fold in calibrated_folds(Fraction(epsilon)).items():
            law = TwoFold(fold)
            first, second = (float(law.moment(p, FLOATS)) for p in (1, 2))
            useful = 1 - float(fold.transform(0.4, FLOATS))
            rows.append([epsilon, name, first, math.sqrt(second), useful])
    header = [
        "epsilon",
        "noise",
        "l1: integral of M(-x)",
        "l2: root of 2 double integrals",
        "usefulness 0.4: 1 - M(-0.4)",
    ]
    return write_table(out / "table-1.csv", header, rows)


def _table_two(out: Path) -> Path:
    """Error bounds of learning algorithms, averaged over the rate: the factor by which each changes."""
    rows = []
    for epsilon in (1, 3, 10):
        base = float(epsilon)
        for name, fold in calibrated_folds(Fraction(epsilon)).items():
            scale = float(fold.inverse_moment(Fraction(1), FLOATS)) * base
            inference = (1 - float(fold.transform(0.01, FLOATS))) / (1 - math.exp(-0.01 * base))
            rows.append([epsilon, name, scale, inference, scale])
    header = ["epsilon", "noise", "linear SVM (E b)", "Bayesian inference (1 - M(-0.01))", "naive Bayes (E b)"]
    return write_table(out / "table-2.csv", [*header[:2], *(f"{h}, relative to Laplace" for h in header[2:])], rows)


def _table_three(out: Path) -> Path:
    """Total error of the matrix mechanism with two-fold noise instead of Laplace: sensitivity only rescales it."""
    rows = []
    for workload, sensitivity in (("range queries, n = 6", 36), ("predicate queries, n = 6", 64)):
        for epsilon in ("1", "2.3", "5", "10"):
            values = []
            for utility in (AbsoluteError(), SquaredError()):
                optimum = two_fold_optimum(utility, Fraction(epsilon))
                values.append(1 - optimum.cost / optimum.laplace)
            rows.append([workload, sensitivity, epsilon, *values])
    header = ["workload", "sensitivity", "epsilon", "largest improvement, l1", "largest improvement, squared"]
    return write_table(out / "table-3.csv", header, rows)


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
