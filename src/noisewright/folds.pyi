from noisewright.laws.combined import Ensemble as Ensemble, TruncatedNormalFold as TruncatedNormalFold
from noisewright.laws.folds import (
    Atoms as Atoms,
    GammaFold as GammaFold,
    NoncentralChiSquaredFold as NoncentralChiSquaredFold,
    RayleighFold as RayleighFold,
    UniformFold as UniformFold,
    point_fold as point_fold,
    two_point_fold as two_point_fold,
)
from noisewright.laws.formula import FormulaFold as FormulaFold
