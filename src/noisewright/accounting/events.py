"""Events of the library `dp_accounting`, known by the names of their classes; the library itself is not needed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noisewright.accounting.releases import Noise
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter, whole_number

_SUFFIX = "DpEvent"
_MOST_EVENTS = 10**6


def is_event(given: Any) -> bool:
    """Whether its class is called like an event, or like one that is not known here."""
    return type(given).__name__.endswith(_SUFFIX)


def parts_of_event(event: Any) -> list[tuple[Any, int]]:
    """The releases of an event, and how often each.

    Raises InvalidInputError for events without a rule here, such as sampled ones.
    """
    found: list[tuple[Any, int]] = []
    waiting = [(event, 1)]
    while waiting:
        one, times = waiting.pop()
        name = type(one).__name__.removesuffix(_SUFFIX)
        if name == "Composed":
            waiting.extend((each, times) for each in reversed(one.events))
        elif name == "SelfComposed":
            waiting.append((one.event, times * whole_number(one.count, "count of a SelfComposedDpEvent")))
        elif name in _RELEASES:
            found.append((_RELEASES[name](one), times))
        elif name != "NoOp":
            known = ", ".join(f"{each}{_SUFFIX}" for each in ("Composed", "SelfComposed", *_RELEASES))
            raise InvalidInputError(f"there is no proof for the event {type(one).__name__}; known are {known}.")
        if len(found) + len(waiting) > _MOST_EVENTS:
            raise InvalidInputError(f"more than {_MOST_EVENTS} events; use SelfComposedDpEvent for equal ones.")
    return found


def _positive(value: Any, name: str) -> Fraction:
    exact = parameter(value, name)
    if exact <= 0:
        raise InvalidInputError(f"{name} is {value}; noise must be positive, or nothing is private.", given=value)
    return exact


def _discrete_laplace(event: Any) -> Noise:
    """Masses proportional to e^(-noise_parameter |k|)."""
    reach = whole_number(event.sensitivity, "sensitivity of a DiscreteLaplaceDpEvent")
    return Noise(DiscreteLaplace(1 / _positive(event.noise_parameter, "noise_parameter")), reach)


_RELEASES: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda event: Noise(Gaussian(_positive(event.noise_multiplier, "noise_multiplier")), 1),
    "Laplace": lambda event: Noise(Laplace(_positive(event.noise_multiplier, "noise_multiplier")), 1),
    "DiscreteLaplace": _discrete_laplace,
}
