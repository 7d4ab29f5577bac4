"""The d_X paper: Figures 2 to 5, the elevation query, and its statements about synthetic data."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.lab.metric.claims import accuracy_claims, city_claims, strategy_claims
from noisewright.lab.metric.data import factors, pair_distances, places_of, random_points
from noisewright.lab.metric.pictures import city_picture, factor_picture, strategy_picture, threshold_picture
from noisewright.lab.metric.policies import blowfish_claims, closure_changes, example_claims, example_files
from noisewright.lab.metric.printed import (
    equal_noise,
    equal_shares,
    parameter_selection,
    parameter_selection_as_printed,
)
from noisewright.lab.reproductions import Reproduction
from noisewright.numerics.fields import Floats
from noisewright.search.programmes.linear import best_ellipse, best_rates
from noisewright.search.report.progress import Advance

SEED = 2020
THRESHOLDS = (2, 4, 8, 16)
_ELLIPSES = 10
NAMES = ("Strategy 1", "Strategy 2", "Strategy 3", "convex Laplace", "elliptical")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run: random queries, random instances for each K, cities, trials of accuracy statements."""

    queries: int = 1000
    instances: int = 100
    dimensions: tuple[int, ...] = tuple(range(1, 11))
    cities: int = 741
    trials: int = 400


def reproduce(out: Path, step: Advance) -> Reproduction:
    """Pictures, tables and claims in full size."""
    return run(out, step, Size())


def run(out: Path, step: Advance, size: Size) -> Reproduction:
    """Pictures, tables and claims in a chosen size."""
    out.mkdir(parents=True, exist_ok=True)
    result = Reproduction("Not all attributes are created equal: d_X-private mechanisms for linear queries")
    step("Figures 1 and 2: an example, synthetic points")
    result.files += example_files(out)
    result.claims += example_claims()
    rng = np.random.default_rng(SEED)
    points = random_points(rng)
    single = factors(rng.uniform(0, 1, (size.queries, len(points))), points)
    tables = {kind: _strategies(kind, size) for kind in ("uniform", "binary")}
    result.files += _write_strategies(out, points, single, tables)
    result.claims += strategy_claims(single, tables, _overspent(200))
    step("Figure 3: places")
    _cities(out, size, result)
    step("Figures 4 and 5: thresholds")
    rows = _thresholds(rng, points, size.queries)
    result.files += [
        _table(out / "figure-04.csv", ["T", "epsilon", "hard rmse", "smooth rmse"], _figure_four(rows)),
        threshold_picture(out / "figure-04.png", rows),
        factor_picture(out / "figure-05.png", rows),
    ]
    result.claims += blowfish_claims(rows, *closure_changes(points))
    step("accuracy statements")
    result.claims += accuracy_claims(size.trials)
    return result


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """For one K: mean squared error over the convex optimum (means), improvement factors (means), gains, worst gap."""

    dimension: int
    ratios: tuple[float, ...]
    factors: tuple[float, ...]
    elliptical: float
    gap: float


def instance(rng: np.random.Generator, kind: str, dimension: int, size: int = 50) -> tuple[Floats, Floats]:
    """A random instance of Section 4.2: signed differences for each pair, and distances."""
    points = random_points(rng, size)
    shape = (dimension, size)
    matrix = rng.uniform(0, 1, shape) if kind == "uniform" else rng.integers(0, 2, shape).astype(np.float64)
    first, second, apart = pair_distances(points)
    return (matrix[:, first] - matrix[:, second]).T, apart


def _strategies(kind: str, size: Size) -> list[StrategyRow]:
    rng = np.random.default_rng(SEED)
    rows = []
    for dimension in size.dimensions:
        ratios, improved, gains, gaps = [], [], [], []
        for i in range(size.instances):
            differences, apart = instance(rng, kind, dimension)
            told = np.abs(differences).max(axis=1) > 0
            pairs = differences[told] / apart[told, None]
            exact = best_rates(np.abs(pairs), np.ones(dimension))
            rates = [f(np.abs(pairs)) for f in (equal_shares, equal_noise, parameter_selection)]
            ratios.append([float((r**-2).sum()) / exact.value for r in rates])
            baseline = np.abs(differences).sum(axis=1).max() / apart.min()
            improved.append([baseline * float(np.exp(np.log(r).mean())) for r in [*rates, exact.point]])
            gaps.append(exact.gap)
            # Elliptical noise is ours: no figure of the paper waits for it, and a tenth of the instances tells enough.
            round_noise = best_ellipse(pairs, np.ones(dimension)) if i % _ELLIPSES == 0 else None
            if round_noise is not None:
                gains.append(2 * exact.value / ((dimension + 1) * round_noise.value))
                gaps.append(round_noise.gap)
        mean = tuple(float(v) for v in np.mean(ratios, axis=0))
        factor = tuple(float(v) for v in np.mean(improved, axis=0))
        rows.append(StrategyRow(dimension, mean, factor, float(np.exp(np.mean(np.log(gains)))), max(gaps)))
    return rows


def _overspent(runs: int) -> tuple[int, int, float]:
    """In how many random runs the printed and the frozen Algorithm 3 overspend, and the worst overspending."""
    rng = np.random.default_rng(SEED)
    printed, frozen, worst = 0, 0, 0.0
    for _ in range(runs):
        differences, apart = instance(rng, "binary", 5)
        told = np.abs(differences).max(axis=1) > 0
        pairs = np.abs(differences[told]) / apart[told, None]
        spent = float((pairs @ parameter_selection_as_printed(np.abs(differences[told]), apart[told])).max())
        printed += spent > 1 + 1e-9
        worst = max(worst, spent)
        frozen += float((pairs @ parameter_selection(pairs)).max()) > 1 + 1e-9
    return printed, frozen, worst


def _write_strategies(out: Path, points: Floats, single: Floats, tables: dict[str, list[StrategyRow]]) -> list[Path]:
    header = [
        "kind",
        "K",
        *(f"mse ratio {n}" for n in NAMES[:3]),
        *(f"factor {n}" for n in NAMES[:4]),
        "elliptical gain",
        "gap",
    ]
    rows = [
        [kind, r.dimension, *r.ratios, *r.factors, r.elliptical, r.gap] for kind, table in tables.items() for r in table
    ]
    return [
        _table(out / "figure-02.csv", header, rows),
        strategy_picture(out / "figure-02.png", points, single, tables),
    ]


def _cities(out: Path, size: Size, result: Reproduction) -> None:
    places = places_of(size.cities)
    variants = [places, places.apart(places.usual_gap / 5)]
    result.data.append(places.source)
    found = []
    for variant in variants:
        rng = np.random.default_rng(SEED)
        spread = factors(rng.uniform(0, 1, (size.queries, len(variant.points))), variant.points)
        elevation = float(factors(variant.elevation[None, :], variant.points)[0])
        found.append((variant, spread, elevation, float(pair_distances(variant.points)[2].min())))
    header = ["places", "closest pair", "mean factor", "median factor", "elevation factor"]
    rows = [[v.source, c, float(s.mean()), float(np.median(s)), e] for v, s, e, c in found]
    result.files += [
        _table(out / "figure-03.csv", header, rows),
        city_picture(out / "figure-03.png", found),
    ]
    result.claims += city_claims(found)


def _thresholds(rng: np.random.Generator, points: Floats, queries: int) -> list[dict[str, Any]]:
    """For each threshold: noise scales at epsilon = 1 of both policies, and of ordinary Laplace, for random queries."""
    first, second, apart = pair_distances(points)
    matrix = rng.uniform(0, 1, (queries, len(points)))
    differences = np.abs(matrix[:, first] - matrix[:, second])
    rows = []
    for limit in THRESHOLDS:
        near = apart <= limit
        smooth = (differences / np.maximum(1.0, apart / limit)).max(axis=1)
        hard = differences[:, near].max(axis=1) if near.any() else np.zeros(queries)
        rows.append(
            {"T": limit, "hard": hard, "smooth": smooth, "plain": np.ptp(matrix, axis=1), "pairs": int(near.sum())}
        )
    return rows


def _figure_four(rows: list[dict[str, Any]]) -> list[list[float]]:
    result = []
    for row in rows:
        for epsilon in (0.1, 0.5, 1.0, 2.0):
            root = 2**0.5 / epsilon
            result.append([row["T"], epsilon, root * float(row["hard"].mean()), root * float(row["smooth"].mean())])
    return result


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path
