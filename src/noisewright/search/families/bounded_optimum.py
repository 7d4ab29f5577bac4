"""The mechanism and the bound that linear programmes give for a bounded question, remembered by its digest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.rows import Rows
from noisewright.problem.errors import NoisewrightError, SolverError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded
from noisewright.proof.certify import certify
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.programmes.bounded import Found, Multipliers, Programme, solve
from noisewright.search.programmes.charges import charges, exponent, missed
from noisewright.search.programmes.feasible import ratio_above
from noisewright.search.programmes.layout import Size, bound_programme, design_programme
from noisewright.search.programmes.memory import Memory, Stored, problem_digest
from noisewright.search.programmes.repair import repaired
from noisewright.search.report.progress import Advance


@dataclass(frozen=True, slots=True)
class Solved:
    """A mechanism and a bound from below, each None where there is none."""

    mechanism: Rows | None
    bound: Fraction | None


def solved(query: Bounded, epsilon: Fraction, utility: Any, size: Size, step: Advance, memory: Memory) -> Solved:
    """The programme's mechanism and the certified bound, each None where there is none.

    Guarantees: the bound was proven in this call, whether its multipliers were stored or solved for; a stored
    mechanism is one that was certified in this call for this very question.
    """
    key = problem_digest(query, epsilon, utility, size)
    programme = design_programme(query, epsilon, utility, size)
    known = memory.get(key)
    if known is not None:
        step("reading the stored solution")
        step("proving the bound")
        again = _proven_again(known, programme, utility)
        if again is not None:
            return again
    step("solving the linear programme")
    try:
        found: Found | None = solve(programme, charges(programme, utility))
        mechanism = _repaired(programme, found)
    except SolverError:
        found, mechanism = None, None
    step("proving the bound")
    multipliers = _multipliers(programme, found, utility)
    memory.put(key, Stored(mechanism, multipliers))
    return Solved(mechanism, _bound(programme, multipliers, utility))


def _proven_again(known: Stored, programme: Programme, utility: Any) -> Solved | None:
    """What was stored, as far as it holds; None where it does not belong to this question."""
    mechanism = known.mechanism
    try:
        if mechanism is not None:
            if mechanism.query != programme.query:
                return None
            certify(mechanism, PureDP(programme.epsilon))
        return Solved(mechanism, _bound(programme, known.multipliers, utility))
    except (NoisewrightError, ValueError, IndexError):
        return None


def _repaired(programme: Programme, found: Found | None) -> Rows | None:
    if found is None:
        return None
    try:
        return repaired(programme, found.masses)
    except SolverError:
        return None


def _multipliers(programme: Programme, found: Found | None, utility: Any) -> Multipliers | None:
    """Those of the programme that bounds every mechanism; None where it says nothing, or has no solution."""
    if programme.query.bias is None:
        return None
    relaxed, _ = bound_programme(programme, utility)
    if _silent(relaxed):
        return None
    same = (relaxed.grid, relaxed.reach, relaxed.weights) == (programme.grid, programme.reach, programme.weights)
    try:
        if found and same and not utility.edges:
            return found.multipliers
        return solve(relaxed, missed(relaxed, utility) if utility.edges else charges(relaxed, utility)).multipliers
    except SolverError:
        return None


def _silent(relaxed: Programme) -> bool:
    """Whether no two inputs of the grid are within the sensitivity, so that it says nothing about privacy."""
    return all(end == i for i, end in enumerate(relaxed.reach))


def _bound(programme: Programme, multipliers: Multipliers | None, utility: Any) -> Fraction | None:
    if programme.query.bias is None:
        return None
    floor = variance_floor(programme.query, programme.epsilon, utility) if exponent(utility) == 2 else None
    relaxed, spare = bound_programme(programme, utility)
    if multipliers is None or _silent(relaxed):
        return floor
    least = max(floor or Fraction(0), certified_lower(relaxed, multipliers, utility) - spare)
    return 1 - least if utility.larger_is_better else least


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
        return least * min(Fraction(1), 2 * (query.width - query.sensitivity) / query.width)
    near = (w for x, w in utility.prior if x + query.sensitivity <= high or x - query.sensitivity >= low)
    return least * sum(near, Fraction(0))
