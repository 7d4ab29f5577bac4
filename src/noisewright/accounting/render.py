"""A plan as a table and as a picture."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.accounting.structure import Plan
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show

_DELTAS = tuple(Fraction(1, 10**n) for n in (3, 6, 9, 12, 15))
_POINTS = 80
_LEAST_SHOWN = Fraction(1, 10**15)


def rows(plan: Plan, deltas: tuple[Fraction, ...] = _DELTAS) -> list[tuple[str, str, str, str]]:
    """By delta: the epsilon that is proven, from where on the truth is, and how much lies between, as text."""
    found = []
    for delta in deltas:
        try:
            bracket = plan.bracket(delta=delta)
        except UncertifiedError:
            found.append((show(delta), "-", "-", "-"))
            continue
        low = "-" if bracket.lower is None else show(bracket.lower)
        width = "-" if bracket.width is None else f"{100 * bracket.width:.2g} %"
        found.append((show(delta), show(bracket.upper), low, width))
    return found


def picture(plan: Plan, path: str | Path | None = None) -> Any:
    """The curve delta(epsilon) with its lower end; written to a file if one is named."""
    from noisewright.drawing.style import WIDTH, new_figure, save, wrapped

    try:
        last = plan.epsilon(_LEAST_SHOWN)
    except UncertifiedError:
        last = plan.epsilon(Fraction(1, 1000)) * 2
    epsilons = [last * i / _POINTS for i in range(_POINTS + 1)] if last else [Fraction(0)]
    brackets = [plan.bracket(epsilon=epsilon) for epsilon in epsilons]
    figure = new_figure(WIDTH, 4.6)
    axes = figure.subplots()
    numbers = [float(epsilon) for epsilon in epsilons]
    axes.plot(numbers, [float(b.upper) for b in brackets], label="proven: delta is at most this")
    lows = [(x, float(b.lower)) for x, b in zip(numbers, brackets, strict=True) if b.lower]
    if lows:
        axes.plot(*zip(*lows, strict=True), linestyle="--", label="one pair of neighbours: at least this")
    axes.set(yscale="log", xlabel="epsilon", ylabel="delta", title=wrapped(f"What {plan.label} spends"))
    save(figure, path)
    return figure
