"""How large a sum may become: the largest threshold that was checked to convert to (epsilon, delta)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from noisewright.numerics.bisection import first_true
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.proof.conversions import concentrated_to_approximate
from noisewright.proof.vector_gaussian import gaussian_delta

_CLOSE = Fraction(1, 10**6)
_GRID = 1 << 100
_LEAST = Fraction(1, 1 << 90)


def squared_length_fits(squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether normal laws whose squared distance is this meet (epsilon, delta), proven in balls."""
    return gaussian_delta(epsilon, squared) <= delta


def concentration_fits(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether rho converts to (epsilon, delta) at some order, proven in balls."""
    return concentrated_to_approximate(rho, epsilon) <= delta


def largest_squared_length(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest mu^2 whose normal curve passes (epsilon, delta), within a millionth, from below and checked."""
    return _largest(lambda squared: squared_length_fits(squared, epsilon, delta), "Gaussian")


def largest_concentration(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that converts to (epsilon, delta) at its best order, within a millionth, and checked."""
    return _largest(lambda rho: concentration_fits(rho, epsilon, delta), "concentrated")


def _largest(fits: Callable[[Fraction], bool], name: str) -> Fraction:
    """The checked end of a bisection on a grid; the property holds there, whatever it does elsewhere."""
    passes = Fraction(1)
    while not fits(passes):
        passes /= 4
        if passes < _LEAST:
            raise InvalidPrivacyError(f"no {name} sum however small fits this epsilon and delta; give larger ones.")
    fails = passes * 4
    while fits(fails):
        passes, fails = fails, fails * 4

    def middle(a: Fraction, b: Fraction) -> Fraction:
        return Fraction((a + b) * _GRID // 2, _GRID)

    return first_true(fits, fails, passes, relative=_CLOSE, middle=middle)
