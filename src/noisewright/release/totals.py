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

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import InvalidQueryError
from noisewright.release.groupings import Grouping

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
