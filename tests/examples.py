"""One small, lopsided example of every record of the package, as the arguments of its constructor."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import noisewright as nw
from noisewright.laws.bumps import FLAT
from noisewright.mechanisms.choice import PermuteAndFlip
from noisewright.mechanisms.conditional import Grid, uniform_grid
from noisewright.mechanisms.linear import Block
from noisewright.problem.metrics import Attributes, Scaled, Sum
from noisewright.problem.queries import Bounded
from noisewright.problem.records import Record

HALF, THIRD, TENTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)

REAL = nw.Scalar(2)
BOUNDED = Bounded(1, (0, 1), (-4, 5), None)
PAIR = nw.Vector(nw.Box([2, 3]))
QUERIES = nw.Linear([[1, 0, 2], [0, 1, 1]])
COLUMNS = [[4, 0, 8], [0, 4, 4]]
ADDITIVE = nw.Additive(REAL, nw.Laplace(2), nw.Lattice.cells(HALF / 2))
COMPOSITE = nw.Composite(BOUNDED, nw.Tent(HALF), FLAT, HALF, (0, 1), 2, 8)
ROWS = nw.Rows(BOUNDED, uniform_grid(Fraction(0), Fraction(1), 2), (-1, 2), [[3, 1], [2, 2], [1, 3]])
UNIVERSE = [("a", 1), ("b", 2), ("c", 1)]

EXAMPLES: dict[type, dict[str, Any]] = {
    nw.PureDP: {"epsilon": 2},
    nw.ApproxDP: {"epsilon": 2, "delta": TENTH},
    nw.ProbabilisticDP: {"epsilon": 2, "delta": TENTH},
    nw.RenyiDP: {"alpha": 3, "epsilon": 2},
    nw.ZeroConcentratedDP: {"rho": 2},
    nw.MetricPrivacy: {"metric": nw.Hamming(3, 1)},
    nw.Box: {"each": [2, 3]},
    nw.Disjoint: {"each": [2, 3]},
    nw.Sparse: {"changes": 1, "each": [2, 3]},
    nw.Replace: {"each": [2, 3]},
    nw.L1Ball: {"radius": 2, "dimension": 3},
    nw.L2Ball: {"radius": 2, "dimension": 3},
    nw.Points: {"matrix": [[1, 2], [0, 3]]},
    nw.Choice: {"candidates": ["a", "b"], "sensitivity": 2},
    Bounded: {"sensitivity": 1, "inputs": (0, 2), "outputs": (-1, 4), "bias": TENTH},
    nw.Scalar: {"sensitivity": 2},
    nw.RangedScalar: {"low": 0, "high": 3, "sensitivity": 2},
    nw.Vector: {"sensitivity": nw.Box([2, 3])},
    nw.Linear: {"matrix": [[1, 2], [0, 3]], "people": 7},
    nw.Universe: {"attributes": ["x", "y"], "elements": [("a", 1), ("b", 2)]},
    nw.PowerError: {"power": 3},
    nw.SquaredError: {},
    nw.AbsoluteError: {},
    nw.Usefulness: {"within": 2},
    nw.ErrorQuantile: {"confidence": TENTH},
    nw.Growth: {"power": 1, "factor": 2},
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
    nw.Matrix: {"distances": [[0, 1, 2], [1, 0, 2], [2, 2, 0]]},
    nw.Hamming: {"size": 3, "epsilon": 2},
    Attributes: {"codes": [[0, 0], [1, 1]], "tables": [[[0, 2], [2, 0]], [[0, 3], [3, 0]]]},
    nw.PerAttribute: {"universe": UNIVERSE, "budgets": [1, 2]},
    nw.PerValue: {"universe": UNIVERSE, "budgets": [{"a": 1, "b": 2, "c": 3}, {1: 1, 2: 2}]},
    Sum: {"parts": [nw.Hamming(3, 1), nw.Hamming(3, 2)]},
    Scaled: {"metric": nw.Hamming(3, 1), "factor": 2},
    nw.WithAbsent: {"metric": nw.Hamming(3, 1), "budget": 2},
    nw.Euclidean: {"points": [[0, 1], [2, 3]], "scale": 2},
    nw.Dates: {"dates": [date(2020, 1, 1), date(2020, 1, 5)], "days": 2, "epsilon": 1},
    nw.TimeSeries: {"series": [[0, 1], [2, 3]], "scale": 2},
    nw.GreatCircle: {"points": [[10, 20], [30, 40]], "per_kilometre": 2},
    nw.SmoothThreshold: {"points": [[0, 1], [2, 3]], "within": 2, "epsilon": 1},
    nw.Threshold: {"points": [[0], [1], [2]], "within": 1, "epsilon": 2},
    nw.Graph: {"edges": [("a", "b", 1), ("b", "c", 2)]},
    nw.Laplace: {"scale": 2},
    nw.DiscreteLaplace: {"scale": 2},
    nw.Gaussian: {"std": 2},
    nw.GeneralizedGaussian: {"power": 3, "scale": 2},
    nw.Logistic: {"scale": 2},
    nw.TruncatedLaplace: {"scale": 2, "bound": 3},
    nw.DiscreteGaussian: {"std": 2},
    nw.GaussianMixture: {"stds": [1, 2], "weights": [THIRD, 1 - THIRD]},
    nw.Tabulated: {"width": 2, "weights": [3, 2, 1], "edge": 0},
    nw.Piecewise: {
        "rate": 1, "period": 1, "breaks": [-2, -1, 1, 2], "levels": [1, 0, 1], "left_cells": 1, "right_cells": 1,
    },
    nw.TwoFold: {"fold": nw.GammaFold(3, HALF)},
    nw.Lattice: {"step": HALF, "edge": 0},
    nw.Atoms: {"rates": [1, 2], "weights": [THIRD, 1 - THIRD]},
    nw.GammaFold: {"shape": 3, "scale": HALF},
    nw.UniformFold: {"low": 1, "high": 2},
    nw.NoncentralChiSquaredFold: {"degrees": 5, "noncentrality": 1, "scale": HALF},
    nw.RayleighFold: {"scale": 2},
    nw.TruncatedNormalFold: {"centre": 2, "spread": 1, "low": 1, "high": 3},
    nw.Ensemble: {"coefficients": [1, 2], "parts": [nw.GammaFold(3, HALF), nw.UniformFold(1, 2)]},
    nw.FormulaFold: {"formula": "(1 + x)**-3", "scale": 2},
    nw.Plateau: {"half": HALF},
    nw.Sine: {"half": HALF},
    nw.Tent: {"half": HALF},
    nw.Quartic: {"ratio": HALF},
    nw.Steps: {"edges": [0, 1, 2], "heights": [3, 1]},
    nw.Additive: {"query": REAL, "law": nw.Laplace(2), "lattice": nw.Lattice.cells(HALF)},
    nw.PerCoordinate: {"query": PAIR, "parts": [ADDITIVE, ADDITIVE]},
    nw.NormBlock: {"places": [0, 1], "steps": [HALF, THIRD], "rate": HALF, "norm": "max"},
    nw.NormShaped: {"query": PAIR, "blocks": [nw.NormBlock([0, 1], [HALF, THIRD], HALF)]},
    nw.LinearGaussian: {"query": PAIR, "matrix": [[1, 2], [0, 3]], "std": 2, "step": HALF},
    nw.MinkowskiExponential: {
        "answers": [[0], [1]], "candidates": [[0], [2]], "power": 1, "rate": HALF, "reach": 1,
    },
    nw.RandomExponential: {"query": nw.Choice(["a", "b"]), "epsilons": [1, 2], "weights": [THIRD, 1 - THIRD]},
    PermuteAndFlip: {"query": nw.Choice(["a", "b"]), "epsilon": 2},
    Grid: {"points": [0, 1, 3]},
    nw.Rows: {
        "query": BOUNDED, "grid": ROWS.grid, "values": [-1, 2], "weights": [[3, 1], [2, 2], [1, 3]],
    },
    nw.Composite: {
        "query": BOUNDED, "activation": nw.Tent(HALF), "base": FLAT, "share": HALF, "window": (0, 1), "cells": 2,
        "points": 8,
    },
    nw.Truncated: {"query": BOUNDED, "power": 1, "scale": 2, "cells": 4, "points": 8},
    nw.Blend: {"first": COMPOSITE, "second": ROWS, "share": THIRD},
    nw.RangedNoise: {
        "query": nw.RangedScalar(0, 2, 1), "law": nw.GeneralizedGaussian(2, 3), "kind": "truncated", "step": HALF,
    },
    nw.LinearLaplace: {"query": QUERIES, "columns": COLUMNS, "steps": [HALF, HALF], "scales": [2, 3]},
    Block: {"rows": [0, 1], "columns": COLUMNS, "rate": HALF, "decode": [[1, 0], [0, 1]], "share": 1},
    nw.LinearElliptical: {"query": QUERIES, "blocks": [Block([0, 1], COLUMNS, HALF, [[1, 0], [0, 1]], 1)]},
    nw.MetricExponential: {"query": QUERIES, "columns": COLUMNS, "step": HALF, "scale": 2},
    nw.MetricSmallDB: {"query": QUERIES, "columns": COLUMNS, "step": HALF, "scale": 2, "rows": 2},
    nw.MetricMWEM: {"query": QUERIES, "columns": COLUMNS, "step": HALF, "scale": 2, "rounds": 2},
}  # fmt: skip
"""By class; what a constructor takes besides may be left out."""


def records() -> Iterator[type[Record]]:
    """Every class of the package that a person can make a record of."""
    for module in walk_packages(nw.__path__, f"{nw.__name__}."):
        if module.name.split(".")[1] in ("problem", "laws", "mechanisms"):
            import_module(module.name)
    waiting: list[type[Record]] = [Record]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        yield from (cls for cls in below if "CARD" in cls.__dict__ and cls.__name__ not in SHARED)


SHARED = ("_Ball", "_Scored", "Symmetric", "Coordinates")
"""What records inherit from and nobody makes by itself."""
