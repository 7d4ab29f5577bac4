"""Arb balls: the only place that touches python-flint.

A ball encloses a real number; every operation keeps the enclosure. Comparisons of balls are
three-valued, so nothing here or elsewhere negates one. The working precision is global to the
process in the underlying library; `precision` serialises its users.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeAlias

from flint import acb, arb, ctx, fmpq, fmpz, fmpz_poly

from noisewright.problem.errors import EnclosureError
from noisewright.problem.untrusted import require_time

Ball: TypeAlias = Any
"""A flint.arb; the library ships no types that strict checking could use."""

DEFAULT_BITS = 128
_FAINT_BITS = 1000
_LARGEST_BITS = 1 << 16
_lock = threading.RLock()


def _fresh_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def precision(bits: int = DEFAULT_BITS) -> Iterator[None]:
    """Work with `bits` bits inside the block; other threads wait, nested blocks restore theirs."""
    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> Ball:
    """Smallest ball at the working precision around an exact rational; refuses once a deadline is over."""
    require_time()
    if isinstance(value, int):
        return arb(fmpz(value))
    return arb(fmpq(value.numerator, value.denominator))


def around(value: float, slack: float) -> Ball:
    """The ball of all reals within `slack` of a float."""
    return arb(value, slack)


def hull(low: Ball, high: Ball) -> Ball:
    """A ball around everything between two balls."""
    return low.union(high)


def infinite() -> Ball:
    """Positive infinity: the value of an expectation that does not exist as a finite number."""
    return arb("inf")


def upper_gamma_share(order: Fraction | int, x: Ball) -> Ball:
    """The regularised upper incomplete gamma function Q(order, x)."""
    return x.gamma_upper(ball(order), regularized=1)


def pi() -> Ball:
    """Pi at the working precision."""
    return arb.pi()


def complex_ball(value: Fraction | int) -> Any:
    """An exact rational as a complex ball, for integrands."""
    return acb(ball(value))


def integral(function: Callable[[Any, bool], Any], start: Fraction, end: Fraction) -> Ball:
    """Rigorous enclosure of the integral of a real function over an interval.

    `function(x, analytic)` takes and returns complex balls and must return a non-finite one where it
    is not analytic and the flag is set.
    """
    tolerance = arb(2) ** (-ctx.prec // 2)
    return acb.integral(function, acb(ball(start)), acb(ball(end)), rel_tol=tolerance, abs_tol=arb(0)).real


def working_bits() -> int:
    """The precision in force."""
    return int(ctx.prec)


def certainly_at_most(left: Ball, right: Ball) -> bool:
    """True only if every value of `left` is at most every value of `right`."""
    return bool(left <= right)


def lower(value: Ball) -> Fraction:
    """An exact rational at or below every value of the ball; nearer to 0 than 2^-1000 it is 0 or -2^-1000."""
    return -upper(-value)


def upper(value: Ball) -> Fraction:
    """An exact rational at or above every value of the ball; nearer to 0 than 2^-1000 it is 2^-1000 or 0.

    So an end never has more than a few hundred digits, and files can hold it. Raises EnclosureError where there is no
    finite end, or one beyond 2^65536, which would take memory and mean nothing.
    """
    m, e = _parts(value.upper())
    if not m or m.bit_length() + e <= -_FAINT_BITS:
        return Fraction(1, 1 << _FAINT_BITS) if m > 0 else Fraction(0)
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)


def floor_scaled(value: Ball, bits: int) -> int:
    """An integer at or below 2^bits times every value of the ball, within one of its lower end."""
    m, e = _parts(value.lower())
    shift = max(e + bits, -m.bit_length())
    return m << shift if shift >= 0 else m >> -shift


def ceil_scaled(value: Ball, bits: int) -> int:
    """An integer at or above 2^bits times every value of the ball, within one of its upper end."""
    return -floor_scaled(-value, bits)


def _parts(end: Ball) -> tuple[int, int]:
    """Whole m and e of an end m 2^e that is finite and not too large to be written down."""
    require_time()
    if not end.is_finite():
        raise EnclosureError("a ball has no finite end; the numbers are too extreme to be enclosed.")
    mantissa, exponent = end.man_exp()
    m, e = int(mantissa), int(exponent)
    if m.bit_length() + e > _LARGEST_BITS:
        raise EnclosureError(f"a ball ends beyond 2^{_LARGEST_BITS}; the numbers are too extreme to be enclosed.")
    return m, e


def mass_product(factors: list[list[int]], bits: int) -> list[int]:
    """Product of polynomials whose coefficients are masses in units of 2^-bits, each rounded up to that unit."""
    rest = list(factors)
    while len(rest) > 1:
        rest.sort(key=len)
        rest = [*rest[2:], convolved(rest[0], rest[1], bits)]
    return rest[0]


def convolved(left: list[int], right: list[int], bits: int, *, up: bool = True) -> list[int]:
    """The masses of a sum of two independent whole numbers, in units of 2^-bits; each rounded up, or each down.

    Zeros at the end may be missing.
    """
    one = fmpz_poly(left)
    product = (one * (one if right is left else fmpz_poly(right))).coeffs()
    return [-(-int(c) >> bits) for c in product] if up else [int(c) >> bits for c in product]


def angle(sine: Ball, cosine: Ball) -> Ball:
    """The angle whose sine and cosine have these proportions."""
    return arb.atan2(sine, cosine)


def polynomial_product(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """The coefficients of the product of two polynomials in whole numbers, exactly; the last are left out where 0."""
    return [int(c) for c in (fmpz_poly(list(left)) * fmpz_poly(list(right))).coeffs()]


def positive(matrix: Sequence[Sequence[Ball]]) -> bool:
    """Whether a symmetric matrix was proven to be positive definite: all pivots of its elimination are."""
    rows = [list(row) for row in matrix]
    for k, head in enumerate(rows):
        if not bool(head[k] > 0):
            return False
        for row in rows[k + 1 :]:
            factor = row[k] / head[k]
            for c in range(k, len(row)):
                row[c] = row[c] - factor * head[c]
    return True
