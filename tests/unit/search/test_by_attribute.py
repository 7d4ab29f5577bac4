"""Appendix C's second route: budgets of attributes, spent attribute by attribute."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import noisewright as nw
from noisewright.numerics.distances import lower_squared
from noisewright.proof.certify import certify
from noisewright.search.designers.linear import by_attribute

UNIVERSE = nw.Universe.product(age=[0, 1, 3, 7], sex=["f", "m"], town=["u", "v", "w"])
METRIC = nw.metrics.PerValue(
    UNIVERSE, {"age": {0: 1, 1: "1/2", 3: 2, 7: "3/2"}, "sex": "1/3", "town": {"u": 1, "v": 2, "w": "1/5"}}
)
PRIVACY = nw.MetricPrivacy(METRIC)


def asked(people: int | None = None) -> nw.Linear:
    rows = UNIVERSE.rows()
    return nw.Linear(
        [[r["age"] for r in rows], [int(r["sex"] == "m") for r in rows], [int(r["town"] == "w") for r in rows]],
        people=people,
    )


def scales_by_hand() -> list[float]:
    """The largest difference over distance among the values of each attribute."""
    values = [[0, 1, 3, 7], [0, 1], [0, 0, 1]]
    return [
        max(abs(v[a] - v[b]) / float(table[a][b]) for a, b in product(range(len(v)), repeat=2) if a != b)
        for v, table in zip(values, METRIC.tables, strict=True)
    ]


@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.AbsoluteError(), nw.ErrorQuantile("0.9")], ids=str)
def test_it_is_the_programme_over_all_pairs_in_parts(utility):
    found = by_attribute(asked(), PRIVACY, utility)
    assert found is not None
    assert [float(s) for s in found.mechanism.scales] == pytest.approx(scales_by_hand(), rel=1e-9)
    report = {c.name: c for c in nw.design(asked(), privacy=PRIVACY, utility=utility).candidates}
    assert report["by attribute"].value == pytest.approx(report["metric Laplace"].value, rel=1e-4)
    assert certify(found.mechanism, PRIVACY).bound == 1


def test_every_pair_keeps_its_budget_and_a_bias_pays():
    query = asked(people=12)
    report = {c.name: c for c in nw.design(query, privacy=PRIVACY, utility=nw.SquaredError()).candidates}
    made = report["by attribute"].certified.mechanism
    for i, j in product(range(24), repeat=2):
        spent = sum(
            abs(row[i] - row[j]) * float(step) / float(scale)
            for row, step, scale in zip(made.columns, made.steps, made.scales, strict=True)
        )
        assert spent <= float(lower_squared(METRIC, i, j)) ** 0.5 * (1 + 1e-9)
    assert report["by attribute"].value < 0.9 * report["metric Laplace"].value
    # Eq. 14 on a fine grid of biases, attribute by attribute.
    total = 0.0
    for v, table in zip([[0, 1, 3, 7], [0, 1], [0, 0, 1]], METRIC.tables, strict=True):
        pairs = [(abs(v[a] - v[b]), float(table[a][b])) for a in range(len(v)) for b in range(a)]
        total += min(
            144 * t * t + 2 * max(0.0, *((x - 2 * t) / d for x, d in pairs)) ** 2
            for t in np.linspace(0, max(x for x, _ in pairs) / 2, 20001)
        )
    assert report["by attribute"].value == pytest.approx(total, rel=1e-3)


def test_absolute_errors_trade_a_bias_as_well():
    query = nw.Linear([asked().numerators[0]], people=1)
    best = nw.design(query, privacy=PRIVACY, utility=nw.AbsoluteError()).candidates[0]
    pairs = [
        (abs(a - b), float(METRIC.tables[0][i][j]))
        for i, a in enumerate([0, 1, 3, 7])
        for j, b in enumerate([0, 1, 3, 7])
        if i < j
    ]
    wanted = min(t + max(0.0, *((x - 2 * t) / d for x, d in pairs)) for t in np.linspace(0, 3.5, 70001))
    unbiased = max(x / d for x, d in pairs)
    assert wanted < 0.9 * unbiased
    # Noise on whole steps is a little smaller than its scale.
    assert 0.98 * wanted <= best.value <= wanted * (1 + 1e-6)


def test_a_query_that_reads_two_attributes_takes_the_other_way():
    rows = UNIVERSE.rows()
    mixed = nw.Linear([[r["age"] * (r["sex"] == "m") for r in rows], [int(r["town"] == "w") for r in rows]])
    assert by_attribute(mixed, PRIVACY, nw.SquaredError()) is None
    assert by_attribute(asked(), nw.MetricPrivacy(nw.metrics.Hamming(24, 1)), nw.SquaredError()) is None


def test_an_attribute_without_protection_costs_nothing():
    metric = nw.metrics.PerAttribute(UNIVERSE, {"age": 1, "sex": "infinite", "town": 2})
    found = by_attribute(asked(), nw.MetricPrivacy(metric), nw.SquaredError())
    assert found is not None
    assert found.mechanism.scales == (7, 0, pytest.approx(0.5))
