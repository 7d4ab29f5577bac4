"""Distances along weighted graphs and trees."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, cast

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.metrics import LARGEST_MATRIX, METRICS, Matrix, budget, common_unit, require_size
from noisewright.problem.numbers import Number
from noisewright.problem.records import record


@record(None, METRICS, error=InvalidPrivacyError)
class Graph(Matrix):
    """Shortest paths along weighted edges (first, second, budget); a tree is a graph with one path for each pair."""

    def __init__(
        self, edges: Iterable[tuple[Hashable, Hashable, Number]], nodes: Sequence[Hashable] | None = None
    ) -> None:
        given = [tuple(edge) for edge in edges]
        if wrong := [edge for edge in given if len(edge) != 3]:
            raise InvalidPrivacyError(f"the edge {wrong[0]!r} is not (first, second, budget).", edge=wrong[0])
        ends: list[Any] = [end for first, second, _ in given for end in (first, second)]
        order = list(dict.fromkeys(nodes if nodes is not None else ends))
        require_size(len(order), LARGEST_MATRIX)
        place = {node: i for i, node in enumerate(order)}
        if unknown := [end for end in ends if end not in place]:
            raise InvalidPrivacyError(f"the edge end {unknown[0]!r} is not among the nodes.", node=unknown[0])
        near: list[list[tuple[int, Fraction]]] = [[] for _ in order]
        for first, second, weight in given:
            amount = budget(cast(Number, weight), f"the budget of edge {first!r}-{second!r}")
            near[place[first]].append((place[second], amount))
            near[place[second]].append((place[first], amount))
        reached = [_shortest(near, i) for i in range(len(order))]
        if apart := [node for node, i in place.items() if i not in reached[0]]:
            raise InvalidPrivacyError(
                f"no path joins {order[0]!r} and {apart[0]!r}; add an edge with a budget for the pair.",
                pair=(order[0], apart[0]),
            )
        unit, entries = common_unit([[row[j] for j in range(len(order))] for row in reached])
        self.born(unit=unit, entries=entries, note="")


def _shortest(near: list[list[tuple[int, Fraction]]], start: int) -> dict[int, Fraction]:
    done: dict[int, Fraction] = {}
    queue = [(Fraction(0), start)]
    while queue:
        length, here = heapq.heappop(queue)
        if here in done:
            continue
        done[here] = length
        for there, weight in near[here]:
            if there not in done:
                heapq.heappush(queue, (length + weight, there))
    return done
