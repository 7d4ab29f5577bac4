"""`noisewright design`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.app.options import (
    Alpha,
    AnyEpsilon,
    AnySensitivity,
    Bias,
    Candidates,
    Compose,
    Confidence,
    Delta,
    Explore,
    Inputs,
    Integer,
    Json,
    Notion,
    Outputs,
    Plot,
    Power,
    Rho,
    Save,
    SaveReport,
    Unbiased,
    UtilityChoice,
    Within,
)
from noisewright.app.output import check_picture, check_place, on_a_terminal, remark, say, say_json, writing
from noisewright.app.promises import Promise, make_count, make_privacy
from noisewright.app.questions import Limits, Parameters, make_any_utility
from noisewright.app.vectors import (
    Changes,
    Dimension,
    Sensitivities,
    SensitivitiesFile,
    SetChoice,
    Several,
    Weights,
    make_query,
    make_vector_utility,
)
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.queries import Choice
from noisewright.problem.vector import Vector

if TYPE_CHECKING:
    from noisewright.sample.certified import Certified
    from noisewright.search.report.report import Report


def design(
    utility: UtilityChoice,
    sensitivity: AnySensitivity = None,
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
    candidates: Candidates = None,
    inputs: Inputs = None,
    outputs: Outputs = None,
    unbiased: Unbiased = False,
    bias: Bias = None,
    explore: Explore = None,
    sensitivities: Sensitivities = None,
    sensitivities_file: SensitivitiesFile = None,
    chosen_set: SetChoice = None,
    changes: Changes = None,
    dimension: Dimension = None,
    weights: Weights = None,
    json: Json = False,
    plot: Plot = None,
    save: Save = None,
    save_report: SaveReport = None,
) -> None:
    """Find the best noise for a question, beside the usual ones, each with its distance to the best possible.

    Numbers are read exactly: 0.1 is one tenth, and 1/3 is one third.
    """
    several = Several(sensitivities, sensitivities_file, chosen_set, changes, dimension, weights)
    limits = Limits(inputs, outputs, unbiased, bias)
    query = make_query(sensitivity, several, limits, integer=integer, candidates=candidates)
    privacy = make_privacy(notion, Promise(epsilon, delta, alpha, rho))
    releases = make_count(compose)
    parameters = Parameters(power, within, confidence)
    wanted: Any
    if isinstance(query, Vector):
        wanted = make_vector_utility(utility, parameters, weights)
    else:
        wanted = make_any_utility(utility, parameters)
    check_files(save, save_report, plot)
    if plot is not None and isinstance(query, Choice):
        raise InvalidInputError("--plot draws how errors are spread, which depends on the scores; leave it out.")
    from noisewright.search.design import design as find_best

    report = find_best(
        query, privacy=privacy, utility=wanted, compose=releases, progress=on_a_terminal(), explore=explore
    )
    if json:
        say_json(report.to_dict())
    else:
        say(str(report))
    keep_files(report, save, save_report, plot)


def keep(certified: Certified, path: Path, name: str) -> None:
    """Write a mechanism to a file and say so."""
    with writing(path):
        certified.save(path)
    remark(f"The mechanism ({name}) is in {path}.")


def check_files(save: Path | None, save_report: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written, before any work is done."""
    check_place(save, "--save")
    check_place(save_report, "--save-report")
    check_picture(plot)


def keep_files(report: Report, save: Path | None, save_report: Path | None, plot: Path | None) -> None:
    """Write what was asked for of a report, and say so."""
    if save is not None:
        keep(report.best, save, report.candidates[0].name)
    if save_report is not None:
        with writing(save_report):
            report.save(save_report)
        remark(f"The report is in {save_report}.")
    if plot is not None:
        report.plot(plot)
        remark(f"The picture is in {plot}.")
