"""The mechanism and the bound that linear programmes give for a bounded question, remembered by its digest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.mechanisms.rows import Rows
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded
from noisewright.problem.records import digest
from noisewright.proof.certify import certify
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.programmes.bounded import Found, Multipliers, Programme, solve
from noisewright.search.programmes.feasible import ratio_above, repaired
from noisewright.search.programmes.layout import Size, bound_programme, charges, design_programme, exponent, missed
from noisewright.search.report.shown import Advance
from noisewright.search.tools.cache import Cache

_FORMAT = "noisewright bounded solution, version 4"
_LARGEST_MULTIPLIER = 2.0**60


@dataclass(frozen=True, slots=True)
class Solved:
    """A mechanism and a bound from below, each None where there is none."""

    mechanism: Rows | None
    bound: Fraction | None


def problem_digest(query: Bounded, epsilon: Fraction, utility: Any, size: Size) -> str:
    """Fingerprint of everything that determines the solution."""
    return digest(
        {
            "format": _FORMAT,
            "query": query.to_dict(),
            "epsilon": str(epsilon),
            "utility": utility.to_dict(),
            "size": [size.inputs, size.outputs],
        }
    )


def solved(query: Bounded, epsilon: Fraction, utility: Any, size: Size, step: Advance, cache: Cache) -> Solved:
    """The programme's mechanism and the certified bound, each None where there is none.

    Guarantees: the bound was proven in this process, whether its multipliers were stored or solved for; a stored
    mechanism is one that was certified in this process for this very question.
    """
    key = problem_digest(query, epsilon, utility, size)
    programme = design_programme(query, epsilon, utility, size)
    known: Solved | None = cache.get(key, lambda data: _proven_again(data, programme, utility))
    if known is not None:
        step("reading the stored solution")
        step("proving the bound")
        return known
    step("solving the linear programme")
    found, mechanism = None, None
    with suppress(SolverError):
        found = solve(programme, charges(programme, utility))
        mechanism = repaired(programme, found.masses)
    step("proving the bound")
    multipliers = _multipliers(programme, found, utility)
    best = Solved(mechanism, _bound(programme, multipliers, utility))
    cache.put(key, best, lambda: _content(mechanism, multipliers))
    return best


def _proven_again(data: Mapping[str, Any], programme: Programme, utility: Any) -> Solved | None:
    """What was stored, if it holds; None where it does not belong to this question."""
    mechanism = Rows.from_dict(data["mechanism"]) if data["mechanism"] else None
    if mechanism is not None:
        if mechanism.query != programme.query:
            return None
        certify(mechanism, PureDP(programme.epsilon))
    multipliers = _read_multipliers(data["multipliers"]) if data["multipliers"] else None
    return Solved(mechanism, _bound(programme, multipliers, utility))


def _content(mechanism: Rows | None, multipliers: Multipliers | None) -> dict[str, Any]:
    """What is stored; `_proven_again` reads it back."""
    plain = multipliers and {
        "counts": multipliers.counts.tolist(),
        "mass": multipliers.mass.tolist(),
        "mean": multipliers.mean.tolist(),
        "pairs": [part.tolist() for part in multipliers.pairs],
    }
    return {"mechanism": mechanism and mechanism.to_dict(), "multipliers": plain}


def _read_multipliers(data: Mapping[str, Any]) -> Multipliers:
    """Those of a file; ValueError where the numbers are none, or too large for sums in whole numbers."""
    counts, mass, mean = (np.array(data[name], dtype=np.float64) for name in ("counts", "mass", "mean"))
    first, second = (np.array(places, dtype=np.int64) for places in data["pairs"][:2])
    values = np.array(data["pairs"][2], dtype=np.float64)
    for numbers in (counts, mass, mean, values):
        if not (np.abs(numbers) <= _LARGEST_MULTIPLIER).all():
            raise ValueError("multipliers must be finite numbers of a moderate size")
    return Multipliers(counts, mass, mean, (first, second, values))


def _multipliers(programme: Programme, found: Found | None, utility: Any) -> Multipliers | None:
    """Those of the programme that bounds every mechanism; None where it says nothing, or has no solution."""
    relaxed, _ = bound_programme(programme, utility)
    if _silent(relaxed, utility):
        return None
    try:
        if found and relaxed == programme and not utility.edges:
            return found.multipliers
        return solve(relaxed, missed(relaxed, utility) if utility.edges else charges(relaxed, utility)).multipliers
    except SolverError:
        return None


def _silent(relaxed: Programme, utility: Any) -> bool:
    """Whether it says nothing: no two inputs of the grid are within the sensitivity, or cells of answers are averaged.

    Rule: what averaging adds to a variance is known where the bias is.
    """
    averaged = utility.averaged and utility.prior is None and not relaxed.query.integer
    return all(end == i for i, end in enumerate(relaxed.reach)) or (averaged and relaxed.query.bias is None)


def _bound(programme: Programme, multipliers: Multipliers | None, utility: Any) -> Fraction | None:
    floor = variance_floor(programme.query, programme.epsilon, utility) if exponent(utility) == 2 else None
    relaxed, spare = bound_programme(programme, utility)
    if multipliers is None or _silent(relaxed, utility):
        return floor or None
    least = max(floor or Fraction(0), certified_lower(relaxed, multipliers, utility) - spare)
    return 1 - least if utility.larger_is_better else least or None


def variance_floor(query: Bounded, epsilon: Fraction, utility: Any) -> Fraction:
    """A bound that needs no programme: the variance at every answer that has a neighbour at the sensitivity.

    Rule: Hammersley, Chapman and Robbins' inequality with the largest chi-square divergence that
    epsilon allows gives sensitivity^2 e^epsilon / (e^epsilon - 1)^2, for mechanisms without bias.
    """
    if query.bias != 0:
        return Fraction(0)
    ratio = ratio_above(epsilon)
    least = query.sensitivity**2 * ratio / (ratio - 1) ** 2
    if not utility.averaged:
        return least
    low, high = query.inputs
    if utility.prior is None:
        # One more where answers are counted instead of measured.
        more = int(query.integer)
        return least * min(Fraction(1), 2 * (query.width - query.sensitivity + more) / (query.width + more))
    near = (w for x, w in utility.prior if x + query.sensitivity <= high or x - query.sensitivity >= low)
    return least * sum(near, Fraction(0))
