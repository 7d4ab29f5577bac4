"""Figure 9 of the R2DP paper: naive Bayes with each kind of noise, and without any."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_score, recall_score

from noisewright.lab.composite.data import rounded_range
from noisewright.lab.sheets import Panel
from noisewright.lab.tables import Table, all_fits, kinds_of, label_of, positive
from noisewright.learn import NaiveBayes
from noisewright.numerics.fields import Floats
from noisewright.problem.utilities import SquaredError, Usefulness

WITHOUT = "no privacy"
RIVALS = ("Laplace", "staircase")
GAMMAS = ("0.05", "0.1")
"""The error bounds that two-fold noise is tuned for, as in the paper."""
_SURE = 3.0
"""Standard errors between two means from which on one is called larger."""

Scores = dict[str, list[Floats]]
"""For each noise and epsilon, a row of precision, recall and F1 for each run."""


class _WithoutNoise(NaiveBayes):
    """The same model from exact counts and sums: the paper's baseline, which keeps nothing private."""

    def _released(self, answers: Any, unit: Fraction, each: Fraction, share: Fraction, most: int) -> Floats:
        return np.array([float(int(answer) * unit) for answer in answers])


def two_fold(gamma: str) -> str:
    """The name of two-fold noise that is tuned for an error bound."""
    return f"two-fold, gamma {gamma}"


def classify(runs: int, rows: int, epsilons: tuple[float, ...]) -> tuple[list[Panel], list[str], str, str]:
    """Panels of precision and recall, the data used, and the verdict on the claim with its numbers."""
    found = tasks(rows)
    panels, compared = [], []
    for task in found or [made_task()]:
        scores = task_scores(task, epsilons, runs)
        for k, measure in enumerate(("precision", "recall")):
            curves = {name: [float(v[:, k].mean()) for v in values] for name, values in scores.items()}
            panels.append(Panel(f"{task.name}: {measure}", list(epsilons), curves))
        compared += [ahead_by(scores, i) for i in range(len(epsilons))]
    names = [f"classification: {task.name}" for task in found] or ["classification: made (two classes)"]
    ahead, behind = (sum(sign * gap > _SURE * error for gap, error in compared) for sign in (1, -1))
    gaps = [gap for gap, _ in compared]
    text = (
        f"the better of two-fold noise for gamma {' and '.join(GAMMAS)} is ahead of the better of Laplace and staircase"
        f" noise in {ahead} of {len(compared)} settings and behind in {behind} (F1, {runs} runs, {_SURE:g} standard"
        f" errors); differences from {min(gaps):+.4f} to {max(gaps):+.4f}"
    )
    return panels, names, "holds" if ahead == len(compared) else "differs" if ahead else "fails", text


def ahead_by(scores: Scores, place: int) -> tuple[float, float]:
    """How much larger the best mean F1 of two-fold noise is than that of its rivals, and the standard error of that."""

    def best(names: tuple[str, ...]) -> tuple[float, float]:
        values = [scores[name][place][:, 2] for name in names]
        means = [(float(v.mean()), float(v.std() / math.sqrt(max(1, len(v) - 1)))) for v in values]
        return max(means)

    ours, theirs = best(tuple(two_fold(g) for g in GAMMAS)), best(RIVALS)
    return ours[0] - theirs[0], math.hypot(ours[1], theirs[1])


def task_scores(task: Task, epsilons: tuple[float, ...], runs: int) -> Scores:
    """Every noise at every epsilon, and the model without noise, which is the same at each."""
    plain = _runs(task, _WithoutNoise, 1.0, "Laplace", SquaredError(), 1)
    found: Scores = {WITHOUT: [plain] * len(epsilons)}
    for noise in RIVALS:
        found[noise] = [_runs(task, NaiveBayes, e, noise, SquaredError(), runs) for e in epsilons]
    for gamma in GAMMAS:
        utility = Usefulness(gamma)
        found[two_fold(gamma)] = [_runs(task, NaiveBayes, e, "two-fold", utility, runs) for e in epsilons]
    return found


def _runs(task: Task, kind: type[NaiveBayes], epsilon: float, noise: str, utility: Any, runs: int) -> Floats:
    rows = []
    for _ in range(runs):
        model = kind(
            epsilon, bounds=task.bounds, categorical=task.categorical, noise=noise, classes=[0, 1], utility=utility
        )
        guess, truth = model.fit(*task.train).predict(task.test[0]), task.test[1]
        precision = float(precision_score(truth, guess, zero_division=0))
        recall = float(recall_score(truth, guess, zero_division=0))
        rows.append((precision, recall, _harmonic(precision, recall)))
    return np.array(rows)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# Tables as naive Bayes sees them: columns, categories, bounds, and a class to guess.


SHIPPED = ("adult/adult.parquet", "kddcup99_10pct/kddcup99_10pct.parquet")
_TASKS = 2
_FEWEST = 200
_MOST_KINDS = 200
_MOST_SPLIT = 60_000
_KNOWN = {
    "age": (17.0, 90.0),
    "fnlwgt": (0.0, 1_000_000.0),
    "education_num": (1.0, 16.0),
    "capital_gain": (0.0, 20_000.0),
    "capital_loss": (0.0, 4_000.0),
    "hours_per_week": (1.0, 99.0),
    "duration": (0.0, 1000.0),
    "src_bytes": (0.0, 1000.0),
    "dst_bytes": (0.0, 1000.0),
}
"""Bounds of columns of the shipped tables that are known without looking at them."""


@dataclass(frozen=True, slots=True)
class Task:
    """Training and test rows, which columns are categorical, and bounds of the others."""

    name: str
    train: tuple[NDArray[np.float64], NDArray[np.int64]]
    test: tuple[NDArray[np.float64], NDArray[np.int64]]
    categorical: dict[int, int]
    bounds: dict[int, tuple[float, float]]


def tasks(rows: int) -> list[Task]:
    """The shipped tables, else the first two tables with something to guess; every few rows of a long one."""
    return [task for _, task in islice(all_fits(SHIPPED, lambda table: task_of(table, rows)), _TASKS)]


def task_of(table: Table, rows: int) -> Task | None:
    """What can be guessed from a table; None where it has no classes, too few rows or no other column."""
    label = label_of(table)
    if label is None or table.rows < _FEWEST:
        return None
    split = table.named("split")
    stride = max(1, table.rows // (rows if split is None else _MOST_SPLIT))
    columns = {name: values[::stride] for name, values in table.columns.items()}
    labels = positive(columns.pop(label))
    parts = None if split is None else columns.pop(split)
    train = np.arange(len(labels)) % 5 != 0 if parts is None else parts == parts[0]
    matrix, categorical, bounds = _encoded(columns, table.name in SHIPPED)
    if not matrix or not 0 < int(labels[train].sum()) < int(train.sum()) or bool(train.all()):
        return None
    values = np.column_stack(matrix)
    return Task(table.name, (values[train], labels[train]), (values[~train], labels[~train]), categorical, bounds)


def _encoded(
    columns: dict[str, NDArray[Any]], shipped: bool
) -> tuple[list[NDArray[np.float64]], dict[int, int], dict[int, tuple[float, float]]]:
    """Columns of numbers with bounds and of categories in whole numbers; what differs from row to row is left out."""
    matrix: list[NDArray[np.float64]] = []
    categorical: dict[int, int] = {}
    bounds: dict[int, tuple[float, float]] = {}
    for column, values in columns.items():
        kinds = kinds_of(values)
        place = len(matrix)
        if np.issubdtype(values.dtype, np.floating):
            if len(kinds) < 2:
                continue
            bounds[place] = (shipped and _KNOWN.get(column.replace("-", "_"))) or rounded_range(tuple(kinds))
            middle = sum(bounds[place]) / 2
            matrix.append(np.where(np.isfinite(values), values, middle))
        elif 2 <= len(kinds) <= _MOST_KINDS:
            categorical[place] = len(kinds) + 1
            places = {kind: i for i, kind in enumerate(kinds)}
            matrix.append(np.array([places.get(v, len(kinds)) for v in values.tolist()], dtype=np.float64))
    return matrix, categorical, bounds


def made_task(rows: int = 4000) -> Task:
    """Data the package makes: two classes that differ in two categories and two numbers, without randomness."""
    index = np.arange(rows)
    labels = (index * 7919 % 1000 < 300).astype(np.int64)
    wave = (index * 0.6180339887) % 1.0
    first = np.floor((wave + 0.35 * labels) * 4) % 5
    second = np.floor(((index * 0.7548776662) % 1.0 + 0.2 * labels) * 3) % 4
    third = (index * 0.5698402910) % 1.0 * 50 + 20 * labels
    fourth = (index * 0.8191725134) % 1.0 * 10 - 3 * labels
    matrix = np.column_stack([first, second, third, fourth])
    train = index % 5 != 0
    bounds = {2: (0.0, 80.0), 3: (-5.0, 10.0)}
    return Task("made", (matrix[train], labels[train]), (matrix[~train], labels[~train]), {0: 5, 1: 4}, bounds)
