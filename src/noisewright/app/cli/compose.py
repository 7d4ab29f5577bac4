"""`noisewright compose`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from noisewright.app.cli.options import Json, Plot, number, option
from noisewright.app.cli.output import check_places, draw, keep, say, say_json
from noisewright.app.cli.questions import whole
from noisewright.drawing.tables import text_table
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter, show

_WIDTH = 118
Releases = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASES",
        help='Such as "gaussian(sigma=40) x 1000", "laplace(epsilon=0.1) x 20", or files that `design --save` wrote.',
        show_default=False,
    ),
]


def compose(
    releases: Releases,
    delta: Annotated[str | None, number("Print the epsilon at this delta.")] = None,
    epsilon: Annotated[str | None, number("Print the delta at this epsilon instead.")] = None,
    groups: Annotated[
        str | None, option("COUNT", "The releases are about disjoint groups; in how many of them one person can be.")
    ] = None,
    neighbours: Annotated[
        str | None, option("NAME", "What bare sensitivities are about: add-remove or replace.")
    ] = None,
    json: Json = False,
    plot: Plot = None,
    save: Annotated[Path | None, option("FILE", "Keep the plan: `verify` proves it again.")] = None,
) -> None:
    """Add up a plan: what many releases together give away about one person, proven.

    The plan is fixed before the first answer; what is chosen after seeing answers is not covered.
    """
    check_places(plot=plot, save=save)
    if delta is not None and epsilon is not None:
        raise InvalidInputError("give --delta or --epsilon; the other one is what is computed.")
    asked = {"epsilon": epsilon} if epsilon is not None else {"delta": "1e-6" if delta is None else delta}
    value = parameter(next(iter(asked.values())), f"--{next(iter(asked))}")
    count = None if groups is None else whole(groups, "--groups", "in how many groups one person can be, such as 1")
    from noisewright.accounting.composition import compose as add_up

    plan = add_up(list(releases), groups=count, neighbours=neighbours)
    bracket = plan.bracket(**{next(iter(asked)): value})
    if json:
        say_json(_plain(plan, asked, bracket))
    else:
        say(_page(plan, asked, bracket))
    keep(plan, save, "plan")
    if plot is not None:
        from noisewright.accounting.render import picture

        draw(lambda path: picture(plan, path), plot)


def _plain(plan: Any, asked: dict[str, str], bracket: Any) -> dict[str, Any]:
    name = "delta" if "epsilon" in asked else "epsilon"
    return {
        **asked,
        name: str(bracket.upper),
        f"{name}_from_below": None if bracket.lower is None else str(bracket.lower),
        "lower_end": bracket.pair,
        "neighbours": plan.neighbours,
        "groups": plan.groups,
        "releases": [
            {"release": part.label, "times": part.times, "rule": part.rule} for part in plan.certificate.parts
        ],
    }


def _page(plan: Any, asked: dict[str, str], bracket: Any) -> str:
    """The answer, what was added up, and the curve in a few rows."""
    given, name = ("epsilon", "delta") if "epsilon" in asked else ("delta", "epsilon")
    low = "" if bracket.lower is None else f" (the truth is at least {show(bracket.lower)}: {bracket.pair})"
    none = "" if bracket.lower is not None else f" (lower end: {bracket.pair})"
    together = "all together" if plan.groups is None else f"a person in at most {plan.groups} of these groups"
    lines = [
        f"{name} = {show(bracket.upper)} at {given} = {asked[given]}, proven{low}{none}",
        "",
        f"Releases, {together}; adjacency: {plan.neighbours}",
        text_table(
            ("times", "release", "rule"),
            [(str(p.times), p.label, p.rule) for p in plan.certificate.parts],
            left=(1, 2),
            width=_WIDTH,
        ),
    ]
    from noisewright.accounting.render import rows

    return "\n".join([*lines, "", text_table(("delta", "epsilon, proven", "at least", "between"), rows(plan), left=())])
