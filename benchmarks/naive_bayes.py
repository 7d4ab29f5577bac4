"""Naive Bayes on Adult and KDD'99: four kinds of noise, no noise, and diffprivlib, at the same total budget.

Run: python benchmarks/naive_bayes.py [--runs 50] [--rows 100000] [--out naive_bayes.csv]
diffprivlib 0.6.6 needs scikit-learn below 1.9; without it its rows are left out, and the script says so.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from needed import needed

from noisewright.lab.tables import dataset

if TYPE_CHECKING:
    from noisewright.lab.r2dp.classification import Task

metrics: Any = needed("sklearn.metrics")
classification: Any = needed("noisewright.lab.r2dp.classification")
NaiveBayes: Any = classification.NaiveBayes

EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
NOISES = ("tailored", "staircase", "two-fold", "Laplace")


def tasks(rows: int) -> list[Task]:
    """Adult and KDD'99 where the data folder has them."""
    found = []
    if path := dataset("adult/adult.parquet"):
        found.append(classification.adult(path))
    if path := dataset("kddcup99_10pct/kddcup99_10pct.parquet"):
        found.append(classification.kdd(path, rows))
    if not found:
        print("No data folder: running on data the package makes.")
        found.append(classification.made_task())
    return found


def scores(model: Any, task: Task) -> tuple[float, float, float]:
    """Accuracy, precision and recall on the test rows."""
    rows, truth = task.test
    guess = model.predict(rows)
    return (
        float(metrics.accuracy_score(truth, guess)),
        float(metrics.precision_score(truth, guess, zero_division=0)),
        float(metrics.recall_score(truth, guess, zero_division=0)),
    )


def private(task: Task, epsilon: float, noise: str) -> Any:
    """Our classifier with one kind of noise."""
    return NaiveBayes(epsilon, bounds=task.bounds, categorical=task.categorical, noise=noise, classes=[0, 1])


def competitor(task: Task, epsilon: float) -> Any:
    """diffprivlib's classifier at the same total budget; it treats every column as a number."""
    GaussianNB = needed("diffprivlib.models").GaussianNB  # noqa: N806

    columns = range(task.train[0].shape[1])
    pairs = [task.bounds.get(j) or (0.0, float(task.categorical[j] - 1) or 1.0) for j in columns]
    low, high = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    return GaussianNB(epsilon=epsilon, bounds=(low, high))


def main() -> None:
    """Fit, score, print and keep."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=50)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--out", type=Path, default=Path("naive_bayes.csv"))
    chosen = options.parse_args()
    makers: list[tuple[str, Any]] = [(noise, lambda task, e, noise=noise: private(task, e, noise)) for noise in NOISES]
    try:
        import diffprivlib  # noqa: F401

        makers.append(("diffprivlib", competitor))
    except ImportError as error:
        print(f"diffprivlib is left out: {error}")
    rows = []
    for task in tasks(chosen.rows):
        began = time.perf_counter()
        for epsilon, (name, make) in [(None, ("not private", None)), *((e, m) for e in EPSILONS for m in makers)]:
            runs = 1 if make is None else chosen.runs
            found = []
            for _ in range(runs):
                model = NonPrivate(task) if make is None else make(task, epsilon)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(*task.train)
                found.append(scores(model, task))
            means, spreads = np.mean(found, axis=0), np.std(found, axis=0)
            rows.append([task.name, "" if epsilon is None else epsilon, name, runs, *means.round(4), *spreads.round(4)])
            print(*rows[-1], sep="\t", flush=True)
        print(f"{task.name}: {time.perf_counter() - began:.0f} s")
    header = [
        "data",
        "epsilon",
        "noise",
        "runs",
        "accuracy",
        "precision",
        "recall",
        "sd accuracy",
        "sd precision",
        "sd recall",
    ]
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


class NonPrivate(NaiveBayes):  # type: ignore[misc]  # scikit-learn ships no types
    """The same classifier with the counts as they are."""

    def __init__(self, task: Task) -> None:
        super().__init__(32, bounds=task.bounds, categorical=task.categorical, classes=[0, 1])

    def _released(self, answers: Any, unit: Any, each: Any, share: Any, most: int) -> Any:
        return answers * float(unit)


if __name__ == "__main__":
    main()
