"""Designs of bounded answers for every utility: the programme, its charges and the bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import uniform_grid
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.cache import Cache
from noisewright.search.families.bounded_optimum import solved
from noisewright.search.programmes.bounded import Multipliers, Programme, solve
from noisewright.search.programmes.layout import BITS, Size, bound_programme, charges, charges_below, design_programme
from tests.bounded import few_forms, question

ONE = Fraction(1)
ASKED = nw.Scalar(1, inputs=(0, 1), outputs=(-2, 3), unbiased=True)
LOSSES: list[Any] = [
    nw.PowerError("1/3"),
    nw.AbsoluteError(),
    nw.PowerError("3/2"),
    nw.SquaredError(),
    nw.PowerError("7/2"),
    nw.Usefulness("0.37"),
    nw.Usefulness("1/2"),
]


def loss(utility: Any, size: np.ndarray) -> np.ndarray:
    if utility.edges:
        return (size > float(utility.edges[0]) + 1e-12) * 1.0
    return size ** float(utility.power)


def uneven(query: Any) -> Programme:
    values = tuple(Fraction(v, 60) for v in (-120, -119, -60, -31, -30, 0, 1, 7, 30, 41, 60, 97, 180))
    return Programme(query, ONE, uniform_grid(*query.inputs, 5), values, (5,) * 6, None)


@pytest.mark.parametrize("utility", LOSSES, ids=str)
def test_what_is_charged_for_sure_is_never_above_the_loss_wherever_outputs_are(utility):
    """A release between two outputs is rounded to them at random: what that costs lies on the line between."""
    programme = uneven(question(margin="2"))
    charged = charges_below(programme, utility)
    outputs = np.array([float(v) for v in programme.values])
    between = np.unique(np.concatenate([np.linspace(-2, 3, 4001), outputs]))
    for point, costs in zip(programme.grid.points, charged.costs, strict=True):
        line = np.interp(between, outputs, np.array([c / 2**BITS for c in costs]))
        assert (line <= loss(utility, np.abs(between - float(point))) + 1e-9).all()
        assert max(costs) > 0


@pytest.mark.parametrize("utility", LOSSES, ids=str)
def test_fine_outputs_are_charged_nearly_the_loss(utility):
    programme = design_programme(question(margin="2"), ONE, utility, Size(10, 1000))
    charged = np.array(charges_below(programme, utility).costs, dtype=np.float64) / 2**BITS
    missing = charges(programme, utility) - charged
    assert missing.mean() < 0.01
    assert missing.min() > -1e-9


def random_multipliers(programme: Programme, seed: int) -> Multipliers:
    draw = np.random.default_rng(seed)
    rows = programme.grid.last + 1
    empty = np.zeros(0, dtype=np.int64)
    counts, mass, mean = draw.random(rows), draw.random(rows) / rows, draw.normal(size=rows) / rows
    return Multipliers(counts, mass, mean, (empty, empty, np.zeros((0, len(programme.values)))))


@pytest.mark.parametrize("utility", LOSSES, ids=str)
def test_no_multipliers_raise_the_bound_above_what_is_reached(utility):
    """A mechanism on other, finer outputs pays at least what coarse programmes prove."""
    query = question(margin="2")
    fine = solved(query, ONE, utility, Size(12, 150), lambda _: None, Cache(None)).mechanism
    assert fine is not None
    value = float(fine.expected(utility).mid())
    paid = 1 - value if utility.larger_is_better else value
    for outputs in (6, 11, 40):
        programme, _ = bound_programme(design_programme(query, ONE, utility, Size(4, outputs)), utility)
        found = [solve(programme, c).multipliers for c in (charges(programme, utility), programme.distances**2)]
        bounds = [certified_lower(programme, m, utility) for m in (*found, random_multipliers(programme, outputs))]
        assert float(max(bounds)) <= paid + 1e-9


@pytest.mark.parametrize(
    ("utility", "gap"),
    [
        (nw.AbsoluteError(), 0.02),
        (nw.LargestError(), 0.02),
        (nw.PowerError(3), 0.02),
        (nw.PowerError("1/2"), 0.2),
        (nw.Usefulness("0.5"), 0.3),
        (nw.ErrorQuantile("0.9"), None),
    ],
    ids=str,
)
@pytest.mark.parametrize("all_forms", [pytest.param(True, marks=pytest.mark.soak), False])
def test_every_utility_is_designed_for_as_a_worst_case(utility, gap, all_forms, monkeypatch):
    if not all_forms:
        few_forms(monkeypatch, "two-point", "piecewise", "A1B1", "hybrid", "truncated Laplace")
    report = nw.mechanisms.design_bounded(ASKED, privacy=nw.PureDP(1), utility=utility, inputs=20, outputs=160)
    values = {c.name: c.value for c in report.candidates if c.certified.mechanism.query == report.query}
    assert {"two-point", "piecewise", "A1B1", "hybrid", "linear programme"} <= values.keys()
    best = max(values.values()) if utility.larger_is_better else min(values.values())
    assert report.candidates[0].value == best
    assert "linear programme" in report.why
    if gap is None:
        assert report.bound is None
        return
    assert values["linear programme"] == best, "it is charged for this very loss"
    assert report.bound is not None
    assert 0 <= (report.candidates[0].gap or 0) <= gap
    for value in values.values():
        assert value <= report.bound if utility.larger_is_better else value >= report.bound


@pytest.mark.parametrize("all_forms", [pytest.param(True, marks=pytest.mark.soak), False])
def test_units_of_the_answer_do_not_matter(all_forms, monkeypatch):
    """The same question in other units has the same gap, also where the power is no whole number."""
    if not all_forms:
        few_forms(monkeypatch, "two-point", "A1B1")
    wide = nw.Scalar(7, inputs=(0, 7), outputs=(-14, 21), unbiased=True)
    asked = {"privacy": nw.PureDP(1), "utility": nw.PowerError("3/2"), "inputs": 8, "outputs": 60}
    ours, theirs = nw.mechanisms.design_bounded(ASKED, **asked), nw.mechanisms.design_bounded(wide, **asked)
    assert ours.bound is not None
    assert theirs.bound == pytest.approx(ours.bound * 7**1.5, rel=1e-5)
    assert theirs.candidates[0].value == pytest.approx(ours.candidates[0].value * 7**1.5, rel=1e-3)
