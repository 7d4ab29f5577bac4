"""Exact sums over all pairs of cells where the cells of each run of neighbours have the same whole weight.

A weight that is the same along runs is a sum of steps, each of which goes on from its place to the last cell. So a sum
over all pairs of cells is one over pairs of steps, of what the cells from both places on add up to.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.arrays import Floats
from noisewright.numerics.mirrored import Mirror
from noisewright.numerics.whole_matrices import Wholes


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
    reach = 4 * float(np.abs(sums).max()) * sum(abs(jump) for _, jump in steps)
    once = 2 * (len(steps) + 8) * reach + 8 * (float(diagonal.max()) + 2 * reach) + float(found.max())
    off = Fraction(1.01 * n * once) / 2**53 / Fraction(float(found.min()))
    return found * (float(scale) * float(top) ** 2), off / (1 - off)


def _places(at: Wholes) -> NDArray[np.int64]:
    return at.astype(np.int64)


def _from_the_end(values: Wholes, times: int) -> Wholes:
    """At each place the sum of all values from there on, so many times."""
    for _ in range(times):
        values = np.cumsum(values[::-1])[::-1]
    return values
