"""`noisewright linear`: linear questions under metric privacy, from tables of numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

from noisewright.app.cli.options import Confidence, Json, Plot, Save, SaveReport, number, option
from noisewright.app.cli.output import check_places, draw, keep, read_text, say, say_json
from noisewright.app.cli.questions import Typed, make_utility, typed
from noisewright.problem.errors import InvalidInputError, InvalidPrivacyError
from noisewright.problem.geometry import Euclidean, Threshold
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming, Matrix
from noisewright.problem.privacy import MetricPrivacy

_LARGEST_FILE = 256
_UTILITIES = ("squared-error", "absolute-error", "largest-error", "error-quantile")

Queries = Annotated[Path, option("FILE", "The queries: one line for each, one number for each element.")]
Points = Annotated[Path | None, option("FILE", "Coordinates, one line for each element: Euclidean distances.")]
Distances = Annotated[Path | None, option("FILE", 'Any distances: a square of numbers, "infinite" for no guarantee.')]
Reach = Annotated[str | None, number("With --points and --epsilon: protect points this near, step by step.", "--reach")]
Scale = Annotated[str | None, number("Budget of one unit of length, with --points; 1 unless given.")]
Same = Annotated[str | None, number("The same budget for every pair: ordinary privacy.", "--epsilon")]
People = Annotated[int | None, option("COUNT", "How many people there are, if that is public.")]
Good = Annotated[str, option("NAME", f"What counts as a good answer: {', '.join(_UTILITIES)}.", "--utility")]
Histogram = Annotated[Path | None, option("FILE", "How many people have each element: also print private answers.")]


def linear(
    queries: Queries,
    points: Points = None,
    distances: Distances = None,
    epsilon: Same = None,
    scale: Scale = None,
    reach: Reach = None,
    people: People = None,
    utility: Good = _UTILITIES[0],
    confidence: Confidence = None,
    histogram: Histogram = None,
    json: Json = False,
    plot: Plot = None,
    save: Save = None,
    save_report: SaveReport = None,
) -> None:
    """Find the best noise for weighted sums over people, with a budget of its own for each pair of elements.

    Tables are comma-separated numbers without a header, read exactly.
    """
    query = Linear(read_rows(queries, "--queries"), people=people)
    if utility not in _UTILITIES:
        raise InvalidInputError(f"--utility is {utility!r}; for linear questions give one of {', '.join(_UTILITIES)}.")
    wanted = make_utility(utility, typed(confidence=confidence))
    privacy = MetricPrivacy(_metric(query.size, points, distances, typed(epsilon=epsilon, scale=scale, reach=reach)))
    counts = None if histogram is None else [v for row in read_rows(histogram, "--histogram") for v in row]
    if counts is not None:
        query.answers(counts)
    check_places(save=save, save_report=save_report, plot=plot)
    from noisewright.search.design import design

    report = design(query, privacy=privacy, utility=wanted)
    released = None if counts is None else [float(v) for v in report.best.release(counts)]
    if json:
        say_json({**report.to_dict(), "released": released})
    else:
        say(str(report))
        if released is not None:
            say("\nPrivate answers (this spent the budget once):")
            say("\n".join(f"{name}: {value}" for name, value in zip(query.names, released, strict=True)))
    keep(report.best, save, f"mechanism ({report.candidates[0].name})")
    keep(report, save_report, "report")
    draw(report.plot, plot)


def _metric(size: int, points: Path | None, distances: Path | None, given: Typed) -> Any:
    """The metric that the options describe; what does not fit together is refused."""
    policy = "reach" in given
    if policy and (points is None or "epsilon" not in given or distances is not None or "scale" in given):
        raise InvalidPrivacyError(
            "--reach goes with --points and --epsilon, the budget of points within reach of each other, and no other."
        )
    if not policy and sum((points is not None, distances is not None, "epsilon" in given)) != 1:
        raise InvalidPrivacyError("say how far apart elements are by one of --points, --distances and --epsilon.")
    if points is not None:
        rows = read_rows(points, "--points")
        return Threshold(rows, given["reach"], given["epsilon"]) if policy else Euclidean(rows, given.get("scale", "1"))
    if "scale" in given:
        raise InvalidPrivacyError("--scale goes with --points; multiply the distances or the epsilon yourself.")
    return Matrix(read_rows(distances, "--distances")) if distances is not None else Hamming(size, given["epsilon"])


def read_rows(path: Path, option: str) -> list[list[str]]:
    """The cells of a table of comma-separated numbers, as they were written."""
    try:
        lines = io.StringIO(read_text(path, option, _LARGEST_FILE), newline="")
        return [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
    except csv.Error as error:
        raise InvalidInputError(f"{option} is {path}, which cannot be read: {error}.") from None
