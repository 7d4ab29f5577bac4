"""A whole plan as one charge: what the accountant proved of it, in every sum that a ledger may keep."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any, cast

from noisewright.accounting.releases import CertifiedRelease, DeclaredNoise, DeclaredPair, Release
from noisewright.accounting.structure import Plan, total_of
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.costs import NO_DELTA, Costs, EpsilonDelta, MechanismCosts, law_square, squared_of_pure

_BEYOND_LOST, _WORTH_A_DELTA = Fraction(4, 3), Fraction(9, 10)


class PlanCosts:
    """What a plan costs: one point of its proven curve, or the sums of what its parts cost.

    Rule: all parts are fixed before the first is drawn. Squared lengths, concentrations and divergences add up over the
    parts that one person can touch, the largest for each of so many disjoint groups.
    [BunSteinke16, Mironov17, DongRothSu22, theory#composition-and-filters]
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def pure(self) -> Fraction | None:
        """The sum of the largest losses, where nothing is lost beyond it."""
        end, lost = self._plan.end
        return end if not lost else None

    def pair(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The least epsilon of the curve at the delta that can be spared, or the sum of the largest losses.

        Where more is lost altogether than can be spared, the curve is read at a third more than that, if its epsilon
        is worth it. Rule: every point of the curve is proven. [theory#privacy-loss-distributions]
        """
        end, lost = self._plan.end
        found: list[EpsilonDelta] = [] if end is None else [(end, lost)]
        wanted = spare if spare > lost else lost * _BEYOND_LOST
        with suppress(UncertifiedError):
            epsilon = self._plan.epsilon(wanted) if wanted else None
            if epsilon is not None and (spare > lost or end is None or epsilon < _WORTH_A_DELTA * end):
                found.append((epsilon, wanted))
        return min(found, default=None)

    def gaussian(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The sum of the parts' squared lengths and deltas; what the pair implies where a part has none."""
        return _added(self._plan, spare, gaussian=True) or self._implied(spare, squared_of_pure)

    def concentrated(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The sum of the parts' rhos and deltas; what the pair implies where a part has none."""
        return _added(self._plan, spare, gaussian=False) or self._implied(spare, lambda epsilon: epsilon**2 / 2)

    def divergence(self, order: Fraction) -> Fraction | None:
        """The sum of the parts' divergences."""
        with suppress(UncertifiedError, ArithmeticError):
            return self._plan.renyi(order)
        return None

    def metric(self) -> Any | None:
        """Plans are about neighbours, not about a metric."""
        return None

    def _implied(self, spare: Fraction, of: Any) -> EpsilonDelta | None:
        pair = self.pair(spare)
        return None if pair is None else (of(pair[0]), pair[1])


def _added(plan: Plan, spare: Fraction, *, gaussian: bool) -> EpsilonDelta | None:
    found = []
    for thing, times in plan.parts:
        costs = _costs(thing)
        part = costs.gaussian(spare) if gaussian else costs.concentrated(spare)
        if part is None:
            return None
        found.append((part, times))
    return (
        total_of([(part[0], times) for part, times in found], plan.groups),
        total_of([(part[1], times) for part, times in found], plan.groups),
    )


def _costs(thing: Release) -> Costs | MechanismCosts | _Declared:
    """What one part of a plan costs."""
    if isinstance(thing, DeclaredNoise | DeclaredPair):
        return _Declared(thing)
    return thing.certified.costs() if isinstance(thing, CertifiedRelease) else cast("Plan", thing).costs()


class _Declared:
    """What noise known by its law, or a pair, costs; it is charged on the word of whoever composed it."""

    def __init__(self, thing: DeclaredNoise | DeclaredPair) -> None:
        self._thing = thing

    def gaussian(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        if isinstance(self._thing, DeclaredPair):
            return squared_of_pure(self._thing.epsilon), self._thing.delta
        square = law_square(self._thing.law, self._thing.sensitivity)
        return None if square is None else (square, NO_DELTA)

    def concentrated(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        if isinstance(self._thing, DeclaredPair):
            return self._thing.epsilon**2 / 2, self._thing.delta
        with suppress(UncertifiedError):
            return self._thing.rho(), NO_DELTA
        return None
