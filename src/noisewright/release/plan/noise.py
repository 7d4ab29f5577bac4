"""The noise of a plan: the mechanisms that answer it, what they cost together, the draw, and the errors to expect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.accounting.composition import Composition, compose
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Vector
from noisewright.problem.utilities import SquaredError
from noisewright.release.plan.layout import AnswerTable, Layout, Numbers
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy

if TYPE_CHECKING:
    from noisewright.mechanisms.base import Mechanism
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility
    from noisewright.proof.costs import Costs


@dataclass(frozen=True, slots=True)
class Block:
    """A certified mechanism and what it answers: each group of one table by itself, or everything (`table` None)."""

    certified: Certified
    table: int | None
    name: str
    why: str


Price = Certified | Composition
"""What is charged for a plan: one mechanism, or the composition of what one person touches of each table."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The blocks of a plan, which together answer every number once, the weighted error of each, and the price."""

    blocks: tuple[Block, ...]
    errors: tuple[float, ...]
    price: Price | None = None
    """None as long as nobody has asked whether they keep the requirement together."""

    @property
    def value(self) -> float:
        """The weighted error of the whole plan."""
        return math.fsum(self.errors)

    def priced(self, layout: Layout, privacy: Notion) -> Noise:
        """The same with its price; refused where that is above the requirement."""
        price: Price = price_of(self.blocks, layout)
        require_kept(price, self.blocks, layout, privacy)
        return replace(self, price=price)


def joint_query(layout: Layout) -> Vector:
    """All numbers as one question."""
    return Vector(layout.sensitivity, integer=True)


def price_of(blocks: Sequence[Block], layout: Layout) -> Any:
    """What is charged: one mechanism, or the composition over the tables of what one person touches of each."""
    first = layout.tables[0]
    alone = blocks[0].table is None or (first.strategy.alone(first) and not layout.private)
    if len(blocks) == 1 and alone:
        return blocks[0].certified
    tables = [table.strategy.charge(block.certified, table) for block, table in zip(blocks, layout.tables, strict=True)]
    return tables[0] if len(tables) == 1 else compose(tables)


def price_within(blocks: Sequence[Block], layout: Layout, privacy: Notion) -> Price:
    """What is charged; refused where it is above the requirement."""
    price: Price = price_of(blocks, layout)
    require_kept(price, blocks, layout, privacy)
    return price


def require_kept(price: Price, blocks: Sequence[Block], layout: Layout, privacy: Notion) -> None:
    """Refuse a price that is not proven to be within the requirement; the proof, not the search, decides."""
    certificate: Any = price.certificate
    if isinstance(price, Certified) and certificate.requirement == privacy:
        return
    found, allowed = _spent(price.costs(), privacy)
    if found is not None and found <= allowed:
        return
    if not isinstance(privacy, ApproxDP) or not _added_up(blocks, layout, privacy):
        raise UncertifiedError("the parts of this plan together were not proven to keep the requirement; refused.")


def _added_up(blocks: Sequence[Block], layout: Layout, privacy: ApproxDP) -> bool:
    """Whether the certified epsilons and deltas of all draws that one person can change add up to a requirement.

    Rule: basic composition; the curve of a composition, which is on a grid, may lie a little above.
    [theory#composition-and-filters]
    """
    epsilon = delta = Fraction(0)
    for block in blocks:
        held: Any = block.certified.certificate.requirement
        table = None if block.table is None else layout.tables[block.table]
        times = 1 if table is None else table.strategy.touched(table)
        if type(held) not in (PureDP, ApproxDP):
            return False
        epsilon += times * held.epsilon
        delta += times * (held.delta if isinstance(held, ApproxDP) else 0)
    return epsilon <= privacy.epsilon and delta <= privacy.delta


def _spent(costs: Costs, privacy: Notion) -> tuple[Fraction | None, Fraction]:
    """What is proven of the cost in the words of a requirement, and how much it allows."""
    if isinstance(privacy, ZeroConcentratedDP):
        rho, delta = costs.concentrated() or (None, Fraction(0))
        return (None if delta else rho), privacy.rho
    if isinstance(privacy, RenyiDP):
        return costs.divergence(privacy.alpha), privacy.epsilon
    if isinstance(privacy, ApproxDP):
        epsilon, delta = costs.pair(privacy.delta) or (None, Fraction(0))
        return (None if delta > privacy.delta else epsilon), privacy.epsilon
    if isinstance(privacy, PureDP):
        return costs.pure(), privacy.epsilon
    return None, Fraction(0)


def drawn(blocks: Sequence[Block], layout: Layout, vector: Numbers, entropy: Entropy | None = None) -> list[Any]:
    """The released numbers: each block answers its own table, in their order, or all of them."""
    if len(blocks) == 1 and blocks[0].table is None:
        return [int(value) for value in blocks[0].certified.release(list(vector), entropy=entropy)]
    found: list[tuple[AnswerTable, list[Any]]] = []
    for block, table, part in zip(blocks, layout.tables, layout.split(vector), strict=True):
        own = table.strategy.after(table, part, found)
        found.append((table, table.strategy.drawn(block.certified, table, own, entropy)))
    return [value for _, numbers in found for value in numbers]


def widths(blocks: Sequence[Block], layout: Layout, confidence: Fraction) -> list[list[Fraction]]:
    """By table, how far each number of a group is from the truth with a confidence, checked by `half_width`."""
    found = []
    joint = blocks[0].certified.half_width(confidence) if blocks[0].table is None else None
    start = 0
    for place, table in enumerate(layout.tables):
        width = len(table.aggregates)
        if joint is not None:
            group = joint[start : start + table.count]
            # Every group of a table has the same set and weights, but a search may treat them apart.
            each = [max(group[i::width]) for i in range(width)]
            start += table.count
        else:
            each = table.strategy.widths(blocks[place].certified, table, confidence)
        found.append([Fraction(value) for value in each])
    return found


def errors_of(mechanism: Mechanism, utility: Utility) -> list[float]:
    """The expected error of each number that a mechanism answers, by itself."""
    plain = type(utility)()
    if not hasattr(mechanism.query, "dimension"):
        with precision():
            return [mechanism.shown(plain, mechanism.expected(plain))]
    with precision():
        values = [float(value.mid()) for value in plain.each(mechanism.errors, BALLS)]
    return values * (int(mechanism.errors.count) // len(values))


def expected(blocks: Sequence[Block], layout: Layout, utility: Utility, place: int) -> list[float]:
    """For the numbers of a group of one table, the root mean squared or mean absolute error, in whole units."""
    first, table = blocks[0], layout.tables[place]
    if first.table is None:
        start = sum(other.count for other in layout.tables[:place])
        values = errors_of(first.certified.mechanism, utility)[start : start + len(table.aggregates)]
    else:
        values = table.strategy.errors(blocks[place].certified, table, utility)
    return [math.sqrt(value) for value in values] if isinstance(utility, SquaredError) else values
