"""From options to questions about several numbers."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Annotated

import typer

from noisewright.app.output import read_text
from noisewright.app.questions import Limits, Parameters, make_choice, make_scalar, make_utility
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.queries import Choice, Scalar
from noisewright.problem.sensitivity import Box, Disjoint, L1Ball, L2Ball, Points, Replace, SensitivitySet, Sparse
from noisewright.problem.utilities import LargestError
from noisewright.problem.utility import Utility
from noisewright.problem.vector import Vector

SETS = ("box", "disjoint", "sparse", "replace", "l1-ball", "l2-ball", "points")
LARGEST = "largest-error"
_LARGEST_FILE = 64

Sensitivities = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="Several numbers: how far each can move, with commas between: 1,120,1e6."),
]
SensitivitiesFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The same from a file, one number a line; for points one row a line."),
]
SetChoice = Annotated[
    str | None,
    typer.Option("--set", metavar="NAME", help=f"How they move together: {', '.join(SETS)}."),
]
Changes = Annotated[str | None, typer.Option(metavar="COUNT", help="For --set sparse: how many move at once.")]
Dimension = Annotated[str | None, typer.Option(metavar="COUNT", help="For balls: how many numbers there are.")]
Weights = Annotated[str | None, typer.Option(metavar="LIST", help="How much each of several numbers matters: 1,1,5.")]


@dataclass(frozen=True, slots=True)
class Several:
    """The options about several numbers, as typed."""

    sensitivities: str | None
    file: Path | None
    chosen: str | None
    changes: str | None
    dimension: str | None
    weights: str | None

    @property
    def asked(self) -> bool:
        """Whether any of them was given."""
        return any(value is not None for value in astuple(self))


def make_query(
    sensitivity: str | None, several: Several, limits: Limits, *, integer: bool, candidates: str | None = None
) -> Scalar | Vector | Choice:
    """One number, several with the set of differences that one person can make, or one of the candidates."""
    if candidates is not None:
        return make_choice(candidates, sensitivity, others=several.asked or integer or limits != Limits())
    if not several.asked:
        if sensitivity is None:
            raise InvalidInputError(
                "nothing says how much one person can change; give --sensitivity 1 for one number, or --sensitivities"
                " 1,2,3 --set box for several. See: noisewright design --help"
            )
        return make_scalar(sensitivity, limits, integer=integer)
    if integer:
        raise InvalidInputError("--integer is for one number; several are released on a fine lattice.")
    if limits != Limits():
        raise InvalidInputError("--inputs, --outputs, --unbiased and --bias are for one number; design each by itself.")
    return Vector(_make_set(sensitivity, several))


def _make_set(sensitivity: str | None, several: Several) -> SensitivitySet:
    if several.chosen not in SETS:
        given = "is missing" if several.chosen is None else f"is {several.chosen!r}"
        raise InvalidInputError(f"--set {given}; give one of {', '.join(SETS)}: how the numbers move together.")
    if several.changes is not None and several.chosen != "sparse":
        raise InvalidInputError("--changes goes with --set sparse.")
    if several.chosen in ("l1-ball", "l2-ball"):
        if sensitivity is None or several.dimension is None or several.sensitivities or several.file:
            raise InvalidInputError(
                f"--set {several.chosen} takes --sensitivity (the radius) and --dimension (how many numbers)."
            )
        ball = L1Ball if several.chosen == "l1-ball" else L2Ball
        return ball(sensitivity, _whole(several.dimension, "--dimension"))
    if sensitivity is not None or several.dimension is not None:
        raise InvalidInputError(f"--set {several.chosen} takes --sensitivities, not --sensitivity or --dimension.")
    if several.chosen == "points":
        return Points(_rows(several))
    each = [value for row in _rows(several) for value in row]
    if several.chosen == "sparse":
        if several.changes is None:
            raise InvalidInputError("--set sparse needs --changes: how many numbers one person can move at once.")
        return Sparse(_whole(several.changes, "--changes"), each)
    if several.chosen == "disjoint":
        return Disjoint(each)
    return Replace(each) if several.chosen == "replace" else Box(each)


def _rows(several: Several) -> list[list[str]]:
    if (several.sensitivities is None) == (several.file is None):
        raise InvalidInputError(
            "give the sensitivities either as --sensitivities 1,2,3 or as --sensitivities-file FILE."
        )
    if several.sensitivities is not None:
        return [_split(row) for row in several.sensitivities.split(";")]
    assert several.file is not None
    text = read_text(several.file, "--sensitivities-file", _LARGEST_FILE)
    return [_split(line) for line in text.splitlines() if line.strip()]


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.replace(",", " ").split()]


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInputError(f"{option} is {text!r}; give a whole number.") from None


def make_vector_utility(typed: str, parameters: Parameters, weights: str | None) -> Utility:
    """The utilities of the command line, read for several numbers."""
    each = None if weights is None else _split(weights)
    if typed == LARGEST:
        if parameters.given() or each:
            raise InvalidInputError(f"--utility {LARGEST} takes no parameter and no --weights.")
        return LargestError()
    utility = make_utility(typed, parameters)
    if each is None:
        return utility
    if "weights" in utility.CARD.given:
        return type(utility).from_dict({**utility.to_dict(), "weights": each})
    raise InvalidInputError(
        f"--utility {typed} with these options is not for several numbers; give squared-error, absolute-error or"
        f" usefulness (with --weights if you like), error-quantile or {LARGEST}."
    )
