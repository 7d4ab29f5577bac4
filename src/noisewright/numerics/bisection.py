"""Bisection that keeps to ends that were checked, for whole numbers, rationals and floats.

Every function takes a property `holds` that turns once on the way from `fails` (where it is false) to `passes`
(where it is true); either may be the larger. The two given ends are taken at their word and never evaluated again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

N = TypeVar("N")


def first_true(holds: Callable[[N], bool], fails: N, passes: N, **limits: Any) -> N:
    """The end at which `holds` was checked to be true, next to where it turns; `limits` as for `turn`."""
    return turn(holds, fails, passes, **limits)[1]


def turn(
    holds: Callable[[N], bool], fails: N, passes: N, *, within: Any = 0, relative: Any = 0, middle: Any = None
) -> tuple[N, N]:
    """The last two ends (fails, passes) around the place where `holds` turns.

    Halves until the ends are at most `within` apart, or at most `relative` times the larger of their sizes. Whole
    numbers and floats end by themselves, as neighbours; rationals need one of the two. `middle(fails, passes)` is
    where to look next: half-way unless given (`geometric`, for numbers of many sizes).
    """
    a: Any = fails
    b: Any = passes
    between: Any = middle or (lambda a, b: (a + b) // 2 if isinstance(a, int) and isinstance(b, int) else (a + b) / 2)
    while abs(b - a) > max(within, relative * max(abs(a), abs(b))):
        looked_at = between(a, b)
        if looked_at in (a, b):
            break
        if holds(looked_at):
            b = looked_at
        else:
            a = looked_at
    return a, b


def gallop(holds: Callable[[N], bool], fails: N, step: Any) -> tuple[N, N]:
    """The first two ends (fails, passes), outward from `fails` by steps that double; a negative step goes down."""
    a: Any = fails
    while not holds(a + step):
        a, step = a + step, 2 * step
    return a, a + step


def geometric(a: float, b: float) -> float:
    """The root of the product of two positive floats, for numbers of many sizes."""
    return math.sqrt(a) * math.sqrt(b)
