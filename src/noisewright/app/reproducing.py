"""`noisewright reproduce`: a paper's figures and claims, beside what is found here."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.app.options import option
from noisewright.app.output import remark, say, writing
from noisewright.problem.errors import InvalidInputError

if TYPE_CHECKING:
    from noisewright.lab.claims import Reproduction


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which paper; see --list.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what can be reproduced, and exit.")] = False,
    out: Annotated[
        Path | None, option("FOLDER", "Where pictures and tables go; by default a folder NAME here.")
    ] = None,
) -> None:
    """Make a paper's figures and tables anew and say of each of its claims whether it holds.

    Runs on the paper's data where they are to be had (the folder named by NOISEWRIGHT_DATA) and on data of its own
    otherwise, and says which.
    """
    from noisewright.lab.registry import REPRODUCTIONS

    if listed:
        width = max(len(each) for each in REPRODUCTIONS)
        say("\n".join(f"{each:<{width}}  {entry.title}" for each, entry in REPRODUCTIONS.items()))
        return
    known = ", ".join(REPRODUCTIONS)
    if name is None:
        raise InvalidInputError(f"nothing says which paper; give one of {known}, or --list.")
    if name not in REPRODUCTIONS:
        raise InvalidInputError(f"there is no reproduction named {name!r}; give one of {known}.")
    folder = out or Path(name)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    from noisewright.search.report.shown import progress_bar

    entry = REPRODUCTIONS[name]
    with progress_bar(name, entry.steps) as step:
        result = entry.run(folder, step)
    _write_claims(result, folder)
    say(_claims_text(result))
    remark(f"{len(result.files) + 1} files are in {folder}.")


def _write_claims(result: Reproduction, folder: Path) -> None:
    path = folder / "claims.csv"
    with writing(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["where", "the paper says", "found", "verdict"])
        writer.writerows([c.where, c.says, c.found, c.verdict] for c in result.claims)


def _claims_text(result: Reproduction) -> str:
    lines = [result.title, ""]
    lines += [f"Data: {text}" for text in result.data]
    for claim in result.claims:
        lines += ["", f"{claim.where}: {claim.says}", f"  {claim.verdict}: {claim.found}"]
    counts = Counter(claim.verdict for claim in result.claims)
    lines += ["", "Verdicts: " + ", ".join(f"{verdict} {count}" for verdict, count in counts.items()) + "."]
    return "\n".join(lines)
