"""What a person may type or hand over for a release: text, or an event of the library `dp_accounting`.

Text is "gaussian(sigma=40) x 1000", "laplace(epsilon=0.1) x 20", or the name of a saved file. Events are known by the
names of their classes; the library itself is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.accounting.releases import CertifiedRelease, DeclaredNoise, DeclaredPair
from noisewright.accounting.structure import MOST_PARTS, times_of
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter, whole_number
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
        return [(CertifiedRelease(Certified.load(Path(named["path"]))), _times(named["times"]))]
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


def _gaussian(sigma: Fraction, sensitivity: Fraction = _ONE) -> DeclaredNoise:
    return DeclaredNoise(Gaussian(sigma), sensitivity)


def _laplace(
    epsilon: Fraction | None = None, scale: Fraction | None = None, sensitivity: Fraction = _ONE
) -> DeclaredNoise:
    return DeclaredNoise(Laplace(sensitivity / epsilon if epsilon else scale or _ONE), sensitivity)


def _discrete_gaussian(sigma: Fraction, sensitivity: Fraction = _ONE) -> DeclaredNoise:
    return DeclaredNoise(DiscreteGaussian(sigma), _whole(sensitivity))


def _discrete_laplace(
    epsilon: Fraction | None = None, scale: Fraction | None = None, sensitivity: Fraction = _ONE
) -> DeclaredNoise:
    return DeclaredNoise(DiscreteLaplace(_whole(sensitivity) / epsilon if epsilon else scale or _ONE), sensitivity)


def _whole(sensitivity: Fraction) -> Fraction:
    if sensitivity.denominator != 1:
        raise InvalidInputError(f"sensitivity is {sensitivity}; discrete noise is for whole numbers.")
    return sensitivity


def _response(epsilon: Fraction) -> DeclaredPair:
    return DeclaredPair(epsilon, Fraction(0), True)


def _pair(epsilon: Fraction, delta: Fraction) -> DeclaredPair:
    return DeclaredPair(epsilon, delta)


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


_SUFFIX = "DpEvent"
_DEEPEST = 100


def is_event(given: Any) -> bool:
    """Whether its class is called like an event, or like one that is not known here."""
    return type(given).__name__.endswith(_SUFFIX)


def parts_of_event(event: Any) -> list[tuple[Any, int]]:
    """The releases of an event, and how often each.

    Raises InvalidInputError for events without a rule here, such as sampled ones.
    """
    found: list[tuple[Any, int]] = []
    waiting, steps = [(event, 1, 0)], 0
    while waiting:
        one, times, depth = waiting.pop()
        steps += 1
        if depth > _DEEPEST:
            raise InvalidInputError(f"these events are more than {_DEEPEST} deep, or hold themselves; give one list.")
        name = type(one).__name__.removesuffix(_SUFFIX)
        if name == "Composed":
            waiting.extend((each, times, depth + 1) for each in reversed(_events(one)))
        elif name == "SelfComposed":
            count = times_of(_field(one, "count"), "count of a SelfComposedDpEvent", times)
            waiting.append((_field(one, "event"), count, depth + 1))
        elif name in _EVENTS:
            found.append((_EVENTS[name](one), times))
        elif name != "NoOp":
            known = ", ".join(f"{each}{_SUFFIX}" for each in ("Composed", "SelfComposed", *_EVENTS))
            raise InvalidInputError(f"there is no proof for the event {type(one).__name__}; known are {known}.")
        if steps + len(waiting) > MOST_PARTS:
            raise InvalidInputError(f"more than {MOST_PARTS} events; use SelfComposedDpEvent for equal ones.")
    return found


def _field(event: Any, name: str) -> Any:
    """What an event says of itself."""
    if not hasattr(event, name):
        raise InvalidInputError(f"a {type(event).__name__} has no {name}; give the event as dp_accounting makes it.")
    return getattr(event, name)


def _events(event: Any) -> list[Any]:
    held = _field(event, "events")
    if not isinstance(held, list | tuple):
        raise InvalidInputError(
            f"the events of a {type(event).__name__} are of type {type(held).__name__}; give a list of events."
        )
    return list(held)


def _positive(event: Any, name: str) -> Fraction:
    value = _field(event, name)
    exact = parameter(value, name)
    if exact <= 0:
        raise InvalidInputError(f"{name} is {value}; noise must be positive, or nothing is private.", given=value)
    return exact


def _discrete_laplace_event(event: Any) -> DeclaredNoise:
    """Masses proportional to e^(-noise_parameter |k|)."""
    sensitivity = whole_number(_field(event, "sensitivity"), "sensitivity of a DiscreteLaplaceDpEvent")
    return DeclaredNoise(DiscreteLaplace(1 / _positive(event, "noise_parameter")), sensitivity)


_EVENTS: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda event: DeclaredNoise(Gaussian(_positive(event, "noise_multiplier")), 1),
    "Laplace": lambda event: DeclaredNoise(Laplace(_positive(event, "noise_multiplier")), 1),
    "DiscreteLaplace": _discrete_laplace_event,
}
