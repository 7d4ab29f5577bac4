"""Idempotence: from which charge a release draws, or which stored answer it gives, read off the ledger.

It is asked again under the lock of the ledger.
Of one plan, asked for by whoever and wherever at the same instant, one charges; asked for afresh, each that draws has a
charge of its own. A charge of which nothing was drawn is finished before another one is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from noisewright.ledger.charge import Charge
from noisewright.ledger.idempotence import DRAWN, FAILED, UNDRAWN, Same, Seen
from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import (
    BudgetExceeded,
    InvalidInputError,
    InvalidPrivacyError,
    LedgerClosedError,
    NoisewrightError,
    UncertifiedError,
)
from noisewright.problem.privacy import REQUIREMENTS, PureDP
from noisewright.problem.records import digest
from noisewright.release.plan.layout import Layout, Numbers
from noisewright.release.plan.plan import Plan

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion

_AFRESH = " with fresh=True, --fresh at the command line,"
FINISH = tuple(
    f"Nothing was released. Nothing was drawn: release the same plan again{how} to finish it, without another charge."
    for how in ("", _AFRESH)
)
"""What to do about a charge of which nothing was drawn: asked for plainly, and afresh."""
UNKNOWN = tuple(
    f"Release the same plan again{how}: unless something was drawn, it finishes this charge without another one."
    for how in ("", _AFRESH.rstrip(","))
)
"""The same where the ledger cannot be asked."""
LOST = (
    "Something may have been drawn, and no answer is stored: whoever drew ended before that, or is about to store it."
    " Release the plan again in a while to see whether it is there; release(fresh=True), --fresh at the command line,"
    " draws and charges again."
)
CANNOT_TELL = (
    "whether a stored answer is out of date cannot be told here: declare that everybody may know when the files were"
    " written last, modified_is_public = true, or leave out the refusal of stale answers. Nothing was spent."
)
Kept = tuple[int, list[Any]]
"""A charge and the numbers of its answer."""


def held(plan: Plan, same: Same, label: str, *, fresh: bool) -> Charge | Kept:
    """A charge to draw from: one of the same plan of which nothing was drawn, or a new one; or the stored answer.

    Guarantees: nobody else draws from it; what was charged is the very mechanism of the plan. Of several that ask at
    the same instant, and not afresh, one charges. Refuses, unless the plan is asked for afresh, where something may
    have been drawn and no answer is stored, and where somebody else has just charged.
    """
    seen = same.look()
    kept = None if fresh else stored(seen)
    if kept is not None:
        return kept
    standing = seen.standing
    ready = _ready(standing)
    lost = max((place for place, how in standing.items() if how == DRAWN), default=None)
    if ready is None and lost is not None and not fresh:
        raise InvalidInputError(
            f"charge {lost} of {same.ledger.url} was spent on this plan already. {LOST} Nothing was spent now."
        )
    try:
        found = None if ready is None else same.resumed(ready, seen)
        if found is None and (fresh or ready is None):
            found = same.charged(label, None if fresh else seen)
    except KeyboardInterrupt as error:
        error.add_note(f"If a charge of this plan is in {same.ledger.url}, it is spent. {FINISH[fresh]}")
        raise
    return found or _of_somebody_else(plan, same)


def _ready(standing: Mapping[int, str]) -> int | None:
    """The charge to finish: one that failed before one whose holder may be at work, the oldest first."""
    places = [place for place, how in standing.items() if how in (FAILED, UNDRAWN)]
    return min(places, key=lambda place: (standing[place] != FAILED, place), default=None)


def _of_somebody_else(plan: Plan, same: Same) -> Kept:
    """The answer of whoever charged, or took a charge over, since the ledger was read."""
    seen = same.look()
    kept = stored(seen)
    if kept is not None:
        return kept
    raise InvalidInputError(
        f"somebody else is finishing charge {max(seen.standing)} of this plan; release it again in a while to get that"
        " answer. Nothing else was spent."
    )


def same_of(plan: Plan, ledger: Ledger) -> Same:
    """The charges of a plan in a ledger. What they share is worked out here, once for a release."""
    return Same(ledger, undrawn(plan), plan.price, lambda answer: numbers_of(plan.layout, answer))


def standing_of(plan: Plan, ledger: Ledger) -> Mapping[int, str]:
    """How each charge of a plan stands, by its place."""
    return same_of(plan, ledger).look().standing


def undrawn(plan: Plan) -> str:
    """What a charge of a plan is of: this dataset, these questions and this requirement, and the very mechanisms.

    Guarantees: plans that differ in any of them differ in it, also where the noise is the same.
    """
    drawn = [[block.table, block.certified.to_dict()["digest"]] for block in plan.blocks]
    return digest({"plan": plan.key, "drawn": drawn})


def stored(seen: Seen) -> Kept | None:
    """The charge and the numbers of the last answer to the same plan; None if it was never answered."""
    if seen.cut is not None:
        raise InvalidInputError(
            "the stored answer of this plan was too long to be kept whole; release(fresh=True) draws and charges again."
        )
    return seen.answer


def refusal_of(plan: Plan, ledger: Ledger) -> NoisewrightError | None:
    """Why a ledger would refuse a charge of a plan now; None if it would not, or if no charge is needed.

    No charge is needed where its answers are stored, or where one of which nothing was drawn waits to be finished.
    Raises for a plan that the ledger can never add, whatever remains.
    """
    try:
        ledger.require_affordable(plan.price)
    except (BudgetExceeded, LedgerClosedError) as error:
        seen = same_of(plan, ledger).look()
        return None if seen.answer is not None or _ready(seen.standing) is not None else error
    except UncertifiedError:
        raise never_added(plan.privacy, ledger.budget) from None
    return None


def require_kind(privacy: Notion, budget: Notion) -> None:
    """Refuse a requirement that a budget is not there for, whatever noise would be found.

    A pure budget takes pure plans alone, although noise that is designed for a delta may happen to be pure: what is
    allowed must not hang on which noise wins.
    """
    if isinstance(budget, PureDP) and privacy in REQUIREMENTS and not isinstance(privacy, PureDP):
        raise never_added(privacy, budget)


def never_added(privacy: Notion, budget: Notion) -> InvalidPrivacyError:
    """The refusal of a plan that a budget can never add."""
    return InvalidPrivacyError(
        f"the budget is {budget}, which cannot add releases under {privacy}; give what it adds, such as the same kind"
        " of guarantee, or keep another budget. Nothing was spent.",
        privacy=privacy,
    )


def drawn_on(ledger: Ledger, place: int) -> datetime:
    """When a charge was written, by the clock of the machine that did."""
    time = next(row["time"] for number, row in enumerate(ledger.rows()) if number == place)
    return datetime.fromisoformat(time)


def stale(plan: Plan, ledger: Ledger, place: int, modified: float) -> str:
    """What to tell of a stored answer whose charge is older than the files; nothing of one that is not."""
    drawn = drawn_on(ledger, place)
    if modified <= drawn.timestamp():
        return ""
    return (
        f"stored answers of charge {place} of {ledger.url}, drawn {drawn:%Y-%m-%d %H:%M:%S} UTC; the files of"
        f" {plan.about['name']} were modified since: declare another version=, or draw afresh (fresh=True, --fresh at"
        f" the command line), which charges {plan.privacy}."
    )


def stored_form(layout: Layout, numbers: Numbers) -> list[Any]:
    """Released numbers as they stand in a ledger; `numbers_of` reads them back."""
    parts = zip(layout.tables, layout.split_released(numbers), strict=True)
    return [value for table, part in parts for value in table.strategy.stored(part)]


def numbers_of(layout: Layout, answer: object) -> list[Any] | None:
    """The released numbers in what a ledger holds beside a charge; None for what no release of a layout stores.

    Guarantees: raises nothing, whatever somebody wrote there.
    """
    if not isinstance(answer, list) or len(answer) != layout.released:
        return None
    try:
        parts = zip(layout.tables, layout.split_released(answer), strict=True)
        return [value for table, part in parts for value in table.strategy.restored(table, part)]
    except (TypeError, ValueError):
        return None
