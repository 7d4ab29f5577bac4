"""A table of a shelf: an Arrow file, read by its schema into a database in memory, which is asked as DuckDB is.

The scan barrier, the settings and what makes expressions total are those of DuckDB: its own are the addresses, its
tables, its errors and where their rows are.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
from ibis.backends.duckdb import Backend as DuckDBBackend
from sqlglot.dialects.duckdb import DuckDB as DuckDBDialect

from noisewright.problem.errors import EngineError, InvalidTableError
from noisewright.release.engines.base import Engine, Opened
from noisewright.release.engines.duckdb.columns import plain_columns
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.engines.registry import is_ibis
from noisewright.release.table.frames import require_valid
from noisewright.release.table.locations import of_files
from noisewright.release.table.names import require_distinct


class ShelfError(Exception):
    """A shelf that is away."""


class Shelf(DuckDBDialect):
    """The words of DuckDB, by the name of this backend."""


class Backend(DuckDBBackend):  # type: ignore[misc]
    """What Ibis takes for the backend of a shelf."""

    name = "shelf"


def connect() -> Backend:
    """A backend of its own, in memory."""
    backend = Backend()
    backend.do_connect()
    return backend


class ShelfEngine(DuckDB):
    """A connection that reads Arrow files of folders."""

    name = "shelf"
    errors: tuple[type[Exception], ...] = (duckdb.Error, ShelfError)

    @classmethod
    def opened(cls, source: object, *, public: bool, beside: Engine | None) -> Opened:
        """The table of an address, or a table of Ibis on the backend of a shelf."""
        if is_ibis(source):
            return super().opened(source, public=public, beside=beside)
        address = str(source)
        path = Path(address.partition(":")[2]).with_suffix(".arrow")
        if not path.parent.is_dir():
            raise EngineError(
                f"{address} cannot be opened: there is no such folder. Nothing was spent.",
                engine=cls.name,
                problem=ShelfError.__name__,
            )
        if not path.is_file():
            raise InvalidTableError(f"there is no table {path.stem!r} on this shelf. Nothing was spent.")
        engine = beside if isinstance(beside, cls) else cls(connect())
        with pa.OSFile(str(path)) as stored:
            data = plain_columns(pa.ipc.open_file(stored).read_all())
        require_valid(data)
        require_distinct(data.column_names)
        table = engine.register(data, f"shelf_{path.stem}", of_files([str(path)]))
        return Opened(engine, table, address, origin=address, made=True)
