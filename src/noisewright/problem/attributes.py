"""Metrics that add up over attributes: a budget for each attribute, or for each value."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.linear import Universe
from noisewright.problem.metrics import (
    INFINITE,
    METRICS,
    Budget,
    Components,
    Matrix,
    added,
    any_budget,
    distance_field,
    require_size,
    smaller,
)
from noisewright.problem.numbers import Number
from noisewright.problem.records import Record, keep, record

Codes: TypeAlias = fields.Spec[Iterable[Iterable[int]], tuple[tuple[int, ...], ...]]
Tables: TypeAlias = fields.Spec[Iterable[Iterable[Iterable[Number]]], tuple[tuple[tuple[Budget, ...], ...], ...]]
Rows: TypeAlias = Universe | Iterable[Sequence[Hashable]]


@record("attributes", METRICS, error=InvalidPrivacyError)
class Attributes(Record):
    """A sum over attributes of a small table: distance(u, v) = sum of tables[k][u_k][v_k]."""

    codes: Codes = fields.tuple_of(fields.wholes())
    tables: Tables = fields.tuple_of(fields.tuple_of(fields.tuple_of(distance_field())))
    note: str = fields.derived()
    value_components: tuple[Components | None, ...] = fields.derived()

    def __post_init__(self) -> None:
        tables = [Matrix(t) for t in self.tables]
        keep(self, value_components=tuple(t.finite_components for t in tables))
        require_size(len(self.codes))
        for row in self.codes:
            if len(row) != len(tables) or any(not 0 <= c < t.size for c, t in zip(row, tables, strict=True)):
                raise InvalidPrivacyError("every element needs one known value for each attribute.", element=row)
        if not hasattr(self, "note"):
            keep(self, note="")

    def __str__(self) -> str:
        apart = any(isinstance(v, str) for table in self.tables for row in table for v in row)
        words = f"budgets for {len(self.tables)} attributes of {self.size} elements"
        return f"{words}, infinite where values need no protection" if apart else words

    @property
    def size(self) -> int:
        """How many elements the universe has."""
        return len(self.codes)


@record(None, METRICS, error=InvalidPrivacyError)
class PerAttribute(Attributes):
    """A budget for each attribute: the sum of budgets[k] over the attributes in which two elements differ.

    A `Universe` knows the names of its attributes, so that budgets may be a mapping from them. An attribute with the
    budget "infinite" is not protected.
    """

    def __init__(self, universe: Rows, budgets: Iterable[Number] | Mapping[str, Number]) -> None:
        listed = _by_attribute(universe, budgets)
        amounts = [any_budget(b, f"budget {k}") for k, b in enumerate(listed)]
        codes, values = encode(universe, len(amounts))
        pairs = zip(amounts, values, strict=True)
        self.construct(codes=codes, tables=[[[0 if a == b else amount for b in v] for a in v] for amount, v in pairs])


@record(None, METRICS, error=InvalidPrivacyError)
class PerValue(Attributes):
    """A budget for each value: the smaller one of two differing values, summed over attributes.

    Each attribute has a mapping from its values to budgets, or one budget for all of its values; a `Universe` knows
    the names of its attributes, so that these may be named as well. Two values with the budget "infinite" may be told
    apart freely.

    With three or more values that is no metric (a detour through the most protected value is
    shorter); the detour is then what counts, and `note` says so. `both=True` adds the two budgets
    instead, which is always a metric.
    """

    def __init__(
        self,
        universe: Rows,
        budgets: Sequence[Mapping[Any, Number] | Number] | Mapping[str, Mapping[Any, Number] | Number],
        *,
        both: bool = False,
    ) -> None:
        listed = _by_attribute(universe, budgets)
        codes, values = encode(universe, len(listed))
        tables, changed = [], 0
        for k, (known, given) in enumerate(zip(values, listed, strict=True)):
            amounts = _amounts(known, given, k)
            least = _least(amounts)
            detour = added(least, least)
            near = [[smaller(a, b) for b in amounts] for a in amounts]
            apart = [[added(a, b) if both else smaller(detour, smaller(a, b)) for b in amounts] for a in amounts]
            changed += sum(not both and apart[i][j] != near[i][j] for i in range(len(amounts)) for j in range(i))
            tables.append([[Fraction(0) if i == j else d for j, d in enumerate(row)] for i, row in enumerate(apart)])
        note = f"{changed} pairs of values were brought closer by a detour through a more protected value"
        self.construct(codes=codes, tables=tables)
        keep(self, note=note if changed else "")


def _by_attribute(universe: Rows, budgets: Any) -> list[Any]:
    """The budgets in the order of the attributes; names are those of a universe."""
    if not isinstance(budgets, Mapping):
        return list(fields.items(budgets, "budgets", InvalidPrivacyError))
    if not isinstance(universe, Universe):
        raise InvalidPrivacyError("budgets by name need a Universe, which names its attributes; give a list.")
    if unknown := [name for name in budgets if name not in universe.attributes]:
        raise InvalidPrivacyError(
            f"there is no attribute {unknown[0]!r}; there are {', '.join(universe.attributes)}.", attribute=unknown[0]
        )
    if missing := [name for name in universe.attributes if name not in budgets]:
        raise InvalidPrivacyError(
            f'the attribute {missing[0]!r} has no budget; give one, or "{INFINITE}" if it needs no protection.',
            attribute=missing[0],
        )
    return [budgets[name] for name in universe.attributes]


def _amounts(known: Sequence[Any], given: Any, attribute: int) -> list[Budget]:
    """The budget of each value of an attribute."""
    if not isinstance(given, Mapping):
        return [any_budget(given, f"budget {attribute}")] * len(known)
    if missing := [v for v in known if v not in given]:
        raise InvalidPrivacyError(
            f"attribute {attribute} has no budget for the value {missing[0]!r}.", value=missing[0]
        )
    return [any_budget(given[v], f"budget of {v!r}") for v in known]


def _least(amounts: Iterable[Budget]) -> Budget:
    least: Budget = INFINITE
    for amount in amounts:
        least = smaller(least, amount)
    return least


def encode(universe: Rows, attributes: int) -> tuple[list[tuple[int, ...]], list[list[Any]]]:
    """Values of each attribute as numbers, in order of appearance."""
    given = universe.elements if isinstance(universe, Universe) else universe
    rows = [tuple(row) for row in fields.items(given, "universe", InvalidPrivacyError)]
    require_size(len(rows))
    for row in rows:
        if len(row) != attributes:
            raise InvalidPrivacyError(
                f"the element {row!r} has {len(row)} values for {attributes} budgets; give one for each attribute.",
                element=row,
            )
    values = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    places = [{v: c for c, v in enumerate(known)} for known in values]
    return [tuple(p[v] for p, v in zip(places, row, strict=True)) for row in rows], values
