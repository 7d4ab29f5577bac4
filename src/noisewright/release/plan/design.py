"""The best noise that is found for a layout, and which requirements and utilities there are designs for.

Two shapes are tried where both can be (`shares`); the one with the smaller weighted error is taken. Layouts that
choose their groups privately have their budget split first (`splitting`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidPrivacyError, InvalidUtilityError
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.release.plan.layout import Layout
from noisewright.release.plan.noise import Noise
from noisewright.release.plan.shares import by_table, joinable, jointly, several_draws, weights_of

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

REQUIREMENTS = (PureDP, ApproxDP, ZeroConcentratedDP, RenyiDP)


def designed(layout: Layout, privacy: Notion, utility: Utility, weights: Mapping[str, Number]) -> Noise:
    """The best noise that was found for a layout; every part certified, the whole within the requirement."""
    require_designable(layout, privacy, utility)
    if layout.private:
        from noisewright.release.plan.splitting import with_selection

        return with_selection(layout, privacy, utility, weights)
    own = [weights_of(table, utility, weights) for table in layout.tables]
    if isinstance(privacy, ApproxDP) and several_draws(layout):
        found = [by_table(layout, PureDP(privacy.epsilon), utility, own)]
        if joinable(layout):
            found.append(jointly(layout, privacy, utility, own))
    else:
        found = [by_table(layout, privacy, utility, own)]
    best = min(found, key=lambda noise: noise.value)
    return best.priced(layout, privacy)


def require_designable(layout: Layout, privacy: Notion, utility: Utility) -> None:
    """Refuse a requirement or utility that is not designed for over these tables."""
    if _is_metric(layout, privacy):
        require_utility(utility)
    else:
        require_served(privacy, utility)
    for table in layout.tables:
        table.strategy.require_served(table, utility)


def _is_metric(layout: Layout, privacy: Notion) -> bool:
    """Whether a layout is one of weighted counts under metric privacy; refuses a mixture with anything else."""
    weighted = any(question.strategy == ("by-weights",) for table in layout.tables for question, _ in table.questions)
    if not weighted and not isinstance(privacy, MetricPrivacy):
        return False
    from noisewright.release.plan.strategies.by_weights import require_metric

    require_metric(layout, privacy)
    return True


def require_served(privacy: Notion, utility: Utility) -> None:
    """Refuse a requirement or utility that plans do not know."""
    if type(privacy) not in REQUIREMENTS:
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}; a plan over a table takes PureDP, ApproxDP, ZeroConcentratedDP or RenyiDP.",
            privacy=privacy,
        )
    require_utility(utility)


def require_utility(utility: Utility) -> None:
    """Refuse a utility that plans do not know."""
    if type(utility) not in (SquaredError, AbsoluteError) or utility.weights is not None:
        raise InvalidUtilityError(
            f"utility is {utility!r}; give nw.SquaredError() or nw.AbsoluteError(). Each error counts against how far"
            " one person can move its number; weights={question: weight} says which matter more.",
            utility=utility,
        )
