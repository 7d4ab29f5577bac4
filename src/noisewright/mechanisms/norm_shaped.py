"""Noise whose likelihood depends on a norm of the error vector: several numbers share one draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

import numpy as np

from noisewright.laws.lattice import HALF
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.answers import read_answers, stretch_of
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.per_coordinate import Several
from noisewright.numerics.balls import Ball, ball, hull
from noisewright.numerics.fields import BALLS, Field, Floats
from noisewright.problem import fields
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.queries import Vector
from noisewright.problem.records import Record, keep, record

LARGEST_ROUND_BLOCK = 16
LARGEST_ORDER = 100
LARGEST_INDEX = 2**53
_MOST_SHELLS = 2_000


@record(error=InvalidMechanismError)
class NormBlock(Record):
    """Numbers `places` get steps[i] * z_i, z an integer vector of mass proportional to e^(-rate norm(z)).

    `norm` is "max" (largest absolute coordinate), "l2" (Euclidean length) or another l_p norm with p from 1 to 100,
    such as "l3" or "l3/2".
    """

    places: fields.Wholes = fields.wholes(at_least=0, least=1)
    steps: fields.Rationals = fields.rationals(above=0, like="places")
    rate: fields.Rational = fields.rational(above=0)
    norm: fields.Text = fields.text(default="max")

    def __post_init__(self) -> None:
        keep(self, norm=_norm_name(self.norm))
        if self.order not in (None, 1) and len(self.places) > LARGEST_ROUND_BLOCK:
            raise InvalidMechanismError(
                f"a round block of {len(self.places)} numbers takes too many attempts to draw exactly;"
                f" at most {LARGEST_ROUND_BLOCK} are allowed."
            )
        if self.rate < (least := least_rate(self.size)):
            raise InvalidMechanismError(
                f"rate is {show(self.rate)}, so wide that a draw could leave the whole numbers of a machine; for"
                f" {self.size} numbers give at least {show(least)}, with larger steps.",
                rate=self.rate,
                least=least,
            )

    @property
    def size(self) -> int:
        """How many numbers share the draw."""
        return len(self.places)

    @property
    def order(self) -> Fraction | None:
        """The p of its l_p norm; None for the largest coordinate."""
        return None if self.norm == "max" else Fraction(self.norm[1:])

    @property
    def radius(self) -> ShellRadius:
        """The law of the shell for the largest-coordinate norm."""
        return ShellRadius(self.size, self.rate)


def least_rate(size: int) -> Fraction:
    """The least rate of a block of so many numbers that can be drawn in 64 bits.

    Rule: the shell is about a sum of `size` waiting times of mean 1 / rate; one beyond 2^63, which is eight times
    (size + 44) of them, has a chance below e^-300. [theory#noise-shaped-by-a-norm]
    """
    return Fraction(size + 44, 2**60)


def _norm_name(given: str) -> str:
    """One name for each norm: "l1.5" and "l6/4" are "l3/2"."""
    if given == "max":
        return given
    with suppress(ValueError, TypeError):
        order = parameter(given[1:], "norm")
        if given.startswith("l") and 1 <= order <= LARGEST_ORDER:
            return f"l{order}"
    raise InvalidMechanismError(
        f'norm is {given!r}; give "max", or "l" and a power from 1 to {LARGEST_ORDER}, such as "l2" or "l3/2".',
        norm=given,
    )


@record("norm-shaped", MECHANISMS, error=InvalidMechanismError)
class NormShaped(Several):
    """Independent blocks; numbers in no block are released as they are.

    Each number is rounded to the nearest multiple of its step; so is what is released. Answers that
    may carry the rounding errors of floats are contracted first, and the release is stretched as much.
    """

    query: Vector = fields.only(Vector)
    blocks: fields.Many[NormBlock] = fields.tuple_of(fields.only(NormBlock))

    def __post_init__(self) -> None:
        places = [place for block in self.blocks for place in block.places]
        if len(set(places)) != len(places) or any(not 0 <= place < self.query.dimension for place in places):
            raise InvalidMechanismError("each number belongs to at most one block.")
        for block in self.blocks:
            whole = {self.query.whole[place] for place in block.places}
            if len(whole) > 1 or (True in whole and any(step.denominator > 1 for step in block.steps)):
                raise InvalidMechanismError(
                    "a block is for whole numbers, with whole steps, or for real numbers; make one of each."
                )

    def law_given(self, answer: Sequence[Number]) -> list[tuple[Fraction, NormBlock | None]]:
        """For each number the lattice point (or the number itself) and the block whose noise is added to it."""
        placed: list[tuple[Fraction, NormBlock | None]] = [(x, None) for x in read_answers(answer, self.query)]
        for block in self.blocks:
            stretch = self.stretch(block)
            for place, step in zip(block.places, block.steps, strict=True):
                index = nearest(placed[place][0] / stretch, step, whole=self.whole(block))
                placed[place] = (index * step * stretch, block)
        return placed

    def whole(self, block: NormBlock) -> bool:
        """Whether a block is for whole numbers."""
        return self.query.whole[block.places[0]]

    def stretch(self, block: NormBlock) -> Fraction:
        """What a block's answers are divided by before they are put on the lattice, and releases multiplied by."""
        return stretch_of(self.query.exact or self.whole(block))

    def power_means(self, power: Fraction, field: Field) -> list[Ball]:
        if power not in (1, 2):
            self._refuse(f"the mean of |error|^{show(power)}")
        found = [ball(0)] * self.query.dimension
        for block in self.blocks:
            unit, stretch = _unit_moment(block, int(power)), self.stretch(block)
            for place, step in zip(block.places, block.steps, strict=True):
                value = unit * ball((step * stretch) ** int(power))
                found[place] = _of_whole(block, value, step, int(power)) if self.whole(block) else value
        return found

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Ball]:
        found = [ball(1)] * self.query.dimension
        for block in self.blocks:
            if block.norm != "max":
                self._refuse("the chance of a useful answer under round noise")
            radius, memo, stretch = block.radius, {}, self.stretch(block)
            for place, step in zip(block.places, block.steps, strict=True):
                limit = math.floor(limits[place]) + HALF if self.whole(block) else limits[place]
                reach = limit / (step * stretch)
                if reach not in memo:
                    # P(|x| <= t) on shell r is min(1, 2t / (2r+1)).
                    full = math.floor(reach - HALF)
                    partly = radius.tail(block.size - 1, full + 1) / radius.tail(block.size)
                    memo[reach] = 1 - radius.sf(full, BALLS) + ball(2 * reach) * partly
                found[place] = memo[reach]
        return found

    def inside(self, x: Floats) -> Floats:
        result = np.ones_like(x)
        for block in self.blocks:
            if block.norm != "max":
                self._refuse("the largest error under round noise")
            reach = np.floor(x) + 0.5 if self.whole(block) else x / float(self.stretch(block))
            result *= _block_inside(block, reach)
        return result


def nearest(value: Fraction, step: Fraction, *, whole: bool = False) -> int:
    """Index of the lattice point nearest to a value: floor(x/step + 1/2), never half-to-even.

    Raises InvalidAnswerError for real numbers 2^53 steps away, which are released as floats, and not for `whole` ones.
    """
    index = math.floor(value / step + HALF)
    if not whole and abs(index) >= LARGEST_INDEX:
        raise InvalidAnswerError(
            f"a number of the answer is too large for its lattice: at most {float(LARGEST_INDEX * step):.6g} in size"
            f" is allowed with step {show(step)}; rescale the query.",
        )
    return index


def _unit_moment(block: NormBlock, power: int) -> Ball:
    """Mean of |error|^power in steps.

    On shell r the error is uniform on [-(2r+1)/2, (2r+1)/2]. Rule for an l_p norm: half a step in each of k numbers has
    length k^(1/p) / 2, so the density lies within e^(+-rate k^(1/p)) of that proportional to e^(-rate |x|). There
    the length is Gamma(k) over the rate, and independent of it the share of one number has the moments of
    |g_1| / |g|, g with independent numbers of density proportional to e^(-|g_i|^p), whose p-th powers are Gamma(1/p).
    """
    if block.order is None:
        return block.radius.moment(power) / ball(2**power * (power + 1))
    k, p, rate = block.size, block.order, ball(block.rate)
    length = ball(k if power == 1 else k * (k + 1)) / rate**power
    own = BALLS.gamma((power + 1) / p) / BALLS.gamma(1 / p)
    whole = BALLS.gamma((k + power) / p) / BALLS.gamma(k / p)
    value = length * own / whole
    slack = rate * BALLS.power(ball(k), 1 / p)
    return hull(value * (-slack).exp(), value * slack.exp())


def _of_whole(block: NormBlock, value: Ball, step: Fraction, power: int) -> Ball:
    """The moment for whole answers, from that for answers spread evenly over their cells.

    Rule: on shell r the error takes n = step (2r+1) whole values with equal chance, from -(n-1)/2 to (n-1)/2 for odd n
    and from 1 - n/2 to n/2 for even n. Its mean square is (n^2 - 1)/12 or (n^2 + 2)/12, its mean size (n - 1/n)/4 or
    n/4. For round noise only the cells around 0 matter, by at most a quarter. [theory#noise-shaped-by-a-norm]
    """
    odd = step.numerator % 2 == 1
    if power == 2:
        return value + (ball(Fraction(-1, 12)) if odd else ball(Fraction(1, 6)))
    if block.norm != "max":
        return hull(value - ball(Fraction(1, 4)), value + ball(Fraction(1, 4)))
    return value - block.radius.moment(-1) / ball(4 * step) if odd else value


def _block_inside(block: NormBlock, x: Floats) -> Floats:
    """On shell r the errors are independent and uniform up to step * (r + 1/2)."""
    shells, masses = _grouped(block.radius.masses())
    steps = np.sort(np.array([float(s) for s in block.steps]))[::-1]
    log_steps = np.concatenate([[0.0], np.cumsum(np.log(steps))])
    out = np.empty_like(x)
    for i, value in enumerate(x):
        reach = value / (shells + 0.5)
        beyond = len(steps) - np.searchsorted(steps[::-1], reach, side="right")
        with np.errstate(divide="ignore"):
            logs = np.where(beyond > 0, beyond * np.log(np.maximum(reach, 1e-320)) - log_steps[beyond], 0.0)
        out[i] = float(np.sum(masses * np.exp(logs)))
    return np.minimum(out, 1.0)


def _grouped(masses: Floats) -> tuple[Floats, Floats]:
    """Radii and masses that matter; where there are thousands, neighbours are merged at their mean."""
    shells = np.flatnonzero(masses > 1e-18)
    width = math.ceil(len(shells) / _MOST_SHELLS)
    if width == 1:
        return shells.astype(np.float64), masses[shells]
    starts = np.arange(0, len(shells), width)
    merged = np.add.reduceat(masses[shells], starts)
    return np.add.reduceat(masses[shells] * shells, starts) / merged, merged
