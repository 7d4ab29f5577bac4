"""Why a law won for a plan, and from how many releases on another one would."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.search.families.approximate import float_value
from noisewright.search.families.calibration import Concentrated, pure_epsilon, rounded_up
from noisewright.search.families.composition import of_law, pair_rate
from noisewright.search.families.planned import Plan, pure_laws
from noisewright.search.families.staircase import tuned_staircase
from noisewright.search.report.report import Report
from noisewright.search.report.words import limit_text, many, reason, times

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
