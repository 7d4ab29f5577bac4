"""Answers as a tidy frame, one row for each question and group, in the kind of frame that the caller works with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noisewright.problem.errors import InvalidTableError

FRAMES = ("pandas", "polars", "pyarrow")


def frame_of(columns: dict[str, list[Any]], kind: str) -> Any:
    """Columns of Python values as a frame of pandas or polars, or as an Arrow table."""
    if kind == "polars":
        import polars

        return polars.DataFrame(columns, strict=False)
    import pyarrow as pa

    table = pa.table({name: _array(values) for name, values in columns.items()})
    return table if kind == "pyarrow" else table.to_pandas(date_as_object=True)


def _array(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    # A column may hold the keys of several questions; texts then stand for all of them.
    mixed = len(kinds) > 1 and kinds != {int, float}
    return pa.array([None if value is None else str(value) for value in values] if mixed else values)


def require_frame(kind: str) -> str:
    """Refuse a kind of frame that is not known."""
    if kind not in FRAMES:
        raise InvalidTableError(f"frame is {kind!r}; give one of {', '.join(FRAMES)}.", frame=kind)
    return kind
