"""How DuckDB is known: files, frames in memory and tables of database files are its own."""

from __future__ import annotations

from noisewright.release.engines.duckdb.files import Files
from noisewright.release.engines.registry import Registration
from noisewright.release.table.frames import frame_kind

_ENDINGS = (".csv", ".tsv", ".txt", ".parquet")


def _owns(source: object) -> bool:
    """Every path of this machine, files that were found, and frames."""
    if isinstance(source, str):
        return "://" not in source
    return isinstance(source, Files) or frame_kind(source) is not None


def _is_table(text: str) -> bool:
    return "::" in text or text.lower().endswith(_ENDINGS)


DUCKDB = Registration(
    name="duckdb",
    title="DuckDB",
    implementation="noisewright.release.engines.duckdb.engine:DuckDB",
    needs="files and frames need DuckDB, which is not installed: pip install 'noisewright[tables]'.",
    addresses=("the path of a CSV or Parquet file (or a glob)", '"path.duckdb::table"'),
    objects=("a DataFrame of pandas or polars", "an Arrow table"),
    owns=_owns,
    is_table=_is_table,
)
