"""A person's own activation, base or loss, given as functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from noisewright.laws.bumps import FLAT, Part, Steps
from noisewright.mechanisms.bounded.composite import Composite
from noisewright.problem.errors import InvalidLawError, InvalidLossError, InvalidQueryError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import SquaredError
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.shapes import composite
from noisewright.search.programmes.bounded import check_feasible, repaired, solve
from noisewright.search.programmes.layout import Size, default_size, design_programme

Function = Callable[[float], float]

_STEPS = 200
_BITS = 40


def activation_from(function: Function, width: Fraction, steps: int = _STEPS) -> Steps:
    """A person's activation on [0, 1], stretched to `width` and moved so that its mean is at 0.

    The mechanism uses the steps of the function, at the middle of each cell, and nothing else: its
    supremum, its area and its mean are then sums of rationals, proven and not estimated.
    """
    if not 0 < width < 2:
        raise InvalidLawError(f"the width of an activation is {float(width):.4g}; give more than 0 and less than 2.")
    heights = _heights(function, [(i + 0.5) / steps for i in range(steps)], "activation")
    raw = Steps(tuple(width * Fraction(i, steps) for i in range(steps + 1)), heights)
    return Steps(tuple(edge - raw.centre for edge in raw.edges), heights)


def base_from(function: Function, steps: int = _STEPS) -> Steps:
    """A person's base on [-1, 1], in steps; it must be positive everywhere."""
    heights = _heights(function, [-1 + (2 * i + 1) / steps for i in range(steps)], "base")
    if min(heights) <= 0:
        raise InvalidLawError("the base is 0 somewhere; an output would then be possible for some answers only.")
    return Steps(tuple(-1 + Fraction(2 * i, steps) for i in range(steps + 1)), heights)


def composite_from(
    query: Scalar | Bounded,
    *,
    privacy: PureDP,
    activation: Function,
    width: Fraction,
    base: Function | None = None,
) -> Certified:
    """The certified composite mechanism of a person's own functions, using all of epsilon.

    Guarantees: non-negative and integrable as given, private and unbiased as certified for the step
    functions that are drawn. Raises InvalidMechanismError where the outputs would leave the bounds.
    """
    question = _bounded(query)
    floor: Part = FLAT if base is None else base_from(base)
    mechanism: Composite = composite(question, privacy.epsilon, activation_from(activation, Fraction(width)), floor)
    return make_certified(mechanism, privacy)


def loss_programme(
    query: Scalar | Bounded, *, privacy: PureDP, loss: Function, size: Size | None = None
) -> tuple[Certified, float]:
    """The mechanism with the least worst-case mean of any loss of (released - true), and that mean on the grid.

    Guarantees: certified like every other, with the promised mean. The loss is measured at the grid
    inputs; how much better another mechanism could be is not known for a loss given as a function.
    """
    question = _bounded(query)
    check_feasible(question, privacy.epsilon)
    chosen = size or default_size(question, privacy.epsilon)
    programme = design_programme(question, privacy.epsilon, SquaredError(), chosen)
    errors = programme.distances * float(question.sensitivity)
    losses = np.array([[_loss(loss, e) for e in row] for row in errors.tolist()])
    scale = float(np.abs(losses).max()) or 1.0
    rows = repaired(programme, solve(programme, losses / scale).masses)
    shares = np.array([[w / rows.total for w in row] for row in rows.weights])
    return make_certified(rows, privacy), float((shares * losses).sum(axis=1).max())


def _bounded(query: Scalar | Bounded) -> Bounded:
    question = query.bounded if isinstance(query, Scalar) else query
    if not isinstance(question, Bounded):
        raise InvalidQueryError(
            "give a question with bounds: Scalar(..., inputs=(lo, hi), outputs=(l, u)).", query=query
        )
    return question


def _heights(function: Function, places: list[float], name: str) -> tuple[Fraction, ...]:
    heights = []
    for x in places:
        value = float(function(x))
        if not math.isfinite(value) or value < 0:
            raise InvalidLawError(f"the {name} is {value} at {x:.4g}; it must be finite and at least 0.", at=x)
        heights.append(value)
    top = max(heights)
    if not top:
        raise InvalidLawError(f"the {name} is 0 everywhere; give a function with some area.")
    return tuple(Fraction(round(h / top * 2**_BITS), 2**_BITS) for h in heights)


def _loss(loss: Function, error: float) -> float:
    value = float(loss(error))
    if not math.isfinite(value) or value < 0:
        raise InvalidLossError(f"the loss is {value} at error {error:.6g}; it must be finite and at least 0.", at=error)
    return value
