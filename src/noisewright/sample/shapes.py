"""Labels and shapes: numbers leave a list, an array, a dict or a table in order, and come back in one like it.

Numbers are handed on as they are, never converted on the way: a whole number beyond 2^53 in a table that also has
floats stays whole. An error names places and the question's own labels, never a number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import InvalidAnswerError

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
