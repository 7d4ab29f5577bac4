"""The budget of plans that choose groups privately: how much the choice gets, and how much the other answers.

What counts is the number of persons at which a group is published with an even chance, and the weighted error of the
other answers; a hundredth less of one is worth as much as a hundredth less of the other, unless weights say otherwise.
Three shapes are tried. *Added*: epsilons add up, the choice has the whole delta, the rest is pure. *Composed*, with
pure or with concentrated noise for the rest: every draw gets more, as much as the accountant proves of all of them
together. Floats choose; what is taken is proven by `compose`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.accounting.composition import compose
from noisewright.accounting.releases import DeclaredNoise as Declared, DeclaredPair
from noisewright.laws.gaussian import Gaussian
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import LARGEST_EPSILON, ApproxDP, PureDP, ZeroConcentratedDP
from noisewright.problem.utilities import SquaredError
from noisewright.release.plan.layout import Layout
from noisewright.release.plan.noise import Block, Noise, Price, price_of
from noisewright.release.plan.shares import by_table, weights_of
from noisewright.release.plan.strategies.by_group import BY_GROUP
from noisewright.release.plan.strategies.selection import (
    FOLLOWING,
    SELECTING,
    bounded_noise,
    persons_for,
    require_delta,
)
from noisewright.search.programmes.approximate import support

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

_SHARES = 20
_GRID = 10**9
_FEWEST_DRAWS = 8
_STEPS, _TRIES = 9, 6
_OF_DELTA, _SMALLER = Fraction(3, 4), 0.98
_SAFE = 1 - Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Amounts:
    """What each draw of the choice gets, and what all other answers get together."""

    choice: ApproxDP
    rest: PureDP | ZeroConcentratedDP | None


@dataclass(frozen=True, slots=True)
class Splitter:
    """A plan whose budget is to be split."""

    layout: Layout
    privacy: ApproxDP
    utility: Utility
    weights: Mapping[str, Number]

    @property
    def rest(self) -> Layout:
        """The tables besides those that choose."""
        return Layout(tuple(table for table in self.layout.tables if table.strategy != SELECTING))

    @property
    def draws(self) -> int:
        """How many draws of the choice one person can change."""
        return sum(table.groups for table in self.layout.tables if table.strategy == SELECTING)

    @property
    def others(self) -> int:
        """How many draws of the other tables one person can change."""
        return sum(table.strategy.touched(table) for table in self.rest.tables)

    def importance(self, *, of_choice: bool) -> float:
        """The largest weight of a question that the choice answers, or of another one."""
        labels = [
            question.label
            for table in self.layout.tables
            if (table.strategy == SELECTING) is of_choice
            for question, _ in table.questions
        ]
        found = [parameter(self.weights[label], "weight") for label in labels if label in self.weights]
        return float(max(found, default=Fraction(1)))

    def merit(self, noise: Noise) -> float:
        """What is to be least: logarithms of the persons for an even chance and of the error of the rest."""
        needed, rest = [], 0.0
        for block, table, error in zip(noise.blocks, self.layout.tables, noise.errors, strict=True):
            if table.strategy == SELECTING:
                needed.append(math.log(persons_for(block.certified.mechanism.law, Fraction(1, 2))))
            else:
                rest += error
        power = 2 if isinstance(self.utility, SquaredError) else 1
        own = self.importance(of_choice=True) * math.fsum(needed) / len(needed)
        return own + self.importance(of_choice=False) * (math.log(rest) / power if rest else 0.0)

    def noise(self, amounts: Amounts) -> Noise:
        """The mechanisms of these amounts, in the order of the tables."""
        rest = self.rest
        own = [weights_of(table, self.utility, self.weights) for table in rest.tables]
        other = by_table(rest, amounts.rest, self.utility, own) if amounts.rest is not None else Noise((), ())
        others = iter(zip(other.blocks, other.errors, strict=True))
        blocks, errors = [], []
        for place, table in enumerate(self.layout.tables):
            if table.strategy == SELECTING:
                given = weights_of(table, self.utility, self.weights)
                found = table.strategy.proposed(table, amounts.choice, self.utility, given)
                blocks.append(Block(found.certified, place, found.name, found.why))
                errors.append(found.error)
            else:
                block, error = next(others)
                blocks.append(Block(block.certified, place, block.name, block.why))
                errors.append(error)
        return Noise(tuple(blocks), tuple(errors))

    def added(self) -> Amounts:
        """Epsilons that add up: the best of a few shares for the choice, by where its noise would end."""
        epsilon, delta, draws = self.privacy.epsilon, self.privacy.delta * _SAFE / self.draws, self.draws
        if not self.rest.tables:
            return Amounts(ApproxDP(epsilon / draws, delta), None)
        first, second = self.importance(of_choice=True), self.importance(of_choice=False)

        def value(share: Fraction) -> float:
            end = support(ApproxDP(share * epsilon / draws, delta), 1.0)
            return first * math.log(end) - second * math.log(1 - share)

        best = min((Fraction(i, _SHARES) for i in range(1, _SHARES)), key=value)
        return Amounts(ApproxDP(best * epsilon / draws, delta), PureDP((1 - best) * epsilon))

    def composed(self, total: float, *, pure: bool) -> Amounts:
        """Shares of a concentration: each draw of the choice has epsilon^2 / 2 of it, so do the pure ones."""
        first, second = self.importance(of_choice=True), self.importance(of_choice=False)
        share = first / (first + second) if self.rest.tables else 1.0
        choice = _rounded(math.sqrt(2 * total * share / self.draws))
        given = ApproxDP(min(choice, LARGEST_EPSILON), self.privacy.delta * _OF_DELTA / self.draws)
        if not self.rest.tables:
            return Amounts(given, None)
        left = total * (1 - share)
        if not pure:
            return Amounts(given, ZeroConcentratedDP(_rounded(left)))
        return Amounts(given, PureDP(min(_rounded(math.sqrt(2 * left * self.others)), LARGEST_EPSILON)))

    def holds(self, amounts: Amounts) -> bool:
        """Whether such noise would be within the requirement; the rest stands for itself by its worst case."""
        parts: list[Any] = [compose([bounded_noise(amounts.choice, self.utility)], groups=self.draws)]
        if isinstance(amounts.rest, PureDP):
            parts.append((DeclaredPair(amounts.rest.epsilon / self.others), self.others))
        elif amounts.rest is not None:
            parts.append(Declared(Gaussian(_rounded(1 / math.sqrt(2 * float(amounts.rest.rho)))), 1))
        return self._within(compose(parts, neighbours="add-remove"))

    def _within(self, price: Price) -> bool:
        """Whether the point of the curve that a ledger is charged with is within the requirement."""
        pair = price.costs().pair()
        return pair is not None and pair[0] <= self.privacy.epsilon and pair[1] <= self.privacy.delta

    def largest(self, *, pure: bool) -> float:
        """The largest concentration, about, at which such noise holds; 0 where none was found."""
        room = math.log(4 / float(self.privacy.delta))
        low = (math.sqrt(room + float(self.privacy.epsilon)) - math.sqrt(room)) ** 2 / 2
        if not self.holds(self.composed(low, pure=pure)):
            return 0.0
        high = 8 * low
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.holds(self.composed(middle, pure=pure)) else (low, middle)
        return low

    def tried(self) -> Iterator[Noise]:
        """Every shape that can be made."""
        with suppress(InvalidPrivacyError):
            yield self.noise(self.added())
        if self.draws + self.others < _FEWEST_DRAWS:
            return
        shapes = [True] if not self.rest.tables or not self._continuous() else [True, False]
        for pure in shapes:
            with suppress(InvalidPrivacyError):
                yield from self._largest(pure=pure)

    def _continuous(self) -> bool:
        return all(table.strategy in (BY_GROUP, FOLLOWING) for table in self.rest.tables)

    def _largest(self, *, pure: bool) -> Iterator[Noise]:
        """The composed shape with as much for each draw as the accountant proves of the mechanisms themselves."""
        total = self.largest(pure=pure)
        for _ in range(_TRIES if total else 0):
            found = self.noise(self.composed(total, pure=pure))
            if self._within(price_of(found.blocks, self.layout)):
                yield found
                return
            total *= _SMALLER


def with_selection(layout: Layout, privacy: Notion, utility: Utility, weights: Mapping[str, Number]) -> Noise:
    """The best noise that was found for a layout that chooses groups; the whole is proven to keep the requirement.

    Rule: all mechanisms are fixed before anything is drawn. The choice is one of them; the others are applied to groups
    that it published, which is a choice of what is shown (`selection.Following`). So the whole costs no more than the
    composition over what one person touches of each table, which is what is charged. [theory#composition-and-filters]
    """
    splitter = Splitter(layout, require_delta(privacy), utility, weights)
    best = min(splitter.tried(), key=splitter.merit, default=None)
    if best is None:
        return splitter.noise(splitter.added())
    return best.priced(layout, privacy)


def _rounded(value: float) -> Fraction:
    return Fraction(max(1, math.floor(value * _GRID)), _GRID)
