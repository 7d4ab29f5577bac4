"""The release: validate, charge, aggregate, say that it draws, draw, store, in this order.

Nothing after the charge may fail because of a value, and nothing before it looks at one. A crash after the charge
leaves it spent; as long as nothing was drawn, the next release of the same plan finishes it without another charge,
whatever ended the one before (`ledger.resuming`). The answers stand in the ledger beside the charge, so that the same
plan asked again gets them back. Where something may have been drawn and no answer stands there, the plan is refused
until it is asked for afresh.

Nobody can know whether somebody who charged is still at work. So a charge is taken over either way, and who was at work
notices when about to draw: nothing is drawn from that charge, and one is asked for again, with the sums at hand. Asked
for afresh that is a charge of its own if need be; else it is the answer that was stored meanwhile, or the same charge.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from noisewright.ledger import checkpoints
from noisewright.ledger.charge import Charge
from noisewright.ledger.idempotence import ANSWERED, DRAWN, FAILED, UNDRAWN, Same, alone
from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import EngineError, InvalidInputError, LedgerError, ReleaseFailedError, StaleAnswerError
from noisewright.problem.warnings import StaleAnswerWarning
from noisewright.release.engines.registry import in_words
from noisewright.release.plan.noise import drawn
from noisewright.release.plan.plan import Plan, require_sound
from noisewright.release.run.answers import columns
from noisewright.release.run.checked_table import CheckedTable
from noisewright.release.run.idempotence import (
    CANNOT_TELL,
    FINISH,
    LOST,
    UNKNOWN,
    Kept,
    held,
    same_of,
    stale,
    stored,
    stored_form,
)
from noisewright.release.run.post_processing import post_processing_of
from noisewright.release.table.frames import frame_of, require_frame
from noisewright.sample.entropy import SystemEntropy

_AFTERWARDS = {
    DRAWN: f"Nothing was released. {LOST}",
    ANSWERED: "Its answer is stored: release the same plan again to get it, without another charge.",
}


def released(
    plan: Plan,
    ledger: Ledger | None,
    checked: CheckedTable,
    *,
    fresh: bool,
    reason: str | None,
    frame: str,
    post: Sequence[str] = (),
    refuse_stale: bool = False,
) -> Any:
    """The answers of a plan as a frame; the stored ones if there are any and nothing fresh is asked for.

    What `post` asks for stands beside them and is never stored. Stored ones that are older than the files are told of,
    or refused.
    """
    if ledger is None:
        raise InvalidInputError(
            "this dataset has no budget, so nothing can be released; give nw.Dataset(..., budget=..., ledger=path)."
        )
    kind, tidy = require_frame(frame), post_processing_of(plan, post)
    modified = checked.source.modified()
    if refuse_stale and modified is None:
        raise InvalidInputError(CANNOT_TELL)
    same = same_of(plan, ledger)
    with alone(ledger, same.drawn):
        kept = None if fresh else stored(same.look())
        if kept is not None and modified is not None and (told := stale(plan, ledger, kept[0], modified)):
            if refuse_stale:
                raise StaleAnswerError(told, charge=kept[0])
            warnings.warn(told, StaleAnswerWarning, stacklevel=4)
        place, numbers = kept or _answered(plan, checked, same, reason, fresh=fresh)
    return frame_of(columns(plan, numbers, place, tidy=tidy), kind)


def _answered(plan: Plan, checked: CheckedTable, same: Same, reason: str | None, *, fresh: bool) -> Kept:
    """The charge and the numbers of a new answer, which is stored; or of one that somebody else stored meanwhile."""
    require_sound(plan)
    checkpoints.passed("begun")
    salt = int(SystemEntropy().stream().words(1)[0])
    checked.dry_run(plan.layout, salt)
    checkpoints.passed("rehearsed")
    label = f"plan {plan.key} {reason or ''}".strip()
    aggregate, sums = partial(checked.true_aggregates, plan.layout, salt), list[list[Any]]()
    while True:
        charge = held(plan, same, label, fresh=fresh)
        if not isinstance(charge, Charge):
            return charge
        numbers = _finished(plan, aggregate, same, charge, sums, fresh=fresh)
        if numbers is not None:
            return charge.place, numbers


def _finished(
    plan: Plan, aggregate: Callable[[], list[Any]], same: Same, charge: Charge, sums: list[list[Any]], *, fresh: bool
) -> list[Any] | None:
    """The numbers of an answer that is drawn from a charge and stored; None if somebody else took it over.

    Guarantees: numbers are drawn only after a row of the ledger says so, which nobody but the holder of the charge can
    write. What is raised says what was spent and what to do, and repeats no value. `sums` keeps what was aggregated for
    another charge.
    """
    with charge:
        failed, words = "", ""
        otherwise = finish = FINISH[fresh]
        try:
            if not sums:
                checkpoints.passed("charged")
                sums.append(aggregate())
                checkpoints.passed("aggregated")
            otherwise = UNKNOWN[fresh]
            if not _announced(charge):
                return None
            checkpoints.passed("drawing")
            numbers = drawn(plan.blocks, plan.layout, sums[0])
            checkpoints.passed("drawn")
            charge.answered(stored_form(plan.layout, numbers))
            checkpoints.passed("stored")
            return numbers
        except LedgerError as error:
            failed, words = type(error).__name__, str(error)
        except Exception as error:  # noqa: BLE001 -- its words may repeat a value of the table
            failed = _kind(error)
            words = f"the engine failed ({in_words(failed)})."
        except BaseException as error:
            charge.failed(type(error).__name__)
            error.add_note(_told(plan, same, charge, finish, otherwise))
            raise
        charge.failed(failed)
        told = _told(plan, same, charge, finish, otherwise)
        raise ReleaseFailedError(f"{words} {told}", kind=failed, charge=charge.place, words=words)


def _announced(charge: Charge) -> bool:
    """Whether a row of the ledger says that its holder draws from a charge; False if somebody else holds it."""
    try:
        charge.drawing()
    except LedgerError as error:
        if "taken" not in error.fields:
            raise
        return False
    return True


def _told(plan: Plan, same: Same, charge: Charge, finish: str, otherwise: str) -> str:
    """What was spent and what to do, as the ledger says: `finish` if nothing was drawn, `otherwise` if it is away."""
    try:
        how = same.look().standing.get(charge.place, "")
        after = finish if how in (UNDRAWN, FAILED) else _AFTERWARDS.get(how, otherwise)
    except LedgerError:
        after = otherwise
    return f"Charge {charge.place} of {same.ledger.url} is spent: {plan.privacy}. {after}"


def _kind(error: Exception) -> str:
    """What went wrong, without its words."""
    return str(error.problem) if isinstance(error, EngineError) else type(error).__name__
