"""`noisewright design`."""

from __future__ import annotations

from typing import Any

from noisewright.app import options, vectors
from noisewright.app.output import check_picture, check_place, draw, keep, on_a_terminal, say_either
from noisewright.app.promises import Promise, make_count, make_privacy
from noisewright.app.questions import Limits, Parameters, make_any_utility
from noisewright.app.vectors import Several, make_query, make_vector_utility
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.queries import Choice
from noisewright.problem.vector import Vector


def design(
    utility: options.UtilityChoice,
    sensitivity: options.AnySensitivity = None,
    epsilon: options.AnyEpsilon = None,
    delta: options.Delta = None,
    notion: options.Notion = None,
    alpha: options.Alpha = None,
    rho: options.Rho = None,
    compose: options.Compose = "1",
    power: options.Power = None,
    within: options.Within = None,
    confidence: options.Confidence = None,
    integer: options.Integer = False,
    candidates: options.Candidates = None,
    inputs: options.Inputs = None,
    outputs: options.Outputs = None,
    unbiased: options.Unbiased = False,
    bias: options.Bias = None,
    explore: options.Explore = None,
    sensitivities: vectors.Sensitivities = None,
    sensitivities_file: vectors.SensitivitiesFile = None,
    chosen_set: vectors.SetChoice = None,
    changes: vectors.Changes = None,
    dimension: vectors.Dimension = None,
    weights: vectors.Weights = None,
    json: options.Json = False,
    plot: options.Plot = None,
    save: options.Save = None,
    save_report: options.SaveReport = None,
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
    several_numbers = isinstance(query, Vector)
    wanted: Any = (
        make_vector_utility(utility, parameters, weights) if several_numbers else make_any_utility(utility, parameters)
    )
    check_place(save, "--save")
    check_place(save_report, "--save-report")
    check_picture(plot)
    if plot is not None and isinstance(query, Choice):
        raise InvalidInputError("--plot draws how errors are spread, which depends on the scores; leave it out.")
    from noisewright.search.design import design as find_best

    report = find_best(
        query, privacy=privacy, utility=wanted, compose=releases, progress=on_a_terminal(), explore=explore
    )
    say_either(report, json=json)
    keep(report.best, save, f"mechanism ({report.candidates[0].name})")
    keep(report, save_report, "report")
    draw(report.plot, plot)
