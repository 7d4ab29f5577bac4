"""From options to the library's vocabulary; what does not fit together is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter
from noisewright.problem.queries import Choice, Scalar
from noisewright.problem.utilities import (
    AbsoluteError,
    AverageVariance,
    ErrorQuantile,
    PowerError,
    SquaredError,
    Usefulness,
    WorstVariance,
)
from noisewright.problem.utility import Utility

AnyUtility = Utility | WorstVariance | AverageVariance


class UtilityName(StrEnum):
    """The utilities that the command line can name."""

    SQUARED_ERROR = "squared-error"
    ABSOLUTE_ERROR = "absolute-error"
    POWER_ERROR = "power-error"
    USEFULNESS = "usefulness"
    ERROR_QUANTILE = "error-quantile"
    WORST_VARIANCE = "worst-variance"
    AVERAGE_VARIANCE = "average-variance"

    @classmethod
    def of(cls, text: str) -> UtilityName:
        """The utility that was typed, or a refusal that lists them all."""
        try:
            return cls(text)
        except ValueError:
            raise InvalidInputError(f"--utility is {text!r}; give one of {', '.join(cls)}.") from None


@dataclass(frozen=True, slots=True)
class Parameters:
    """The utilities' parameters as typed; each belongs to one utility."""

    power: str | None = None
    within: str | None = None
    confidence: str | None = None

    def given(self) -> dict[str, str]:
        """Those that were typed, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Goal:
    """A utility and the value it has to reach."""

    utility: Utility
    target: str


_WITHOUT: dict[UtilityName, Callable[[], AnyUtility]] = {
    UtilityName.SQUARED_ERROR: SquaredError,
    UtilityName.ABSOLUTE_ERROR: AbsoluteError,
    UtilityName.WORST_VARIANCE: WorstVariance,
    UtilityName.AVERAGE_VARIANCE: AverageVariance,
}
_WITH: dict[UtilityName, tuple[str, str, Callable[[str], Utility]]] = {
    UtilityName.POWER_ERROR: ("power", "3", PowerError),
    UtilityName.USEFULNESS: ("within", "0.5", Usefulness),
    UtilityName.ERROR_QUANTILE: ("confidence", "0.95", ErrorQuantile),
}


def make_utility(typed: str, parameters: Parameters) -> Utility:
    """The utility of that name for a question without bounds, with exactly the parameter it takes."""
    found = make_any_utility(typed, parameters)
    if isinstance(found, WorstVariance | AverageVariance):
        raise InvalidInputError(
            f"--utility {typed} is for questions with --inputs and --outputs, which `design` knows; give another."
        )
    return found


def make_any_utility(typed: str, parameters: Parameters) -> AnyUtility:
    """The utility of that name, with exactly the parameter it takes."""
    name = UtilityName.of(typed)
    given = parameters.given()
    wanted, example, maker = _WITH.get(name, (None, None, None))
    for other in given:
        if other != wanted:
            takes = f"takes --{wanted}" if wanted else "takes no parameter"
            raise InvalidInputError(f"--{other} does not fit --utility {name}, which {takes}; leave it out.")
    if maker is None or wanted is None:
        return _WITHOUT[name]()
    if wanted not in given:
        raise InvalidInputError(f"--utility {name} needs --{wanted}; for example --{wanted} {example}.")
    return maker(given[wanted])


@dataclass(frozen=True, slots=True)
class Limits:
    """What was typed about where answers lie and how far off they may be on average."""

    inputs: str | None = None
    outputs: str | None = None
    unbiased: bool = False
    bias: str | None = None


def make_scalar(sensitivity: str, limits: Limits, *, integer: bool) -> Scalar:
    """One number, with bounds where they were typed as LOW,HIGH."""
    return Scalar(
        sensitivity,
        integer=integer,
        inputs=_pair(limits.inputs, "--inputs"),
        outputs=_pair(limits.outputs, "--outputs"),
        unbiased=limits.unbiased,
        bias=limits.bias,
    )


def make_choice(candidates: str, sensitivity: str | None, *, others: bool) -> Choice:
    """One of the candidates typed as A,B,C; `others` says that options of other questions were given too."""
    if others:
        raise InvalidInputError(
            "--candidates takes --sensitivity, the most that one person can change a score, and no option about"
            " numbers; leave the others out."
        )
    if sensitivity is None:
        raise InvalidInputError("--candidates needs --sensitivity: the most that one person can change a score.")
    return Choice([name.strip() for name in candidates.split(",")], sensitivity)


def _pair(text: str | None, option: str) -> tuple[str, str] | None:
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 2:
        raise InvalidInputError(f"{option} is {text!r}; give two numbers with a comma, such as {option}=-70,190.")
    return parts[0], parts[1]


def make_goal(name: str | None, parameters: Parameters, target: str | None, half_width: str | None) -> Goal:
    """What must be reached: a half-width at a confidence, or any utility and its target."""
    if half_width is None:
        if name is None:
            raise InvalidInputError(
                "nothing says how accurate the answer must be; give --half-width and --confidence, or --utility and"
                " --target."
            )
        if target is None:
            raise InvalidInputError(f"--utility {UtilityName.of(name)} needs --target, the value to reach.")
        return Goal(make_utility(name, parameters), target)
    for option, value in {"utility": name, "target": target, **parameters.given()}.items():
        if value is not None and option != "confidence":
            raise InvalidInputError(
                f"--half-width goes with --confidence and not with --{option}; give --half-width and --confidence,"
                " or --utility and --target."
            )
    if parameters.confidence is None:
        raise InvalidInputError("--half-width needs --confidence; for example --confidence 0.95.")
    if parameter(half_width, "half-width") <= 0:
        raise InvalidInputError(f"half-width is {half_width}; it must be positive.")
    return Goal(ErrorQuantile(parameters.confidence), half_width)
