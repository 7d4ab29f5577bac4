"""The least epsilon at which something holds that was looked at, among decimals of few digits."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction

from noisewright.problem.privacy import SMALLEST_EPSILON

FINEST = 1
_ROUNDS = 3
_CLOSER = Fraction(49, 50)
_MANTISSAS = (*range(1000, 2000, 5), *range(2000, 5000, 10), *range(5000, 10_000, 25))


class _Decimals:
    """Decimals of four digits about 0.4 % apart, every so many of them, from 1e-5 up: places are whole numbers."""

    def __init__(self, every: int) -> None:
        self.mantissas = _MANTISSAS[::every]

    def value(self, place: int) -> Fraction:
        tens, rest = divmod(place, len(self.mantissas))
        return Fraction(self.mantissas[rest] * 10**tens, 10**8)

    def place(self, value: float) -> int:
        """The last place that is not above a value; the first for all that are below it."""
        exact = max(Fraction(value), SMALLEST_EPSILON)
        tens = math.floor(math.log10(exact)) + 5
        found = len(self.mantissas) * tens + bisect_right(self.mantissas, exact * Fraction(10) ** (8 - tens)) - 1
        return found + (self.value(found + 1) <= exact) - (self.value(found) > exact)


def least_of(ratio: Callable[[Fraction], float], most: Fraction, every: int, start: float = 1.0) -> Fraction | None:
    """The least decimal at which a ratio was found to be at most 1; None if it is above 1 at `most`.

    Guarantees: with the finest decimals the ratio at 0.98 of it was found to be above 1, or it is the least that is
    allowed. `ratio` is how many times its target the farthest output is off: it falls, about as a power of epsilon.
    """
    if most < SMALLEST_EPSILON:
        return None
    places = _Places(ratio, _Decimals(every), most)
    place = places.nearest(start)
    for _ in range(_ROUNDS):
        place = places.guess(place)
    if not places.surrounded(place):
        return None
    found = places.turn()
    # A half-width may jump up where another mechanism becomes the best: then less is enough.
    while every == FINEST and found * _CLOSER >= SMALLEST_EPSILON and ratio(found * _CLOSER) <= 1:
        found *= _CLOSER
    return found


class _Places:
    """Ratios that were looked at, by their place among decimals; the place before the first counts as above 1."""

    def __init__(self, ratio: Callable[[Fraction], float], decimals: _Decimals, most: Fraction) -> None:
        self.ratio, self.decimals, self.top = ratio, decimals, decimals.place(float(most))
        self.known: dict[int, float] = {}

    def nearest(self, value: float) -> int:
        return min(max(0, self.decimals.place(value)), self.top)

    def look(self, place: int) -> float:
        if place not in self.known:
            self.known[place] = self.ratio(self.decimals.value(place)) if place >= 0 else math.inf
        return self.known[place]

    def guess(self, place: int) -> int:
        """Where the ratio would be 1, by the power law through this place and the nearest other that is known."""
        here, value = self.look(place), float(self.decimals.value(place))
        power = -1.0
        others = [other for other in self.known if other not in (-1, place)]
        if others:
            other = min(others, key=lambda one: abs(one - place))
            rise = math.log(self.known[other] / here) if here * self.known[other] > 0 else 0.0
            power = min(max(rise / math.log(float(self.decimals.value(other)) / value), -4.0), -0.5)
        return self.nearest(value * max(here, 1e-9) ** (-1 / power))

    def surrounded(self, place: int) -> bool:
        """Look outward until a place above 1 lies below one that is not; false if there is none up to the top."""
        stride = 1
        while self.look(place) > 1:
            if place == self.top:
                return False
            place, stride = min(self.top, place + stride), 2 * stride
        stride = 1
        while not self._below():
            place, stride = max(-1, place - stride), 2 * stride
            self.look(place)
        return True

    def _below(self) -> list[int]:
        """The places above 1 below the first that is not."""
        return [place for place, found in self.known.items() if found > 1 and place < self._first()]

    def _first(self) -> int:
        return min(place for place, found in self.known.items() if found <= 1)

    def turn(self) -> Fraction:
        """The first decimal that was found to be at most 1, next to one that was found to be above."""
        halve = False
        while (passes := self._first()) - (fails := max(self._below())) > 1:
            near = (passes + fails) // 2 if halve or fails < 0 else self.guess(fails)
            self.look(min(max(near, fails + 1), passes - 1))
            halve = not halve
        return self.decimals.value(self._first())
