"""Noise for a plan of many equal releases under one total: every family is scaled until the whole plan fits.

Pure, Renyi and concentrated costs of equal releases add up exactly, so each release gets its share of the total and
the usual designer finds its noise. Under (epsilon, delta) composed privacy losses decide: floats look for the scale,
and the accountant proves the plan for the noise that is drawn. At the end: why a law won, and from how many releases on
another one would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidNumberError, InvalidPrivacyError, SolverError
from noisewright.problem.privacy import ApproxDP, PureDP, ZeroConcentratedDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.search.designer import Designer, Proposal, keeps_to, settled
from noisewright.search.families.approximate import float_value
from noisewright.search.families.calibration import Concentrated, gaussian_delta_at, pure_epsilon, rounded_up
from noisewright.search.families.planned import (
    Candidate,
    Plan,
    clamped,
    laws_for,
    of_law,
    pair_rate,
    pure_laws,
    tailored_for,
)
from noisewright.search.families.scalar_pure import tuned_staircase
from noisewright.search.families.vector import largest_length
from noisewright.search.report.progress import Advance
from noisewright.search.report.render import limit_text, many, reason, rival, times
from noisewright.search.report.report import Report, planned

LARGEST_COUNT = 1_000_000
_KINDS = (PureDP, ZeroConcentratedDP, ApproxDP)
_FINE_MARGINS = tuple(Fraction(1, n) for n in (10**5, 2 * 10**4, 5000, 1000, 100, 10))
_MARGINS = tuple(Fraction(1, n) for n in (10**4, 1000, 100, 10))
_MOST_PROVEN = 3
_USUAL = ("Gaussian", "discrete Gaussian", "Laplace", "discrete Laplace")
_SLACK = Fraction(7, 10)
_RAISE = Fraction(11, 10)
_MOST_RAISES = 6

Table = Mapping[tuple[type, type], Designer]


def check_count(count: int) -> None:
    """How many releases a plan can have."""
    if type(count) is not int or not 1 <= count <= LARGEST_COUNT:
        raise InvalidNumberError(
            f"compose is {count!r}; give how many equal releases are planned, 1 to {LARGEST_COUNT:,}.", given=count
        )


def plan_designer(designer: Designer, table: Table, query: Any, privacy: Any, count: int) -> Designer:
    """The designer for `count` equal releases whose total meets the requirement.

    Guarantees: each candidate's single release is certified, and the plan of it was proven to keep to the total. The
    bound, where the requirement is a sum, is over plans of equal releases that do not depend on one another: each of
    them costs exactly its share then.
    """
    check_count(count)
    settings = (*designer.settings, ("compose", count))
    if not privacy.approximate and not privacy.pointwise:
        kind = f"{rival(designer.over, query)} in a plan of {count} equal, independent releases"
        return replace(
            designer,
            propose=partial(_at_shares, designer, count),
            bound=partial(_bound, designer, count),
            check=partial(_check, designer, count),
            why=partial(_why, designer, count),
            notes=partial(_notes, designer, count),
            over=kind,
            settings=settings,
        )
    if privacy.pointwise:
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}, which is about the values of one release; a plan of many is designed for a total"
            " of nw.PureDP, nw.ApproxDP, nw.RenyiDP, nw.ZeroConcentratedDP or nw.MetricPrivacy.",
            privacy=privacy,
        )
    kinds: dict[type, Designer] = {kind: table[type(query), kind] for kind in _KINDS if (type(query), kind) in table}
    alone = {Scalar: (_for_one, why_one)}
    propose, why = alone.get(type(query), (partial(_for_several, kinds), why_several))
    return replace(
        designer,
        propose=partial(propose, count),
        bound=_no_bound,
        why=partial(why, count),
        notes=_no_bound,
        settings=settings,
    )


def _no_bound(*_: Any) -> None:
    """Nothing is known of what no plan under (epsilon, delta) can beat."""


# Costs that add up.


def _share(privacy: Any, count: int) -> Any:
    """What one of so many releases may cost."""
    try:
        return privacy.share(Fraction(1, count))
    except InvalidPrivacyError as error:
        raise InvalidPrivacyError(
            f"each of {count} releases would have a share of the total that is too small: {error}", privacy=privacy
        ) from None


def _at_shares(
    designer: Designer, count: int, query: Any, privacy: Any, utility: Utility, step: Advance
) -> Iterator[Proposal]:
    share = _share(privacy, count)
    for proposal in designer.propose(query, share, utility, step):
        yield replace(proposal, requirement=share)


def _bound(designer: Designer, count: int, query: Any, privacy: Any, utility: Utility) -> Fraction | None:
    """Of equal releases that do not depend on one another each costs exactly its share, so its own bound holds."""
    return designer.bound(query, _share(privacy, count), utility)


def _check(designer: Designer, count: int, query: Any, privacy: Any, utility: Utility) -> None:
    designer.check(query, _share(privacy, count), utility)


def _single(designer: Designer, count: int, report: Report) -> Report:
    """The report as one release sees it."""
    return replace(report, privacy=_share(report.privacy, count), designer=replace(designer, over=report.designer.over))


def _why(designer: Designer, count: int, report: Report) -> str:
    return why_shared(_single(designer, count, report), count, partial(_share, report.privacy))


def _notes(designer: Designer, count: int, report: Report) -> Iterable[str]:
    yield from designer.notes(_single(designer, count, report)) or ()


# Composed losses: one number.


def _for_one(count: int, query: Scalar, privacy: ApproxDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """The best families for the plan in floats, and the usual ones, each at the largest rate that is proven."""
    plan = Plan(query, privacy, utility, count)
    step("fitting every family to the total")
    sign = -1 if utility.larger_is_better else 1
    ranked = sorted((*laws_for(plan), *tailored_for(plan)), key=lambda found: sign * found.value(utility))
    step("proving the plans")
    wanted = [found for place, found in enumerate(ranked) if place < _MOST_PROVEN or found.name in _USUAL]
    proven = [proposal for found in wanted if (proposal := _proven(found, plan)) is not None]
    if not proven:
        raise SolverError("no plan near what was fitted could be proven; report this problem.")
    yield from proven


def _proven(found: Candidate, plan: Plan) -> Proposal | None:
    """The family at the first rate below the fitted one for which the accountant proves the whole plan."""
    share = float(plan.privacy.epsilon) / plan.count
    # Where no more than its share fits, pure costs add up without any rounding.
    rates = [share] if found.pure and found.rate < share * (1 + 1e-4) else []
    for rate in (*rates, *(found.rate * float(1 - margin) for margin in _FINE_MARGINS)):
        slower = replace(found, rate=rate)
        mechanism = slower.make(slower.rate)
        requirement = slower.requirement(mechanism, plan)
        proven, _ = settled([Proposal(found.name, mechanism, found.simplicity, requirement)], plan.privacy)
        if proven and keeps_to(proven[0].certified(plan.privacy), plan.count, plan.privacy):
            return proven[0]
    return None


# Composed losses: every other question.


@dataclass(frozen=True, slots=True)
class _Group:
    """Proposals that depend on one amount: what is certified at an amount, and who proposes for it."""

    designer: Designer
    requirement: Callable[[Fraction], Any]
    amount: Fraction
    margins: tuple[Fraction, ...]
    """By how much less to try, until all are proven."""


def _for_several(
    kinds: Mapping[type, Designer], count: int, query: Any, privacy: ApproxDP, utility: Utility, step: Advance
) -> Iterator[Proposal]:
    """Purely private noise and Gaussian noise, each at the largest amount at which its plan is proven."""
    seen: set[str] = set()
    for group in _groups(kinds, count, privacy):
        found = _fitted(group, seen, count, query, privacy, utility, step)
        seen |= set(found)
        yield from found.values()


def _groups(kinds: Mapping[type, Designer], count: int, privacy: ApproxDP) -> Iterator[_Group]:
    if PureDP in kinds:
        share, each = privacy.epsilon / count, pair_rate(float(privacy.epsilon), float(privacy.delta), count)
        # At the share itself pure costs add up, without any rounding.
        more = each > float(share) * (1 + 1e-4)
        yield _Group(kinds[PureDP], PureDP, clamped(each) if more else share, _MARGINS if more else (Fraction(0),))
    length = largest_length(privacy.epsilon, privacy.delta)
    if ZeroConcentratedDP in kinds:
        rho = Fraction(length**2 / (2 * count)).limit_denominator(10**15)
        yield _Group(kinds[ZeroConcentratedDP], ZeroConcentratedDP, rho, _MARGINS)
    else:
        one = Fraction(float(length) / math.sqrt(count)).limit_denominator(10**12)
        yield _Group(kinds[ApproxDP], _as_long, one, _MARGINS)


def _as_long(length: Fraction) -> ApproxDP:
    """The (epsilon, delta) that Gaussian noise with differences of this many deviations has at epsilon = length."""
    epsilon = clamped(float(length))
    return ApproxDP(epsilon, gaussian_delta_at(float(length), float(epsilon)))


def _fitted(
    group: _Group, seen: set[str], count: int, query: Any, privacy: ApproxDP, utility: Utility, step: Advance
) -> dict[str, Proposal]:
    """By name what was proven, at the largest amounts tried; the best of them at a larger one where there is room."""
    found: dict[str, Proposal] = {}

    def tried(amount: Fraction, wanted: Callable[[str], bool]) -> tuple[dict[str, Proposal], set[str]]:
        requirement = group.requirement(amount)
        proven, offered = {}, set()
        for proposal in group.designer.propose(query, requirement, utility, step):
            offered.add(proposal.name)
            if wanted(proposal.name):
                for certain in settled([proposal], requirement)[0]:
                    if keeps_to(certain.certified(requirement), count, privacy):
                        proven[proposal.name] = replace(certain, requirement=requirement)
        return proven, offered

    for margin in group.margins:
        amount = group.amount * (1 - margin)
        names = set(found) | seen
        proven, offered = tried(amount, partial(_missing, names))
        found |= proven
        if offered <= names | set(found):
            break
    return found | _raised(found, amount, tried, count, privacy, utility)


def _missing(names: set[str], name: str) -> bool:
    return name not in names


def _raised(
    found: dict[str, Proposal],
    amount: Fraction,
    tried: Callable[[Fraction, Callable[[str], bool]], tuple[dict[str, Proposal], set[str]]],
    count: int,
    privacy: ApproxDP,
    utility: Utility,
) -> dict[str, Proposal]:
    """The best of a group at a larger amount, where its own losses leave room below the total."""
    if not found or amount == privacy.epsilon / count:
        return {}
    better = max if utility.larger_is_better else min
    name = better(found, key=lambda each: float(found[each].mechanism.expected(utility).mid()))
    if planned(found[name].certified(privacy), count).delta(privacy.epsilon) > _SLACK * privacy.delta:
        return {}
    best: dict[str, Proposal] = {}

    def holds(larger: Fraction) -> bool:
        proven, _ = tried(larger, lambda each: each == name)
        best.update(proven)
        return bool(proven)

    passes, fails = amount, amount * _RAISE
    for _ in range(_MOST_RAISES):
        if not holds(fails):
            break
        passes, fails = fails, fails * _RAISE
    first_true(holds, fails, passes, relative=Fraction(1, 100))
    return best


# Why a law won for a plan.


MOST_RELEASES = 4096
"""Up to here somebody looks for where one law begins to beat another."""
_COARSE = 1e-3
_SURE = 1e-5
_LEVEL = 1.001
_PROVEN = "The whole plan is proven: report.plan."


def why_shared(single: Report, count: int, share: Any) -> str:
    """Of a total that is a sum: the reason for one release at its share, which is given for so many releases."""
    told = single.designer.why(single) or reason(single)
    return (
        f"{told} Costs of this kind add up, so each of the {count} releases has an equal share of the total"
        f"{_crossing(single, share)}. {_PROVEN}"
    )


def _crossing(single: Report, share: Any) -> str:
    """For how many releases another law would win, where that is known in closed form."""
    if not hasattr(single.query, "bounded"):
        return ""
    if single.privacy.pure:
        best = single.candidates[0].gap is not None and single.candidates[0].gap < _SURE
        return ", and the same law is best for any number of them" if best else ""
    wins = gaussian_wins_shared(single.query, share, single.utility)
    return f"; Gaussian noise beats staircase noise {_when(wins)}"


def _when(wins: int | None) -> str:
    if wins is None:
        return f"in no plan of up to {MOST_RELEASES} releases"
    return f"from {wins} releases on" if wins > 1 else "in a plan of any length"


def why_one(count: int, report: Report) -> str:
    """Of one number under (epsilon, delta): the winner, the next, and where Gaussian noise begins to win."""
    winner, second = report.candidates[:2]
    told = f"{winner.name} wins for {count} equal releases with this total: {second.name} noise is next,"
    told = f"{told} {_behind(report, winner, second)}; {limit_text(report)}."
    if not report.query.integer:
        problem = (report.query, report.privacy, report.utility)
        told += f" Laplace and staircase noise are beaten by smoother noise {_when(smooth_wins_from(*problem))}, and by"
        told += f" Gaussian noise {_when(gaussian_wins_from(*problem))}."
    return f"{told} {_PROVEN}"


def why_several(count: int, report: Report) -> str:
    """Of every other question: the winner, the best of the other kind of noise, and where Gaussian noise wins."""
    winner = report.candidates[0]
    told = f"{winner.name} {'win' if many(winner.name) else 'wins'} for {count} equal releases with this total"
    other = next((c for c in report.candidates if _pure(c) != _pure(winner)), None)
    if other is None:
        return f"{told}; {limit_text(report)}. {_PROVEN}"
    kind = "Gaussian" if _pure(winner) else "purely private"
    told += f"; {other.name}, the best of the {kind} kind, is {_behind(report, winner, other)};"
    told = f"{told} {limit_text(report)}."
    if report.utility.power is not None:
        pure, normal = (winner, other) if _pure(winner) else (other, winner)
        plan = Plan(report.query, report.privacy, report.utility, count)
        wins = gaussian_wins_by_scale(plan, pure.value, normal.value)
        told += f" With this total Gaussian noise wins {_when(wins).replace('from', 'from about')}."
    return f"{told} {_PROVEN}"


def _behind(report: Report, winner: Any, other: Any) -> str:
    ratio = winner.value / other.value if report.utility.larger_is_better else other.value / winner.value
    return f"{times(ratio)} times worse" if ratio > _LEVEL else "practically level"


def _pure(candidate: Any) -> bool:
    return bool(candidate.certified.certificate.requirement.pure)


def gaussian_wins_from(query: Scalar, privacy: ApproxDP, utility: Utility) -> int | None:
    """Smallest number of equal releases from which Gaussian noise beats Laplace and staircases; None up to 4096."""

    def wins(count: int) -> bool:
        plan = Plan(query, privacy, utility, count)
        normal = float_value(Gaussian(plan.std), utility)
        return all(plan.better(normal, rival.value(utility)) for rival in pure_laws(plan))

    return _first(wins)


def smooth_wins_from(query: Scalar, privacy: ApproxDP, utility: Utility) -> int | None:
    """The same for logistic noise and generalized Gaussian noise of power 3/2, which win earlier."""
    families: tuple[Callable[[Fraction], Any], ...] = (Logistic, partial(GeneralizedGaussian, Fraction(3, 2)))
    reach = float(query.sensitivity)

    def wins(count: int) -> bool:
        plan = Plan(query, privacy, utility, count)
        pure = [rival.value(utility) for rival in pure_laws(plan)]

        def best(law: Callable[[Fraction], Any]) -> float:
            rate = plan.fitted(lambda r: of_law(law(query.sensitivity / Fraction(r)), reach, reach / r), _COARSE)
            return float_value(law(query.sensitivity / Fraction(rate)), utility)

        return any(all(plan.better(value, other) for other in pure) for value in map(best, families))

    return _first(wins)


def gaussian_wins_shared(query: Scalar, share: Callable[[int], Concentrated], utility: Utility) -> int | None:
    """The same where costs add up: Gaussian noise against staircases, at the share of each of so many releases."""

    def wins(count: int) -> bool:
        epsilon = pure_epsilon(share(count))
        std = query.sensitivity * rounded_up(math.sqrt(float(1 / (2 * share(count).gaussian_rho))))
        if epsilon is None:
            return True
        rival = float(tuned_staircase(query, epsilon, utility).expected(utility, FLOATS))
        normal = float_value(Gaussian(std), utility)
        return normal >= rival if utility.larger_is_better else normal <= rival

    return _first(wins)


def _first(wins: Callable[[int], bool]) -> int | None:
    """The smallest number of releases from which on something holds, None up to 4096."""
    for power in range(MOST_RELEASES.bit_length()):
        if wins(1 << power):
            return first_true(wins, (1 << power) // 2, 1 << power)
    return None


def gaussian_wins_by_scale(plan: Plan, pure: float, normal: float) -> int | None:
    """About the same for any question, from two values of the plan and how noise of both kinds grows with its length.

    Valid for: utilities that are powers of the error.
    """
    power, totals = float(plan.utility.power), (float(plan.privacy.epsilon), float(plan.privacy.delta))
    usual = pair_rate(*totals, plan.count)

    def wins(count: int) -> bool:
        growth = usual / pair_rate(*totals, count, _COARSE)
        return bool(normal * (count / plan.count) ** (power / 2) <= pure * growth**power)

    return _first(wins)
