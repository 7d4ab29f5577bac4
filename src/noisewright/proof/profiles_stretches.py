"""Where the loss of a symmetric law that falls outward rises and where it falls.

`stretches(law, shift)` cuts the half-line from -shift/2 on into stretches on which ln f(x) - ln f(x + shift) is
monotone all the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, singledispatch
from itertools import pairwise
from typing import Any

from noisewright.laws.base import LogConcave
from noisewright.laws.gaussian import GaussianMixture, GeneralizedGaussian
from noisewright.laws.two_fold import TwoFold
from noisewright.numerics.balls import Ball, ball, certainly_at_most, precision
from noisewright.problem.errors import UncertifiedError

_BITS = 96
_FINE = Fraction(1, 1 << 34)
_MOST_CELLS = 5000


@dataclass(frozen=True, slots=True)
class Stretch:
    """An interval on which the loss does not fall (`rising`), or does not rise; without `end` it goes on for ever.

    On short ones around a turn of the loss neither may be known: `rising` is None.
    """

    start: Fraction
    end: Fraction | None
    rising: bool | None


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


@stretches.register
def _(law: GaussianMixture, shift: Fraction) -> list[Stretch]:
    """As many as the loss has turns, which are found by halving.

    Rule: the slope of -ln f at x is u(x) = x R(x), where R is the mean of 1/std^2 given x, so that of the loss is
    u(x + s) - u(x). Wider parts are the likelier the farther x is from 0, so R and the mean S of 1/std^4 fall outward.
    Hence the loss rises up to 0, and between 0 <= a and b its slope lies between (a + s) R(b + s) - b R(a) and
    (b + s) R(a + s) - a R(b). It is positive, or negative, if u' = R - x^2 (S - R^2) is so from a to b + s.
    [theory#the-privacy-profile-of-one-number]
    """
    with precision(_BITS):
        mixture = _Mixture(law, shift)
        far = mixture.far()
        pending, found, seen = mixture.first_cells(far), [Stretch(-shift / 2, Fraction(0), rising=True)], 0
        while pending:
            a, b = pending.pop()
            seen += 1
            rising = mixture.rising(a, b)
            if rising is None and b - a > _FINE * shift and seen < _MOST_CELLS:
                pending += [((a + b) / 2, b), (a, (a + b) / 2)]
            else:
                _append(found, Stretch(a, b, rising))
        _append(found, Stretch(far, None, rising=True))
        return found


def _append(found: list[Stretch], one: Stretch) -> None:
    """Neighbours that go the same way are one stretch."""
    if found[-1].rising is one.rising:
        one = Stretch(found.pop().start, one.end, one.rising)
    found.append(one)


class _Mixture:
    """How the score of a Gaussian mixture bounds the slope of its loss."""

    def __init__(self, law: GaussianMixture, shift: Fraction) -> None:
        self._parts = [(ball(w / s), 1 / s**2) for s, w in zip(law.stds, law.weights, strict=True)]
        self._narrowest, self._widest, self._shift = min(law.stds), max(law.stds), shift
        self._means = cache(self._fresh_means)

    def _fresh_means(self, x: Fraction) -> tuple[Ball, Ball]:
        """R(x) and S(x)."""
        total, first, second = ball(0), ball(0), ball(0)
        for weight, rate in self._parts:
            height = weight * ball(-x * x * rate / 2).exp()
            total, first, second = total + height, first + height * ball(rate), second + height * ball(rate**2)
        return first / total, second / total

    def rising(self, a: Fraction, b: Fraction) -> bool | None:
        """Whether the loss rises (True) or falls (False) between two places; None where neither is certain."""
        s = self._shift
        (near, near_square), (far, far_square) = self._means(a), self._means(b + s)
        if bool(far >= ball((b + s) ** 2) * (near_square - far**2)):
            return True
        if bool(near <= ball(a**2) * (far_square - near**2)):
            return False
        low = ball(a + s) * far - ball(b) * near
        high = ball(b + s) * self._means(a + s)[0] - ball(a) * self._means(b)[0]
        if bool(low >= 0):
            return True
        return False if bool(high <= 0) else None

    def far(self) -> Fraction:
        """A place beyond which the loss rises.

        Rule: with c_i = 1/std_i^2 - 1/widest^2, R(x) exceeds 1/widest^2 by at most the sum of c_i r_i(x), r_i being
        the odds of part i against the widest given x, which fall like e^(-c_i x^2 / 2). So the slope of the loss is
        at least s/widest^2 minus the sum of c_i x r_i(x), whose terms fall from x = c_i^(-1/2) on.
        [theory#the-privacy-profile-of-one-number]
        """
        least = 1 / self._widest**2
        widest = [weight for weight, rate in self._parts if rate == least]
        narrower = [(weight / widest[0], rate - least) for weight, rate in self._parts if rate > least]
        x = self._widest
        while any(x * x * c < 1 for _, c in narrower) or not certainly_at_most(
            sum((ball(c * x) * odds * ball(-c * x * x / 2).exp() for odds, c in narrower), ball(0)),
            ball(self._shift * least),
        ):
            x *= 2
        return x

    def first_cells(self, far: Fraction) -> list[tuple[Fraction, Fraction]]:
        """From 0 to far, growing, the first one last."""
        edges, step = [Fraction(0)], self._narrowest / 8
        while edges[-1] < far:
            edges.append(min(far, edges[-1] + step))
            step = step * 5 / 4
        return list(pairwise(edges))[::-1]
