"""Every law by the name it has in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.laws.base import LAWS, SmoothLaw
from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.gaussian_mixture import GaussianMixture
from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.logistic import Logistic
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.truncated_laplace import TruncatedLaplace
from noisewright.laws.twofold import TwoFold

NoiseLaw = Laplace | DiscreteLaplace | DiscreteGaussian | Piecewise | SmoothLaw

KNOWN = (
    Laplace, DiscreteLaplace, Piecewise, TwoFold, GaussianMixture, Gaussian,
    GeneralizedGaussian, Logistic, TruncatedLaplace, DiscreteGaussian, Tabulated,
)  # fmt: skip
"""Every law; loading them is what registers them."""


def law_from_dict(data: Mapping[str, Any]) -> NoiseLaw:
    """The law that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    found: NoiseLaw = LAWS.from_dict(data)
    return found
