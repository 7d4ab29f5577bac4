"""From options to what must be protected and what counts as good; what does not fit together is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from noisewright.problem import privacy, utilities
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter
from noisewright.problem.utility import Utility

Typed = dict[str, Any]
"""Options by name; those that were not typed are left out."""

Kinds = dict[str, tuple[tuple[str, ...], Callable[..., Any]]]
"""What can be named, with the options that it takes."""

UTILITIES: Kinds = {
    "squared-error": ((), utilities.SquaredError),
    "absolute-error": ((), utilities.AbsoluteError),
    "power-error": (("power",), utilities.PowerError),
    "usefulness": (("within",), utilities.Usefulness),
    "error-quantile": (("confidence",), utilities.ErrorQuantile),
    "largest-error": ((), utilities.LargestError),
    "worst-variance": ((), utilities.WorstVariance),
    "average-variance": ((), utilities.AverageVariance),
}
NOTIONS: Kinds = {
    "pure": (("epsilon",), privacy.PureDP),
    "approximate": (("epsilon", "delta"), privacy.ApproxDP),
    "probabilistic": (("epsilon", "delta"), privacy.ProbabilisticDP),
    "renyi": (("alpha", "epsilon"), privacy.RenyiDP),
    "zero-concentrated": (("rho",), privacy.ZeroConcentratedDP),
}


def typed(**options: Any) -> Typed:
    """The options that were typed."""
    return {name: value for name, value in options.items() if value is not None}


_EXAMPLES = typed(power="3", within="0.5", confidence="0.95", epsilon="1", delta="1e-6", alpha="2", rho="0.1")


def split(text: str) -> list[str]:
    """The numbers of a list, with commas or white space between."""
    return text.replace(",", " ").split()


def whole(text: str, option: str, wanted: str = "a whole number", *, among: range | None = None) -> int:
    """A whole number, in the range if there is one."""
    with suppress(ValueError):
        if among is None or int(text) in among:
            return int(text)
    raise InvalidInputError(f"{option} is {text!r}; give {wanted}.")


def make_privacy(notion: str | None, given: Typed) -> privacy.Requirement:
    """The requirement of that name, with exactly the parameters it takes."""
    name = notion or ("approximate" if "delta" in given else "pure")
    found: privacy.Requirement = _made("--notion", name, NOTIONS, f"{name} privacy", given)
    return found


def make_utility(name: str, given: Typed, weights: str | None = None) -> Utility:
    """The utility of that name, with exactly the parameter it takes and with weights for several numbers."""
    utility: Utility = _made("--utility", name, UTILITIES, f"--utility {name}", given)
    if weights is None:
        return utility
    if "weights" not in utility.CARD.given:
        raise InvalidInputError(f"--utility {name} takes no --weights: it does not add up numbers; leave them out.")
    return type(utility).from_dict({**utility.to_dict(), "weights": split(weights)})


def _made(option: str, name: str, kinds: Kinds, what: str, given: Typed) -> Any:
    if name not in kinds:
        raise InvalidInputError(f"{option} is {name!r}; give one of {', '.join(kinds)}.")
    wanted, maker = kinds[name]
    for other in given:
        if other not in wanted:
            takes = " and ".join(f"--{each}" for each in wanted) or "no parameter"
            raise InvalidInputError(f"--{other} does not fit {what}, which takes {takes}; leave it out.")
    for each in wanted:
        if each not in given:
            raise InvalidInputError(
                f"{what} needs --{each}; for example --{each} {_EXAMPLES[each]}. See: noisewright design --help"
            )
    return maker(*(given[each] for each in wanted))


def make_goal(name: str | None, given: Typed, target: str | None, half_width: str | None) -> tuple[Utility, str]:
    """What must be reached: a half-width at a confidence, or any utility and its target."""
    if half_width is None:
        if name is None:
            raise InvalidInputError(
                "nothing says how accurate the answer must be; give --half-width and --confidence, or --utility and"
                " --target."
            )
        utility = make_utility(name, given)
        if target is None:
            raise InvalidInputError(f"--utility {name} needs --target, the value to reach.")
        return utility, target
    for option in typed(utility=name, target=target, **given):
        if option != "confidence":
            raise InvalidInputError(
                f"--half-width goes with --confidence and not with --{option}; give --half-width and --confidence,"
                " or --utility and --target."
            )
    if "confidence" not in given:
        raise InvalidInputError("--half-width needs --confidence; for example --confidence 0.95.")
    if parameter(half_width, "half-width") <= 0:
        raise InvalidInputError(f"half-width is {half_width}; it must be positive.")
    return utilities.ErrorQuantile(given["confidence"]), half_width
