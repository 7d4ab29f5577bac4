"""Reports that are saved, pickled and copied: everything is proven again, and a file that claims more is refused."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from noisewright.accounting.composition import compose
from noisewright.problem.errors import InvalidInputError, MechanismFileError
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, ProbabilisticDP, PureDP, ZeroConcentratedDP
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.records import digest
from noisewright.problem.sensitivity import Box
from noisewright.problem.utilities import AbsoluteError, Expected, SquaredError, Usefulness, WorstVariance
from noisewright.sample.certified import make_certified
from noisewright.search.design import design
from noisewright.search.designers.bounded import design_bounded
from noisewright.search.report.report import Report
from noisewright.search.saved import report_from_dict

BOUNDED = Scalar(1, inputs=(0, 1), outputs=(-4, 5), unbiased=True)

REPORTS: dict[str, Callable[[], Report]] = {
    "pure": lambda: design(Scalar(2), privacy=PureDP(2), utility=Usefulness(1)),
    "whole": lambda: design(Scalar(2, integer=True), privacy=PureDP(2), utility=SquaredError()),
    "approximate": lambda: design(Scalar(2), privacy=ApproxDP(2, "0.1"), utility=AbsoluteError()),
    "probabilistic": lambda: design(Scalar(2, integer=True), privacy=ProbabilisticDP(2, "0.1"), utility=SquaredError()),
    "concentrated": lambda: design(Scalar(2), privacy=ZeroConcentratedDP(2), utility=SquaredError()),
    "several": lambda: design(Vector(Box([2, 3])), privacy=PureDP(2), utility=SquaredError([1, 2])),
    "several, approximate": lambda: design(Vector(Box([2, 3])), privacy=ApproxDP(2, "0.1"), utility=AbsoluteError()),
    "bounded": lambda: design_bounded(BOUNDED, privacy=PureDP(2), utility=WorstVariance(), inputs=4, outputs=24),
    "linear": lambda: design(
        Linear([[1, 0, 2], [0, 1, 1]]), privacy=MetricPrivacy(Hamming(3, 1)), utility=SquaredError()
    ),
}
"""Of every kind of question; `tests/property/test_table.py` has one for each designer."""

each_report = pytest.mark.parametrize("name", REPORTS)


@pytest.fixture(autouse=True)
def without_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")


@cache
def _report(name: str) -> Report:
    return REPORTS[name]()


@cache
def _written(name: str) -> str:
    return json.dumps(_report(name).to_dict())


def _edited(name: str, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The saved report after a change, sealed again by whoever made it."""
    data = json.loads(_written(name))
    change(data)
    return _sealed(data)


def _sealed(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "digest": digest({key: value for key, value in data.items() if key != "digest"})}


def _numbers(report: Report) -> list[tuple[Any, ...]]:
    return [(c.name, c.value, c.gap, c.bias, c.error, c.parts) for c in report.candidates]


@each_report
def test_a_report_is_pickled_and_copied_by_proving_it_again(name: str):
    report = _report(name)
    again = pickle.loads(pickle.dumps(report))  # noqa: S301  # written just now
    assert _numbers(again) == _numbers(report)
    assert again.bound == report.bound
    assert all(a.certified is not b.certified for a, b in zip(again.candidates, report.candidates, strict=True))
    assert copy.deepcopy(report) is report


def test_reports_on_plans_are_pickled():
    plan = design(Scalar(1), privacy=ApproxDP(2, "0.1"), utility=SquaredError(), compose=2)
    again = pickle.loads(pickle.dumps(plan))  # noqa: S301  # written just now
    assert _numbers(again) == _numbers(plan)
    assert again.why == plan.why


@each_report
def test_a_saved_report_is_read_and_proven_again(name: str, tmp_path: Path):
    report = _report(name)
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json")
    assert _numbers(again) == _numbers(report)
    assert (again.query, again.privacy, again.utility) == (report.query, report.privacy, report.utility)
    assert again.bound == report.bound
    assert str(again).splitlines()[0] == str(report).splitlines()[0]


def _bound(data: dict[str, Any], factor: float) -> None:
    data["bound"] *= factor


def _of_winner(key: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def changed(data: dict[str, Any]) -> None:
        data["candidates"][0][key] = change(data["candidates"][0][key])

    return changed


CLAIMS: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "a smaller error": ("whole", _of_winner("value", lambda v: 0.99 * v)),
    "a larger chance": ("pure", _of_winner("value", lambda v: 1.01 * v)),
    "a smaller gap": ("several", _of_winner("gap", lambda v: v / 2)),
    "a higher bound": ("whole", lambda data: _bound(data, 1.01)),
    "a lower limit of chances": ("pure", lambda data: _bound(data, 0.99)),
    "a bound that nobody knows": ("concentrated", lambda data: data.update(bound=0.5)),
    "a gap that nobody knows": ("concentrated", _of_winner("gap", lambda v: 0.5)),
    "smaller parts": ("several", _of_winner("parts", lambda v: [0.9 * part for part in v])),
    "fewer parts": ("several", _of_winner("parts", lambda v: v[:1])),
    "a smaller numerical error": ("whole", _of_winner("error", lambda v: -1.0)),
}
"""What a report can claim without having it, and where."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_report_that_claims_more_than_is_proven_is_refused(claim: str):
    name, change = CLAIMS[claim]
    with pytest.raises(MechanismFileError, match="can be proven"):
        report_from_dict(_edited(name, change))


def test_a_report_may_claim_less_and_says_what_is_proven():
    modest = _edited("whole", lambda data: data.update(bound=0.9 * data["bound"]))
    assert report_from_dict(modest).bound == _report("whole").bound
    silent = _edited("whole", lambda data: data.update(bound=None))
    assert report_from_dict(silent).bound == _report("whole").bound


def test_sentences_of_a_file_are_written_again():
    boast = _edited("whole", lambda data: data.update(why="it is perfect.", notes=["trust me."]))
    again = report_from_dict(boast)
    assert again.why == _report("whole").why
    assert "trust" not in str(again)


def _other(certified: Any) -> Callable[[dict[str, Any]], None]:
    return _of_winner("certified", lambda _: certified.to_dict())


def test_a_candidate_for_weaker_privacy_or_an_easier_question_is_refused():
    mechanism = _report("whole").best.mechanism
    weaker = make_certified(mechanism, PureDP(3))
    with pytest.raises(MechanismFileError, match=r"epsilon = 3.*states.*epsilon = 2"):
        report_from_dict(_edited("whole", _other(weaker)))
    easier = design(Scalar(1, integer=True), privacy=PureDP(2), utility=SquaredError()).best
    with pytest.raises(MechanismFileError, match=r"sensitivity 1.*sensitivity 2"):
        report_from_dict(_edited("whole", _other(easier)))


def test_answers_without_the_promise_are_for_comparison_and_never_alone():
    report = _report("bounded")
    others = [c for c in report.candidates if c not in report.kept]
    assert others
    data = json.loads(_written("bounded"))
    data["candidates"] = [c for c in data["candidates"] if c["name"] in {other.name for other in others}]
    with pytest.raises(MechanismFileError, match="no candidate answers the question"):
        report_from_dict(_sealed(data))


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "no candidates": lambda data: data.update(candidates=[]),
    "a candidate twice": lambda data: data["candidates"].append(data["candidates"][0]),
    "a name that hides something": _of_winner("name", lambda name: name + "\x1b[2J"),
    "another notion": lambda data: data["privacy"].update(kind="metric"),
    "a utility for other questions": lambda data: data.update(utility={"kind": "largest-error"}),
    "weights for one number": lambda data: data["utility"].update(weights=["2"]),
    "text for a number": _of_winner("value", str),
    "settings": lambda data: data.update(settings={"inputs": 4, "outputs": 24}),
    "an unknown question": lambda data: data["query"].update(kind="anything"),
    "an edited mechanism": lambda data: data["candidates"][0]["certified"]["mechanism"].update(kind="rows"),
    "a missing field": lambda data: data.pop("candidates"),
    "another field": lambda data: data.update(extra=1),
    "a list for the question": lambda data: data.update(query=[1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_no_report_is_refused(change: str):
    with pytest.raises(MechanismFileError):
        report_from_dict(_edited("whole", CHANGES[change]))


@pytest.mark.parametrize("size", [{"inputs": 4}, {"inputs": 4, "outputs": 10**6}, {"inputs": True, "outputs": 24}])
def test_a_grid_that_cannot_be_is_refused(size: dict[str, Any]):
    with pytest.raises(MechanismFileError):
        report_from_dict(_edited("bounded", lambda data: data.update(settings=size)))


def test_an_edited_file_is_refused_by_its_digest():
    data = json.loads(_written("whole"))
    data["bound"] = 0.5
    with pytest.raises(MechanismFileError, match="digest"):
        report_from_dict(data)


def test_what_files_cannot_hold_is_not_saved(tmp_path: Path):
    own = design(Scalar(2, integer=True), privacy=PureDP(2), utility=Expected(abs, growth=1))
    with pytest.raises(InvalidInputError, match="function"):
        own.save(tmp_path / "own.json")
    with pytest.raises(MechanismFileError, match="function"):
        report_from_dict(own.to_dict())
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def plan() -> Report:
    return design(Scalar(1), privacy=ApproxDP(2, "0.1"), utility=SquaredError(), compose=2)


def test_a_report_on_a_plan_is_saved_with_it_and_proven_again(plan: Report, tmp_path: Path):
    plan.save(tmp_path / "plan.json")
    again = Report.load(tmp_path / "plan.json")
    assert _numbers(again) == _numbers(plan)
    assert again.releases == 2
    assert again.why == plan.why
    assert again.plan.certificate.plan == plan.plan.certificate.plan
    assert again.plan.delta(2) == plan.plan.delta(2) <= Fraction(1, 10)


def _forged(report: Report, changes: dict[str, Any]) -> dict[str, Any]:
    content = {**report.to_dict(), **changes}
    content = {key: value for key, value in content.items() if key != "digest" and (key, value) != ("plan", None)}
    return {**content, "digest": digest(content)}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"settings": {"compose": 3}}, "together are not proven"),
        ({"settings": {"compose": 0}}, "how many equal releases"),
        ({"settings": {"compose": 2, "more": 1}}, "settings"),
        ({"settings": {}}, "holds their plan"),
        ({"plan": None}, "is certified for|holds their plan"),
        ({"privacy": {"kind": "approximate", "epsilon": "1", "delta": "1/10"}}, "together are not proven"),
    ],
)
def test_a_report_on_a_plan_that_claims_more_is_refused(plan: Report, changes: dict[str, Any], told: str):
    with pytest.raises(MechanismFileError, match=told):
        report_from_dict(_forged(plan, changes))


def test_the_plan_of_another_release_is_refused(plan: Report):
    other = next(c for c in plan.candidates if c.certified != plan.best)
    with pytest.raises(MechanismFileError, match="not the plan of the report's winner"):
        report_from_dict(_forged(plan, {"plan": compose([(other.certified, 2)]).to_dict()}))


def test_a_report_has_a_thousand_candidates_at_most():
    name = next(iter(REPORTS))

    def repeated(data: dict[str, Any]) -> None:
        data["candidates"] = data["candidates"][:1] * 1001

    with pytest.raises(MechanismFileError, match="more than 1000 candidates"):
        Report.from_dict(_edited(name, repeated))
