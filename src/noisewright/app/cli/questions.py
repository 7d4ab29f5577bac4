"""From options to what must be protected and what counts as good; what does not fit together is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from noisewright.app.cli.output import read_text
from noisewright.problem import privacy, utilities
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter
from noisewright.problem.queries import Choice, Histogram, Scalar, Vector
from noisewright.problem.sensitivity import SETS
from noisewright.problem.utilities import Utility

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

NAMED_SETS = tuple(name for name in SETS.kinds if name != "groups")
"""The sets that options can describe; groups of sets are asked from Python."""

_LARGEST_FILE = 64


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
    usual = "approximate" if "delta" in given else "pure"
    name = notion or ("zero-concentrated" if given.keys() == {"rho"} else usual)
    found: privacy.Requirement = _made("--notion", name, NOTIONS, f"{name} privacy", given)
    return found


def make_budget(notion: str | None, given: Typed) -> Typed:
    """Under which requirement an amount is looked for: exactly the parameters that are not looked for."""
    name = notion or ("approximate" if "delta" in given else "pure")
    if name not in NOTIONS:
        raise InvalidInputError(f"--notion is {name!r}; give one of {', '.join(NOTIONS)}.")
    wanted = [each for each in NOTIONS[name][0] if each in ("delta", "alpha")]
    _check_options(f"{name} privacy", wanted, given)
    return {"notion": name, **given}


def make_utility(name: str, given: Typed, weights: str | None = None) -> Utility:
    """The utility of that name, with exactly the parameter it takes and with weights for several numbers."""
    utility: Utility = _made("--utility", name, UTILITIES, f"--utility {name}", given)
    if weights is None:
        return utility
    if "weights" not in utility.CARD.given:
        raise InvalidInputError(f"--utility {name} takes no --weights: it does not add up numbers; leave them out.")
    exact = [str(parameter(text, f"weight {i}")) for i, text in enumerate(split(weights), 1)]
    return type(utility).from_dict({**utility.to_dict(), "weights": exact})


def _made(option: str, name: str, kinds: Kinds, what: str, given: Typed) -> Any:
    if name not in kinds:
        raise InvalidInputError(f"{option} is {name!r}; give one of {', '.join(kinds)}.")
    wanted, maker = kinds[name]
    _check_options(what, wanted, given)
    return maker(*(given[each] for each in wanted))


def _check_options(what: str, wanted: Sequence[str], given: Typed) -> None:
    """Refuse what does not fit and what is missing."""
    for other in given:
        if other not in wanted:
            takes = " and ".join(f"--{each}" for each in wanted) or "no parameter"
            raise InvalidInputError(f"--{other} does not fit {what}, which takes {takes}; leave it out.")
    for each in wanted:
        if each not in given:
            raise InvalidInputError(
                f"{what} needs --{each}; for example --{each} {_EXAMPLES[each]}. See: noisewright design --help"
            )


def make_goal(
    name: str | None, given: Typed, target: str | None, half_width: str | None, weights: str | None = None
) -> tuple[Utility, str]:
    """What must be reached: a half-width at a confidence, or any utility and its target."""
    if half_width is None:
        if name is None:
            raise InvalidInputError(
                "nothing says how accurate the answer must be; give --half-width and --confidence, or --utility and"
                " --target."
            )
        utility = make_utility(name, given, weights)
        if target is None:
            raise InvalidInputError(f"--utility {name} needs --target, the value to reach.")
        return utility, target
    for option in typed(utility=name, target=target, weights=weights, **given):
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


def make_query(
    sensitivity: str | None,
    several: Typed,
    bounds: Typed,
    *,
    integer: bool,
    candidates: str | None = None,
    counted: Typed | None = None,
) -> Scalar | Vector | Choice | Histogram:
    """One number, several with the set of differences that one person can make, one of the candidates, a histogram.

    `counted` has what was typed about a histogram.
    """
    if counted:
        others = several.keys() - {"weights"}
        return _histogram(counted, others=bool(sensitivity or candidates or others or bounds))
    if candidates is not None:
        return _choice(candidates, sensitivity, others=bool(several or bounds or integer))
    if not several:
        if sensitivity is None:
            raise InvalidInputError(
                "nothing says how much one person can change; give --sensitivity 1 for one number, --sensitivities"
                " 1,2,3 --set box for several, or --bins 15 for a histogram. See: noisewright design --help"
            )
        ends: Typed = {name: _pair(bounds[name], f"--{name}") for name in ("inputs", "outputs") if name in bounds}
        return Scalar(sensitivity, integer=integer, **(bounds | ends))
    if bounds:
        raise InvalidInputError("--inputs, --outputs, --unbiased and --bias are for one number; design each by itself.")
    return Vector(_set(sensitivity, several), integer=integer)


def _histogram(counted: Typed, *, others: bool) -> Histogram:
    if "bins" not in counted:
        option = "--bins-per-person" if "bins_per_person" in counted else "--replace"
        raise InvalidInputError(f"{option} goes with --bins, the number of bins of a histogram.")
    if others:
        raise InvalidInputError(
            "--bins asks for a histogram, which says by itself how far counts move; leave out --sensitivity, sets,"
            " bounds and candidates."
        )
    return Histogram(
        whole(counted["bins"], "--bins", "how many bins there are"),
        bins_per_person=whole(counted.get("bins_per_person", "1"), "--bins-per-person"),
        replace="replace" in counted,
    )


def _choice(candidates: str, sensitivity: str | None, *, others: bool) -> Choice:
    if others:
        raise InvalidInputError(
            "--candidates takes --sensitivity, the most that one person can change a score, and no option about"
            " numbers; leave the others out."
        )
    if sensitivity is None:
        raise InvalidInputError("--candidates needs --sensitivity: the most that one person can change a score.")
    return Choice([name.strip() for name in candidates.split(",")], sensitivity)


def _pair(text: str, option: str) -> list[str]:
    parts = text.split(",")
    if len(parts) != 2:
        raise InvalidInputError(f"{option} is {text!r}; give two numbers with a comma, such as {option}=-70,190.")
    return parts


def _set(sensitivity: str | None, several: Typed) -> Any:
    chosen = several.get("set")
    if chosen not in NAMED_SETS:
        given = "is missing" if chosen is None else f"is {chosen!r}"
        raise InvalidInputError(f"--set {given}; give one of {', '.join(NAMED_SETS)}: how the numbers move together.")
    kind = SETS.kinds[chosen]
    if "changes" in several and chosen != "sparse":
        raise InvalidInputError("--changes goes with --set sparse.")
    if ("order" in several) != (chosen == "lp-ball"):
        raise InvalidInputError("--norm-power, the p of an l_p norm, goes with --set lp-ball, which needs it.")
    if chosen in ("l1-ball", "l2-ball", "lp-ball"):
        if sensitivity is None or "dimension" not in several or "list" in several or "file" in several:
            raise InvalidInputError(
                f"--set {chosen} takes --sensitivity (the radius) and --dimension (how many numbers)."
            )
        order = [several["order"]] if "order" in several else []
        return kind(sensitivity, whole(several["dimension"], "--dimension"), *order)
    if sensitivity is not None or "dimension" in several:
        raise InvalidInputError(f"--set {chosen} takes --sensitivities, not --sensitivity or --dimension.")
    rows = _rows(several.get("list"), several.get("file"))
    if chosen == "points":
        return kind(rows)
    each = [value for row in rows for value in row]
    if chosen == "sparse":
        if "changes" not in several:
            raise InvalidInputError("--set sparse needs --changes: how many numbers one person can move at once.")
        return kind(whole(several["changes"], "--changes"), each)
    return kind(each)


def _rows(listed: str | None, file: Path | None) -> list[list[str]]:
    if listed is not None and file is None:
        return [split(row) for row in listed.split(";")]
    if file is None or listed is not None:
        raise InvalidInputError(
            "give the sensitivities either as --sensitivities 1,2,3 or as --sensitivities-file FILE."
        )
    text = read_text(file, "--sensitivities-file", _LARGEST_FILE)
    return [split(line) for line in text.splitlines() if line.strip()]
