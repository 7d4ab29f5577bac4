from noisewright.lab.composite.columns import (
    ColumnPlan as ColumnPlan,
    LocalMean as LocalMean,
    local_mean as local_mean,
    plan_columns as plan_columns,
)
from noisewright.lab.composite.own_shapes import composite_from as composite_from, loss_programme as loss_programme
from noisewright.lab.generalized_gaussian.sensitivities import (
    exact_lp_sensitivity as exact_lp_sensitivity,
    filter_sensitivity as filter_sensitivity,
    lp_sensitivity as lp_sensitivity,
    lp_sensitivity_from_bounds as lp_sensitivity_from_bounds,
)
from noisewright.lab.metric.meta import metric_private as metric_private
from noisewright.mechanisms.additive import Additive as Additive
from noisewright.mechanisms.bounded.clamped import Clamped as Clamped
from noisewright.mechanisms.bounded.composite import (
    Blend as Blend,
    Composite as Composite,
    CompositeSetting as CompositeSetting,
)
from noisewright.mechanisms.bounded.conditional import Rows as Rows
from noisewright.mechanisms.bounded.truncated import Truncated as Truncated
from noisewright.mechanisms.linear.noise import (
    ColumnGaussian as ColumnGaussian,
    LinearElliptical as LinearElliptical,
    LinearLaplace as LinearLaplace,
)
from noisewright.mechanisms.linear.synthetic import (
    MetricExponential as MetricExponential,
    MetricMWEM as MetricMWEM,
    MetricSmallDB as MetricSmallDB,
)
from noisewright.mechanisms.linear_gaussian import LinearGaussian as LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock as NormBlock, NormShaped as NormShaped
from noisewright.mechanisms.per_coordinate import IdenticalNoise as IdenticalNoise, PerCoordinate as PerCoordinate
from noisewright.mechanisms.response import RandomisedResponse as RandomisedResponse
from noisewright.mechanisms.selection import (
    MetricChoice as MetricChoice,
    MinkowskiExponential as MinkowskiExponential,
    PermuteAndFlip as PermuteAndFlip,
    RandomExponential as RandomExponential,
)
from noisewright.mechanisms.strategies.filters import FilterRows as FilterRows
from noisewright.mechanisms.strategies.rows import (
    BlockRows as BlockRows,
    ContrastRows as ContrastRows,
    DenseRows as DenseRows,
    EndlessRows as EndlessRows,
    MarginalRows as MarginalRows,
    ResidualRows as ResidualRows,
)
from noisewright.mechanisms.strategies.strategy import (
    GaussianStrategy as GaussianStrategy,
    LaplaceStrategy as LaplaceStrategy,
)
from noisewright.problem.queries import Bounded as Bounded
from noisewright.proof.conversions import implied_bound as implied_bound
from noisewright.sample.certified import CountStream as CountStream
from noisewright.sample.strategy import AdjustedAnswer as AdjustedAnswer, WorkloadAnswer as WorkloadAnswer
from noisewright.search.designers.bounded import design_bounded as design_bounded
from noisewright.search.designers.choice import (
    exponential_over as exponential_over,
    randomised_response as randomised_response,
    release_within as release_within,
)
from noisewright.search.designers.scalar_pure import HalfIntegers as HalfIntegers, half_integers as half_integers
from noisewright.search.families.bounded_optimum import (
    composite_of as composite_of,
    enumerate_composite as enumerate_composite,
    search_composite as search_composite,
)
from noisewright.search.families.linear import (
    exponential_mechanism as exponential_mechanism,
    mwem_mechanism as mwem_mechanism,
    smalldb_mechanism as smalldb_mechanism,
)
