"""Several epsilons from what a person typed: a list, or a range."""

from __future__ import annotations

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import PureDP

MOST_POINTS = 1000
_DIGITS = 3


def listed(text: str) -> list[PureDP]:
    """The epsilons of a list with commas between them, in the order they were typed."""
    words = text.split(",")
    if len(words) > MOST_POINTS:
        raise InvalidInputError(f"--epsilons lists {len(words)} values; at most {MOST_POINTS} are allowed.")
    return _without_repetition([PureDP(word) for word in words])


def count(text: str) -> int:
    """A number of points."""
    try:
        points = int(text)
    except ValueError:
        points = 0
    if not 2 <= points <= MOST_POINTS:
        raise InvalidInputError(f"--points is {text!r}; give a whole number from 2 to {MOST_POINTS}.")
    return points


def spaced(start: str, end: str, points: int) -> list[PureDP]:
    """From start to end, each the same factor above the last, rounded to three digits; the ends stay as typed."""
    low, high = PureDP(start), PureDP(end)
    if low.epsilon >= high.epsilon:
        raise InvalidInputError(f"--from is {start} and --to is {end}; --from must be the smaller one.")
    first, ratio = float(low.epsilon), float(high.epsilon / low.epsilon)
    inner = [PureDP(f"{first * ratio ** (i / (points - 1)):.{_DIGITS}g}") for i in range(1, points - 1)]
    between = [each for each in inner if low.epsilon < each.epsilon < high.epsilon]
    return _without_repetition([low, *between, high])


def _without_repetition(requirements: list[PureDP]) -> list[PureDP]:
    return list(dict.fromkeys(requirements))
