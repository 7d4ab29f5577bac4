"""Filters along a line with mirror images at its ends: whole matrices that are never built.

Cells are continued beyond both ends by their images, which repeat (up to the sign) after `period` cells. A sequence h
of whole numbers that is alike in both directions then stands for a matrix A: convolve the images with h and look at the
cells, A_ij = h(|i - j|) + sign h(i + j + gap). All such matrices share their eigenvectors, so they commute, and the
product of two of them belongs to the convolution of their sequences.

Where weights are the same along runs of cells (`Runs`), they are sums of steps, each of which goes on from its place to
the last cell. So an exact sum over all pairs of cells is one over pairs of steps, of what the cells from both places on
add up to.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.balls import polynomial_product
from noisewright.numerics.fields import Floats
from noisewright.numerics.integer_matrices import Wholes, narrow
from noisewright.problem.errors import SolverError

_SPARE_BITS = 32
_INVERSE_BITS = 50
_FAINT = 2.0**-40


@dataclass(frozen=True, slots=True)
class Mirror:
    """A line of `size` cells whose images are negative beyond the last cell, and beyond the first if `odd`.

    Rule: odd at both ends the inverse Gram matrix of all ranges has these eigenvectors, else that of prefix sums.
    [theory#strategies-in-whole-numbers]
    """

    size: int
    odd: bool

    @property
    def period(self) -> int:
        """After how many cells the images begin again."""
        return 2 * self.size + (2 if self.odd else 1)

    @property
    def sign(self) -> int:
        """The sign of the image of the cells beyond the first."""
        return -1 if self.odd else 1

    @property
    def gap(self) -> int:
        """How far the first cell is from its own image beyond the first."""
        return 2 if self.odd else 1

    def images(self, cells: Wholes) -> Wholes:
        """One period of the cells and their images; the first of the cells is at place gap - 1."""
        none = np.zeros(1, dtype=cells.dtype)
        return np.concatenate([none[: self.gap - 1], cells, none, -cells[::-1]])

    def product(self, left: Wholes, right: Wholes) -> Wholes:
        """The convolution over one period of two sequences, exactly; one that goes around changes its sign if not odd.

        Rule: images of one end that is even and one that is odd are negative after one period.
        [theory#strategies-in-whole-numbers]
        """
        found = np.array(polynomial_product(left.tolist(), right.tolist()), dtype=object)
        whole = np.zeros(2 * self.period, dtype=object)
        whole[: len(found)] = found
        return np.asarray(whole[: self.period] - self.sign * whole[self.period :])

    def applied(self, sequence: Wholes, cells: Wholes) -> Wholes:
        """The matrix of a sequence times a column of whole numbers, exactly."""
        found = self.product(sequence, self.images(cells))
        return found[self.gap - 1 : self.gap - 1 + self.size]

    def filtered(self, sequence: Floats, cells: Floats) -> Floats:
        """The same in floats, up to their last digits."""
        from scipy.fft import next_fast_len

        size = next_fast_len(2 * self.period, real=True)
        whole = np.fft.irfft(np.fft.rfft(sequence, size) * np.fft.rfft(self.images(cells), size), size)
        found = whole[: self.period] - self.sign * whole[self.period : 2 * self.period]
        return np.asarray(found[self.gap - 1 : self.gap - 1 + self.size])

    def diagonal(self, sequence: Wholes) -> Wholes:
        """The diagonal of the matrix of a sequence."""
        return np.asarray(sequence[0] + self.sign * sequence[self.gap : self.gap + 2 * self.size : 2])

    def matrix(self, sequence: Wholes) -> Wholes:
        """The matrix of a sequence, entry by entry."""
        i = np.arange(self.size)
        beyond = sequence[np.add.outer(i, i) + self.gap]
        return np.asarray(sequence[np.abs(np.subtract.outer(i, i))] + self.sign * beyond)

    def spectrum(self, sequence: Wholes) -> Floats:
        """In floats, the eigenvalues of the matrix of a sequence, in the order of their waves; 0 where none belongs."""
        found = np.fft.rfft(self._around(sequence.astype(np.float64))).real
        return np.asarray(found if self.odd else found / 2)

    def sequence(self, spectrum: Floats) -> Floats:
        """In floats, the sequence whose matrix has these eigenvalues."""
        found = np.fft.irfft(spectrum, self.period) if self.odd else np.fft.irfft(2 * spectrum, 2 * self.period)
        return np.asarray(found[: self.period])

    def _around(self, values: Floats) -> Floats:
        """A period after which the sign is the same."""
        return values if self.odd else np.concatenate([values, -values])


def inverted(spectrum: Floats) -> Floats:
    """The inverse eigenvalues; what is 0 but for rounding, where none belongs, stays 0."""
    real = np.abs(spectrum) > _FAINT * np.abs(spectrum).max()
    return np.asarray(np.where(real, 1 / np.where(real, spectrum, 1.0), 0.0))


@lru_cache(maxsize=2)
def quarter_filter(mirror: Mirror, bits: int) -> Wholes:
    """Over one period the numbers 2^bits c_k and their first image, where c_k = c_(k-1) (4 k - 3) / (4 k - 1), c_0 = 1.

    Guarantees: defined by whole numbers alone, hence the same on all machines.
    Rule: c_k are in proportion to the coefficients of |1 - z|^(-1/2), whose square is the root of the inverse of
    2 - z - 1/z; rounding them changes what a strategy costs, and nothing else. [theory#strategies-in-whole-numbers]
    """
    period, value = mirror.period, 1 << (bits + _SPARE_BITS)
    line = [value]
    for k in range(1, period + 1):
        value = value * (4 * k - 3) // (4 * k - 1)
        line.append(value)
    half = 1 << (_SPARE_BITS - 1)
    whole = [(v + half) >> _SPARE_BITS for v in line]
    numbers = np.array(whole, dtype=np.int64)
    found = numbers[:-1] - mirror.sign * numbers[:0:-1]
    found.setflags(write=False)
    return np.asarray(found)


@lru_cache(maxsize=2)
def squared_columns(mirror: Mirror, bits: int) -> tuple[Wholes, int]:
    """The squared lengths of the columns of the matrix A of this filter, and a bound of products of two, exactly.

    No inner product of two different columns is below the bound, which is at most 0.
    Rule: A is symmetric, so all of these are in A^2, which belongs to the filter convolved with itself.
    [theory#strategies-in-whole-numbers]
    """
    taps = quarter_filter(mirror, bits)
    sequence = narrow(mirror.product(taps, taps))
    found = narrow(mirror.diagonal(sequence))
    found.setflags(write=False)
    return found, _least_apart(mirror, sequence)


def _least_apart(mirror: Mirror, sequence: Wholes) -> int:
    """At most the least entry beside the diagonal of the matrix of a sequence, and at most 0.

    Rule: h(d) + sign h(s) for cells at a distance d has s between d + gap and 2 (size - 1) + gap - d; what lies between
    these two for d does so for every smaller distance. [theory#strategies-in-whole-numbers]
    """
    last = mirror.size - 1
    apart = np.arange(last, 0, -1)
    low, high = mirror.sign * sequence[apart + mirror.gap], mirror.sign * sequence[2 * last + mirror.gap - apart]
    least = sequence[apart] + np.minimum.accumulate(np.minimum(low, high))
    return min(0, int(least.min()))


@dataclass(frozen=True, slots=True)
class MirroredInverse:
    """A sequence whose matrix Z is near 2^bits times the inverse of another one, A.

    Guarantees: all eigenvalues of A Z / 2^bits are within `miss` < 1 of 1; `condition` is at least |Z| |Z^-1|.
    """

    sequence: Wholes
    bits: int
    miss: Fraction
    condition: Fraction


def mirrored_inverse(mirror: Mirror, sequence: Wholes) -> MirroredInverse:
    """The inverse of the matrix of a sequence, with a proof of how near it is.

    Rule: an eigenvalue is a sum of the numbers of a sequence times cosines, so its size is at most the sum of their
    sizes. Raises SolverError where the matrix is too near to a singular one for that.
    [theory#strategies-in-whole-numbers]
    """
    found = mirror.sequence(inverted(mirror.spectrum(sequence)))
    bits = _INVERSE_BITS - int(np.floor(np.log2(np.abs(found).max())))
    inverse = np.rint(np.ldexp(found, bits)).astype(np.int64)
    left = mirror.product(sequence, inverse)
    left[0] -= 1 << bits
    miss = Fraction(int(np.abs(left).sum()), 1 << bits)
    if miss >= Fraction(1, 2):
        raise SolverError("the strategy is too near to a singular one; its error cannot be stated.")
    condition = Fraction(int(np.abs(inverse).sum()) * int(np.abs(sequence).sum()), 1 << bits) / (1 - miss)
    return MirroredInverse(inverse, bits, miss, condition)


@dataclass(frozen=True, slots=True)
class Runs:
    """Weights e along runs that begin at `starts` and end with the last of `size` cells."""

    starts: Wholes
    weights: Wholes
    size: int

    def steps(self) -> tuple[Wholes, Wholes]:
        """Where the weights jump, and by how much; after the last cell they are 0."""
        places = np.array([*self.starts, self.size], dtype=object)
        levels = np.array([0, *self.weights, 0], dtype=object)
        return places, np.diff(levels)

    def cells(self) -> Wholes:
        """The weight of every cell."""
        lengths = np.diff([*self.starts, self.size])
        return np.repeat(np.array(self.weights, dtype=object), lengths.astype(np.int64))

    def part(self, first: int, last: int) -> Runs:
        """The weights of the cells from `first` to `last`, both included, as of a line of their own."""
        inside = [(max(int(s) - first, 0), w) for s, w in zip(self.starts, self.weights, strict=True) if s <= last]
        kept = [pair for pair, after in zip(inside, [*inside[1:], (1, None)], strict=True) if after[0] > 0]
        starts, weights = (np.array(values, dtype=object) for values in zip(*kept, strict=True))
        return Runs(starts, weights, last - first + 1)

    def backwards(self) -> Runs:
        """The same weights from the last cell to the first."""
        ends = [*self.starts[1:], self.size]
        return Runs(np.array([self.size - v for v in ends[::-1]], dtype=object), self.weights[::-1], self.size)


@dataclass(frozen=True, slots=True)
class PairSums:
    """Sums over all pairs of cells of a number that i + j decides, times e_i f_j and 1, i, j, or i j."""

    plain: int
    first: int
    second: int
    both: int


def pair_sums(kernel: Wholes, left: Runs, right: Runs) -> PairSums:
    """The sums of kernel[i + j] over all pairs of cells.

    Rule: steps from p and q on give i + j = p + q + r in r + 1 ways, the coefficients of 1 / (1 - z)^2; i - p and j - q
    add up to those of z / (1 - z)^3 each, (i - p) (j - q) to those of z^2 / (1 - z)^4; and coefficients of
    1 / (1 - z)^k from a place on add up the kernel k times from its end on. [theory#strategies-in-whole-numbers]
    """
    (p, e), (q, f) = left.steps(), right.steps()
    at, jumps = _places(np.add.outer(p, q)), np.multiply.outer(e, f)
    twice = _from_the_end(np.concatenate([kernel, np.zeros(4, dtype=object)]), 2)
    thrice = _from_the_end(twice, 1)
    two, three, four = jumps * twice[at], jumps * thrice[at + 1], jumps * _from_the_end(thrice, 1)[at + 2]
    by_left, by_right = two * p[:, None] + three, two * q[None, :] + three
    both = (two * q[None, :] * p[:, None]).sum() + (three * np.add.outer(p, q)).sum() + four.sum()
    return PairSums(int(two.sum()), int(by_left.sum()), int(by_right.sum()), int(both))


def distance_sum(kernel: Wholes, runs: Runs) -> int:
    """The sum of kernel[i + j] e_i e_j |i - j| over all pairs of cells.

    Rule: steps from p and q on give, for i + j = p + q + r, (r + 1) |p - q| and twice the sum of v = r - |p - q|,
    v - 2, … as long as these are positive: |p - q| / (1 - z)^2 + 2 z^(|p - q| + 1) / ((1 - z)^2 (1 - z^2)), and
    p + q + |p - q| is twice the larger of both. [theory#strategies-in-whole-numbers]
    """
    p, e = runs.steps()
    jumps = np.multiply.outer(e, e)
    twice = _from_the_end(np.concatenate([kernel, np.zeros(4, dtype=object)]), 2)
    near = twice[_places(np.add.outer(p, p))] * np.abs(np.subtract.outer(p, p))
    for begin in (0, 1):
        twice[begin::2] = _from_the_end(twice[begin::2], 1)
    return int((jumps * (near + 2 * twice[_places(2 * np.maximum.outer(p, p) + 1)])).sum())


def prefix_squares(mirror: Mirror, sequence: Wholes, runs: Runs) -> tuple[Floats, Fraction]:
    """For every k the sum over i, j <= k of e_i e_j P_ij, P the matrix of a sequence, and how far all may be off.

    Rule: cell k adds e_k^2 P_kk and 2 e_k times the sum of e_j P_kj over j < k, where a step from place p on adds sums
    of neighbours of the sequence: differences of its sums from 0 on, which are exact before they become floats. With
    M the largest of these, T = 4 M times the sizes of all steps bounds what any of the B steps add up to. So each
    inner sum is off by at most (B + 8) T roundings, each term by twice that and 8 (P_kk + 2 T), and adding up n
    terms rounds by at most the largest sum each time. [theory#strategies-in-whole-numbers]
    """
    n, gap = runs.size, mirror.gap
    scale, top = int(sequence[0]), int(max(runs.weights))
    sums = np.array([int(v) / scale for v in [0, *np.cumsum(sequence)]])
    cells = np.array([int(v) / top for v in runs.cells()])
    diagonal = np.array([int(v) / scale for v in mirror.diagonal(sequence)])
    places, jumps = runs.steps()
    steps = [(int(p), int(e) / top) for p, e in zip(places[:-1], jumps[:-1], strict=True)]
    inner = np.zeros(n)
    for p, jump in steps:
        near = sums[2 : n - p + 1] - sums[1]
        beyond = sums[2 * p + 2 + gap : 2 * n + gap : 2] - sums[2 * p + 1 + gap : p + n + gap]
        inner[p + 1 :] += jump * (near + mirror.sign * beyond)
    found = np.cumsum(cells**2 * diagonal + 2 * cells * inner)
    largest = 4 * float(np.abs(sums).max()) * sum(abs(jump) for _, jump in steps)
    once = 2 * (len(steps) + 8) * largest + 8 * (float(diagonal.max()) + 2 * largest) + float(found.max())
    off = Fraction(1.01 * n * once) / 2**53 / Fraction(float(found.min()))
    return found * (float(scale) * float(top) ** 2), off / (1 - off)


def _places(at: Wholes) -> NDArray[np.int64]:
    return at.astype(np.int64)


def _from_the_end(values: Wholes, times: int) -> Wholes:
    """At each place the sum of all values from there on, so many times."""
    for _ in range(times):
        values = np.cumsum(values[::-1])[::-1]
    return values
