"""One of finitely many candidates under pure differential privacy."""

from __future__ import annotations

from collections.abc import Iterator

from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice
from noisewright.problem.utility import Utility
from noisewright.search.bounds.choice import best_choice
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.report.designer import Designer, Proposal, check_size
from noisewright.search.report.report import Report
from noisewright.search.report.shown import Advance


def propose(query: Choice, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Permute-and-flip, which is at least as good whatever the scores are, and the exponential mechanism."""
    step("building the mechanisms")
    yield Proposal("permute-and-flip", PermuteAndFlip(query, privacy.epsilon), 0)
    yield Proposal("exponential", RandomExponential(query, (privacy.epsilon,), (1,)), 1)


def check(query: Choice, privacy: PureDP, utility: Utility) -> None:
    """Refuse a power whose worst case is not known, and values beyond what floats hold."""
    if utility.power is not None and utility.power < 1:
        raise InvalidUtilityError(
            f"utility is {utility!r}; for a Choice question the worst scores are known for powers of at least 1 only.",
            utility=utility,
        )
    check_size(query, utility)


def notes(report: Report) -> Iterator[str]:
    """What is measured."""
    yield "The error of a choice is how far the chosen score lies below the best one, at the worst scores there are."


CHOICE_PURE = Designer(SCALAR, propose, best_choice, check, notes=notes, steps=3)
