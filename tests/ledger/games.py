"""Small games, solved exactly: releases with few outcomes, every strategy of an analyst who sees each before the next.

Probabilities are rationals. The largest hockey-stick divergence over all strategies is found by walking the whole tree:
from a state (what was charged) with probabilities p and q of the way there, the analyst stops, which is worth
max(0, p - e^epsilon q), or makes a charge that is granted and goes on from each outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.proof.costs import EpsilonDelta, squared_of_pure

Laws = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def exp(epsilon: Fraction, end: Callable[[Any], Fraction]) -> Fraction:
    """A rational bound of e^epsilon, from the end that is asked for."""
    with precision(128):
        return end(ball(epsilon).exp())


@dataclass(frozen=True)
class Release:
    """Two laws on few outcomes, and what is proven of them: (epsilon, delta)."""

    laws: Laws
    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def costs(self) -> Release:
        return self

    def pure(self) -> Fraction | None:
        return None if self.delta else self.epsilon

    def pair(self, spare: Fraction = Fraction(0)) -> EpsilonDelta:
        return self.epsilon, self.delta

    def gaussian(self, spare: Fraction = Fraction(0)) -> EpsilonDelta:
        return squared_of_pure(self.epsilon), self.delta

    def concentrated(self, spare: Fraction = Fraction(0)) -> EpsilonDelta:
        return self.epsilon**2 / 2, self.delta

    def divergence(self, order: Fraction) -> Fraction | None:
        from noisewright.proof.renyi import pure_to_renyi

        return None if self.delta else pure_to_renyi(self.epsilon, order)

    def metric(self) -> None:
        return None


def randomised_response(epsilon: str, delta: str = "0") -> Release:
    """The worst release with this (epsilon, delta), a hair milder so that the numbers are rational.

    With probability delta the outcome gives everything away; else it is right e^epsilon times as often as wrong.
    """
    e, d = Fraction(epsilon), Fraction(delta)
    ratio = exp(e, lower)
    ratio = Fraction(int(ratio * 10**12), 10**12)
    right, wrong = (1 - d) * ratio / (1 + ratio), (1 - d) / (1 + ratio)
    if not d:
        return Release(((right, wrong), (wrong, right)), e)
    return Release(((d, right, wrong, Fraction(0)), (Fraction(0), wrong, right, d)), e, d)


def lopsided(epsilon: str) -> Release:
    """Three outcomes, purely private at this epsilon, asymmetric: rarely strong, mostly weak."""
    e = Fraction(epsilon)
    ratio = Fraction(int(exp(e, lower) * 10**12), 10**12)
    rare = Fraction(1, 10)
    first = (rare * ratio, Fraction(3, 10), 1 - rare * ratio - Fraction(3, 10))
    second = (rare, Fraction(3, 10) * Fraction(11, 10), 1 - rare - Fraction(3, 10) * Fraction(11, 10))
    worst = max(max(p / q, q / p) for p, q in zip(first, second, strict=True))
    assert worst <= ratio
    return Release((first, second), e)


def largest_delta(
    granted: Callable[[tuple[int, ...]], bool], menu: list[Release], factor: Fraction, steps: int
) -> Fraction:
    """The largest sum of max(0, p - factor q) over outcomes that any strategy of so many steps reaches.

    `granted` says whether a list of charges, by their places in the menu, is granted in this order.
    """
    known: dict[tuple[int, ...], bool] = {}

    def allowed(charges: tuple[int, ...]) -> bool:
        if charges not in known:
            known[charges] = granted(charges)
        return known[charges]

    def value(charges: tuple[int, ...], p: Fraction, q: Fraction) -> Fraction:
        best = max(Fraction(0), p - factor * q)
        if len(charges) == steps or not p:
            return best
        for place, release in enumerate(menu):
            if allowed((*charges, place)):
                outcomes = zip(*release.laws, strict=True)
                reached = sum((value((*charges, place), p * a, q * b) for a, b in outcomes), Fraction(0))
                best = max(best, reached)
        return best

    return value((), Fraction(1), Fraction(1))


def largest_moment(granted: Callable[[tuple[int, ...]], bool], menu: list[Release], order: int, steps: int) -> Fraction:
    """The largest sum of p^order / q^(order - 1) that any strategy reaches: e^((order - 1) divergence)."""

    def value(charges: tuple[int, ...]) -> Fraction:
        best = Fraction(1)
        if len(charges) == steps:
            return best
        for place, release in enumerate(menu):
            if granted((*charges, place)):
                after = value((*charges, place))
                outcomes = zip(*release.laws, strict=True)
                best = max(best, sum((a**order / b ** (order - 1) for a, b in outcomes), Fraction(0)) * after)
        return best

    return value(())


def composed_delta(menu: list[Release], charges: tuple[int, ...], factor: Fraction) -> Fraction:
    """The delta of releases that were all fixed in advance: what an accountant of plans says."""
    ways = [(Fraction(1), Fraction(1))]
    for place in charges:
        ways = [(p * a, q * b) for p, q in ways for a, b in zip(*menu[place].laws, strict=True)]
    return sum((max(Fraction(0), p - factor * q) for p, q in ways), Fraction(0))


__all__ = [
    "Release",
    "composed_delta",
    "exp",
    "largest_delta",
    "largest_moment",
    "lopsided",
    "lower",
    "randomised_response",
    "upper",
]
