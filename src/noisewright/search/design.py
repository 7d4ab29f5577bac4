"""`design`: from a question to ranked, certified mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError
from noisewright.problem.linear import Linear
from noisewright.problem.metric_privacy import MetricPrivacy
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.search.metric import design_linear_metric
from noisewright.search.progress import Advance, progress_bar
from noisewright.search.report import Report
from noisewright.search.scalar import design_scalar_pure

Designer = Callable[[Any, Any, Any, Advance], Report]

DESIGNERS: dict[tuple[type, type], Designer] = {
    (Scalar, PureDP): design_scalar_pure,
    (Linear, MetricPrivacy): design_linear_metric,
}
"""Who designs for which kind of question under which kind of requirement."""


def design(query: Any, *, privacy: Any, utility: Any, progress: bool = False) -> Report:
    """The best noise for a question, beside the usual ones, each certified, with the best possible value.

    Guarantees: `report.bound` was proven in balls; every candidate carries a certificate for the
    law that it draws. `progress=True` shows a progress bar on standard error.
    """
    designer = designer_for(query, privacy)
    with progress_bar("design", 4, shown=progress) as step:
        return designer(query, privacy, utility, step)


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
