"""Which numbers of a plan add up to which, and how far each is off after they were made to."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.laws.lattice import HALF
from noisewright.mechanisms.half_widths import Spread, groups_of, rounded_up
from noisewright.mechanisms.tails import PartTail
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.utilities import SquaredError
from noisewright.release.drawing import widths
from noisewright.release.layout import Limits, Table
from noisewright.release.numbers import Persons, Rows
from noisewright.release.sums import Sizes, Term, half_width_of, sizes_of
from noisewright.release.totals import Level, Tree, parents_of
from noisewright.release.ways import BY_GROUP, errors_of

if TYPE_CHECKING:
    from noisewright.release.plan import Plan

_DIGITS = 10
_SAME = 1e-9
_DEPENDENT = (
    "the noise of this plan is drawn for all numbers at once, so that how far sums are off is not known; release"
    " without 'totals', or plan with privacy=nw.PureDP(...)."
)


@dataclass(frozen=True, slots=True)
class Family:
    """One number asked for nested groups: where it stands (table, place in its group), the tree, the half-widths."""

    number: Any
    members: tuple[tuple[int, int], ...]
    tree: Tree
    widths: tuple[Fraction, ...]


def families_of(plan: Plan, confidence: Fraction) -> list[Family]:
    """The numbers that are asked for both parts and totals, each with how far its answers are off.

    Asking for totals says that the listed groups hold every row that the total counts. Where the limits of a person
    make totals differ from the sums of their parts, totals are the sums, and their own answers do not count.
    """
    asked: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    names: dict[tuple[int, int], str] = {}
    for place, table in enumerate(plan.layout.tables):
        for question, places in table.questions:
            if question.plain and table.way == BY_GROUP and (place, places[0]) not in names:
                asked[question.numbers[0]].append((place, places[0]))
                names[place, places[0]] = question.label
    found = []
    for number, members in asked.items():
        tables = [plan.layout.tables[place] for place, _ in members]
        parents = parents_of([table.grouping for table in tables], [names[member] for member in members])
        for chosen in _connected(parents):
            if len(chosen) > 1:
                own = [None if parents[i] is None else chosen.index(parents[i]) for i in chosen]  # type: ignore[arg-type]
                found.append(_family(plan, number, [members[i] for i in chosen], own, confidence))
    return found


def _connected(parents: Sequence[int | None]) -> list[list[int]]:
    """The tables of each tree."""

    def root(place: int) -> int:
        above = parents[place]
        return place if above is None else root(above)

    trees: dict[int, list[int]] = defaultdict(list)
    for place in range(len(parents)):
        trees[root(place)].append(place)
    return list(trees.values())


def _family(
    plan: Plan, number: Any, members: Sequence[tuple[int, int]], parents: Sequence[int | None], confidence: Fraction
) -> Family:
    tables = [plan.layout.tables[place] for place, _ in members]
    laws = [_law(plan, place, i) for place, i in members]
    counts = _counting(number, tables, parents, plan.limits)
    levels = [Level(t.grouping, law.variance, c) for t, law, c in zip(tables, laws, counts, strict=True)]
    tree, alone = Tree(levels, parents), widths(plan.blocks, plan.layout, confidence)
    found = [Fraction(0)] * tree.size
    for first, alike in tree.kinds().items():
        place, i = members[tree.level_of[first]]
        width = _width(tree, tree.coefficients(first), laws, confidence)
        for node in alike:
            found[node] = alone[place][i] if width is None else width
    return Family(number, tuple(members), tree, tuple(found))


def _width(tree: Tree, row: Any, laws: Sequence[Law], confidence: Fraction) -> Fraction | None:
    """How far an answer is off after the map; None where the map leaves it as it is."""
    terms, bias = [], 0.0
    for place, law in enumerate(laws):
        part = np.abs(row[tree.starts[place] : tree.starts[place] + tree.levels[place].grouping.count])
        bias += float(part.sum()) * float(law.bias)
        values, counts = np.unique(np.round(part, _DIGITS), return_counts=True)
        terms += [(law, float(c), int(n)) for c, n in zip(values, counts, strict=True) if c > 0]
    if [(c, n) for _, c, n in terms] == [(1.0, 1)]:
        return None
    found = half_width_of([Term(law.sizes, c * float(law.unit), n) for law, c, n in terms], confidence)
    return found + Fraction(rounded_up(Fraction(bias)))


def _counting(number: Any, tables: Sequence[Table], parents: Sequence[int | None], limits: Limits) -> list[bool]:
    """Of each table, whether its own answers are about the same truth as the sums of its parts.

    Raises InvalidQueryError where a table has parts in two tables, and they are about different truths.
    """
    found = [True] * len(tables)
    for coarse in range(len(tables)):
        below = [place for place in range(len(tables)) if coarse in _ancestors(place, parents)]
        if all(_exact(number, tables[coarse], tables[fine], limits) for fine in below):
            continue
        if sum(parent == coarse for parent in parents) > 1:
            raise InvalidQueryError(
                "with the limits of a person, totals over different groupings count different rows and cannot all add"
                " up; declare one_row_per_person=True if it is true, or ask for one of the groupings."
            )
        found[coarse] = False
    return found


def _ancestors(place: int, parents: Sequence[int | None]) -> list[int]:
    above = parents[place]
    return [] if above is None else [above, *_ancestors(above, parents)]


def _exact(number: Any, coarse: Table, fine: Table, limits: Limits) -> bool:
    """Whether a total is the sum of its parts also after the rows of a person were limited.

    Rule: with one row per person nothing is left out. Otherwise a person who counts with 1 in all and in one group at
    most counts as much in the sum; in every other case the rows that are kept may differ.
    [theory#tables-and-contribution-bounds]
    """
    if limits.one_row_per_person:
        return True
    once = all(number.extent(table.rows) == 1 for table in (coarse, fine))
    return number in (Rows(), Persons()) and once and coarse.grouping.count == fine.groups == 1


@dataclass(frozen=True, slots=True)
class Law:
    """The error of a number: noise in whole units, and at most `bias` more, which depends on the truth.

    Rule: mechanisms for several numbers put the truth on the nearest multiple of a step before they add noise.
    [theory#what-the-stated-error-means]
    """

    sizes: Sizes
    unit: Fraction
    bias: Fraction

    @property
    def variance(self) -> float:
        """The variance of the noise, in the unit of the number."""
        return (self.sizes.std * float(self.unit)) ** 2


def _law(plan: Plan, place: int, i: int) -> Law:
    """The law of a number's error in one group of a table, the same for every group.

    Rule: noise of z steps has |z| > k exactly where z, spread over a step around it, is farther than k + 1/2.
    [theory#what-the-stated-error-means]
    """
    table, joint = plan.layout.tables[place], plan.blocks[0].table is None
    mechanism = plan.blocks[0 if joint else place].certified.mechanism
    start = sum(other.count for other in plan.layout.tables[:place]) if joint else 0
    rows = range(start + i, start + table.count, len(table.numbers)) if joint else range(i, i + 1)
    one = not hasattr(mechanism.query, "dimension")
    spread = Spread(PartTail(mechanism)) if one else _spread(mechanism, rows)
    std = math.sqrt(errors_of(mechanism, SquaredError())[0 if one else rows[0]])
    with precision():
        if isinstance(spread.tail, PartTail):
            _require_symmetric(spread.tail)
            return Law(sizes_of(lambda t: float(upper(spread.beyond(t))), std), Fraction(1), Fraction(0))
        steps = sizes_of(lambda t: float(upper(spread.tail.beyond(t + HALF))), std / float(spread.factor))
        return Law(steps, spread.factor, spread.offset + (spread.factor / 2 if spread.factor > 1 else 0))


def _require_symmetric(tail: Any) -> None:
    """Refuse noise of a plan made elsewhere whose errors are not as likely to either side."""
    if isinstance(tail, PartTail):
        law = tail.part.errors.density
        if any(
            abs(law.sf(t, FLOATS) - law.cdf(-t, FLOATS)) > _SAME for t in (Fraction(1, 2), tail.within(HALF) + HALF)
        ):
            raise InvalidQueryError("the noise of this plan is not symmetric; release without 'totals'.")


def _spread(mechanism: Any, rows: Sequence[int]) -> Any:
    """How the errors at some places are spread: the same for all of them, and independent of one another."""
    found: Any = None
    groups: set[tuple[int, ...]] = set()
    for places, group in groups_of(mechanism).items():
        own = [place for place in places if place in rows]
        if len(own) > 1:
            raise InvalidQueryError(_DEPENDENT)
        for place in own:
            spread = group.spreads[places.index(place)]
            if found is not None and spread != found:
                raise InvalidQueryError(_DEPENDENT)
            found, groups = spread, groups | {places}
    if found is None or len(groups) != len(rows):
        raise InvalidQueryError(_DEPENDENT)
    return found
