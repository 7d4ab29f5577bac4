"""How far the queries of a release have come, for a bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noisewright.release.dataset import Dataset


def progress_of(dataset: Dataset) -> Callable[[], float | None]:
    """A function that says how many hundredths of all queries are done; None where the engine cannot tell.

    Slices of persons take about the same time. It may be called from another thread than the one that waits.
    """
    engine = dataset._source.engine
    connection: Any = getattr(engine.connection, "con", None)
    # A bar is no reason for a release to fail, so that every error of an engine that knows no progress is let go.
    with suppress(Exception):
        # DuckDB counts only where a bar is enabled; its own is not printed.
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")

    def done() -> float | None:
        with suppress(Exception):
            # A query that does not say how far it is counts as just begun; between two slices none runs.
            found, (before, all_of) = float(connection.query_progress()), engine.steps
            known = 0 <= found <= 100
            return (100 * before + (found if known else 0)) / all_of if known or before else None
        return None

    return done
