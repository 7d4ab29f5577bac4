"""Several numbers: every mechanism for the set of differences that one person can make."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial

from noisewright.problem.privacy import ApproxDP, PureDP
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Box, Disjoint
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, LargestError, SquaredError, Usefulness
from noisewright.problem.utility import Utility
from noisewright.search.bounds.vector import vector_bound
from noisewright.search.designers.scalar_approximate import SCALAR_APPROXIMATE
from noisewright.search.designers.scalar_pure import SCALAR_PURE
from noisewright.search.families.vector_approximate import approximate_mechanisms
from noisewright.search.families.vector_parts import active, assembled
from noisewright.search.families.vector_pure import Mechanisms, mid, pure_mechanisms
from noisewright.search.report.designer import Designer, Proposal, check_problem, designed
from noisewright.search.report.report import Report
from noisewright.search.report.shown import Advance, quiet
from noisewright.search.report.words import times

Target = PureDP | ApproxDP
SEVERAL = (SquaredError, AbsoluteError, Usefulness, ErrorQuantile, LargestError)
_MOST_KINDS = 3
_FEW = 8
_MOST_COMPARED = 2_000
_SIMPLER_FIRST = (
    "identical Laplace", "identical Gaussian", "non-identical Laplace", "non-identical Gaussian", "tailored for each",
    "norm-shaped blocks",
)  # fmt: skip


def propose(one: Designer, query: Vector, privacy: Target, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Noise of every shape; a single number is designed as one, with the same laws."""
    if query.dimension == 1:
        for p in one.propose(Scalar(query.extents[0]), privacy, utility.alone(0), step):
            yield Proposal(p.name, assembled(query, {0: p.mechanism}), p.simplicity)
        return
    step("calibrating")
    mechanisms = _mechanisms(query, privacy, utility)
    if isinstance(privacy, ApproxDP) and _one_at_a_time(query, utility):
        reports = {extent: _alone(extent, privacy, utility.alone(0)) for extent in query.extents if extent}
        best = {i: reports[extent].best.mechanism for i, extent in enumerate(query.extents) if extent}
        mechanisms["tailored for each"] = assembled(query, best)
    places = {name: place for place, name in enumerate(_SIMPLER_FIRST)}
    for name, mechanism in mechanisms.items():
        yield Proposal(name, mechanism, places.get(name, len(places)))


def bound(one: Designer, query: Vector, privacy: Target, utility: Utility) -> Fraction | None:
    """Pure: number by number or by volume, whichever says more. With a delta where one number moves at a time.

    There the bounds for single numbers add up; elsewhere none is known.
    """
    if query.dimension == 1:
        found = one.bound(Scalar(query.extents[0]), privacy, utility.alone(0))
        return None if found is None else found * utility.shares(1)[0]
    if isinstance(privacy, PureDP):
        return vector_bound(query, privacy.epsilon, utility)
    if not _one_at_a_time(query, utility):
        return None
    total = Fraction(0)
    for weight, extent in zip(utility.shares(query.dimension), query.extents, strict=True):
        if extent:
            single = _alone(extent, privacy, utility.alone(0)).bound
            if single is None:
                return None
            total += weight * Fraction(single)
    return total


def _one_at_a_time(query: Vector, utility: Utility) -> bool:
    """Whether each number can get the best noise for one number, found for few different sensitivities."""
    kinds = {extent for extent in query.extents if extent}
    return isinstance(query.sensitivity, Disjoint) and utility.power is not None and len(kinds) <= _MOST_KINDS


@lru_cache(maxsize=8)
def _alone(extent: Fraction, privacy: ApproxDP, utility: Utility) -> Report:
    return designed(SCALAR_APPROXIMATE, Scalar(extent), privacy, utility, quiet)


def check(query: Vector, privacy: Target, utility: Utility) -> None:
    """Refuse what floats cannot hold; a single number is one."""
    if query.dimension == 1:
        check_problem(Scalar(query.extents[0]), privacy, utility.alone(0))


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


def _disjoint_note(query: Vector, privacy: Target, utility: Utility, values: dict[str, float]) -> Iterator[str]:
    """How much better the same question would do as a disjoint set, computed mechanism by mechanism."""
    twin = _mechanisms(Vector(Disjoint(query.extents)), privacy, utility)
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


def _mechanisms(query: Vector, privacy: Target, utility: Utility) -> Mechanisms:
    if isinstance(privacy, ApproxDP):
        return approximate_mechanisms(query, privacy.epsilon, privacy.delta, utility)
    return pure_mechanisms(query, privacy.epsilon, utility)


def _gain(value: float, other: float, utility: Utility) -> str:
    top, bottom = (other, value) if utility.larger_is_better else (value, other)
    return times(top / bottom) if bottom else "infinity"


def _several(one: Designer) -> Designer:
    return Designer(SEVERAL, partial(propose, one), partial(bound, one), check, notes=notes, over="additive noise")


VECTOR_PURE = _several(SCALAR_PURE)
VECTOR_APPROXIMATE = _several(SCALAR_APPROXIMATE)
