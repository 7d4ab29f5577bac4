"""How far the query that an engine runs at this moment has come, for a bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noisewright.release.dataset import Dataset


def progress_of(dataset: Dataset) -> Callable[[], float | None]:
    """A function that says how many hundredths of the running query are done; None where the engine cannot tell.

    It may be called from another thread than the one that waits for the query.
    """
    connection: Any = getattr(dataset._source.engine.connection, "con", None)
    # A bar is no reason for a release to fail, so that every error of an engine that knows no progress is let go.
    with suppress(Exception):
        # DuckDB counts only where a bar is enabled; its own is not printed.
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")

    def done() -> float | None:
        with suppress(Exception):
            found = float(connection.query_progress())
            return found if 0 <= found <= 100 else None
        return None

    return done
