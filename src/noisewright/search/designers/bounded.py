"""Answers that stay in bounds and are right on average."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.bumps import FLAT, Plateau
from noisewright.mechanisms.conditional import Conditional
from noisewright.mechanisms.truncated import Truncated
from noisewright.numerics.fields import FLOATS
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import InvalidMechanismError, InvalidQueryError, InvalidUtilityError, SolverError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import (
    AbsoluteError,
    AverageVariance,
    ErrorQuantile,
    LargestError,
    PowerError,
    SquaredError,
    Usefulness,
    WorstVariance,
)
from noisewright.problem.utility import Utility
from noisewright.proof.bounded import largest_bias
from noisewright.search.families.bounded_optimum import Solved, solved
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
from noisewright.search.report.designer import Designer, Proposal, designed
from noisewright.search.report.progress import Advance, progress_bar, quiet
from noisewright.search.report.report import Report, limit_text
from noisewright.search.report.tables import percent
from noisewright.search.tools.cache import user_cache

PROGRAMME = "linear programme"
_SIMPLER_FIRST = ("two-point", "piecewise", "A1B1", "central piecewise", "hybrid", PROGRAMME)
_UTILITIES = (
    SquaredError,
    AbsoluteError,
    PowerError,
    Usefulness,
    ErrorQuantile,
    LargestError,
    WorstVariance,
    AverageVariance,
)
_LARGEST_SIDE = 2000
_LARGEST_RATIO = 2000
_MOST_SHELLS = 400
_STEEPEST = 600
_PLACES = 40
_SOLVED: Remembered[Solved] = Remembered()


def propose(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Composite, piecewise, two-point, hybrid, central piecewise and the linear programme."""
    step("tuning the closed forms")
    mechanisms = {n: _promised(m, query) for n, m in closed_forms(query, privacy.epsilon, utility).items()}
    charged = utility if utility.confidence is None else _within(query, utility, mechanisms)
    best = _solved(size, query, privacy, charged, step).mechanism
    if best is not None:
        mechanisms[PROGRAMME] = best
    proposals = [Proposal(name, m, _place(name)) for name, m in mechanisms.items()]
    if not any(p.mechanism.query == query for p in proposals):
        raise SolverError(
            "these bounds are met in theory, but no mechanism on a grid fits them; widen the outputs by one per cent."
        )
    yield from proposals


def bound(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility) -> Fraction | None:
    """That of the linear programme's dual, proven in rationals; a quantile has none."""
    if utility.confidence is not None:
        return None
    return _solved(size, query, privacy, utility, quiet).bound


def _solved(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility, step: Advance) -> Solved:
    """The programme's answer, proven once in a design."""
    kept, key = _SOLVED.of(query), (size, privacy, utility)
    if key not in kept:
        chosen = size or default_size(query, privacy.epsilon)
        kept.clear()
        kept[key] = solved(query, privacy.epsilon, utility, chosen, step, user_cache())
    return kept[key]


def _within(query: Bounded, utility: Utility, mechanisms: dict[str, Conditional]) -> Usefulness:
    """What the programme is charged in place of a quantile: staying within the best half-width of a closed form."""
    kept = [m for m in mechanisms.values() if m.query == query] or list(mechanisms.values())
    widths = [m.expected(utility, FLOATS) for m in kept]
    return Usefulness(Fraction(min(widths, default=float(query.width))))


def _place(name: str) -> int:
    return _SIMPLER_FIRST.index(name) if name in _SIMPLER_FIRST else len(_SIMPLER_FIRST)


def check(query: Bounded, privacy: PureDP, utility: Utility) -> None:
    """Refuse what no mechanism can do, and ranges too wide for a grid."""
    if query.width > _LARGEST_RATIO * query.sensitivity:
        raise InvalidQueryError(
            f"the input range is {show(query.width / query.sensitivity)} times the sensitivity; at most"
            f" {_LARGEST_RATIO} times is allowed. Clamp the answer to a narrower range, or use noise without bounds.",
            sensitivity=query.sensitivity,
        )
    check_feasible(query, privacy.epsilon)


def why(report: Report) -> str:
    """The winner against the next that keeps the promise."""
    winner, *rest = report.kept
    limit = limit_text(winner.gap, report.query)
    if not rest:
        return f"{winner.name} is the only one here that keeps the promise; {limit}."
    if report.utility.larger_is_better:
        return f"{winner.name} wins: {winner.value:.4g} against {rest[0].value:.4g} of {rest[0].name}; {limit}."
    gain = percent(1 - winner.value / rest[0].value)
    return f"{winner.name} wins: its {report.utility} is {gain} below that of {rest[0].name}; {limit}."


def notes(report: Report) -> Iterator[str]:
    """Who is best where, which closed forms are too wide, and how the programme did."""
    stretches = best_where(report)
    told = "; ".join(f"{name} from {float(a):.4g} to {float(b):.4g}" for a, b, name in stretches)
    yield f"Smallest error at each answer: {told}."
    names = [c.name for c in report.candidates]
    wide = [name for name in _closed_makers(report.query, report.privacy.epsilon, report.utility) if name not in names]
    if wide:
        yield f"Too wide for these output bounds: {', '.join(wide)}."
    if PROGRAMME not in names:
        yield "The linear programme found nothing on its grid: the bounds leave little room beside two points."
    elif names[0] != PROGRAMME:
        yield f"{names[0]}, a closed form, does better here than the linear programme on its grid."


def best_where(report: Report) -> list[tuple[Fraction, Fraction, str]]:
    """Stretches of the input range (from, to, mechanism) where that one's error is the smallest."""
    profiles = [(c.name, c.certified.mechanism.profile) for c in report.kept]
    low, high = report.query.inputs
    width = (high - low) / _PLACES
    result: list[tuple[Fraction, Fraction, str]] = []
    for i in range(_PLACES):
        middle = low + width * Fraction(2 * i + 1, 2)
        name = min(profiles, key=lambda pair: pair[1].at(middle, 1))[0]
        start = low + i * width
        if result and result[-1][2] == name:
            start = result.pop()[0]
        result.append((start, low + (i + 1) * width, name))
    return result


def bounded_designer(size: Size | None) -> Designer:
    """The designer on a grid of this size; None for the usual one."""
    settings = () if size is None else (("inputs", size.inputs), ("outputs", size.outputs))
    return Designer(_UTILITIES, partial(propose, size), partial(bound, size), check, why, notes, settings=settings)


def checked_size(inputs: Any, outputs: Any) -> Size:
    """The size of a grid, or a refusal."""
    for name, value in (("inputs", inputs), ("outputs", outputs)):
        if isinstance(value, bool) or not isinstance(value, int) or not 4 <= value <= _LARGEST_SIDE:
            raise InvalidQueryError(f"{name} is {value!r}; give a number of cells from 4 to {_LARGEST_SIDE}.")
    return Size(inputs, outputs)


BOUNDED_PURE = bounded_designer(None)


def design_bounded(
    query: Scalar | Bounded,
    *,
    privacy: PureDP,
    utility: Any,
    inputs: int = 60,
    outputs: int = 600,
    progress: bool = False,
) -> Report:
    """Like `design` for a bounded question, with a chosen grid for the linear programme.

    `inputs` and `outputs` are numbers of cells: a finer grid comes closer to the best possible and
    takes longer (60 by 600: tens of seconds). Solutions are kept by problem digest, so that the second
    design is quick.
    """
    question = query.bounded if isinstance(query, Scalar) else query
    if not isinstance(question, Bounded):
        raise InvalidQueryError(
            "give a question with bounds: Scalar(..., inputs=(lo, hi), outputs=(l, u)).", query=query
        )
    size = checked_size(inputs, outputs)
    if type(utility) not in BOUNDED_PURE.utilities:
        names = ", ".join(u.__name__ for u in BOUNDED_PURE.utilities)
        raise InvalidUtilityError(f"utility is {utility!r}; for a bounded question give one of {names}.")
    with progress_bar("design", 4, shown=progress) as step:
        return designed(bounded_designer(size), question, privacy, utility.alone(0), step)


def closed_forms(query: Bounded, epsilon: Fraction, utility: Utility) -> dict[str, Conditional]:
    """Every closed form whose outputs fit the bounds."""
    found: dict[str, Conditional] = {}
    for name, make in _closed_makers(query, epsilon, utility).items():
        with suppress(InvalidMechanismError):
            mechanism = make()
            if mechanism is not None:
                found[name] = mechanism
    return found


def _closed_makers(query: Bounded, epsilon: Fraction, utility: Utility) -> dict[str, Callable[[], Conditional | None]]:
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
    return makers


def _promised(mechanism: Conditional, query: Bounded) -> Conditional:
    """Truncated noise makes no promise; where its bias is within what is allowed, it can make the question's."""
    if not isinstance(mechanism, Truncated) or query.bias is None:
        return mechanism
    within = largest_bias(mechanism) <= query.bias + query.width / 10**12
    return replace(mechanism, query=query) if within else mechanism
