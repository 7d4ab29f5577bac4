"""How long a text can become: texts put together of texts that were put together grow without end.

A query that doubles a text forty times needs a terabyte for a row that has one letter and nothing for a row that has
none, and running out of memory after the charge would tell which it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ibis.expr.operations as ops

from noisewright.release.values import refused

_MOST_PARTS = 100
LONGEST_PART = 100_000
"""Of each text that is put together with others so many characters are taken: a hundred of them fit everywhere."""


def require_short_texts(query: Any) -> None:
    """Refuse a query in which a text is put together of more than a hundred others, through all of its steps."""
    known: dict[Any, int] = {}
    for node in query.find(ops.StringConcat):
        if _parts(node, known) > _MOST_PARTS:
            raise refused(node, f"its text is made of more than {_MOST_PARTS} others, and may not fit in memory")


def shortened(node: Any, changed: Mapping[str, Any] | None) -> Any:
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


def _parts(value: Any, known: dict[Any, int]) -> int:
    """How many texts of the tables a value holds at most."""
    if value not in known:
        if isinstance(value, ops.Field):
            known[value] = max((_parts(source, known) for source in _sources(value.rel, value.name)), default=1)
        else:
            below = [_parts(part, known) for part in _values(value)]
            known[value] = sum(below) if isinstance(value, ops.StringConcat) else max(below, default=1)
    return known[value]


def _values(value: Any) -> list[Any]:
    """What a value is computed from."""
    given = [part for one in value.args for part in (one if isinstance(one, tuple) else (one,))]
    return [part for part in given if isinstance(part, ops.Value)]


def _sources(relation: Any, name: str) -> list[Any]:
    """Where a column of a relation comes from; nothing for a column of a table."""
    if isinstance(relation, ops.Aggregate):
        return [{**relation.groups, **relation.metrics}[name]]
    if isinstance(relation, ops.Project | ops.JoinChain):
        return [relation.values[name]]
    if isinstance(relation, ops.Union):
        return [ops.Field(side, name) for side in (relation.left, relation.right)]
    return [ops.Field(relation.parent, name)] if hasattr(relation, "parent") else []
