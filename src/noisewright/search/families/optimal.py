"""The best Gaussian strategy of a workload, solved once and kept; what is read back is proven again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.mechanisms.strategy_rows import DenseRows
from noisewright.numerics.arrays import Floats
from noisewright.numerics.whole_matrices import Wholes, bits_of, narrow
from noisewright.numerics.workloads import squares, unit, weighted_gram
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.records import digest
from noisewright.problem.workload import Workload
from noisewright.search.bounds.workload import Witness, least_total, least_worst
from noisewright.search.families.strategies import dense_rows, merged
from noisewright.search.programmes.strategy import Solved, best_total, best_worst
from noisewright.search.tools.cache import user_cache

_WITNESS_BITS = 44
_CELL_BITS = 40
_LARGEST_KEPT = 512


@dataclass(frozen=True, slots=True)
class Optimum:
    """Whole rows, and a proven lower bound of the error of every Gaussian strategy where mu = 1."""

    rows: DenseRows
    bound: Fraction


def optimum_of(query: Workload, *, worst: bool) -> Optimum:
    """The strategy of the least total, or least largest, variance; for questions about at most 2,048 cells."""
    name = digest({"workload strategy": query.digest, "worst": worst, "version": 1})
    cache = user_cache()
    found: Optimum | None = cache.get(name, lambda content: _restored(query, content, worst))
    if found is None:
        gram, below, places = merged(query)
        solved = _solved(query, gram, below, places, worst=worst)
        rows = dense_rows(solved.strategy, places)
        witness = Witness(
            whole(solved.cells, _CELL_BITS), whole(solved.left, _WITNESS_BITS), whole(solved.right, _WITNESS_BITS)
        )
        parts = whole(solved.questions, _CELL_BITS) if solved.questions is not None else None
        found = Optimum(rows, _proven(query, gram, below, places, witness, parts))
        kept = len(gram) <= _LARGEST_KEPT
        cache.put(name, found, (lambda: _content(rows, witness, parts)) if kept else None)
    return found


def _solved(query: Workload, gram: Wholes, below: int, places: list[int], *, worst: bool) -> Solved:
    if not worst:
        return best_total(gram.astype(np.float64) / below)
    first = [places.index(k) for k in range(1, len(gram) + 1)]
    scales = [float(part.weight * unit(part)) for part in query.parts]
    ends = np.cumsum([part.questions for part in query.parts])[:-1]

    def variances(matrix: Floats) -> Floats:
        full = np.zeros((query.size, query.size))
        full[np.ix_(first, first)] = matrix
        return np.concatenate([v * s for (_, v), s in zip(squares(query, full), scales, strict=True)])

    def weighted(parts: Floats) -> Floats:
        split = [p * s for p, s in zip(np.split(parts, ends), scales, strict=True)]
        return weighted_gram(query, split)[np.ix_(first, first)]

    return best_worst(variances, weighted, query.dimension)


def _proven(
    query: Workload, gram: Wholes, below: int, places: list[int], witness: Witness, parts: Wholes | None
) -> Fraction:
    """The lower bound that the witness proves, in whole numbers throughout."""
    if parts is None:
        return least_total(gram, below, witness)
    first = [places.index(k) for k in range(1, len(gram) + 1)]
    scales = [part.weight * unit(part) for part in query.parts]
    common = math.lcm(*(scale.denominator for scale in scales))
    ends = np.cumsum([part.questions for part in query.parts])[:-1]
    split = np.split(parts.astype(object), ends)
    weighted = [p * int(scale * common) for p, scale in zip(split, scales, strict=True)]
    summed = narrow(weighted_gram(query, weighted)[np.ix_(first, first)])
    return least_worst(summed, common, witness, Fraction(sum(map(int, parts))))


def whole(values: Floats, bits: int) -> Wholes:
    """Floats as whole numbers in a common unit, the largest with about so many bits."""
    exponent = bits - int(np.floor(np.log2(np.abs(values).max())))
    return np.rint(np.ldexp(values, exponent)).astype(np.int64)


def _content(rows: DenseRows, witness: Witness, parts: Wholes | None) -> dict[str, Any]:
    matrices = {"left": witness.left, "right": witness.right}
    return {
        "rows": rows.to_dict(),
        "cells": witness.cells.tolist(),
        **{name: WholeMatrix.of(m.tolist()).texts() for name, m in matrices.items()},
        **({} if parts is None else {"questions": parts.tolist()}),
    }


def _restored(query: Workload, content: Any, worst: bool) -> Optimum | None:
    """What a file says, if it is about these cells; its bound is proven again."""
    rows = DenseRows.from_dict(content["rows"])
    gram, below, places = merged(query)
    if list(rows.places) != places or worst is not ("questions" in content):
        return None
    left, right = (_read(content[name]) for name in ("left", "right"))
    witness = Witness(_vector(content["cells"]), left, right)
    parts = _vector(content["questions"]) if worst else None
    if len(witness.cells) != len(gram) or left.shape != right.shape or len(left) != len(gram):
        return None
    if parts is not None and (len(parts) != query.dimension or min(map(int, parts)) < 0 or not parts.any()):
        return None
    return Optimum(rows, _proven(query, gram, below, places, witness, parts))


def _read(texts: Any) -> Wholes:
    return narrow(np.array([list(row) for row in WholeMatrix.from_texts(texts)], dtype=object))


def _vector(values: Any) -> Wholes:
    found = np.array([int(v) for v in values], dtype=object)
    return narrow(found) if bits_of(found) else found
