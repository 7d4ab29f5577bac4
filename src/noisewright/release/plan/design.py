"""The noise of a plan: which mechanism answers which numbers, proven together.

Two shapes are tried where both can be. *Table by table*, each in its own way (`ways`): the tables share the budget
where the weighted errors are least, and the accountant adds up what one person touches. *Jointly*: all numbers are one
question whose set is the whole product, which lets Gaussian losses of several tables be composed. The one with the
smaller weighted error is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.accounting.composition import compose
from noisewright.problem.errors import InvalidPrivacyError, InvalidUtilityError, UncertifiedError
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Vector
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.release.ask.weighted import fits_a_metric
from noisewright.release.plan.layout import Layout, Table
from noisewright.release.plan.strategies.by_group import BY_GROUP
from noisewright.sample.certified import Certified
from noisewright.search.design import design

REQUIREMENTS = (PureDP, ApproxDP, ZeroConcentratedDP, RenyiDP)
_GRID = 10**6
_LARGEST_JOINT = 20_000
_POWERS = {PureDP: 2, ApproxDP: 2, ZeroConcentratedDP: 1, RenyiDP: 1}
"""How a squared error falls with the amount that a table gets; absolute errors fall with half of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A certified mechanism and what it answers: each group of one table by itself, or everything (`table` None)."""

    certified: Certified
    table: int | None
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Noise:
    """The blocks of a plan, which together answer every number once, and the weighted error of each."""

    blocks: tuple[Block, ...]
    errors: tuple[float, ...]

    @property
    def value(self) -> float:
        """The weighted error of the whole plan."""
        return math.fsum(self.errors)


def joint_query(layout: Layout) -> Vector:
    """All numbers as one question."""
    return Vector(layout.sensitivity, integer=True)


def charge_of(blocks: Sequence[Block], layout: Layout) -> Any:
    """What is charged: one mechanism, or the composition over the tables of what one person touches of each."""
    first = layout.tables[0]
    alone = blocks[0].table is None or (first.way.alone(first) and not layout.private)
    if len(blocks) == 1 and alone:
        return blocks[0].certified
    tables = [table.way.charge(block.certified, table) for block, table in zip(blocks, layout.tables, strict=True)]
    return tables[0] if len(tables) == 1 else compose(tables)


def require_within(blocks: Sequence[Block], layout: Layout, privacy: Any) -> None:
    """Refuse blocks whose proven cost is above the requirement; the proof, not the search, decides."""
    charge = charge_of(blocks, layout)
    if isinstance(charge, Certified) and charge.certificate.requirement == privacy:
        return
    found, allowed = _spent(charge.costs(), privacy)
    if found is not None and found <= allowed:
        return
    if not isinstance(privacy, ApproxDP) or not _added_up(blocks, layout, privacy):
        raise UncertifiedError("the parts of this plan together were not proven to keep the requirement; refused.")


def _added_up(blocks: Sequence[Block], layout: Layout, privacy: ApproxDP) -> bool:
    """Whether the certified epsilons and deltas of all draws that one person can change add up to a requirement.

    Rule: basic composition; the curve of a composition, which is on a grid, may lie a little above.
    [theory#composition-and-filters]
    """
    epsilon = delta = Fraction(0)
    for block in blocks:
        held: Any = block.certified.certificate.requirement
        table = None if block.table is None else layout.tables[block.table]
        times = 1 if table is None else table.way.touched(table)
        if type(held) not in (PureDP, ApproxDP):
            return False
        epsilon += times * held.epsilon
        delta += times * (held.delta if isinstance(held, ApproxDP) else 0)
    return epsilon <= privacy.epsilon and delta <= privacy.delta


def _spent(costs: Any, privacy: Any) -> tuple[Fraction | None, Fraction]:
    """What is proven of the cost in the words of a requirement, and how much it allows."""
    if isinstance(privacy, ZeroConcentratedDP):
        rho, delta = costs.concentrated() or (None, Fraction(0))
        return (None if delta else rho), privacy.rho
    if isinstance(privacy, MetricPrivacy):
        return None, Fraction(0)
    if isinstance(privacy, RenyiDP):
        return costs.divergence(privacy.alpha), privacy.epsilon
    if isinstance(privacy, ApproxDP):
        epsilon, delta = costs.pair(privacy.delta) or (None, Fraction(0))
        return (None if delta > privacy.delta else epsilon), privacy.epsilon
    return costs.pure(), privacy.epsilon


def designed(layout: Layout, privacy: Any, utility: Any, weights: Mapping[str, Number]) -> Noise:
    """The best noise that was found for a layout; every part certified, the whole within the requirement."""
    require_designable(layout, privacy, utility)
    if layout.private:
        from noisewright.release.plan.splitting import with_selection  # which builds on this module

        return with_selection(layout, privacy, utility, weights)
    own = [weights_of(table, utility, weights) for table in layout.tables]
    relaxed = isinstance(privacy, ApproxDP) and several_draws(layout)
    found = [by_table(layout, PureDP(privacy.epsilon) if relaxed else privacy, utility, own)]
    if relaxed and joinable(layout):
        found.append(jointly(layout, privacy, utility, own))
    best = min(found, key=lambda noise: noise.value)
    require_within(best.blocks, layout, privacy)
    return best


def require_designable(layout: Layout, privacy: Any, utility: Any) -> None:
    """Refuse a requirement or utility that is not designed for over these tables."""
    if fits_a_metric(layout, privacy):
        require_utility(utility)
    else:
        require_served(privacy, utility)
    for table in layout.tables:
        table.way.require_served(table, utility)


def several_draws(layout: Layout) -> bool:
    """Whether tables or groups share the requirement; a delta is then left to a design of all numbers at once."""
    return len(layout.tables) > 1 or not layout.tables[0].way.alone(layout.tables[0])


def joinable(layout: Layout) -> bool:
    """Whether all numbers can be designed for as one question."""
    return layout.dimension <= _LARGEST_JOINT and all(table.way == BY_GROUP for table in layout.tables)


def require_served(privacy: Any, utility: Any) -> None:
    """Refuse a requirement or utility that plans do not know."""
    if type(privacy) not in REQUIREMENTS:
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}; a plan over a table takes PureDP, ApproxDP, ZeroConcentratedDP or RenyiDP.",
            privacy=privacy,
        )
    require_utility(utility)


def require_utility(utility: Any) -> None:
    """Refuse a utility that plans do not know."""
    if type(utility) not in (SquaredError, AbsoluteError) or utility.weights is not None:
        raise InvalidUtilityError(
            f"utility is {utility!r}; give nw.SquaredError() or nw.AbsoluteError(). Each error counts against how far"
            " one person can move its number; weights={question: weight} says which matter more.",
            utility=utility,
        )


def weights_of(table: Table, utility: Any, weights: Mapping[str, Number]) -> list[Fraction]:
    """The weight of each number of a group: that of its question, against how far one person can move it."""
    power = 2 if isinstance(utility, SquaredError) else 1
    found = [Fraction(0)] * len(table.numbers)
    for question, _ in table.questions:
        weight = parameter(weights.get(question.label, 1), f"the weight of {question.label!r}")
        if weight <= 0:
            raise InvalidUtilityError(f"the weight of {question.label!r} is {weight}; give a positive number.")
        # A way may answer a question from other numbers than the question's own: all of them then matter to it.
        own = [table.numbers.index(number) for number in question.numbers if number in table.numbers]
        for place in own or range(len(found)):
            found[place] = max(found[place], weight)
    return [weight / extent**power for weight, extent in zip(found, table.extents, strict=True)]


def by_table(layout: Layout, privacy: Any, utility: Any, weights: Sequence[Sequence[Fraction]]) -> Noise:
    """Each table in its own way, with shares of the requirement where the weighted errors are least."""
    touched = [table.way.touched(table) for table in layout.tables]
    equal = [Fraction(1, sum(touched))] * len(touched)
    first = _with_shares(layout, privacy, utility, weights, equal)
    if len(layout.tables) == 1:
        return first
    power = Fraction(_POWERS[type(privacy)], 1 if isinstance(utility, SquaredError) else 2)
    errors = [error * float(share) ** float(power) for error, share in zip(first.errors, equal, strict=True)]
    second = _with_shares(layout, privacy, utility, weights, _best_shares(errors, touched, float(power)))
    return min(first, second, key=lambda noise: noise.value)


def _best_shares(errors: Sequence[float], touched: Sequence[int], power: float) -> list[Fraction]:
    """Shares x that make sum(error / x^power) least where sum(touched * x) = 1, rounded down to a grid.

    Rule: by Lagrange's condition each x is proportional to (error / touched)^(1 / (power + 1)).
    [theory#sharing-a-budget]
    """
    raw = [(error / times) ** (1 / (power + 1)) for error, times in zip(errors, touched, strict=True)]
    total = math.fsum(times * x for times, x in zip(touched, raw, strict=True))
    shares = [Fraction(max(1, math.floor(x / total * _GRID)), _GRID) for x in raw]
    over = sum((times * share for times, share in zip(touched, shares, strict=True)), Fraction(0))
    return [share / over for share in shares]


def _with_shares(
    layout: Layout, privacy: Any, utility: Any, weights: Sequence[Sequence[Fraction]], shares: Sequence[Fraction]
) -> Noise:
    blocks, errors = [], []
    for place, (table, own, share) in enumerate(zip(layout.tables, weights, shares, strict=True)):
        found = table.way.proposed(table, privacy if share == 1 else privacy.share(share), utility, own)
        errors.append(found.error)
        blocks.append(Block(found.certified, place, found.name, found.why))
    return Noise(tuple(blocks), tuple(errors))


def jointly(layout: Layout, privacy: Any, utility: Any, weights: Sequence[Sequence[Fraction]]) -> Noise:
    """All numbers answered as one question; `weights` are those of the numbers of a group of each table."""
    each = [
        weight for table, own in zip(layout.tables, weights, strict=True) for weight in list(own) * table.grouping.count
    ]
    report = design(joint_query(layout), privacy=privacy, utility=type(utility)(each), progress=False)
    best = report.candidates[0]
    return Noise((Block(report.best, None, best.name, report.why),), (best.value,))
