"""Trees of counts under a norm of squares: opendp 2924.

`make_b_ary_tree` there takes the L2 distance of the leaves times the height of the tree for that of all its nodes. But
inner nodes add up what their leaves changed: one more in each of four leaves is a distance of 2, moves the nodes by
(4, 1, 1, 1, 1), hence by the root of 20, and not by at most 2 * 2. Noise for the smaller distance costs more than it
says. The number is certain: this is the title, the text and the example of that issue, and OpenDP 0.16 says 4 for it.

Here a tree is asked for as linear questions about cells, as counts of each level, or through quantiles. What one person
changes is declared for the cells, and what is added up is followed to each number that gets noise.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.mechanisms.strategies.strategy import Strategy

RHO, EPSILON = Fraction(1, 2), Fraction(1)
FOUR, EIGHT = nw.keys("leaf", range(4)), nw.keys("leaf", range(8))


def tree(leaves: int, branching: int) -> list[list[int]]:
    """The nodes of a tree as sums of leaves, the root first."""
    nodes, size = [], leaves
    while size:
        nodes += [[int(first <= i < first + size) for i in range(leaves)] for first in range(0, leaves, size)]
        size //= branching
    return nodes


def dataset(leaves: int) -> nw.Dataset:
    """Three persons with a row in each leaf, and one with as many rows in one leaf."""
    persons = [(person, leaf) for person in range(3) for leaf in range(leaves)] + [(3, 1)] * leaves
    frame = pa.table({"u": [f"person {u}" for u, _ in persons], "leaf": [leaf for _, leaf in persons]})
    return nw.Dataset(frame, "u", name="x", rows_per_group=leaves, groups_per_person=leaves)


def moved(data: nw.Dataset, plan: Any, person: int) -> list[int]:
    """What one person changes of the numbers without noise."""
    everybody, rest = (
        data._checked.true_aggregates(plan.layout, 1),
        data._checked.true_aggregates(plan.layout, 1, leave_out=f"person {person}"),
    )
    difference = [a - b for a, b in zip(everybody, rest, strict=True)]
    assert plan.layout.holds(difference)
    return difference


def cost(certified: Any, change: list[int], *, squares: bool) -> Fraction:
    """What noise costs for a change, by hand: change^2 / (2 variance) of each number, or |change| / scale."""
    mechanism = certified.mechanism
    if not isinstance(mechanism, Strategy):
        pairs = [(Fraction(number), mechanism.law.std**2) for number in change]
    else:
        # The table with the change and without; cells are no less than 0.
        base = [max(0, -number) for number in change]
        with_it = [a + b for a, b in zip(base, change, strict=True)]
        before, after = mechanism.law_given(base), mechanism.law_given(with_it)
        pairs = []
        for group, (one, other) in enumerate(zip(before, after, strict=True)):
            factors = mechanism.rows.factors(group)
            for place, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
                factor = 1 if factors is None else int(factors[place])
                pairs.append((Fraction(b - a, mechanism.fineness), mechanism.level(group) * factor))
    return sum((d**2 / (2 * level) if squares else abs(d) / level for d, level in pairs), Fraction())


def test_the_example_moves_a_tree_by_more_than_its_height_says():
    data = dataset(4)
    plan = data.plan(nw.ask.workload(tree(4, 4), keys=FOUR), privacy=nw.ZeroConcentratedDP(RHO))
    change = moved(data, plan, 0)
    nodes = [sum(w * d for w, d in zip(row, change, strict=True)) for row in tree(4, 4)]
    assert nodes == [4, 1, 1, 1, 1]
    height, leaves = 2, sum(d**2 for d in change)
    variance = Fraction(height**2 * leaves) / (2 * RHO)
    assert sum(d**2 for d in nodes) / (2 * variance) == Fraction(5, 4) * RHO, "noise by that formula is too small"


QUESTIONS = {
    "a tree": nw.ask.workload(tree(4, 4), keys=FOUR),
    "a binary tree": nw.ask.workload(tree(8, 2), keys=EIGHT),
    "every range": nw.ask.workload("ranges", keys=EIGHT),
    "quantiles": nw.ask.quantiles("leaf", ["0.25", "0.5"], edges=[0, 1, 2, 3, 4]),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
@pytest.mark.parametrize("privacy", [nw.ZeroConcentratedDP(RHO), nw.PureDP(EPSILON)], ids=["squares", "sizes"])
def test_whatever_one_person_changes_of_a_tree_costs_no_more_than_is_charged(question: Any, privacy: Any):
    squares = privacy == nw.ZeroConcentratedDP(RHO)
    most = RHO if squares else EPSILON
    data = dataset(question.grouping.count)
    plan = data.plan(question, privacy=privacy)
    certified, rows = plan.blocks[0].certified, plan.layout.tables[0].rows
    dearest = max(cost(certified, moved(data, plan, person), squares=squares) for person in (0, 3))
    assert 0 < dearest <= most
    cells = plan.layout.tables[0].together
    if cells <= 4:
        changes = [list(d) for d in product(range(-rows, rows + 1), repeat=cells) if sum(map(abs, d)) <= rows]
        assert max(cost(certified, change, squares=squares) for change in changes) <= most


def test_levels_that_are_counted_one_by_one_cost_no_more_than_is_charged():
    data = dataset(4)
    questions = [nw.count(name="root"), nw.count(by=FOUR, name="leaves")]
    plan = data.plan(*questions, privacy=nw.ZeroConcentratedDP(RHO))
    for person, change in ((0, [4, 1, 1, 1, 1]), (3, [4, 0, 4, 0, 0])):
        assert moved(data, plan, person) == change
        parts = zip(plan.blocks, plan.layout.split(change), strict=True)
        assert 0 < sum(cost(block.certified, list(part), squares=True) for block, part in parts) <= RHO
