"""Between which elements of a universe nothing is guaranteed: those in different finite components, exactly."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from noisewright.problem.attributes import Attributes
from noisewright.problem.metrics import Components, Matrix, Scaled, Sum, WithAbsent


@singledispatch
def finite_components(metric: Any) -> Components | None:
    """The finite component of each element, exactly; None where every distance is finite."""
    return None


@finite_components.register
def _components_of_matrix(metric: Matrix) -> Components | None:
    return metric.finite_components


@finite_components.register
def _components_of_attributes(metric: Attributes) -> Components | None:
    """Elements are in one component if their values are, attribute by attribute."""
    if not any(metric.value_components):
        return None
    of_values = [v or (0,) * len(table) for v, table in zip(metric.value_components, metric.tables, strict=True)]
    return _joined([tuple(v[c] for v, c in zip(of_values, codes, strict=True)) for codes in metric.codes])


@finite_components.register
def _components_of_scaled(metric: Scaled) -> Components | None:
    return finite_components(metric.metric)


@finite_components.register
def _components_of_sum(metric: Sum) -> Components | None:
    """A sum is finite where all of its parts are."""
    parts = [finite_components(part) or (0,) * metric.size for part in metric.parts]
    return _joined(list(zip(*parts, strict=True)))


@finite_components.register
def _components_of_with_absent(metric: WithAbsent) -> Components | None:
    """Leaving and coming back joins everybody."""
    return None


def _joined(marks: list[tuple[int, ...]]) -> Components | None:
    """Equal marks are one component, numbered in order of appearance."""
    known: dict[tuple[int, ...], int] = {}
    found = tuple(known.setdefault(mark, len(known)) for mark in marks)
    return found if len(known) > 1 else None


@singledispatch
def infinitely_apart(metric: Any, i: int, j: int) -> bool:
    """Whether nothing is guaranteed between two elements; the same as being in different components."""
    return False


@infinitely_apart.register
def _apart_in_matrix(metric: Matrix, i: int, j: int) -> bool:
    return metric.finite_components is not None and metric.finite_components[i] != metric.finite_components[j]


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
