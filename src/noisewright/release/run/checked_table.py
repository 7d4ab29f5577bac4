"""The checked table of a dataset: its true aggregates, which are never shown; a dry run of them before the charge.

For the owner of the data there is the falsifier besides: the sensitivity tried on the real table, person by person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noisewright.problem.errors import InvalidInputError, UncertifiedError
from noisewright.problem.fields import whole
from noisewright.release.ask.question import Question
from noisewright.release.engines.base import NOTHING_SPENT, guarded
from noisewright.release.plan.layout import Layout
from noisewright.release.table.keys import Keys
from noisewright.release.table.locations import require_elsewhere
from noisewright.release.table.person_local import checked
from noisewright.release.table.sources import Source
from noisewright.sample.entropy import SystemEntropy

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """A query over the tables of a source that was found person-local, and whose rows they are."""

    source: Source
    table: ir.Table
    unit: str
    one_row: bool
    """Whether the owner declared that each person has one row."""

    def require_public_keys(self, questions: Sequence[Question]) -> None:
        """Refuse keys that were listed from a private table; the refusal does not tell how many there are."""
        private = self.source.locations(private=True)
        for question in questions:
            for keys in (one for name in question.CARD.given if isinstance(one := getattr(question, name), Keys)):
                columns = " and ".join(map(repr, keys.columns))
                require_elsewhere(
                    keys.locations,
                    private,
                    f"the keys of {columns} were listed from the private table itself, and would tell who is in it;"
                    " list what may occur, from what anybody may see, or choose them privately: nw.keys(column,"
                    " private=True).",
                )

    def require_answerable(self, layout: Layout) -> None:
        """Refuse, from the schema alone, groups and aggregates of columns that are not there or hold something else."""
        for part in layout.tables:
            part.grouping.require(self.table)
            for aggregate in part.aggregates:
                aggregate.require(self.table)

    def dry_run(self, layout: Layout, salt: int) -> None:
        """Try every query of a layout without reading a row: what can fail without looking at a value fails here."""
        from noisewright.release.stage.vector import true_numbers

        engine = self.source.engine

        def trial(nothing: ir.Table) -> None:
            true_numbers(nothing, self.unit, layout.tables, salt, engine, one_row=self.one_row)

        def work() -> None:
            with engine.snapshot():
                self.source.require_sound_tables()
                engine.rehearse(self.table, trial)

        guarded(engine, work, spent=NOTHING_SPENT)

    def true_aggregates(self, layout: Layout, salt: int, leave_out: object = None) -> list[Any]:
        """The true aggregates of a layout, all of one state of the tables. `leave_out` is a unit, for the falsifier."""
        from noisewright.release.stage.vector import true_numbers

        engine, source = self.source.engine, self.source
        table = self.table if leave_out is None else without(source, leave_out)

        def work() -> list[Any]:
            with engine.snapshot():
                own = [one for one in source.private_tables() if one.name not in source.views]
                if engine.hold(own):  # what others may have changed since the dry run is looked at again
                    source.require_sound_tables()
                return true_numbers(table, self.unit, layout.tables, salt, engine, one_row=self.one_row)

        return guarded(engine, work)

    def units(self) -> list[Any]:
        """Every unit of the table, for the falsifier alone; never shown."""
        column = self.table.select(unit=self.table[self.unit]).distinct()
        found = self.source.engine.fetch(column)["unit"].to_pylist()
        return [unit for unit in found if unit is not None]

    def selfcheck(self, layout: Layout, persons: int) -> str:
        """Leave persons out one at a time; raises UncertifiedError if a difference is not in the declared set.

        It is not private, and is never logged: the message says how many persons were tried and nothing of them.
        """
        count = whole(at_least=1, at_most=10_000).read(persons, "persons", InvalidInputError)
        words = SystemEntropy().stream().words(count + 1)
        salt, units = int(words[0]), self.units()
        chosen = list(dict.fromkeys(units[int(word) % len(units)] for word in words[1:])) if units else []
        everybody = self.true_aggregates(layout, salt)
        for unit in chosen:
            others = self.true_aggregates(layout, salt, leave_out=unit)
            difference = [a - b for a, b in zip(everybody, others, strict=True)]
            if not layout.holds(difference) and self.one_row:
                raise UncertifiedError(
                    "a person has more than one row, although one_row_per_person was declared; nothing may be released"
                    " from it. Declare rows_per_group and groups_per_person instead."
                )
            if not layout.holds(difference):
                raise UncertifiedError(
                    "leaving out one person changed the numbers by more than the plan allows; nothing may be released"
                    " from it. Please report this problem, without data."
                )
        return f"held for {len(chosen)} persons; this is no proof, and not private: keep it to yourself."


def without(source: Source, unit: object) -> ir.Table:
    """The checked query over tables that one person was never in.

    The person is left out of every private table that the query begins with, not of its result: whether rows of one
    person reach another's is a part of what is tried.
    """
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
