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
    "TotalSquaredError": "problem.vector_utilities",
    "TotalAbsoluteError": "problem.vector_utilities",
    "LargestError": "problem.vector_utilities",
    "MetricPrivacy": "problem.metric_privacy",
    "Hamming": "problem.metrics",
    "Matrix": "problem.metrics",
    "PerAttribute": "problem.metrics",
    "PerValue": "problem.metrics",
    "WithAbsent": "problem.metrics",
    "Dates": "problem.geometry",
    "Euclidean": "problem.geometry",
    "GreatCircle": "problem.geometry",
    "SmoothThreshold": "problem.geometry",
    "Threshold": "problem.geometry",
    "TimeSeries": "problem.geometry",
    "Graph": "problem.graphs",
    "Linear": "problem.linear",
    "Universe": "problem.linear",
    "group_budget": "numerics.distances",
    "LinearElliptical": "mechanisms.linear",
    "LinearLaplace": "mechanisms.linear",
    "MetricExponential": "mechanisms.selection",
    "MetricMWEM": "mechanisms.selection",
    "MetricSmallDB": "mechanisms.selection",
    "smalldb_by_metropolis": "sample.synthetic",
    "LinearReport": "search.metric_report",
    "exponential_mechanism": "search.metric_builders",
    "mwem_mechanism": "search.metric_builders",
    "smalldb_mechanism": "search.metric_builders",
    "metric_private": "search.meta",
}

__all__ = [
    "AbsoluteError",
    "Additive",
    "Budget",
    "BudgetRow",
    "Candidate",
    "Certificate",
    "Certified",
    "Dates",
    "DiscreteLaplace",
    "ErrorQuantile",
    "Euclidean",
    "Expected",
    "Graph",
    "GreatCircle",
    "Growth",
    "Hamming",
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
    "LargestError",
    "Lattice",
    "Linear",
    "LinearElliptical",
    "LinearLaplace",
    "LinearReport",
    "Matrix",
    "MechanismFileError",
    "MetricExponential",
    "MetricMWEM",
    "MetricPrivacy",
    "MetricSmallDB",
    "NoisewrightError",
    "PerAttribute",
    "PerValue",
    "Piecewise",
    "PowerError",
    "PureDP",
    "Report",
    "Scalar",
    "SmoothThreshold",
    "SolverError",
    "SquaredError",
    "Threshold",
    "TimeSeries",
    "TotalAbsoluteError",
    "TotalSquaredError",
    "UncertifiedError",
    "Universe",
    "UnreachableTargetError",
    "Usefulness",
    "WithAbsent",
    "budget_for",
    "certify",
    "design",
    "exponential_mechanism",
    "group_budget",
    "metric_private",
    "mwem_mechanism",
    "skewed_staircase",
    "smalldb_by_metropolis",
    "smalldb_mechanism",
    "staircase",
    "__version__",
]

if TYPE_CHECKING:
    from noisewright.laws.laplace import DiscreteLaplace, Laplace
    from noisewright.laws.lattice import Lattice
    from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
    from noisewright.mechanisms.additive import Additive
    from noisewright.mechanisms.linear import LinearElliptical, LinearLaplace
    from noisewright.mechanisms.selection import MetricExponential, MetricMWEM, MetricSmallDB
    from noisewright.numerics.distances import group_budget
    from noisewright.problem.errors import (
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
    from noisewright.problem.geometry import Dates, Euclidean, GreatCircle, SmoothThreshold, Threshold, TimeSeries
    from noisewright.problem.graphs import Graph
    from noisewright.problem.linear import Linear, Universe
    from noisewright.problem.metric_privacy import MetricPrivacy
    from noisewright.problem.metrics import Hamming, Matrix, PerAttribute, PerValue, WithAbsent
    from noisewright.problem.privacy import PureDP
    from noisewright.problem.queries import Scalar
    from noisewright.problem.utilities import (
        AbsoluteError,
        ErrorQuantile,
        Expected,
        Growth,
        PowerError,
        SquaredError,
        Usefulness,
    )
    from noisewright.problem.vector_utilities import LargestError, TotalAbsoluteError, TotalSquaredError
    from noisewright.proof.certify import Certificate, certify
    from noisewright.sample.certified import Certified
    from noisewright.sample.synthetic import smalldb_by_metropolis
    from noisewright.search.budget import Budget, BudgetRow, budget_for
    from noisewright.search.design import design
    from noisewright.search.meta import metric_private
    from noisewright.search.metric_builders import exponential_mechanism, mwem_mechanism, smalldb_mechanism
    from noisewright.search.metric_report import LinearReport
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
