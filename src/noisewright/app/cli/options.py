"""The options that several commands share. Numbers stay text: the library reads them exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from noisewright.app.cli.questions import NAMED_SETS, NOTIONS, UTILITIES


def option(metavar: str, text: str, *names: str) -> Any:
    """An option that takes a value; `names` where it is not called like its parameter."""
    return typer.Option(*names, metavar=metavar, help=text)


def number(text: str, *names: str) -> Any:
    """An option that takes a number."""
    return option("NUMBER", text, *names)


_SENSITIVITY = number("The most that one person can change the answer; 1 for a count.", "--sensitivity")
_CHANCE = "Allow (epsilon, delta): a small chance such as 1e-6 that epsilon fails."
_NOTIONS = f"{', '.join(NOTIONS)} (default: pure, approximate with --delta, zero-concentrated with --rho alone)"

AnyEpsilon = Annotated[str | None, number("How much may be learnt about one person: 0.00001 to 32.", "--epsilon")]
Delta = Annotated[str | None, number(_CHANCE)]
Notion = Annotated[str | None, option("NAME", f"Which privacy guarantee: {_NOTIONS}.")]
Alpha = Annotated[str | None, number("For --notion renyi: the order, above 1.")]
Rho = Annotated[str | None, number("For --notion zero-concentrated: rho.")]
Compose = Annotated[str, option("COUNT", "A plan of so many equal releases: the guarantee is for their total.")]
Sensitivity = Annotated[str, _SENSITIVITY]
AnySensitivity = Annotated[str | None, _SENSITIVITY]
Integer = Annotated[bool, typer.Option("--integer", help="Answers are whole numbers, and so is what is released.")]
Bins = Annotated[str | None, option("COUNT", "A histogram: how many bins it has.")]
BinsPerPerson = Annotated[
    str | None, option("COUNT", "For --bins: in how many of them one person can be; 1 if not given.")
]
Replace = Annotated[bool, typer.Option("--replace", help="For --bins: one person changes, and does not come or go.")]
Candidates = Annotated[
    str | None, option("LIST", "Choose one of these, each with a score, with commas between: red,green,blue.")
]
Inputs = Annotated[str | None, option("LOW,HIGH", "Where the true answer lies, for answers that stay in bounds.")]
Outputs = Annotated[str | None, option("LOW,HIGH", "What released answers must stay within: --outputs=-70,190.")]
Unbiased = Annotated[bool, typer.Option("--unbiased", help="Released answers are right on average.")]
Bias = Annotated[str | None, number("How far off the average may be, instead.")]
UTILITY = typer.Option(
    metavar="NAME",
    autocompletion=lambda incomplete: [name for name in UTILITIES if name.startswith(incomplete)],
    help=f"What counts as a good answer: {', '.join(UTILITIES)}.",
)
UtilityChoice = Annotated[str, UTILITY]
Power = Annotated[str | None, number("For power-error: which power of the error.")]
Within = Annotated[str | None, number("For usefulness: the largest error that is still useful.")]
Confidence = Annotated[str | None, number("For error-quantile: how sure to be, such as 0.95.")]
Explore = Annotated[str | None, option("FAMILY", "Search a whole family more: two-fold, every kind of second fold.")]
Sensitivities = Annotated[
    str | None, option("LIST", "Several numbers: how far each can move, with commas between: 1,120,1e6.")
]
SensitivitiesFile = Annotated[
    Path | None, option("FILE", "The same from a file, one number a line; for points one row a line.")
]
SetChoice = Annotated[str | None, option("NAME", f"How they move together: {', '.join(NAMED_SETS)}.", "--set")]
Changes = Annotated[str | None, option("COUNT", "For --set sparse: how many move at once.")]
Dimension = Annotated[str | None, option("COUNT", "For balls: how many numbers there are.")]
NormPower = Annotated[str | None, number("For --set lp-ball: the p of the norm, 1 to 100.")]
Weights = Annotated[str | None, option("LIST", "How much each of several numbers matters: 1,1,5.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Plot = Annotated[Path | None, option("FILE", "Draw a picture: .png, .pdf or .svg.")]
Save = Annotated[Path | None, option("FILE", "Keep the best mechanism, with its certificate.")]
SaveReport = Annotated[Path | None, option("FILE", "Keep the report: `verify` proves it again.")]
SavedFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="What `design --save` or `design --save-report` wrote.", show_default=False),
]
Seconds = Annotated[str, number("How long proving the file again may take.")]
MechanismFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A mechanism, as `design --save` writes it.", show_default=False)
]
