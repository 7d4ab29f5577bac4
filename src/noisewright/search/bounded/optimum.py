"""The mechanism and the bound that linear programmes give for a bounded question, remembered by its digest."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.mechanisms.rows import Rows
from noisewright.problem.errors import SolverError
from noisewright.problem.queries import Bounded
from noisewright.problem.utilities import AverageVariance
from noisewright.search.bounded.feasible import ratio_above
from noisewright.search.bounded.layout import Size, bound_programme, design_programme
from noisewright.search.bounded.lower import certified_lower
from noisewright.search.bounded.memory import Memory, Solved, problem_digest
from noisewright.search.bounded.programme import Found, Programme, solve
from noisewright.search.bounded.repair import repaired
from noisewright.search.progress import Advance


def solved(query: Bounded, epsilon: Fraction, utility: Any, size: Size, step: Advance, memory: Memory) -> Solved:
    """The programme's mechanism and the certified bound, each None where there is none.

    The second call for the same problem reads what the first one stored; a stored mechanism is
    certified again like any other before it can be drawn.
    """
    key = problem_digest(query, epsilon, utility, size)
    known = memory.get(key)
    if known is not None:
        step("reading the stored solution")
        step("proving the bound")
        return known
    step("solving the linear programme")
    programme = design_programme(query, epsilon, utility, size)
    try:
        found: Found | None = solve(programme, programme.distances**2)
        mechanism = _repaired(programme, found)
    except SolverError:
        found, mechanism = None, None
    step("proving the bound")
    result = Solved(mechanism, _bound(programme, found, utility))
    memory.put(key, result)
    return result


def _repaired(programme: Programme, found: Found | None) -> Rows | None:
    if found is None:
        return None
    try:
        return repaired(programme, found.masses)
    except SolverError:
        return None


def _bound(programme: Programme, found: Found | None, utility: Any) -> Fraction | None:
    if programme.query.bias is None:
        return None
    floor = variance_floor(programme.query, programme.epsilon, utility)
    relaxed, spare = bound_programme(programme, utility)
    same = found is not None and (relaxed.grid, relaxed.reach, relaxed.weights) == (
        programme.grid,
        programme.reach,
        programme.weights,
    )
    try:
        multipliers = found.multipliers if found and same else solve(relaxed, relaxed.distances**2).multipliers
    except SolverError:
        return floor
    return max(floor, certified_lower(relaxed, multipliers) - spare)


def variance_floor(query: Bounded, epsilon: Fraction, utility: Any) -> Fraction:
    """A bound that needs no programme: the variance at every answer that has a neighbour at the sensitivity.

    Rule: Hammersley, Chapman and Robbins' inequality with the largest chi-square divergence that
    epsilon allows gives sensitivity^2 e^epsilon / (e^epsilon - 1)^2, for mechanisms without bias.
    """
    if query.bias != 0:
        return Fraction(0)
    ratio = ratio_above(epsilon)
    least = query.sensitivity**2 * ratio / (ratio - 1) ** 2
    if not isinstance(utility, AverageVariance):
        return least
    low, high = query.inputs
    if utility.prior is None:
        return least * min(Fraction(1), 2 * (query.width - query.sensitivity) / query.width)
    near = (w for x, w in utility.prior if x + query.sensitivity <= high or x - query.sensitivity >= low)
    return least * sum(near, Fraction(0))
