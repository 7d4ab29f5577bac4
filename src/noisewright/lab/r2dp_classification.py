"""Figure 9 of the R2DP paper: naive Bayes with each kind of noise."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import precision_score, recall_score

from noisewright.lab.classification import Task, adult, kdd, made_task
from noisewright.lab.data import dataset
from noisewright.lab.sheets import Panel
from noisewright.learn import NaiveBayes
from noisewright.problem.utilities import Usefulness

NOISES = ("Laplace", "staircase", "two-fold")


def classify(runs: int, rows: int, epsilons: tuple[float, ...]) -> tuple[list[Panel], list[str], str, str]:
    """Panels of precision and recall, the data used, and the verdict on the claim with its numbers."""
    tasks: list[Task] = []
    if path := dataset("adult/adult.parquet"):
        tasks.append(adult(path))
    if path := dataset("kddcup99_10pct/kddcup99_10pct.parquet"):
        tasks.append(kdd(path, rows))
    panels, ahead, worst = [], 0, 0.0
    for task in tasks or [made_task()]:
        scores = {noise: [_scores(task, e, noise, runs) for e in epsilons] for noise in NOISES}
        for k, measure in enumerate(("precision", "recall")):
            curves = {noise: [pair[k] for pair in values] for noise, values in scores.items()}
            panels.append(Panel(f"{task.name}: {measure}", list(epsilons), curves))
        for i in range(len(epsilons)):
            f_one = {noise: _harmonic(*values[i]) for noise, values in scores.items()}
            gain = f_one["two-fold"] - max(f_one["Laplace"], f_one["staircase"])
            ahead += gain > 0
            worst = min(worst, gain)
    names = [f"classification: {task.name}" for task in tasks] or ["classification: made (two classes)"]
    settings = len(tasks or [0]) * len(epsilons)
    text = f"two-fold noise is ahead in {ahead} of {settings} settings (F1, mean of {runs} runs); at worst {worst:+.3f}"
    return panels, names, "holds" if ahead == settings else "fails", text


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _scores(task: Task, epsilon: float, noise: str, runs: int) -> tuple[float, float]:
    found = []
    for _ in range(runs):
        model = NaiveBayes(
            epsilon,
            bounds=task.bounds,
            categorical=task.categorical,
            noise=noise,
            classes=[0, 1],
            utility=Usefulness("0.1"),
        )
        guess = model.fit(*task.train).predict(task.test[0])
        truth = task.test[1]
        found.append((precision_score(truth, guess, zero_division=0), recall_score(truth, guess, zero_division=0)))
    means = np.mean(found, axis=0)
    return float(means[0]), float(means[1])
