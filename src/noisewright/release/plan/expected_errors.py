"""The errors to expect of a plan, and those that plain noise would have: what people would use without a design.

*Plain Laplace*: every number that one person touches gets an equal share of epsilon, and Laplace noise for how far the
person moves it. *Plain Gaussian*: noise in proportion to how far each number moves, all numbers that one person touches
counted as moved at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.release.plan.layout import AnswerTable, Layout
from noisewright.release.plan.noise import Block, expected, widths

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

Errors = list[list[float]]
_CONFIDENCE = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class Line:
    """What is expected of one number of an output, in the units of its question; None where noise has no guarantee."""

    output: str
    first: bool
    groups: str
    word: str
    error: float
    width: float
    laplace: float | None
    gaussian: float | None


def lines_of(blocks: Sequence[Block], layout: Layout, privacy: Notion, utility: Utility) -> list[Line]:
    """Every number of every output: its expected error, its 95 % half-width, and the errors of plain noise."""
    rivals = [of(layout, privacy, utility) for of in (laplace_errors, gaussian_errors)]
    found = []
    each = widths(blocks, layout, _CONFIDENCE)
    for place, table in enumerate(layout.tables):
        errors = expected(blocks, layout, utility, place)
        for question, places in table.questions:
            for line, (word, unit, own) in enumerate(question.lines(table, places)):
                usual = [_overall(of[place], own, utility) * float(unit) if of else None for of in rivals]
                error = _overall(errors, own, utility) * float(unit)
                width = float(max(each[place][i] for i in own) * unit)
                found.append(Line(question.label, line == 0, _counted(table), word, error, width, *usual))
    return found


def _counted(table: AnswerTable) -> str:
    """How many groups a table has; cells that are answered together are one."""
    return table.grouping.counted if table.together == 1 else str(table.grouping.count // table.together)


def _overall(errors: Sequence[float], places: Sequence[int], utility: Utility) -> float:
    """The error of several numbers in one: the root of the mean square, or the mean."""
    power = 2 if isinstance(utility, SquaredError) else 1
    return float((math.fsum(errors[i] ** power for i in places) / len(places)) ** (1 / power))


def touched(layout: Layout) -> int:
    """How many numbers one person can move at once."""
    return sum(table.groups * len(table.aggregates) for table in layout.tables)


def laplace_errors(layout: Layout, privacy: Notion, utility: Utility) -> Errors | None:
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
    return [[factor * scale * one for one in table.strategy.plain(table)] for table in layout.tables]


def gaussian_errors(layout: Layout, privacy: Notion, utility: Utility) -> Errors | None:
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
    return [[factor * std * one for one in table.strategy.plain(table)] for table in layout.tables]
