"""Figure 1 and Example 1 of the d_X paper, and its Section 4.4: budgets by attribute, and Blowfish policies."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.drawing.legends import COLOURS
from noisewright.drawing.style import WIDTH, new_figure, save
from noisewright.lab.metric.data import pair_distances
from noisewright.lab.reproductions import Claim, verdict_of
from noisewright.lab.sheets import write_table
from noisewright.numerics.fields import Floats

ELEMENTS = tuple("".join(letters) for letters in product("MF", "YN", "AB"))
"""Gender, native or not, above or below 18: MYA, MYB, MNA, …"""
COUNTS = (5, 2, 3, 1, 4, 3, 2, 1)
"""An example of a dataset on this universe; the budgets do not depend on it."""
LOW, HIGH = 0.5, 2.0
_NEAR = 0.1
_CLOSE = 1e-12


def example_budgets(low: float = LOW, high: float = HIGH) -> Floats:
    """Equation 3: what is sensitive (native: Y) has the budget `low`, everything else `high`."""

    def budget(first: str, second: str) -> float:
        return low if "Y" in (first, second) else high

    return np.array(
        [[sum(budget(x, y) for x, y in zip(a, b, strict=True) if x != y) for b in ELEMENTS] for a in ELEMENTS]
    )


def scale_of(query: Floats, budgets: Floats) -> float:
    """The scale of Laplace noise for one query: the largest difference over its budget."""
    first, second = np.triu_indices(len(query), 1)
    return float((np.abs(query[first] - query[second]) / budgets[first, second]).max())


def example_files(out: Path) -> list[Path]:
    """Figure 1: the dataset as a histogram, and beside it the budget of every pair of elements."""
    budgets = example_budgets()
    figure = new_figure(WIDTH, 4.4)
    left, right = figure.subplots(1, 2)
    left.bar(ELEMENTS, COUNTS, color=COLOURS[0])
    left.set(xlabel="element (gender, native, age)", ylabel="people", title="an example dataset as a histogram")
    shown = right.imshow(budgets, cmap="viridis")
    right.grid(visible=False)
    right.set_xticks(range(len(ELEMENTS)), ELEMENTS, rotation=90)
    right.set_yticks(range(len(ELEMENTS)), ELEMENTS)
    right.set(title="budget of each pair", xlabel="element", ylabel="element")
    figure.colorbar(shown, ax=right, label="d(i, j)")
    figure.suptitle(f"Example 1: budget {LOW:g} where being native is told apart, {HIGH:g} elsewhere")
    save(figure, out / "figure-01.png")
    rows = [[a, COUNTS[i], *budgets[i].tolist()] for i, a in enumerate(ELEMENTS)]
    return [out / "figure-01.png", write_table(out / "figure-01.csv", ["element", "people", *ELEMENTS], rows)]


def example_claims() -> list[Claim]:
    """What Example 1 says of its distances and of two queries."""
    budgets = example_budgets()
    # Through a third element: the smallest detour of every pair.
    detour = (budgets[:, :, None] + budgets[None, :, :]).min(axis=1)
    broken = int((budgets > detour + _CLOSE).sum())
    native = np.array([float("N" in e) for e in ELEMENTS])
    male = np.array([float("M" in e) for e in ELEMENTS])
    scales = scale_of(native, budgets), scale_of(male, budgets)
    wanted = (1 / LOW, 1 / HIGH)
    right = broken == 0 and np.allclose(scales, wanted) and math.isclose(budgets[0, 7], LOW + 2 * HIGH)
    return [
        Claim(
            "Example 1, Figure 1",
            "Equation 3 is a metric; asking for (N) needs the noise of the sensitive budget, asking for (M) does not",
            f"{broken} of {len(ELEMENTS) ** 3} triples break the triangle inequality; d(1, 8) = {budgets[0, 7]:g};"
            f" scales {scales[0]:g} for (N) and {scales[1]:g} for (M) at budgets {LOW:g} and {HIGH:g}",
            verdict_of(bool(right)),
            "all pairs and triples of the eight elements",
        )
    ]


def closure_changes(points: Floats) -> tuple[int, float]:
    """For thresholds over the points: triples that break the triangle inequality, and what mending it changes.

    The second number is the largest relative change of a noise scale over 20 random queries and four thresholds when
    "epsilon within T, infinite beyond" is replaced by its shortest paths.
    """
    first, second, apart = pair_distances(points)
    rng = np.random.default_rng(len(points))
    broken, change = 0, 0.0
    for limit in (2, 4, 8, 16):
        budgets = np.full((len(points), len(points)), np.inf)
        np.fill_diagonal(budgets, 0.0)
        near = apart <= limit
        budgets[first[near], second[near]] = budgets[second[near], first[near]] = 1.0
        broken += int((budgets[:, None, :] > budgets[:, :, None] + budgets.T[None, :, :] + _CLOSE).sum())
        closed = budgets.copy()
        for k in range(len(points)):
            closed = np.minimum(closed, closed[:, k, None] + closed[None, k, :])
        for query in rng.uniform(0, 1, (20, len(points))):
            before, after = scale_of(query, budgets), scale_of(query, closed)
            change = max(change, abs(after - before) / before if before else float(after > 0))
    return broken, change


def blowfish_claims(rows: list[dict[str, Any]], broken: int, change: float) -> list[Claim]:
    """Section 4.4: what is said of policies, of their errors and of their improvement factors."""
    hard, smooth = ([float(row[name].mean()) for row in rows] for name in ("hard", "smooth"))
    ratios = [s / h if h else math.inf for s, h in zip(smooth, hard, strict=True)]
    alike = sum(abs(ratio - 1) <= _NEAR for ratio in ratios)
    limits = ", ".join(f"{row['T']:g}" for row in rows)
    how = f"noise scales at epsilon 1, averaged over {len(rows[0]['hard'])} random queries"
    return [
        Claim(
            "Section 4.4",
            "a Blowfish policy, epsilon for pairs with a secret and infinity for others, becomes a metric after some"
            " transformation for the triangle inequality",
            f"{broken} triples break it for a threshold; shortest paths mend it and change noise by {change:.1e}",
            verdict_of(change <= _CLOSE),
            "thresholds 2, 4, 8 and 16 on the 50 points, 20 random queries each",
        ),
        Claim(
            "Section 4.4, Figure 4",
            "the average errors under both policies are roughly the same",
            f"smooth over hard at T = {limits}: {_list(ratios)}; within {100 * _NEAR:g} % for {alike} of {len(ratios)}",
            "holds" if alike == len(ratios) else "differs" if alike else "fails",
            how,
        ),
        Claim(
            "Section 4.4, Figure 4",
            "the higher the threshold, the higher the average error",
            f"noise scale at T = {limits}: hard {_list(hard)}, smooth {_list(smooth)}",
            verdict_of(hard == sorted(hard) and smooth == sorted(smooth)),
            how,
        ),
        Claim(
            "Section 4.4, Figure 4",
            "the smooth policy has the higher average error at the same threshold",
            f"smooth over hard: {_list(ratios)}",
            verdict_of(all(s >= h for s, h in zip(smooth, hard, strict=True))),
            how,
        ),
        _factor_claim(rows, how),
    ]


def _factor_claim(rows: list[dict[str, Any]], how: str) -> Claim:
    """Figure 5: medians of the improvement factors at the lowest and the highest threshold."""
    with np.errstate(divide="ignore"):
        medians = [[float(np.median(row["plain"] / row[name])) for name in ("hard", "smooth")] for row in rows]
    (low_hard, low_smooth), (high_hard, high_smooth) = medians[0], medians[-1]
    better, alike = low_hard > low_smooth, abs(high_hard / high_smooth - 1) <= _NEAR
    return Claim(
        "Section 4.4, Figure 5",
        "the improvement factors are similar at a high threshold and better under the hard policy at a low one",
        f"medians at T = {rows[0]['T']:g}: {low_hard:.3g} hard, {low_smooth:.3g} smooth; at T = {rows[-1]['T']:g}:"
        f" {high_hard:.3g} hard, {high_smooth:.3g} smooth",
        "holds" if better and alike else "differs" if better or alike else "fails",
        how,
    )


def _list(values: Any) -> str:
    return ", ".join(f"{v:.3g}" for v in values)
