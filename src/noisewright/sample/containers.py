"""Releases in the caller's own container: list, array, dict or table in, the same with its labels and shape out.

Numbers are handed on as they are, never converted on the way: a whole number beyond 2^53 in a table that also has
floats stays whole. An error names places and the question's own labels, never a number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.per_coordinate import Several
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.queries import Bounded, Choice, Scalar
from noisewright.sample.drawers import Drawer
from noisewright.sample.entropy import Entropy

Numbers = NDArray[Any] | list[Any]

_NAMED = 5
_LONGEST_LABEL = 40
_PLAIN = {int, float, bool, str, Fraction, np.float64, np.int64}


@dataclass(frozen=True, slots=True)
class Held:
    """The numbers of a container in one order, and `back`, which puts as many released ones into one like it.

    `labels` lists the label of each number where the container gives it one. `rows` is how many answers there are
    if each row is one, and `columns` are the labels inside a row.
    """

    numbers: Numbers
    back: Callable[[NDArray[Any]], Any]
    labels: Callable[[], Sequence[Hashable]] | None = None
    rows: int | None = None
    columns: Sequence[Hashable] | None = None

    def in_order_of(self, wanted: Sequence[Hashable] | None) -> Held:
        """The same with the numbers in the order of the question's labels, where both have labels.

        Guarantees: each number is released as the one that its label names, and comes back under that label.
        Raises InvalidAnswerError, which names them, for labels that are missing, unknown or given twice.
        """
        if wanted is None or self.labels is None:
            return self
        places = np.array(_places(self.labels(), wanted), dtype=np.intp)

        def back(released: NDArray[Any]) -> Any:
            found = np.empty_like(released)
            found[places] = released
            return self.back(found)

        return replace(self, numbers=_taken(self.numbers, places), back=back, labels=None)

    def by_rows(self, wanted: Sequence[Hashable] | None) -> tuple[Any, Callable[[NDArray[Any]], Any]]:
        """Each row as one answer, in the order of the question's labels; and how released rows come back."""
        if not self.rows:
            return [], lambda released: self.back(released.reshape(-1))
        rows = np.asarray(self.numbers).reshape(self.rows, -1)
        places = np.arange(rows.shape[1])
        if wanted is not None and self.columns is not None:
            places = np.array(_places(self.columns, wanted), dtype=np.intp)

        def back(released: NDArray[Any]) -> Any:
            found = np.empty_like(released)
            found[:, places] = released
            return self.back(found.reshape(-1))

        return rows[:, places], back


def no_numbers(what: str) -> InvalidAnswerError:
    """The error for columns of truth values, texts, categories, times and the like."""
    return InvalidAnswerError(f"{what}, which are no numbers; give whole numbers, floats, Fractions or Decimals.")


def missing_number(place: int) -> InvalidAnswerError:
    """The error for a number that is not there."""
    return InvalidAnswerError(
        f"the number at place {place} (the first is place 0) is missing (NaN, None or NA); decide what it stands for,"
        " such as 0, before the release.",
        place=place,
    )


def require_present(numbers: Numbers) -> None:
    """Refuse missing numbers, by the place of the first."""
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iuU":
        return
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f":
        gaps = np.flatnonzero(np.isnan(numbers))
        if len(gaps):
            raise missing_number(int(gaps[0]))
        return
    # Plain numbers are looked over at the speed of the interpreter's own loops; the others one by one.
    if {*map(type, numbers)} <= _PLAIN and not any(map(ne, numbers, numbers)):
        return
    for place, number in enumerate(numbers):
        if _absent(number):
            raise missing_number(place)


def _absent(number: Any) -> bool:
    """Whether something stands for a missing number: None, NaN, and what pandas calls NA and NaT."""
    if number is None or type(number).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(number, float | np.floating) and bool(number != number)


def _taken(numbers: Numbers, places: NDArray[np.intp]) -> Numbers:
    return numbers[places] if isinstance(numbers, np.ndarray) else [numbers[i] for i in places.tolist()]


def _places(given: Sequence[Hashable], wanted: Sequence[Hashable]) -> list[int]:
    """Where in `given` each wanted label is. A label that is no text also answers to its text, as in files."""
    known = set(wanted)
    found: dict[Hashable, int] = {}
    twice: list[Hashable] = []
    for place, label in enumerate(given):
        name = label if label in known else str(label)
        if name in found:
            twice.append(label)
        found[name] = place
    missing = [label for label in wanted if label not in found]
    extra = [label for label in found if label not in known]
    said = [
        f"{what}: {_listed(labels)}"
        for what, labels in (("missing", missing), ("unknown", extra), ("given twice", twice))
        if labels
    ]
    if said:
        raise InvalidAnswerError(
            f"the labels are not those of the question ({'; '.join(said)}); give every label once, with 0 where"
            " nothing was counted.",
            missing=tuple(missing),
            unknown=tuple(extra),
        )
    return [found[label] for label in wanted]


def _listed(labels: Sequence[Hashable]) -> str:
    named = ", ".join(repr(label)[:_LONGEST_LABEL] for label in labels[:_NAMED])
    return named if len(labels) <= _NAMED else f"{named} and {len(labels) - _NAMED} more"


# Tables of pandas and polars: neither is imported unless the caller has done so.


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


# Releases.


_NUMBER_KINDS = "iufOU"
_ONE_NUMBER = (Scalar, Bounded)


def release_in_kind(mechanism: Any, drawer: Drawer, answer: Any, entropy: Entropy) -> Any:
    """One private answer: several numbers in the container they came in, scores of a choice by their labels."""
    several, asked = isinstance(mechanism, Several), mechanism.query
    if not several and not isinstance(asked, (*_ONE_NUMBER, Choice)):
        return drawer.release(answer, entropy)
    found = held(answer)
    if found is None or (isinstance(asked, Choice) and isinstance(answer, Mapping)):
        return drawer.release(answer, entropy)
    if isinstance(asked, Choice):
        return drawer.release(_scores(found), entropy)
    if not several:
        raise InvalidAnswerError(
            f"the answer is not a finite number but {len(found.numbers)} in a {type(answer).__name__}; give one, or use"
            " release_many, which answers each by itself (and each release costs its own epsilon)."
        )
    found = found.in_order_of(_labels(asked))
    return found.back(np.asarray(drawer.release(found.numbers, entropy)))


def release_many_in_kind(mechanism: Any, drawer: Drawer, answers: Any, entropy: Entropy) -> Any:
    """One independent private answer for each of many, in the container that they came in."""
    if isinstance(answers, str | bytes) or not isinstance(answers, Iterable) or getattr(answers, "shape", 1) == ():
        raise InvalidAnswerError("the answers are no list; give a list, an array, a dict or a table of them.")
    if isinstance(mechanism, Several):
        return _many_vectors(mechanism, drawer, answers, entropy)
    if not isinstance(mechanism.query, _ONE_NUMBER):
        return drawer.release_many(answers, entropy)
    found = held(answers) or held(list(answers))
    assert found is not None
    return found.back(drawer.release_many(found.numbers, entropy))


def held(given: Any) -> Held | None:
    """The numbers inside a container; None for what is none (a number, text, or something unknown).

    Raises InvalidAnswerError for what has no order or holds no numbers, and for a missing one, by its place.
    """
    if isinstance(given, set | frozenset):
        raise InvalidAnswerError("the answer is a set, which has no order; give a list, or a dict with labels.")
    found = table(given)
    if found is None and isinstance(given, Mapping):
        keys = list(given)
        values = list(given.values())
        found = Held(values, lambda released: dict(zip(keys, released.tolist(), strict=True)), lambda: keys)
    elif found is None and isinstance(given, np.ndarray) and given.ndim:
        found = _array(given)
    elif found is None and isinstance(given, Sequence) and not isinstance(given, str | bytes | bytearray):
        found = Held(list(given), np.asarray)
    if found is not None:
        require_present(found.numbers)
    return found


def _array(given: NDArray[Any]) -> Held:
    if type(given) is not np.ndarray and isinstance(given, np.ma.MaskedArray):
        masked = np.flatnonzero(np.ma.getmaskarray(given))
        if len(masked):
            raise missing_number(int(masked[0]))
    if given.dtype.kind not in _NUMBER_KINDS:
        raise no_numbers(f"the array has values of the type {given.dtype}")
    plain = np.asarray(given)
    rows = plain.shape[0] if plain.ndim > 1 else None
    return Held(plain.reshape(-1), lambda released: released.reshape(plain.shape), rows=rows)


def _labels(query: Any) -> Any:
    """What a question calls its numbers, where it has names for them."""
    return getattr(query, "labels", None)


def _scores(found: Held) -> dict[Any, Any]:
    """The scores of a choice by their labels; a list has none, and what a label names twice is refused."""
    if found.labels is None:
        raise InvalidAnswerError(
            "give a score for every candidate, and for no other: a dict, or a Series by candidate."
        )
    labels = found.labels()
    if len(set(labels)) < len(labels):
        raise InvalidAnswerError("a candidate has more than one score; give a score for every candidate once.")
    return dict(zip(labels, found.numbers, strict=True))


def _many_vectors(mechanism: Any, drawer: Drawer, answers: Any, entropy: Entropy) -> Any:
    """Many answers of several numbers: the rows of a table or array, or whatever containers a list or dict holds."""
    wanted, whole = _labels(mechanism.query), table(answers)
    if whole is None and isinstance(answers, np.ndarray) and answers.ndim > 1:
        whole = _array(answers)
    if whole is not None and whole.rows is not None:
        require_present(whole.numbers)
        rows, back = whole.by_rows(wanted)
        return back(_rows(mechanism, drawer, rows, entropy))
    if whole is not None or isinstance(answers, set | frozenset):
        raise InvalidAnswerError("each answer has several numbers; give them as rows of a table, or a list of answers.")
    keys = list(answers) if isinstance(answers, Mapping) else None
    each = [(answer, held(answer)) for answer in (answers.values() if keys is not None else answers)]
    if any(found is None for _, found in each):
        raise InvalidAnswerError(f"each answer has several numbers; give lists of {mechanism.query.dimension} numbers.")
    ready = [found.in_order_of(wanted) for _, found in each if found is not None]
    released = _rows(mechanism, drawer, [found.numbers for found in ready], entropy)
    filled = [found.back(row) for found, row in zip(ready, released, strict=True)]
    if keys is not None:
        return dict(zip(keys, filled, strict=True))
    if not filled:
        return released
    return np.array(filled) if _alike(filled) else filled


def _alike(filled: list[Any]) -> bool:
    """Whether all are arrays of one shape, so that they fit into one."""
    return all(isinstance(one, np.ndarray) for one in filled) and len({one.shape for one in filled}) <= 1


def _rows(mechanism: Any, drawer: Drawer, rows: Any, entropy: Entropy) -> NDArray[Any]:
    if not len(rows):
        return np.empty((0, mechanism.query.dimension))
    return np.asarray(drawer.release_many(rows, entropy)).reshape(len(rows), -1)
