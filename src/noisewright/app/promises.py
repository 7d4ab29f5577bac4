"""From options to a privacy requirement; what does not fit together is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, Requirement, ZeroConcentratedDP


@dataclass(frozen=True, slots=True)
class Promise:
    """The parameters of a requirement as typed."""

    epsilon: str | None = None
    delta: str | None = None
    alpha: str | None = None
    rho: str | None = None

    def given(self) -> dict[str, str]:
        """Those that were typed, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


_NOTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Requirement]]] = {
    "pure": (("epsilon",), PureDP),
    "approximate": (("epsilon", "delta"), ApproxDP),
    "probabilistic": (("epsilon", "delta"), ProbabilisticDP),
    "renyi": (("alpha", "epsilon"), RenyiDP),
    "zero-concentrated": (("rho",), ZeroConcentratedDP),
}
_EXAMPLES = {"epsilon": "1", "delta": "1e-6", "alpha": "2", "rho": "0.1"}


def make_privacy(notion: str | None, promise: Promise) -> Requirement:
    """The requirement of that name, with exactly the parameters it takes."""
    given = promise.given()
    name = notion or ("approximate" if "delta" in given else "pure")
    if name not in _NOTIONS:
        raise InvalidInputError(f"--notion is {name!r}; give one of {', '.join(_NOTIONS)}.")
    wanted, maker = _NOTIONS[name]
    for other in given:
        if other not in wanted:
            takes = " and ".join(f"--{option}" for option in wanted)
            raise InvalidInputError(f"--{other} does not fit {name} privacy, which takes {takes}; leave it out.")
    for option in wanted:
        if option not in given:
            raise InvalidInputError(
                f"{name} privacy needs --{option}; for example --{option} {_EXAMPLES[option]}. See: noisewright design"
                " --help"
            )
    return maker(*(given[option] for option in wanted))


def make_count(text: str) -> int:
    """A number of equal releases."""
    try:
        return int(text)
    except ValueError:
        raise InvalidInputError(f"--compose is {text!r}; give a whole number of releases, such as 100.") from None
