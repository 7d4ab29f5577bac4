"""From scales, ellipses and frames in floats to mechanisms on integers, scaled so that every pair fits exactly.

With a delta the smallest certified Gaussian noise; choices, and synthetic histograms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright.mechanisms.linear.noise import MOST_TOGETHER, Block, ColumnGaussian, LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MOST_CANDIDATES, MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.selection import MetricChoice
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import Floats
from noisewright.numerics.pairs import Cost, largest_ratio, ratio_above
from noisewright.problem.errors import InvalidQueryError, UncertifiedError
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import METRICS, Hamming, Scaled
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import ApproxDP, MetricPrivacy
from noisewright.problem.queries import Choice
from noisewright.problem.utilities import ErrorQuantile, Utility
from noisewright.proof.linear import column_squared_sensitivity
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.vector import largest_length
from noisewright.search.programmes.linear import PairTable, Solved, at_distance_zero, best_ellipse, best_rates

_FINE = 40
"""Steps are 2^-40 of a noise scale: a billion people move an answer by less than a thousandth of it."""
_COLUMN_BITS = 50
_EXACT_BITS = 45
_SHORT_BITS = 400
_REPAIRS = 8
_MOST_ROWS = 64
_ROUNDS_GROWTH = 1.25
_MOST_GROWN = 40
_CELLS_FINE = 12
"""A cell is about 2^-12 of the noise."""
_FRAME_BITS = 48
_COARSEST, _FINEST = 1, 1 << 14
_ALIKE = 1e-6
_ROOM = 1 + Fraction(1, 2**40)


def laplace_mechanism(
    query: Linear, privacy: MetricPrivacy, rates: Sequence[float], wanted: Sequence[Sequence[Fraction]] | None = None
) -> Certified:
    """Independent noise in the proportions of `rates`, as little of it as every pair allows, certified.

    An infinite rate is no noise. `wanted` replaces the columns of the query where a little bias is traded for less
    noise.
    """
    scales = [Fraction(1 / r) for r in rates]
    rows = query.rationals() if wanted is None else wanted
    fine = (scale or max(map(abs, row)) for row, scale in zip(rows, scales, strict=True))
    columns, steps = zip(*(integer_row(row, scale) for row, scale in zip(rows, fine, strict=True)), strict=True)

    def build(factor: Fraction) -> LinearLaplace:
        return LinearLaplace(query, tuple(columns), tuple(steps), tuple(factor * s for s in scales))

    noisy = [k for k, scale in enumerate(scales) if scale]
    costs = [Cost.l1([columns[k] for k in noisy], tuple(steps[k] / scales[k] for k in noisy))] if noisy else []
    return _repaired(build, privacy, _factor(privacy.metric, costs))


def elliptical_mechanism(
    query: Linear, privacy: MetricPrivacy, ellipses: list[tuple[list[int], Floats, Fraction]]
) -> Certified:
    """Round noise in the coordinates of each ellipse (queries, M, share of the budget), certified.

    Queries in no ellipse get no noise.
    """
    blocks = _still_blocks(query, [k for k in range(query.dimension) if all(k not in rows for rows, _, _ in ellipses)])
    for rows, ellipse, share in ellipses:
        shape = np.linalg.cholesky(ellipse).T
        matrix = np.array([[v / query.denominators[k] for v in query.numerators[k]] for k in rows])
        seen = shape @ matrix
        step = 2.0 ** max(-_FINE, math.ceil(math.log2(max(np.abs(seen).max(), 1e-300))) - _COLUMN_BITS)
        columns = tuple(tuple(int(v) for v in row) for row in np.rint(seen / step))
        decode = np.linalg.inv(shape) * step
        back = tuple(tuple(Fraction(float(v)) for v in row) for row in decode)
        metric = privacy.metric if share == 1 else Scaled(privacy.metric, share)
        rate = Fraction(step) / _factor(metric, [Cost.l2(columns, Fraction(step))])
        blocks.append(Block(tuple(rows), columns, rate, back, share))

    def build(factor: Fraction) -> LinearElliptical:
        return LinearElliptical(query, tuple(replace(b, rate=b.rate / factor) if b.share else b for b in blocks))

    return _repaired(build, privacy, Fraction(1))


def _still_blocks(query: Linear, still: Sequence[int]) -> list[Block]:
    """Blocks without noise, each query on the steps that it has itself."""
    rows, blocks = query.rationals(), []
    for start in range(0, len(still), MOST_TOGETHER):
        part = still[start : start + MOST_TOGETHER]
        columns, steps = zip(*(integer_row(rows[k], max(map(abs, rows[k]))) for k in part), strict=True)
        back = [[step if i == k else Fraction(0) for i in range(len(part))] for k, step in enumerate(steps)]
        blocks.append(Block(part, columns, 1, back, 0))
    return blocks


def exponential_mechanism(scores: Linear | Choice, privacy: MetricPrivacy, *, moves: Any = None) -> Certified:
    """Choose a row of linear scores: the sharpest weights that every pair allows, certified.

    For scores of your own give a `Choice` with exact scores, and as `moves` a metric: a person who changes from element
    i to element j moves every score by at most sensitivity times moves(i, j); without it, by the sensitivity at most,
    whatever the change.
    """
    if not isinstance(scores, Choice):
        if moves is not None:
            raise InvalidQueryError("moves are declared for scores of your own; those of a linear question are known.")
        return _selected(MetricExponential, scores, privacy)
    declared = Hamming(privacy.metric.size, 1) if moves is None else METRICS.read(moves, "moves")
    first = MetricChoice(scores, declared, 1)
    try:
        ratio = ratio_above(declared, privacy.metric) if declared.size == privacy.metric.size else Fraction(1)
    except ZeroDivisionError as error:
        raise at_distance_zero(*error.args[0]) from None
    scale = (_short(ratio) or Fraction(1, 2**60)) * first.query.sensitivity
    return _repaired(lambda factor: replace(first, scale=factor), privacy, scale)


def smalldb_mechanism(
    query: Linear, privacy: MetricPrivacy, rows: int | None = None, *, confidence: Number = "0.95"
) -> Certified:
    """A database of `rows` people with nearly the same answers, certified (refused if not enumerable).

    Without `rows`, the number of them for which the largest error is proven to be the smallest, with the confidence,
    for the question's people.
    """
    first = _selected(MetricSmallDB, query, privacy, 1 if rows is None else rows)
    if rows is not None:
        return first
    offered = []
    for count in range(1, _MOST_ROWS + 1):
        made = replace(first.mechanism, rows=count)
        if made.candidates > MOST_CANDIDATES:
            break
        offered.append(made)
    return make_certified(_nearest(offered, confidence), privacy)


def mwem_mechanism(
    query: Linear, privacy: MetricPrivacy, rounds: int | None = None, *, confidence: Number = "0.95"
) -> Certified:
    """A synthetic histogram by multiplicative weights, certified.

    Without `rounds`, the number of them for which the largest error is proven to be the smallest, with the confidence,
    for the question's people.
    """
    first = _selected(MetricMWEM, query, privacy, 1 if rounds is None else rounds)
    if rounds is not None:
        return first
    counts = sorted({round(_ROUNDS_GROWTH**i) for i in range(_MOST_GROWN)})
    coarse = _nearest([replace(first.mechanism, rounds=count) for count in counts], confidence).rounds
    around = range(max(1, int(coarse / _ROUNDS_GROWTH)), int(coarse * _ROUNDS_GROWTH) + 2)
    return make_certified(_nearest([replace(first.mechanism, rounds=count) for count in around], confidence), privacy)


def _nearest(offered: Sequence[Any], confidence: Number) -> Any:
    """The mechanism whose answers are proven to be the nearest; the first among equals."""
    utility, people = ErrorQuantile(confidence), offered[0].query.people
    if people is None:
        raise InvalidQueryError(
            "the best number depends on how many people there are; give Linear(..., people=n), or the number itself."
        )
    return min(offered, key=lambda made: made.within(utility.confidence, people))


def _selected(make: Callable[..., Any], query: Linear, privacy: MetricPrivacy, *more: int) -> Certified:
    """A mechanism that sees all rows on one step."""
    flat = [v for row in query.rationals() for v in row]
    values, step = integer_row(flat, max(flat) - min(flat) or Fraction(1))
    columns = tuple(values[k : k + query.size] for k in range(0, len(values), query.size))
    factor = _factor(privacy.metric, Cost.largest(columns, step))
    return _repaired(lambda factor: make(query, columns, step, factor, *more), privacy, factor)


def integer_row(row: Sequence[Fraction], scale: Fraction) -> tuple[tuple[int, ...], Fraction]:
    """A row as integers times a step: exactly if its own unit allows, else rounded far below the scale."""
    denominator = math.lcm(*{v.denominator for v in row})
    whole = [int(v * denominator) for v in row]
    divisor = math.gcd(*whole) or 1
    largest = max(abs(v) for v in whole) // divisor
    if largest.bit_length() <= _EXACT_BITS:
        return tuple(v // divisor for v in whole), Fraction(divisor, denominator)
    size = max(abs(v) for v in row)
    exponent = max(_exponent(scale) - _FINE, _exponent(size) + 1 - _COLUMN_BITS)
    step = Fraction(2) ** exponent
    return tuple(math.floor(v / step + Fraction(1, 2)) for v in row), step


def _exponent(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def _factor(metric: Any, costs: list[Cost]) -> Fraction:
    """The largest ratio of cost and distance over all pairs, rounded up where it has many digits."""
    worst = Fraction(0)
    for cost in costs:
        try:
            worst = max(worst, largest_ratio(metric, cost)[0])
        except ZeroDivisionError as error:
            raise at_distance_zero(*error.args[0]) from None
    return _short(worst) if worst else Fraction(1, 2**60)


def _short(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= _SHORT_BITS // 2:
        return value
    shift = 80 - _exponent(value)
    return Fraction(math.floor(value * Fraction(2) ** shift) + 1) / Fraction(2) ** shift


def _repaired(build: Callable[[Fraction], Any], privacy: MetricPrivacy, factor: Fraction) -> Certified:
    """Certify; where the float search missed a nearly tight pair, widen by a hair and prove again."""
    for attempt in range(_REPAIRS):
        try:
            return make_certified(build(factor), privacy)
        except UncertifiedError as error:
            if "pair" not in error.fields:
                raise
            factor = _short(factor * (1 + Fraction(4**attempt, 2**42)))
    return make_certified(build(factor), privacy)


def independent_gaussian(
    query: Linear, privacy: ApproxDP, table: PairTable, utility: Utility
) -> tuple[ColumnGaussian, float]:
    """Independent noise with the best deviation for each query, and the duality gap of its programme.

    Rule: with inverse variances p the noise is private if the sum of p_k difference_k^2 is at most a constant for every
    pair; the error is a sum of p_k^(-power/2), which is convex. [theory#metric-privacy]
    """
    weights = np.array([float(w) for w in utility.shares(query.dimension)])

    def programme(rows: Floats) -> Solved:
        found = best_rates(rows**2, weights, float(utility.power or 2) / 2)
        return replace(found, point=np.diag(found.point))

    found = table.solve(programme, euclidean=True)
    roots = np.sqrt(np.diag(found.point))
    if np.ptp(roots) <= _ALIKE * roots.max() and (exact := _on_own_steps(query, privacy)) is not None:
        return exact, found.gap
    return _in_frame(query, privacy, np.diag(roots)), found.gap


def correlated_gaussian(
    query: Linear, privacy: ApproxDP, table: PairTable, utility: Utility
) -> tuple[ColumnGaussian, float] | None:
    """The best covariance for the total squared error (in blocks beyond 20 queries), and its duality gap.

    None where differences do not span all queries.
    """
    count = query.dimension
    if count == 1:
        return None
    weights = np.array([float(w) for w in utility.shares(count)])
    blocks = [list(range(k, min(k + MOST_TOGETHER, count))) for k in range(0, count, MOST_TOGETHER)]
    frame, rows, gaps = np.zeros((count, count)), query.rationals(), []
    for block in blocks:
        part = table if len(blocks) == 1 else PairTable(Linear([rows[k] for k in block]), Hamming(query.size, 1))
        found = part.solve(partial(best_ellipse, weights=weights[block]), euclidean=True)
        if found is None:
            return None
        # Squared lengths of blocks add up: with share p of them a block has its error multiplied by 1/p.
        frame[np.ix_(block, block)] = np.linalg.cholesky(found.point).T * found.value**0.25
        gaps.append(found.gap)
    return _in_frame(query, privacy, frame), max(gaps)


def _on_own_steps(query: Linear, privacy: ApproxDP) -> ColumnGaussian | None:
    """The same noise for every query, on the steps that the query has itself; None where those do not suit."""
    flat = [v for row in query.rationals() for v in row]
    values, step = integer_row(flat, max(map(abs, flat)))
    if any(v != n * step for v, n in zip(flat, values, strict=True)):
        return None
    columns = tuple(values[k : k + query.size] for k in range(0, len(values), query.size))
    decode = tuple(tuple(step * int(i == k) for i in range(query.dimension)) for k in range(query.dimension))
    found = _calibrated(ColumnGaussian(query, columns, 1, Fraction(_FINEST), decode), privacy)
    return found if _COARSEST <= found.std <= _FINEST else None


def _in_frame(query: Linear, privacy: ApproxDP, frame: Floats) -> ColumnGaussian:
    """Round noise in a frame, on cells far finer than it."""
    matrix = np.array([[v / query.denominators[k] for v in query.numerators[k]] for k in range(query.dimension)])
    seen = frame @ matrix
    step = 2.0 ** (math.ceil(math.log2(np.abs(seen).max())) - _FRAME_BITS)
    columns = tuple(tuple(int(v) for v in row) for row in np.rint(seen / step))
    apart = max(float(np.linalg.norm(seen - seen[:, :1], axis=0).max()), step)
    wide = apart / float(largest_length(privacy.epsilon, privacy.delta)) / step
    cell = 2 ** max(1, math.floor(math.log2(max(wide, 2.0))) - _CELLS_FINE)
    decode = tuple(tuple(Fraction(float(v)) for v in row) for row in np.linalg.inv(frame) * step * cell)
    return _calibrated(ColumnGaussian(query, columns, cell, Fraction(_FINEST), decode), privacy)


def _calibrated(made: ColumnGaussian, privacy: ApproxDP) -> ColumnGaussian:
    """With as little noise as its longest difference allows, by the verifier's own rule; at least one cell of it."""
    with precision():
        length = upper(ball(column_squared_sensitivity(made)).sqrt())
    std = length * _ROOM / largest_length(privacy.epsilon, privacy.delta)
    shown = Fraction(math.ceil(std * 2**40), 2**40)
    return ColumnGaussian(made.query, made.columns, made.cell, max(shown, Fraction(1)), made.decode)
