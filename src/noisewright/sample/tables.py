"""Tables of pandas and polars, opened and filled again; neither is imported unless the caller has done so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.sample.shapes import Held, no_numbers


def table(given: Any) -> Held | None:
    """The numbers of a Series or DataFrame of pandas or polars; None for anything else."""
    for library, kinds in _TABLES.items():
        module = sys.modules.get(library)
        for name, opened in kinds.items():
            kind = getattr(module, name, None)
            if isinstance(kind, type) and isinstance(given, kind):
                return opened(module, given)
    return None


def _pandas_series(pandas: Any, given: Any) -> Held:
    index, name = given.index, given.name
    nullable = _nullable(given.dtype)

    def back(released: NDArray[Any]) -> Any:
        return _as_nullable(pandas.Series(released, index=index, name=name), released, nullable)

    return Held(_pandas_column(given, "the Series"), back, lambda: list(index))


def _pandas_frame(pandas: Any, given: Any) -> Held:
    index, columns, shape = given.index, given.columns, given.shape
    parts = [given.iloc[:, j] for j in range(shape[1])]
    nullable = bool(parts) and all(_nullable(part.dtype) for part in parts)

    def back(released: NDArray[Any]) -> Any:
        frame = pandas.DataFrame(released.reshape(shape), index=index, columns=columns)
        return _as_nullable(frame, released, nullable)

    numbers = _across([_pandas_column(part, f"column {j}") for j, part in enumerate(parts)], shape)
    return Held(numbers, back, lambda: _cells(list(index), list(columns)), shape[0], list(columns))


def _pandas_column(column: Any, where: str) -> NDArray[Any]:
    """The values of a column in its own type: by numpy's, by what a nullable type holds, or as objects."""
    kind = column.dtype
    inner = kind if isinstance(kind, np.dtype) else getattr(kind, "numpy_dtype", None)
    allowed = "iufO" if inner is kind else "iuf"
    if inner is None or inner.kind not in allowed:
        raise no_numbers(f"{where} has values of the type {kind}")
    if column.isna().any():
        column = column.astype(object)
        inner = np.dtype(object)
    return np.asarray(column.to_numpy(dtype=inner))


def _nullable(kind: Any) -> bool:
    return not isinstance(kind, np.dtype) and str(kind)[:1].isupper()


def _as_nullable(filled: Any, released: NDArray[Any], nullable: bool) -> Any:
    named = {"i": "Int64", "f": "Float64"}.get(released.dtype.kind) if nullable else None
    return filled.astype(named) if named else filled


def _polars_series(polars: Any, given: Any) -> Held:
    name = given.name

    def back(released: NDArray[Any]) -> Any:
        return _polars_filled(polars, name, released)

    return Held(_polars_column(given, "the Series"), back)


def _polars_frame(polars: Any, given: Any) -> Held:
    columns, shape = list(given.columns), given.shape

    def back(released: NDArray[Any]) -> Any:
        filled = released.reshape(shape)
        return polars.DataFrame([_polars_filled(polars, name, filled[:, j]) for j, name in enumerate(columns)])

    parts = [_polars_column(given.to_series(j), f"column {j}") for j in range(shape[1])]
    labels = (lambda: columns) if shape[0] == 1 else None
    return Held(_across(parts, shape), back, labels, shape[0], columns)


def _polars_column(column: Any, where: str) -> NDArray[Any]:
    kind = column.dtype
    if str(kind) != "Object" and not kind.is_numeric():
        raise no_numbers(f"{where} has values of the type {kind}")
    narrow = (kind.is_integer() or kind.is_float()) and str(kind) not in ("Int128", "UInt128")
    if not narrow or column.null_count():
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_list()
        return values
    return np.asarray(column.to_numpy())


def _polars_filled(polars: Any, name: str, released: NDArray[Any]) -> Any:
    if released.dtype == object:
        return polars.Series(name, released.tolist(), dtype=polars.Object)
    return polars.Series(name, np.ascontiguousarray(released))


def _across(parts: Sequence[NDArray[Any]], shape: tuple[int, int]) -> NDArray[Any]:
    """Columns as one array, row by row; columns of different types become objects, so that none is rounded."""
    kinds = {part.dtype for part in parts}
    if len(kinds) == 1:
        return np.stack(parts, axis=1).reshape(-1)
    cells = np.empty(shape, dtype=object)
    for j, part in enumerate(parts):
        cells[:, j] = list(part)  # numbers of numpy's own types, which say how precise they are
    return cells.reshape(-1)


def _cells(index: list[Hashable], columns: list[Hashable]) -> list[Hashable]:
    """The label of each cell: that of its row in a table of one column, of its column in one row, else both."""
    if len(columns) == 1:
        return index
    return columns if len(index) == 1 else [(row, column) for row in index for column in columns]


_TABLES: dict[str, dict[str, Callable[[Any, Any], Held]]] = {
    "pandas": {"Series": _pandas_series, "DataFrame": _pandas_frame},
    "polars": {"Series": _polars_series, "DataFrame": _polars_frame},
}
