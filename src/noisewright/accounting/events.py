"""Events of the library `dp_accounting`, known by the names of their classes; the library itself is not needed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noisewright.accounting.counts import MOST_PARTS, times_of
from noisewright.accounting.releases import Noise
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter, whole_number

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


def _discrete_laplace_event(event: Any) -> Noise:
    """Masses proportional to e^(-noise_parameter |k|)."""
    reach = whole_number(_field(event, "sensitivity"), "sensitivity of a DiscreteLaplaceDpEvent")
    return Noise(DiscreteLaplace(1 / _positive(event, "noise_parameter")), reach)


_EVENTS: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda event: Noise(Gaussian(_positive(event, "noise_multiplier")), 1),
    "Laplace": lambda event: Noise(Laplace(_positive(event, "noise_multiplier")), 1),
    "DiscreteLaplace": _discrete_laplace_event,
}
