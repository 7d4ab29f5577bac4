"""What the schema can show wrong is refused before anything is spent: missing columns, types that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noisewright.problem.errors import InvalidTableError
from noisewright.release.plan.layout import Layout
from noisewright.release.stage.vector import kinds_of
from noisewright.release.table.keys import Keys
from noisewright.release.table.kinds import key_kind
from noisewright.release.table.locations import require_elsewhere
from noisewright.release.table.sources import Source, require_column


def require_public_keys(source: Source, questions: Sequence[Any]) -> None:
    """Refuse keys that were listed from a private table; the refusal does not tell how many there are."""
    private = source.locations(private=True)
    for question in questions:
        for keys in (one for name in question.CARD.given if isinstance(one := getattr(question, name), Keys)):
            columns = " and ".join(map(repr, keys.columns))
            require_elsewhere(
                keys.locations,
                private,
                f"the keys of {columns} were listed from the private table itself, and would tell who is in it; list"
                " what may occur, from what anybody may see, or choose them privately: nw.keys(column, private=True).",
            )


def require_columns(table: Any, layout: Layout) -> None:
    """Every column that the numbers and groups of a layout need is there and of a type that they can read."""
    for part in layout.tables:
        grouping = part.grouping
        for column in grouping.key_columns:
            require_column(table, column)
        if grouping.private:
            kinds_of(table, grouping.key_columns)
        elif grouping.keys:
            _require_key_types(table, grouping.keys)
        for column in [number.column for number in part.numbers if hasattr(number, "column")]:
            require_column(table, column)
            _require_number(table[column].type(), column)
        if grouping.bins:
            require_column(table, grouping.bins.column)
            if (refusal := grouping.bins.refusal(table[grouping.bins.column].type())) is not None:
                raise InvalidTableError(f"{grouping.bins.column!r}: {refusal}.", column=grouping.bins.column)


def _require_number(kind: Any, column: str) -> None:
    if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
        raise InvalidTableError(
            f"{column!r} holds {kind}, and the question needs numbers; derive a column of numbers with"
            " dataset.mutate(...), such as the year of a date.",
            column=column,
        )


def _require_key_types(table: Any, keys: Keys) -> None:
    """Refuse keys whose kind is not that of their column: text for text, whole for whole, and so on."""
    for column, kind in zip(keys.columns, keys.kinds, strict=True):
        held = table[column].type()
        if key_kind(held) != kind:
            raise InvalidTableError(
                f"the keys of {column!r} are {kind}, but the column holds {held}; give keys of its type, or say how"
                f' text is read with types={{"{column}": "{kind}"}}.',
                column=column,
            )
