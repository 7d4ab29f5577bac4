"""Every law by the name it has in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.laws.base import LAWS, SmoothLaw
from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.piecewise import Piecewise
from noisewright.problem.records import load_package

NoiseLaw = Laplace | DiscreteLaplace | DiscreteGaussian | Piecewise | SmoothLaw

load_package("noisewright.laws")


def law_from_dict(data: Mapping[str, Any]) -> NoiseLaw:
    """The law that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    found: NoiseLaw = LAWS.from_dict(data)
    return found
