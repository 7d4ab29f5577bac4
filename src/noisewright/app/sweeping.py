"""`noisewright sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from noisewright.app import options
from noisewright.app.output import check_places, draw, on_a_terminal, remark, say_either, writing
from noisewright.app.questions import Typed, make_utility, typed, whole
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar

_MOST_POINTS = 1000
_POINTS = range(2, _MOST_POINTS + 1)


def sweep(
    sensitivity: options.Sensitivity,
    utility: options.UtilityChoice,
    power: options.Power = None,
    within: options.Within = None,
    confidence: options.Confidence = None,
    epsilons: Annotated[
        str | None, options.option("LIST", "The epsilons, with commas between them: 0.1,0.5,1.")
    ] = None,
    start: Annotated[str | None, options.number("The smallest epsilon; 0.1 unless given.", "--from")] = None,
    end: Annotated[str | None, options.number("The largest epsilon; 10 unless given.", "--to")] = None,
    points: Annotated[
        str | None, options.option("COUNT", "How many epsilons, evenly by ratio; 9 unless given.")
    ] = None,
    integer: options.Integer = False,
    csv: Annotated[Path | None, options.option("FILE", "Write the table as CSV, all digits.")] = None,
    plot: options.Plot = None,
    json: options.Json = False,
) -> None:
    """Compare every mechanism over a range of epsilons.

    Name the epsilons with --epsilons, or a range with --from, --to and --points.
    """
    query = Scalar(sensitivity, integer=integer)
    wanted = make_utility(utility, typed(power=power, within=within, confidence=confidence))
    requirements = _requirements(epsilons, typed(**{"from": start, "to": end, "points": points}))
    check_places(csv=csv, plot=plot)
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


def _requirements(epsilons: str | None, given: Typed) -> list[PureDP]:
    """The epsilons of a list or a range, each once and in the order they were typed."""
    if epsilons is None:
        count = whole(given.get("points", "9"), "--points", f"a whole number from 2 to {_MOST_POINTS}", among=_POINTS)
        return spaced(given.get("from", "0.1"), given.get("to", "10"), count)
    for other in given:
        raise InvalidInputError(f"--epsilons and --{other} exclude each other; give a list or a range.")
    words = epsilons.split(",")
    if len(words) > _MOST_POINTS:
        raise InvalidInputError(f"--epsilons lists {len(words)} values; at most {_MOST_POINTS} are allowed.")
    return list(dict.fromkeys(PureDP(word) for word in words))


def spaced(start: str, end: str, points: int) -> list[PureDP]:
    """From start to end, each the same factor above the last, rounded to three digits; the ends stay as typed."""
    low, high = PureDP(start), PureDP(end)
    if low.epsilon >= high.epsilon:
        raise InvalidInputError(f"--from is {start} and --to is {end}; --from must be the smaller one.")
    first, ratio = float(low.epsilon), float(high.epsilon / low.epsilon)
    inner = [PureDP(f"{first * ratio ** (i / (points - 1)):.3g}") for i in range(1, points - 1)]
    return list(dict.fromkeys([low, *(each for each in inner if low.epsilon < each.epsilon < high.epsilon), high]))
