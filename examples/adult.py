"""UCI Adult with a column that says whose row it is: python examples/adult.py adult.parquet persons.parquet

Adult has one row for each person and no name for them, so that each row gets its number as one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet


def write(source: Path, path: Path) -> None:
    """Copy the table, with its row numbers as the column person."""
    table = parquet.read_table(source)
    parquet.write_table(table.append_column("person", pa.array(range(table.num_rows), pa.int64())), path)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
