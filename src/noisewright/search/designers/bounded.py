"""From a bounded question to ranked, certified mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from noisewright.laws.bumps import FLAT, Plateau
from noisewright.mechanisms.bounded_values import profile_of, value_of
from noisewright.mechanisms.conditional import Conditional
from noisewright.mechanisms.truncated import Truncated
from noisewright.problem.errors import InvalidMechanismError, InvalidQueryError, InvalidUtilityError, SolverError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import AverageVariance, SquaredError, WorstVariance
from noisewright.proof.bounded import largest_bias
from noisewright.search.families.bounded_optimum import solved
from noisewright.search.families.central import central, tuned_core
from noisewright.search.families.shapes import (
    ACTIVATIONS,
    composite,
    goal_of,
    hybrid,
    piecewise_half,
    truncated,
    tuned_half,
    two_point,
)
from noisewright.search.programmes.feasible import check_feasible
from noisewright.search.programmes.layout import Size, default_size
from noisewright.search.programmes.memory import Memory, problem_digest, user_memory
from noisewright.search.report.bounded_report import BoundedReport
from noisewright.search.report.progress import Advance, progress_bar
from noisewright.search.report.ranking import measured, outward, ranked
from noisewright.search.report.report import Candidate

PROGRAMME = "linear programme"
SIMPLER_FIRST = ("two-point", "piecewise", "A1B1", "central piecewise", "hybrid", PROGRAMME)
_LARGEST_SIDE = 2000
_LARGEST_RATIO = 2000
_MOST_SHELLS = 400
_STEEPEST = 600


def design_bounded_pure(query: Bounded, privacy: PureDP, utility: Any, step: Advance) -> BoundedReport:
    """Composite, piecewise, two-point, hybrid, central piecewise and the linear programme, with its certified bound."""
    return _designed(query, privacy, utility, default_size(query, privacy.epsilon), step, user_memory())


def design_bounded(
    query: Scalar | Bounded,
    *,
    privacy: PureDP,
    utility: Any,
    inputs: int = 60,
    outputs: int = 600,
    progress: bool = False,
) -> BoundedReport:
    """Like `design` for a bounded question, with a chosen grid for the linear programme.

    `inputs` and `outputs` are numbers of cells: a finer grid comes closer to the best possible and
    takes longer (60 by 600: tens of seconds). Results are kept by problem digest, so that the second
    design is instant.
    """
    question = query.bounded if isinstance(query, Scalar) else query
    if not isinstance(question, Bounded):
        raise InvalidQueryError(
            "give a question with bounds: Scalar(..., inputs=(lo, hi), outputs=(l, u)).", query=query
        )
    for name, value in (("inputs", inputs), ("outputs", outputs)):
        if isinstance(value, bool) or not isinstance(value, int) or not 4 <= value <= _LARGEST_SIDE:
            raise InvalidQueryError(f"{name} is {value!r}; give a number of cells from 4 to {_LARGEST_SIDE}.")
    with progress_bar("design", 4, shown=progress) as step:
        return _designed(question, privacy, utility, Size(inputs, outputs), step, user_memory())


def _designed(
    query: Bounded, privacy: PureDP, utility: Any, size: Size, step: Advance, memory: Memory
) -> BoundedReport:
    goal = checked_utility(utility)
    key = problem_digest(query, privacy.epsilon, goal, size)
    if key not in memory.reports:
        memory.reports[key] = _fresh(query, privacy, goal, size, step, memory)
    report: BoundedReport = memory.reports[key]
    return report


def _fresh(
    query: Bounded, privacy: PureDP, goal: WorstVariance | AverageVariance, size: Size, step: Advance, memory: Memory
) -> BoundedReport:
    if query.width > _LARGEST_RATIO * query.sensitivity:
        raise InvalidQueryError(
            f"the input range is {show(query.width / query.sensitivity)} times the sensitivity; at most"
            f" {_LARGEST_RATIO} times is allowed. Clamp the answer to a narrower range, or use noise without bounds.",
            sensitivity=query.sensitivity,
        )
    step("tuning the closed forms")
    check_feasible(query, privacy.epsilon)
    mechanisms, notes = closed_forms(query, privacy.epsilon, goal)
    best = solved(query, privacy.epsilon, goal, size, step, memory)
    if best.mechanism is not None:
        mechanisms[PROGRAMME] = best.mechanism
    else:
        notes.append("The linear programme found nothing on its grid: the bounds leave little room beside two points.")
    step("certifying")
    candidates = [_candidate(name, _promised(m, query), privacy, goal, best.bound) for name, m in mechanisms.items()]
    if not any(c.certified.mechanism.query == query for c in candidates):
        raise SolverError(
            "these bounds are met in theory, but no mechanism on a grid fits them; widen the outputs by one per cent."
        )
    order = _promise_first(query, candidates, goal)
    if best.mechanism is not None and order[0].name != PROGRAMME and any(c.name == PROGRAMME for c in order):
        notes.append(f"{order[0].name}, a closed form, does better here than the linear programme on its grid.")
    bound = None if best.bound is None else outward(best.bound, larger=False)
    return BoundedReport(query, privacy, goal, order, bound, notes=tuple(notes))


def checked_utility(utility: Any) -> WorstVariance | AverageVariance:
    """The utility as one of the two that bounded questions know; squared error means its worst case."""
    if isinstance(utility, WorstVariance | AverageVariance):
        return utility
    if isinstance(utility, SquaredError):
        return WorstVariance()
    raise InvalidUtilityError(
        f"utility is {utility!r}; for a bounded question give WorstVariance(), AverageVariance(prior=...) or"
        " SquaredError() (its worst case). For any other loss see loss_programme.",
        utility=utility,
    )


def closed_forms(query: Bounded, epsilon: Fraction, utility: Any) -> tuple[dict[str, Conditional], list[str]]:
    """Every closed form whose outputs fit the bounds, and notes about those that do not."""
    goal = goal_of(utility)

    def tuned(kind: str) -> Conditional | None:
        half = tuned_half(query, epsilon, kind, FLAT, goal)
        return None if half is None else composite(query, epsilon, ACTIVATIONS[kind](half))

    def nested() -> Conditional | None:
        core = tuned_core(query, epsilon, goal)
        return None if core is None else central(query, epsilon, core)

    makers: dict[str, Callable[[], Conditional | None]] = {
        "two-point": lambda: two_point(query, epsilon),
        "piecewise": lambda: composite(query, epsilon, Plateau(piecewise_half(epsilon))),
        "A1B1": lambda: tuned("A1"),
        "A2B1": lambda: tuned("A2"),
        "A3B1": lambda: tuned("A3"),
        "hybrid": lambda: hybrid(query, epsilon, goal),
        "truncated Laplace": lambda: truncated(query, epsilon, Fraction(1)),
        "truncated Gaussian": lambda: truncated(query, epsilon, Fraction(2)),
    }
    if query.bias is None:
        makers["inflated Laplace"] = lambda: truncated(query, epsilon, Fraction(1), "inflated")
        makers["inflated Gaussian"] = lambda: truncated(query, epsilon, Fraction(2), "inflated")
    ratio = query.width / query.sensitivity
    if 1 < ratio <= _MOST_SHELLS and ratio * epsilon <= _STEEPEST:
        makers["central piecewise"] = nested
    found: dict[str, Conditional] = {}
    wide = []
    for name, make in makers.items():
        try:
            mechanism = make()
        except InvalidMechanismError:
            mechanism = None
        if mechanism is None:
            wide.append(name)
        else:
            found[name] = mechanism
    return found, [f"Too wide for these output bounds: {', '.join(wide)}."] if wide else []


def _promised(mechanism: Conditional, query: Bounded) -> Conditional:
    """Truncated noise makes no promise; where its bias is within what is allowed, it can make the question's."""
    if not isinstance(mechanism, Truncated) or query.bias is None:
        return mechanism
    within = largest_bias(mechanism) <= query.bias + query.width / 10**12
    return replace(mechanism, query=query) if within else mechanism


def _candidate(name: str, mechanism: Conditional, privacy: PureDP, utility: Any, bound: Fraction | None) -> Candidate:
    profile = profile_of(mechanism)
    value = value_of(profile, utility)
    promised = mechanism.query.bias is not None
    return measured(name, mechanism, privacy, value, bound if promised else None, utility, profile.largest_bias)


def _promise_first(query: Bounded, candidates: list[Candidate], utility: Any) -> tuple[Candidate, ...]:
    keeps = [c for c in candidates if c.certified.mechanism.query == query]
    others = [c for c in candidates if c not in keeps]
    last = ranked(others, utility, SIMPLER_FIRST) if others else ()
    return (*ranked(keeps, utility, SIMPLER_FIRST), *last)
