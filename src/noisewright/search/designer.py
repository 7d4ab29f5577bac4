"""What a designer is, what it refuses, and what becomes of its proposals: measured, certified, ranked by the bound."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InconsistentError, InvalidQueryError, InvalidUtilityError, UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Choice, Scalar
from noisewright.problem.utilities import Utility
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.report.progress import Advance
from noisewright.search.report.report import Candidate, Report, planned

_LOG = logging.getLogger(__name__)
_LARGEST_SCALE = 150.0
_MOST_PARTS = 1 << 16
_LARGEST_GAP = Fraction(10) ** 300
TIE = 1e-6
"""Values this near are equals: the room for rounding errors of real answers makes differences of about 1e-7."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mechanism with a name; among equals the one of lower `simplicity` wins.

    `requirement` is what one release of it is certified for, where that is not the requirement of the design;
    `given` is the certified mechanism where there is one already. `remark` is what is known of it besides.
    """

    name: str
    mechanism: Any
    simplicity: int = 0
    requirement: Any = None
    remark: str = ""
    given: Certified | None = None

    def certified(self, privacy: Any) -> Certified:
        """The mechanism with its certificate."""
        return make_certified(self.mechanism, self.requirement or privacy) if self.given is None else self.given

    def settled(self, privacy: Any, count: int = 1) -> Proposal:
        """The same with its certificate, so many releases of it proven to keep to the total; UncertifiedError else."""
        certified = self.certified(privacy)
        _check_total(self.name, certified, count, privacy)
        return replace(self, given=certified)


def _nothing(*_: Any) -> Any:
    return None


def _at_once(*_: Any) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Designer:
    """One row of the table of questions: which utilities it serves, what it proposes, what nothing can beat.

    `check` refuses what cannot be meant, before any work. `why` is the sentence on the winner where there is more to
    say than usual, `notes` are remarks; both are asked for when somebody reads them. `over` says which mechanisms the
    bound is proven for, `steps` how many steps of progress there are, `settings` what it was made with besides.
    `slow` says that a design takes seconds: it is made for single releases, and budgets compare no mechanisms.
    `seconds` is about how long one takes.
    """

    utilities: tuple[type[Utility], ...]
    propose: Callable[[Any, Any, Any, Advance], Iterable[Proposal]]
    bound: Callable[[Any, Any, Any], Fraction | None] = _nothing
    check: Callable[[Any, Any, Any], None] = _nothing
    why: Callable[[Report], str | None] = _nothing
    notes: Callable[[Report], Iterable[str] | None] = _nothing
    over: str = ""
    steps: int = 4
    settings: tuple[tuple[str, int], ...] = ()
    slow: bool = False
    seconds: Callable[[Any, Any, Any], float] = _at_once

    def serves(self, utility: Any) -> bool:
        """Whether it designs for this kind of utility."""
        return type(utility) in self.utilities

    def restored(
        self,
        query: Any,
        privacy: Any,
        utility: Any,
        held: Sequence[tuple[str, Any, Any, str]],
        left_out: tuple[str, ...],
    ) -> Report:
        """A copied report made again: of each candidate its name, mechanism, requirement and remark."""
        proposals = tuple(Proposal(name, made, i, own, said) for i, (name, made, own, said) in enumerate(held))
        return restored(self, query, privacy, utility, proposals, left_out)


def designed(designer: Designer, query: Any, privacy: Any, utility: Any, step: Advance) -> Report:
    """The report on what a designer proposes; a proposal that the verifier refuses is left out, and logged."""
    designer.check(query, privacy, utility)
    proposals = tuple(designer.propose(query, privacy, utility, step))
    step("proving the bound")
    bound = designer.bound(query, privacy, utility)
    step("certifying")
    proven, refused = settled(proposals, privacy, _releases(designer))
    if refused and not any(p.mechanism.query == query for p in proven):
        raise next(iter(refused.values()))
    left_out = tuple(f"Left out, since it is not proven: {name} ({error})" for name, error in refused.items())
    return _measured(designer, query, privacy, utility, proven, bound, left_out)


def settled(
    proposals: Iterable[Proposal], privacy: Any, count: int = 1
) -> tuple[list[Proposal], dict[str, UncertifiedError]]:
    """Proposals with their certificates, and by name why others have none: those are logged."""
    proven: list[Proposal] = []
    refused: dict[str, UncertifiedError] = {}
    for proposal in proposals:
        try:
            proven.append(proposal.settled(privacy, count))
        except UncertifiedError as error:
            refused[proposal.name] = error
            _LOG.warning("%s is left out: %s", proposal.name, error)
    return proven, refused


def _releases(designer: Designer) -> int:
    return dict(designer.settings).get("compose", 1)


def keeps_to(certified: Certified, count: int, privacy: Any) -> bool:
    """Whether so many equal releases together are proven to meet a requirement."""
    try:
        return _TOTALS[type(privacy)](certified, count, privacy)
    except UncertifiedError:
        return False


_TOTALS: dict[type, Callable[[Certified, int, Any], bool]] = {
    PureDP: lambda c, count, total: _pure_bound(c) * count <= total.epsilon,
    MetricPrivacy: lambda c, count, total: c.certificate.requirement == total.share(Fraction(1, count)),
    ApproxDP: lambda c, count, total: planned(c, count).delta(total.epsilon) <= total.delta,
    RenyiDP: lambda c, count, total: planned(c, count).renyi(total.alpha) <= total.epsilon,
    ZeroConcentratedDP: lambda c, count, total: planned(c, count).zcdp() <= total.rho,
}
"""What is proven of equal releases together. Rule: pure, metric, Renyi and concentrated costs add up.
[theory#composition-and-filters]
"""


def _pure_bound(certified: Certified) -> Fraction:
    """The proven epsilon of one release; raises UncertifiedError where it is certified for something else."""
    requirement: Any = certified.certificate.requirement
    if not requirement.pure:
        raise UncertifiedError(f"refused: {requirement} is no pure privacy.")
    return certified.certificate.bound


def restored(
    designer: Designer,
    query: Any,
    privacy: Any,
    utility: Any,
    proposals: tuple[Proposal, ...],
    left_out: tuple[str, ...] = (),
) -> Report:
    """A report made again from what it holds: everything is measured and proven anew, and nothing more left out."""
    bound = designer.bound(query, privacy, utility)
    proven = [p.settled(privacy, _releases(designer)) for p in proposals]
    return _measured(designer, query, privacy, utility, proven, bound, left_out)


def _measured(
    designer: Designer,
    query: Any,
    privacy: Any,
    utility: Any,
    proven: Sequence[Proposal],
    bound: Fraction | None,
    left_out: tuple[str, ...],
) -> Report:
    """Every proven proposal measured against the bound, in order."""
    found = [(p.simplicity, _candidate(p, query, privacy, utility, bound)) for p in proven]
    # What answers another question than the one that was asked is shown for comparison, below the rest.
    kept = [pair for pair in found if pair[1].certified.mechanism.query == query]
    others = [pair for pair in found if pair not in kept]
    shown = None if bound is None else outward(bound, larger=utility.larger_is_better)
    ranked = (*_ranked(kept, utility), *_ranked(others, utility))
    return Report(query, privacy, utility, ranked, shown, designer, left_out)


def _candidate(proposal: Proposal, query: Any, privacy: Any, utility: Any, bound: Fraction | None) -> Candidate:
    certified = proposal.certified(privacy)
    mechanism = certified.mechanism
    value = mechanism.expected(utility)
    limit = bound if mechanism.query == query else None
    with precision():
        bias = mechanism.bias(BALLS)
        offset = 0.0 if bias.contains(0) else float(bias.mid())
        if not value.is_finite():
            return Candidate(proposal.name, certified, math.inf, None if limit is None else math.inf, offset)
        worst = lower(value) if utility.larger_is_better else upper(value)
        told = mechanism.shown(utility, value, limit)
        error = float(max(upper(value) - Fraction(told), Fraction(told) - lower(value)))
        few = 0 < getattr(query, "dimension", 0) <= _MOST_PARTS and getattr(mechanism, "each_known", True)
        parts = _error_of_each_number(mechanism, utility) if few else ()
    check_bound(proposal.name, (told, worst), limit, larger=utility.larger_is_better)
    gap = relative_gap(worst, limit, larger=utility.larger_is_better)
    return Candidate(proposal.name, certified, told, gap, offset, error, parts, proposal.remark)


def check_bound(name: str, values: Iterable[Fraction | float], bound: Fraction | None, *, larger: bool) -> None:
    """Refuse to tell values that are better than what was proven to be the best possible: one of the two is wrong."""
    if bound is None:
        return
    limit = outward(bound, larger=larger)
    for value in values:
        if value > limit if larger else value < limit:
            raise InconsistentError(
                f"{name} is said to reach {float(value)!r}, which is better than the best possible, {limit!r}: one of"
                " the two is wrong, and neither is told. Nothing was released; report this problem, with the question.",
                value=float(value),
                bound=limit,
            )


def _check_total(name: str, certified: Certified, count: int, privacy: Any) -> None:
    if count > 1 and not keeps_to(certified, count, privacy):
        raise UncertifiedError(
            f"{count} releases with {name} noise together are not proven to keep to {privacy}; refused."
        )


def _error_of_each_number(mechanism: Any, utility: Any) -> tuple[float, ...]:
    """The error of each number; for utilities that look at all together the root of its mean squared error."""
    values = [float(v.mid()) for v in utility.each(mechanism.errors, BALLS)]
    shown = tuple(v**0.5 for v in values) if utility.joint else tuple(values)
    return shown * (int(mechanism.errors.count) // len(shown))


def relative_gap(worst: Fraction, bound: Fraction | None, *, larger: bool) -> float | None:
    """Upper bound of the relative distance between a value's worst end and the bound; infinite beyond all floats."""
    if bound is None:
        return None
    distance = max(Fraction(0), bound - worst if larger else worst - bound)
    if not bound:
        return 0.0 if not distance else math.inf
    gap = distance / bound
    return math.inf if gap > _LARGEST_GAP else float(gap)


def _ranked(found: list[tuple[int, Candidate]], utility: Any) -> list[Candidate]:
    """Best first; among equals the simpler one."""
    sign = -1 if utility.larger_is_better else 1
    ordered = sorted(found, key=lambda pair: sign * pair[1].value)
    ties = [pair for pair in ordered if abs(pair[1].value - ordered[0][1].value) <= TIE * abs(ordered[0][1].value)]
    return [c for _, c in (*sorted(ties, key=lambda pair: pair[0]), *ordered[len(ties) :])]


def outward(bound: Fraction, *, larger: bool) -> float:
    """The bound as a float that still is one."""
    shown = float(bound)
    if shown >= bound if larger else shown <= bound:
        return shown
    return math.nextafter(shown, math.inf if larger else -math.inf)


def check_size(query: Scalar | Choice, utility: Utility) -> None:
    """Refuse values that floats cannot hold."""
    if float(utility.degree) * abs(math.log10(query.sensitivity)) > _LARGEST_SCALE:
        raise InvalidQueryError(
            f"{utility} is beyond what floats can hold for a sensitivity of {show(query.sensitivity)}; measure the"
            " answer in another unit.",
            sensitivity=query.sensitivity,
        )


def check_problem(query: Scalar, privacy: Any, utility: Utility) -> None:
    """Refuse combinations that cannot be meant, before any work, whatever the requirement is."""
    check_size(query, utility)
    if utility.edges and not query.integer and min(utility.edges) < query.sensitivity / 10**9:
        raise InvalidUtilityError(
            "within is less than a billionth of the sensitivity: no real-valued answer comes that close with a"
            " probability worth stating. Give a larger within, or integer=True for whole numbers.",
            within=min(utility.edges),
        )


def for_one(utility: Utility) -> Utility:
    """What counts as good for a single number; weights and limits of several are refused."""
    if utility.weights is not None:
        raise InvalidUtilityError("weights are for several numbers; leave them out for one.", weights=utility.weights)
    utility.check_count(1)
    return utility.alone(0)
