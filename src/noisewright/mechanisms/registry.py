"""Every kind of mechanism by the name it has in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.base import Mechanism
from noisewright.mechanisms.blend import Blend
from noisewright.mechanisms.choice import RandomExponential
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

MECHANISMS: dict[str, Callable[[Mapping[str, Any]], Mechanism]] = {
    "additive": Additive.from_dict,
    "blend": Blend.from_dict,
    "composite": Composite.from_dict,
    "rows": Rows.from_dict,
    "truncated": Truncated.from_dict,
    "ranged": RangedNoise.from_dict,
    "minkowski-exponential": MinkowskiExponential.from_dict,
    "random-exponential": RandomExponential.from_dict,
    "per-coordinate": PerCoordinate.from_dict,
    "norm-shaped": NormShaped.from_dict,
    "linear-gaussian": LinearGaussian.from_dict,
    "linear-laplace": LinearLaplace.from_dict,
    "linear-elliptical": LinearElliptical.from_dict,
    "metric-exponential": MetricExponential.from_dict,
    "metric-smalldb": MetricSmallDB.from_dict,
    "metric-mwem": MetricMWEM.from_dict,
}
"""How each kind of mechanism is read back; a mechanism is known to files by being listed here."""


def mechanism_from_dict(data: Mapping[str, Any]) -> Mechanism:
    """The mechanism that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    return MECHANISMS[data["kind"]](data)
