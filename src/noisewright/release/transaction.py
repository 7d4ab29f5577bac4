"""The release: validate, charge, aggregate, say that it draws, draw, store, in this order.

Nothing after the charge may fail because of a value, and nothing before it looks at one. A crash after the charge
leaves it spent; as long as nothing was drawn, the next release of the same plan finishes it without another charge,
whatever ended the one before (`ledger.resuming`). The answers stand in the ledger beside the charge, so that the same
plan asked again gets them back. Where something may have been drawn and no answer stands there, the plan is refused
until it is asked for afresh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.ledger import marks
from noisewright.ledger.charge import Charge
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.resuming import ANSWERED, DRAWN, FAILED, UNDRAWN, alone, resumed, standing
from noisewright.problem.errors import EngineError, InvalidInputError, LedgerError, ReleaseFailedError
from noisewright.problem.records import digest
from noisewright.release.drawing import drawn, widths
from noisewright.release.engines.base import in_words
from noisewright.release.frames import frame_of, require_frame
from noisewright.release.layout import Layout
from noisewright.release.tidying import Tidying, steps_of
from noisewright.sample.uniform import SystemEntropy

if TYPE_CHECKING:
    from noisewright.release.dataset import Dataset
    from noisewright.release.plan import Plan

CONFIDENCE = Fraction(19, 20)
_ENDS = ("value", "half_width", "low", "high")
_TIDY_ENDS = tuple(f"post_{name}" for name in _ENDS)
_BY_HAND = "interrupted"
_FINISH = "Nothing was released. Nothing was drawn: release the same plan again to finish it, without another charge."
_LOST = (
    "Something may have been drawn, and no answer is stored: whoever drew ended before that, or is about to store it."
    " Release the plan again in a while to see whether it is there; release(fresh=True), --fresh at the command line,"
    " draws and charges again."
)
_AFTERWARDS = {
    UNDRAWN: _FINISH,
    FAILED: _FINISH,
    DRAWN: f"Nothing was released. {_LOST}",
    ANSWERED: "Its answer is stored: release the same plan again to get it, without another charge.",
}
_UNKNOWN = "Release the same plan again: unless something was drawn, it finishes this charge without another one."


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
    label = f"plan {plan.key} {reason or ''}".strip()
    with alone(ledger, plan.key):
        kept = None if fresh else stored(ledger, plan.key, plan.layout)
        place, numbers = kept or _answered(plan, plan.dataset, ledger, label, fresh=fresh)
    return frame_of(columns(plan, numbers, place, tidy=tidy), kind)


def _answered(plan: Plan, dataset: Dataset, ledger: Ledger, label: str, *, fresh: bool) -> tuple[int, list[Any]]:
    """The charge and the numbers of a new answer, which is stored.

    Guarantees: numbers are drawn only after a row of the ledger says so, which nobody but the holder of the charge can
    write. What is raised says what was spent and what to do, and repeats no value.
    """
    from noisewright.release.plan import require_sound  # which imports this module when it releases

    require_sound(plan)
    marks.reach("begun")
    salt = int(SystemEntropy().stream().words(1)[0])
    dataset.rehearse(plan.layout, salt)
    marks.reach("rehearsed")
    if not fresh and (kept := stored(ledger, plan.key, plan.layout)) is not None:
        return kept  # somebody else was quicker
    with charged(ledger, plan, label, fresh=fresh) as charge:
        failed, words, otherwise = "", "", _FINISH
        try:
            marks.reach("charged")
            vector = dataset._aggregate(plan.layout, salt)
            marks.reach("aggregated")
            otherwise = _UNKNOWN
            charge.drawing()
            marks.reach("drawing")
            numbers = drawn(plan.blocks, plan.layout, vector)
            marks.reach("drawn")
            charge.answered(stored_form(plan.layout, numbers))
            marks.reach("stored")
            return charge.place, numbers
        except LedgerError as error:
            failed, words = type(error).__name__, str(error)
        except Exception as error:  # noqa: BLE001 -- its words may repeat a value of the table
            failed = _kind(error)
            words = f"the engine failed ({in_words(failed)})."
        except BaseException as error:
            charge.failed(type(error).__name__)
            error.add_note(_told(plan, ledger, charge, otherwise))
            raise
        charge.failed(failed)
        told = _told(plan, ledger, charge, otherwise)
        if failed == _BY_HAND:
            raise KeyboardInterrupt(told)
        raise ReleaseFailedError(f"{words} {told}", kind=failed, charge=charge.place, words=words)


def _told(plan: Plan, ledger: Ledger, charge: Charge, otherwise: str) -> str:
    """What was spent and what to do, as the ledger says; `otherwise` if it is away as well."""
    try:
        after = _AFTERWARDS.get(standing_of(plan, ledger).get(charge.place, ""), otherwise)
    except LedgerError:
        after = otherwise
    return f"Charge {charge.place} of {ledger.url} is spent: {plan.privacy}. {after}"


def charged(ledger: Ledger, plan: Plan, label: str, *, fresh: bool) -> Charge:
    """A charge to draw from: one of the same plan of which nothing was drawn, or a new one.

    Guarantees: nobody else draws from it; what was charged is the very mechanism of the plan. Refuses where something
    may have been drawn and no answer is stored, unless the plan is asked for afresh. What was asked for afresh takes no
    charge from somebody who may be at work.
    """
    known = standing_of(plan, ledger)
    ready = [place for place, how in known.items() if how == FAILED or (how == UNDRAWN and not fresh)]
    lost = [place for place, how in known.items() if how == DRAWN]
    if ready:
        found = resumed(ledger, max(ready), undrawn(plan), plan.charge)
        if found is not None:
            return found
        raise InvalidInputError(
            f"somebody else is finishing charge {max(ready)} of this plan; release it again in a while to get that"
            " answer. Nothing was spent."
        )
    if lost and not fresh:
        raise InvalidInputError(
            f"charge {max(lost)} of {ledger.url} was spent on this plan already. {_LOST} Nothing was spent now."
        )
    try:
        return ledger.charge(plan.charge, reason=label, undrawn=undrawn(plan))
    except KeyboardInterrupt as error:
        error.add_note(f"If a charge of this plan is in {ledger.url}, it is spent. {_FINISH}")
        raise


def standing_of(plan: Plan, ledger: Ledger) -> dict[int, str]:
    """How each charge of a plan stands, by its place."""
    return standing(ledger, ("plan", plan.key), undrawn(plan), plan.charge)


def undrawn(plan: Plan) -> str:
    """What a charge of a plan is of: its mechanisms, each with its proof."""
    return digest({"charged": plan.to_dict()["blocks"]})


def tidying_of(plan: Plan, post: Any) -> Tidying | None:
    """What `post` will do to the answers, worked out before anything is spent; None where nothing is asked for."""
    steps = steps_of(post)
    return Tidying(plan, steps, reaches_of(plan), CONFIDENCE) if steps else None


def _kind(error: Exception) -> str:
    """What went wrong, without its words; how DuckDB says that somebody pressed Ctrl-C is told apart."""
    if isinstance(error, EngineError):
        return str(error.problem)
    return _BY_HAND if isinstance(error, RuntimeError) and "interrupted" in str(error) else type(error).__name__


def stored(ledger: Ledger, key: str, layout: Layout) -> tuple[int, list[Any]] | None:
    """The charge and the numbers of the last answer to the same plan; None if it was never answered."""
    places, found = set(), None
    for row in ledger.rows():
        if row["event"] == "charge" and str(row.get("label", "")).split(" ")[:2] == ["plan", key]:
            places.add(row["place"])
        elif row["event"] == "answer" and row.get("charge") in places:
            found = (row["charge"], row["answer"])
    if found is None:
        return None
    if not isinstance(found[1], list):
        raise InvalidInputError(
            "the stored answer of this plan was too long to be kept whole; release(fresh=True) draws and charges again."
        )
    # Anybody may write a label, so that what is beside it is looked at before it is believed.
    if len(found[1]) != layout.released:
        return None
    try:
        parts = zip(layout.tables, layout.split_released(found[1]), strict=True)
        return int(found[0]), [value for table, part in parts for value in table.way.restored(table, part)]
    except (TypeError, ValueError):
        return None


def stored_form(layout: Layout, numbers: Sequence[Any]) -> list[Any]:
    """Released numbers as they stand in a ledger; `stored` reads them back."""
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

    With `tidy` the answers after post-processing stand in columns of their own.
    """
    reaches = reaches_of(plan) if reaches is None else reaches
    tables = list(zip(plan.layout.tables, plan.layout.split_released(numbers), strict=True))
    names = list(dict.fromkeys(name for question in plan.questions for name in question.columns))
    more = {} if tidy is None else tidy.estimates(numbers)
    ends = (*_ENDS, *(() if tidy is None else _TIDY_ENDS), "mechanism", "charge")
    found: dict[str, list[Any]] = {name: [] for name in ("question", *map(column_name, names), *ends)}
    by_question = {
        question.label: (table, part, place, places)
        for place, (table, part) in enumerate(tables)
        for question, places in table.questions
    }
    for question in plan.questions:
        table, part, place, places = by_question[question.label]
        block = plan.blocks[0 if plan.blocks[0].table is None else place]
        for row, (named, answer) in enumerate(question.answers(table, part, places, reaches[question.label])):
            found["question"].append(question.label)
            for name in names:
                found[column_name(name)].append(named.get(name))
            after = more[question.label][row] if question.label in more else answer
            values = [getattr(one, name) for one in (answer, after)[: 1 if tidy is None else 2] for name in _ENDS]
            for name, value in zip(ends, values, strict=False):
                found[name].append(None if value is None else float(value))
            found["mechanism"].append(block.name)
            found["charge"].append(charge)
    return found


def column_name(column: str) -> str:
    """The name of a key column in an answer; one that an answer needs itself gets a word before it."""
    taken = ("question", *_ENDS, *_TIDY_ENDS, "mechanism", "charge")
    return f"key {column}" if column in taken else column
