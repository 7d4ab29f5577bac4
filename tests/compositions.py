"""Exact references for compositions, in 400-bit balls: what nothing in the package is used for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

from flint import arb, ctx, fmpq

BITS = 400


def ball(value: Fraction | int) -> arb:
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def rational(end: arb) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(frozen=True)
class Exact:
    """Randomised responses (epsilon, times), Gaussians of total mu^2, and releases (0, delta), all together."""

    responses: Sequence[tuple[Fraction, int]] = ()
    squared: Fraction = Fraction(0)
    deltas: Sequence[tuple[Fraction, int]] = ()
    _losses: dict[Fraction, arb] = field(default_factory=dict)

    def delta(self, epsilon: Fraction) -> arb:
        """delta = 1 - prod(1 - delta_i) (1 - sum over losses x of the responses of P(x) delta_Gauss(epsilon - x))."""
        ctx.prec = BITS
        total = arb(0)
        for loss, chance in self.losses().items():
            total += chance * gaussian_delta(self.squared, epsilon - loss)
        kept = arb(1)
        for delta, times in self.deltas:
            kept *= ball(1 - delta) ** times
        return 1 - kept * (1 - total)

    def losses(self) -> dict[Fraction, arb]:
        ctx.prec = BITS
        if not self._losses:
            found = {Fraction(0): arb(1)}
            for epsilon, times in self.responses:
                true = 1 / (1 + (-ball(epsilon)).exp())
                each = [
                    ((2 * j - times) * epsilon, comb(times, j) * true**j * (1 - true) ** (times - j))
                    for j in range(times + 1)
                ]
                more: dict[Fraction, arb] = {}
                for x, p in found.items():
                    for y, q in each:
                        more[x + y] = more.get(x + y, arb(0)) + p * q
                found = more
            self._losses.update(found)
        return self._losses

    def least(self, epsilon: Fraction) -> Fraction:
        return rational(self.delta(epsilon).lower())

    def most(self, epsilon: Fraction) -> Fraction:
        return rational(self.delta(epsilon).upper())


def gaussian_delta(squared: Fraction, epsilon: Fraction) -> arb:
    """Of N(0, 1) against N(mu, 1); without noise to speak of, (1 - e^epsilon)+."""
    e = ball(epsilon)
    if not squared:
        return 1 - e.exp() if epsilon < 0 else arb(0)
    mu, root = ball(squared).sqrt(), arb(2).sqrt()
    return (((e / mu - mu / 2) / root).erfc() - e.exp() * ((e / mu + mu / 2) / root).erfc()) / 2


def discrete_laplace_losses(rate: Fraction, shift: int) -> list[tuple[Fraction, arb]]:
    """Losses of masses proportional to e^(-rate |k|) against themselves, moved by `shift`, one by one."""
    ctx.prec = BITS
    fade = (-ball(rate)).exp()
    norm = (1 - fade) / (1 + fade)
    inner = [(rate * (2 * k + shift), norm * fade ** abs(k)) for k in range(-shift + 1, 0)]
    far = 1 / (1 + fade)
    return [(-rate * shift, fade**shift * far), *inner, (rate * shift, far)]


def power_delta(losses: Sequence[tuple[Fraction, arb]], times: int, epsilon: Fraction) -> arb:
    """delta of so many equal releases with these losses, summed term by term."""
    ctx.prec = BITS
    found = {Fraction(0): arb(1)}
    for _ in range(times):
        more: dict[Fraction, arb] = {}
        for x, p in found.items():
            for y, q in losses:
                more[x + y] = more.get(x + y, arb(0)) + p * q
        found = more
    return sum((p * (1 - ball(epsilon - x).exp()) for x, p in found.items() if x > epsilon), arb(0))
