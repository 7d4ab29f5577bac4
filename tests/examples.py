"""One small, lopsided example of every record of the package, as the arguments of its constructor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import noisewright as nw
from noisewright.accounting.releases import DeclaredNoise, DeclaredPair
from noisewright.laws.bumps import FLAT
from noisewright.mechanisms.bounded.composite import CompositeSetting
from noisewright.mechanisms.bounded.conditional import Grid, uniform_grid
from noisewright.mechanisms.linear.noise import Block
from noisewright.mechanisms.renewed import mechanism_from_dict, renewed
from noisewright.problem.attributes import Attributes
from noisewright.problem.metrics import Scaled, Sum as SumOfMetrics
from noisewright.problem.queries import Bounded
from noisewright.problem.records import Record
from noisewright.problem.workload import Listed, Part, Regular
from noisewright.release.ask.count import Count
from noisewright.release.ask.histogram import BinCount
from noisewright.release.ask.mean import Mean
from noisewright.release.ask.persons import PersonCount
from noisewright.release.ask.proportion import Among, Proportion
from noisewright.release.ask.quantiles import Quantiles
from noisewright.release.ask.sum import Sum
from noisewright.release.ask.top import Top
from noisewright.release.ask.variance import Variance
from noisewright.release.ask.weighted import PersonsOf, Weighted
from noisewright.release.ask.within import Within
from noisewright.release.ask.workload import CellQuestions
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.plan.strategies.by_group import ByGroup
from noisewright.release.plan.strategies.by_weights import ByWeights
from noisewright.release.plan.strategies.in_bounds import InBounds
from noisewright.release.plan.strategies.over_cells import Answered, OverBins
from noisewright.release.plan.strategies.selection import Following, Selecting
from noisewright.release.plan.targets import Budgets, Targets
from noisewright.release.stage.aggregates import Partial, Persons, Present, Rows, Squares, Total
from noisewright.release.stage.groupings import Bins, Grouping
from noisewright.release.stage.ranges import Range
from noisewright.release.stage.times import TimeBins
from noisewright.release.table.keys import Keys
from tests.tree import tracked

CORPUS = Path(__file__).resolve().parent / "fixtures" / "corpus"
HALF, THIRD, TENTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)

REAL = nw.Scalar(2)
BOUNDED = Bounded(1, (0, 1), (-4, 5), None)
PAIR = nw.Vector(nw.Box([2, 3]))
QUERIES = nw.Linear([[1, 0, 2], [0, 1, 1]])
COLUMNS = [[4, 0, 8], [0, 4, 4]]
ADDITIVE = nw.mechanisms.Additive(REAL, nw.laws.Laplace(2), nw.laws.Lattice.cells(HALF / 2))
COMPOSITE = nw.mechanisms.Composite(BOUNDED, nw.laws.Tent(HALF), FLAT, HALF, (0, 1), 2, 8)
ROWS = nw.mechanisms.Rows(BOUNDED, uniform_grid(Fraction(0), Fraction(1), 2), (-1, 2), [[3, 1], [2, 2], [1, 3]])
UNIVERSE = [("a", 1), ("b", 2), ("c", 1)]

KEYS = Keys(["ward", "day"], [("A", date(2020, 2, 3)), ("B", date(2021, 5, 6))])
AGES = Range((3, 120), HALF)
VALUED = {"column": "age", "range": AGES, "by": KEYS, "name": "ages"}

EXAMPLES: dict[type, dict[str, Any]] = {
    CompositeSetting: {"function": "A2B1", "k": HALF, "m": THIRD, "y": TENTH},
    Keys: {"columns": ["ward", "sick"], "rows": [("A", True), ("B", False)]},
    Range: {"bounds": (3, 120), "step": HALF},
    Bins: {"column": "age", "edges": [0, HALF, 3]},
    Grouping: {"keys": KEYS, "bins": Bins("age", [0, 1])},
    ByGroup: {},
    Targets: {
        "names": ["visits"], "widths": [HALF], "confidence": HALF, "delta": None, "smallest_group": 3,
        "alone": [THIRD], "apart": True,
    },
    Budgets: {"names": ["visits", "ages"], "amounts": [nw.PureDP(1), nw.ApproxDP(2, TENTH)]},
    Answered: {"size": 3},
    OverBins: {"size": 4},
    Quantiles: {
        "column": "age", "probabilities": [TENTH, HALF], "range": AGES, "edges": None, "by": KEYS, "name": "middle",
    },
    CellQuestions: {
        "asked": nw.Workload.prefixes(2), "bins": Bins("age", [0, 1, 3]), "keys": None, "by": KEYS, "name": "sums",
    },
    Top: {"k": 1, "by": Keys(["ward"], [("A",), ("B",)]), "column": "ward", "name": "first"},
    PersonsOf: {"weights": [HALF, 3]},
    Weighted: {"weights": [HALF, 3], "by": KEYS, "name": "weighed"},
    ByWeights: {},
    Selecting: {},
    Following: {},
    Within: {"outputs": (-20, 60), "inputs": (0, 40)},
    InBounds: {"number": Rows(), "within": Within((-20, 60), (0, 40))},
    Partial: {"column": "cost", "range": Range((0, 50), 1), "person_bounds": (0, 80)},
    ContributionBounds: {"rows_per_group": 2, "groups_per_person": 3, "one_row_per_person": False},
    Rows: {},
    Persons: {},
    Present: {"column": "age"},
    Total: {"column": "age", "range": AGES, "centred": True},
    Squares: {"column": "age", "range": AGES},
    Count: {"by": KEYS, "name": "visits"},
    PersonCount: {"by": KEYS, "name": "people"},
    Sum: {**VALUED, "centred": True},
    Mean: VALUED,
    Variance: VALUED,
    Among: {"values": Keys(["ward"], [("A",), ("B",)])},
    Proportion: {"among": Keys(["ward"], [("A",), ("B",)]), "by": KEYS, "name": "share"},
    BinCount: {"bins": Bins("age", [0, HALF, 3]), "by": KEYS, "name": "ages", "persons": True},
    TimeBins: {"column": "at", "every": "day", "start": "2026-03-28", "end": "2026-03-31", "zone": "Europe/Berlin"},
    DeclaredNoise: {"law": nw.laws.Laplace(2), "sensitivity": 3},
    DeclaredPair: {"epsilon": 2, "delta": TENTH},
    nw.PureDP: {"epsilon": 2},
    nw.ApproxDP: {"epsilon": 2, "delta": TENTH},
    nw.ProbabilisticDP: {"epsilon": 2, "delta": TENTH},
    nw.RenyiDP: {"alpha": 3, "epsilon": 2},
    nw.ZeroConcentratedDP: {"rho": 2},
    nw.MetricPrivacy: {"metric": nw.metrics.Hamming(3, 1)},
    nw.Box: {"each": [2, 3]},
    nw.Disjoint: {"each": [2, 3]},
    nw.Sparse: {"changes": 1, "each": [2, 3]},
    nw.Replace: {"each": [2, 3]},
    nw.L1Ball: {"radius": 2, "dimension": 3},
    nw.L2Ball: {"radius": 2, "dimension": 3},
    nw.LpBall: {"radius": 2, "dimension": 3, "power": 3},
    nw.Points: {"matrix": [[1, 2], [0, 3]]},
    nw.Groups: {"sets": [nw.Box([2, 3]), nw.Disjoint([1, 2])], "at_most": 1},
    nw.Histogram: {"bins": 3, "bins_per_person": 2},
    nw.Choice: {"candidates": ["a", "b"], "sensitivity": 2},
    Bounded: {"sensitivity": 1, "inputs": (0, 2), "outputs": (-1, 4), "bias": TENTH},
    nw.Scalar: {"sensitivity": 2},
    nw.Vector: {"sensitivity": nw.Box([2, 3])},
    nw.Linear: {"matrix": [[1, 2], [0, 3]], "people": 7},
    nw.Workload: {"matrix": [[1, 2, 0], [0, HALF, 3]], "cells_per_person": 2},
    Regular: {"form": "ranges", "size": 3},
    Listed: {"numerators": [[1, 2, 0]], "denominators": [3]},
    Part: {"factors": [Regular("prefixes", 3)], "weight": 2},
    nw.mechanisms.DenseRows: {"matrix": [[3, 1], [0, 2]], "places": [1, 0, 2]},
    nw.mechanisms.BlockRows: {"size": 5, "branching": 2, "levels": [0, 2]},
    nw.mechanisms.ContrastRows: {"size": 5, "branching": 3},
    nw.mechanisms.EndlessRows: {"size": 9},
    nw.mechanisms.ResidualRows: {"sizes": [2, 3], "subsets": [(), (0,)]},
    nw.mechanisms.MarginalRows: {"sizes": [2, 3], "subsets": [(0, 1), (1,)]},
    nw.Universe: {"attributes": ["x", "y"], "elements": [("a", 1), ("b", 2)]},
    nw.PowerError: {"power": 3},
    nw.Growth: {"power": 1, "factor": 2},
    nw.Huber: {"knee": 2},
    nw.Expected: {"loss": abs, "growth": 1},
    nw.WorstVariance: {},
    nw.AverageVariance: {"prior": [(0, 1), (1, 3)]},
    nw.KullbackLeibler: {"prior": [1, 2, 3], "floor": 1},
    nw.HistogramEntropy: {"prior": [1, 2, 3], "floor": 1},
    nw.Renyi: {"prior": [1, 2, 3], "order": 2, "floor": 1},
    nw.Mallows: {"power": 2, "nodes": 5},
    nw.ErrorEntropy: {},
    nw.SquaredError: {"weights": [1, 2]},
    nw.AbsoluteError: {"weights": [1, 2]},
    nw.LargestError: {},
    nw.ErrorQuantile: {"confidence": TENTH},
    nw.Usefulness: {"within": [1, 2], "weights": [1, 2]},
    nw.metrics.Matrix: {"distances": [[0, 1, 2], [1, 0, 2], [2, 2, 0]]},
    nw.metrics.Hamming: {"size": 3, "epsilon": 2},
    Attributes: {"codes": [[0, 0], [1, 1]], "tables": [[[0, 2], [2, 0]], [[0, 3], [3, 0]]]},
    nw.metrics.PerAttribute: {"universe": UNIVERSE, "budgets": [1, 2]},
    nw.metrics.PerValue: {"universe": UNIVERSE, "budgets": [{"a": 1, "b": 2, "c": 3}, {1: 1, 2: 2}]},
    SumOfMetrics: {"parts": [nw.metrics.Hamming(3, 1), nw.metrics.Hamming(3, 2)]},
    Scaled: {"metric": nw.metrics.Hamming(3, 1), "factor": 2},
    nw.metrics.WithAbsent: {"metric": nw.metrics.Hamming(3, 1), "budget": 2},
    nw.metrics.Euclidean: {"points": [[0, 1], [2, 3]], "scale": 2},
    nw.metrics.Dates: {"dates": [date(2020, 1, 1), date(2020, 1, 5)], "days": 2, "epsilon": 1},
    nw.metrics.TimeSeries: {"series": [[0, 1], [2, 3]], "scale": 2},
    nw.metrics.GreatCircle: {"points": [[10, 20], [30, 40]], "per_kilometre": 2},
    nw.metrics.SmoothThreshold: {"points": [[0, 1], [2, 3]], "within": 2, "epsilon": 1},
    nw.metrics.Threshold: {"points": [[0], [1], [2]], "within": 1, "epsilon": 2},
    nw.metrics.Graph: {"edges": [("a", "b", 1), ("b", "c", 2)]},
    nw.laws.Laplace: {"scale": 2},
    nw.laws.DiscreteLaplace: {"scale": 2},
    nw.laws.Gaussian: {"std": 2},
    nw.laws.GeneralizedGaussian: {"power": 3, "scale": 2},
    nw.laws.Logistic: {"scale": 2},
    nw.laws.TruncatedLaplace: {"scale": 2, "bound": 3},
    nw.laws.DiscreteGaussian: {"std": 2},
    nw.laws.GaussianMixture: {"stds": [1, 2], "weights": [THIRD, 1 - THIRD]},
    nw.laws.Tabulated: {"width": 2, "weights": [3, 2, 1], "edge": 0},
    nw.laws.Piecewise: {
        "rate": 1, "period": 1, "breaks": [-2, -1, 1, 2], "levels": [1, 0, 1], "left_cells": 1, "right_cells": 1,
    },
    nw.laws.TwoFold: {"fold": nw.folds.GammaFold(3, HALF)},
    nw.laws.Lattice: {"step": HALF, "edge": 0},
    nw.folds.Atoms: {"rates": [1, 2], "weights": [THIRD, 1 - THIRD]},
    nw.folds.GammaFold: {"shape": 3, "scale": HALF},
    nw.folds.UniformFold: {"low": 1, "high": 2},
    nw.folds.NoncentralChiSquaredFold: {"degrees": 5, "noncentrality": 1, "scale": HALF},
    nw.folds.RayleighFold: {"scale": 2},
    nw.folds.TruncatedNormalFold: {"centre": 2, "spread": 1, "low": 1, "high": 3},
    nw.folds.Ensemble: {"coefficients": [1, 2], "parts": [nw.folds.GammaFold(3, HALF), nw.folds.UniformFold(1, 2)]},
    nw.folds.FormulaFold: {"formula": "(1 + x)**-3", "scale": 2},
    nw.laws.Plateau: {"half": HALF},
    nw.laws.Sine: {"half": HALF},
    nw.laws.Tent: {"half": HALF},
    nw.laws.Quartic: {"ratio": HALF},
    nw.laws.Steps: {"edges": [0, 1, 2], "heights": [3, 1]},
    nw.mechanisms.Additive: {"query": REAL, "law": nw.laws.Laplace(2), "lattice": nw.laws.Lattice.cells(HALF)},
    nw.mechanisms.PerCoordinate: {"query": PAIR, "parts": [ADDITIVE, ADDITIVE]},
    nw.mechanisms.NormBlock: {"places": [0, 1], "steps": [HALF, THIRD], "rate": HALF, "norm": "max"},
    nw.mechanisms.NormShaped: {"query": PAIR, "blocks": [nw.mechanisms.NormBlock([0, 1], [HALF, THIRD], HALF)]},
    nw.mechanisms.LinearGaussian: {"query": PAIR, "matrix": [[1, 2], [0, 3]], "std": 2, "step": HALF},
    nw.mechanisms.MinkowskiExponential: {
        "answers": [[0], [1]], "candidates": [[0], [2]], "power": 1, "rate": HALF, "reach": 1,
    },
    nw.mechanisms.RandomExponential: {
        "query": nw.Choice(["a", "b"]), "epsilons": [1, 2], "weights": [THIRD, 1 - THIRD],
    },
    nw.mechanisms.PermuteAndFlip: {"query": nw.Choice(["a", "b"]), "epsilon": 2},
    Grid: {"points": [0, 1, 3]},
    nw.mechanisms.Rows: {
        "query": BOUNDED, "grid": ROWS.grid, "values": [-1, 2], "weights": [[3, 1], [2, 2], [1, 3]],
    },
    nw.mechanisms.Composite: {
        "query": BOUNDED, "activation": nw.laws.Tent(HALF), "base": FLAT, "share": HALF, "window": (0, 1), "cells": 2,
        "points": 8,
    },
    nw.mechanisms.Truncated: {"query": BOUNDED, "power": 1, "scale": 2, "cells": 4, "points": 8},
    nw.mechanisms.Blend: {"first": COMPOSITE, "second": ROWS, "share": THIRD},
    nw.mechanisms.LinearLaplace: {"query": QUERIES, "columns": COLUMNS, "steps": [HALF, HALF], "scales": [2, 3]},
    Block: {"rows": [0, 1], "columns": COLUMNS, "rate": HALF, "decode": [[1, 0], [0, 1]], "share": 1},
    nw.mechanisms.ColumnGaussian: {
        "query": QUERIES,
        "columns": COLUMNS,
        "cell": 2,
        "std": 3,
        "decode": [[1, 0], [0, HALF]],
    },
    nw.mechanisms.LinearElliptical: {"query": QUERIES, "blocks": [Block([0, 1], COLUMNS, HALF, [[1, 0], [0, 1]], 1)]},
    nw.mechanisms.MetricExponential: {"query": QUERIES, "columns": COLUMNS, "step": HALF, "scale": 2},
    nw.mechanisms.MetricSmallDB: {"query": QUERIES, "columns": COLUMNS, "step": HALF, "scale": 2, "rows": 2},
    nw.mechanisms.MetricMWEM: {"query": QUERIES, "columns": COLUMNS, "step": HALF, "scale": 2, "rounds": 2},
}  # fmt: skip
"""By class; what a constructor takes besides may be left out."""

OTHERS: list[tuple[type, dict[str, Any]]] = [
    (nw.SquaredError, {}),
    (nw.AbsoluteError, {}),
    (nw.Usefulness, {"within": 2}),
    (nw.ErrorQuantile, {"confidence": HALF}),
]
"""Second examples, of classes that are built in two ways."""


def records() -> Iterator[type[Record]]:
    """Every class of the package that a person can make a record of."""
    for module in walk_packages(nw.__path__, f"{nw.__name__}."):
        if module.name.split(".")[1] in ("problem", "laws", "mechanisms", "accounting"):
            import_module(module.name)
    waiting: list[type[Record]] = [Record]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        yield from (cls for cls in below if "CARD" in cls.__dict__ and cls.__name__ not in SHARED)


SHARED = ("_Ball", "_Scored", "Symmetric", "Coordinates")
"""What records inherit from and nobody makes by itself."""


def _held(thing: Any) -> Iterator[Record]:
    """A record and every record in its fields."""
    if isinstance(thing, tuple | list):
        for part in thing:
            yield from _held(part)
    elif isinstance(thing, Record):
        yield thing
        for name in thing.CARD.given:
            yield from _held(getattr(thing, name))


def _add_saved_examples() -> None:
    """What has no example above but is in a saved mechanism has that one."""
    missing = {cls for cls in records() if cls not in EXAMPLES}
    for path in tracked(CORPUS, ".json") if missing else ():
        saved = mechanism_from_dict(renewed(json.loads(path.read_text(encoding="utf-8"))["mechanism"]))
        for found in _held(saved):
            if type(found) in missing and type(found) not in EXAMPLES:
                EXAMPLES[type(found)] = {name: getattr(found, name) for name in found.CARD.given}


_add_saved_examples()

EVERY: list[tuple[type, dict[str, Any]]] = [*EXAMPLES.items(), *OTHERS]
"""All of them, for tests that build each."""
