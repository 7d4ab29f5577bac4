"""Saved reports: every certificate, value and bound in the file is proven again, and nothing is believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from noisewright.accounting.composition import Composition
from noisewright.problem.errors import InvalidInputError, MechanismFileError
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.queries import QUERIES
from noisewright.problem.untrusted import READING_SECONDS, within
from noisewright.problem.utilities import UTILITIES
from noisewright.sample.certified import check_seal, reading, verified
from noisewright.search.design import DESIGNERS, designer_for, utility_for
from noisewright.search.designer import TIE, Designer, Proposal, restored
from noisewright.search.designers.bounded import bounded_designer, checked_size
from noisewright.search.designers.plan import plan_designer
from noisewright.search.report.report import FORMAT, Candidate, Report as Report

_FIELDS = {"query", "privacy", "utility", "bound", "bound_over", "why", "notes", "settings", "candidates"}
_LONGEST_NAME = 200
_MOST_CANDIDATES = 1000


def report_from_dict(data: Mapping[str, Any], *, seconds: Number = READING_SECONDS) -> Report:
    """Read back what `Report.to_dict` wrote, and prove it again.

    Guarantees: every candidate was certified anew, for the question that the report asks and the privacy that it
    states; where that is the total of several releases, so many of them together were proven to meet it. Values and
    the bound were computed anew, and those in the data claim no more (one part in a million aside, since solvers
    differ from machine to machine). Sentences in the data are not read; they are written again. All of it within so
    many seconds.
    """
    planned = isinstance(data, Mapping) and "plan" in data
    check_seal(data, "report", FORMAT, _FIELDS | {"plan"} if planned else _FIELDS)
    with within(seconds), reading("report"):
        query = QUERIES.from_dict(data["query"])
        privacy = REQUIREMENTS.from_dict(data["privacy"])
        utility = _utility(data["utility"])
        designer = _designer(query, privacy, utility, data["settings"])
        alone = None if planned else privacy
        if len(data["candidates"]) > _MOST_CANDIDATES:
            raise MechanismFileError(f"the report has more than {_MOST_CANDIDATES} candidates; refused.")
        proposals = tuple(_proposal(c, i, query, alone) for i, c in enumerate(data["candidates"]))
        names = [p.name for p in proposals]
        if not names or len(set(names)) < len(names):
            raise MechanismFileError("the report needs at least one candidate, and a name of its own for each.")
        report = restored(designer, query, privacy, utility, proposals)
        if report.best.mechanism.query != query:
            raise MechanismFileError("no candidate answers the question of the report.")
        _check_claims(data, report)
        _check_plan(data.get("plan"), report)
    return report


def _utility(data: Mapping[str, Any]) -> Any:
    if data["kind"] not in UTILITIES.kinds:
        raise MechanismFileError(
            f"the utility of the report is {data['kind']!r}, which files do not hold: a loss of your own is a function."
            " Design again from Python."
        )
    return UTILITIES.from_dict(data)


def _designer(query: Any, privacy: Any, utility: Any, settings: Mapping[str, Any]) -> Designer:
    """Who designs for the question, on the grid that the report was made with where it names one."""
    found = designer_for(query, privacy, utility)
    if utility_for(query, utility) != utility:
        raise InvalidInputError(f"the utility is {utility!r}, which does not fit the question.")
    rest = {name: value for name, value in settings.items() if name != "compose"}
    if rest:
        if not found.slow or set(rest) != {"inputs", "outputs"}:
            raise InvalidInputError("its settings are none that this version knows.")
        found = bounded_designer(checked_size(rest["inputs"], rest["outputs"]))
    if "compose" in settings:
        found = plan_designer(found, DESIGNERS, query, privacy, settings["compose"])
    found.check(query, privacy, utility)
    return found


def _check_plan(told: Mapping[str, Any] | None, report: Report) -> None:
    """Refuse a plan that is not that of the winner, or whose file does not prove what it says."""
    if (told is None) != (report.releases == 1):
        raise MechanismFileError("a report on several releases holds their plan, and no other report does.")
    if told is not None:
        # The winner of the report, so many times, was proven to keep to the total when the report was made again.
        plan = Composition.from_dict(told)
        if plan.certificate.plan != report.plan.certificate.plan:
            raise MechanismFileError("the plan in the file is not the plan of the report's winner; refused.")


def _proposal(data: Mapping[str, Any], place: int, query: Any, privacy: Any) -> Proposal:
    name, certified = data["name"], verified(data["certified"])
    if not isinstance(name, str) or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise MechanismFileError(f"candidate {place + 1} has no name that can be shown.")
    if privacy is not None and certified.certificate.requirement != privacy:
        raise MechanismFileError(
            f"{name} is certified for {certified.certificate.requirement}, the report states {privacy}; refused."
        )
    # For comparison a report also shows answers in the same bounds that promise nothing about their mean.
    asked = [query, replace(query, bias=None)] if hasattr(query, "bias") else [query]
    if certified.mechanism.query not in asked:
        raise MechanismFileError(f"{name} answers {certified.mechanism.query}, the report asks for {query}; refused.")
    return Proposal(name, certified.mechanism, place, given=certified)


def _check_claims(data: Mapping[str, Any], report: Report) -> None:
    """Refuse numbers that say more than what was proven."""
    sign = -1 if report.utility.larger_is_better else 1
    _refuse_if(_beyond(data["bound"], report.bound, sign), "the bound", data["bound"], report.bound)
    found = {c.name: c for c in report.candidates}
    for told in data["candidates"]:
        candidate = found[told["name"]]
        for what, lacking in _lacking(told, candidate, sign).items():
            _refuse_if(lacking, f"the {what} of {candidate.name}", told.get(what), getattr(candidate, what))


def _lacking(told: Mapping[str, Any], proven: Candidate, sign: int) -> dict[str, bool]:
    """For each number that is told of a candidate, whether less than that is proven."""
    value = math.inf if told["value"] is None else told["value"]
    reached = proven.value + sign * -proven.error
    parts = told.get("parts", [])
    near = (abs(a - b) <= TIE * abs(b) + proven.error for a, b in zip(parts, proven.parts, strict=False))
    return {
        "value": value != proven.value and _beyond(value, reached, -sign),
        "gap": _beyond(told["gap"], proven.gap, -1),
        "bias": abs(told["bias"]) < abs(proven.bias) * (1 - TIE) - TIE * abs(proven.value),
        "error": told["error"] < proven.error * (1 - TIE) - TIE * abs(proven.value),
        "parts": len(parts) != len(proven.parts) or not all(near),
    }


def _beyond(told: float | None, proven: float | None, sign: int) -> bool:
    """Whether what is told lies beyond what is proven in the direction of `sign`; None tells nothing."""
    if told is None:
        return False
    return proven is None or not sign * (told - proven) <= TIE * abs(proven)


def _refuse_if(lacking: bool, what: str, told: Any, proven: Any) -> None:
    if lacking:
        raise MechanismFileError(f"{what} is {told} in the file, but {proven} is what can be proven; refused.")
