"""Several numbers: every mechanism for the set of differences that one person can make.

Histograms: the best noise for one count, at the share that the bins of one person leave it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import IdenticalNoise
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Histogram, Scalar, Vector
from noisewright.problem.sensitivity import Box, Disjoint, Points
from noisewright.problem.utilities import (
    AbsoluteError,
    ErrorQuantile,
    Expected,
    Huber,
    LargestError,
    PowerError,
    SquaredError,
    Usefulness,
    Utility,
)
from noisewright.proof.per_coordinate import approximate_alike
from noisewright.proof.vectors import most_moving
from noisewright.search.bounds.vector import covariance_bound, vector_bound
from noisewright.search.designer import Designer, Proposal, check_problem, designed
from noisewright.search.designers.scalar_approximate import SCALAR_APPROXIMATE, SCALAR_CONCENTRATED
from noisewright.search.designers.scalar_pure import SCALAR_PURE
from noisewright.search.families.calibration import smallest_scale
from noisewright.search.families.vector import (
    Mechanisms,
    approximate_mechanisms,
    concentrated_mechanisms,
    largest_length,
    mid,
    pure_mechanisms,
)
from noisewright.search.families.vector_parts import active, assembled, scalar, scalars
from noisewright.search.report.progress import Advance, quiet
from noisewright.search.report.render import times
from noisewright.search.report.report import Report

SEVERAL = (SquaredError, AbsoluteError, PowerError, Usefulness, ErrorQuantile, LargestError)
_MOST_KINDS = 3
_FEW = 8
_MOST_COMPARED = 2_000
_EACH = "tailored for each"
_SIMPLER_FIRST = (
    "identical Laplace", "identical Gaussian", "non-identical Laplace", "non-identical Gaussian", _EACH,
    "norm-shaped blocks",
)  # fmt: skip

Kind = tuple[Scalar, Utility]
"""One of the numbers by itself, and what counts as good for it."""
_TOLERANCE = 1e-4
_EACH_NUMBER, _EACH_PRODUCT = 1e-3, 3e-5
_COMPOSED: dict[str, Any] = {"discrete Gaussian": DiscreteGaussian, "discrete Laplace": DiscreteLaplace}
COUNT = Scalar(1, integer=True)


def propose(one: Designer, query: Vector, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Noise of every shape; a single number is designed as one, with the same laws."""
    if query.dimension == 1:
        for p in one.propose(scalar(query, 0), privacy, utility.alone(0), step):
            yield Proposal(p.name, assembled(query, {0: p.mechanism}), p.simplicity)
        return
    step("calibrating")
    mechanisms = _mechanisms(query, privacy, utility)
    kinds = _kinds(query, utility)
    moving = most_moving(query.sensitivity, query.whole)
    if _by_itself(query, privacy, utility, kinds, moving):
        # Equal shares of numbers that move together add up to the whole.
        share = privacy.share(Fraction(1, moving))
        best = {kind: _alone(one, *kind, share).best.mechanism for kind in set(kinds.values())}
        mechanisms[_EACH] = assembled(query, {i: best[kind] for i, kind in kinds.items()})
    places = {name: place for place, name in enumerate(_SIMPLER_FIRST)}
    for name, mechanism in mechanisms.items():
        yield Proposal(name, mechanism, places.get(name, len(places)))


def bound(one: Designer, query: Vector, privacy: Any, utility: Utility) -> Fraction | None:
    """Pure: number by number or by volume, whichever says more. Otherwise by the covariance of squared errors.

    Where one number moves at a time, the bounds for single numbers add up; elsewhere none is known.
    """
    if query.dimension == 1:
        found = one.bound(scalar(query, 0), privacy, utility.alone(0))
        return None if found is None else found * utility.shares(1)[0]
    if privacy.pure:
        return vector_bound(query, privacy.epsilon, utility)
    if (spread := covariance_bound(query, privacy, utility)) is not None:
        return spread
    kinds = _kinds(query, utility)
    moving = most_moving(query.sensitivity, query.whole)
    if moving > 1 or not _by_itself(query, privacy, utility, kinds, moving):
        return None
    best = {kind: _alone(one, *kind, privacy).bound for kind in set(kinds.values())}
    if None in best.values():
        return None
    weights, still = utility.shares(query.dimension), Fraction(int(bool(utility.edges)))
    return sum((w * (Fraction(best[kinds[i]]) if i in kinds else still) for i, w in enumerate(weights)), Fraction(0))  # type: ignore[arg-type]  # none is missing


def _kinds(query: Vector, utility: Utility) -> dict[int, Kind]:
    """Each number that moves by itself; equal ones are the same."""
    return {i: (one, utility.alone(i)) for i, one in enumerate(scalars(query)) if one is not None}


def _by_itself(query: Vector, privacy: Any, utility: Utility, kinds: dict[int, Kind], moving: int) -> bool:
    """Whether each number can get the best noise for one number at its share, found for few different ones.

    Without a delta, closed forms serve better where several numbers move.
    """
    few = len(set(kinds.values())) <= _MOST_KINDS and not utility.joint
    return few and (moving == 1 or privacy.pointwise or (utility.tabulated and moving > 0))


@lru_cache(maxsize=16)
def _alone(one: Designer, query: Scalar, utility: Utility, privacy: Any) -> Report:
    return designed(one, query, privacy, utility, quiet)


def check(query: Vector, privacy: Any, utility: Utility) -> None:
    """Refuse what floats cannot hold; a single number is one."""
    if query.dimension == 1:
        check_problem(scalar(query, 0), privacy, utility.alone(0))


def seconds(query: Vector, privacy: Any, utility: Utility) -> float:
    """About how long a design takes: each different number is calibrated, each listed difference put into a frame."""
    chosen = query.sensitivity
    listed = 0 if privacy.pure or not isinstance(chosen, Points) else len(chosen.rows)
    return _EACH_NUMBER * len(set(query.extents)) + _EACH_PRODUCT * listed * query.dimension**2


def notes(report: Report) -> Iterator[str]:
    """What a reader of the report should know besides the table."""
    query = report.query
    still = [i + 1 for i, extent in enumerate(query.extents) if not extent]
    if still:
        names = ", ".join(map(str, still[:_FEW])) + (" …" if len(still) > _FEW else "")
        one = len(still) == 1
        said = f"number {names}; it is released as it is" if one else f"numbers {names}; they are released as they are"
        yield f"Sensitivity 0: no person can change {said}, without noise."
    if isinstance(query.sensitivity, Box) and len(active(query)) > 1 and query.dimension <= _MOST_COMPARED:
        yield from _disjoint_note(query, report.privacy, report.utility, {c.name: c.value for c in report.candidates})


def _disjoint_note(query: Vector, privacy: Any, utility: Utility, values: dict[str, float]) -> Iterator[str]:
    """How much better the same question would do as a disjoint set, computed mechanism by mechanism."""
    twin = _mechanisms(replace(query, sensitivity=Disjoint(query.extents)), privacy, utility)
    others = {name: mid(mechanism, utility) for name, mechanism in twin.items()}
    best = max if utility.larger_is_better else min
    pairs = [
        (values[f"identical {kind}"], others[f"identical {kind}"], kind)
        for kind in ("Laplace", "Gaussian")
        if f"identical {kind}" in values and f"identical {kind}" in others
    ]
    pairs.append((best(values.values()), best(others.values()), "the best"))
    gains = [(_gain(ours, theirs, utility), kind) for ours, theirs, kind in pairs]
    told = [f"{gain} for {kind} noise" for gain, kind in gains if gain != "1"]
    if not told:
        return
    word = "utility" if utility.larger_is_better else "error"
    yield (
        f"Declared as a box, all {len(active(query))} numbers may move at once. If one person can move only one of them"
        " at a time (a histogram of which each person is in one bin, when people are added or removed), declare"
        f" Disjoint: the {word} would be better by a factor of {', '.join(told)}."
    )


def _mechanisms(query: Vector, privacy: Any, utility: Utility) -> Mechanisms:
    if privacy.approximate:
        return approximate_mechanisms(query, privacy.epsilon, privacy.delta, utility)
    if privacy.gaussian_rho is not None:
        return concentrated_mechanisms(query, privacy, utility)
    return pure_mechanisms(query, privacy.epsilon, utility)


def _gain(value: float, other: float, utility: Utility) -> str:
    top, bottom = (other, value) if utility.larger_is_better else (value, other)
    return times(top / bottom) if bottom else "infinity"


def _for_vectors(one: Designer, utilities: Any = SEVERAL) -> Designer:
    """The designer of several numbers under the privacy that `one` designs a single number for."""
    over = one.over or "additive noise"
    return Designer(
        utilities, partial(propose, one), partial(bound, one), check, notes=notes, over=over, seconds=seconds
    )


VECTOR_PURE = _for_vectors(SCALAR_PURE, (*SEVERAL, Huber, Expected))
VECTOR_APPROXIMATE = _for_vectors(SCALAR_APPROXIMATE)
VECTOR_CONCENTRATED = _for_vectors(SCALAR_CONCENTRATED)


def propose_bins(one: Designer, query: Histogram, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """What is proposed for one count, for every bin alike."""
    for p in one.propose(COUNT, privacy.share(Fraction(1, query.together)), _for_one_bin(utility), step):
        composed = privacy.approximate and query.together > 1 and p.name in _COMPOSED
        yield Proposal(
            p.name, _composed(query, privacy, p.name) if composed else IdenticalNoise(query, p.mechanism), p.simplicity
        )


def _composed(query: Histogram, privacy: ApproxDP, name: str) -> IdenticalNoise:
    """Discrete noise as small as its composed losses allow.

    Guarantees: the scale is one at which the verifier's rule held.
    """

    def made(scale: Fraction) -> IdenticalNoise:
        return IdenticalNoise(query, Additive(COUNT, _COMPOSED[name](scale), Lattice.integers()))

    guess = math.sqrt(query.together) / float(largest_length(privacy.epsilon, privacy.delta))
    return made(smallest_scale(lambda s: approximate_alike(made(s), privacy)[0] <= privacy.delta, guess, _TOLERANCE))


def bound_bins(one: Designer, query: Histogram, privacy: Any, utility: Utility) -> Fraction | None:
    """Each bin by itself must be private, so it has at least the error of the best count; the largest as well."""
    single = one.bound(COUNT, privacy, utility.alone(0))
    if single is None or utility.joint:
        return single
    return single * (
        sum(utility.shares(query.bins), Fraction(0)) if utility.weights else query.bins * utility.shares(query.bins)[0]
    )


def check_bins(query: Histogram, privacy: Any, utility: Utility) -> None:
    """Refuse limits that differ from bin to bin."""
    if len(set(utility.edges)) > 1:
        raise InvalidUtilityError(
            "the bins of a histogram share one limit; give within as a single number, or ask for"
            " Vector(Disjoint([1, 1, …]), integer=True)."
        )


def _for_one_bin(utility: Utility) -> Utility:
    """What is looked for in one bin; the largest of many errors is kept small by noise that is small on average."""
    return AbsoluteError() if utility.joint else utility.alone(0)


def _bins(one: Designer, utilities: Any = SEVERAL) -> Designer:
    return Designer(
        utilities,
        partial(propose_bins, one),
        partial(bound_bins, one),
        check_bins,
        over=one.over or "noise of whole numbers",
        steps=one.steps,
    )


HISTOGRAM_PURE = _bins(SCALAR_PURE, (*SEVERAL, Huber, Expected))
HISTOGRAM_APPROXIMATE = _bins(SCALAR_APPROXIMATE)
HISTOGRAM_CONCENTRATED = _bins(SCALAR_CONCENTRATED)
