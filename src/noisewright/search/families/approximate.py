"""One number with a delta: smooth noise on a fine lattice, a staircase that ends, and the solved programme.

Inside the support of a staircase that ends no height exceeds e^epsilon times one that is a sensitivity away, so both
the approximate and the probabilistic delta are the mass of the last sensitivity on one side. Solved programmes are kept
in the cache under a digest of the problem; what is read back is treated like what a solver says: the law is checked and
the bound is proven again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import SolverError, UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.records import digest
from noisewright.problem.utilities import Utility
from noisewright.proof.approximate import approximate_delta, scaled_factor
from noisewright.proof.certify import certify
from noisewright.search.bounds.approximate import Dual, find_dual, proven_bound
from noisewright.search.cache import user_cache
from noisewright.search.families.calibration import (
    Family,
    Target,
    calibrated_many,
    float_scales,
    generalized_gaussians,
    pure_scale,
    smallest_scale,
)
from noisewright.search.golden_section import on_cells
from noisewright.search.programmes.approximate import (
    MOST_CELLS,
    Grid,
    cell_costs,
    cells_per_sensitivity,
    solved_law,
    support,
)

_LATTICE_TOLERANCE = 1e-5
_BOUND_TOLERANCE = 1e-11
_POWERS_ABOVE = np.round(np.concatenate([np.arange(1.0, 2.0, 0.02), np.arange(2.0, 6.0, 0.1)]), 2)
_POWERS_BELOW = np.round(np.arange(0.3, 1.0, 0.05), 2)
Found = TypeVar("Found")
VERSION = "approximate programme, version 2"
_BOTTOM_WEIGHT = 2**64
_LONGEST_WEIGHT_BITS = 500
_FACTOR_BITS = 128


def on_lattice(
    query: Scalar, privacy: Target, utility: Utility, make: Callable[[Fraction], Any], scale: Fraction
) -> Additive:
    """The law of this scale on its lattice; for probabilistic privacy with as much more as rounding asks for.

    Guarantees: the scale is one at which the verifier's rule for the lattice noise held.
    """
    first = on_cells(query, make(scale), scale, utility)
    if not privacy.pointwise:
        return first
    holds = certifies(lambda candidate: Additive(query, make(candidate), first.lattice), privacy)
    if holds(scale):
        return first
    return Additive(query, make(smallest_scale(holds, float(scale), _LATTICE_TOLERANCE)), first.lattice)


def certifies(make: Callable[[Fraction], Additive], privacy: Any) -> Callable[[Fraction], bool]:
    """Whether the mechanism of a scale is certified."""

    def holds(scale: Fraction) -> bool:
        try:
            certify(make(scale), privacy)
        except UncertifiedError:
            return False
        return True

    return holds


def smooth(query: Scalar, privacy: Target, utility: Utility, family: Family) -> Additive:
    """Noise of one family with the exact scale."""
    scale = calibrated_many(family, query.sensitivity, [privacy])[0]
    return on_lattice(query, privacy, utility, family.make, scale)


def laplace(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Laplace noise with the exact scale; for probabilistic privacy that is the pure one."""
    scale = query.sensitivity / privacy.epsilon
    if not privacy.pointwise:
        scale = calibrated_many(generalized_gaussians(1), query.sensitivity, [privacy])[0]
    return on_cells(query, Laplace(scale), scale, utility)


def best_generalized_gaussian(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """The generalized Gaussian whose power is best for the utility, to two digits."""
    power = best_power(query, privacy, utility)
    if power > 1 or (power == 1 and not privacy.pointwise):
        return smooth(query, privacy, utility, generalized_gaussians(power))
    scale = pure_scale(power, query.sensitivity, privacy.epsilon)
    return on_lattice(query, privacy, utility, partial(GeneralizedGaussian, power), scale)


def best_power(query: Scalar, privacy: Target, utility: Utility) -> Fraction:
    """The best power on a grid from 0.3 to 6, in floats."""
    epsilon, delta = float(privacy.epsilon), float(privacy.delta)
    above = float_scales(_POWERS_ABOVE, np.array(epsilon), np.array(delta), np.array(privacy.pointwise))
    if privacy.pointwise:
        above[0] = 1 / epsilon
    scales = [*above, *(1 / epsilon) ** (1 / _POWERS_BELOW)]
    sign = -1 if utility.larger_is_better else 1
    choices = []
    for power, scale in zip([*_POWERS_ABOVE, *_POWERS_BELOW], scales, strict=True):
        law = GeneralizedGaussian(Fraction(str(power)), Fraction(float(scale)) * query.sensitivity)
        choices.append((sign * float_value(law, utility), law.power))
    return min(choices)[1]


def float_value(law: Any, utility: Utility) -> float:
    """The utility of continuous noise, in floats."""
    return float(utility.under(ErrorLaw(law, integer=False), FLOATS))


def truncated_laplace(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Laplace noise of the pure scale, cut where the last sensitivity weighs delta."""
    reach, epsilon = query.sensitivity, privacy.epsilon
    scale = reach / epsilon
    end = float(scale) * math.log1p(math.expm1(float(epsilon)) / (2 * float(privacy.delta)))

    def holds(bound: Fraction) -> bool:
        return approximate_delta(TruncatedLaplace(scale, bound), epsilon, reach)[0] <= privacy.delta

    bound = smallest_scale(holds, end * (1 + 1e-12), _BOUND_TOLERANCE)
    found = on_cells(query, TruncatedLaplace(scale, bound), scale, utility)
    if not privacy.pointwise:
        return found
    # Cells that reach beyond the end would be counted whole.
    step = found.lattice.step
    return Additive(query, TruncatedLaplace(scale, -(-bound // step) * step), found.lattice)


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
    law = Tabulated.from_dict(data["law"]) if data["law"] is not None else None
    if law is not None:
        if not _fits(law, query):
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


def truncated_staircase(query: Scalar, privacy: Target, utility: Utility) -> Tabulated | None:
    """The best such law on the programme's cells; None where it would have too many cells.

    Guarantees: delta was summed exactly for every shift.
    """
    per = cells_per_sensitivity(query, privacy.epsilon, utility)
    approximate = ApproxDP(privacy.epsilon, privacy.delta)
    count = math.ceil(support(approximate, 2.0) * per) + 2
    if count > MOST_CELLS or float(privacy.epsilon) * count / per > _LONGEST_WEIGHT_BITS * math.log(2) - 64:
        return None
    grid = Grid(per, count, HALF if query.integer else Fraction(0))
    tops = range(1, per + 1) if per <= 200 else sorted({round(i * per / 200) for i in range(1, 201)} - {0})
    choices = [_best_end(grid, privacy, query, utility, top) for top in tops]
    found = [choice for choice in choices if choice is not None]
    if not found:
        return None
    _, top, cells = min(found)
    for extra in range(3):
        law = Tabulated(
            Fraction(1) if query.integer else query.sensitivity / per,
            _weights(scaled_factor(privacy.epsilon), per, top, cells + extra),
            grid.edge,
        )
        if approximate_delta(law, privacy.epsilon, query.sensitivity)[0] <= privacy.delta:
            return law
    return None


def _levels(per: int, top: int, count: int) -> NDArray[np.int64]:
    """How many steps down each cell lies."""
    i = np.arange(count)
    return np.where(i < top, 0, 1 + (i - top) // per)


def _best_end(grid: Grid, privacy: Target, query: Scalar, utility: Utility, top: int) -> tuple[float, int, int] | None:
    """(value to minimise, top, number of cells) with the fewest cells whose last sensitivity weighs at most delta."""
    mass = np.exp(-float(privacy.epsilon) * _levels(grid.per, top, grid.count)) * grid.multiplicity()
    inside = np.cumsum(mass)
    one_side = np.cumsum(mass / grid.multiplicity())
    ends = np.arange(grid.per, grid.count)
    last = one_side[ends] - one_side[ends - grid.per]
    fits = np.flatnonzero(last <= float(privacy.delta) * inside[ends])
    if not len(fits):
        return None
    end = int(ends[fits[0]])
    shares = mass[: end + 1] / inside[end]
    if utility.confidence is not None:
        value = float(np.searchsorted(np.cumsum(shares), float(utility.confidence)))
    else:
        value = float(np.sum(shares * cell_costs(grid, query, utility)[: end + 1]))
    return value, top, end + 1


def _weights(factor: int, per: int, top: int, cells: int) -> tuple[int, ...]:
    """Built inward from the lowest step, each at most e^epsilon times the one below it."""
    levels = _levels(per, top, cells)
    heights = [_BOTTOM_WEIGHT]
    for _ in range(max(levels)):
        heights.append(heights[-1] * factor >> _FACTOR_BITS)
    return tuple(heights[-1 - level] for level in levels)
