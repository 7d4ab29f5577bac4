"""Where the loss of a symmetric law that falls outward rises and where it falls.

`stretches(law, shift)` cuts the half-line from -shift/2 on into stretches on which ln f(x) - ln f(x + shift) is
monotone all the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.base import LogConcave
from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.twofold import TwoFold
from noisewright.problem.errors import UncertifiedError


@dataclass(frozen=True, slots=True)
class Stretch:
    """An interval on which the loss does not fall (`rising`), or does not rise; without `end` it goes on for ever."""

    start: Fraction
    end: Fraction | None
    rising: bool


@singledispatch
def stretches(law: Any, shift: Fraction) -> list[Stretch]:
    """One, on which it rises, for log-concave laws: that is what log-concave means."""
    if not isinstance(law, LogConcave):
        raise UncertifiedError(f"there is no rule for the losses of {type(law).__name__} noise.")
    return [Stretch(-shift / 2, None, rising=True)]


@stretches.register
def _(law: TwoFold, shift: Fraction) -> list[Stretch]:
    """Two: ln g is convex and falls, g being the density of |X| (see `pure`).

    Up to 0 both ln g(-x) and -ln g(x + shift) rise; from 0 on ln g(x) - ln g(x + shift) falls, ln g being convex.
    """
    return _around_zero(shift)


@stretches.register
def _(law: GeneralizedGaussian, shift: Fraction) -> list[Stretch]:
    """Below power 1 as for two-fold laws, since -|x|^power is convex there; from 1 on the law is log-concave."""
    return _around_zero(shift) if law.power < 1 else [Stretch(-shift / 2, None, rising=True)]


def _around_zero(shift: Fraction) -> list[Stretch]:
    zero = Fraction(0)
    return [Stretch(-shift / 2, zero, rising=True), Stretch(zero, None, rising=False)]
