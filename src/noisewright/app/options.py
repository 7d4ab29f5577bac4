"""The options that several commands share. Numbers stay text: the library reads them exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisewright.app.questions import UtilityName

Epsilon = Annotated[str, typer.Option(metavar="NUMBER", help="How much may be learnt about one person: 0.00001 to 32.")]
AnyEpsilon = Annotated[
    str | None,
    typer.Option("--epsilon", metavar="NUMBER", help="How much may be learnt about one person: 0.00001 to 32."),
]
Delta = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Allow (epsilon, delta): a small chance such as 1e-6 that epsilon fails."),
]
Notion = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which promise: pure, approximate, probabilistic, renyi or zero-concentrated (default: pure, or"
        " approximate with --delta).",
    ),
]
Alpha = Annotated[str | None, typer.Option(metavar="NUMBER", help="For --notion renyi: the order, above 1.")]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="For --notion zero-concentrated: rho.")]
Compose = Annotated[
    str, typer.Option(metavar="COUNT", help="Rank for a plan of so many equal releases under this total.")
]
Sensitivity = Annotated[
    str, typer.Option(metavar="NUMBER", help="The most that one person can change the answer; 1 for a count.")
]
AnySensitivity = Annotated[
    str | None,
    typer.Option(
        "--sensitivity", metavar="NUMBER", help="The most that one person can change the answer; 1 for a count."
    ),
]
Integer = Annotated[bool, typer.Option("--integer", help="The answer is a whole number, and so is what is released.")]
Candidates = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="Choose one of these, each with a score, with commas between: red,green,blue."),
]
Inputs = Annotated[
    str | None, typer.Option(metavar="LOW,HIGH", help="Where the true answer lies, for answers that stay in bounds.")
]
Outputs = Annotated[
    str | None, typer.Option(metavar="LOW,HIGH", help="What released answers must stay within: --outputs=-70,190.")
]
Unbiased = Annotated[bool, typer.Option("--unbiased", help="Released answers are right on average.")]
Bias = Annotated[str | None, typer.Option(metavar="NUMBER", help="How far off the average may be, instead.")]


def utility_names(incomplete: str) -> list[str]:
    """What the shell offers to complete after --utility."""
    return [name for name in UtilityName if name.startswith(incomplete)]


UTILITY = typer.Option(
    metavar="NAME",
    autocompletion=utility_names,
    help=f"What counts as a good answer: {', '.join(UtilityName)}.",
)
UtilityChoice = Annotated[str, UTILITY]
Power = Annotated[str | None, typer.Option(metavar="NUMBER", help="For power-error: which power of the error.")]
Within = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="For usefulness: the largest error that is still useful.")
]
Confidence = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="For error-quantile: how sure to be, such as 0.95.")
]
Explore = Annotated[
    str | None, typer.Option(metavar="FAMILY", help="Search a whole family more: two-fold, every kind of second fold.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a picture: .png, .pdf or .svg.")]
Save = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the best mechanism, with its certificate.")]
SaveReport = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the report: `verify` proves it again.")]
SavedFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="What `design --save` or `design --save-report` wrote.", show_default=False),
]
MechanismFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A mechanism, as `design --save` writes it.", show_default=False)
]
