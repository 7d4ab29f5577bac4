"""Noise for a plan of many equal releases under one total: every family is scaled until the whole plan fits.

Pure, Renyi and concentrated costs of equal releases add up exactly, so each release gets its share of the total and
the usual designer finds its noise. Under (epsilon, delta) composed privacy losses decide: floats look for the scale,
and the accountant proves the plan for the noise that is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.numerics.bisection import first_true
from noisewright.problem.errors import InvalidNumberError, InvalidPrivacyError, SolverError
from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.designers.vector import at_share
from noisewright.search.families.calibration import gaussian_delta_at
from noisewright.search.families.composition import composed, first_guess, largest_rate, pair
from noisewright.search.families.planned import MOST_RELEASES, Candidate, Plan, clamped, gaussian_wins_from, laws_for
from noisewright.search.families.vector_approximate import largest_length
from noisewright.search.report.designer import Designer, Proposal, keeps_to, planned
from noisewright.search.report.report import Report
from noisewright.search.report.shown import Advance
from noisewright.search.report.words import over, reason, times

LARGEST_COUNT = 1_000_000
SHARED = (PureDP, RenyiDP, ZeroConcentratedDP)
_MARGINS = tuple(Fraction(1, n) for n in (10**5, 2 * 10**4, 5000, 1000, 100, 10))
_FEWER_MARGINS = tuple(Fraction(1, n) for n in (10**4, 1000, 100, 10))
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
    if type(privacy) in SHARED:
        kind = f"{designer.over or f'mechanism{over(query)}'} in a plan of {count} equal, independent releases"
        return replace(
            designer,
            propose=partial(_at_shares, designer, count),
            bound=partial(_bound, designer, count),
            check=partial(_check, designer, count),
            why=partial(_why_shared, designer, count),
            notes=partial(_notes, designer, count),
            over=kind,
            settings=settings,
        )
    if type(privacy) is not ApproxDP:
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}; a plan of many releases is designed for a total of nw.PureDP, nw.ApproxDP,"
            " nw.RenyiDP or nw.ZeroConcentratedDP.",
            privacy=privacy,
        )
    propose = _for_one if type(query) is Scalar else partial(_for_several, table)
    why = partial(_why_one if type(query) is Scalar else _why_several, count)
    return Designer(designer.utilities, partial(propose, count), check=designer.check, why=why, settings=settings)


# Costs that add up.


def _share(privacy: Any, count: int) -> Any:
    """What one of so many releases may cost."""
    try:
        return at_share(privacy, count)
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
    return replace(
        report, privacy=_share(report.privacy, count), designer=replace(designer, over=report.designer.over)
    )


def _notes(designer: Designer, count: int, report: Report) -> Iterable[str]:
    yield from designer.notes(_single(designer, count, report)) or ()


def _why_shared(designer: Designer, count: int, report: Report) -> str:
    single = _single(designer, count, report)
    told = designer.why(single) or reason(single)
    return (
        f"{told} Each of the {count} releases has an equal share of the total, since costs of this kind add up; another"
        f" number of releases is a design of its own. The whole plan is proven: report.plan."
    )


# Composed losses: one number.


def _for_one(count: int, query: Scalar, privacy: ApproxDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """The best families for the plan in floats, and the usual ones, each at the largest rate that is proven."""
    plan = Plan(query, privacy, utility, count)
    step("fitting every family to the total")
    sign = -1 if utility.larger_is_better else 1
    ranked = sorted(laws_for(plan), key=lambda found: sign * found.value(utility))
    step("proving the plans")
    for place, found in enumerate(ranked):
        if place < _MOST_PROVEN or found.name in _USUAL:
            yield _proven(found, plan)


def _proven(found: Candidate, plan: Plan) -> Proposal:
    """The family at the first rate below the fitted one for which the accountant proves the whole plan."""
    for margin in _MARGINS:
        slower = replace(found, rate=found.rate * float(1 - margin))
        mechanism = slower.make(slower.rate)
        certified = make_certified(mechanism, slower.requirement(mechanism, plan))
        if keeps_to(certified, plan.count, plan.privacy):
            return Proposal(found.name, certified, found.simplicity, certified.certificate.requirement)
    raise SolverError(f"no plan of {found.name} noise near what was fitted could be proven; report this problem.")


def _why_one(count: int, report: Report) -> str:
    winner, second = report.candidates[:2]
    ratio = winner.value / second.value if report.utility.larger_is_better else second.value / winner.value
    wins = None if report.query.integer else gaussian_wins_from(report.query, report.privacy, report.utility)
    when = f"from {wins} releases on" if wins else f"for no plan of up to {MOST_RELEASES} releases"
    behind = f"{times(ratio)} times worse" if ratio > 1.001 else "practically level"
    crossing = "" if report.query.integer else f" Gaussian noise beats Laplace and staircase noise {when}."
    return (
        f"{winner.name} wins for {count} equal releases with this total: {second.name} noise is next, {behind}."
        f"{crossing} The whole plan is proven: report.plan."
    )


# Composed losses: every other question.


@dataclass(frozen=True, slots=True)
class _Group:
    """Proposals that depend on one amount: what is certified at an amount, and who proposes for it."""

    designer: Designer
    requirement: Callable[[Fraction], Any]
    amount: Fraction


def _for_several(
    table: Table, count: int, query: Any, privacy: ApproxDP, utility: Utility, step: Advance
) -> Iterator[Proposal]:
    """Purely private noise and Gaussian noise, each at the largest amount at which its plan is proven."""
    seen: set[str] = set()
    for group in _groups(table, count, query, privacy):
        found = _fitted(group, seen, count, query, privacy, utility, step)
        seen |= set(found)
        yield from found.values()


def _groups(table: Table, count: int, query: Any, privacy: ApproxDP) -> Iterator[_Group]:
    epsilon, delta = float(privacy.epsilon), float(privacy.delta)
    guess = first_guess(epsilon, delta, count)
    each = largest_rate(lambda rate: composed(pair(rate), count, epsilon) <= delta, guess, 1e-6)
    if (type(query), PureDP) in table:
        yield _Group(table[type(query), PureDP], PureDP, clamped(max(each, epsilon / count)))
    length = largest_length(privacy.epsilon, privacy.delta)
    if (type(query), ZeroConcentratedDP) in table:
        rho = Fraction(length**2 / (2 * count)).limit_denominator(10**15)
        yield _Group(table[type(query), ZeroConcentratedDP], ZeroConcentratedDP, rho)
    else:
        one = Fraction(float(length) / math.sqrt(count)).limit_denominator(10**12)
        yield _Group(table[type(query), ApproxDP], _as_long, one)


def _as_long(length: Fraction) -> ApproxDP:
    """The (epsilon, delta) that Gaussian noise with differences of this many deviations has at epsilon = length."""
    epsilon = clamped(float(length))
    return ApproxDP(epsilon, gaussian_delta_at(float(length), float(epsilon)))


def _fitted(
    group: _Group, seen: set[str], count: int, query: Any, privacy: ApproxDP, utility: Utility, step: Advance
) -> dict[str, Proposal]:
    """By name what was proven, at the largest amounts tried; the best of them at a larger one where there is room."""
    found: dict[str, Proposal] = {}

    def tried(amount: Fraction, wanted: Callable[[str], bool]) -> dict[str, Proposal]:
        requirement = group.requirement(amount)
        proven = {}
        for proposal in group.designer.propose(query, requirement, utility, step):
            if wanted(proposal.name):
                given = proposal.mechanism
                certified = given if type(given) is Certified else make_certified(given, requirement)
                if keeps_to(certified, count, privacy):
                    proven[proposal.name] = replace(proposal, mechanism=certified, requirement=requirement)
        return proven

    missing = True
    for margin in _FEWER_MARGINS:
        names: set[str] = set()
        amount = group.amount * (1 - margin)
        found |= tried(amount, lambda name: names.add(name) or name not in seen | set(found))  # type: ignore[func-returns-value]
        missing = bool(names - seen - set(found))
        if not missing:
            break
    return found | _raised(found, amount, tried, count, privacy, utility)


def _raised(
    found: dict[str, Proposal],
    amount: Fraction,
    tried: Callable[[Fraction, Callable[[str], bool]], dict[str, Proposal]],
    count: int,
    privacy: ApproxDP,
    utility: Utility,
) -> dict[str, Proposal]:
    """The best of a group at a larger amount, where its own losses leave room below the total."""
    if not found:
        return {}
    better = max if utility.larger_is_better else min
    name = better(found, key=lambda each: float(found[each].mechanism.mechanism.expected(utility).mid()))
    if planned(found[name].mechanism, count).delta(privacy.epsilon) > _SLACK * privacy.delta:
        return {}
    best: dict[str, Proposal] = {}

    def holds(larger: Fraction) -> bool:
        proven = tried(larger, lambda each: each == name)
        best.update(proven)
        return bool(proven)

    passes, fails = amount, amount * _RAISE
    for _ in range(_MOST_RAISES):
        if not holds(fails):
            break
        passes, fails = fails, fails * _RAISE
    first_true(holds, fails, passes, relative=Fraction(1, 100))
    return best


def _why_several(count: int, report: Report) -> str:
    winner = report.candidates[0]
    told = f"{winner.name} wins for {count} equal releases with this total"
    others = [c for c in report.candidates if _pure(c) != _pure(winner)]
    if others:
        ratio = winner.value / others[0].value if report.utility.larger_is_better else others[0].value / winner.value
        behind = f"{times(ratio)} times worse" if ratio > 1.001 else "practically level"
        told += f"; {others[0].name}, the best of the {'Gaussian' if _pure(winner) else 'purely private'} kind, is {behind}"
    told += "."
    if others and report.utility.power is not None:
        pure, normal = (winner, others[0]) if _pure(winner) else (others[0], winner)
        wins = _normal_wins_from(report, count, pure.value, normal.value)
        when = f"from about {wins} releases on" if wins else f"in no plan of up to {MOST_RELEASES} releases"
        told += f" With this total Gaussian noise wins {when}."
    return f"{told} The whole plan is proven: report.plan."


def _pure(candidate: Any) -> bool:
    return type(candidate.certified.certificate.requirement) is PureDP


def _normal_wins_from(report: Report, count: int, pure: float, normal: float) -> int | None:
    """About the smallest number of releases from which Gaussian noise wins, by how both scale with their amount."""
    privacy, power = report.privacy, float(report.utility.power)
    epsilon, delta = float(privacy.epsilon), float(privacy.delta)

    def each(releases: int) -> float:
        guess = first_guess(epsilon, delta, releases)
        return largest_rate(lambda rate: composed(pair(rate), releases, epsilon) <= delta, guess, 1e-3)

    usual = each(count)

    def wins(releases: int) -> bool:
        return normal * (releases / count) ** (power / 2) <= pure * (usual / each(releases)) ** power

    for place in range(MOST_RELEASES.bit_length()):
        if wins(1 << place):
            return first_true(wins, (1 << place) // 2, 1 << place)
    return None
