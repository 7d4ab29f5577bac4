"""What is said of columns: their names, how many values they have, their bounds, and bounds found privately."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidInputError

Whole = NDArray[np.int64]

ESTIMATE = "estimate"
_SMALLEST, _LARGEST = -20, 40
_CHANCE = 0.01
MAGNITUDES = 2 * (_LARGEST - _SMALLEST) + 1
"""Cells of a histogram of magnitudes: one around zero, and one for each sign and power of two."""


def column_number(key: Any, names: Any, count: int, what: str) -> int:
    """The number of a column that is given by its number or its name."""
    if isinstance(key, str):
        known = [] if names is None else [str(name) for name in names]
        if key not in known:
            said = f"the columns are {', '.join(known)}" if known else "the columns have no names; give feature_names"
            raise InvalidInputError(f"{what} names the column {key!r}, but {said}.", column=key)
        return known.index(key)
    if isinstance(key, bool) or not isinstance(key, int | np.integer) or not 0 <= key < count:
        raise InvalidInputError(f"{what} names the column {key!r}; give a name or a number from 0 to {count - 1}.")
    return int(key)


def by_column(given: Mapping[Any, Any], names: Any, count: int, what: str) -> dict[int, Any]:
    """The same mapping by the numbers of the columns."""
    found: dict[int, Any] = {}
    for key, value in given.items():
        place = column_number(key, names, count, what)
        if place in found:
            raise InvalidInputError(f"{what} names column {place} twice.", column=place)
        found[place] = value
    return found


def checked_names(given: Any, seen: Any, count: int) -> NDArray[Any] | None:
    """The names of the columns: those of the data, or those that were given, which must agree."""
    if given is None:
        return None if seen is None else np.asarray(seen, dtype=object)
    names = [str(name) for name in given]
    if len(names) != count or len(set(names)) != count:
        raise InvalidInputError(f"feature_names has {len(set(names))} different names for {count} columns.")
    if seen is not None and list(seen) != names:
        raise InvalidInputError("feature_names differ from the names of the data's own columns; leave them out.")
    return np.array(names, dtype=object)


def checked_bounds(j: int, pair: Any) -> tuple[float, float]:
    """Two finite numbers, the lower one first."""
    try:
        low, high = (float(end) for end in pair)
    except (TypeError, ValueError):
        low = high = math.nan
    # Half the distance must be a number too: a half-range of 0 or infinity would not limit a row.
    if not (low < high and np.isfinite(low + high) and 0 < (high - low) / 2 < np.inf):
        raise InvalidInputError(f"bounds of column {j} are {pair!r}; give two finite numbers, low < high.")
    return low, high


def missing_bounds(label: str) -> InvalidInputError:
    """What to raise for a numeric column of which nothing public limits the values."""
    return InvalidInputError(
        f"column {label} has no bounds. Give what is publicly known, such as bounds=(0, 120) or"
        f' bounds={{"age": (0, 120)}}; never the minimum and maximum of the data, which are not private.'
        f' bounds="{ESTIMATE}" finds them with a part of epsilon, and categorical={{column: count}} is for categories.',
        column=label,
    )


def magnitudes(column: Floats) -> Whole:
    """The cell of each value: 0 around zero, then one for each power of two, positive ones first."""
    size = np.abs(column)
    _, exponent = np.frexp(np.clip(size, 2.0**_SMALLEST, 2.0 ** (_LARGEST - 1)))
    cell = exponent.astype(np.int64) - _SMALLEST
    cell += np.where(column < 0, _LARGEST - _SMALLEST, 0)
    return np.where(size < 2.0**_SMALLEST, 0, cell)


def bounds_from(noisy: Floats, share: Fraction, most: int) -> tuple[float, float]:
    """A range of powers of two that holds the cells whose private counts stand out; the largest cell if none does.

    Rule: it reads released counts alone, so it costs nothing more. A cell stands out above what Laplace noise reaches
    in some empty cell once in a hundred times; values beyond the range will count as its ends.
    [theory#tables-and-contribution-bounds]
    """
    limit = most / float(share) * math.log(len(noisy) / _CHANCE)
    chosen = [int(k) for k in np.flatnonzero(noisy > limit)] or [int(np.argmax(noisy))]
    ends = [_ends(k) for k in chosen]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _ends(cell: int) -> tuple[float, float]:
    count = _LARGEST - _SMALLEST
    if not cell:
        return -(2.0**_SMALLEST), 2.0**_SMALLEST
    low = 2.0 ** ((cell - 1) % count + _SMALLEST)
    return (low, 2 * low) if cell <= count else (-2 * low, -low)
