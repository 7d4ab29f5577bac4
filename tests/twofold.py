"""Second folds that several tests share, one or more of every kind."""

from __future__ import annotations

from fractions import Fraction

from noisewright.laws.formula import FormulaFold
from noisewright.laws.two_fold import (
    Ensemble,
    Fold,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    TruncatedNormalFold,
    UniformFold,
    point_fold,
    two_point_fold,
)

FOLDS: dict[str, Fold] = {
    "point": point_fold(Fraction(3, 2)),
    "two-point": two_point_fold(Fraction(1, 2), Fraction(3), Fraction(1, 10)),
    "gamma": GammaFold(Fraction(3), Fraction(1, 2)),
    "gamma, heavy": GammaFold(Fraction(1, 3), Fraction(2)),
    "uniform": UniformFold(Fraction(1, 10), Fraction(3)),
    "uniform from zero": UniformFold(Fraction(0), Fraction(3)),
    "truncated normal": TruncatedNormalFold(Fraction(1), Fraction(1), Fraction(1, 4), Fraction(4)),
    "truncated normal, one-sided": TruncatedNormalFold(Fraction(1), Fraction(1), Fraction(0), None),
    "noncentral chi-squared": NoncentralChiSquaredFold(Fraction(5), Fraction(3), Fraction(1, 3)),
    "Rayleigh": RayleighFold(Fraction(2)),
    "ensemble": Ensemble(
        (Fraction(1), Fraction(2)), (GammaFold(Fraction(2), Fraction(1)), UniformFold(Fraction(1, 10), Fraction(3)))
    ),
    "formula": FormulaFold("(1 + x)**-3 * exp(-2*x)", Fraction(1, 2)),
}
