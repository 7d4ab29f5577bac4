"""The person-local check: may this query stand between the tables and the last stage?

*Person-local*: the result is the union over persons u of f(u's rows, public data), f deterministic and independent of
the order of rows, giving nothing for nothing; and every row carries the unit of the person it came from, carried or
renamed, never computed. Then adding or removing a person adds or removes that person's rows of the result and nothing
else, which is all that the last stage needs. Each relation of the query is checked by the rule for its class; a class
without a rule is refused.

So is a query that puts texts together of texts that were put together: one that doubles a text forty times needs a
terabyte for a row that has one letter and nothing for a row that has none, and running out of memory after the charge
would tell which it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.types as ir
from ibis.common.annotations import ValidationError
from ibis.common.exceptions import IbisError

from noisewright.problem.errors import InvalidTableError
from noisewright.release.engines.base import Engine
from noisewright.release.table.locations import NOWHERE, Locations
from noisewright.release.table.names import require_distinct
from noisewright.release.table.total_functions import (
    REDUCTIONS,
    TOTAL,
    inside,
    refused,
    require_read,
    require_total,
    rewriting,
)

_JOINS = ("inner", "left", "semi", "anti")
_MOST_PARTS = 100
LONGEST_PART = 100_000
"""Of each text that is put together with others so many characters are taken: a hundred of them fit everywhere."""


@dataclass(frozen=True, slots=True)
class Base:
    """A table that queries may begin with: a private one and its unit, or a public one (no unit)."""

    unit: str | None
    locations: Locations = field(default=NOWHERE, compare=False)
    """Where its rows are."""

    @property
    def private(self) -> bool:
        """Whether its rows are about persons."""
        return self.unit is not None


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a relation: the columns that carry the unit; none if it is public.

    `straight` says that no join or union lies below, so that a declared "one row per person" still holds.
    """

    units: frozenset[str]
    straight: bool = True

    @property
    def private(self) -> bool:
        """Whether its rows are about persons."""
        return bool(self.units)


Bases = Mapping[ops.Relation, Base]
Unit = tuple[ops.Relation, str]
"""A column that carries the unit, and the relation that it is of."""


def checked(expression: ir.Expr, bases: Bases, engine: Engine) -> tuple[Any, Standing]:
    """The same query made of total functions, and what is known of its rows.

    Guarantees: returns only if the query is person-local. Raises NotPersonLocalError, with the operation and the
    reason, for anything else.
    """
    if not isinstance(expression, ir.Table):
        raise refused(expression, "a query gives a table, with the unit among its columns")
    query = expression.op()
    try:
        standing = of(query, bases)
        require_short_texts(query)
        total = engine.settled(query.replace(rewriting(engine)).replace(shortened))
        for relation in total.find(ops.Relation):
            # In a nested selection a name finds whichever column the engine takes for it, maybe not the unit.
            require_distinct(relation.schema.names, engine.known_as)
        return total.to_expr(), standing
    except (IbisError, ValidationError) as error:
        raise refused(query, f"written with total functions it is no query any more ({type(error).__name__})") from None
    except RecursionError:
        raise refused(query, "it is too deep to be checked; keep what the first steps give in a table") from None


def of(relation: ops.Relation, bases: Bases) -> Standing:
    """The standing of a relation: what was declared of it, or what the rule for its class says."""
    base = bases.get(relation)
    if base is None:
        return by_rule(relation, bases)
    if base.unit is None:
        return Standing(frozenset())
    require_unit(relation.schema[base.unit], base.unit)
    return Standing(frozenset({base.unit}))


def require_unit(kind: dt.DataType, unit: str) -> None:
    """Refuse a unit of a type whose equality may take two persons for one.

    Every private table is asked, not only the last: as doubles, 2^53 and 2^53 + 1 are one, so that a join of a column
    of whole numbers with one of floats would give a person the rows of another.
    """
    if not (kind.is_string() or (kind.is_integer() and not kind.is_uint64())):
        raise InvalidTableError(
            f"{unit!r} holds {kind}; a unit is text or a whole number of at most 64 bits (floats are equal or not by"
            " accident; cast others to text in the table).",
            column=unit,
        )


@singledispatch
def by_rule(relation: ops.Relation, bases: Bases) -> Standing:
    """The standing of a relation that is made of others; refuses one without a rule."""
    raise refused(relation, _WHY.get(type(relation).__name__))


_WHY = {
    "Distinct": "which of several equal rows stays depends on how they are stored; group by the unit instead",
    "Sort": "an order across persons is not kept; leave it out",
    "Limit": "which rows stay depends on other persons' rows",
    "Sample": "which rows stay depends on how they are stored; limits are set by rows_per_group",
    "Difference": "whether a row stays depends on other persons' rows",
    "Intersection": "whether a row stays depends on other persons' rows",
    "SQLQueryResult": "SQL text cannot be checked; write it with Ibis",
    "SQLStringView": "SQL text cannot be checked; write it with Ibis",
    "TableUnnest": "it makes many rows of one; do it before, in a table of its own",
    "DummyTable": "its rows belong to no person",
}


@by_rule.register(ops.PhysicalTable)
def _refuse_undeclared(relation: ops.Relation, bases: Bases) -> Standing:
    raise refused(relation, "this table was declared neither as private nor as public; use join_public or join")


@by_rule.register(ops.JoinReference)
@by_rule.register(ops.SelfReference)
def _standing_of_reference(relation: ops.Relation, bases: Bases) -> Standing:
    return of(relation.parent, bases)


@by_rule.register(ops.Filter)
def _standing_of_filter(relation: ops.Relation, bases: Bases) -> Standing:
    parent = of(relation.parent, bases)
    _require_local(relation.predicates, _unit_of(relation.parent, parent))
    return parent


@by_rule.register(ops.Project)
def _standing_of_selection(relation: ops.Relation, bases: Bases) -> Standing:
    parent = of(relation.parent, bases)
    _require_local(relation.values.values(), _unit_of(relation.parent, parent))
    return replace(parent, units=_carried(relation, relation.values, relation.parent, parent))


@by_rule.register(ops.DropColumns)
def _standing_without_columns(relation: ops.Relation, bases: Bases) -> Standing:
    parent = of(relation.parent, bases)
    left = parent.units - set(relation.columns_to_drop)
    if parent.private and not left:
        raise refused(relation, "the unit is dropped; keep it")
    return replace(parent, units=left)


@by_rule.register(ops.DropNull)
def _standing_without_null(relation: ops.Relation, bases: Bases) -> Standing:
    return of(relation.parent, bases)


@by_rule.register(ops.FillNull)
def _standing_filled(relation: ops.Relation, bases: Bases) -> Standing:
    parent = of(relation.parent, bases)
    filled = relation.replacements if isinstance(relation.replacements, Mapping) else relation.parent.schema.names
    if parent.units & set(filled):
        raise refused(relation, "it would give rows without a person a unit; name the columns to fill")
    return parent


@by_rule.register(ops.Union)
def _standing_of_union(relation: ops.Relation, bases: Bases) -> Standing:
    left, right = of(relation.left, bases), of(relation.right, bases)
    if relation.distinct:
        raise refused(relation, "it drops rows of one person that equal another's; use union(distinct=False)")
    if left.private != right.private:
        raise refused(relation, "public rows belong to no person")
    both = left.units & right.units
    if left.private and not both:
        raise refused(relation, "the two tables carry the unit in different columns; rename one")
    return Standing(both, straight=False)


@by_rule.register(ops.Aggregate)
def _standing_of_summary(relation: ops.Relation, bases: Bases) -> Standing:
    parent = of(relation.parent, bases)
    _require_local(relation.groups.values(), _unit_of(relation.parent, parent))
    for value in relation.groups.values():
        require_read(value)
    for value in relation.metrics.values():
        require_total(value)
        if inside(value, ops.WindowFunction):
            raise refused(relation, "windows inside summaries are not on the list")
        summaries = inside(value, ops.Reduction)
        if any(inner is not outer for outer in summaries for inner in inside(outer, ops.Reduction)):
            raise refused(relation, "no engine summarises what is summarised; make the inner summary a step of its own")
    if not parent.private:
        return parent
    units = {name for name, value in relation.groups.items() if _is_unit(value, relation.parent, parent)}
    if not units:
        raise refused(relation, "it summarises several persons at once; group by the unit as well")
    return replace(parent, units=frozenset(units))


@by_rule.register(ops.JoinChain)
def _standing_of_join(relation: ops.Relation, bases: Bases) -> Standing:
    standing = of(relation.first, bases)
    units = {(relation.first, name) for name in standing.units}
    anybody = not standing.private
    for link in relation.rest:
        other = of(link.table, bases)
        for predicate in link.predicates:
            require_total(predicate)
            if inside(predicate, (ops.Reduction, ops.WindowFunction)):
                raise refused(relation, "a condition of a join compares rows, not summaries")
        if link.how not in _JOINS:
            raise refused(relation, f"a {link.how} join can give rows without a person, or depend on order")
        if other.private and not units:
            raise refused(relation, "the private table must be on the left of public ones")
        theirs = {(link.table, name) for name in other.units}
        if other.private and not any(_same_person(p, units, theirs) for p in link.predicates):
            raise refused(relation, "two private tables are joined on the unit of both, with == between the columns")
        # Of a left join only the left units are sure to be there.
        units |= theirs if link.how == "inner" else set()
    # A selection from a join is part of it: what is computed there is checked like that of any other selection.
    _require_local(relation.values.values(), None if anybody else lambda value: _is_one_of(value, units))
    kept = {name for name, value in relation.values.items() if _is_one_of(value, units)}
    if units and not kept:
        raise refused(relation, "the unit is not among the columns that are kept")
    return Standing(frozenset(kept), straight=False)


def _same_person(predicate: ops.Value, left: set[Unit], right: set[Unit]) -> bool:
    """Whether a condition is equality of a unit of one side and a unit of the other, bare columns both."""
    if type(predicate) is not ops.Equals:
        return False
    one, other = predicate.left, predicate.right
    return (_is_one_of(one, left) and _is_one_of(other, right)) or (_is_one_of(other, left) and _is_one_of(one, right))


def _is_one_of(value: ops.Value, units: set[Unit]) -> bool:
    return type(value) is ops.Field and (value.rel, value.name) in units


def _is_unit(value: ops.Value, parent: ops.Relation, standing: Standing) -> bool:
    return type(value) is ops.Field and value.rel == parent and value.name in standing.units


def _carried(
    relation: ops.Relation, values: Mapping[str, ops.Value], parent: ops.Relation, standing: Standing
) -> frozenset[str]:
    kept = frozenset(name for name, value in values.items() if _is_unit(value, parent, standing))
    if standing.private and not kept:
        raise refused(relation, "the unit must be carried along as it is, or renamed; a computed one is no unit")
    return kept


OwnUnit = Callable[[ops.Value], bool] | None
"""Whether a value is the unit of the rows that are read; None where they are public."""


def _unit_of(parent: ops.Relation, standing: Standing) -> OwnUnit:
    return (lambda value: _is_unit(value, parent, standing)) if standing.private else None


def _require_local(values: Iterable[ops.Value], own_unit: OwnUnit) -> None:
    """Functions of one row, and summaries over the rows of its own person."""
    for value in values:
        require_total(value)
        own = set()
        for window in inside(value, ops.WindowFunction):
            _require_own_rows(window, own_unit)
            own |= set(inside(window, ops.Reduction))
        for summary in inside(value, ops.Reduction):
            if summary not in own:
                raise refused(summary, "it summarises the rows of several persons")


def _require_own_rows(window: ops.WindowFunction, own_unit: OwnUnit) -> None:
    if type(window.func) not in REDUCTIONS:
        raise refused(window.func)
    if window.order_by or window.start is not None or window.end is not None:
        raise refused(window, "a running window depends on the order of equal rows")
    if own_unit is not None and not any(own_unit(value) for value in window.group_by):
        raise refused(window, "it reads rows of several persons; partition it by the unit")
    parts = [part for part in window.func.args if isinstance(part, ops.Value)]
    for node in (*parts, *window.group_by):
        if wrong := [inner for inner in inside(node, ops.Value) if type(inner) not in TOTAL]:
            raise refused(wrong[0], "a window summarises columns, not other summaries")


def require_short_texts(query: ops.Node) -> None:
    """Refuse a query in which a text is put together of more than a hundred others, through all of its steps."""
    known: dict[ops.Value, int] = {}
    for node in query.find(ops.StringConcat):
        if _parts(node, known) > _MOST_PARTS:
            raise refused(node, f"its text is made of more than {_MOST_PARTS} others, and may not fit in memory")


def shortened(node: ops.Node, changed: Mapping[str, ops.Node] | None) -> Any:
    """What replaces texts that are put together by what is taken of them; for `Node.replace`.

    PostgreSQL fails on a text of a gigabyte, and takes as much memory for each step on the way.
    """
    node = node.__recreate__(dict(zip(node.argnames, node.args, strict=True)) | dict(changed)) if changed else node
    if not isinstance(node, ops.StringConcat):
        return node
    whole = (ops.Literal, ops.StringConcat)
    return node.copy(
        arg=tuple(one if isinstance(one, whole) else ops.Substring(one, 0, LONGEST_PART) for one in node.arg)
    )


def _parts(value: ops.Value, known: dict[ops.Value, int]) -> int:
    """How many texts of the tables a value holds at most."""
    if value not in known:
        if isinstance(value, ops.Field):
            known[value] = max((_parts(source, known) for source in _sources(value.rel, value.name)), default=1)
        else:
            below = [_parts(part, known) for part in _values(value)]
            known[value] = sum(below) if isinstance(value, ops.StringConcat) else max(below, default=1)
    return known[value]


def _values(value: ops.Value) -> list[Any]:
    """What a value is computed from."""
    given = [part for one in value.args for part in (one if isinstance(one, tuple) else (one,))]
    return [part for part in given if isinstance(part, ops.Value)]


def _sources(relation: ops.Relation, name: str) -> list[Any]:
    """Where a column of a relation comes from; nothing for a column of a table."""
    if isinstance(relation, ops.Aggregate):
        return [{**relation.groups, **relation.metrics}[name]]
    if isinstance(relation, ops.Project | ops.JoinChain):
        return [relation.values[name]]
    if isinstance(relation, ops.Union):
        return [ops.Field(side, name) for side in (relation.left, relation.right)]
    return [ops.Field(relation.parent, name)] if hasattr(relation, "parent") else []
