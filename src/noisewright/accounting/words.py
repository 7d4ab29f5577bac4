"""Releases in words: "gaussian(sigma=40) x 1000", "laplace(epsilon=0.1) x 20", or the name of a saved file."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.accounting.counts import times_of
from noisewright.accounting.releases import Noise, Pair, Proven
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter
from noisewright.sample.certified import Certified

_TIMES = r"(?P<times>[0-9]+(?:_[0-9]+)*)"
_CALL = re.compile(rf"\s*(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*\((?P<given>[ -'*-~]*)\)\s*(?:[x×*]\s*{_TIMES}\s*)?")
_FILE = re.compile(rf"(?P<path>.*?\.json)\s*(?:\s[x×*]\s*{_TIMES}\s*)?")
_LONGEST = 1000
_ONE = Fraction(1)


def parts_of_words(text: str) -> list[tuple[Any, int]]:
    """The release that is named, or the mechanism in a file, and how often."""
    if len(text) <= _LONGEST and (call := _CALL.fullmatch(text)):
        return [(_named(call["name"], call["given"]), _times(call["times"]))]
    if len(text) <= _LONGEST and (named := _FILE.fullmatch(text.strip())):
        return [(Proven(Certified.load(Path(named["path"]))), _times(named["times"]))]
    raise InvalidInputError(
        f"{text[:60]!r} is no release; give {_EXAMPLES}, or the name of a file that `design --save` wrote, each"
        " perhaps followed by x and how often."
    )


def _times(text: str | None) -> int:
    return 1 if text is None else times_of(int(text))


def _named(name: str, given: str) -> Any:
    known = name.lower().replace("-", "_").replace("randomised", "randomized")
    if known not in _RELEASES:
        raise InvalidInputError(f"{name!r} is no release that is known by name; give {_EXAMPLES}.", given=name)
    needed, build = _RELEASES[known]
    values: dict[str, Fraction] = {}
    for item in filter(None, (one.strip() for one in given.split(","))):
        key, equals, value = (one.strip() for one in item.partition("="))
        allowed = {each for names in needed for each in names}
        if not equals or key not in allowed or key in values:
            raise InvalidInputError(f"{name} takes {_wanted(needed)}, each once as name=number; not {item!r}.")
        values[key] = parameter(value, key)
    if not any(set(names) - _OPTIONAL <= set(values) <= set(names) for names in needed):
        raise InvalidInputError(f"{name}({given.strip()}) is not complete; it takes {_wanted(needed)}.")
    if low := next((key for key, value in values.items() if value <= 0 and known != "pair"), None):
        raise InvalidInputError(f"{low} of {name} is {values[low]}; it must be positive.", given=values[low])
    return build(**values)


def _wanted(needed: tuple[tuple[str, ...], ...]) -> str:
    return " or ".join(", ".join(f"[{n}=1]" if n in _OPTIONAL else f"{n}=…" for n in names) for names in needed)


def _gaussian(sigma: Fraction, sensitivity: Fraction = _ONE) -> Noise:
    return Noise(Gaussian(sigma), sensitivity)


def _laplace(epsilon: Fraction | None = None, scale: Fraction | None = None, sensitivity: Fraction = _ONE) -> Noise:
    return Noise(Laplace(sensitivity / epsilon if epsilon else scale or _ONE), sensitivity)


def _discrete_gaussian(sigma: Fraction, sensitivity: Fraction = _ONE) -> Noise:
    return Noise(DiscreteGaussian(sigma), _whole(sensitivity))


def _discrete_laplace(
    epsilon: Fraction | None = None, scale: Fraction | None = None, sensitivity: Fraction = _ONE
) -> Noise:
    return Noise(DiscreteLaplace(_whole(sensitivity) / epsilon if epsilon else scale or _ONE), sensitivity)


def _whole(sensitivity: Fraction) -> Fraction:
    if sensitivity.denominator != 1:
        raise InvalidInputError(f"sensitivity is {sensitivity}; discrete noise is for whole numbers.")
    return sensitivity


def _response(epsilon: Fraction) -> Pair:
    return Pair(epsilon, Fraction(0), True)


def _pair(epsilon: Fraction, delta: Fraction) -> Pair:
    return Pair(epsilon, delta)


_OPTIONAL = {"sensitivity"}
_BY_SCALE = (("epsilon", "sensitivity"), ("scale", "sensitivity"))
_RELEASES: dict[str, tuple[tuple[tuple[str, ...], ...], Callable[..., Any]]] = {
    "gaussian": ((("sigma", "sensitivity"),), _gaussian),
    "laplace": (_BY_SCALE, _laplace),
    "discrete_gaussian": ((("sigma", "sensitivity"),), _discrete_gaussian),
    "discrete_laplace": (_BY_SCALE, _discrete_laplace),
    "randomized_response": ((("epsilon",),), _response),
    "pair": ((("epsilon", "delta"),), _pair),
}
_EXAMPLES = (
    "gaussian(sigma=40), laplace(epsilon=0.1), discrete_gaussian(sigma=3), discrete_laplace(epsilon=0.1),"
    " randomized_response(epsilon=1) or pair(epsilon=1, delta=1e-6)"
)
