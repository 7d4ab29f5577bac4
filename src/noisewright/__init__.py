"""noisewright designs the noise: say what is asked, what must be protected and what counts as good."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AbsoluteError": "problem.utilities",
    "ErrorQuantile": "problem.utilities",
    "Expected": "problem.utilities",
    "Growth": "problem.utilities",
    "PowerError": "problem.utilities",
    "SquaredError": "problem.utilities",
    "Usefulness": "problem.utilities",
    "PureDP": "problem.privacy",
    "Scalar": "problem.queries",
    "NoisewrightError": "problem.errors",
    "InvalidInputError": "problem.errors",
    "InvalidNumberError": "problem.errors",
    "InvalidPrivacyError": "problem.errors",
    "InvalidQueryError": "problem.errors",
    "InvalidUtilityError": "problem.errors",
    "InvalidLossError": "problem.errors",
    "InvalidLawError": "problem.errors",
    "InvalidMechanismError": "problem.errors",
    "InvalidAnswerError": "problem.errors",
    "UncertifiedError": "problem.errors",
    "MechanismFileError": "problem.errors",
    "UnreachableTargetError": "problem.errors",
    "SolverError": "problem.errors",
    "Laplace": "laws.laplace",
    "DiscreteLaplace": "laws.laplace",
    "Piecewise": "laws.piecewise",
    "staircase": "laws.piecewise",
    "skewed_staircase": "laws.piecewise",
    "Lattice": "laws.lattice",
    "Additive": "mechanisms.additive",
    "Certificate": "proof.certify",
    "certify": "proof.certify",
    "Certified": "sample.certified",
    "Candidate": "search.report",
    "Report": "search.report",
    "design": "search.design",
    "Budget": "search.budget",
    "BudgetRow": "search.budget",
    "budget_for": "search.budget",
    "AverageVariance": "problem.utilities",
    "WorstVariance": "problem.utilities",
    "Bounded": "problem.queries",
    "InfeasibleError": "problem.errors",
    "Box": "laws.bumps",
    "Sine": "laws.bumps",
    "Tent": "laws.bumps",
    "Quartic": "laws.bumps",
    "Steps": "laws.bumps",
    "Composite": "mechanisms.composite",
    "Rows": "mechanisms.rows",
    "Blend": "mechanisms.blend",
    "Truncated": "mechanisms.truncated",
    "BoundedReport": "search.bounded.report",
    "design_bounded": "search.bounded.designer",
    "composite_from": "search.bounded.own",
    "loss_programme": "search.bounded.own",
    "ColumnPlan": "search.bounded.columns",
    "LocalMean": "search.bounded.columns",
    "local_mean": "search.bounded.columns",
    "plan_columns": "search.bounded.columns",
}

__all__ = [
    "AbsoluteError",
    "Additive",
    "AverageVariance",
    "Blend",
    "Bounded",
    "BoundedReport",
    "Box",
    "Budget",
    "BudgetRow",
    "Candidate",
    "Certificate",
    "Certified",
    "ColumnPlan",
    "Composite",
    "DiscreteLaplace",
    "ErrorQuantile",
    "Expected",
    "Growth",
    "InfeasibleError",
    "InvalidAnswerError",
    "InvalidInputError",
    "InvalidLawError",
    "InvalidLossError",
    "InvalidMechanismError",
    "InvalidNumberError",
    "InvalidPrivacyError",
    "InvalidQueryError",
    "InvalidUtilityError",
    "Laplace",
    "Lattice",
    "LocalMean",
    "MechanismFileError",
    "NoisewrightError",
    "Piecewise",
    "PowerError",
    "PureDP",
    "Quartic",
    "Report",
    "Rows",
    "Scalar",
    "Sine",
    "SolverError",
    "SquaredError",
    "Steps",
    "Tent",
    "Truncated",
    "UncertifiedError",
    "UnreachableTargetError",
    "Usefulness",
    "WorstVariance",
    "__version__",
    "budget_for",
    "certify",
    "composite_from",
    "design",
    "design_bounded",
    "local_mean",
    "loss_programme",
    "plan_columns",
    "skewed_staircase",
    "staircase",
]

if TYPE_CHECKING:
    from noisewright.laws.bumps import Box, Quartic, Sine, Steps, Tent
    from noisewright.laws.laplace import DiscreteLaplace, Laplace
    from noisewright.laws.lattice import Lattice
    from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
    from noisewright.mechanisms.additive import Additive
    from noisewright.mechanisms.blend import Blend
    from noisewright.mechanisms.composite import Composite
    from noisewright.mechanisms.rows import Rows
    from noisewright.mechanisms.truncated import Truncated
    from noisewright.problem.errors import (
        InfeasibleError,
        InvalidAnswerError,
        InvalidInputError,
        InvalidLawError,
        InvalidLossError,
        InvalidMechanismError,
        InvalidNumberError,
        InvalidPrivacyError,
        InvalidQueryError,
        InvalidUtilityError,
        MechanismFileError,
        NoisewrightError,
        SolverError,
        UncertifiedError,
        UnreachableTargetError,
    )
    from noisewright.problem.privacy import PureDP
    from noisewright.problem.queries import Bounded, Scalar
    from noisewright.problem.utilities import (
        AbsoluteError,
        AverageVariance,
        ErrorQuantile,
        Expected,
        Growth,
        PowerError,
        SquaredError,
        Usefulness,
        WorstVariance,
    )
    from noisewright.proof.certify import Certificate, certify
    from noisewright.sample.certified import Certified
    from noisewright.search.bounded.columns import ColumnPlan, LocalMean, local_mean, plan_columns
    from noisewright.search.bounded.designer import design_bounded
    from noisewright.search.bounded.own import composite_from, loss_programme
    from noisewright.search.bounded.report import BoundedReport
    from noisewright.search.budget import Budget, BudgetRow, budget_for
    from noisewright.search.design import design
    from noisewright.search.report import Candidate, Report


def __getattr__(name: str) -> Any:
    """Load public names when they are first used: importing the package itself stays cheap."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
