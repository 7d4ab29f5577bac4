"""`noisewright reproduce`: the papers' figures and claims, beside what is found here, on one page."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.app.options import option
from noisewright.app.output import remark, say, writing
from noisewright.problem.errors import InvalidInputError

if TYPE_CHECKING:
    from noisewright.lab.claims import Reproduction

ALL = "all"
PAGE = "index.html"
_MOST_JOBS = 2


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which paper, or all of them; see --list.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what can be reproduced, and exit.")] = False,
    out: Annotated[
        Path | None,
        option("FOLDER", "Where the page, pictures and tables go; by default a folder NAME here, or papers for all."),
    ] = None,
    jobs: Annotated[
        int | None, option("N", "How many papers run at once; by default two, or one where there is one core.")
    ] = None,
) -> None:
    """Make a paper's figures and tables anew and say of each of its claims whether it holds.

    Runs on the paper's data where they are to be had (the folder named by NOISEWRIGHT_DATA) and on data of its own
    otherwise, and says which. The page index.html shows every figure with its caption, the claims about it, their
    verdicts and the numbers behind them; `all` puts the papers on one page, in about four minutes on two cores.
    """
    from noisewright.lab.registry import REPRODUCTIONS

    if listed:
        width = max(len(each) for each in (*REPRODUCTIONS, ALL))
        titles = {each: entry.title for each, entry in REPRODUCTIONS.items()} | {ALL: "All of them, on one page"}
        say("\n".join(f"{each:<{width}}  {title}" for each, title in titles.items()))
        return
    known = ", ".join([*REPRODUCTIONS, ALL])
    if name is None:
        raise InvalidInputError(f"nothing says which paper; give one of {known}, or --list.")
    if name not in (*REPRODUCTIONS, ALL):
        raise InvalidInputError(f"there is no reproduction named {name!r}; give one of {known}.")
    if jobs is not None and jobs < 1:
        raise InvalidInputError(f"--jobs is {jobs}; give a number of at least 1.")
    folder = out or Path("papers" if name == ALL else name)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    from noisewright.app.papers import run_all

    chosen = {name: REPRODUCTIONS[name]} if name != ALL else REPRODUCTIONS
    results = run_all(chosen, folder, jobs or min(os.cpu_count() or 1, _MOST_JOBS), apart=name == ALL)
    for each, result in results.items():
        _write_claims(result, folder / each if name == ALL else folder)
    _write_page(results, folder)
    say("\n\n".join(_claims_text(result) for result in results.values()))
    files = sum(len(result.files) + 1 for result in results.values()) + 1
    remark(f"{files} files are in {folder}; {folder / PAGE} shows them all.")


def _write_page(results: dict[str, Reproduction], folder: Path) -> None:
    from noisewright.app.paper_page import page

    path = folder / PAGE
    with writing(path):
        path.write_text(page(results, folder), encoding="utf-8")


def _write_claims(result: Reproduction, folder: Path) -> None:
    from noisewright.lab.claims import HEADER

    path = folder / "claims.csv"
    with writing(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(claim.row for claim in result.claims)


def _claims_text(result: Reproduction) -> str:
    from noisewright.app.paper_page import counts

    lines = [result.title, ""]
    lines += [f"Data: {text}" for text in result.data]
    for claim in result.claims:
        lines += ["", f"{claim.where}: {claim.says}", f"  {claim.verdict}: {claim.found}"]
    found = counts(result.claims)
    lines += ["", "Verdicts: " + ", ".join(f"{verdict} {count}" for verdict, count in found.items()) + "."]
    return "\n".join(lines)
