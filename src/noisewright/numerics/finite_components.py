"""Between which elements of a universe nothing is guaranteed: those on different islands, exactly."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from noisewright.problem.attributes import Attributes
from noisewright.problem.metrics import Islands, Matrix, Scaled, Sum, WithAbsent


@singledispatch
def finite_components(metric: Any) -> Islands | None:
    """The island of each element, exactly; None where every distance is finite."""
    return None


@finite_components.register
def _components_of_matrix(metric: Matrix) -> Islands | None:
    return metric.islands


@finite_components.register
def _components_of_attributes(metric: Attributes) -> Islands | None:
    """Elements are on one island if their values are, attribute by attribute."""
    if not any(metric.value_islands):
        return None
    of_values = [v or (0,) * len(table) for v, table in zip(metric.value_islands, metric.tables, strict=True)]
    return _joined([tuple(v[c] for v, c in zip(of_values, codes, strict=True)) for codes in metric.codes])


@finite_components.register
def _components_of_scaled(metric: Scaled) -> Islands | None:
    return finite_components(metric.metric)


@finite_components.register
def _components_of_sum(metric: Sum) -> Islands | None:
    """A sum is finite where all of its parts are."""
    parts = [finite_components(part) or (0,) * metric.size for part in metric.parts]
    return _joined(list(zip(*parts, strict=True)))


@finite_components.register
def _components_of_with_absent(metric: WithAbsent) -> Islands | None:
    """Leaving and coming back joins everybody."""
    return None


def _joined(marks: list[tuple[int, ...]]) -> Islands | None:
    """Equal marks are one island, numbered in order of appearance."""
    known: dict[tuple[int, ...], int] = {}
    found = tuple(known.setdefault(mark, len(known)) for mark in marks)
    return found if len(known) > 1 else None


@singledispatch
def infinitely_apart(metric: Any, i: int, j: int) -> bool:
    """Whether nothing is guaranteed between two elements; the same as being on different islands."""
    return False


@infinitely_apart.register
def _apart_in_matrix(metric: Matrix, i: int, j: int) -> bool:
    return metric.islands is not None and metric.islands[i] != metric.islands[j]


@infinitely_apart.register
def _apart_in_attributes(metric: Attributes, i: int, j: int) -> bool:
    codes = zip(metric.tables, metric.codes[i], metric.codes[j], strict=True)
    return any(isinstance(table[a][b], str) for table, a, b in codes)


@infinitely_apart.register
def _apart_in_scaled(metric: Scaled, i: int, j: int) -> bool:
    return infinitely_apart(metric.metric, i, j)


@infinitely_apart.register
def _apart_in_sum(metric: Sum, i: int, j: int) -> bool:
    return any(infinitely_apart(part, i, j) for part in metric.parts)
