"""Every cell of question, privacy, utility and integer: a report, or a refusal that names what is possible."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from noisewright.accounting.composition import compose
from noisewright.problem.divergences import ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.linear import Linear
from noisewright.problem.privacy import REQUIREMENTS, ApproxDP, MetricPrivacy, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import QUERIES, Bounded, Histogram, Scalar, Vector
from noisewright.problem.utilities import UTILITIES, AbsoluteError, ErrorQuantile, Expected, SquaredError, Usefulness
from noisewright.problem.workload import Workload
from noisewright.sample.certified import Certified
from noisewright.search import design as doors
from noisewright.search.design import DESIGNERS, design
from noisewright.search.designers.bounded import BOUNDED_PURE, bounded_designer
from noisewright.search.programmes.layout import Size
from noisewright.search.saved import report_from_dict
from tests.bounded import few_forms
from tests.examples import EXAMPLES
from tests.wording import assert_reads_well

SMALL: dict[type, Any] = {
    Bounded: Bounded(1, (0, 1), (-4, 5), 0),
    Linear: Linear([[1, 0, 2], [0, 1, 1]]),
    Workload: Workload([[1, 0, 2], [0, 1, 1]]),
    RenyiDP: RenyiDP(2, 2),
    SquaredError: SquaredError(),
    AbsoluteError: AbsoluteError(),
    Usefulness: Usefulness(1),
    ErrorQuantile: ErrorQuantile("0.9"),
}
"""Instances that fit together, where the examples of the classes do not."""

ROUNDING = 1e-6


def _example(kind: type) -> Any:
    return SMALL[kind] if kind in SMALL else kind(**EXAMPLES[kind])


QUESTIONS = [*map(_example, QUERIES.kinds.values()), Scalar(2, integer=True)]
PRIVACIES = [_example(kind) for kind in REQUIREMENTS.kinds.values()]
GOALS = [_example(kind) for kind in (*UTILITIES.kinds.values(), Expected)]


def _served(query: Any, privacy: Any, utility: Any) -> bool:
    designer = DESIGNERS.get((type(query), type(privacy)))
    return designer is not None and type(utility) in designer.utilities


def _cells(*, served: bool) -> Iterator[Any]:
    for query in QUESTIONS:
        for privacy in PRIVACIES:
            for utility in GOALS:
                if _served(query, privacy, utility) is served:
                    names = [type(part).__name__ for part in (query, privacy, utility)]
                    whole = ["integer"] if getattr(query, "integer", False) else []
                    yield pytest.param(query, privacy, utility, id="-".join([*names, *whole]))


HOLES = {KullbackLeibler, Renyi, HistogramEntropy, Mallows, ErrorEntropy}
"""What speaks about the law of one number's error, or about one sequence; docs/questions.md gives the reasons."""


@pytest.mark.parametrize("several", [Vector, Histogram])
def test_several_numbers_are_served_wherever_one_number_is_save_for_the_named_holes(several: type):
    asked = {privacy: designer.utilities for (query, privacy), designer in DESIGNERS.items() if query is Scalar}
    assert asked
    missing = set()
    for privacy, utilities in asked.items():
        assert (several, privacy) in DESIGNERS, f"nothing serves {several.__name__} under {privacy.__name__}"
        missing |= set(utilities) - set(DESIGNERS[several, privacy].utilities)
    assert missing == HOLES


FIRST = [
    cell
    for cell in _cells(served=True)
    if type(cell.values[2]) is DESIGNERS[type(cell.values[0]), type(cell.values[1])].utilities[0]
]
"""One cell for each designer, question and requirement."""


@pytest.fixture
def small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded questions on a grid that is solved at once, and nothing read from a cache."""
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")
    for cell, designer in DESIGNERS.items():
        if designer is BOUNDED_PURE:
            monkeypatch.setitem(DESIGNERS, cell, bounded_designer(Size(4, 24)))


@pytest.fixture
def small_designs(small_grids: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, and of the closed forms one of each way to be made."""
    few_forms(monkeypatch, "two-point", "A1B1", "hybrid", "truncated Laplace")


@pytest.mark.parametrize(("query", "privacy", "utility"), list(_cells(served=True)))
def test_a_cell_of_the_table_gives_a_report(query: Any, privacy: Any, utility: Any, small_designs: None):
    _require_a_report(query, privacy, utility)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("query", "privacy", "utility"), [cell for cell in _cells(served=True) if isinstance(cell.values[0], Bounded)]
)
def test_every_closed_form_is_in_a_report_on_answers_in_bounds(
    query: Any, privacy: Any, utility: Any, small_grids: None
):
    _require_a_report(query, privacy, utility)


def _require_a_report(query: Any, privacy: Any, utility: Any) -> None:
    report = design(query, privacy=privacy, utility=utility)
    assert isinstance(report.best, Certified)
    assert report.best is report.candidates[0].certified
    assert report.best.mechanism.query == query
    for candidate in report.candidates:
        assert candidate.name
        assert candidate.certified.certificate.requirement == privacy
        assert candidate.value >= 0
        if candidate not in report.kept or report.bound is None:
            assert candidate.gap is None
            continue
        distance = abs(candidate.value / report.bound - 1)
        assert candidate.gap is not None
        assert candidate.gap >= 0
        assert candidate.gap == pytest.approx(distance, abs=candidate.error / report.bound + ROUNDING)
    assert_reads_well(report)


@pytest.mark.parametrize(("query", "privacy", "utility"), FIRST)
def test_a_report_of_every_designer_is_pickled_and_read_back_by_proving_it_again(
    query: Any, privacy: Any, utility: Any, small_designs: None
):
    report = design(query, privacy=privacy, utility=utility)
    pickled = pickle.loads(pickle.dumps(report))  # noqa: S301  # written just now
    for again in (pickled, report_from_dict(json.loads(json.dumps(report.to_dict())))):
        assert [c.to_dict() for c in again.candidates] == [c.to_dict() for c in report.candidates]
        assert again.bound == report.bound
        assert again.best is not report.best


@pytest.fixture
def proposed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What designers were asked to propose: nothing, if a cell is refused before any work."""
    asked: list[Any] = []

    def propose(*question: Any) -> list[Any]:
        asked.append(question)
        return []

    for cell, designer in DESIGNERS.items():
        monkeypatch.setitem(DESIGNERS, cell, replace(designer, propose=propose, check=propose))
    monkeypatch.setattr(doors, "designed", propose)
    return asked


@pytest.mark.parametrize(("query", "privacy", "utility"), list(_cells(served=False)))
def test_a_cell_outside_the_table_is_refused_with_what_is_possible(
    query: Any, privacy: Any, utility: Any, proposed: list[Any]
):
    with pytest.raises(InvalidInputError) as refusal:
        design(query, privacy=privacy, utility=utility)
    assert not proposed
    asked = {q for q, _ in DESIGNERS}
    promised = {p for q, p in DESIGNERS if q is type(query)}
    if not promised:
        possible = asked
    elif type(privacy) not in promised:
        possible = promised
    else:
        possible = set(DESIGNERS[type(query), type(privacy)].utilities)
    for kind in possible:
        assert f"nw.{kind.__name__}(" in str(refusal.value)


PLANNED = {
    PureDP: lambda plan, total: plan.delta(total.epsilon) == 0 and plan.epsilon(0) <= total.epsilon,
    ApproxDP: lambda plan, total: plan.delta(total.epsilon) <= total.delta,
    RenyiDP: lambda plan, total: plan.renyi(total.alpha) <= total.epsilon,
    ZeroConcentratedDP: lambda plan, total: plan.zcdp() <= total.rho,
    MetricPrivacy: lambda plan, total: (
        plan.parts[0][0].certified.certificate.requirement == total.share(Fraction(1, 3))
    ),
}
"""Totals that plans have, and when a plan keeps to one."""


@pytest.mark.parametrize(("query", "privacy", "utility"), FIRST)
def test_a_plan_is_designed_for_every_cell_proven_and_read_back(
    query: Any, privacy: Any, utility: Any, small_designs: None
):
    if type(privacy) not in PLANNED:
        with pytest.raises(InvalidInputError, match="a plan of many is designed for a total of"):
            design(query, privacy=privacy, utility=utility, compose=3)
        return
    report = design(query, privacy=privacy, utility=utility, compose=3)
    assert report.best.mechanism.query == query
    assert PLANNED[type(privacy)](report.plan, privacy)
    for candidate in report.candidates:
        assert PLANNED[type(privacy)](compose([(candidate.certified, 3)]), privacy)
    assert "report.plan" in report.why
    assert_reads_well(report)
    again = report_from_dict(json.loads(json.dumps(report.to_dict())))
    assert [c.to_dict() for c in again.candidates] == [c.to_dict() for c in report.candidates]
    assert again.plan.certificate.plan == report.plan.certificate.plan
