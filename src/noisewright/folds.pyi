from noisewright.laws.formula import FormulaFold as FormulaFold
from noisewright.laws.two_fold import (
    Atoms as Atoms,
    Ensemble as Ensemble,
    GammaFold as GammaFold,
    NoncentralChiSquaredFold as NoncentralChiSquaredFold,
    RayleighFold as RayleighFold,
    TruncatedNormalFold as TruncatedNormalFold,
    UniformFold as UniformFold,
    point_fold as point_fold,
    two_point_fold as two_point_fold,
)
from noisewright.proof.mixtures import (
    LaplaceCondition as LaplaceCondition,
    LocalResponse as LocalResponse,
    laplace_condition as laplace_condition,
    local_response as local_response,
)
