"""`design`: from a question to ranked, certified mechanisms."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from noisewright.problem.errors import InvalidInputError, InvalidPrivacyError, InvalidQueryError, InvalidUtilityError
from noisewright.problem.linear import Linear
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Bounded, Choice, Histogram, Scalar, Vector
from noisewright.problem.utilities import Utility
from noisewright.problem.warnings import UnevenNumbersWarning, tell_if_long
from noisewright.problem.workload import Workload
from noisewright.search.designer import Designer, designed, for_one
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
from noisewright.search.report.progress import progress_bar
from noisewright.search.report.render import uneven_note
from noisewright.search.report.report import Report

Loader = Callable[[], Designer]


def _bounded() -> Designer:
    from noisewright.search.designers.bounded import BOUNDED_PURE

    return BOUNDED_PURE


def _choice() -> Designer:
    from noisewright.search.designers.choice import CHOICE_PURE

    return CHOICE_PURE


def _linear_metric() -> Designer:
    from noisewright.search.designers.linear import LINEAR_METRIC

    return LINEAR_METRIC


def _linear_pure() -> Designer:
    from noisewright.search.designers.linear import LINEAR_PURE

    return LINEAR_PURE


def _linear_approximate() -> Designer:
    from noisewright.search.designers.linear import LINEAR_APPROXIMATE

    return LINEAR_APPROXIMATE


def _workload() -> Designer:
    from noisewright.search.designers.workload import WORKLOAD

    return WORKLOAD


class Designers(MutableMapping[tuple[type, type], Designer]):
    """The table of designers; where a row is a function, the designer is loaded when it is first asked for.

    One number and several are what most processes ask about, and need a third fewer modules without the others.
    """

    def __init__(self, rows: Mapping[tuple[type, type], Designer | Loader]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, cell: tuple[type, type]) -> Designer:
        found = self._rows[cell]
        if callable(found):
            self._rows[cell] = found = found()
        return found

    def __setitem__(self, cell: tuple[type, type], designer: Designer) -> None:
        self._rows[cell] = designer

    def __delitem__(self, cell: tuple[type, type]) -> None:
        del self._rows[cell]

    def __iter__(self) -> Iterator[tuple[type, type]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


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
        (Bounded, PureDP): _bounded,
        (Choice, PureDP): _choice,
        (Linear, MetricPrivacy): _linear_metric,
        (Linear, PureDP): _linear_pure,
        (Linear, ApproxDP): _linear_approximate,
        (Workload, PureDP): _workload,
        (Workload, ApproxDP): _workload,
        (Workload, RenyiDP): _workload,
        (Workload, ZeroConcentratedDP): _workload,
    }
)
"""Who designs for which kind of question under which kind of requirement, and for which utilities."""

_LESS = "fewer different numbers, listed differences or cells take less"

Explorer = Callable[[Designer], Designer]


def _two_fold() -> Explorer:
    from noisewright.search.designers.two_fold import exploring

    return exploring


def _two_fold_of_several() -> Explorer:
    from noisewright.search.designers.two_fold import exploring_several

    return exploring_several


EXPLORERS: dict[tuple[type, type], dict[str, Callable[[], Explorer]]] = {
    (Scalar, PureDP): {"two-fold": _two_fold},
    (Scalar, ApproxDP): {"two-fold": _two_fold},
    (Vector, PureDP): {"two-fold": _two_fold_of_several},
    (Vector, ApproxDP): {"two-fold": _two_fold_of_several},
}
"""Families that are only searched on request: by their name what loads that which adds them to a designer."""


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

    Guarantees: `report.bound` was proven in interval arithmetic; every candidate carries a certificate for the
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


def explorer_for(explore: str, query: Any, privacy: Any) -> Explorer:
    """What adds a family to a designer; a clear refusal if there is none."""
    found = EXPLORERS.get((type(query), type(privacy)), {})
    if explore not in found:
        allowed = " or ".join(map(repr, sorted(found))) or "nothing"
        raise InvalidInputError(f"explore is {explore!r}; for this question give {allowed}.", explore=explore)
    return found[explore]()


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
