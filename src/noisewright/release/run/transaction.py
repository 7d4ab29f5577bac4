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

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from noisewright.ledger import checkpoints
from noisewright.ledger.charge import Charge
from noisewright.ledger.idempotence import ANSWERED, DRAWN, FAILED, UNDRAWN, Same, alone
from noisewright.problem.errors import EngineError, InvalidInputError, LedgerError, ReleaseFailedError
from noisewright.release.ask.estimates import Estimate
from noisewright.release.engines.registry import in_words
from noisewright.release.plan.layout import Layout
from noisewright.release.plan.noise import drawn, widths
from noisewright.release.run.answers import counted_in
from noisewright.release.run.idempotence import FINISH, LOST, UNKNOWN, Kept, held, same_of, stored
from noisewright.release.run.post_processing import Tidying, steps_of
from noisewright.release.table.frames import frame_of, require_frame
from noisewright.sample.entropy import SystemEntropy

if TYPE_CHECKING:
    from noisewright.release.dataset import Dataset
    from noisewright.release.plan.plan import Plan

CONFIDENCE = Fraction(19, 20)
_ENDS = ("value", "half_width", "low", "high")
_TIDY_ENDS = tuple(f"post_{name}" for name in _ENDS)
_AFTER = ("counted", "mechanism", "charge")
_AFTERWARDS = {
    DRAWN: f"Nothing was released. {LOST}",
    ANSWERED: "Its answer is stored: release the same plan again to get it, without another charge.",
}


def released(plan: Plan, *, fresh: bool, reason: str | None, frame: str | None, post: Any = ()) -> Any:
    """The answers of a plan as a frame; the stored ones if there are any and nothing fresh is asked for.

    What `post` asks for stands beside them and is never stored.
    """
    ledger = None if plan.dataset is None else plan.dataset.ledger
    if plan.dataset is None or ledger is None:
        raise InvalidInputError(
            "this dataset has no budget, so nothing can be released; give nw.Dataset(..., budget=..., ledger=path)."
        )
    kind, tidy = require_frame(frame or plan.dataset.frame), tidying_of(plan, post)
    same = same_of(plan, ledger)
    with alone(ledger, same.drawn):
        kept = None if fresh else stored(same.look())
        place, numbers = kept or _answered(plan, plan.dataset, same, reason, fresh=fresh)
    return frame_of(columns(plan, numbers, place, tidy=tidy), kind)


def _answered(plan: Plan, dataset: Dataset, same: Same, reason: str | None, *, fresh: bool) -> Kept:
    """The charge and the numbers of a new answer, which is stored; or of one that somebody else stored meanwhile."""
    from noisewright.release.plan.plan import require_sound  # which imports this module when it releases

    require_sound(plan)
    checkpoints.passed("begun")
    salt = int(SystemEntropy().stream().words(1)[0])
    dataset.rehearse(plan.layout, salt)
    checkpoints.passed("rehearsed")
    label = f"plan {plan.key} {reason or ''}".strip()
    aggregate, sums = partial(dataset._aggregate, plan.layout, salt), list[list[Any]]()
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


def tidying_of(plan: Plan, post: Any) -> Tidying | None:
    """What `post` will do to the answers, worked out before anything is spent; None where nothing is asked for."""
    steps = steps_of(post)
    return Tidying(plan, steps, reaches_of(plan), CONFIDENCE) if steps else None


def _kind(error: Exception) -> str:
    """What went wrong, without its words."""
    return str(error.problem) if isinstance(error, EngineError) else type(error).__name__


def stored_form(layout: Layout, numbers: Sequence[Any]) -> list[Any]:
    """Released numbers as they stand in a ledger; `numbers_of` reads them back."""
    parts = zip(layout.tables, layout.split_released(numbers), strict=True)
    return [value for table, part in parts for value in table.way.stored(part)]


def reaches_of(plan: Plan) -> dict[str, list[Fraction]]:
    """By question, how far each of its numbers may be from the truth: all of them within, 95 times in 100."""
    counts = {question.at_once for question in plan.questions}
    each = {count: widths(plan.blocks, plan.layout, 1 - (1 - CONFIDENCE) / count) for count in counts}
    return {
        question.label: [each[question.at_once][place][i] for i in places]
        for place, table in enumerate(plan.layout.tables)
        for question, places in table.questions
    }


def columns(
    plan: Plan,
    numbers: Sequence[Any],
    charge: int,
    reaches: Mapping[str, Sequence[Fraction]] | None = None,
    tidy: Tidying | None = None,
) -> dict[str, list[Any]]:
    """Released numbers as a tidy table: one row for each question and group, in the order they were asked.

    With `tidy` the answers after post-processing stand in columns of their own. `counted` says of each answer which
    rows it is over: that is the number which its interval holds.
    """
    reaches = reaches_of(plan) if reaches is None else reaches
    tables = list(zip(plan.layout.tables, plan.layout.split_released(numbers), strict=True))
    names = {name: column_name(name) for question in plan.questions for name in question.columns}
    more = {} if tidy is None else tidy.estimates(numbers)
    ends = (*_ENDS, *(() if tidy is None else _TIDY_ENDS), *_AFTER)
    found: dict[str, list[Any]] = {name: [] for name in ("question", *names.values(), *ends)}
    counted = counted_in(plan)
    by_question = {
        question.label: (table, part, place, places)
        for place, (table, part) in enumerate(tables)
        for question, places in table.questions
    }
    for question in plan.questions:
        table, part, place, places = by_question[question.label]
        block = plan.blocks[0 if plan.blocks[0].table is None else place]
        rows = list(question.answers(table, part, places, reaches[question.label]))
        found["question"] += [question.label] * len(rows)
        for name, shown in names.items():
            found[shown] += [named.get(name) for named, _ in rows]
        answers: Sequence[Estimate] = [answer for _, answer in rows]
        _ended(found, _ENDS, answers)
        if tidy is not None:
            _ended(found, _TIDY_ENDS, more.get(question.label, answers))
        found["counted"] += [counted[question.label]] * len(rows)
        found["mechanism"] += [block.name] * len(rows)
        found["charge"] += [charge] * len(rows)
    return found


def _ended(found: Mapping[str, list[Any]], names: Sequence[str], answers: Sequence[Estimate]) -> None:
    """Put the numbers of answers below the others, by the names of their columns."""
    for name, values in zip(names, zip(*(answer.doubles for answer in answers), strict=True), strict=False):
        found[name] += values


def column_name(column: str) -> str:
    """The name of a key column in an answer; one that an answer needs itself gets a word before it."""
    taken = ("question", *_ENDS, *_TIDY_ENDS, *_AFTER)
    return f"key {column}" if column in taken else column
