"""Totals that add up: answers of nested groupings brought together by weighted least squares, a linear map.

The same number asked for coarser and for finer groups makes a tree: each group of the coarser table is the sum of its
groups in the finer one. Upwards, a group's own answer and the sums of its parts are averaged by their precision;
downwards, what is left over is shared out by variance. Weights are decimals that add up to exactly one, so that sums
hold exactly and no answer is biased, whatever the variances were.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.lattice import HALF
from noisewright.mechanisms.half_widths import Spread, groups_of, rounded_up
from noisewright.mechanisms.tails import PartTail
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.utilities import SquaredError
from noisewright.release.plan.layout import AnswerTable, ContributionBounds
from noisewright.release.plan.noise import errors_of, widths
from noisewright.release.plan.plan import Plan
from noisewright.release.plan.strategies.by_group import BY_GROUP
from noisewright.release.run.noise_sums import Sizes, Term, half_width_of, sizes_of
from noisewright.release.stage.aggregates import Aggregate, Persons, Rows
from noisewright.release.stage.groupings import Grouping

_DIGITS = 10**12
_MOST_WORK = 50_000_000


@dataclass(frozen=True, slots=True)
class Level:
    """One table of a tree: its groups, the variance of an answer, and whether its own answers count."""

    grouping: Grouping
    variance: float
    counts: bool = True


def parents_of(groupings: Sequence[Grouping], names: Sequence[str]) -> list[int | None]:
    """Of each grouping, the finest other one whose groups are sums of its groups; None if there is none.

    Raises InvalidQueryError where there are two of them and neither is a part of the other: no tree.
    """
    above = [[c for c in range(len(groupings)) if _is_sum(groupings, c, f)] for f in range(len(groupings))]
    found: list[int | None] = []
    for f, candidates in enumerate(above):
        finest = [c for c in candidates if not any(c in above[other] for other in candidates)]
        if len(finest) > 1:
            raise InvalidQueryError(
                f"the groups of {names[f]!r} are parts of those of {names[finest[0]]!r} and of {names[finest[1]]!r},"
                " which are not nested; totals add up where each table is a part of one other. Leave one of them out.",
                name=names[f],
            )
        found.append(finest[0] if finest else None)
    return found


def _is_sum(groupings: Sequence[Grouping], coarse: int, fine: int) -> bool:
    """Whether each group of a table is the sum of groups of another; of two alike the first counts as the coarser."""
    wide, narrow = groupings[coarse], groupings[fine]
    if coarse == fine or not set(wide.columns) <= set(narrow.columns):
        return False
    if len(wide.columns) == len(narrow.columns) and coarse > fine:
        return False
    return {_part(label, narrow, wide) for label in narrow.labels()} == set(_labels(wide))


def _labels(grouping: Grouping) -> list[tuple[object, ...]]:
    return [_part(label, grouping, grouping) for label in grouping.labels()]


def _part(label: Sequence[object], grouping: Grouping, of: Grouping) -> tuple[object, ...]:
    """The part of a label that names a group of a coarser grouping; `True` and 1 are two values."""
    named = dict(zip(grouping.columns, label, strict=True))
    return tuple((type(named[column]), named[column]) for column in of.columns)


class Tree:
    """The groups of all levels as nodes, and the linear map from their answers to answers that add up."""

    def __init__(self, levels: Sequence[Level], parents: Sequence[int | None]) -> None:
        self.levels, self.parents = levels, parents
        counts = [level.grouping.count for level in levels]
        self.starts = [sum(counts[:place]) for place in range(len(counts))]
        self.size = sum(counts)
        self.level_of = [place for place, count in enumerate(counts) for _ in range(count)]
        self.up: list[int | None] = [None] * self.size
        self.parts: list[dict[int, list[int]]] = [{} for _ in range(self.size)]
        for place, parent in enumerate(parents):
            if parent is not None:
                self._link(place, parent)
        self.order = sorted(range(len(levels)), key=self._depth)
        self._weigh()

    def _depth(self, place: int) -> int:
        parent = self.parents[place]
        return 0 if parent is None else 1 + self._depth(parent)

    def _link(self, fine: int, coarse: int) -> None:
        narrow, wide = self.levels[fine].grouping, self.levels[coarse].grouping
        where = {label: self.starts[coarse] + row for row, label in enumerate(_labels(wide))}
        for row, label in enumerate(narrow.labels()):
            node, above = self.starts[fine] + row, where[_part(label, narrow, wide)]
            self.up[node] = above
            self.parts[above].setdefault(fine, []).append(node)

    def nodes(self, place: int) -> range:
        """The nodes of a level, in the order of its groups."""
        return range(self.starts[place], self.starts[place] + self.levels[place].grouping.count)

    def _weigh(self) -> None:
        """From the finest level up: the weight of each node's own answer and of the sums of its parts."""
        self.own: list[Fraction] = [Fraction(1)] * self.size
        self.of_parts: list[dict[int, Fraction]] = [{} for _ in range(self.size)]
        self.gain: list[Fraction] = [Fraction(0)] * self.size
        self.variance = [self.levels[place].variance for place in self.level_of]
        for place in reversed(self.order):
            for node in self.nodes(place):
                sums = {fine: math.fsum(self.variance[n] for n in below) for fine, below in self.parts[node].items()}
                if not sums:
                    continue
                for below in self.parts[node].values():
                    for n, gain in zip(below, _decimals([self.variance[n] for n in below]), strict=True):
                        self.gain[n] = gain
                precisions = [1 / self.variance[node] if self.levels[place].counts else 0.0]
                precisions += [1 / total for total in sums.values()]
                own, *rest = _decimals(precisions)
                self.own[node], self.of_parts[node] = own, dict(zip(sums, rest, strict=True))
                self.variance[node] = 1 / math.fsum(precisions)

    def adjusted(self, values: Sequence[int]) -> list[Fraction]:
        """The answers after the map: those of a node's parts add up to its own, exactly."""
        below: list[Fraction] = [Fraction(0)] * self.size
        sums: list[dict[int, Fraction]] = [{} for _ in range(self.size)]
        for place in reversed(self.order):
            for node in self.nodes(place):
                sums[node] = {
                    fine: sum((below[n] for n in parts), Fraction(0)) for fine, parts in self.parts[node].items()
                }
                shared = sum((self.of_parts[node][fine] * total for fine, total in sums[node].items()), Fraction(0))
                below[node] = self.own[node] * values[node] + shared
        found = list(below)
        for place in self.order:
            for node in self.nodes(place):
                above = self.up[node]
                if above is not None:
                    found[node] = below[node] + self.gain[node] * (found[above] - sums[above][place])
        return found

    def kinds(self) -> dict[int, list[int]]:
        """Nodes that stand alike in the tree, by the first of them: the map does the same for each."""
        shapes: dict[tuple[object, ...], int] = {}
        shape = [0] * self.size
        for place in reversed(self.order):
            for node in self.nodes(place):
                below = [Counter(shape[n] for n in parts) for _, parts in sorted(self.parts[node].items())]
                name = (place, *(tuple(sorted(one.items())) for one in below))
                shape[node] = shapes.setdefault(name, len(shapes))
        stands: dict[tuple[int, int], int] = {}
        stand = [0] * self.size
        found: dict[int, list[int]] = defaultdict(list)
        first: dict[int, int] = {}
        for place in self.order:
            for node in self.nodes(place):
                above = self.up[node]
                name_of = (shape[node], -1 if above is None else stand[above])
                stand[node] = stands.setdefault(name_of, len(stands))
                found[first.setdefault(stand[node], node)].append(node)
        if len(found) * self.size > _MOST_WORK:
            raise InvalidQueryError(
                f"these tables have {self.size} groups that stand in {len(found)} different ways, too many to say how"
                " far each total is off; ask for fewer groups."
            )
        return found

    def coefficients(self, node: int) -> NDArray[np.float64]:
        """The row of the map for one node: what each answer contributes to it."""
        path = [node]
        while (above := self.up[path[-1]]) is not None:
            path.append(above)
        row = self._below([path[-1]])
        for child, parent in zip(path[-2::-1], path[:0:-1], strict=True):
            siblings = self.parts[parent][self.level_of[child]]
            row = self._below([child]) + float(self.gain[child]) * (row - self._below(siblings))
        return row

    def _below(self, nodes: Sequence[int]) -> NDArray[np.float64]:
        """What each answer contributes, on the way up, to the sum of some nodes."""
        row = np.zeros(self.size)
        left = [(node, 1.0) for node in nodes]
        while left:
            node, weight = left.pop()
            row[node] += weight * float(self.own[node])
            for fine, parts in self.parts[node].items():
                left += [(n, weight * float(self.of_parts[node][fine])) for n in parts]
        return row


def _decimals(weights: Sequence[float]) -> list[Fraction]:
    """Weights in proportion, as decimals that add up to exactly one; equal ones stay equal but for the largest."""
    total = math.fsum(weights)
    found = [Fraction(round(weight / total * _DIGITS), _DIGITS) for weight in weights]
    largest = max(range(len(found)), key=found.__getitem__)
    found[largest] += 1 - sum(found)
    return found


_ROUNDING = 10
_SAME = 1e-9
_DEPENDENT = (
    "the noise of this plan is drawn for all numbers at once, so that how far sums are off is not known; release"
    " without 'totals', or plan with privacy=nw.PureDP(...)."
)


@dataclass(frozen=True, slots=True)
class Family:
    """One number asked for nested groups: where it stands (table, place in its group), the tree, the half-widths."""

    number: Aggregate
    members: tuple[tuple[int, int], ...]
    tree: Tree
    widths: tuple[Fraction, ...]


def families_of(plan: Plan, confidence: Fraction) -> list[Family]:
    """The numbers that are asked for both parts and totals, each with how far its answers are off.

    Asking for totals says that the listed groups hold every row that the total counts. Where the limits of a person
    make totals differ from the sums of their parts, totals are the sums, and their own answers do not count.
    """
    asked: dict[Aggregate, list[tuple[int, int]]] = defaultdict(list)
    names: dict[tuple[int, int], str] = {}
    for place, table in enumerate(plan.layout.tables):
        for question, places in table.questions:
            if question.plain and table.strategy == BY_GROUP and (place, places[0]) not in names:
                asked[question.aggregates[0]].append((place, places[0]))
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
    plan: Plan,
    number: Aggregate,
    members: Sequence[tuple[int, int]],
    parents: Sequence[int | None],
    confidence: Fraction,
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


def _width(tree: Tree, row: NDArray[np.float64], laws: Sequence[Law], confidence: Fraction) -> Fraction | None:
    """How far an answer is off after the map; None where the map leaves it as it is."""
    terms, bias = [], 0.0
    for place, law in enumerate(laws):
        part = np.abs(row[tree.starts[place] : tree.starts[place] + tree.levels[place].grouping.count])
        bias += float(part.sum()) * float(law.bias)
        values, counts = np.unique(np.round(part, _ROUNDING), return_counts=True)
        terms += [(law, float(c), int(n)) for c, n in zip(values, counts, strict=True) if c > 0]
    if [(c, n) for _, c, n in terms] == [(1.0, 1)]:
        return None
    found = half_width_of([Term(law.sizes, c * float(law.unit), n) for law, c, n in terms], confidence)
    return found + Fraction(rounded_up(Fraction(bias)))


def _counting(
    number: Aggregate, tables: Sequence[AnswerTable], parents: Sequence[int | None], limits: ContributionBounds
) -> list[bool]:
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


def _exact(number: Aggregate, coarse: AnswerTable, fine: AnswerTable, limits: ContributionBounds) -> bool:
    """Whether a total is the sum of its parts also after the rows of a person were limited.

    Rule: with one row per person nothing is left out. Otherwise a person who counts with 1 in all and in one group at
    most counts as much in the sum; in every other case the rows that are kept may differ.
    [theory#tables-and-contribution-bounds]
    """
    if limits.one_row_per_person:
        return True
    once = all(number.sensitivity(table.rows) == 1 for table in (coarse, fine))
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
    rows = range(start + i, start + table.count, len(table.aggregates)) if joint else range(i, i + 1)
    one = not hasattr(mechanism.query, "dimension")
    spread = Spread(PartTail(mechanism)) if one else _spread(mechanism, rows)
    std = math.sqrt(errors_of(mechanism, SquaredError())[0 if one else rows[0]])
    with precision():
        if isinstance(spread.tail, PartTail):
            _require_symmetric(spread.tail)
            return Law(sizes_of(lambda t: float(upper(spread.beyond(t))), std), Fraction(1), Fraction(0))
        steps = sizes_of(lambda t: float(upper(spread.tail.beyond(t + HALF))), std / float(spread.factor))
        return Law(steps, spread.factor, spread.offset + (spread.factor / 2 if spread.factor > 1 else 0))


def _require_symmetric(tail: object) -> None:
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
