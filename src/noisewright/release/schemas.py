"""The columns of a table and their types, without looking at a value: what a first spec file is written from."""

from __future__ import annotations

from pathlib import Path

from noisewright.problem.errors import InvalidTableError


def schema_of(source: str) -> dict[str, str]:
    """The columns of a file, a glob, "path.duckdb::table" or an address, with their types; CSV files hold text.

    Guarantees: reads the header of a CSV file, and of other sources what they say about themselves; no value.
    """
    path, marker, name = source.partition("::")
    if not marker or "://" in path:
        from noisewright.release.sources import open_source

        # Read as public, it needs no unit yet; whether it may be private is asked when it is planned.
        return _types(open_source(source, "", public=True).table.schema())
    from noisewright.release.engines.duckdb import DuckDB

    engine = DuckDB.opened(Path(path))
    if name not in engine.tables():
        raise InvalidTableError(f"there is no table {name!r} in {path}; there are {', '.join(engine.tables())}.")
    return _types(engine.backend.table(name).schema())


def _types(schema: object) -> dict[str, str]:
    return {name: str(kind) for name, kind in dict(schema).items()}  # type: ignore[call-overload]  # of Ibis
