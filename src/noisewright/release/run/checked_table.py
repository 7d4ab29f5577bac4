"""Asking an engine for the true numbers of a plan: tried before the charge, then in earnest; they are never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisewright.problem.errors import InvalidInputError, UncertifiedError
from noisewright.problem.fields import whole
from noisewright.release.engines.base import NOTHING_SPENT, guarded
from noisewright.release.plan.layout import Layout
from noisewright.release.stage.vector import true_numbers
from noisewright.release.table.sources import Source
from noisewright.sample.entropy import SystemEntropy

if TYPE_CHECKING:
    from noisewright.release.plan.plan import Plan
    from noisewright.release.table.sources import Source


def tried(source: Source, table: Any, unit: str, layout: Layout, salt: int, *, one_row: bool) -> None:
    """Try every query of a layout without reading a row: what can fail without looking at a value fails here."""
    engine = source.engine

    def trial(nothing: Any) -> None:
        true_numbers(nothing, unit, layout, salt, engine, one_row=one_row)

    def work() -> None:
        with engine.snapshot():
            source.require_sound_tables()
            engine.rehearse(table, trial)

    guarded(engine, work, spent=NOTHING_SPENT)


def asked(source: Source, table: Any, unit: str, layout: Layout, salt: int, *, one_row: bool) -> list[Any]:
    """The true numbers of a layout over a checked table, all of one state."""
    engine = source.engine

    def work() -> list[Any]:
        with engine.snapshot():
            own = [one for one in source.private_tables() if one.name not in source.views]
            if engine.hold(own):  # what others may have changed since it was tried is looked at again
                source.require_sound_tables()
            return true_numbers(table, unit, layout, salt, engine, one_row=one_row)

    return guarded(engine, work)


# The falsifier for owners: the sensitivity tried on the real table, person by person.


def without(source: Source, unit: Any) -> Any:
    """The checked query over tables that one person was never in.

    The person is left out of every private table that the query begins with, not of its result: whether rows of one
    person reach another's is a part of what is tried.
    """
    from noisewright.release.table.person_local import checked

    private = {table: base.unit for table, base in source.bases.items() if base.private}
    # A table that is read by declared types is a base, and so is the table of texts below it: the upper one counts.
    below = {inner for table in private for inner in table.find(tuple(map(type, private))) if inner != table}
    changed = {}
    for table, name in private.items():
        if table not in below:
            rows = table.to_expr()
            changed[table] = rows.filter(rows[name] != unit).op()
    left = source.table.op().replace(changed).to_expr()
    return checked(left, source.bases, source.engine)[0]


def checked_on(plan: Plan, persons: int) -> str:
    """Leave persons out one at a time; raises UncertifiedError if a difference is not in the declared set.

    It is not private, and is never logged: the message says how many persons were tried and nothing of them.
    """
    count = whole(at_least=1, at_most=10_000).read(persons, "persons", InvalidInputError)
    dataset = plan.dataset
    if dataset is None:
        raise InvalidInputError("a plan from a file is checked by its dataset: dataset.load_plan(path).")
    words = SystemEntropy().stream().words(count + 1)
    salt, units = int(words[0]), dataset._units()
    chosen = list(dict.fromkeys(units[int(word) % len(units)] for word in words[1:])) if units else []
    everybody = dataset._aggregate(plan.layout, salt)
    for unit in chosen:
        without = dataset._aggregate(plan.layout, salt, leave_out=unit)
        difference = [a - b for a, b in zip(everybody, without, strict=True)]
        if not plan.layout.holds(difference):
            raise UncertifiedError(
                "leaving out one person changed the numbers by more than the plan allows; nothing may be released from"
                " it. Please report this problem, without data."
            )
    return f"held for {len(chosen)} persons; this is no proof, and not private: keep it to yourself."
