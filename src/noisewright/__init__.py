"""noisewright designs the noise: say what is asked, what must be protected and what counts as good."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Choice": "problem.queries",
    "GaussianMixture": "laws.gaussian_mixture",
    "RandomExponential": "mechanisms.choice",
    "KullbackLeibler": "problem.divergences",
    "Renyi": "problem.divergences",
    "HistogramEntropy": "problem.divergences",
    "Mallows": "problem.divergences",
    "ErrorEntropy": "problem.divergences",
    "TwoFold": "laws.twofold",
    "Atoms": "laws.folds",
    "GammaFold": "laws.folds",
    "UniformFold": "laws.folds",
    "NoncentralChiSquaredFold": "laws.folds",
    "RayleighFold": "laws.folds",
    "TruncatedNormalFold": "laws.combined",
    "Ensemble": "laws.combined",
    "FormulaFold": "laws.formula",
    "point_fold": "laws.folds",
    "two_point_fold": "laws.folds",
    "AbsoluteError": "problem.utilities",
    "ErrorQuantile": "problem.utilities",
    "Expected": "problem.utilities",
    "Growth": "problem.utilities",
    "PowerError": "problem.utilities",
    "SquaredError": "problem.utilities",
    "Usefulness": "problem.utilities",
    "PureDP": "problem.privacy",
    "ApproxDP": "problem.privacy",
    "ProbabilisticDP": "problem.privacy",
    "RenyiDP": "problem.privacy",
    "ZeroConcentratedDP": "problem.privacy",
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
    "Box": "problem.sensitivity",
    "Disjoint": "problem.sensitivity",
    "Sparse": "problem.sensitivity",
    "Replace": "problem.sensitivity",
    "L1Ball": "problem.sensitivity",
    "L2Ball": "problem.sensitivity",
    "Points": "problem.sensitivity",
    "Vector": "problem.vector",
    "TotalSquaredError": "problem.vector_utilities",
    "TotalAbsoluteError": "problem.vector_utilities",
    "LargestError": "problem.vector_utilities",
    "LargestErrorQuantile": "problem.vector_utilities",
    "CoordinateUsefulness": "problem.vector_utilities",
    "PerCoordinate": "mechanisms.per_coordinate",
    "NormBlock": "mechanisms.norm_shaped",
    "NormShaped": "mechanisms.norm_shaped",
    "LinearGaussian": "mechanisms.linear_gaussian",
    "VectorReport": "search.vector_report",
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
    "Gaussian": "laws.gaussian",
    "GeneralizedGaussian": "laws.generalized_gaussian",
    "Logistic": "laws.logistic",
    "TruncatedLaplace": "laws.truncated_laplace",
    "DiscreteGaussian": "laws.discrete_gaussian",
    "Tabulated": "laws.tabulated",
    "RangedScalar": "problem.ranged",
    "RangedNoise": "mechanisms.ranged",
    "MinkowskiExponential": "mechanisms.exponential",
    "lp_sensitivity": "mechanisms.lp_sensitivity",
    "lp_sensitivity_from_bounds": "mechanisms.lp_sensitivity",
    "exact_lp_sensitivity": "mechanisms.lp_sensitivity",
    "approximate_delta": "proof.approximate",
    "renyi_divergence": "proof.renyi",
    "implied_bound": "proof.conversions",
    "corollary_nine_delta": "proof.named_rules",
    "GAUSSIAN": "search.calibration",
    "LOGISTIC": "search.calibration",
    "generalized_gaussian": "search.calibration",
    "calibrated": "search.calibration",
    "calibrated_many": "search.calibration",
    "composed_delta": "search.composition",
    "composed_epsilon": "search.composition",
    "ranged_mechanism": "search.ranged",
    "per_coordinate": "search.ranged",
    "exponential_on_range": "search.ranged",
    "exponential_over": "search.ranged",
    "release_within": "search.ranged",
    "AverageVariance": "problem.utilities",
    "WorstVariance": "problem.utilities",
    "Bounded": "problem.queries",
    "InfeasibleError": "problem.errors",
    "Plateau": "laws.bumps",
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
    "ApproxDP",
    "Atoms",
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
    "Choice",
    "ColumnPlan",
    "Composite",
    "CoordinateUsefulness",
    "Dates",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Disjoint",
    "Ensemble",
    "ErrorEntropy",
    "ErrorQuantile",
    "Euclidean",
    "Expected",
    "FormulaFold",
    "GAUSSIAN",
    "GammaFold",
    "Gaussian",
    "GaussianMixture",
    "GeneralizedGaussian",
    "Graph",
    "GreatCircle",
    "Growth",
    "Hamming",
    "HistogramEntropy",
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
    "KullbackLeibler",
    "L1Ball",
    "L2Ball",
    "LOGISTIC",
    "Laplace",
    "LargestError",
    "LargestErrorQuantile",
    "Lattice",
    "Linear",
    "LinearElliptical",
    "LinearGaussian",
    "LinearLaplace",
    "LinearReport",
    "LocalMean",
    "Logistic",
    "Mallows",
    "Matrix",
    "MechanismFileError",
    "MetricExponential",
    "MetricMWEM",
    "MetricPrivacy",
    "MetricSmallDB",
    "MinkowskiExponential",
    "NoisewrightError",
    "NoncentralChiSquaredFold",
    "NormBlock",
    "NormShaped",
    "PerAttribute",
    "PerCoordinate",
    "PerValue",
    "Piecewise",
    "Plateau",
    "Points",
    "PowerError",
    "ProbabilisticDP",
    "PureDP",
    "Quartic",
    "RandomExponential",
    "RangedNoise",
    "RangedScalar",
    "RayleighFold",
    "Renyi",
    "RenyiDP",
    "Replace",
    "Report",
    "Rows",
    "Scalar",
    "Sine",
    "SmoothThreshold",
    "SolverError",
    "Sparse",
    "SquaredError",
    "Steps",
    "Tabulated",
    "Tent",
    "Threshold",
    "TimeSeries",
    "TotalAbsoluteError",
    "TotalSquaredError",
    "Truncated",
    "TruncatedLaplace",
    "TruncatedNormalFold",
    "TwoFold",
    "UncertifiedError",
    "UniformFold",
    "Universe",
    "UnreachableTargetError",
    "Usefulness",
    "Vector",
    "VectorReport",
    "WithAbsent",
    "WorstVariance",
    "ZeroConcentratedDP",
    "approximate_delta",
    "budget_for",
    "calibrated",
    "calibrated_many",
    "certify",
    "composed_delta",
    "composed_epsilon",
    "composite_from",
    "corollary_nine_delta",
    "design",
    "design_bounded",
    "exact_lp_sensitivity",
    "exponential_mechanism",
    "exponential_on_range",
    "exponential_over",
    "generalized_gaussian",
    "group_budget",
    "implied_bound",
    "local_mean",
    "loss_programme",
    "lp_sensitivity",
    "lp_sensitivity_from_bounds",
    "metric_private",
    "mwem_mechanism",
    "per_coordinate",
    "plan_columns",
    "point_fold",
    "ranged_mechanism",
    "release_within",
    "renyi_divergence",
    "skewed_staircase",
    "smalldb_by_metropolis",
    "smalldb_mechanism",
    "staircase",
    "two_point_fold",
    "__version__",
]

if TYPE_CHECKING:
    from noisewright.laws.bumps import Plateau, Quartic, Sine, Steps, Tent
    from noisewright.laws.combined import Ensemble, TruncatedNormalFold
    from noisewright.laws.discrete_gaussian import DiscreteGaussian
    from noisewright.laws.folds import (
        Atoms,
        GammaFold,
        NoncentralChiSquaredFold,
        RayleighFold,
        UniformFold,
        point_fold,
        two_point_fold,
    )
    from noisewright.laws.formula import FormulaFold
    from noisewright.laws.gaussian import Gaussian
    from noisewright.laws.gaussian_mixture import GaussianMixture
    from noisewright.laws.generalized_gaussian import GeneralizedGaussian
    from noisewright.laws.laplace import DiscreteLaplace, Laplace
    from noisewright.laws.lattice import Lattice
    from noisewright.laws.logistic import Logistic
    from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
    from noisewright.laws.tabulated import Tabulated
    from noisewright.laws.truncated_laplace import TruncatedLaplace
    from noisewright.laws.twofold import TwoFold
    from noisewright.mechanisms.additive import Additive
    from noisewright.mechanisms.blend import Blend
    from noisewright.mechanisms.choice import RandomExponential
    from noisewright.mechanisms.composite import Composite
    from noisewright.mechanisms.exponential import MinkowskiExponential
    from noisewright.mechanisms.linear import LinearElliptical, LinearLaplace
    from noisewright.mechanisms.linear_gaussian import LinearGaussian
    from noisewright.mechanisms.lp_sensitivity import exact_lp_sensitivity, lp_sensitivity, lp_sensitivity_from_bounds
    from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
    from noisewright.mechanisms.per_coordinate import PerCoordinate
    from noisewright.mechanisms.ranged import RangedNoise
    from noisewright.mechanisms.rows import Rows
    from noisewright.mechanisms.selection import MetricExponential, MetricMWEM, MetricSmallDB
    from noisewright.mechanisms.truncated import Truncated
    from noisewright.numerics.distances import group_budget
    from noisewright.problem.divergences import ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi
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
    from noisewright.problem.geometry import Dates, Euclidean, GreatCircle, SmoothThreshold, Threshold, TimeSeries
    from noisewright.problem.graphs import Graph
    from noisewright.problem.linear import Linear, Universe
    from noisewright.problem.metric_privacy import MetricPrivacy
    from noisewright.problem.metrics import Hamming, Matrix, PerAttribute, PerValue, WithAbsent
    from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
    from noisewright.problem.queries import Bounded, Choice, Scalar
    from noisewright.problem.ranged import RangedScalar
    from noisewright.problem.sensitivity import Box, Disjoint, L1Ball, L2Ball, Points, Replace, Sparse
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
    from noisewright.problem.vector import Vector
    from noisewright.problem.vector_utilities import (
        CoordinateUsefulness,
        LargestError,
        LargestErrorQuantile,
        TotalAbsoluteError,
        TotalSquaredError,
    )
    from noisewright.proof.approximate import approximate_delta
    from noisewright.proof.certify import Certificate, certify
    from noisewright.proof.conversions import implied_bound
    from noisewright.proof.named_rules import corollary_nine_delta
    from noisewright.proof.renyi import renyi_divergence
    from noisewright.sample.certified import Certified
    from noisewright.sample.synthetic import smalldb_by_metropolis
    from noisewright.search.bounded.columns import ColumnPlan, LocalMean, local_mean, plan_columns
    from noisewright.search.bounded.designer import design_bounded
    from noisewright.search.bounded.own import composite_from, loss_programme
    from noisewright.search.bounded.report import BoundedReport
    from noisewright.search.budget import Budget, BudgetRow, budget_for
    from noisewright.search.calibration import GAUSSIAN, LOGISTIC, calibrated, calibrated_many, generalized_gaussian
    from noisewright.search.composition import composed_delta, composed_epsilon
    from noisewright.search.design import design
    from noisewright.search.meta import metric_private
    from noisewright.search.metric_builders import exponential_mechanism, mwem_mechanism, smalldb_mechanism
    from noisewright.search.metric_report import LinearReport
    from noisewright.search.ranged import (
        exponential_on_range,
        exponential_over,
        per_coordinate,
        ranged_mechanism,
        release_within,
    )
    from noisewright.search.report import Candidate, Report
    from noisewright.search.vector_report import VectorReport


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
