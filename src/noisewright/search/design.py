"""`design`: from a question to ranked, certified mechanisms."""

from __future__ import annotations

import warnings
from collections import UserDict
from importlib import import_module
from typing import Any, cast

from noisewright.problem.errors import InvalidInputError, InvalidPrivacyError, InvalidQueryError, InvalidUtilityError
from noisewright.problem.linear import Linear
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Bounded, Choice, Histogram, Scalar, Vector
from noisewright.problem.utilities import Utility
from noisewright.problem.warnings import UnevenNumbersWarning, tell_if_long
from noisewright.problem.workload import Workload
from noisewright.search.designers.scalar_approximate import SCALAR_APPROXIMATE, SCALAR_CONCENTRATED
from noisewright.search.designers.scalar_pure import SCALAR_PURE
from noisewright.search.designers.vector import (
    HISTOGRAM_APPROXIMATE,
    HISTOGRAM_CONCENTRATED,
    HISTOGRAM_PURE,
    VECTOR_APPROXIMATE,
    VECTOR_CONCENTRATED,
    VECTOR_PURE,
)
from noisewright.search.report.designer import Designer, designed, for_one
from noisewright.search.report.report import Report
from noisewright.search.report.shown import progress_bar
from noisewright.search.report.words import uneven_note


class Designers(UserDict[tuple[type, type], Any]):
    """The table of designers; one that is written as "module:NAME" is loaded when it is first asked for.

    One number and several are what most processes ask about, and need a third fewer modules without the others.
    """

    def __getitem__(self, cell: tuple[type, type]) -> Designer:
        found = self.data[cell]
        if hasattr(found, "partition"):
            self.data[cell] = found = _loaded(found)
        return cast(Designer, found)


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"noisewright.search.designers.{module}"), name)


DESIGNERS = Designers(
    {
        (Scalar, PureDP): SCALAR_PURE,
        (Scalar, ApproxDP): SCALAR_APPROXIMATE,
        (Scalar, ProbabilisticDP): SCALAR_APPROXIMATE,
        (Scalar, RenyiDP): SCALAR_CONCENTRATED,
        (Scalar, ZeroConcentratedDP): SCALAR_CONCENTRATED,
        (Vector, PureDP): VECTOR_PURE,
        (Vector, ApproxDP): VECTOR_APPROXIMATE,
        (Vector, ProbabilisticDP): VECTOR_APPROXIMATE,
        (Vector, RenyiDP): VECTOR_CONCENTRATED,
        (Vector, ZeroConcentratedDP): VECTOR_CONCENTRATED,
        (Histogram, PureDP): HISTOGRAM_PURE,
        (Histogram, ApproxDP): HISTOGRAM_APPROXIMATE,
        (Histogram, ProbabilisticDP): HISTOGRAM_APPROXIMATE,
        (Histogram, RenyiDP): HISTOGRAM_CONCENTRATED,
        (Histogram, ZeroConcentratedDP): HISTOGRAM_CONCENTRATED,
        (Bounded, PureDP): "bounded:BOUNDED_PURE",
        (Choice, PureDP): "choice:CHOICE_PURE",
        (Linear, MetricPrivacy): "linear:LINEAR_METRIC",
        (Linear, PureDP): "linear:LINEAR_PURE",
        (Linear, ApproxDP): "linear:LINEAR_APPROXIMATE",
        (Workload, PureDP): "workload:WORKLOAD",
        (Workload, ApproxDP): "workload:WORKLOAD",
        (Workload, RenyiDP): "workload:WORKLOAD",
        (Workload, ZeroConcentratedDP): "workload:WORKLOAD",
    }
)
"""Who designs for which kind of question under which kind of requirement, and for which utilities."""

_LESS = "fewer different numbers, listed differences or cells take less"

EXPLORERS = {
    (Scalar, PureDP): {"two-fold": "two_fold:exploring"},
    (Scalar, ApproxDP): {"two-fold": "two_fold:exploring"},
    (Vector, PureDP): {"two-fold": "two_fold:exploring_several"},
    (Vector, ApproxDP): {"two-fold": "two_fold:exploring_several"},
}
"""Families that are only searched on request: by their name the place of what adds them to a designer."""


def design(
    query: Any,
    *,
    privacy: Any,
    utility: Any,
    compose: int = 1,
    progress: bool | None = None,
    explore: str | None = None,
) -> Report:
    """The best noise for a question, beside the usual ones, each certified, with the best possible value.

    With `compose` above 1 the requirement is the total of that many equal releases: mechanisms are ranked after
    composing the whole plan, `report.best` is one release and `report.plan` all of them, proven.
    `explore="two-fold"` adds every family of two-fold noise at its best parameters, which takes seconds instead of a
    fraction of one. Errors of several numbers that move very differently, added up without weights, make an
    `UnevenNumbersWarning` that names the weights to give; a design of minutes begins with a `LongWorkWarning`.

    Guarantees: `report.bound` was proven in balls; every candidate carries a certificate for the
    law that it draws. A progress bar on standard error appears after two seconds in a terminal or a notebook;
    `progress=True` shows it at once and anywhere, `False` never.

    >>> report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.AbsoluteError())
    >>> report.candidates[0].name, round(report.candidates[0].value, 4)
    ('staircase', 0.9595)
    """
    asked = question_of(query)
    designer = designer_for(asked, privacy, utility)
    if type(compose) is not int or compose != 1:
        from noisewright.search.designers.plan import check_count, plan_designer

        check_count(compose)
    wanted = utility_for(asked, utility)
    if explore is not None:
        if compose > 1:
            raise InvalidInputError("explore works for a single release; leave out compose.", compose=compose)
        designer = explorer_for(explore, asked, privacy)(designer)
    if compose > 1:
        designer = plan_designer(designer, DESIGNERS, asked, privacy, compose)
    if note := uneven_note(asked, wanted):
        warnings.warn(note, UnevenNumbersWarning, stacklevel=2)
    tell_if_long("this design", designer.seconds(asked, privacy, wanted), _LESS)
    with progress_bar("design", designer.steps, shown=progress) as step:
        return designed(designer, asked, privacy, wanted, step)


def question_of(query: Any) -> Any:
    """The question as designers know it: a number with bounds is a kind of question of its own."""
    return getattr(query, "bounded", None) or query


def utility_for(query: Any, utility: Utility) -> Utility:
    """The utility as designers know it: one number is asked for by itself."""
    if hasattr(query, "dimension"):
        utility.check_count(query.dimension)
        return utility
    return for_one(utility)


def explorer_for(explore: str, query: Any, privacy: Any) -> Any:
    """What adds a family to a designer; a clear refusal if there is none."""
    found = EXPLORERS.get((type(query), type(privacy)), {})
    if explore not in found:
        allowed = " or ".join(map(repr, sorted(found))) or "nothing"
        raise InvalidInputError(f"explore is {explore!r}; for this question give {allowed}.", explore=explore)
    return _loaded(found[explore])


def designer_for(query: Any, privacy: Any, utility: Any) -> Designer:
    """The designer for this question, requirement and utility, or a clear refusal before any work."""
    kind = type(query)
    rows = [p for q, p in DESIGNERS if q is kind]
    if not rows:
        allowed = _listed(q for q, _ in DESIGNERS if q is not Bounded)  # asked for as a Scalar with inputs and outputs
        raise InvalidQueryError(f"query is {query!r}; give one of {allowed}.", query=query)
    found: Designer | None = DESIGNERS.get((kind, type(privacy)))
    if found is None:
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}; for a {kind.__name__} question give one of {_listed(rows)}.", privacy=privacy
        )
    if not found.serves(utility):
        raise InvalidUtilityError(
            f"utility is {utility!r}; for a {kind.__name__} question under {type(privacy).__name__} give one of"
            f" {_listed(found.utilities)}.",
            utility=utility,
        )
    return found


def _listed(kinds: Any) -> str:
    return ", ".join(sorted({f"nw.{kind.__name__}(...)" for kind in kinds}))
