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
from noisewright.proof.mixtures import (
    LaplaceCondition as LaplaceCondition,
    LocalResponse as LocalResponse,
    laplace_condition as laplace_condition,
    local_response as local_response,
)
