"""Solved programmes, kept in memory and in the user's cache folder under a digest of the problem.

What is read back is treated like what a solver says: the law is checked and the bound is proven again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.registry import law_from_dict
from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.problem.errors import NoisewrightError, SolverError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.records import digest
from noisewright.problem.utility import Utility
from noisewright.proof.approximate import approximate_delta
from noisewright.search.bounds.approximate import Dual, find_dual, proven_bound
from noisewright.search.programmes.approximate import solved_law
from noisewright.search.tools.cache import cache_folder

VERSION = "approximate programme, version 1"
_LARGEST_FILE = 16 * 2**20
_MOST_KEPT = 256


@dataclass(frozen=True, slots=True)
class Solved:
    """The programme's law and the proven bound; None where the problem is too large or the solver failed."""

    law: Tabulated | None
    bound: Fraction | None
    cached: bool


_kept: dict[str, Solved] = {}


def problem_digest(query: Scalar, privacy: ApproxDP, utility: Utility) -> str:
    """The name under which a problem is kept."""
    return digest(
        {
            "programme": VERSION,
            "query": query.to_dict(),
            "privacy": privacy.to_dict(),
            "utility": utility.to_dict(),
        }
    )


def solve_approximate(query: Scalar, privacy: ApproxDP, utility: Utility) -> Solved:
    """The best law the programme finds and what nothing can beat, solved once per problem."""
    name = problem_digest(query, privacy, utility)
    if name in _kept:
        return _kept[name]
    found = _read(name, query, privacy, utility)
    if found is None:
        law, dual = _law(query, privacy, utility), _dual(query, privacy, utility)
        bound = proven_bound(query, privacy, utility, dual) if dual else None
        found = Solved(law, bound, cached=False)
        _write(name, law, dual)
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[name] = Solved(found.law, found.bound, cached=True)
    return found


def forget() -> None:
    """Empty the memory (not the folder)."""
    _kept.clear()


def _law(query: Scalar, privacy: ApproxDP, utility: Utility) -> Tabulated | None:
    try:
        return solved_law(query, privacy, utility)
    except SolverError:
        return None


def _dual(query: Scalar, privacy: ApproxDP, utility: Utility) -> Dual | None:
    try:
        return find_dual(query, privacy, utility)
    except SolverError:
        return None


def _read(name: str, query: Scalar, privacy: ApproxDP, utility: Utility) -> Solved | None:
    folder = cache_folder()
    path = folder / f"{name}.json" if folder else None
    try:
        if path is None or not path.is_file() or path.stat().st_size > _LARGEST_FILE:
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        return _restored(data, query, privacy, utility)
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError, NoisewrightError):
        # A damaged file only costs the time to solve again.
        return None


def _restored(data: Mapping[str, Any], query: Scalar, privacy: ApproxDP, utility: Utility) -> Solved | None:
    law = law_from_dict(data["law"]) if data["law"] is not None else None
    if law is not None:
        if not isinstance(law, Tabulated) or not _fits(law, query):
            return None
        if approximate_delta(law, privacy.epsilon, query.sensitivity)[0] > privacy.delta:
            return None
    bound = None
    if data["dual"] is not None:
        rows = [(int(s), int(a), int(b), float(v)) for s, a, b, v in data["dual"]["multipliers"]]
        dual = Dual(int(data["dual"]["per"]), int(data["dual"]["count"]), Fraction(data["dual"]["edge"]), rows)
        bound = proven_bound(query, privacy, utility, dual)
    return Solved(law, bound, cached=True)


def _fits(law: Tabulated, query: Scalar) -> bool:
    """Whether the cells of a law can be put on the lattice of the question."""
    if query.integer:
        return law.edge == HALF and law.width == 1
    return not law.edge and (query.sensitivity / law.width).denominator == 1


def _write(name: str, law: Tabulated | None, dual: Dual | None) -> None:
    folder = cache_folder()
    if folder is None:
        return
    content = {
        "law": law.to_dict() if law else None,
        "dual": {
            "per": dual.per,
            "count": dual.count,
            "edge": str(dual.edge),
            "multipliers": [list(m) for m in dual.multipliers],
        }
        if dual
        else None,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{name}.{os.getpid()}.part"
        unfinished.write_text(json.dumps(content), encoding="utf-8")
        unfinished.replace(folder / f"{name}.json")
    except OSError:
        # A cache that cannot be written is not needed for the answer.
        return
