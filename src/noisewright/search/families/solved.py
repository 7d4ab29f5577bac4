"""Solved programmes, kept in the cache under a digest of the problem.

What is read back is treated like what a solver says: the law is checked and the bound is proven again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from noisewright.laws.registry import law_from_dict
from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.records import digest
from noisewright.problem.utility import Utility
from noisewright.proof.approximate import approximate_delta
from noisewright.search.bounds.approximate import Dual, find_dual, proven_bound
from noisewright.search.programmes.approximate import solved_law
from noisewright.search.tools.cache import user_cache

Found = TypeVar("Found")

VERSION = "approximate programme, version 2"


@dataclass(frozen=True, slots=True)
class Solved:
    """The programme's law and the proven bound; None where the problem is too large or the solver failed."""

    law: Tabulated | None
    bound: Fraction | None


def problem_digest(query: Scalar, privacy: ApproxDP, utility: Utility) -> str:
    """The name under which a problem is kept."""
    problem = {"query": query.to_dict(), "privacy": privacy.to_dict(), "utility": utility.to_dict()}
    return digest({"programme": VERSION, **problem})


def solve_approximate(query: Scalar, privacy: ApproxDP, utility: Utility) -> Solved:
    """The best law the programme finds and what nothing can beat, solved once per problem."""
    name, cache = problem_digest(query, privacy, utility), user_cache()
    found: Solved | None = cache.get(name, lambda data: _restored(data, query, privacy, utility))
    if found is None:
        law = _tried(solved_law, query, privacy, utility)
        dual = _tried(find_dual, query, privacy, utility)
        found = Solved(law, proven_bound(query, privacy, utility, dual) if dual else None)
        cache.put(name, found, lambda: _content(law, dual))
    return found


def _tried(solve: Callable[..., Found | None], *problem: Scalar | ApproxDP | Utility) -> Found | None:
    try:
        return solve(*problem)
    except SolverError:
        return None


def _restored(data: Mapping[str, Any], query: Scalar, privacy: ApproxDP, utility: Utility) -> Solved | None:
    bound, dual = None, data["dual"]
    law: Any = law_from_dict(data["law"]) if data["law"] is not None else None
    if law is not None:
        if not isinstance(law, Tabulated) or not _fits(law, query):
            return None
        if approximate_delta(law, privacy.epsilon, query.sensitivity)[0] > privacy.delta:
            return None
    if dual is not None:
        rows = [(int(s), int(a), int(b), float(v)) for s, a, b, v in dual["multipliers"]]
        found = Dual(int(dual["per"]), int(dual["count"]), Fraction(dual["edge"]), rows)
        bound = proven_bound(query, privacy, utility, found)
    return Solved(law, bound)


def _fits(law: Tabulated, query: Scalar) -> bool:
    """Whether the cells of a law can be put on the lattice of the question."""
    if query.integer:
        return law.edge == HALF and law.width == 1
    return not law.edge and (query.sensitivity / law.width).denominator == 1


def _content(law: Tabulated | None, dual: Dual | None) -> dict[str, Any]:
    """What is stored; `_restored` reads it back."""
    plain = dual and {
        "per": dual.per,
        "count": dual.count,
        "edge": str(dual.edge),
        "multipliers": [list(m) for m in dual.multipliers],
    }
    return {"law": law and law.to_dict(), "dual": plain}
