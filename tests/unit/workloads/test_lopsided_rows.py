"""Random lopsided strategies of every kind under every change, against all changes of one person one by one."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from noisewright.proof.strategies import strategy_l1_sensitivity, strategy_squared_sensitivity
from tests.workloads import M, W, exact_reach, several_rows

MANY = 3_000
CASES = {"dense taxi": 120, "dense length": 120, "blocks": 60, "contrasts": 60, "residuals": 40, "marginals": 40}
KINDS = pytest.mark.parametrize("kind", CASES)


def dense(chance: Random, size: int) -> Any:
    """Columns that are nearly alike, as those of totals are; some cells share one, and one may have none."""
    columns, groups = chance.randint(1, 3), chance.randint(2, 4)
    base = [chance.randint(-6, 6) or 5 for _ in range(groups)]
    alike = chance.choice([0, 0, 1, 4])
    matrix = [[b + chance.randint(-alike, alike) for _ in range(columns)] for b in base]
    places = [*range(1, columns + 1), *(chance.randint(0, columns) for _ in range(max(0, size - columns)))]
    chance.shuffle(places)
    return M.DenseRows(matrix, places)


def levels(chance: Random, count: int) -> list[int]:
    return [chance.choice([1, 2, 3, 9, 40]) for _ in range(count)]


def strategy(kind: str, chance: Random) -> Any:
    """A strategy of this kind, for a person in up to three cells, with one row or two, who may be replaced."""
    size, gaussian = chance.randint(3, 5), chance.random() < 0.5
    asked: dict[str, Any] = {"cells_per_person": chance.choice([1, 2, 2, 3]), "replace": chance.random() < 0.6}
    count = chance.choice([1, 1, 2]) if asked["cells_per_person"] < 3 else 1
    made = {True: M.GaussianStrategy, False: M.LaplaceStrategy}
    if kind.startswith("dense"):
        rows, gaussian = dense(chance, size), kind == "dense length"
        weights = [chance.randint(1, 3) for _ in range(rows.matrix.rows)]
        columns = [sum(w * v for w, v in zip(weights, c, strict=True)) for c in zip(*rows.matrix, strict=True)]
        question = [0 if place == 0 else columns[place - 1] for place in rows.places]
        if len(set(question)) == 1:
            # Nobody who moves from one cell to another changes such a sum.
            asked["cells_per_person"], count = 2, 1
        query = W([question if any(question) else [1] * rows.size], **asked)
        return made[gaussian](query.with_rows(count), rows, levels(chance, 1))
    if kind in ("residuals", "marginals"):
        sizes = chance.choice([[2, 2], [3, 2], [2, 3], [4]])
        axes: list[tuple[int, ...]] = [(), *((i,) for i in range(len(sizes)))]
        chosen = [a for a in axes if len(a) == 1 or chance.random() < 0.6 or kind == "residuals"]
        query = W.marginals(sizes, [a for a in chosen if a], **asked)
        rows = M.ResidualRows(sizes, chosen) if kind == "residuals" else M.MarginalRows(sizes, chosen)
        return made[kind == "residuals"](query.with_rows(count), rows, levels(chance, len(chosen)), 1000)
    branching = chance.choice([2, 3])
    height = 1
    while branching**height < size:
        height += 1
    query = W.ranges(size, **asked).with_rows(count)
    if kind == "blocks":
        heights = [0, *(level for level in range(1, height + 1) if chance.random() < 0.7)]
        return made[gaussian](query, M.BlockRows(size, branching, heights), levels(chance, len(heights)), 1000)
    return made[gaussian or branching > 2](query, M.ContrastRows(size, branching), levels(chance, height + 1), 1000)


def check(kind: str, seed: int) -> None:
    made = strategy(kind, Random(seed))
    query, gaussian = made.query, isinstance(made, M.GaussianStrategy)
    truth = exact_reach(made) if query.rows_per_person == 1 else several_rows(made)
    found = strategy_squared_sensitivity(made) if gaussian else strategy_l1_sensitivity(made)
    cells = query.cells_per_person * query.rows_per_person
    assert truth <= found, f"seed {seed}: {found} for {truth}, {made}"
    if cells == 1 and (not query.replace or kind.startswith("dense")):
        assert found == truth, f"seed {seed}: {found} for {truth}, {made}"
    elif not query.replace:
        assert found <= (cells**2 if gaussian else cells) * truth


@KINDS
def test_no_change_of_one_person_reaches_farther_than_is_proven(kind):
    for seed in range(CASES[kind]):
        check(kind, seed)


@pytest.mark.soak
@KINDS
def test_nor_does_one_in_thousands_of_strategies(kind):
    for seed in range(10**6, 10**6 + MANY):
        check(kind, seed)


def test_cells_that_share_a_column_and_are_left_over_move_by_that_column():
    """Two of three cells come for one that leaves: the total moves by one, which no pair of cells does."""
    made = M.LaplaceStrategy(W.total(3, cells_per_person=2, replace=True), M.DenseRows([[1]], [1, 1, 1]), [1])
    assert exact_reach(made) == 1 <= strategy_l1_sensitivity(made) == Fraction(1)
