"""`noisewright sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisewright.app.epsilons import count, listed, spaced
from noisewright.app.options import Confidence, Integer, Json, Plot, Power, Sensitivity, UtilityChoice, Within, number
from noisewright.app.output import check_picture, check_place, draw, on_a_terminal, remark, say_either, writing
from noisewright.app.questions import Parameters, make_utility
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar


def sweep(
    sensitivity: Sensitivity,
    utility: UtilityChoice,
    power: Power = None,
    within: Within = None,
    confidence: Confidence = None,
    epsilons: Annotated[
        str | None, typer.Option(metavar="LIST", help="The epsilons, with commas between them: 0.1,0.5,1.")
    ] = None,
    start: Annotated[str | None, number("The smallest epsilon; 0.1 unless given.", "--from")] = None,
    end: Annotated[str | None, number("The largest epsilon; 10 unless given.", "--to")] = None,
    points: Annotated[
        str | None, typer.Option(metavar="COUNT", help="How many epsilons, evenly by ratio; 9 unless given.")
    ] = None,
    integer: Integer = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV, all digits.")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Compare every mechanism over a range of epsilons.

    Name the epsilons with --epsilons, or a range with --from, --to and --points.
    """
    query = Scalar(sensitivity, integer=integer)
    wanted = make_utility(utility, Parameters(power, within, confidence))
    requirements = _requirements(epsilons, start, end, points)
    check_place(csv, "--csv")
    check_picture(plot)
    from noisewright.app.sweep import run

    result = run(query, requirements, wanted, progress=on_a_terminal())
    say_either(result, json=json)
    if csv is not None:
        with writing(csv):
            csv.write_text(result.to_csv(), encoding="utf-8", newline="")
        remark(f"The table is in {csv}.")
    if plot is not None:
        from noisewright.app.sweep_plot import plot_sweep

        draw(lambda path: plot_sweep(result, path), plot)


def _requirements(epsilons: str | None, start: str | None, end: str | None, points: str | None) -> list[PureDP]:
    if epsilons is None:
        return spaced(
            "0.1" if start is None else start, "10" if end is None else end, count("9" if points is None else points)
        )
    for option, value in {"from": start, "to": end, "points": points}.items():
        if value is not None:
            raise InvalidInputError(f"--epsilons and --{option} exclude each other; give a list or a range.")
    return listed(epsilons)
