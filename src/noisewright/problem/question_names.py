"""What the questions of a workload are called: runs of cells, values of attributes, rows of a matrix; from 0 on."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, overload


class QuestionNames(Sequence[str]):
    """A name for each question, in order, made when it is asked for: there may be millions.

    A run of cells is called `3..17`, a cell `3`; about attributes with names `age=2 × sex=1`, about others by position,
    `0=2 × 1=1`. What sums over every cell is called `total`.
    """

    def __init__(self, parts: Sequence[Any], axes: Sequence[str] | None) -> None:
        self._parts, self._axes = parts, axes
        self._ends: list[int] = list(accumulate(part.questions for part in parts))

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        index = range(len(self))[place]
        part = bisect_right(self._ends, index)
        return self._name(self._parts[part].factors, index - (self._ends[part - 1] if part else 0))

    def _name(self, factors: Sequence[Any], index: int) -> str:
        words = []
        for axis, factor in reversed(list(enumerate(factors))):
            index, inner = divmod(index, factor.questions)
            word = factor.name_of(inner)
            if word and len(factors) > 1:
                word = f"{axis if self._axes is None else self._axes[axis]}={word}"
            words.append(word)
        return " × ".join(word for word in reversed(words) if word) or "total"


def regular_name(form: str, size: int, index: int) -> str:
    """The name of a question of a known form about an axis; empty for the total."""
    if form == "total":
        return ""
    first, last = {"identity": (index, index), "prefixes": (0, index)}.get(form) or _run(size, index)
    return f"{first}..{last}" if last > first else str(first)


def _run(size: int, index: int) -> tuple[int, int]:
    """The first and the last cell of a run, in the order of the first, then of the last.

    Rule: counted from the end, the runs of the last k first cells are k (k + 1) / 2.
    [theory#strategies-in-whole-numbers]
    """
    after = size * (size + 1) // 2 - 1 - index
    rest = (math.isqrt(8 * after + 1) - 1) // 2
    return size - 1 - rest, size - 1 - (after - rest * (rest + 1) // 2)
