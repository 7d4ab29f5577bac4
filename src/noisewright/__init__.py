"""noisewright designs the noise: say what is asked, what must be protected and what counts as good."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from noisewright.homes import HOMES

__version__ = "0.1.0"

__all__ = [
    "AbsoluteError", "Additive", "ApproxDP", "Atoms", "AverageVariance", "Blend", "Bounded", "Box",
    "Budget", "BudgetRow", "Candidate", "Certificate", "Certified", "Choice", "ColumnPlan", "Composite",
    "Dates", "DiscreteGaussian", "DiscreteLaplace", "Disjoint", "Ensemble", "ErrorEntropy",
    "ErrorQuantile", "Euclidean", "Expected", "FormulaFold", "GAUSSIAN", "GammaFold", "Gaussian", "GaussianMixture",
    "GeneralizedGaussian", "Graph", "GreatCircle", "Growth", "Hamming", "HistogramEntropy", "InfeasibleError",
    "InvalidAnswerError", "InvalidInputError", "InvalidLawError", "InvalidLossError", "InvalidMechanismError",
    "InvalidNumberError", "InvalidPrivacyError", "InvalidQueryError", "InvalidUtilityError", "KullbackLeibler",
    "L1Ball", "L2Ball", "LOGISTIC", "Laplace", "LargestError", "Lattice", "Linear",
    "LinearElliptical", "LinearGaussian", "LinearLaplace", "LocalMean", "Logistic", "Mallows",
    "Matrix", "MechanismFileError", "MetricExponential", "MetricMWEM", "MetricPrivacy", "MetricSmallDB",
    "MinkowskiExponential", "NoisewrightError", "NoncentralChiSquaredFold", "NormBlock", "NormShaped", "PerAttribute",
    "PerCoordinate", "PerValue", "Piecewise", "Plateau", "Points", "PowerError", "ProbabilisticDP", "PureDP",
    "Quartic", "RandomExponential", "RangedNoise", "RangedScalar", "RayleighFold", "Renyi", "RenyiDP", "Replace",
    "Report", "Rows", "Scalar", "Sine", "SmoothThreshold", "SolverError", "Sparse", "SquaredError", "Steps",
    "Tabulated", "Tent", "Threshold", "TimeSeries", "Truncated",
    "TruncatedLaplace", "TruncatedNormalFold", "TwoFold", "UncertifiedError", "UniformFold", "Universe",
    "UnreachableTargetError", "Usefulness", "Vector", "WithAbsent", "WorstVariance",
    "ZeroConcentratedDP", "approximate_delta", "budget_for", "calibrated", "calibrated_many", "certify",
    "composed_delta", "composed_epsilon", "HalfIntegers", "half_integers", "composite_from", "corollary_nine_delta",
    "design", "design_bounded", "exact_lp_sensitivity", "exponential_mechanism", "exponential_on_range",
    "exponential_over", "generalized_gaussian", "group_budget", "implied_bound", "local_mean", "loss_programme",
    "lp_sensitivity", "lp_sensitivity_from_bounds", "metric_private", "mwem_mechanism", "per_coordinate",
    "plan_columns", "point_fold", "ranged_mechanism", "release_within", "renyi_divergence", "skewed_staircase",
    "smalldb_by_metropolis", "smalldb_mechanism", "staircase", "two_point_fold", "__version__",
]  # fmt: skip

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
        LargestError,
        PowerError,
        SquaredError,
        Usefulness,
        WorstVariance,
    )
    from noisewright.problem.vector import Vector
    from noisewright.proof.approximate import approximate_delta
    from noisewright.proof.certify import Certificate, certify
    from noisewright.proof.conversions import implied_bound
    from noisewright.proof.named_rules import corollary_nine_delta
    from noisewright.proof.renyi import renyi_divergence
    from noisewright.sample.certified import Certified
    from noisewright.sample.synthetic import smalldb_by_metropolis
    from noisewright.search.budget import Budget, BudgetRow, budget_for
    from noisewright.search.design import design
    from noisewright.search.designers.bounded import design_bounded
    from noisewright.search.designers.columns import ColumnPlan, LocalMean, local_mean, plan_columns
    from noisewright.search.designers.halves import HalfIntegers, half_integers
    from noisewright.search.designers.meta import metric_private
    from noisewright.search.families.calibration import (
        GAUSSIAN,
        LOGISTIC,
        calibrated,
        calibrated_many,
        generalized_gaussian,
    )
    from noisewright.search.families.composition import composed_delta, composed_epsilon
    from noisewright.search.families.linear import exponential_mechanism, mwem_mechanism, smalldb_mechanism
    from noisewright.search.families.own_shapes import composite_from, loss_programme
    from noisewright.search.families.ranged import (
        exponential_on_range,
        exponential_over,
        per_coordinate,
        ranged_mechanism,
        release_within,
    )
    from noisewright.search.report.report import Candidate, Report


def __getattr__(name: str) -> Any:
    """Load public names when they are first used: importing the package itself stays cheap."""
    home = HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
