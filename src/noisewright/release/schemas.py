"""The columns of a table and their types, without looking at a value: what a first spec file is written from."""

from __future__ import annotations


def schema_of(source: str) -> dict[str, str]:
    """The columns of a file, a glob, "path.duckdb::table" or an address, with their types; CSV files hold text.

    Guarantees: reads the header of a CSV file, and of other sources what they say about themselves; no value.
    """
    from noisewright.release.sources import open_source

    # Read as public, it needs no unit yet; whether it may be private is asked when it is planned.
    table = open_source(source, "", public=True).table
    return {name: str(kind) for name, kind in table.schema().items()}
