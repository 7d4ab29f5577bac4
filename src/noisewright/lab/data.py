"""Where the datasets of reproductions are looked for."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path | None:
    """The folder named by NOISEWRIGHT_DATA, else shared/data beside the repository, else None."""
    named = os.environ.get("NOISEWRIGHT_DATA")
    if named:
        return Path(named) if Path(named).is_dir() else None
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    return beside if beside.is_dir() else None


def dataset(name: str) -> Path | None:
    """A file of the data folder such as "adult/adult.parquet", or None if it is not to be had here."""
    folder = data_folder()
    found = folder / name if folder else None
    return found if found and found.is_file() else None
