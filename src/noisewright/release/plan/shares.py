"""How all tables of a layout get noise under one requirement: with shares of it, or as one question.

*Table by table*, each by its strategy: the tables share the budget where the weighted errors are least, and the
accountant adds up what one person touches. *Jointly*: all numbers are one question whose set is the whole product,
which lets Gaussian losses of several tables be composed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.utilities import SquaredError
from noisewright.release.plan.layout import AnswerTable, Layout
from noisewright.release.plan.noise import Block, Noise, joint_query
from noisewright.release.plan.strategies.by_group import BY_GROUP
from noisewright.search.design import design

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

_GRID = 10**6
_LARGEST_JOINT = 20_000
_POWERS = {PureDP: 2, ApproxDP: 2, ZeroConcentratedDP: 1, RenyiDP: 1}
"""How a squared error falls with the amount that a table gets; absolute errors fall with half of it."""


def several_draws(layout: Layout) -> bool:
    """Whether tables or groups share the requirement; a delta is then left to a design of all numbers at once."""
    return len(layout.tables) > 1 or not layout.tables[0].strategy.alone(layout.tables[0])


def joinable(layout: Layout) -> bool:
    """Whether all numbers can be designed for as one question."""
    return layout.dimension <= _LARGEST_JOINT and all(table.strategy == BY_GROUP for table in layout.tables)


def weights_of(table: AnswerTable, utility: Utility, weights: Mapping[str, Number]) -> list[Fraction]:
    """The weight of each number of a group: that of its question, shared by its groups, against one person's move.

    So tables of many groups are off by as much as a total is, instead of taking the budget from it.
    """
    power = 2 if isinstance(utility, SquaredError) else 1
    found = [Fraction(0)] * len(table.aggregates)
    for question, _ in table.questions:
        weight = parameter(weights.get(question.label, 1), f"the weight of {question.label!r}")
        if weight <= 0:
            raise InvalidUtilityError(f"the weight of {question.label!r} is {weight}; give a positive number.")
        # A strategy may answer a question from other numbers than the question's own: all of them then matter to it.
        own = [table.aggregates.index(number) for number in question.aggregates if number in table.aggregates]
        for place in own or range(len(found)):
            found[place] = max(found[place], weight)
    share = table.grouping.count
    return [weight / (share * size**power) for weight, size in zip(found, table.sensitivities, strict=True)]


def by_table(layout: Layout, privacy: Notion, utility: Utility, weights: Sequence[Sequence[Fraction]]) -> Noise:
    """Each table by its own strategy, with shares of the requirement where the weighted errors are least."""
    touched = [table.strategy.touched(table) for table in layout.tables]
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
    layout: Layout,
    privacy: Notion,
    utility: Utility,
    weights: Sequence[Sequence[Fraction]],
    shares: Sequence[Fraction],
) -> Noise:
    blocks, errors = [], []
    for place, (table, own, share) in enumerate(zip(layout.tables, weights, shares, strict=True)):
        found = table.strategy.proposed(table, privacy if share == 1 else privacy.share(share), utility, own)
        errors.append(found.error)
        blocks.append(Block(found.certified, place, found.name, found.why))
    return Noise(tuple(blocks), tuple(errors))


def jointly(layout: Layout, privacy: Notion, utility: Utility, weights: Sequence[Sequence[Fraction]]) -> Noise:
    """All numbers answered as one question; `weights` are those of the numbers of a group of each table."""
    each = [
        weight for table, own in zip(layout.tables, weights, strict=True) for weight in list(own) * table.grouping.count
    ]
    report = design(joint_query(layout), privacy=privacy, utility=type(utility)(each), progress=False)
    best = report.candidates[0]
    return Noise((Block(report.best, None, best.name, report.why),), (best.value,))
