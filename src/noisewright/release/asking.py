"""Asking an engine for the true numbers of a plan: tried before the charge, then in earnest; they are never shown."""

from __future__ import annotations

from typing import Any

from noisewright.release.engines.base import NOTHING_SPENT, guarded
from noisewright.release.layout import Layout
from noisewright.release.table.sources import Source
from noisewright.release.unlisted import true_numbers


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
