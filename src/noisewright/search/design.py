"""`design`: from a question to ranked, certified mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noisewright.problem.errors import InvalidInputError, InvalidPrivacyError, InvalidQueryError
from noisewright.problem.linear import Linear
from noisewright.problem.metric_privacy import MetricPrivacy
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Bounded, Choice, Scalar
from noisewright.problem.vector import Vector
from noisewright.search.designers.bounded import design_bounded_pure
from noisewright.search.designers.choice import design_choice
from noisewright.search.designers.linear import design_linear_metric
from noisewright.search.designers.plan import design_plan
from noisewright.search.designers.scalar_approximate import design_scalar_approximate
from noisewright.search.designers.scalar_concentrated import design_scalar_renyi
from noisewright.search.designers.scalar_pure import design_scalar_pure
from noisewright.search.designers.two_fold import explore_two_fold
from noisewright.search.designers.vector import design_vector_approximate, design_vector_pure
from noisewright.search.families.composition import check_count
from noisewright.search.report.progress import Advance, progress_bar
from noisewright.search.report.report import Report

Designer = Callable[[Any, Any, Any, Advance], Report]

DESIGNERS: dict[tuple[type, type], Designer] = {
    (Scalar, PureDP): design_scalar_pure,
    (Linear, MetricPrivacy): design_linear_metric,
    (Scalar, ApproxDP): design_scalar_approximate,
    (Scalar, ProbabilisticDP): design_scalar_approximate,
    (Scalar, RenyiDP): design_scalar_renyi,
    (Scalar, ZeroConcentratedDP): design_scalar_renyi,
    (Vector, PureDP): design_vector_pure,
    (Vector, ApproxDP): design_vector_approximate,
    (Bounded, PureDP): design_bounded_pure,
    (Choice, PureDP): design_choice,
}
"""Who designs for which kind of question under which kind of requirement."""

EXPLORERS: dict[tuple[str, type, type], tuple[Callable[[Report, Advance], Report], int]] = {
    ("two-fold", Scalar, PureDP): (explore_two_fold, 6),
}
"""Families that are only searched on request: what adds them to a report, and in how many steps."""


def design(
    query: Any,
    *,
    privacy: Any,
    utility: Any,
    compose: int = 1,
    progress: bool = False,
    explore: str | None = None,
) -> Report:
    """The best noise for a question, beside the usual ones, each certified, with the best possible value.

    With `compose` above 1 the requirement is the total of that many equal releases, and mechanisms
    are ranked after composing the whole plan. `explore="two-fold"` adds every family of two-fold noise
    at its best parameters, which takes seconds instead of a fraction of one.

    Guarantees: `report.bound` was proven in balls; every candidate carries a certificate for the
    law that it draws. `progress=True` shows a progress bar on standard error.
    """
    query = _asked(query)
    designer = designer_for(query, privacy)
    check_count(compose)
    explorer, more = explorer_for(explore, query, privacy)
    if compose > 1:
        if isinstance(query, Bounded):
            raise InvalidInputError("answers in bounds are designed for a single release; leave out compose.")
        if explorer:
            raise InvalidInputError("explore works for a single release; leave out compose.", compose=compose)
        with progress_bar("design", 4, shown=progress) as step:
            return design_plan(query, privacy, utility, compose, step)
    with progress_bar("design", 4 + more, shown=progress) as step:
        report = designer(query, privacy, utility, step)
        return explorer(report, step) if explorer else report


def _asked(query: Any) -> Any:
    """The question as designers know it: a number with bounds is a kind of its own."""
    return query.bounded if isinstance(query, Scalar) and query.bounded is not None else query


def explorer_for(
    explore: str | None, query: Any, privacy: Any
) -> tuple[Callable[[Report, Advance], Report] | None, int]:
    """What adds a family to a report, and in how many steps; a clear refusal if there is none."""
    if explore is None:
        return None, 0
    found = EXPLORERS.get((explore, type(query), type(privacy)))
    if found is None:
        names = sorted(n for n, q, p in EXPLORERS if q is type(query) and p is type(privacy))
        allowed = " or ".join(repr(n) for n in names) or "nothing"
        raise InvalidInputError(f"explore is {explore!r}; for this question give {allowed}.", explore=explore)
    return found


def designer_for(query: Any, privacy: Any) -> Designer:
    """The designer for this pair, or a clear refusal before any work."""
    queries = {q.__name__ for q, _ in DESIGNERS}
    if type(query).__name__ not in queries:
        allowed = ", ".join(f"nw.{name}(...)" for name in sorted(queries))
        raise InvalidQueryError(f"query is {query!r}; give one of {allowed}.", query=query)
    found = DESIGNERS.get((type(query), type(privacy)))
    if found is None:
        kinds = ", ".join(sorted(f"nw.{p.__name__}(...)" for q, p in DESIGNERS if q is type(query)))
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}; for a {type(query).__name__} question give one of {kinds}.", privacy=privacy
        )
    return found
