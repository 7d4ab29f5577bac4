"""Public tables: what anybody may see, and therefore may be listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noisewright.problem.errors import EngineError, InvalidQueryError, NoisewrightError
from noisewright.release.table.locations import Locations


def distinct_rows(
    table: object, columns: Sequence[str], types: Mapping[str, str] | None, most: int
) -> tuple[list[tuple[Any, ...]], Locations]:
    """The different rows of some columns of a public table, in order, and where they are read.

    Rows with a missing value are left out. The text of a CSV file is text unless `types` says otherwise.
    """
    from noisewright.release.engines.base import guarded
    from noisewright.release.table.kinds import key_kind
    from noisewright.release.table.names import require_column
    from noisewright.release.table.person_local import checked
    from noisewright.release.table.sources import open_source

    source = open_source(table, "", public=True)
    locations = source.locations(private=False)
    for column in columns:
        require_column(source.table, column)
    source = source.typed({name: kind for name, kind in (types or {}).items() if name in columns})
    query, _ = checked(source.table, source.bases, source.engine)
    found = query.select(*columns).drop_null().distinct().limit(most + 1)
    for column, held in query.select(*columns).schema().items():
        if key_kind(held) is None:
            raise InvalidQueryError(
                f"the column {column!r} of this public table is of type {held}; keys are text, whole numbers, truth"
                " values or days."
            )
    try:
        listed = guarded(source.engine, lambda: source.engine.fetch(found).to_pydict())
    except (EngineError, ValueError, OverflowError) as error:
        if isinstance(error, NoisewrightError) and getattr(error, "problem", "") != "DataError":
            raise
        raise InvalidQueryError(
            f"a value of {', '.join(columns)} in this public table is beyond what keys can be, such as a day after the"
            " year 9999; leave it out."
        ) from None
    rows = list(zip(*listed.values(), strict=True))
    if len(rows) > most:
        raise InvalidQueryError(f"this public table lists more than {most} groups of {', '.join(columns)}.")
    return sorted(rows), locations
