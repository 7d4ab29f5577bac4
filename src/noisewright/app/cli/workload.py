"""`noisewright workload`: many linear questions about one table, answered together."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from noisewright.app.cli import options
from noisewright.app.cli.linear import read_rows
from noisewright.app.cli.options import UTILITY, Json, Plot, Save, SaveReport, option
from noisewright.app.cli.output import check_places, draw, keep, read_text, say, say_json
from noisewright.app.cli.questions import Typed, make_privacy, make_utility, split, typed, whole
from noisewright.app.cli.true_answers import read_table
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.workload import FORMS, Workload

_LARGEST_FILE = 256
_MOST_ATTRIBUTES = 1000
_MOST_SHOWN = 1000
_KINDS = (*FORMS, "marginals", "matrix")
_TAKES = {
    **dict.fromkeys(FORMS, ("n",)),
    "marginals": ("sizes", "which", "ways"),
    "matrix": ("matrix",),
}

Form = Annotated[
    str, typer.Argument(metavar="QUESTIONS", help=f"What is asked: {', '.join(_KINDS)}.", show_default=False)
]
Cells = Annotated[str | None, option("COUNT", "How many cells there are, along a line.", "--n")]
Sizes = Annotated[
    str | None, option("LIST", "For marginals: how many values each attribute has: 85,9,2 or age=85,sex=2.")
]
Which = Annotated[
    str | None,
    option("LIST", "For marginals: sets of attributes, by name or from 0 on: age,sex;region;total for three."),
]
Ways = Annotated[str | None, option("LIST", "For marginals: all sets of so many attributes: 1,2.")]
Matrix = Annotated[Path | None, option("FILE", "For matrix: one line of weights for each question.", "--matrix")]
PerPerson = Annotated[str | None, option("COUNT", "In how many cells one person is counted; 1 if not given.")]
Replace = Annotated[bool, typer.Option("--replace", help="One person moves to other cells, and does not come or go.")]
Table = Annotated[
    Path | None,
    option("FILE", 'The counts, also print private answers: one for each cell, or JSON such as {"0,3,1": 2}.'),
]


def workload(
    questions: Form,
    n: Cells = None,
    sizes: Sizes = None,
    which: Which = None,
    ways: Ways = None,
    matrix: Matrix = None,
    cells_per_person: PerPerson = None,
    replace: Replace = False,
    epsilon: options.AnyEpsilon = None,
    delta: options.Delta = None,
    notion: options.Notion = None,
    alpha: options.Alpha = None,
    rho: options.Rho = None,
    utility: Annotated[str, UTILITY] = "squared-error",
    table: Table = None,
    json: Json = False,
    plot: Plot = None,
    save: Save = None,
    save_report: SaveReport = None,
) -> None:
    """Find what to measure so that many linear questions about one table of counts are answered best together.

    Numbers are read exactly: 0.1 is one tenth, and 1/3 is one third.
    """
    given = typed(n=n, sizes=sizes, which=which, ways=ways, matrix=matrix)
    query = make_workload(questions, given, cells_per_person, replace=replace)
    privacy = make_privacy(notion, typed(epsilon=epsilon, delta=delta, alpha=alpha, rho=rho))
    wanted = make_utility(utility, {})
    check_places(save=save, save_report=save_report, plot=plot)
    counts = None if table is None else read_text(table, "--table", _LARGEST_FILE)
    from noisewright.search.design import design

    found = None if counts is None else read_table(counts.strip())
    report = design(query, privacy=privacy, utility=wanted)
    released = None if found is None else report.best.release(found)
    if json:
        say_json({**report.to_dict(), "released": None if released is None else released.answers.tolist()})
    else:
        say(str(report))
        if released is not None:
            _say_answers(released, query)
    keep(report.best, save, f"mechanism ({report.candidates[0].name})")
    keep(report, save_report, "report")
    draw(report.plot, plot)


def make_workload(name: str, given: Typed, cells_per_person: str | None, *, replace: bool) -> Workload:
    """The questions of that name, with exactly the options that they take."""
    if name not in _KINDS:
        raise InvalidInputError(f"the questions are {name!r}; give one of {', '.join(_KINDS)}.")
    for other in given:
        if other not in _TAKES[name]:
            takes = " and ".join(f"--{each}" for each in _TAKES[name])
            raise InvalidInputError(f"--{other} does not fit {name}, which takes {takes}; leave it out.")
    person: dict[str, Any] = {
        "cells_per_person": whole(cells_per_person or "1", "--cells-per-person"),
        "replace": replace,
    }
    if name == "matrix":
        return Workload(_weights(given.get("matrix")), **person)
    if name == "marginals":
        return _marginals(given, person)
    if "n" not in given:
        raise InvalidInputError(f"{name} needs --n, how many cells there are; for example --n 64.")
    made = {"identity": Workload.identity, "total": Workload.total, "prefixes": Workload.prefixes}.get(name)
    return (made or Workload.ranges)(whole(given["n"], "--n", "how many cells there are"), **person)


def _marginals(given: Typed, person: dict[str, Any]) -> Workload:
    if "sizes" not in given or ("which" in given) == ("ways" in given):
        raise InvalidInputError(
            "marginals need --sizes, and either --which or --ways; for example --sizes age=85,sex=2 --ways 0,1,2."
        )
    items = [item.strip() for item in given["sizes"].split(",") if item.strip()]
    pairs = [item.rpartition("=") for item in items]
    named = any(name for name, _, _ in pairs)
    if len(items) > _MOST_ATTRIBUTES or (named and not all(name.strip() for name, _, _ in pairs)):
        raise InvalidInputError("--sizes needs a size for each attribute, with a name for each or for none.")
    counts = [whole(size, "--sizes", "how many values each attribute has") for _, _, size in pairs]
    names: list[Any] = [name.strip() for name, _, _ in pairs] if named else list(range(len(counts)))
    if len(set(names)) < len(names):
        raise InvalidInputError("--sizes names an attribute twice; give each a name of its own.")
    if "ways" in given:
        chosen = [
            whole(text, "--ways", f"whole numbers from 0 to {len(names)}", among=range(len(names) + 1))
            for text in split(given["ways"])
        ]
        which: list[Any] = [subset for count in chosen for subset in combinations(names, count)]
    else:
        which = [_set(text, named) for text in given["which"].split(";")]
    return Workload.marginals(dict(zip(names, counts, strict=True)), which, **person)


def _set(text: str, named: bool) -> list[Any]:
    """A set of attributes; the word total is the empty one."""
    if text.strip() == "total":
        return []
    parts = [part.strip() for part in text.split(",")]
    return parts if named else [whole(part, "--which", "positions of attributes from 0 on") for part in parts]


def _weights(path: Path | None) -> list[list[str]]:
    if path is None:
        raise InvalidInputError("matrix needs --matrix FILE, with one line of weights for each question.")
    return read_rows(path, "--matrix")


def _say_answers(released: Any, query: Workload) -> None:
    say("\nPrivate answers, and how far each is from the truth in 95 of 100 releases (this spent the budget once):")
    names, widths = query.names, released.half_widths
    for i in range(min(len(names), _MOST_SHOWN)):
        say(f"{names[i]}: {released.answers[i]:.6g} ± {widths[i]:.4g}")
    if len(names) > _MOST_SHOWN:
        say(f"… and {len(names) - _MOST_SHOWN} more; use Python, or `noisewright answer`, for all of them.")
