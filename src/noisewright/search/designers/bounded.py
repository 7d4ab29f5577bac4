"""Answers that stay in bounds and are right on average."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any

from noisewright.laws.bumps import FLAT, Part, Plateau
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.mechanisms.bounded.conditional import Conditional
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.numerics.fields import FLOATS
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import (
    InvalidMechanismError,
    InvalidQueryError,
    InvalidUtilityError,
    SolverError,
    UncertifiedError,
)
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import AverageVariance, LargestError, Usefulness, Utility, WorstVariance
from noisewright.proof.bounded import largest_bias
from noisewright.search.bounds.bounded import wide_bound
from noisewright.search.cache import user_cache
from noisewright.search.designer import Designer, Proposal, designed
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.families import shapes
from noisewright.search.families.bounded_optimum import Solved, problem_digest, solved
from noisewright.search.families.shapes import central, clamped_noise, least_outputs, stretch, tuned_core
from noisewright.search.programmes.bounded import check_feasible
from noisewright.search.programmes.layout import Size, default_size
from noisewright.search.report.progress import Advance, progress_bar, quiet
from noisewright.search.report.render import below_text, limit_text
from noisewright.search.report.report import Report

PROGRAMME = "linear programme"
CLAMPED = "clamped staircase"
_SIMPLER_FIRST = ("two-point", "piecewise", "A1B1", "central piecewise", "hybrid", CLAMPED, PROGRAMME)
_LARGEST_SIDE = 2000
_LARGEST_RATIO = 2000
_MOST_SHELLS = 400
_STEEPEST = 600
_PLACES = 40
_FINE_RATIO = 40
_FADES = 20
_STRETCHED = Fraction(51, 50)
_SOLVED: Remembered[Solved] = Remembered()
_MADE: Remembered[Clamped | None] = Remembered()


def propose(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility, step: Advance) -> list[Proposal]:
    """Composite, piecewise, two-point, hybrid, central piecewise and the linear programme; certified once a process."""
    name = f"{problem_digest(query, privacy.epsilon, utility, size or Size(0, 0))} proposals"
    found: list[Proposal] | None = user_cache().get(name)
    if found is None:
        found = [_proven(p, privacy) for p in _fresh(size, query, privacy, utility, step)]
        user_cache().put(name, found)
    return found


def _proven(proposal: Proposal, privacy: PureDP) -> Proposal:
    """With its certificate; what the verifier refuses is asked about again, and left out, by `designed`."""
    with suppress(UncertifiedError):
        return proposal.settled(privacy)
    return proposal


def _fresh(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    step("tuning the closed forms")
    clamped = _clamped(query, privacy, utility)
    mechanisms: dict[str, Any] = {} if clamped is None else {CLAMPED: clamped}
    # Closed forms pay for the width of the range: where that is too wide for a programme they are far behind.
    if _programmed(size, query, privacy, utility):
        found = closed_forms(query, privacy.epsilon, utility).items()
        mechanisms |= {name: _promised(mechanism, query) for name, mechanism in found}
        charged = utility if utility.confidence is None else _within(query, utility, mechanisms)
        best = _solved(size, query, privacy, charged, step).mechanism
        mechanisms |= {} if best is None else {PROGRAMME: best}
    if not any(m.query == query for m in mechanisms.values()):
        raise SolverError(
            "these bounds are met in theory, but no mechanism on a grid fits them; widen the outputs by one per cent."
        )
    places = {name: place for place, name in enumerate(_SIMPLER_FIRST)}
    for name, mechanism in mechanisms.items():
        yield Proposal(name, mechanism, places.get(name, len(places)))


def bound(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility) -> Fraction | None:
    """That of the linear programme's dual, proven in rationals; a quantile has none."""
    if utility.confidence is not None:
        return None
    if not _programmed(size, query, privacy, utility):
        return wide_bound(query, privacy.epsilon, utility)
    return _solved(size, query, privacy, utility, quiet).bound


def _clamped(query: Bounded, privacy: PureDP, utility: Utility) -> Clamped | None:
    """Clamped noise for the question, made once in a design; None where the bounds leave too little room."""
    return _MADE.latest(query, (privacy, utility), lambda: clamped_noise(query, privacy.epsilon, utility))


def _programmed(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility) -> bool:
    """Whether a programme is solved: its grid was chosen, it can be fine enough to gain, or nothing else fits."""
    narrow = query.width <= query.sensitivity * max(Fraction(_FINE_RATIO), _FADES / privacy.epsilon)
    return size is not None or narrow or _clamped(query, privacy, utility) is None


def _solved(size: Size | None, query: Bounded, privacy: PureDP, utility: Utility, step: Advance) -> Solved:
    """The programme's answer, proven once in a design."""
    chosen = size or default_size(query, privacy.epsilon)
    return _SOLVED.latest(
        query, (size, privacy, utility), lambda: solved(query, privacy.epsilon, utility, chosen, step, user_cache())
    )


def _within(query: Bounded, utility: Utility, mechanisms: dict[str, Conditional]) -> Usefulness:
    """What the programme is charged in place of a quantile: staying within the best half-width of a closed form."""
    kept = [m for m in mechanisms.values() if m.query == query] or list(mechanisms.values())
    widths = [m.expected(utility, FLOATS) for m in kept]
    return Usefulness(Fraction(min(widths, default=float(query.width))))


def check(query: Bounded, privacy: PureDP, utility: Utility) -> None:
    """Refuse what no mechanism can do, and ranges too wide for a grid whose bounds leave no room for clamped noise."""
    check_feasible(query, privacy.epsilon)
    if query.width > _LARGEST_RATIO * query.sensitivity and _clamped(query, privacy, utility) is None:
        low, high = least_outputs(query, privacy.epsilon, utility)
        raise InvalidQueryError(
            f"the input range is {show(query.width / query.sensitivity)} times the sensitivity; in bounds as tight as"
            f" {show(query.outputs[0])} to {show(query.outputs[1])} at most {_LARGEST_RATIO} times is allowed. Give"
            f" output bounds of at least {show(low)} to {show(high)}, or a larger epsilon, or use noise without"
            " bounds.",
            sensitivity=query.sensitivity,
            outputs=(low, high),
        )


def why(report: Report) -> str:
    """The winner against the next that keeps to the bias that was asked for."""
    winner, *rest = report.kept
    limit = limit_text(report)
    if not rest:
        return f"{winner.name} is the only one here that keeps to the bias that was asked for; {limit}."
    if report.utility.larger_is_better:
        return f"{winner.name} wins: {winner.value:.4g} against {rest[0].value:.4g} of {rest[0].name}; {limit}."
    return f"{winner.name} wins: {below_text(winner, rest[0], str(report.utility))}; {limit}."


def notes(report: Report) -> Iterator[str]:
    """Who is best where, which closed forms are too wide, and how the programme did."""
    stretches = best_where(report)
    told = "; ".join(f"{name} from {float(a):.4g} to {float(b):.4g}" for a, b, name in stretches)
    yield f"Smallest error at each answer: {told}."
    names = [c.name for c in report.candidates]
    if CLAMPED not in names:
        yield "The output bounds leave too little room for clamped noise, which moves faster than the answer near them."
    if PROGRAMME not in names and names[:1] == [CLAMPED]:
        yield "The range is too wide for closed forms, and for the grid of a linear programme, to gain anything."
        yield from _what_room_would_gain(report)
        return
    wide = [name for name in _closed_makers(report.query, report.privacy.epsilon, report.utility) if name not in names]
    if wide:
        yield f"Too wide for these output bounds: {', '.join(wide)}."
    if PROGRAMME not in names:
        yield "The linear programme found nothing on its grid: the bounds leave little room beside two points."
    elif names[0] != PROGRAMME:
        yield f"{names[0]}, a closed form, does better here than the linear programme on its grid."


def _what_room_would_gain(report: Report) -> Iterator[str]:
    """Which bounds would do, where clamped noise is much wider than without bounds."""
    query, privacy = report.query, report.privacy
    factor = stretch(report.best.mechanism)
    if factor > _STRETCHED:
        low, high = least_outputs(query, privacy.epsilon, report.utility, _STRETCHED)
        yield (
            f"Near these output bounds the noise moves {float(factor):.3g} times as fast as the answer, and is as much"
            f" wider everywhere; bounds of {show(low)} to {show(high)} would bring that below {float(_STRETCHED):.3g}."
        )


def best_where(report: Report) -> list[tuple[Fraction, Fraction, str]]:
    """Stretches of the input range (from, to, mechanism) where that one's error is the smallest."""
    profiles = {c.name: c.certified.mechanism.profile for c in report.kept}
    low, high = report.query.inputs
    width = (high - low) / _PLACES

    def best(i: int) -> str:
        middle = low + width * Fraction(2 * i + 1, 2)
        return min(profiles, key=lambda name: profiles[name].at(middle, 1))

    stretches = [(name, list(places)) for name, places in groupby(range(_PLACES), best)]
    return [(low + places[0] * width, low + (places[-1] + 1) * width, name) for name, places in stretches]


def bounded_designer(size: Size | None) -> Designer:
    """The designer on a grid of this size; None for the usual one."""
    utilities = (*SCALAR, LargestError, WorstVariance, AverageVariance)
    settings = () if size is None else (("inputs", size.inputs), ("outputs", size.outputs))
    return Designer(
        utilities, partial(propose, size), partial(bound, size), check, why, notes, settings=settings, slow=True
    )


def checked_size(inputs: Any, outputs: Any) -> Size:
    """The size of a grid, or a refusal."""
    for name, value in (("inputs", inputs), ("outputs", outputs)):
        if type(value) is not int or not 4 <= value <= _LARGEST_SIDE:
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
    progress: bool | None = None,
) -> Report:
    """Like `design` for a bounded question, with a chosen grid for the linear programme.

    `inputs` and `outputs` are numbers of cells: a finer grid comes closer to the best possible and
    takes longer (60 by 600: tens of seconds). Solutions are kept by problem digest, so that the second
    design is quick. `progress` is that of `design`.
    """
    question = getattr(query, "bounded", query)
    if not isinstance(question, Bounded):
        raise InvalidQueryError(
            "give a question with bounds: Scalar(..., inputs=(lo, hi), outputs=(l, u)).", query=query
        )
    size = checked_size(inputs, outputs)
    if not BOUNDED_PURE.serves(utility):
        names = ", ".join(u.__name__ for u in BOUNDED_PURE.utilities)
        raise InvalidUtilityError(f"utility is {utility!r}; for a bounded question give one of {names}.")
    with progress_bar("design", 4, shown=progress) as step:
        return designed(bounded_designer(size), question, privacy, utility.alone(0), step)


def closed_forms(query: Bounded, epsilon: Fraction, utility: Utility) -> dict[str, Conditional]:
    """Every closed form whose outputs fit the bounds."""
    found: dict[str, Conditional] = {}
    for name, make in _closed_makers(query, epsilon, utility).items():
        with suppress(InvalidMechanismError):
            if mechanism := make():
                found[name] = mechanism
    return found


def _closed_makers(query: Bounded, epsilon: Fraction, utility: Utility) -> dict[str, Callable[[], Conditional | None]]:
    goal = shapes.goal_of(utility)

    def tuned(kind: str, base: Part = FLAT) -> Conditional | None:
        half = shapes.tuned_half(query, epsilon, kind, base, goal)
        return None if half is None else shapes.composite(query, epsilon, shapes.ACTIVATIONS[kind](half), base)

    def nested() -> Conditional | None:
        core = tuned_core(query, epsilon, goal)
        return None if core is None else central(query, epsilon, core)

    makers: dict[str, Callable[[], Conditional | None]] = {
        "two-point": lambda: shapes.two_point(query, epsilon),
        "piecewise": lambda: shapes.composite(query, epsilon, Plateau(shapes.piecewise_half(epsilon))),
        "A1B1": lambda: tuned("A1"),
        "A2B1": lambda: tuned("A2"),
        "A3B1": lambda: tuned("A3"),
        "A1B2": lambda: tuned("A1", shapes.bent_base(epsilon)),
        "A2B2": lambda: tuned("A2", shapes.bent_base(epsilon)),
        "A3B2": lambda: tuned("A3", shapes.bent_base(epsilon)),
        "hybrid": lambda: shapes.hybrid(query, epsilon, goal),
        "truncated Laplace": lambda: shapes.truncated(query, epsilon, Fraction(1)),
        "truncated Gaussian": lambda: shapes.truncated(query, epsilon, Fraction(2)),
    }
    if query.bias is None:
        makers["inflated Laplace"] = lambda: shapes.truncated(query, epsilon, Fraction(1), "inflated")
        makers["inflated Gaussian"] = lambda: shapes.truncated(query, epsilon, Fraction(2), "inflated")
    ratio = query.width / query.sensitivity
    if 1 < ratio <= _MOST_SHELLS and ratio * epsilon <= _STEEPEST:
        makers["central piecewise"] = nested
    return makers


def _promised(mechanism: Conditional, query: Bounded) -> Conditional:
    """Truncated noise guarantees no bias; where its own is within what is allowed, it can be the question's."""
    if not isinstance(mechanism, Truncated) or query.bias is None:
        return mechanism
    within = largest_bias(mechanism) <= query.bias + query.width / 10**12
    return replace(mechanism, query=query) if within else mechanism
