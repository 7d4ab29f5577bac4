"""Budgets may be infinite between elements: exact words, closed under triangles, saved and read back."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import noisewright as nw
from noisewright.numerics.distances import float_view, group_budget, lower_squared, upper_distance
from noisewright.numerics.finite_components import finite_components, infinitely_apart
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.metrics import METRICS, Scaled, Sum

W = "infinite"
NOTHING: Any = None
EXAMPLE = nw.Universe.product(gender=["M", "F"], native=["Y", "N"], age=["A", "B"])


def example(unprotected: Any) -> Any:
    """The metric of the paper's Example 1: only the value Y is protected."""
    return nw.metrics.PerValue(
        EXAMPLE, {"gender": unprotected, "native": {"Y": "1/2", "N": unprotected}, "age": unprotected}
    )


def far(metric: Any, i: int, j: int) -> float:
    return math.inf if infinitely_apart(metric, i, j) else math.sqrt(lower_squared(metric, i, j))


def test_example_one_with_infinite_budgets_is_its_formula():
    """Eq. 3 with a + infinity = infinity, element by element."""
    metric, budgets = example(W), {"Y": 0.5}
    for i, j in product(range(8), repeat=2):
        wanted = sum(
            min(budgets.get(a, math.inf), budgets.get(b, math.inf))
            for a, b in zip(EXAMPLE.elements[i], EXAMPLE.elements[j], strict=True)
            if a != b
        )
        assert far(metric, i, j) == wanted
    # Gender and age part the universe into four components of two.
    assert finite_components(metric) == (0, 1, 0, 1, 2, 3, 2, 3)


def test_an_infinite_budget_is_the_limit_of_large_ones():
    large, infinite = example(10**6), example(W)
    for i, j in product(range(8), repeat=2):
        assert far(infinite, i, j) == (far(large, i, j) if far(large, i, j) < 1000 else math.inf)


METRICS_HERE = {
    "matrix": nw.metrics.Matrix([[0, 2, W, W], [2, 0, W, W], [W, W, 0, "1/3"], [W, W, "1/3", 0]]),
    "per attribute": nw.metrics.PerAttribute(EXAMPLE, {"gender": 1, "native": 2, "age": W}),
    "per value": example(W),
    "threshold": nw.metrics.Threshold([(0,), (1,), (2,), (7,), (8,)], within=1, epsilon="1/4"),
    "policy": nw.metrics.Graph([("a", "b", 1), ("c", "d", 2)], nodes=list("abcde"), unjoined=W),
    "scaled": Scaled(example(W), 3),
    "sum": Sum([nw.metrics.PerAttribute(EXAMPLE, [1, 2, W]), nw.metrics.PerAttribute(EXAMPLE, [W, 2, 1])]),
    "absent": nw.metrics.WithAbsent(example(W), 4),
}


@pytest.mark.parametrize("metric", METRICS_HERE.values(), ids=METRICS_HERE)
def test_distances_are_a_metric_with_infinities_and_survive_files_and_copies(metric):
    size = metric.size
    table = [[far(metric, i, j) for j in range(size)] for i in range(size)]
    for i, j, k in product(range(size), repeat=3):
        assert table[i][j] == table[j][i]
        assert table[i][k] <= table[i][j] + table[j][k] + 1e-12
    known = finite_components(metric) or (0,) * size
    assert all((table[i][j] == math.inf) == (known[i] != known[j]) for i, j in product(range(size), repeat=2))
    rows = float_view(metric).rows(0, size)
    for i, j in product(range(size), repeat=2):
        if i < j:
            assert rows[i, j] == pytest.approx(table[i][j], rel=1e-9)
    plain = json.loads(json.dumps(metric.to_dict(), allow_nan=False))
    for again in (METRICS.from_dict(plain), pickle.loads(pickle.dumps(metric))):  # noqa: S301  # our own bytes
        assert again.to_dict() == metric.to_dict()
        assert all(far(again, i, j) == table[i][j] for i, j in product(range(size), repeat=2))


def test_leaving_and_coming_back_joins_components():
    metric = METRICS_HERE["absent"]
    assert finite_components(metric) is None
    assert lower_squared(metric, 0, 7) == 64
    assert lower_squared(metric, 0, 2) == Fraction(1, 4)


def test_no_number_is_made_of_an_infinite_distance():
    metric = METRICS_HERE["matrix"]
    for ask in (lower_squared, upper_distance):
        with pytest.raises(InvalidPrivacyError, match="elements 1 and 2 are infinitely far apart"):
            ask(metric, 1, 2)
    with pytest.raises(InvalidPrivacyError, match="no budget covers"):
        group_budget(metric, [(0, 1), (0, 3)])
    assert group_budget(metric, [(0, 1), (2, 3)]) == Fraction(7, 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nw.metrics.Matrix([[0, math.inf], [math.inf, 0]]), 'write "infinite"'),
        (lambda: nw.metrics.Matrix([[0, NOTHING], [NOTHING, 0]]), "distance from 0 to 1"),
        (lambda: nw.metrics.Matrix([[0, W], [1, 0]]), "symmetric"),
        (lambda: nw.metrics.Matrix([[W, W], [W, 0]]), "itself"),
        (lambda: nw.metrics.Matrix([[0, 1, W], [1, 0, 1], [W, 1, 0]]), "points 0, 1, 2.*infinite"),
        (lambda: nw.metrics.Matrix([[0, W, W, W], [W, 0, 1, W], [W, 1, 0, 1], [W, W, 1, 0]]), "points 1, 2, 3.*inf"),
        (lambda: nw.metrics.Matrix([[0, W, W], [W, 0, W], [W, 1, 0]]), "from 1 to 2 differs"),
        (lambda: nw.metrics.Graph([(0, 1, 1)], nodes=[0, 1, 2]), 'unjoined="infinite"'),
        (lambda: nw.metrics.Graph([(0, 1, 1)], nodes=[0, 1, 2], unjoined="no"), "unjoined is 'no'"),
        (lambda: nw.metrics.PerValue(EXAMPLE, {"gender": 1, "native": 1}), "'age' has no budget"),
        (lambda: nw.metrics.PerValue(EXAMPLE, {"gender": 1, "native": 1, "agge": 1}), "no attribute 'agge'"),
        (lambda: nw.metrics.PerValue(EXAMPLE.elements, {"gender": 1}), "need a Universe"),
        (lambda: nw.metrics.PerValue(EXAMPLE, [1, 1]), "3 values for 2 budgets"),
        (lambda: nw.metrics.PerAttribute(EXAMPLE, [1, 1, math.inf]), 'write "infinite"'),
        (lambda: nw.metrics.Hamming(3, W), "epsilon"),
    ],
)
def test_what_cannot_be_meant_is_refused(make, words):
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        make()


def test_a_file_has_zeros_between_components():
    plain = {"kind": "matrix", "unit": "1", "entries": ["0 1", "1 0"], "note": "", "islands": [0, 1]}
    with pytest.raises(InvalidPrivacyError, match="no finite distance"):
        METRICS.from_dict(plain)
    assert finite_components(METRICS.from_dict({**plain, "entries": ["0 0", "0 0"]})) == (0, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"islands": [0, 0, 0, 0]},
        {"islands": [1, 1, 0, 0]},
        {"islands": [0, 0, 1]},
        {"islands": [0, 1, 1, 1]},
    ],
)
def test_a_file_with_components_that_are_none_is_refused(change):
    plain = METRICS_HERE["matrix"].to_dict()
    with pytest.raises(InvalidPrivacyError):
        METRICS.from_dict({**plain, **change})


def test_a_universe_gives_what_its_rows_give():
    budgets: list[Any] = [{"M": 1, "F": 3}, {"Y": "1/2", "N": 7}, {"A": 2, "B": 2}]
    by_name = dict(zip(EXAMPLE.attributes, budgets, strict=True))
    rows = nw.metrics.PerValue(EXAMPLE.elements, budgets)
    assert nw.metrics.PerValue(EXAMPLE, budgets) == nw.metrics.PerValue(EXAMPLE, by_name) == rows
    assert nw.metrics.PerAttribute(EXAMPLE, [1, 2, 3]) == nw.metrics.PerAttribute(EXAMPLE.elements, [1, 2, 3])


def test_a_detour_through_a_protected_value_is_finite():
    """Three values, one protected: the two others meet by way of it."""
    metric = nw.metrics.PerValue([("a",), ("b",), ("c",)], [{"a": "1/3", "b": W, "c": W}])
    assert lower_squared(metric, 1, 2) == Fraction(4, 9)
    assert metric.note.startswith("1 pairs")
    both = nw.metrics.PerValue([("a",), ("b",), ("c",)], [{"a": "1/3", "b": W, "c": W}], both=True)
    assert finite_components(both) == (0, 1, 2)
