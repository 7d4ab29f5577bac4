"""`noisewright design`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.app.options import (
    Alpha,
    AnyEpsilon,
    Compose,
    Confidence,
    Delta,
    Explore,
    Integer,
    Json,
    Notion,
    Plot,
    Power,
    Rho,
    Save,
    Sensitivity,
    UtilityChoice,
    Within,
)
from noisewright.app.output import check_picture, check_place, on_a_terminal, remark, say, say_json, writing
from noisewright.app.promises import Promise, make_count, make_privacy
from noisewright.app.questions import Parameters, make_utility
from noisewright.problem.queries import Scalar

if TYPE_CHECKING:
    from noisewright.sample.certified import Certified


def design(
    sensitivity: Sensitivity,
    utility: UtilityChoice,
    epsilon: AnyEpsilon = None,
    delta: Delta = None,
    notion: Notion = None,
    alpha: Alpha = None,
    rho: Rho = None,
    compose: Compose = "1",
    power: Power = None,
    within: Within = None,
    confidence: Confidence = None,
    integer: Integer = False,
    explore: Explore = None,
    json: Json = False,
    plot: Plot = None,
    save: Save = None,
) -> None:
    """Find the best noise for a question, beside the usual ones, each with its distance to the best possible.

    Numbers are read exactly: 0.1 is one tenth, and 1/3 is one third.
    """
    query = Scalar(sensitivity, integer=integer)
    privacy = make_privacy(notion, Promise(epsilon, delta, alpha, rho))
    releases = make_count(compose)
    wanted = make_utility(utility, Parameters(power, within, confidence))
    check_place(save, "--save")
    check_picture(plot)
    from noisewright.search.design import design as find_best

    report = find_best(
        query, privacy=privacy, utility=wanted, compose=releases, progress=on_a_terminal(), explore=explore
    )
    if json:
        say_json(report.to_dict())
    else:
        say(str(report))
    if save is not None:
        keep(report.best, save, report.candidates[0].name)
    if plot is not None:
        report.plot(plot)
        remark(f"The picture is in {plot}.")


def keep(certified: Certified, path: Path, name: str) -> None:
    """Write a mechanism to a file and say so."""
    with writing(path):
        certified.save(path)
    remark(f"The mechanism ({name}) is in {path}.")
