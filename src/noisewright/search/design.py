"""`design`: from a question to ranked, certified mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Scalar
from noisewright.problem.vector import Vector
from noisewright.search.approximate import design_scalar_approximate
from noisewright.search.composition import check_count
from noisewright.search.concentrated import design_scalar_renyi
from noisewright.search.plan import design_plan
from noisewright.search.progress import Advance, progress_bar
from noisewright.search.report import Report
from noisewright.search.scalar import design_scalar_pure
from noisewright.search.vector import design_vector_approximate, design_vector_pure

Designer = Callable[[Any, Any, Any, Advance], Report]

DESIGNERS: dict[tuple[type, type], Designer] = {
    (Scalar, PureDP): design_scalar_pure,
    (Scalar, ApproxDP): design_scalar_approximate,
    (Scalar, ProbabilisticDP): design_scalar_approximate,
    (Scalar, RenyiDP): design_scalar_renyi,
    (Scalar, ZeroConcentratedDP): design_scalar_renyi,
    (Vector, PureDP): design_vector_pure,
    (Vector, ApproxDP): design_vector_approximate,
}
"""Who designs for which kind of question under which kind of requirement."""


def design(query: Any, *, privacy: Any, utility: Any, compose: int = 1, progress: bool = False) -> Report:
    """The best noise for a question, beside the usual ones, each certified, with the best possible value.

    With `compose` above 1 the requirement is the total of that many equal releases, and mechanisms
    are ranked after composing the whole plan.
    Guarantees: `report.bound` was proven in balls; every candidate carries a certificate for the
    law that it draws. `progress=True` shows a progress bar on standard error.
    """
    designer = designer_for(query, privacy)
    check_count(compose)
    if compose > 1:
        with progress_bar("design", 4, shown=progress) as step:
            return design_plan(query, privacy, utility, compose, step)
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
