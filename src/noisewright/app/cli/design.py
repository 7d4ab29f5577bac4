"""`noisewright design` and `noisewright budget`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

from noisewright.app.cli import options
from noisewright.app.cli.options import UTILITY, Confidence, Json, Power, Save, Within, number
from noisewright.app.cli.output import check_places, draw, keep, say_either
from noisewright.app.cli.questions import make_budget, make_goal, make_privacy, make_query, make_utility, typed, whole
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.queries import Choice
from noisewright.problem.warnings import UnevenNumbersWarning


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that say what is asked, which `design` and `budget` share."""

    sensitivity: options.AnySensitivity = None
    integer: options.Integer = False
    bins: options.Bins = None
    bins_per_person: options.BinsPerPerson = None
    replace: options.Replace = False
    candidates: options.Candidates = None
    inputs: options.Inputs = None
    outputs: options.Outputs = None
    unbiased: options.Unbiased = False
    bias: options.Bias = None
    sensitivities: options.Sensitivities = None
    sensitivities_file: options.SensitivitiesFile = None
    chosen_set: options.SetChoice = None
    changes: options.Changes = None
    dimension: options.Dimension = None
    norm_power: options.NormPower = None
    weights: options.Weights = None

    @property
    def query(self) -> Any:
        """The question."""
        listed = typed(list=self.sensitivities, file=self.sensitivities_file, weights=self.weights)
        moves = typed(set=self.chosen_set, changes=self.changes, dimension=self.dimension, order=self.norm_power)
        several = {**listed, **moves}
        bounds = typed(inputs=self.inputs, outputs=self.outputs, unbiased=self.unbiased or None, bias=self.bias)
        counted = typed(bins=self.bins, bins_per_person=self.bins_per_person, replace=self.replace or None)
        return make_query(
            self.sensitivity, several, bounds, integer=self.integer, candidates=self.candidates, counted=counted
        )


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of `Asked` in place of its argument `asked`."""
    shared, own = (signature(one, eval_str=True).parameters for one in (Asked, command))

    @wraps(command)
    def run(**given: Any) -> None:
        command(asked=Asked(**{name: given.pop(name) for name in shared}), **given)

    listed = [one for name, its in own.items() for one in (shared.values() if name == "asked" else [its])]
    run.__signature__ = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in listed])  # type: ignore[attr-defined]  # read by typer
    return run


@asking
def design(
    utility: options.UtilityChoice,
    asked: Asked,
    epsilon: options.AnyEpsilon = None,
    delta: options.Delta = None,
    notion: options.Notion = None,
    alpha: options.Alpha = None,
    rho: options.Rho = None,
    compose: options.Compose = "1",
    power: options.Power = None,
    within: options.Within = None,
    confidence: options.Confidence = None,
    explore: options.Explore = None,
    json: options.Json = False,
    plot: options.Plot = None,
    save: options.Save = None,
    save_report: options.SaveReport = None,
) -> None:
    """Find the best noise for a question, beside the usual ones, each with its distance to the best possible.

    Numbers are read exactly: 0.1 is one tenth, and 1/3 is one third.
    """
    query = asked.query
    privacy = make_privacy(notion, typed(epsilon=epsilon, delta=delta, alpha=alpha, rho=rho))
    releases = whole(compose, "--compose", "a whole number of releases, such as 100")
    wanted = make_utility(utility, typed(power=power, within=within, confidence=confidence), asked.weights)
    check_places(save=save, save_report=save_report, plot=plot)
    if plot is not None and isinstance(query, Choice):
        raise InvalidInputError("--plot draws how errors are spread, which depends on the scores; leave it out.")
    from noisewright.search.design import design as find_best

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnevenNumbersWarning)  # the report says the same
        report = find_best(query, privacy=privacy, utility=wanted, compose=releases, explore=explore)
    say_either(report, json=json)
    keep(report.best, save, f"mechanism ({report.candidates[0].name})")
    keep(report, save_report, "report")
    draw(report.plot, plot)


@asking
def budget(
    asked: Asked,
    half_width: Annotated[str | None, number("The error to stay within; goes with --confidence.")] = None,
    confidence: Confidence = None,
    utility: Annotated[str | None, UTILITY] = None,
    target: Annotated[str | None, number("The value that --utility must reach.")] = None,
    power: Power = None,
    within: Within = None,
    delta: options.Delta = None,
    notion: options.Notion = None,
    alpha: options.Alpha = None,
    json: Json = False,
    save: Save = None,
) -> None:
    """Find the smallest epsilon (or rho, with --notion zero-concentrated) that reaches an accuracy.

    Say how accurate with --half-width and --confidence, or with any --utility and its --target; the question and
    the guarantee as for design.
    """
    query = asked.query
    given = typed(power=power, within=within, confidence=confidence)
    wanted, value = make_goal(utility, given, target, half_width, asked.weights)
    guarantee = make_budget(notion, typed(delta=delta, alpha=alpha))
    check_places(save=save)
    from noisewright.search.budget import budget_for

    found = budget_for(query, utility=wanted, target=value, **guarantee)
    say_either(found, json=json)
    keep(found.best, save, f"mechanism ({found.rows[0].name})")
