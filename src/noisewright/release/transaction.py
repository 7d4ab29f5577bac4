"""The release: validate, charge, aggregate, draw, store, in this order.

Nothing after the charge may fail because of a value, and nothing before it looks at one. A crash after the charge
leaves it spent. The answers stand in the ledger beside the charge, so that the same plan asked again gets them back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import InvalidInputError
from noisewright.release.drawing import drawn, widths
from noisewright.release.frames import frame_of, require_frame
from noisewright.sample.uniform import SystemEntropy

if TYPE_CHECKING:
    from noisewright.release.plan import Plan

CONFIDENCE = Fraction(19, 20)


def released(plan: Plan, *, fresh: bool, reason: str | None, frame: str | None) -> Any:
    """The answers of a plan as a frame; the stored ones if there are any and nothing fresh is asked for."""
    from noisewright.release.plan import require_sound  # which imports this module when it releases

    dataset = plan.dataset
    ledger = None if dataset is None else dataset.ledger
    if dataset is None or ledger is None:
        raise InvalidInputError(
            "this dataset has no budget, so nothing can be released; give nw.Dataset(..., budget=..., ledger=path)."
        )
    kind = require_frame(frame or dataset.frame)
    label = f"plan {plan.key} {reason or ''}".strip()
    if not fresh and (kept := stored(ledger, plan.key, plan.layout.released)) is not None:
        place, numbers = kept
        return frame_of(columns(plan, numbers, place), kind)
    require_sound(plan)
    dataset.rehearse(plan.layout)
    with ledger.charge(plan.charge, reason=label) as charge:
        try:
            vector = dataset._aggregate(plan.layout, int(SystemEntropy().stream().words(1)[0]))
            numbers = drawn(plan.blocks, plan.layout, vector)
        except BaseException as error:
            error.add_note(f"Charge {charge.place} of {ledger.url} is spent: {plan.privacy}. Nothing was released.")
            raise
        charge.answered(numbers)
    return frame_of(columns(plan, numbers, charge.place), kind)


def stored(ledger: Ledger, key: str, count: int) -> tuple[int, list[int]] | None:
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
    numbers = [int(value) for value in found[1] if str(value).lstrip("-").isdecimal()]
    return (int(found[0]), numbers) if len(numbers) == len(found[1]) == count else None


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
    plan: Plan, numbers: Sequence[int], charge: int, reaches: Mapping[str, Sequence[Fraction]] | None = None
) -> dict[str, list[Any]]:
    """Released numbers as a tidy table: one row for each question and group, in the order they were asked."""
    reaches = reaches_of(plan) if reaches is None else reaches
    tables = list(zip(plan.layout.tables, plan.layout.split_released(numbers), strict=True))
    names = list(dict.fromkeys(name for question in plan.questions for name in question.columns))
    ends = ("value", "half_width", "low", "high", "mechanism", "charge")
    found: dict[str, list[Any]] = {name: [] for name in ("question", *map(column_name, names), *ends)}
    by_question = {
        question.label: (table, part, place, places)
        for place, (table, part) in enumerate(tables)
        for question, places in table.questions
    }
    for question in plan.questions:
        table, part, place, places = by_question[question.label]
        block = plan.blocks[0 if plan.blocks[0].table is None else place]
        for named, answer in question.answers(table, part, places, reaches[question.label]):
            found["question"].append(question.label)
            for name in names:
                found[column_name(name)].append(named.get(name))
            for name, value in zip(ends, (answer.value, answer.half_width, answer.low, answer.high), strict=False):
                found[name].append(None if value is None else float(value))
            found["mechanism"].append(block.name)
            found["charge"].append(charge)
    return found


def column_name(column: str) -> str:
    """The name of a key column in an answer; one that an answer needs itself gets a word before it."""
    taken = ("question", "value", "half_width", "low", "high", "mechanism", "charge")
    return f"key {column}" if column in taken else column
