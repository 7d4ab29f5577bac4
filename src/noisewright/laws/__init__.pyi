from noisewright.laws.bumps import (
    Plateau as Plateau,
    Quartic as Quartic,
    Sine as Sine,
    Steps as Steps,
    Tent as Tent,
)
from noisewright.laws.gaussian import (
    DiscreteGaussian as DiscreteGaussian,
    Gaussian as Gaussian,
    GaussianMixture as GaussianMixture,
    GeneralizedGaussian as GeneralizedGaussian,
)
from noisewright.laws.hyperbolic import HyperbolicSecant as HyperbolicSecant, Logistic as Logistic
from noisewright.laws.laplace import (
    DiscreteLaplace as DiscreteLaplace,
    Laplace as Laplace,
    TruncatedLaplace as TruncatedLaplace,
)
from noisewright.laws.lattice import Lattice as Lattice
from noisewright.laws.piecewise import (
    Piecewise as Piecewise,
    skewed_staircase as skewed_staircase,
    staircase as staircase,
)
from noisewright.laws.tabulated import Tabulated as Tabulated
from noisewright.laws.two_fold import TwoFold as TwoFold
from noisewright.proof.approximate import approximate_delta as approximate_delta
from noisewright.proof.renyi import renyi_divergence as renyi_divergence
from noisewright.search.families.calibration import (
    GAUSSIAN as GAUSSIAN,
    LOGISTIC as LOGISTIC,
    calibrated as calibrated,
    calibrated_many as calibrated_many,
    calibrated_together as calibrated_together,
    generalized_gaussians as generalized_gaussians,
)
