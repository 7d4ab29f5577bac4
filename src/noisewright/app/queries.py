"""From options to questions: one number, several, or one of some candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noisewright.app.output import read_text
from noisewright.app.questions import Typed, split, whole
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.queries import Choice, Scalar
from noisewright.problem.sensitivity import SETS
from noisewright.problem.vector import Vector

_LARGEST_FILE = 64


def make_query(
    sensitivity: str | None, several: Typed, bounds: Typed, *, integer: bool, candidates: str | None = None
) -> Scalar | Vector | Choice:
    """One number, several with the set of differences that one person can make, or one of the candidates."""
    if candidates is not None:
        return _choice(candidates, sensitivity, others=bool(several or bounds or integer))
    if not several:
        if sensitivity is None:
            raise InvalidInputError(
                "nothing says how much one person can change; give --sensitivity 1 for one number, or --sensitivities"
                " 1,2,3 --set box for several. See: noisewright design --help"
            )
        ends: Typed = {name: _pair(bounds[name], f"--{name}") for name in ("inputs", "outputs") if name in bounds}
        return Scalar(sensitivity, integer=integer, **(bounds | ends))
    if integer:
        raise InvalidInputError("--integer is for one number; several are released on a fine lattice.")
    if bounds:
        raise InvalidInputError("--inputs, --outputs, --unbiased and --bias are for one number; design each by itself.")
    return Vector(_set(sensitivity, several))


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
    if chosen not in SETS.kinds:
        given = "is missing" if chosen is None else f"is {chosen!r}"
        raise InvalidInputError(f"--set {given}; give one of {', '.join(SETS.kinds)}: how the numbers move together.")
    kind = SETS.kinds[chosen]
    if "changes" in several and chosen != "sparse":
        raise InvalidInputError("--changes goes with --set sparse.")
    if chosen in ("l1-ball", "l2-ball"):
        if sensitivity is None or "dimension" not in several or "list" in several or "file" in several:
            raise InvalidInputError(
                f"--set {chosen} takes --sensitivity (the radius) and --dimension (how many numbers)."
            )
        return kind(sensitivity, whole(several["dimension"], "--dimension"))
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
