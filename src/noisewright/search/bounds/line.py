"""What no strategy can beat for a workload: proofs that take whole numbers and add them up.

Nothing here knows how the numbers were found. For positive weights s of the cells and any matrices K and Q the squared
nuclear norm of W diag(s) is at least tr(diag(s) G K Q^T)^2 / (|W K|^2 |Q|^2), because the nuclear norm is the dual of
the operator norm, and |W K|^2 and |Q|^2 are at most the largest row sums of |K^T G K| and |Q^T Q|.

For ranges or prefix sums along a line it takes a number of steps proportional to its length. Up to a factor their Gram
matrix G has an inverse K with three diagonals, 2 (1 at the first cell for prefix sums) and -1 beside it. With
s^2 = lambda the nuclear norm of W diag(s) is the trace of the square root of diag(s) G diag(s). That is at least the
sum over nodes t of w tr(diag(lambda) (K + t diag(lambda))^-1) / (1 + delta) if sqrt(x) times the sum of w / (x + t) is
at most 1 + delta for every x > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.fields import Floats
from noisewright.numerics.integer_matrices import Wholes, product
from noisewright.problem.workload import Workload
from noisewright.search.cache import user_cache

_SPACING = 0.7
_BEYOND = 12.0
_UNIT = 2.0**-53
_SLOP = 1 + 2.0**-20
_COARSE, _SHORT, _FINE, _GROWTH = 2048, 32_768, 2**19, 4
_NEAR = 16
_ROUNDS, _FEW_ROUNDS = 25, 3
_POWER = 2.5
_CHUNK = 1 << 14
_BITS = 128


def line_form(query: Workload) -> tuple[str, Fraction] | None:
    """The form and weight of a workload that asks for all ranges or all prefix sums of a line, and for nothing else."""
    if len(query.parts) != 1 or len(query.parts[0].factors) != 1:
        return None
    factor = query.parts[0].factors[0]
    return (factor.form, query.parts[0].weight) if factor.form in ("ranges", "prefixes") else None


def least_line(query: Workload) -> Fraction | None:
    """A proven lower bound of the total error of every strategy of sensitivity 1 and noise 1; None elsewhere."""
    found = line_form(query)
    if found is None:
        return None
    form, weight = found
    cache, name = user_cache(), f"line-{form}-{query.size}"
    bound: Fraction | None = cache.get(name)
    if bound is None:
        bound = proven_line(form, cell_weights(form, query.size))
        cache.put(name, bound)
    return bound * weight


def nodes(size: int) -> tuple[Floats, Floats]:
    """Nodes t and weights w of the sum, for lines of this length whose cells have weights of about 1."""
    low, high = -math.log(2 * size) - _BEYOND, math.log(2) + _BEYOND
    places = np.arange(math.floor(low / _SPACING), math.ceil(high / _SPACING) + 1) * _SPACING
    return np.exp(2 * places), 2 / math.pi * _SPACING * np.exp(places)


def excess() -> float:
    """What delta is at most: how far above 1 sqrt(x) times the sum over all nodes can be.

    Rule: with x = e^(2y) and t = e^(2u) it is the sum of h / pi sech(u - y) over multiples u of h, which is (Poisson)
    1 + 2 sum of sech(pi^2 k / h) cos(2 pi k y / h) over k >= 1, and fewer nodes give less. Floats hold t and w within
    2^-48 of themselves, which the last term covers. [theory#many-questions-about-one-table]
    """
    first = 2 * math.exp(-(math.pi**2) / _SPACING)
    return 2 * first * 1.001 + 2.0**-46


def proven_line(form: str, cells: Floats) -> Fraction:
    """The lower bound that positive weights of the cells prove.

    Rule: pivots of K + t diag(lambda) are 1 + e with e_i = t lambda_i + e / (1 + e) of the cell before, and
    g_i = (lambda_i + g / (1 + e)) / (1 + e_i) adds up to the trace; every term is positive, so nothing cancels, and
    the relative errors of e and g are carried along: each operation adds 2^-53, sums weigh the errors of their
    terms. The bound is lowered by all of them, and by what adding up can lose. [theory#many-questions-about-one-table]
    """
    size, cells = len(cells), cells / cells.mean()
    t, w = nodes(size)
    e, g = np.zeros(len(t)), np.zeros(len(t))
    e_off, g_off = np.zeros(len(t)), np.zeros(len(t))
    total, lost = np.zeros(len(t)), np.zeros(len(t))
    first = 1.0 if form == "ranges" else 0.0
    for i, cell in enumerate(cells.tolist()):
        before, before_off = 1 + e, e_off * e / (1 + e) + _UNIT
        passed = e / before if i else np.full(len(t), first)
        passed_off = e_off / before + 2 * _UNIT if i else e_off
        own = t * cell
        e = own + passed
        e_off = (own * _UNIT + passed * passed_off) / e + _UNIT
        pivot, pivot_off = 1 + e, e_off * e / (1 + e) + _UNIT
        carried = g / before
        sum_ = cell + carried
        g_off = carried * (g_off + before_off + _UNIT) / sum_ + 2 * _UNIT + pivot_off
        g = sum_ / pivot
        total += g
        lost += g * g_off
    summed = size * _UNIT
    trace = float((w * (total * (1 - summed) - lost * _SLOP)).sum()) * (1 - 2.0**-45)
    spread = math.fsum(cells.tolist()) * (1 + _UNIT)
    factor = size + 1 if form == "ranges" else 1
    return factor * Fraction(trace) ** 2 / (Fraction(1 + 2.0**-50) * (1 + Fraction(excess())) ** 2 * Fraction(spread))


def cell_weights(form: str, size: int) -> Floats:
    """Weights of the cells near the best: solved on a short line, stretched, and improved while that takes no time."""
    short = min(size, _COARSE)
    found = _improved(form, np.ones(short), _ROUNDS)
    missed = np.ones(short)
    while len(found) < size:
        longer = min(size, _GROWTH * len(found))
        # What stretching missed when the line grew last, it will nearly miss again.
        guess = _stretched(found, longer)
        found = guess * _stretched(missed, longer)
        if longer <= _FINE:
            found = _improved(form, found, _FEW_ROUNDS if longer <= _SHORT else 1)
        missed = found / guess
    return found


def _stretched(cells: Floats, size: int) -> Floats:
    """The same weights on a longer line: alike near the ends by distance, in the middle by share, between by slope.

    Near an end they depend on the distance to it alone, up to a factor, and in between nearly as a power of it.
    """
    half = -(-len(cells) // 2)
    left = _half_stretched(np.log(cells[:half]), size / len(cells), -(-size // 2))
    right = _half_stretched(np.log(cells[::-1][:half]), size / len(cells), -(-size // 2))
    return np.asarray(np.exp(np.concatenate([left, right[: size // 2][::-1]])))


def _half_stretched(logs: Floats, ratio: float, size: int) -> Floats:
    near = max(2, len(logs) // _NEAR)
    places = np.log(np.arange(len(logs)) + 0.5)
    slope = (logs[2 * near] - logs[near // 2]) / (places[2 * near] - places[near // 2])
    apart = math.log(ratio)
    known = np.concatenate([places[: near + 1], places[near + 1 :] + apart])
    values = np.concatenate([logs[: near + 1] - slope * apart, logs[near + 1 :]])
    return np.asarray(np.interp(np.log(np.arange(size) + 0.5), known, values))


def _improved(form: str, cells: Floats, rounds: int) -> Floats:
    """Steps to the fixed point lambda = diag (diag(s) G diag(s))^(1/2), up to a factor, by two sweeps of pivots."""
    size = len(cells)
    t, w = nodes(size)
    for _ in range(rounds):
        ahead = _sweep(t, cells, 1.0 if form == "ranges" else 0.0)
        back = _sweep(t, cells[::-1], 1.0)[::-1]
        diagonal = np.concatenate(
            [
                (w / (t * cells[i : i + _CHUNK, None] + ahead[i : i + _CHUNK] + back[i : i + _CHUNK])).sum(axis=1)
                for i in range(0, size, _CHUNK)
            ]
        )
        cells = cells * diagonal**_POWER
        cells /= cells.mean()
    return cells


def _sweep(t: Floats, cells: Floats, first: float) -> NDArray[np.float32]:
    """What each pivot takes over from the cells before it, for every node."""
    found = np.empty((len(cells), len(t)), dtype=np.float32)
    passed: Floats = np.full(len(t), first)
    for i, cell in enumerate(cells.tolist()):
        found[i] = passed
        e = t * cell + passed
        passed = e / (1 + e)
    return found


@dataclass(frozen=True, slots=True)
class Witness:
    """Whole numbers that prove a lower bound: weights of the cells, and two matrices with a row for each cell.

    Any will do; good ones are near s, diag(s) V D^-1 and V in the decomposition V D^2 V^T of diag(s) G diag(s).
    """

    cells: Wholes
    left: Wholes
    right: Wholes


def least_total(gram: Wholes, below: int, witness: Witness) -> Fraction:
    """A proven lower bound of tr(G X^-1) over all strategies X whose diagonal is at most 1, where G = gram / below.

    Guarantees: holds whatever the witness is, which decides how sharp it is.
    Rule: the total error of X is at least |W diag(s)|_*^2 / sum s^2 for every s, by Cauchy and Schwarz.
    [LiMiklau13, theory#many-questions-about-one-table]
    """
    middle = product(gram, witness.left)
    turned = np.ascontiguousarray(witness.right.T)
    trace = sum(int(s) * int(v) for s, v in zip(witness.cells, _paired(middle, witness.right), strict=True))
    operator = _largest_row(product(np.ascontiguousarray(witness.left.T), middle))
    spread = sum(int(s) ** 2 for s in witness.cells) * _largest_row(product(turned, witness.right))
    if trace <= 0 or not operator or not spread:
        return Fraction(0)
    return Fraction(trace**2, below * operator * spread)


def _paired(left: Wholes, right: Wholes) -> Wholes:
    """The diagonal of left right^T."""
    return np.asarray((left.astype(object) * right.astype(object)).sum(axis=1))


def _largest_row(matrix: Wholes) -> int:
    return max(int(v) for v in np.abs(matrix).astype(object).sum(axis=1))


def least_worst(gram: Wholes, below: int, witness: Witness, total: Fraction) -> Fraction:
    """The same for the largest variance, where `gram` adds up the questions with weights whose sum is `total`.

    Rule: a weighted mean of variances is at most the largest of them. [theory#many-questions-about-one-table]
    """
    return least_total(gram, below, witness) / total
