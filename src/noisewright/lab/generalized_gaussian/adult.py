"""Figures 10 to 12: the histogram of people, and support vector machines trained on what was released."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.generalized_gaussian.counts import APPROXIMATE, PROBABLE, mechanisms, sanitised
from noisewright.lab.tables import MADE, Table, first_fit, kinds_of, label_of, positive

_SHIPPED = ("adult/adult.parquet",)
_MOST_ROWS = 60_000
_MOST_KINDS = 60
_MOSTLY_MISSING = 0.2
_MOSTLY_DIFFERENT = 0.3
_PENALTY = 1e-3
_NEWTON_STEPS = 12
_STEPS = 8
_BATCH = 100


@dataclass(frozen=True, slots=True)
class People:
    """Distinct rows of a training set with their counts, and a test set; the first `numbers` columns are numbers."""

    source: str
    rows: list[tuple[Any, ...]]
    counts: NDArray[np.float64]
    test: list[tuple[Any, ...]]
    numbers: int


def people(*, seed: int, most: int | None = None) -> People:
    """Complete rows of a table with two classes, split two to one; made-up people where there is no such table."""
    rng = np.random.default_rng(seed)
    found = first_fit(_SHIPPED, _rows)
    if found is None:
        rows, numbers = _made_up(rng), 3
        source = f"people {MADE}"
    else:
        table, (rows, numbers, label) = found
        source = f"{table.name}, {len(rows):,} complete rows, to guess: {label}"
    order = rng.permutation(len(rows))[: most or _MOST_ROWS]
    cut = 2 * len(order) // 3
    counted = Counter(rows[i] for i in order[:cut])
    counts = np.array(list(counted.values()), dtype=np.float64)
    return People(source, list(counted), counts, [rows[i] for i in order[cut:]], numbers)


def _rows(table: Table) -> tuple[list[tuple[Any, ...]], int, str] | None:
    """Complete rows: numbers, names, class 0 or 1; the first part of a publisher's split where there is one."""
    label = label_of(table)
    if label is None:
        return None
    numbers, names = [], []
    split = table.named("split")
    for column, values in table.columns.items():
        if column in (label, split):
            continue
        numeric = np.issubdtype(values.dtype, np.floating)
        missing = np.isnan(values) if numeric else np.array([v is None for v in values])
        kinds = len(kinds_of(values))
        # A column that differs from row to row, such as a weight or a name, makes every cell of the table its own.
        if missing.mean() > _MOSTLY_MISSING or kinds < 2 or kinds > _MOSTLY_DIFFERENT * table.rows:
            continue
        if numeric:
            numbers.append(column)
        elif kinds <= _MOST_KINDS:
            names.append(column)
    chosen = [table.columns[c].tolist() for c in (*numbers, *names)]
    if not chosen:
        return None
    classes = positive(table.columns[label]).tolist()
    kept = [True] * table.rows
    if split is not None:
        first = next(iter(table.columns[split]))
        kept = [v == first for v in table.columns[split]]
    rows = [
        (*row, c)
        for row, c, keep in zip(zip(*chosen, strict=True), classes, kept, strict=True)
        if keep and not any(v is None or v != v for v in row)
    ]
    return (rows, len(numbers), label) if len({r[-1] for r in rows}) == 2 else None


def _made_up(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    rows = []
    for _ in range(3000):
        age, years = int(rng.integers(17, 80)), int(rng.integers(1, 17))
        rich = age / 40 + years / 8 + rng.normal() > 3.4
        names = tuple(f"kind {rng.integers(3)}" for _ in range(7))
        rows.append((age, years, int(rng.integers(10, 70)), *names, int(rich)))
    return rows


def accuracies(
    chosen: People, repeats: int, epsilons: tuple[Fraction, ...], deltas: tuple[Fraction, ...]
) -> list[list[Any]]:
    """Accuracy of a linear support vector machine on the test set, trained with the released counts as weights."""
    features, signs = _encoded(chosen.rows, chosen)
    test, truth = _encoded(chosen.test, chosen)
    counts = chosen.counts.astype(np.float32)
    first = newton(features, signs, counts)
    score = float(np.mean((test @ first > 0) == (truth > 0)))
    rows: list[list[Any]] = [["original counts", None, None, score, 0.0]]
    for epsilon in epsilons:
        for delta in deltas:
            for name, certified in mechanisms(epsilon, delta, cubic=False).items():
                # The paper's mechanisms at every delta; ours, for comparison, at the first one.
                if delta != deltas[0] and name not in (PROBABLE, APPROXIMATE):
                    continue
                scores: list[float] = []
                for done in range(0, repeats, _BATCH):
                    released = sanitised(chosen.counts, certified, min(_BATCH, repeats - done))
                    machines = trained(features, signs, released.T.astype(np.float32), first)
                    scores += np.mean((test @ machines > 0) == (truth > 0)[:, None], axis=0).tolist()
                shown = None if "pure" in name else float(delta)
                rows.append([name, float(epsilon), shown, float(np.mean(scores)), float(np.std(scores))])
    return rows


def _encoded(rows: list[tuple[Any, ...]], reference: People) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Numbers scaled, names as indicator columns, a column of ones; signs of the classes."""
    count, known = reference.numbers, reference.rows
    parts = [np.ones((len(rows), 1))]
    if count:
        scale = np.array([[float(v) for v in r[:count]] for r in known])
        middle, spread = scale.mean(axis=0), scale.std(axis=0) + 1e-9
        parts.append((np.array([[float(v) for v in r[:count]] for r in rows]) - middle) / spread)
    for i in range(count, len(known[0]) - 1):
        values = sorted({r[i] for r in known})
        parts.append(np.array([[float(r[i] == v) for v in values] for r in rows]))
    signs = np.array([2.0 * r[-1] - 1.0 for r in rows])
    return np.hstack(parts).astype(np.float32), signs.astype(np.float32)


def newton(
    features: NDArray[np.float32], signs: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The linear machine with the least mean squared hinge loss and a small penalty, by Newton's method."""
    machine = np.zeros(features.shape[1])
    exact, total = features.astype(np.float64), float(weights.sum())
    for _ in range(_NEWTON_STEPS):
        short = np.maximum(0.0, 1 - signs * (exact @ machine))
        slope = _PENALTY * machine - 2 * exact.T @ (signs * weights * short) / total
        machine = machine - np.linalg.solve(_bend(exact, weights * (short > 0), total), slope)
    return machine.astype(np.float32)


def _bend(features: NDArray[Any], weights: NDArray[Any], total: float) -> NDArray[np.float64]:
    """The second derivative of the loss where rows with these weights are short of the margin."""
    square = 2 * (features * weights[:, None]).T @ features / total
    return np.asarray(square, dtype=np.float64) + _PENALTY * np.eye(features.shape[1])


def trained(
    features: NDArray[np.float32],
    signs: NDArray[np.float32],
    weights: NDArray[np.float32],
    start: NDArray[np.float32],
) -> NDArray[np.float32]:
    """A machine for each column of weights, all at once, by Newton steps with one common second derivative.

    That derivative is taken at the start, with weights a deviation above their mean: steps are then short enough for
    every column, and a fixed number of them leaves what more would change far below a repeat's own spread.
    """
    total = float(weights[:, 0].sum())
    short = 1 - signs * (features @ start) > 0
    heavy = (weights.mean(axis=1) + weights.std(axis=1)) * short
    inverse = np.linalg.inv(_bend(features, heavy, total)).astype(np.float32)
    machines = np.repeat(start[:, None], weights.shape[1], axis=1)
    signed = features * signs[:, None]
    for _ in range(_STEPS):
        gap = np.maximum(np.float32(0), 1 - signed @ machines)
        gap *= weights
        slope = np.float32(_PENALTY) * machines - np.float32(2 / total) * (signed.T @ gap)
        machines = machines - inverse @ slope
    return machines
