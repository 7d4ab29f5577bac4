"""Exact products of matrices of whole numbers, and proven bounds of what depends on an inverse."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import SolverError
from noisewright.problem.matrices import WholeMatrix

Wholes: TypeAlias = NDArray[Any]
"""64-bit integers, or Python integers where one could be beyond them."""

_FLOAT_BITS = 53
_WORD_BITS = 62
_MOST_DIFFERENCES = 1 << 31
_INVERSE_BITS, _LARGE_INVERSE_BITS, _LARGE = 46, 39, 512
"""How fine an inverse is; that of a large matrix fits two pieces of a product, which takes a third of the time."""


def bits_of(matrix: Wholes) -> int:
    """How many bits the largest entry has."""
    if not matrix.size:
        return 0
    return max(int(matrix.max()).bit_length(), int(matrix.min()).bit_length())


def narrow(matrix: Wholes) -> Wholes:
    """As 64-bit integers where all fit, else as Python integers."""
    if matrix.dtype == object and bits_of(matrix) <= _WORD_BITS:
        return matrix.astype(np.int64)
    return matrix


def product(left: Wholes, right: Wholes) -> Wholes:
    """left @ right, exactly.

    Rule: the factors are cut into pieces so short that every sum of products of pieces is a whole number below 2^53,
    whatever the order in which it is added up; so products of floats are exact, and are put together as integers.
    [theory#strategies-in-whole-numbers]
    """
    inner = left.shape[-1]
    size = (_FLOAT_BITS - 1 - max(1, inner).bit_length()) // 2
    wide = bits_of(left) + bits_of(right) + inner.bit_length() > _WORD_BITS
    first, second = _pieces(left, size), _pieces(right, size)
    # Pieces of one place are added up as machine integers first: there are so few that the sums still fit.
    places = [
        sum(np.rint(a @ second[k - i]).astype(np.int64) for i, a in enumerate(first) if 0 <= k - i < len(second))
        for k in range(len(first) + len(second) - 1)
    ]
    return _joined(places, size, wide)


def _joined(places: list[Any], size: int, wide: bool) -> Wholes:
    """The sum of places[k] 2^(size k): carried upwards, so that several places share a machine integer."""
    if not wide:
        return np.asarray(sum(part << size * k for k, part in enumerate(places)))
    mask, carry, digits = (1 << size) - 1, 0, []
    for part in places[:-1]:
        carried = part + carry
        digits.append(carried & mask)
        carry = carried >> size
    top = places[-1] + carry
    together = _WORD_BITS // size
    total = top.astype(object)
    for end in range(len(digits), 0, -together):
        group = digits[max(0, end - together) : end]
        low = sum(digit << size * k for k, digit in enumerate(group))
        total = (total << size * len(group)) + low.astype(object)
    return np.asarray(total)


def inner_products(rows: WholeMatrix) -> list[list[int]]:
    """The products of all pairs of columns, exactly."""
    matrix = _entries(rows)
    found: list[list[int]] = product(np.ascontiguousarray(matrix.T), matrix).tolist()
    return found


def farthest_columns(rows: WholeMatrix, *, empty: bool) -> int | None:
    """The largest sum of |differences| of two columns, exactly; None where that takes long.

    `empty` adds a column of zeros.
    """
    matrix = _entries(rows)
    if bits_of(matrix) + len(matrix).bit_length() + 1 > _WORD_BITS or matrix.size * rows.columns > _MOST_DIFFERENCES:
        return None
    columns = np.ascontiguousarray(matrix.T)
    if empty:
        columns = np.concatenate([columns, np.zeros((1, len(matrix)), dtype=np.int64)])
    return max(int(np.abs(columns - column).sum(axis=1).max()) for column in columns)


def _entries(rows: WholeMatrix) -> Wholes:
    packed = rows.packed
    if packed is None:
        return np.array([list(row) for row in rows], dtype=object)
    return np.frombuffer(packed, dtype=np.int64).reshape(rows.rows, rows.columns)


def _pieces(matrix: Wholes, size: int) -> list[NDArray[np.float64]]:
    """The digits of the entries to base 2^size, each with the sign of its entry."""
    bits = bits_of(matrix)
    # The smallest machine integer has no negative of its own kind.
    matrix = matrix.astype(object) if bits > _WORD_BITS else matrix
    count = max(1, -(-bits // size))
    mask = (1 << size) - 1
    negative = matrix < 0
    sizes = np.where(negative, -matrix, matrix)
    signs = np.where(negative, -1.0, 1.0)
    return [((sizes >> size * i) & mask).astype(np.float64) * signs for i in range(count)]


@dataclass(frozen=True, slots=True)
class NearInverse:
    """Whole numbers Z with Z Z^T / 4^bits near the inverse of a positive definite matrix X.

    Guarantees: for every vector w, w^T X^-1 w lies between |Z^T w|^2 / 4^bits divided by 1 + miss and by 1 - miss.
    """

    squares: Wholes
    """Z Z^T."""
    bits: int
    miss: Fraction

    def ends(self, value: Any) -> tuple[Fraction, Fraction]:
        """What lies around w^T X^-1 w (or sums of such) where it is `value` with Z Z^T in place of the inverse."""
        unit = Fraction(int(value.numerator), int(value.denominator)) / 4**self.bits
        return unit / (1 + self.miss), unit / (1 - self.miss)


def near_inverse(matrix: Wholes) -> NearInverse:
    """An inverse of a symmetric positive definite matrix of whole numbers, with a proof of how near it is.

    Rule: with E = I - Z^T X Z / 4^bits and r the largest row sum of |E| < 1, all eigenvalues of the symmetric matrix
    Z^T X Z / 4^bits lie within r of 1, so that X is positive definite and X^-1 = Z (Z^T X Z)^-1 Z^T.
    Raises SolverError where the matrix is too near to a singular one for that. [theory#strategies-in-whole-numbers]
    """
    size = len(matrix)
    scale = float(max(int(matrix[i, i]) for i in range(size)))
    try:
        below = np.linalg.cholesky(matrix.astype(np.float64) / scale)
        found = np.linalg.solve(below, np.eye(size)).T / scale**0.5
    except np.linalg.LinAlgError:
        raise SolverError("the strategy is too near to a singular one; its error cannot be stated.") from None
    wanted = _INVERSE_BITS if size <= _LARGE else _LARGE_INVERSE_BITS
    bits = wanted - int(np.floor(np.log2(np.abs(found).max())))
    whole = _rounded(found, bits)
    one = 1 << 2 * bits
    left = product(product(np.ascontiguousarray(whole.T), matrix), whole).astype(object)
    left[np.diag_indices(size)] -= one
    miss = Fraction(max(int(v) for v in np.abs(left).sum(axis=1)), one)
    if miss >= Fraction(1, 2):
        raise SolverError("the strategy is too near to a singular one; its error cannot be stated.")
    return NearInverse(product(whole, np.ascontiguousarray(whole.T)), bits, miss)


def _rounded(matrix: NDArray[np.float64], bits: int) -> Wholes:
    """2^bits times a matrix of floats, in whole numbers below 2^53."""
    return np.rint(np.ldexp(matrix, bits)).astype(np.int64)
