"""The errors of a plan's numbers, and those that plain noise would have: what people would use without a design.

*Plain Laplace*: every number that one person touches gets an equal share of epsilon, and Laplace noise for how far the
person moves it. *Plain Gaussian*: noise in proportion to how far each number moves, all numbers that one person touches
counted as moved at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.release.plan.layout import Layout
from noisewright.release.plan.strategies.by_group import errors_of

if TYPE_CHECKING:
    from noisewright.release.plan.plan import Plan

Errors = list[list[float]]


def expected(plan: Plan, place: int) -> list[float]:
    """For the numbers of a group of one table, the root mean squared or mean absolute error, in whole units."""
    first, table = plan.blocks[0], plan.layout.tables[place]
    if first.table is None:
        start = sum(other.count for other in plan.layout.tables[:place])
        values = errors_of(first.certified.mechanism, plan.utility)[start : start + len(table.numbers)]
    else:
        values = table.way.errors(plan.blocks[place].certified, table, plan.utility)
    return [math.sqrt(value) for value in values] if isinstance(plan.utility, SquaredError) else values


def touched(layout: Layout) -> int:
    """How many numbers one person can move at once."""
    return sum(table.groups * len(table.numbers) for table in layout.tables)


def laplace_errors(layout: Layout, privacy: Any, utility: Any) -> Errors | None:
    """Of each number of a group, the error with plain Laplace noise; None where it has no such guarantee."""
    count = touched(layout)
    if isinstance(privacy, PureDP | ApproxDP):
        scale = count / float(privacy.epsilon)
    elif isinstance(privacy, ZeroConcentratedDP):
        # Noise of scale b is 1/b-private, hence of concentration 1/(2 b^2).
        scale = math.sqrt(count / (2 * float(privacy.rho)))
    else:
        return None
    factor = math.sqrt(2) if isinstance(utility, SquaredError) else 1.0
    return [[factor * scale * one for one in table.way.plain(table)] for table in layout.tables]


def gaussian_errors(layout: Layout, privacy: Any, utility: Any) -> Errors | None:
    """Of each number of a group, the error with plain Gaussian noise; None where it has no such guarantee."""
    if isinstance(privacy, ApproxDP):
        from noisewright.search.families.calibration import GAUSSIAN, calibrated

        std = float(calibrated(GAUSSIAN, 1, privacy).std)
    elif isinstance(privacy, ZeroConcentratedDP):
        std = math.sqrt(1 / (2 * float(privacy.rho)))
    elif isinstance(privacy, RenyiDP):
        std = math.sqrt(float(privacy.alpha) / (2 * float(privacy.epsilon)))
    else:
        return None
    std *= math.sqrt(touched(layout))
    factor = math.sqrt(2 / math.pi) if isinstance(utility, AbsoluteError) else 1.0
    return [[factor * std * one for one in table.way.plain(table)] for table in layout.tables]
