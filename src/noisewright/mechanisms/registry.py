"""Every kind of mechanism by the name it has in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.blend import Blend
from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.mechanisms.composite import Composite
from noisewright.mechanisms.exponential import MinkowskiExponential
from noisewright.mechanisms.linear import LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.ranged import RangedNoise
from noisewright.mechanisms.rows import Rows
from noisewright.mechanisms.selection import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.truncated import Truncated

KNOWN = (
    Additive, Blend, Composite, Rows, Truncated, RangedNoise, MinkowskiExponential, RandomExponential,
    PermuteAndFlip, PerCoordinate, NormShaped, LinearGaussian, LinearLaplace, LinearElliptical, MetricExponential,
    MetricSmallDB, MetricMWEM,
)  # fmt: skip
"""Every mechanism; loading them is what registers them."""


def mechanism_from_dict(data: Mapping[str, Any]) -> Mechanism:
    """The mechanism that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    found: Mechanism = MECHANISMS.from_dict(data)
    return found
