"""Releases in the caller's own container: list, array, dict or table in, the same with its labels and shape out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.per_coordinate import Several
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.queries import Bounded, Choice, Scalar
from noisewright.sample.drawers import Drawer
from noisewright.sample.shapes import Held, missing_number, no_numbers, require_present
from noisewright.sample.tables import table
from noisewright.sample.uniform import Entropy

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
