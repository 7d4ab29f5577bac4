"""Exact references for compositions, in balls of many bits: nothing of the package is used for them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any

from flint import arb, ctx, fmpq

BITS = 320
Losses = list[tuple[Fraction, Any]]


def ball(value: Fraction | int) -> Any:
    ctx.prec = BITS
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def rational(end: Any) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def low(value: Any) -> Fraction:
    return rational(value.lower())


def high(value: Any) -> Fraction:
    return rational(value.upper())


@dataclass(frozen=True)
class Exact:
    """Releases with finitely many losses (each so many times), Gaussians of total mu^2, releases (0, delta)."""

    finite: Sequence[tuple[Losses, int]] = ()
    squared: Fraction = Fraction(0)
    deltas: Sequence[tuple[Fraction, int]] = ()
    _sums: dict[Fraction, Any] = field(default_factory=dict)

    def delta(self, epsilon: Fraction) -> Any:
        """1 - prod(1 - delta_i) (1 - sum over sums x of the finite losses of P(x) delta_Gauss(epsilon - x))."""
        sums = self.sums()
        total = ball(0)
        for loss, chance in sums.items():
            total += chance * gaussian_delta(self.squared, epsilon - loss)
        kept = ball(1)
        for delta, times in self.deltas:
            kept *= ball(1 - delta) ** times
        return 1 - kept * (1 - total)

    def sums(self) -> dict[Fraction, Any]:
        if not self._sums:
            found = {Fraction(0): ball(1)}
            for losses, times in self.finite:
                for each in [two_point_power(losses, times)] if len(losses) == 2 else [losses] * times:
                    found = added(found, each)
            self._sums.update(found)
        return self._sums


def added(found: dict[Fraction, Any], losses: Losses) -> dict[Fraction, Any]:
    more: dict[Fraction, Any] = {}
    for x, p in found.items():
        for y, q in losses:
            more[x + y] = more[x + y] + p * q if x + y in more else p * q
    return more


def two_point_power(losses: Losses, times: int) -> Losses:
    (a, p), (b, q) = losses
    return [(j * a + (times - j) * b, comb(times, j) * p**j * q ** (times - j)) for j in range(times + 1)]


def gaussian_delta(squared: Fraction, epsilon: Fraction) -> Any:
    """Of N(0, 1) against N(mu, 1); without any, (1 - e^epsilon)+."""
    e = ball(epsilon)
    if not squared:
        return 1 - e.exp() if epsilon < 0 else ball(0)
    mu, root = ball(squared).sqrt(), ball(2).sqrt()
    return (((e / mu - mu / 2) / root).erfc() - e.exp() * ((e / mu + mu / 2) / root).erfc()) / 2


def response_losses(epsilon: Fraction) -> Losses:
    """Randomised response: the truth with chance e^epsilon / (1 + e^epsilon)."""
    true = 1 / (1 + (-ball(epsilon)).exp())
    return [(-epsilon, 1 - true), (epsilon, true)]


def discrete_laplace_losses(rate: Fraction, shift: int) -> Losses:
    """Masses proportional to e^(-rate |k|) against the same, moved by `shift` whole numbers."""
    fade = (-ball(rate)).exp()
    norm = (1 - fade) / (1 + fade)
    inner = [(rate * (2 * k + shift), norm * fade ** abs(k)) for k in range(-shift + 1, 0)]
    far = 1 / (1 + fade)
    return [(-rate * shift, fade**shift * far), *inner, (rate * shift, far)]


@dataclass(frozen=True)
class Case:
    """Releases in words with the number of times, and what they lose exactly."""

    words: list[str]
    exact: Exact


def random_case(source: random.Random) -> Case:
    """A few randomised responses, Gaussians, discrete Laplace noises and pairs (epsilon, delta)."""
    words, finite, deltas, squared = list[str](), [], [], Fraction(0)
    for kind in source.sample(["response", "gaussian", "discrete", "pair"], source.randint(1, 3)):
        times = source.choice([1, 1, 2, 3, source.randint(1, 8)])
        size = Fraction(source.randint(1, 300), source.choice([100, 100, 128, 97, 331]))
        if kind == "gaussian":
            words.append(f"gaussian(sigma={1 / size}) x {times}")
            squared += times * size**2
        elif kind == "response":
            words.append(f"randomized_response(epsilon={size}) x {times}")
            finite.append((response_losses(size), times))
        elif kind == "discrete":
            shift, few = source.randint(1, 3), min(times, 4)
            words.append(f"discrete_laplace(scale={1 / size}, sensitivity={shift}) x {few}")
            finite.append((discrete_laplace_losses(size, shift), few))
        else:
            delta = Fraction(1, 10 ** source.randint(1, 12))
            words.append(f"pair(epsilon={size}, delta={delta}) x {times}")
            finite.append((response_losses(size), times))
            deltas.append((delta, times))
    return Case(words, Exact(finite, squared, deltas))
