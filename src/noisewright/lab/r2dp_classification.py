"""Figure 9 of the R2DP paper: naive Bayes with each kind of noise, and without any."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.metrics import precision_score, recall_score

from noisewright.lab.classification import Task, made_task, tasks
from noisewright.lab.sheets import Panel
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
