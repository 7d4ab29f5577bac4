"""The best for a bounded question: of linear programmes, remembered by its digest, and of six printed functions.

The composite paper tunes its functions by two algorithms: Algorithm 1 enumerates k, m and y in ever finer steps,
Algorithm 2 takes the first setting whose variance is small enough. Both look at an answer in the middle of the
range, whatever the data are, so that they cost no privacy. `shapes.tuned_half` finds the exact optimum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.mechanisms.bounded.composite import CompositeSetting
from noisewright.mechanisms.bounded.conditional import Rows
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import (
    InvalidInputError,
    InvalidMechanismError,
    InvalidPrivacyError,
    InvalidQueryError,
    SolverError,
)
from noisewright.problem.fields import rational, rationals
from noisewright.problem.numbers import Number, show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.records import digest
from noisewright.proof.certify import certify
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.cache import Cache
from noisewright.search.families.shapes import on_a_lattice
from noisewright.search.programmes.bounded import Found, Multipliers, Programme, ratio_above, repaired, solve
from noisewright.search.programmes.layout import Size, bound_programme, charges, design_programme, exponent, missed
from noisewright.search.report.progress import Advance

_FORMAT = "noisewright bounded solution, version 4"
_LARGEST_MULTIPLIER = 2.0**60
_FINEST = 60
_STEPS = ("0.1", "0.01", "0.001")
_AREAS = {"A1": 1.0, "A2": 2 / math.pi, "A3": 0.5}
_SECOND = {"A1": 1 / 12, "A2": 0.25 - 2 / math.pi**2, "A3": 1 / 24}

Triple = tuple[Fraction, ...]
"""k, m and y."""


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

    Rule: what averaging adds to a variance is known where the bias is. [theory#answers-in-bounds]
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
    [Hammersley50, ChapmanRobbins51, theory#answers-in-bounds]
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


def composite_of(query: Scalar | Bounded, *, privacy: PureDP, setting: CompositeSetting) -> Certified:
    """One of the composite paper's functions with its own parameters, certified for the whole input range.

    Raises InvalidMechanismError where its outputs would leave the bounds, UncertifiedError where it is not private.
    """
    asked = _asked(query, privacy)
    activation, base, share = setting.parts(privacy.epsilon)
    return make_certified(on_a_lattice(asked, activation, base, share), privacy)


def enumerate_composite(
    query: Scalar | Bounded, *, privacy: PureDP, function: str = "A1B1", steps: Sequence[Number] = _STEPS
) -> CompositeSetting:
    """Algorithm 1: the best k, m, y on the first step, then on finer ones around the best so far.

    The variance that counts is that of an answer in the middle of the range. Raises InvalidMechanismError where no
    setting on these steps keeps the paper's limits, epsilon and the output bounds.
    """
    asked = _asked(query, privacy)
    sizes = rationals(above=0, at_most=1, least=1).read(steps, "steps", InvalidInputError)
    best, least, coarse = None, math.inf, None
    for step in sizes:
        axes = _axes(step, best, coarse)
        costs = _middle_variances(asked, privacy.epsilon, function, axes)
        place = np.unravel_index(int(costs.argmin()), costs.shape)
        if costs[place] < least:
            least, best = float(costs[place]), tuple(axis[i] for axis, i in zip(axes, place, strict=True))
        coarse = step
    return _setting(function, best)


def search_composite(
    query: Scalar | Bounded, *, privacy: PureDP, target: Number, function: str = "A1B1", step: Number = "0.05"
) -> CompositeSetting:
    """Algorithm 2: the first k, m, y on one step whose variance in the middle of the range is at most the target.

    Raises InvalidMechanismError where there is none.
    """
    asked = _asked(query, privacy)
    wanted, size = (rational(above=0).read(v, n, InvalidInputError) for v, n in ((target, "target"), (step, "step")))
    axes = _axes(size, None, None)
    costs = _middle_variances(asked, privacy.epsilon, function, axes)
    small = np.flatnonzero(costs <= float(wanted))
    if not len(small):
        return _setting(function, None)
    place = np.unravel_index(int(small[0]), costs.shape)
    return _setting(function, tuple(axis[i] for axis, i in zip(axes, place, strict=True)))


def _asked(query: Any, privacy: Any) -> Bounded:
    question: Any = getattr(query, "bounded", query)
    if type(question) is not Bounded:
        raise InvalidQueryError(
            "give a question with bounds: Scalar(..., inputs=(lo, hi), outputs=(l, u)).", query=query
        )
    if type(privacy) is not PureDP:
        raise InvalidPrivacyError(f"privacy is {privacy!r}; composite mechanisms take nw.PureDP(...).", privacy=privacy)
    return question


def _axes(step: Fraction, around: Triple | None, coarse: Fraction | None) -> tuple[list[Fraction], ...]:
    """Values of k, m and y: multiples of the step up to 1, 2 and 1, or those within a coarser step of others."""
    span = math.ceil(1 / step) if around is None or coarse is None else math.ceil(coarse / step)
    if span > _FINEST:
        raise InvalidInputError(
            f"a step of {show(step)} makes too many settings; begin with at least 1/{_FINEST}, and make each next step"
            f" at most {_FINEST} times finer.",
            step=step,
        )
    if around is None or coarse is None:
        return tuple([step * i for i in range(1, math.floor(most / step) + 1)] for most in (1, 2, 1))
    return tuple([v + step * i for i in range(-span, span + 1) if v + step * i > 0] for v in around)


def _middle_variances(query: Bounded, epsilon: Fraction, function: str, axes: Sequence[Sequence[Fraction]]) -> Floats:
    """The variance of each setting for an answer in the middle of the range, infinite where it is not allowed.

    Allowed are the paper's constraints: area below one, k + y <= 1, the privacy ratio, room for the activation; and
    outputs inside the bounds. It is a search: whoever draws from a setting certifies it first.
    """
    CompositeSetting.CARD.given["function"].read(function, "function", InvalidMechanismError)
    k, m, y = np.meshgrid(*(np.array([float(v) for v in axis]) for axis in axes), indexing="ij")
    area = _AREAS[function[:2]] * k * m
    flat = function.endswith("B1")
    t = y if flat else (y + k) * math.exp(-float(epsilon))
    length = (1 - area) * 2.5 / (4 * y + t)
    width, room = float(query.width), float(query.margin + query.width / 2)
    with np.errstate(all="ignore"):
        stretch = width / (area * (2 * length - m))
        square = 2 * length**3 * (y / 3 - (y - t) / 7) + area * _SECOND[function[:2]] * m**2
        private = k <= y * math.expm1(float(epsilon)) if flat else t < y
        fits = (area < 1) & (2 * length > m) & (length * stretch <= room)
        costs = np.where(fits & private & (k + y <= 1), stretch**2 * square, math.inf)
    return np.asarray(costs)


def _setting(function: str, found: Triple | None) -> CompositeSetting:
    if found is None:
        raise InvalidMechanismError(
            f"no setting of {function} on these steps keeps epsilon and the output bounds, or reaches the target; widen"
            " the outputs, give finer steps, or use `design`, which needs neither.",
        )
    return CompositeSetting(function, *found)
