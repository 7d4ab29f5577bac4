from noisewright.problem.errors import (
    InfeasibleError as InfeasibleError,
    InvalidAnswerError as InvalidAnswerError,
    InvalidInputError as InvalidInputError,
    InvalidLawError as InvalidLawError,
    InvalidLossError as InvalidLossError,
    InvalidMechanismError as InvalidMechanismError,
    InvalidNumberError as InvalidNumberError,
    InvalidPrivacyError as InvalidPrivacyError,
    InvalidQueryError as InvalidQueryError,
    InvalidUtilityError as InvalidUtilityError,
    MechanismFileError as MechanismFileError,
    MovedNameError as MovedNameError,
    SolverError as SolverError,
    UncertifiedError as UncertifiedError,
    UnreachableTargetError as UnreachableTargetError,
)
from noisewright.problem.remarks import UnevenNumbersWarning as UnevenNumbersWarning
