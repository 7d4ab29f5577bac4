"""Making a query of Ibis, where what the schema shows wrong becomes a clear error; no value is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from noisewright.problem.errors import InvalidInputError, InvalidTableError

_JOINS = ("inner", "left", "semi", "anti")


def made(build: Callable[[], Any], errors: tuple[type[Exception], ...] = ()) -> Any:
    """The table that a query makes; refuses columns that are not there, types that do not fit, and what is no table.

    `errors` are those of the engine, which SQL text reaches before it can be refused; its words are not repeated.
    """
    from ibis.common.annotations import ValidationError
    from ibis.common.exceptions import IbisError

    problem = ""
    try:
        found = build()
        if hasattr(found, "columns"):
            found.op()  # a chain of joins is put together only now
    except (IbisError, ValidationError, AttributeError, TypeError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
    except errors as error:
        problem = f"the engine does not take it ({type(error).__name__})"
    if problem:
        raise InvalidTableError(
            f"the query does not fit the table: {problem[:300].rstrip('.')}. See dataset.columns. Nothing was spent."
        )
    if not (hasattr(found, "op") and hasattr(found, "schema")):
        raise InvalidInputError(f"the query gives a {type(found).__name__}; it must give a table of Ibis.")
    return found


def joined(left: Any, right: Any, on: Sequence[str], how: str, units: tuple[str, str] | None = None) -> Any:
    """Two tables joined where columns of the same names are equal, and the units of both where they are given."""
    from noisewright.release.table.sources import require_column

    if how not in _JOINS:
        raise InvalidInputError(f"how is {how!r}; give inner, left, semi or anti: others give rows without a person.")
    for column in on:
        require_column(left, column)
        require_column(right, column)
    pairs = [*([units] if units else []), *((column, column) for column in on)]
    for mine, theirs in pairs:
        held, other = left[mine].type(), right[theirs].type()
        if held != other and not (held.is_integer() and other.is_integer()):
            raise InvalidTableError(
                f"{mine!r} holds {held} and {theirs!r} of the other table {other}; tables are joined on columns of one"
                f' type. Say how text is read with types={{"{mine}": ...}}.',
                column=mine,
            )
    own = [left[units[0]] == right[units[1]]] if units else []
    mark = _free_mark(left.columns, right.columns)
    both = made(lambda: left.join(right, [*own, *on], how=how, rname=f"{{name}}{mark}"))
    # The other table's copy of what was compared says nothing new.
    copies = {f"{theirs}{mark}" for _, theirs in pairs} & set(both.columns)
    return both.drop(*sorted(copies)) if copies else both


def _free_mark(left: Sequence[str], right: Sequence[str]) -> str:
    """What is put behind columns of the right table whose names the left one has: the first that makes them new."""
    twice, taken = set(left) & set(right), {name.casefold() for name in (*left, *right)}
    marks = (f"_right{number or ''}" for number in count())
    return next(mark for mark in marks if not any(f"{name}{mark}".casefold() in taken for name in twice))
