"""A query over a whole table and over each person's rows alone: what differs, and what a person moves too far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import ibis
import pyarrow as pa
from ibis.common.annotations import ValidationError
from ibis.common.exceptions import IbisError

from noisewright.problem.errors import InvalidInputError, InvalidTableError, NoisewrightError, NotPersonLocalError
from noisewright.release.engines.base import guarded
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds, Layout
from noisewright.release.stage.vector import true_numbers
from noisewright.release.table.person_local import Base, checked
from tests.engines.falsifier.forms import Form, Opened
from tests.engines.falsifier.queries import Asked, query, questions
from tests.engines.falsifier.worlds import World, tables, world

_AT_ONCE = 12
"""How many queries are asked of one world."""
REFUSALS = (NotPersonLocalError, InvalidTableError, InvalidInputError, IbisError, ValidationError)


@dataclass
class Found:
    """What a hunt came to: queries that were asked and refused, and what differed."""

    asked: int = 0
    refused: int = 0
    rows: int = 0
    differences: list[str] = field(default_factory=list)


def hunt(form: Form, folder: Path, seed: int, count: int, *, stop: bool = True) -> Found:
    """So many random queries over random worlds in one form; with `stop`, up to the first that differs."""
    found, random = Found(), Random(seed)
    while found.asked < count and not (stop and found.differences):
        made = world(random)
        sources = [form(tables(one), folder, random) for one in (made, *map(made.alone, made.persons))]
        for _ in range(_AT_ONCE):
            if found.asked >= count or (stop and found.differences):
                break
            _tried(made, sources, random.randrange(2**32), found)
        for opened in sources:
            _closed(opened)
    return found


def _closed(opened: Opened) -> None:
    backend = getattr(opened[0].engine, "backend", None)
    if backend is not None and backend.name == "duckdb":
        backend.disconnect()


def _tried(made: World, sources: Sequence[Opened], seed: int, found: Found) -> None:
    """Ask one query of the whole world and of each person alone."""
    try:
        asked, layout, limits = _made(sources[0], seed, made.heavy)
    except REFUSALS:
        found.refused += 1
        return
    found.asked += 1
    words = f"query {found.asked} (seed {seed}): {ibis.to_sql(asked.table, dialect='duckdb')}"
    answers: list[tuple[Any, list[Any]]] = []
    for opened in sources:
        try:
            own, _, _ = _made(opened, seed, made.heavy)
            rows, vector = _answers(opened, own, layout, limits, seed)
        except (NoisewrightError, LookupError, ValueError, ArithmeticError) as error:
            found.differences.append(f"it fails: {error!r}\n{words}")
            return
        answers.append((rows, vector))
    (whole, vector), alone = answers[0], answers[1:]
    found.rows += sum(whole.values()) if whole is not None else 0
    united: Counter[Any] = sum((rows for rows, _ in alone if rows is not None), Counter())
    if whole is not None and whole != united:
        found.differences.append(f"rows differ: {_told(whole - united)} / {_told(united - whole)}\n{words}")
    elif vector != [sum(each) for each in zip(*(numbers for _, numbers in alone), strict=True)]:
        found.differences.append(f"numbers differ: {vector} / {[numbers for _, numbers in alone]}\n{words}")
    elif not all(layout.holds(numbers) for _, numbers in alone):
        found.differences.append(f"a person moves them too far: {[numbers for _, numbers in alone]}\n{words}")


def _told(rows: Counter[Any]) -> str:
    return str(dict(list(rows.items())[:3]))[:600]


def _made(opened: Opened, seed: int, heavy: bool) -> tuple[Asked, Layout, ContributionBounds]:
    """The query of a seed over three sources, checked, and what is asked of it."""
    random = Random(seed)
    asked = query(random, tuple(one.table for one in opened), heavy=heavy)  # type: ignore[arg-type]
    bases = {**opened[0].bases, **opened[1].bases, **dict.fromkeys(opened[2].bases, Base(None))}
    table, standing = checked(asked.table, bases, opened[0].engine)
    if asked.unit not in standing.units:
        raise InvalidTableError("the unit is lost")
    asked = Asked(table, asked.unit)
    limits = ContributionBounds(random.choice([1, 2, 1000]), random.choice([1, 2]), False)
    return asked, layout_of(questions(random, asked), limits), limits


def _answers(
    opened: Opened, asked: Asked, layout: Layout, limits: ContributionBounds, seed: int
) -> tuple[Any, list[Any]]:
    """The rows that a query gives, and the numbers of the last stage over them."""
    engine = opened[0].engine

    def work() -> tuple[Any, list[Any]]:
        with engine.snapshot():
            numbers = true_numbers(asked.table, asked.unit, layout.tables, seed, engine, one_row=False)
            return _rows(engine, asked), numbers

    found: tuple[Any, list[Any]] = guarded(engine, work)
    return found


def _rows(engine: Any, asked: Asked) -> Counter[Any] | None:
    """Rows and how often each comes; those of nobody are left out. None where only aggregates leave an engine."""
    if engine.name == "pyspark":
        return None
    data = engine.fetch(asked.table.filter(asked.table[asked.unit].notnull()))
    # Rows that are alike are put together first: there may be many.
    names = [f"c{place}" for place in range(len(data.column_names))]
    plain = pa.table([_plain(column) for column in data.columns], names)
    together = plain.group_by(names).aggregate([([], "count_all")])
    rows: Counter[Any] = Counter()
    for row, times in zip(_tuples(together.select(names)), together["count_all"].to_pylist(), strict=True):
        rows[row] += times
    return rows


def _plain(column: Any) -> Any:
    """Days and times as whole numbers: not all of them are within the calendar of Python."""
    if pa.types.is_date(column.type):
        return column.cast(pa.int32())
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def _tuples(data: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Rows in a form in which NaN is NaN, and 0.0 is -0.0."""
    for row in zip(*(column.to_pylist() for column in data.columns), strict=True):
        yield tuple(_same(value) for value in row)


def _same(value: Any) -> Any:
    if isinstance(value, float):
        return "nan" if value != value else value + 0.0
    return value
