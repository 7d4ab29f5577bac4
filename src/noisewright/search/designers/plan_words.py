"""Why a law won for a plan, and from how many releases on another one would."""

from __future__ import annotations

from typing import Any

from noisewright.search.families.planned import (
    MOST_RELEASES,
    Plan,
    gaussian_wins_by_scale,
    gaussian_wins_from,
    gaussian_wins_shared,
)
from noisewright.search.report.report import Report
from noisewright.search.report.words import limit_text, many, reason, times

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
        wins = gaussian_wins_from(report.query, report.privacy, report.utility)
        told += f" Gaussian noise beats Laplace and staircase noise {_when(wins)}."
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
