"""Figures 10 to 12: the Adult histogram, and support vector machines trained on what was released."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.generalized_gaussian_counts import mechanisms, sanitised
from noisewright.lab.pictures import write_table
from noisewright.search.report.plots import new_figure, save

_NUMBERS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
_NAMES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country")
_LABEL = "income"


@dataclass(frozen=True, slots=True)
class People:
    """Distinct rows of a training set with their counts, and a test set."""

    source: str
    rows: list[tuple[Any, ...]]
    counts: NDArray[np.float64]
    test: list[tuple[Any, ...]]


def adult(path: Path | None, *, seed: int, most: int | None = None) -> People:
    """Complete rows split two to one; made-up people where the data are not to be had."""
    rng = np.random.default_rng(seed)
    if path is None:
        rows, source = _made_up(rng), "made-up people (the Adult data were not found)"
    else:
        import pyarrow.parquet

        columns = [*_NUMBERS, *_NAMES, _LABEL, "split"]
        table = pyarrow.parquet.read_table(path, columns=columns).to_pylist()
        complete = [r for r in table if r["split"] == "train" and "?" not in r.values()]
        rows = [tuple(r[c] for c in columns[:-1]) for r in complete]
        source = f"UCI Adult, {len(rows):,} complete training rows"
    order = rng.permutation(len(rows))[:most]
    cut = 2 * len(order) // 3
    counted = Counter(rows[i] for i in order[:cut])
    return People(
        source, list(counted), np.array(list(counted.values()), dtype=np.float64), [rows[i] for i in order[cut:]]
    )


def _made_up(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    rows = []
    for _ in range(3000):
        age, years = int(rng.integers(17, 80)), int(rng.integers(1, 17))
        rich = age / 40 + years / 8 + rng.normal() > 3.4
        names = tuple(f"{name}-{rng.integers(3)}" for name in _NAMES)
        rows.append((age, years, 0, 0, int(rng.integers(10, 70)), *names, ">50K" if rich else "<=50K"))
    return rows


def accuracies(people: People, repeats: int, epsilons: tuple[Fraction, ...]) -> list[list[Any]]:
    """Accuracy of a linear support vector machine on the test set, trained with the released counts as weights."""
    features, labels = _encoded(people.rows, people.rows)
    test_features, truth = _encoded(people.test, people.rows)
    rows: list[list[Any]] = [
        ["original counts", None, None, _accuracy(features, labels, people.counts, test_features, truth), 0.0]
    ]
    for epsilon in epsilons:
        for name, certified in mechanisms(epsilon, Fraction(1, 100), cubic=False).items():
            released = sanitised(people.counts, certified, repeats)
            scores = [_accuracy(features, labels, weights, test_features, truth) for weights in released]
            rows.append([name, float(epsilon), 0.01, float(np.mean(scores)), float(np.std(scores))])
    return rows


def _encoded(rows: list[tuple[Any, ...]], reference: list[tuple[Any, ...]]) -> tuple[Any, NDArray[np.int64]]:
    """Numbers scaled, names as indicator columns; what the reference does not have is left out."""
    count = len(_NUMBERS)
    scale = np.array([[float(v) for v in r[:count]] for r in reference])
    middle, spread = scale.mean(axis=0), scale.std(axis=0) + 1e-9
    numbers = (np.array([[float(v) for v in r[:count]] for r in rows]) - middle) / spread
    parts = [numbers]
    for i in range(count, count + len(_NAMES)):
        values = sorted({r[i] for r in reference})
        parts.append(np.array([[float(r[i] == v) for v in values] for r in rows]))
    return np.hstack(parts), np.array([int(r[-1] == ">50K") for r in rows])


def _accuracy(features: Any, labels: Any, weights: NDArray[np.float64], test: Any, truth: Any) -> float:
    from sklearn.linear_model import SGDClassifier

    used = weights > 0
    if len(set(labels[used])) < 2:
        return float(np.mean(truth == (labels[used][0] if used.any() else 0)))
    machine = SGDClassifier(loss="hinge", alpha=1e-4, max_iter=30, tol=None, average=True, random_state=0)
    machine.fit(features[used], labels[used], sample_weight=weights[used])
    return float(machine.score(test, truth))


def write(out: Path, rows: list[list[Any]]) -> list[Path]:
    """Figure 12 and its table."""
    figure = new_figure(8, 4)
    axis = figure.subplots()
    names = [r[0] if r[1] is None else f"{r[0]}, ε = {r[1]:g}" for r in rows]
    axis.barh(names, [r[3] for r in rows], xerr=[r[4] for r in rows], height=0.6)
    axis.set(xlim=(0.5, 0.9), xlabel="accuracy on the test set")
    axis.invert_yaxis()
    path = out / "figure-12.png"
    save(figure, path)
    header = ["trained on", "epsilon", "delta", "accuracy mean", "accuracy std"]
    return [path, write_table(out / "figure-12.csv", header, rows)]
