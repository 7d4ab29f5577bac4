"""What a plan keeps whatever file it came from, worked out by hand: what a person moves, what it costs, how far off.

Nothing here asks the plan what its questions change; the formulas are those of the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binom

import noisewright as nw
from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.piecewise import Piecewise
from tests.brute import privacy_loss

ROWS = 2
"""How many rows of a person count in a group, as the datasets of `forging` say."""
_DRAWS = 200
_CONFIDENCE = 0.95
_FALSE_ALARM = 1e-10


def moved(question: Any) -> list[int]:
    """How far one person moves each number of a group, by the words of the documentation."""
    kind = type(question).__name__
    if kind in ("Count", "Top", "BinCount", "CellQuestions", "Quantiles"):
        return [1 if getattr(question, "persons", False) else ROWS]
    if kind in ("PersonCount", "Weighted"):
        return [1]
    step = question.range.step
    low, high = (math.floor(Fraction(end) / step + Fraction(1, 2)) for end in question.range.bounds)
    if kind == "Sum" and question.person_bounds is not None:
        return [max(abs(math.floor(Fraction(end) / step + Fraction(1, 2))) for end in question.person_bounds)]
    if kind == "Sum" and not question.centred:
        return [ROWS * max(abs(low), abs(high))]
    centre = (low + high) // 2
    reach = ROWS * max(high - centre, centre - low)
    return [reach] if kind == "Sum" else [ROWS, reach]


def require_right_set(plan: nw.Plan, groups: int) -> None:
    """Each mechanism is for what a person moves, and charged for as many groups as a person is in."""
    for place, block in enumerate(plan.blocks):
        query: Any = block.certified.mechanism.query
        tables = plan.layout.tables if block.table is None else (plan.layout.tables[block.table],)
        for table in tables:
            assert table.groups == (
                groups if table.grouping.private else min(groups, table.grouping.count // table.together)
            )
            wanted = dict.fromkeys(number for question, _ in table.questions for number in moved(question))
            if type(table.strategy).__name__ == "Selecting":
                assert (query.sensitivity, query.integer, place) == (1, True, 0)
            elif hasattr(query, "rows_per_person"):
                assert (query.rows_per_person, query.neighbours) == (ROWS, "add-remove")
            elif type(table.strategy).__name__ == "ByWeights":
                asked: list[Any] = [question for question, _ in table.questions]
                weights = [[*question.weights, 0] for question in asked]
                assert [list(row) for row in query.rationals()] == weights, "who is absent has no weight"
            elif block.table is not None:
                own = query.sensitivity.extents if hasattr(query.sensitivity, "extents") else (query.sensitivity,)
                assert {Fraction(one) for one in own} == {Fraction(one) for one in wanted}


def cost_by_hand(plan: nw.Plan) -> Fraction | None:
    """What all draws that a person changes lose, where each is noise of one number whose loss can be counted."""
    total = Fraction(0)
    for block in plan.blocks:
        law: Any = getattr(block.certified.mechanism, "law", None)
        if block.table is None or not isinstance(law, Piecewise | DiscreteLaplace):
            return None
        table = plan.layout.tables[block.table]
        ((reach,),) = {tuple(moved(question)) for question, _ in table.questions}
        total += table.groups * privacy_loss(law, Fraction(reach))
    return total


@cache
def _truth(count: int) -> tuple[int, ...]:
    return tuple(3 + (7 * i * i) % 11 for i in range(count))


def require_true_widths(plan: nw.Plan) -> None:
    """Of each number about 95 of 100 draws are as near as the plan says; within bounds they are right on average."""
    for place, block in enumerate(plan.blocks):
        if block.table is None:
            truth = _truth(plan.layout.dimension)
            drawn = [list(block.certified.release(list(truth))) for _ in range(_DRAWS)]
            reach = block.certified.half_width(Fraction("0.95"))
            _require_covered(np.array(drawn) - np.array(truth), [float(one) for one in reach])
        else:
            _require_table(block.certified, plan.layout.tables[place])


def _require_table(certified: Any, table: Any) -> None:
    way, widths = table.strategy, [float(one) for one in table.strategy.widths(certified, table, Fraction("0.95"))]
    kind = type(way).__name__
    if kind in ("Selecting", "Following", "ByGroup", "InBounds"):
        truth = _truth(len(table.aggregates))
        rows = [list(truth) if len(truth) > 1 else truth[0]] * _DRAWS
        off = np.array(certified.release_many(rows), float).reshape(_DRAWS, -1) - np.array(truth)
        _require_covered(off, widths)
        if kind == "InBounds":
            assert abs(off.mean()) < 7 * off.std() / math.sqrt(_DRAWS)
        return
    truth = _truth(table.count)
    read, scale = _reader(table)
    wanted = read(truth)
    drawn = [_answers(table, way.drawn(certified, table, truth, None)) for _ in range(_DRAWS)]
    groups = len(wanted) // len(widths)
    _require_covered(
        np.array(drawn, float) / scale - np.array(wanted, float), [*widths] * groups if scale > 1 else widths
    )


def _reader(table: Any) -> tuple[Callable[[Sequence[int]], list[Fraction]], int]:
    """The true answers of linear questions about cells, and what one of them is worth in what is released."""
    if type(table.strategy).__name__ == "ByWeights":
        weights = [question.weights for question, _ in table.questions]
        counts = len(table.aggregates)
        return lambda truth: [sum(map(lambda w, c: 10**6 * w * c, own, truth[::counts])) for own in weights], 1
    rows = [row for question, _ in table.questions for row in question.reading.matrix()]
    size = table.together
    return (
        lambda truth: [
            sum((w * c for w, c in zip(row, truth[start : start + size], strict=True)), Fraction(0))
            for start in range(0, len(truth), size)
            for row in rows
        ],
        2**20,
    )


def _answers(table: Any, released: Sequence[int]) -> list[Fraction]:
    """The answers in what is released: of quantiles the cells are, whose questions are asked here."""
    if type(table.strategy).__name__ != "OverBins":
        return list(map(Fraction, released))
    return _reader(table)[0](released)


def _require_covered(off: Any, widths: Sequence[float]) -> None:
    within = (np.abs(off) <= np.array(widths)).sum(axis=0)
    fewest = binom.ppf(_FALSE_ALARM, _DRAWS, _CONFIDENCE)
    assert within.min() >= fewest, (within, widths)


def charged(plan: nw.Plan) -> Fraction:
    """What a ledger is charged for a plan: its pure epsilon."""
    found: Fraction = plan.price.costs().pure()
    return found
