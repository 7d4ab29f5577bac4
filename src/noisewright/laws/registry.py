"""Every law by the name it has in files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from noisewright.laws.base import SmoothLaw
from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.gaussian_mixture import GaussianMixture
from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.logistic import Logistic
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.truncated_laplace import TruncatedLaplace
from noisewright.laws.twofold import twofold_from_dict

NoiseLaw = Laplace | DiscreteLaplace | Piecewise | SmoothLaw


def _laplace(data: Mapping[str, Any]) -> Laplace:
    return Laplace(exact(data["scale"]))


def _discrete_laplace(data: Mapping[str, Any]) -> DiscreteLaplace:
    return DiscreteLaplace(exact(data["scale"]))


def _piecewise(data: Mapping[str, Any]) -> Piecewise:
    return Piecewise(
        rate=exact(data["rate"]),
        period=exact(data["period"]),
        breaks=tuple(exact(b) for b in data["breaks"]),
        levels=tuple(exact(v) for v in data["levels"]),
        left_cells=whole(data["left_cells"]),
        right_cells=whole(data["right_cells"]),
    )


def _tabulated(data: Mapping[str, Any]) -> Tabulated:
    weights = tuple(exact(w) for w in data["weights"])
    if any(w.denominator != 1 for w in weights):
        raise ValueError("the weights of a tabulated law are whole numbers")
    return Tabulated(exact(data["width"]), tuple(int(w) for w in weights), exact(data["edge"]))


_RATIONAL = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?")

LAWS: dict[str, Callable[[Mapping[str, Any]], NoiseLaw]] = {
    "laplace": _laplace,
    "discrete-laplace": _discrete_laplace,
    "piecewise": _piecewise,
    "two-fold": lambda data: twofold_from_dict(data, exact),
    "gaussian-mixture": lambda data: GaussianMixture(
        tuple(exact(s) for s in data["stds"]), tuple(exact(w) for w in data["weights"])
    ),
    "gaussian": lambda data: Gaussian(exact(data["std"])),
    "generalized-gaussian": lambda data: GeneralizedGaussian(exact(data["power"]), exact(data["scale"])),
    "logistic": lambda data: Logistic(exact(data["scale"])),
    "truncated-laplace": lambda data: TruncatedLaplace(exact(data["scale"]), exact(data["bound"])),
    "discrete-gaussian": lambda data: DiscreteGaussian(exact(data["std"])),
    "tabulated": _tabulated,
}
"""How each kind of law is read back; a law is known to files by being listed here."""


def law_from_dict(data: Mapping[str, Any]) -> NoiseLaw:
    """The law that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    return LAWS[data["kind"]](data)


def exact(text: object) -> Fraction:
    """A rational from the text form that `str(Fraction)` writes; other types are refused."""
    if not isinstance(text, str):
        raise TypeError(f"expected a number as text, got {text!r}")
    if not _RATIONAL.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a rational such as 3/1000")
    return Fraction(text)


def whole(value: object) -> int:
    """A plain integer; truth values and floats are refused."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, got {value!r}")
    return value
